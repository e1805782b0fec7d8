"""The metadata of format 2 said in format 3: the same chunks under the same keys, so no data need be rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.abc.numcodec import Numcodec
from zarr.chunks import RegularChunkGridMetadata
from zarr.chunks.keys import V2ChunkKeyEncoding
from zarr.codecs.bytes import BytesCodec
from zarr.codecs.transpose import TransposeCodec
from zarr.codecs.vlen_utf8 import VLenBytesCodec, VLenUTF8Codec
from zarr.dtype import ZDType
from zarr.errors import UnknownCodecError
from zarr.metadata.group import GroupMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.registry import get_codec_class
from zarr.types import EndiannessStr

_CORE = ("blosc", "zstd", "gzip")
"""Codecs of numcodecs that the core specification has by the same name, with the same bytes."""
_BLOSC_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")


def convert_group_metadata(metadata: GroupMetadata) -> GroupMetadata:
    """Return the metadata of a group in format 3, without the copy of its members' documents.

    Parameters
    ----------
    metadata
        Of format 2.

    Returns
    -------
    GroupMetadata

    Examples
    --------
    >>> convert_group_metadata(GroupMetadata(zarr_format=2)).zarr_format
    3
    """
    return GroupMetadata(attributes=metadata.attributes, zarr_format=3)


def convert_array_metadata(metadata_v2: ArrayV2Metadata) -> ArrayV3Metadata:
    """Return the metadata of an array in format 3 that reads the same chunks to the same values.

    Parameters
    ----------
    metadata_v2
        Of format 2.

    Returns
    -------
    ArrayV3Metadata
        An undefined fill value becomes the default of the data type.

    Raises
    ------
    ValueError
        If a filter or the compressor has no counterpart in format 3.
    TypeError
        If filters stand in an order that format 3 cannot express.

    Examples
    --------
    >>> from zarr.dtype import Int32
    >>> old = ArrayV2Metadata(shape=(10,), dtype=Int32(), chunks=(5,), fill_value=0, order="F")
    >>> [type(codec).__name__ for codec in convert_array_metadata(old).codecs]
    ['TransposeCodec', 'BytesCodec']
    """
    codecs: list[Codec] = []
    if metadata_v2.order == "F":
        codecs.append(TransposeCodec(order=tuple(reversed(range(metadata_v2.ndim)))))
    codecs += convert_filters(metadata_v2.filters or (), metadata_v2.dtype)
    if metadata_v2.compressor is not None:
        compressor = _vlen_codec(metadata_v2.compressor)
        if compressor is not None:
            codecs = [codec for codec in codecs if not isinstance(codec, BytesCodec)] + [compressor]
        else:
            codecs.append(convert_compressor(metadata_v2.compressor, metadata_v2.dtype))
    fill = metadata_v2.fill_value
    return ArrayV3Metadata(
        shape=metadata_v2.shape,
        data_type=metadata_v2.dtype,
        chunk_grid=RegularChunkGridMetadata(chunk_shape=metadata_v2.chunks),
        chunk_key_encoding=V2ChunkKeyEncoding(separator=metadata_v2.dimension_separator),
        fill_value=metadata_v2.dtype.default_scalar() if fill is None else fill,
        codecs=codecs,
        attributes=metadata_v2.attributes,
        dimension_names=None,
        storage_transformers=None,
    )


def convert_filters(filters: tuple[Numcodec, ...], dtype: ZDType[Any, Any]) -> list[Codec]:
    """Return the codecs that do what filters do, the array-to-bytes codec among them.

    Parameters
    ----------
    filters
        As format 2 has them.
    dtype
        The data type of the array.

    Returns
    -------
    list of codecs
        Those that change the array, the one that makes bytes of it, those that change bytes.

    Raises
    ------
    TypeError
        If a filter that changes the array comes after one that changes bytes.
    ValueError
        If a filter has no counterpart.
    """
    arrays: list[Codec] = []
    after: list[Codec] = []
    serializer: ArrayBytesCodec | None = None
    for numcodec in filters:
        codec = _vlen_codec(numcodec) or find_codec(numcodec)
        if isinstance(codec, ArrayArrayCodec) and serializer is None and not after:
            arrays.append(codec)
        elif isinstance(codec, ArrayBytesCodec) and serializer is None and not after:
            serializer = codec
        elif isinstance(codec, BytesBytesCodec):
            after.append(codec)
        else:
            raise TypeError(
                f"Filter {type(codec)} is not a BytesBytesCodec: format 3 has no array codec after codecs of bytes."
            )
    return [*arrays, serializer or _bytes_codec(dtype, filters), *after]


def convert_compressor(compressor: Numcodec, dtype: ZDType[Any, Any]) -> BytesBytesCodec:
    """Return the codec that does what a compressor does.

    Parameters
    ----------
    compressor
        As format 2 has it.
    dtype
        The data type of the array.

    Returns
    -------
    BytesBytesCodec

    Raises
    ------
    TypeError, ValueError
        If there is no such codec.
    """
    codec = translate_numcodec(compressor, dtype) if compressor.codec_id in _CORE else find_codec(compressor)
    if not isinstance(codec, BytesBytesCodec):
        raise TypeError(f"Compressor {type(codec)} is not a BytesBytesCodec")
    return codec


def find_codec(numcodec: Numcodec) -> Codec:
    """Return the codec of format 3 that wraps a codec of numcodecs.

    Raises
    ------
    ValueError
        If there is none.
    """
    try:
        return _make_codec(f"numcodecs.{numcodec.codec_id}", numcodec.get_config())
    except UnknownCodecError as error:
        raise ValueError(f"Couldn't find corresponding zarr.codecs.numcodecs codec for {numcodec.codec_id}") from error


def translate_numcodec(numcodec: Numcodec, dtype: ZDType[Any, Any]) -> Codec:
    """Return the codec of format 3 that does what a codec of numcodecs does.

    Parameters
    ----------
    numcodec
        A filter or compressor of format 2.
    dtype
        Tells blosc how wide an item is.

    Returns
    -------
    Codec
        A codec of the core specification where there is one that reads the same bytes, else ``numcodecs.<id>``.

    Raises
    ------
    UnknownCodecError
        If there is none.

    Examples
    --------
    >>> import numcodecs
    >>> from zarr.dtype import Int16
    >>> translate_numcodec(numcodecs.GZip(3), Int16())
    GzipCodec(level=3)
    """
    name, settings = numcodec.codec_id, dict(numcodec.get_config())
    if name not in _CORE:
        name = f"numcodecs.{name}"
    elif name == "zstd":
        settings.setdefault("checksum", False)
    elif name == "blosc":
        # The width of the items stands in the chunks, too; this one is for chunks yet to be written.
        width = getattr(dtype, "item_size", 1)
        auto = 2 if width == 1 else 1
        shuffle = settings.get("shuffle", auto)
        settings.pop("typesize", None)
        settings.update(shuffle=_BLOSC_SHUFFLES[auto if shuffle == -1 else shuffle], typesize=width)
    return _make_codec(name, settings)


def _make_codec(name: str, settings: Mapping[str, Any]) -> Codec:
    configuration = {key: value for key, value in settings.items() if key != "id"}
    return get_codec_class(name).from_dict({"name": name, "configuration": configuration})


def _vlen_codec(numcodec: Numcodec) -> ArrayBytesCodec | None:
    """Return the codec that makes bytes of strings, or of bytes objects; numcodecs' layout is the registered one."""
    if numcodec.codec_id == "vlen-utf8":
        return VLenUTF8Codec()
    return VLenBytesCodec() if numcodec.codec_id == "vlen-bytes" else None


def _bytes_codec(dtype: ZDType[Any, Any], filters: tuple[Numcodec, ...]) -> BytesCodec:
    """Return the codec for the byte order that the last filter leaves behind, else for that of the data type."""
    endianness: EndiannessStr = getattr(dtype, "endianness", "little")
    for numcodec in filters:
        config = numcodec.get_config()
        stored = config.get("encode_dtype", config.get("astype"))
        if isinstance(stored, str) and numcodec.codec_id not in ("vlen-array", "categorize"):
            endianness = "big" if np.dtype(stored).str[0] == ">" else "little"
    return BytesCodec(endian=endianness)


ArrayMetadata: TypeAlias = ArrayV2Metadata | ArrayV3Metadata
