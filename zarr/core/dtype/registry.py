"""The registry of data types."""

from __future__ import annotations

from zarr.dtype.registry import DataTypeRegistry

__all__ = [
    "DataTypeRegistry",
]
