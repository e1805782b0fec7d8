"""Convert metadata of format 2 to format 3: chunks and keys stay the same, so no data need be rewritten."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.abc.numcodec import Numcodec
from zarr.chunks import RegularChunkGridMetadata
from zarr.chunks.keys import V2ChunkKeyEncoding
from zarr.codecs.base.streams import DTYPE_PARAMETERS, with_byte_order
from zarr.codecs.blosc import BLOSC_SHUFFLE
from zarr.codecs.bytes import BytesCodec
from zarr.codecs.transpose import TransposeCodec
from zarr.codecs.vlen_utf8 import VLenBytesCodec, VLenUTF8Codec
from zarr.dtype import ZDType
from zarr.errors import UnknownCodecError
from zarr.metadata.group import GroupMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.registry import get_codec_class, get_numcodec
from zarr.types import EndiannessStr

_CORE = ("blosc", "zstd", "gzip")
"""Codecs of numcodecs that the core specification has under the same name, with the same bytes."""


def convert_group_metadata(metadata: GroupMetadata) -> GroupMetadata:
    """Return the metadata of a group in format 3, without consolidated metadata.

    Parameters
    ----------
    metadata
        The metadata of format 2.

    Examples
    --------
    >>> convert_group_metadata(GroupMetadata(zarr_format=2)).zarr_format
    3
    """
    return GroupMetadata(attributes=metadata.attributes, zarr_format=3)


def convert_array_metadata(metadata_v2: ArrayV2Metadata) -> ArrayV3Metadata:
    """Return the metadata of an array in format 3 that reads the same chunks as the same values.

    Parameters
    ----------
    metadata_v2
        The metadata of format 2.

    Returns
    -------
    ArrayV3Metadata
        An undefined fill value becomes the default of the data type.

    Raises
    ------
    ValueError
        If a filter, the compressor or the byte orders of a record have no counterpart in format 3.
    TypeError
        If filters stand in an order that format 3 cannot express.

    Examples
    --------
    >>> from zarr.metadata import ArrayV2Metadata, convert_array_metadata
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
    """Return the codecs that are equivalent to filters, with an array-to-bytes codec among them.

    Parameters
    ----------
    filters
        The filters of format 2.
    dtype
        The data type of the array.

    Returns
    -------
    list of codecs
        Array-to-array codecs, the array-to-bytes codec, bytes-to-bytes codecs.

    Raises
    ------
    TypeError
        If a filter that changes the array comes after one that changes bytes.
    ValueError
        If a filter has no counterpart, or takes its elements for those of another byte order; if the fields of a
        record have different byte orders.
    """
    _check_byte_orders(filters, dtype)
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


def _check_byte_orders(filters: tuple[Numcodec, ...], dtype: ZDType[Any, Any]) -> None:
    """Raise ValueError if a filter takes its elements for those of another byte order.

    Filters of format 2 work on bytes, those of format 3 on numbers: no document of format 3 describes such values.
    """
    current = dtype.to_native_dtype()
    for numcodec in filters:
        config = numcodec.get_config()
        plain, stored = (config.get(key) for key in DTYPE_PARAMETERS.get(numcodec.codec_id, ("", "")))
        given = np.dtype(plain) if isinstance(plain, str) else current
        if given != current and given == current.newbyteorder():
            raise ValueError(
                f"Filter {numcodec!r} reads elements of {current.str!r} in the other byte order, which format 3 cannot "
                "describe; zarr.tools.convert(..., zarr_format=3) copies the elements"
            )
        current = np.dtype(stored) if isinstance(stored, str) else given


