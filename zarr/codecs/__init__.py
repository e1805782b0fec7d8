"""The codecs of the library: their public classes, and the chains that arrays read and write with.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.array_spec``.
Read first: ``bound.py`` for what a codec becomes, then ``bytes.py`` as an example, then ``chain.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zarr.codecs.arrow_vlen import ArrowVLenCodec
from zarr.codecs.blosc import BloscCname, BloscCodec, BloscShuffle
from zarr.codecs.bytes import BytesCodec, Endian
from zarr.codecs.cast_value import CastValue
from zarr.codecs.crc32c_ import Crc32cCodec
from zarr.codecs.gzip import GzipCodec
from zarr.codecs.numcodecs import (
    BZ2,
    CRC32,
    CRC32C,
    LZ4,
    LZMA,
    ZFPY,
    Adler32,
    AsType,
    BitRound,
    Blosc,
    Delta,
    FixedScaleOffset,
    Fletcher32,
    GZip,
    JenkinsLookup3,
    PackBits,
    PCodec,
    Quantize,
    Shuffle,
    Zlib,
    Zstd,
)
from zarr.codecs.scale_offset import ScaleOffset
from zarr.codecs.shard_level import SubchunkWriteOrder
from zarr.codecs.sharding import ShardingCodec, ShardingCodecIndexLocation
from zarr.codecs.transpose import TransposeCodec
from zarr.codecs.vlen_utf8 import VLenBytesCodec, VLenUTF8Codec
from zarr.codecs.zstd import ZstdCodec
from zarr.registry import register_codec

__all__ = [
    "ArrowVLenCodec",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesCodec",
    "CastValue",
    "Crc32cCodec",
    "Endian",
    "GzipCodec",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "SubchunkWriteOrder",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "ZstdCodec",
]

# Importable here, as they always were, though not part of ``__all__``.
_ALSO = (
    BZ2, CRC32, CRC32C, LZ4, LZMA, ZFPY, Adler32, AsType, BitRound, Blosc, Delta, FixedScaleOffset, Fletcher32, GZip,
    JenkinsLookup3, PackBits, PCodec, Quantize, Shuffle, Zlib, Zstd, register_codec,
)  # fmt: skip

# What zarr-python 2 took over from numcodecs and has no codec of its own here.
_FORMAT_2 = {
    "Base64": "numcodecs",
    "Categorize": "numcodecs",
    "JSON": "numcodecs",
    "MsgPack": "numcodecs",
    "Pickle": "numcodecs",
    "VLenArray": "numcodecs",
    "VLenBytes": "numcodecs",
    "VLenUTF8": "numcodecs",
    "codec_registry": "numcodecs.registry",
    "get_codec": "numcodecs.registry",
}


def __getattr__(name: str) -> Any:
    if name in _FORMAT_2:
        return getattr(import_module(_FORMAT_2[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
