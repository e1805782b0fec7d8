"""Booleans."""

from __future__ import annotations

from zarr.dtype.boolean import Bool

__all__ = [
    "Bool",
]
