"""Integers; re-exports."""

from __future__ import annotations

from zarr.dtype.types.numbers import BaseInt, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64

__all__ = ["BaseInt", "Int16", "Int32", "Int64", "Int8", "UInt16", "UInt32", "UInt64", "UInt8"]
