"""Scalars in JSON."""

from __future__ import annotations

import sys
from typing import Literal, SupportsComplex, SupportsFloat, SupportsIndex, SupportsInt, TypeAlias, cast

from zarr.core.dtype.npy.json_checks import (
    FloatishStr,
    IntishFloat,
    IntishStr,
    check_json_bool,
    check_json_complex_float_v2,
    check_json_complex_float_v3,
    check_json_float_v2,
    check_json_float_v3,
    check_json_floatish_str,
    check_json_int,
    check_json_intish_float,
    check_json_intish_str,
    check_json_str,
    complex_float_from_json_v2,
    complex_float_from_json_v3,
    complex_float_to_json_v2,
    complex_float_to_json_v3,
    float_from_json_v2,
    float_from_json_v3,
    float_to_json_v2,
    float_to_json_v3,
)
from zarr.dtype import scalars
from zarr.dtype.base import byte_order_of, endianness_mark
from zarr.dtype.spec import ENDIANNESS_STR
from zarr.dtype.types.times import DATETIME_UNIT, DateTimeUnit
from zarr.types import EndiannessStr, ZarrFormat

NumpyEndiannessStr: TypeAlias = Literal[">", "<", "="]
NUMPY_ENDIANNESS_STR = (">", "<", "=")

JSONFloatV2: TypeAlias = float | Literal["NaN", "Infinity", "-Infinity"]
JSONFloatV3: TypeAlias = float | str
IntLike: TypeAlias = SupportsInt | SupportsIndex | bytes | str
FloatLike: TypeAlias = SupportsIndex | SupportsFloat | bytes | str
ComplexLike: TypeAlias = SupportsFloat | SupportsIndex | SupportsComplex | bytes | str | None

get_endianness_from_numpy_dtype = byte_order_of
endianness_to_numpy_str = endianness_mark


def endianness_from_numpy_str(endianness: NumpyEndiannessStr) -> EndiannessStr:
    """The byte order that a mark of numpy stands for.

    Parameters
    ----------
    endianness : ">", "<" or "="

    Returns
    -------
    "little" or "big"

    Raises
    ------
    ValueError
        It is none of the marks.

    Examples
    --------
    >>> endianness_from_numpy_str(">")
    'big'
    """
    if endianness not in NUMPY_ENDIANNESS_STR:
        raise ValueError(f"Invalid endianness: {endianness!r}. Expected one of {NUMPY_ENDIANNESS_STR}")
    return cast("EndiannessStr", {">": "big", "<": "little", "=": sys.byteorder}[endianness])


def bytes_from_json(data: str, *, zarr_format: ZarrFormat) -> bytes:
    """The bytes of a base64 string; the same in both formats.

    Examples
    --------
    >>> bytes_from_json("YWI=", zarr_format=3)
    b'ab'
    """
    return scalars.bytes_from_json(data)


def bytes_to_json(data: bytes, zarr_format: ZarrFormat) -> str:
    """Bytes as a base64 string; the same in both formats.

    Examples
    --------
    >>> bytes_to_json(b"ab", zarr_format=3)
    'YWI='
    """
    return scalars.bytes_to_json(data)


__all__ = [
    "ComplexLike",
    "DATETIME_UNIT",
    "DateTimeUnit",
    "ENDIANNESS_STR",
    "EndiannessStr",
    "FloatLike",
    "FloatishStr",
    "IntLike",
    "IntishFloat",
    "IntishStr",
    "JSONFloatV2",
    "JSONFloatV3",
    "NUMPY_ENDIANNESS_STR",
    "NumpyEndiannessStr",
    "bytes_from_json",
    "bytes_to_json",
    "check_json_bool",
    "check_json_complex_float_v2",
    "check_json_complex_float_v3",
    "check_json_float_v2",
    "check_json_float_v3",
    "check_json_floatish_str",
    "check_json_int",
    "check_json_intish_float",
    "check_json_intish_str",
    "check_json_str",
    "complex_float_from_json_v2",
    "complex_float_from_json_v3",
    "complex_float_to_json_v2",
    "complex_float_to_json_v3",
    "endianness_from_numpy_str",
    "endianness_to_numpy_str",
    "float_from_json_v2",
    "float_from_json_v3",
    "float_to_json_v2",
    "float_to_json_v3",
    "get_endianness_from_numpy_dtype",
]
