"""Records; re-exports."""

from __future__ import annotations

from zarr.dtype.json_forms import (
    StructJSON_V3,
    StructuredJSON_V2,
    StructuredJSON_V3,
)
from zarr.dtype.types.structured import Struct, Structured

__all__ = ["Struct", "StructJSON_V3", "Structured", "StructuredJSON_V2", "StructuredJSON_V3"]
