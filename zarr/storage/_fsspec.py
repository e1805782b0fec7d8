"""The import path that other libraries use for ``zarr.storage.remote.fsspec``."""

from __future__ import annotations

from zarr.storage.remote.fsspec import ALLOWED_EXCEPTIONS, FsspecStore
from zarr.storage.remote.fsspec import make_async as _make_async

__all__ = ["ALLOWED_EXCEPTIONS", "FsspecStore", "_make_async"]
