"""Scalars in JSON."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias, cast

from zarr.dtype.base import byte_order_of, endianness_mark
from zarr.dtype.scalars import bytes_from_json, bytes_to_json
from zarr.types import EndiannessStr

NumpyEndiannessStr: TypeAlias = Literal[">", "<", "="]
NUMPY_ENDIANNESS_STR = (">", "<", "=")

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


__all__ = [
    "NUMPY_ENDIANNESS_STR",
    "NumpyEndiannessStr",
    "bytes_from_json",
    "bytes_to_json",
    "endianness_from_numpy_str",
    "endianness_to_numpy_str",
    "get_endianness_from_numpy_dtype",
]
