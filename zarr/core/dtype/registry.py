"""The registry of data types; re-exports."""

from __future__ import annotations

from zarr.dtype.registry import DataTypeRegistry

__all__ = ["DataTypeRegistry"]
