"""The import path that other libraries use for ``zarr.storage.local.store``."""

from __future__ import annotations

from zarr.storage.local.store import LocalStore

__all__ = ["LocalStore"]
