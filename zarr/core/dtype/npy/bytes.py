"""Bytes; re-exports."""

from __future__ import annotations

from zarr.dtype.json_forms import (
    NullterminatedBytesJSON_V2,
    NullTerminatedBytesJSON_V3,
    RawBytesJSON_V2,
    RawBytesJSON_V3,
    VariableLengthBytesJSON_V2,
)
from zarr.dtype.types.binary import NullTerminatedBytes, RawBytes, VariableLengthBytes

__all__ = [
    "NullTerminatedBytes", "NullTerminatedBytesJSON_V3", "NullterminatedBytesJSON_V2", "RawBytes", "RawBytesJSON_V2",
    "RawBytesJSON_V3", "VariableLengthBytes", "VariableLengthBytesJSON_V2",
]
