"""The codecs of the library: their public classes, and the chains that arrays read and write with.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.chunks.spec``.
Read first: ``base/bound.py`` for bound codecs, then ``bytes.py`` as an example, then ``base/chain.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names
from zarr.defaults import CODEC_CLASSES as _CLASSES
from zarr.defaults import EXTENSION_CODECS as _EXTENSIONS

if TYPE_CHECKING:
    from zarr.codecs.base.shard_level import SubchunkWriteOrder
    from zarr.codecs.blosc import BloscCname, BloscCodec, BloscShuffle
    from zarr.codecs.bytes import BytesCodec, Endian
    from zarr.codecs.cast_value import CastValue
    from zarr.codecs.crc32c_ import Crc32cCodec
    from zarr.codecs.extensions.arrow_vlen import ArrowVLenCodec
    from zarr.codecs.gzip import GzipCodec
    from zarr.codecs.numcodecs import *  # noqa: F403
    from zarr.codecs.scale_offset import ScaleOffset
    from zarr.codecs.sharding import ShardingCodec, ShardingCodecIndexLocation
    from zarr.codecs.transpose import TransposeCodec
    from zarr.codecs.vlen_utf8 import VLenBytesCodec, VLenUTF8Codec
    from zarr.codecs.zstd import ZstdCodec
    from zarr.registry import register_codec  # noqa: F401

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


def _codec_classes(*, listed: bool) -> dict[str, str]:
    """Return the classes of the table of codecs by module; codecs of extensions are not listed by ``dir``."""
    classes: dict[str, set[str]] = {}
    for path in {*_CLASSES.values(), *_EXTENSIONS.values()}:
        module, _, name = path.rpartition(".")
        if (module.startswith("zarr.codecs.extensions.") and name not in __all__) != listed:
            classes.setdefault(module, set()).add(name)
    return {module: " ".join(names) for module, names in classes.items()}


__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **_codec_classes(listed=True),
        "zarr.codecs.blosc": "BloscCname BloscCodec BloscShuffle",
        "zarr.codecs.bytes": "BytesCodec Endian",
        "zarr.codecs.base.shard_level": "SubchunkWriteOrder",
        "zarr.codecs.sharding": "ShardingCodec ShardingCodecIndexLocation",
        "zarr.registry": "register_codec",
    },
    unlisted={
        **_codec_classes(listed=False),
        # Names that zarr-python 2 imported from numcodecs and that have no codec of their own here.
        "numcodecs": "Base64 Categorize JSON MsgPack Pickle VLenArray VLenBytes VLenUTF8",
        "numcodecs.registry": "codec_registry get_codec",
    },
)
