"""The codecs that zarr-python chooses by default or parses, as functions of its names.

Needed by programs that choose the codecs of an array by themselves. Arrays of this library are created by
``zarr.arrays.create.codecs``.
"""

from __future__ import annotations

from typing import Any

from zarr.abc.codec import ArrayArrayCodec, BytesBytesCodec
from zarr.arrays.create.codecs import choose_codecs_v2, choose_codecs_v3, parse_filters_v2, parse_numcodec
from zarr.codecs.base.order import sort_codecs
from zarr.dtype import ZDType


def default_filters_v3(dtype: ZDType[Any, Any]) -> tuple[ArrayArrayCodec, ...]:
    """Return the filters that a new array of format 3 has by default."""
    return sort_codecs(choose_codecs_v3(dtype, "auto", "auto", "auto"))[0]


def default_compressors_v3(dtype: ZDType[Any, Any]) -> tuple[BytesBytesCodec, ...]:
    """Return the compressors that a new array of format 3 has by default."""
    return sort_codecs(choose_codecs_v3(dtype, "auto", "auto", "auto"))[2]


def default_compressor_v2(dtype: ZDType[Any, Any]) -> Any:
    """Return the compressor that a new array of format 2 has by default."""
    return choose_codecs_v2(dtype, "auto", "auto")[1]


def parse_filters(data: Any) -> tuple[Any, ...] | None:
    """Return the filters of a document of format 2: codecs of numcodecs; None if there are none.

    Raises
    ------
    TypeError
        If one is neither a codec of numcodecs nor the JSON form of one.
    """
    return None if data is None else parse_filters_v2(data)


def parse_compressor(data: Any) -> Any:
    """Return the compressor of a document of format 2: a codec of numcodecs, or None.

    Raises
    ------
    ValueError
        If it is neither a codec of numcodecs nor the JSON form of one.
    """
    return parse_numcodec(data, "compressor")


__all__ = [
    "default_compressor_v2", "default_compressors_v3", "default_filters_v3", "parse_compressor", "parse_filters",
]  # fmt: skip
