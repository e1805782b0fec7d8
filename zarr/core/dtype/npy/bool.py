"""Booleans."""

from __future__ import annotations

from zarr.dtype.types.boolean import Bool

__all__ = [
    "Bool",
]
