"""The import path that other libraries use for ``zarr.storage.zip.store``."""

from __future__ import annotations

from zarr.storage.zip.store import ZipStore, ZipStoreAccessModeLiteral

__all__ = ["ZipStore", "ZipStoreAccessModeLiteral"]
