"""The registry of data types; re-exports."""

from __future__ import annotations

from zarr.dtype.registry import DataTypeRegistry as DataTypeRegistry
