"""The import path that other libraries use for ``zarr.storage.remote.fsspec``."""

from __future__ import annotations

from zarr.storage.remote.clients import make_async as _make_async
from zarr.storage.remote.fsspec import ALLOWED_EXCEPTIONS, FsspecStore

__all__ = ["ALLOWED_EXCEPTIONS", "FsspecStore", "_make_async"]
