"""Metadata documents of format 2 as bytes and dicts, for programs that read or write them by ``zarr.meta``.

May import: everything; nothing below imports from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarr.dtype import get_data_type_from_json, parse_dtype
from zarr.errors import MetadataError
from zarr.util import json_dumps, json_loads

ZARR_FORMAT = 2


def parse_metadata(s: Any) -> Mapping[str, Any]:
    """Return a document as a mapping.

    Examples
    --------
    >>> parse_metadata(b'{"zarr_format": 2}')
    {'zarr_format': 2}
    """
    return s if isinstance(s, Mapping) else json_loads(s)


def encode_dtype(d: np.dtype[Any]) -> Any:
    """Return the JSON form of a data type.

    Examples
    --------
    >>> encode_dtype(np.dtype("int32")), encode_dtype(np.dtype([("a", "<f8")]))
    ('<i4', [('a', '<f8')])
    """
    return d.str if d.fields is None else d.descr


def decode_dtype(d: Any) -> np.dtype[Any]:
    """Return the data type of a JSON form.

    Examples
    --------
    >>> decode_dtype([["a", "<f8"]])
    dtype([('a', '<f8')])
    """
    found: np.dtype[Any] = np.dtype(_as_tuples(d))
    return found


def _as_tuples(d: Any) -> Any:
    if not isinstance(d, list | tuple):
        return d
    return [(field[0], _as_tuples(field[1]), *(tuple(shape) for shape in field[2:])) for field in d]


def _zdtype(dtype: np.dtype[Any], object_codec: Any = None) -> Any:
    if dtype.kind != "O":
        return parse_dtype(dtype, zarr_format=2)
    form: Any = {"name": "|O", "object_codec_id": getattr(object_codec, "codec_id", "json2")}
    return get_data_type_from_json(form, zarr_format=2)


def encode_fill_value(v: Any, dtype: np.dtype[Any], object_codec: Any = None) -> Any:
    """Return the JSON form of a fill value.

    Examples
    --------
    >>> encode_fill_value(np.nan, np.dtype("f4")), encode_fill_value(None, np.dtype("f4"))
    ('NaN', None)
    """
    if v is None:
        return None
    zdtype = _zdtype(dtype, object_codec)
    return zdtype.to_json_scalar(zdtype.cast_scalar(v), zarr_format=2)


def decode_fill_value(v: Any, dtype: np.dtype[Any], object_codec: Any = None) -> Any:
    """Return the fill value of a JSON form.

    Examples
    --------
    >>> decode_fill_value("Infinity", np.dtype("f4"))
    np.float32(inf)
    """
    return None if v is None else _zdtype(dtype, object_codec).from_json_scalar(v, zarr_format=2)


def decode_array_metadata(s: Any) -> dict[str, Any]:
    """Return the metadata document of an array as a dict, with tuples, a numpy dtype and a numpy fill value.

    Raises
    ------
    MetadataError
        The format is not 2, or a member is missing.

    Examples
    --------
    >>> decode_array_metadata(
    ...     {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "fill_value": 0, "order": "C",
    ...      "compressor": None, "filters": None}
    ... )["shape"]
    (4,)
    """
    document = parse_metadata(s)
    _check_format(document)
    try:
        dtype = decode_dtype(document["dtype"])
        found = {
            "zarr_format": ZARR_FORMAT,
            "shape": tuple(document["shape"]),
            "chunks": tuple(document["chunks"]),
            "dtype": dtype,
            "compressor": document["compressor"],
            "fill_value": decode_fill_value(document["fill_value"], dtype),
            "order": document["order"],
            "filters": document["filters"],
            "dimension_separator": document.get("dimension_separator", "."),
        }
    except KeyError as error:
        raise MetadataError(f"the document of an array has no member {error}") from error
    return found


def encode_array_metadata(meta: Mapping[str, Any]) -> bytes:
    """Return the metadata document of an array, from the dict that :func:`decode_array_metadata` makes."""
    dtype = np.dtype(meta["dtype"])
    document = {
        "zarr_format": ZARR_FORMAT,
        "shape": tuple(meta["shape"]) + dtype.shape,
        "chunks": meta["chunks"],
        "dtype": encode_dtype(dtype),
        "compressor": meta["compressor"],
        "fill_value": encode_fill_value(meta["fill_value"], dtype),
        "order": meta["order"],
        "filters": meta["filters"],
    }
    if meta.get("dimension_separator"):
        document["dimension_separator"] = meta["dimension_separator"]
    return json_dumps(document)


def decode_group_metadata(s: Any) -> dict[str, Any]:
    """Return the metadata document of a group as a dict.

    Raises
    ------
    MetadataError
        The format is not 2.

    Examples
    --------
    >>> decode_group_metadata(b'{"zarr_format": 2}')
    {'zarr_format': 2}
    """
    _check_format(parse_metadata(s))
    return {"zarr_format": ZARR_FORMAT}


def encode_group_metadata(meta: Any = None) -> bytes:
    """Return the metadata document of a group.

    Examples
    --------
    >>> encode_group_metadata()
    b'{\\n    "zarr_format": 2\\n}'
    """
    return json_dumps({"zarr_format": ZARR_FORMAT})


def _check_format(document: Mapping[str, Any]) -> None:
    if document.get("zarr_format") != ZARR_FORMAT:
        raise MetadataError(f"the document is of zarr_format {document.get('zarr_format')!r}, not 2")


class Metadata2:
    """The functions of this module as methods of a class, as the stores of zarr-python 2 have them.

    Examples
    --------
    >>> Metadata2.decode_group_metadata(Metadata2.encode_group_metadata())
    {'zarr_format': 2}
    """

    ZARR_FORMAT = ZARR_FORMAT
    parse_metadata = staticmethod(parse_metadata)
    encode_dtype = staticmethod(encode_dtype)
    decode_dtype = staticmethod(decode_dtype)
    encode_fill_value = staticmethod(encode_fill_value)
    decode_fill_value = staticmethod(decode_fill_value)
    encode_array_metadata = staticmethod(encode_array_metadata)
    decode_array_metadata = staticmethod(decode_array_metadata)
    encode_group_metadata = staticmethod(encode_group_metadata)
    decode_group_metadata = staticmethod(decode_group_metadata)


FLOAT_FILLS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}

__all__ = [
    "FLOAT_FILLS", "ZARR_FORMAT", "Metadata2", "MetadataError", "decode_array_metadata", "decode_dtype",
    "decode_fill_value", "decode_group_metadata", "encode_array_metadata", "encode_dtype", "encode_fill_value",
    "encode_group_metadata", "json_dumps", "json_loads", "parse_metadata",
]  # fmt: skip