def convert_compressor(compressor: Numcodec, dtype: ZDType[Any, Any]) -> BytesBytesCodec:
    """Return the codec that is equivalent to a compressor.

    Parameters
    ----------
    compressor
        The compressor of format 2.
    dtype
        The data type of the array.

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
    """Return the codec of format 3 that is equivalent to a codec of numcodecs.

    Parameters
    ----------
    numcodec
        A filter or compressor of format 2.
    dtype
        The data type, for the item size of blosc.

    Returns
    -------
    Codec
        A codec of the core specification if one reads the same bytes, else ``numcodecs.<id>``.

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
        # The item size is also in the chunks; this one is for new chunks.
        width = getattr(dtype, "item_size", 1)
        auto = 2 if width == 1 else 1
        shuffle = settings.get("shuffle", auto)
        settings.pop("typesize", None)
        settings.update(shuffle=BLOSC_SHUFFLE[auto if shuffle == -1 else shuffle], typesize=width)
    return _make_codec(name, settings)


def numcodec_configuration(document: Mapping[str, Any], byte_order: str | None = None) -> dict[str, Any] | None:
    """Return the configuration of the codec of format 2 that reads the bytes of a codec of format 3.

    Parameters
    ----------
    document
        The codec, as JSON of format 3.
    byte_order
        That of the array, "<" or ">": a filter of format 2 takes bytes for elements of its own data type.

    Returns
    -------
    dict or None
        As :func:`zarr.registry.get_numcodec` takes it. None where there is no such codec.

    Examples
    --------
    >>> from zarr.metadata import numcodec_configuration
    >>> numcodec_configuration({"name": "gzip", "configuration": {"level": 3}})
    {'id': 'gzip', 'level': 3}
    >>> numcodec_configuration({"name": "sharding_indexed"}) is None
    True
    """
    name, settings = document["name"], dict(document.get("configuration") or {})
    if name == "blosc":
        settings.pop("typesize", None)
        settings["shuffle"] = BLOSC_SHUFFLE.index(settings.get("shuffle", "shuffle"))
    if name == "crc32c":
        settings["location"] = "end"
    if name == "zstd" and not settings.get("checksum"):
        settings.pop("checksum", None)
    configuration: dict[str, Any] = {"id": name.removeprefix("numcodecs."), **settings}
    if byte_order is not None:
        configuration = with_byte_order(configuration, byte_order)
    with contextlib.suppress(UnknownCodecError, ValueError, TypeError):
        get_numcodec(configuration)  # type: ignore[arg-type]
        return configuration
    return None


def _make_codec(name: str, settings: Mapping[str, Any]) -> Codec:
    configuration = {key: value for key, value in settings.items() if key != "id"}
    return get_codec_class(name).from_dict({"name": name, "configuration": configuration})


def _vlen_codec(numcodec: Numcodec) -> ArrayBytesCodec | None:
    """Return the codec that turns strings or bytes objects into bytes, in the layout of numcodecs."""
    if numcodec.codec_id == "vlen-utf8":
        return VLenUTF8Codec()
    return VLenBytesCodec() if numcodec.codec_id == "vlen-bytes" else None


def _byte_order(dtype: ZDType[Any, Any]) -> EndiannessStr:
    """Return the byte order of stored elements; ValueError if the fields of a record have several."""
    native = dtype.to_native_dtype()
    if native.fields is None or native.newbyteorder("<") == native:
        order: EndiannessStr = getattr(dtype, "endianness", "little")
        return order
    if native.newbyteorder(">") == native:
        return "big"
    raise ValueError(
        f"The fields of {native} have different byte orders, which format 3 cannot describe; "
        "zarr.tools.convert(..., zarr_format=3) copies the elements"
    )


def _bytes_codec(dtype: ZDType[Any, Any], filters: tuple[Numcodec, ...]) -> BytesCodec:
    """Return the codec for the byte order after the last filter, or for that of the data type."""
    endianness = _byte_order(dtype)
    for numcodec in filters:
        config = numcodec.get_config()
        stored = config.get("encode_dtype", config.get("astype"))
        if isinstance(stored, str) and numcodec.codec_id not in ("vlen-array", "categorize"):
            endianness = "big" if np.dtype(stored).str[0] == ">" else "little"
    return BytesCodec(endian=endianness)


ArrayMetadata: TypeAlias = ArrayV2Metadata | ArrayV3Metadata
