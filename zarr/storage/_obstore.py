"""The import path that other libraries use for ``zarr.storage.object_store``."""

from __future__ import annotations

from zarr.storage.object_store import ObjectStore

__all__ = ["ObjectStore"]
