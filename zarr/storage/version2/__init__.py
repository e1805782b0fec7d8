"""The stores of zarr-python 2, by their names and with their parameters, for programs that were written for it.

``zarr.DirectoryStore`` and the others come from here. What is made in such a store without a word of the format is of
format 2, and its documents are written as zarr-python 2 wrote them.

May import: ``zarr.storage``. Read first: ``base.py``, then ``stores.py``.
"""

from __future__ import annotations

from zarr.storage.version2.base import Format2Store
from zarr.storage.version2.cache import LRUStoreCache
from zarr.storage.version2.stores import (
    ABSStore,
    ConsolidatedMetadataStore,
    DBMStore,
    DirectoryStore,
    FSStore,
    KVStore,
    LMDBStore,
    MemoryStore,
    MongoDBStore,
    N5FSStore,
    N5Store,
    NestedDirectoryStore,
    RedisStore,
    SQLiteStore,
    TempStore,
    ZipStore,
)

__all__ = [
    "ABSStore",
    "ConsolidatedMetadataStore",
    "DBMStore",
    "DirectoryStore",
    "FSStore",
    "Format2Store",
    "KVStore",
    "LMDBStore",
    "LRUStoreCache",
    "MemoryStore",
    "MongoDBStore",
    "N5FSStore",
    "N5Store",
    "NestedDirectoryStore",
    "RedisStore",
    "SQLiteStore",
    "TempStore",
    "ZipStore",
]
