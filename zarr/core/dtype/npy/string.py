"""Strings; re-exports."""

from __future__ import annotations

from zarr.dtype.json_forms import (
    FixedLengthUTF32JSON_V2,
    FixedLengthUTF32JSON_V3,
    VariableLengthUTF8JSON_V2,
)
from zarr.dtype.types.text import FixedLengthUTF32, VariableLengthUTF8

__all__ = [
    "FixedLengthUTF32", "FixedLengthUTF32JSON_V2", "FixedLengthUTF32JSON_V3", "VariableLengthUTF8",
    "VariableLengthUTF8JSON_V2",
]
