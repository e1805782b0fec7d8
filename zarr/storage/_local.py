"""The import path that other libraries use for ``zarr.storage.local``."""

from __future__ import annotations

from zarr.storage.local import LocalStore

__all__ = ["LocalStore"]
