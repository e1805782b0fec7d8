"""The base of stores that are mappings; re-exports."""

from __future__ import annotations

from zarr.abc.storage_transformer import StorageTransformer
from zarr.abc.store import Store as StoreV3
from zarr.storage._format2 import BaseStore, Store

__all__ = ["BaseStore", "StorageTransformer", "Store", "StoreV3"]
