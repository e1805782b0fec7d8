"""The import path that other libraries use for ``zarr.storage.fsspec_store``."""

from __future__ import annotations

from zarr.storage.fsspec_store import ALLOWED_EXCEPTIONS, FsspecStore

__all__ = ["ALLOWED_EXCEPTIONS", "FsspecStore"]
