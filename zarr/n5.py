"""The stores of N5, where zarr-python 2 has them; re-exports only."""

from __future__ import annotations

from zarr.storage.version2 import N5FSStore, N5Store

__all__ = ["N5FSStore", "N5Store"]
