"""Stores of N5, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.storage.version2.stores import N5FSStore, N5Store

__all__ = ["N5FSStore", "N5Store"]
