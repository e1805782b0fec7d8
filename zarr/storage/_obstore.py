"""The import path that other libraries use for ``zarr.storage.remote.obstore``."""

from __future__ import annotations

from zarr.storage.remote.obstore import ObjectStore

__all__ = ["ObjectStore"]
