"""Scalars in JSON."""

from __future__ import annotations

from zarr.dtype.base import byte_order_of
from zarr.dtype.scalars import bytes_from_json, bytes_to_json

get_endianness_from_numpy_dtype = byte_order_of

__all__ = [
    "bytes_from_json",
    "bytes_to_json",
    "get_endianness_from_numpy_dtype",
]
