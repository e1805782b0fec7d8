"""The import path that other libraries use for ``zarr.storage.fsspec_store``."""

from __future__ import annotations

from zarr.storage.fsspec_store import ALLOWED_EXCEPTIONS, FsspecStore
from zarr.storage.fsspec_store import make_async as _make_async

__all__ = ["ALLOWED_EXCEPTIONS", "FsspecStore", "_make_async"]
