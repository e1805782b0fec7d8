"""The import path that other libraries use for ``zarr.storage.zip``."""

from __future__ import annotations

from zarr.storage.zip import ZipStore, ZipStoreAccessModeLiteral

__all__ = ["ZipStore", "ZipStoreAccessModeLiteral"]
