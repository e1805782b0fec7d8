"""Stores: where bytes are kept. One file a store, and ``resolve.py``, which makes a store of what a user names.

May import: errors, types, buffer, abc, registry, zarr_core. Never steps, runners, arrays or the config.
Read first: ``memory/store.py``, then ``resolve.py``. Files that begin with ``_`` are import paths of zarr-python.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zarr._lazy import lazy_names
from zarr.errors import ZarrDeprecationWarning
from zarr.notices import warn

if TYPE_CHECKING:
    from zarr.storage.databases.dbm import DBMStore
    from zarr.storage.databases.lmdb import LMDBStore
    from zarr.storage.databases.sqlite import SQLiteStore
    from zarr.storage.layouts.n5 import N5Store
    from zarr.storage.local.store import LocalStore
    from zarr.storage.memory.store import GpuMemoryStore, ManagedMemoryStore, MemoryStore
    from zarr.storage.path import StorePath
    from zarr.storage.payloads import MappingStore
    from zarr.storage.references.store import ReferenceStore
    from zarr.storage.remote.fsspec import FsspecStore
    from zarr.storage.remote.obstore import ObjectStore
    from zarr.storage.resolve import StoreLike
    from zarr.storage.wrappers.logging import LoggingStore
    from zarr.storage.wrappers.wrapper import WrapperStore
    from zarr.storage.zip.store import ZipStore

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.storage.databases.dbm": "DBMStore",
        "zarr.storage.remote.fsspec": "FsspecStore",
        "zarr.storage.databases.lmdb": "LMDBStore",
        "zarr.storage.local.store": "LocalStore",
        "zarr.storage.wrappers.logging": "LoggingStore",
        "zarr.storage.payloads": "MappingStore",
        "zarr.storage.memory.store": "GpuMemoryStore ManagedMemoryStore MemoryStore",
        "zarr.storage.layouts.n5": "N5Store",
        "zarr.storage.remote.obstore": "ObjectStore",
        "zarr.storage.path": "StorePath",
        "zarr.storage.references.store": "ReferenceStore",
        "zarr.storage.resolve": "StoreLike",
        "zarr.storage.databases.sqlite": "SQLiteStore",
        "zarr.storage.wrappers.wrapper": "WrapperStore",
        "zarr.storage.zip.store": "ZipStore",
        # Names of zarr-python 2 that mean nothing else now; stores that kept their names are those of format 3 here.
        "zarr.storage.version2": (
            "ABSStore ConsolidatedMetadataStore DirectoryStore FSStore KVStore LRUStoreCache MongoDBStore N5FSStore "
            "NestedDirectoryStore RedisStore TempStore"
        ),
        # Functions and bases of zarr-python 2.
        "zarr.storage._format2": (
            "BaseStore DictStore Store array_meta_key atexit_rmglob atexit_rmtree attrs_key contains_array "
            "contains_group default_compressor getsize group_meta_key init_array init_group listdir "
            "normalize_storage_path normalize_store_arg rename rmdir"
        ),
    },
)

__all__ = [
    "DBMStore",
    "FsspecStore",
    "GpuMemoryStore",
    "LMDBStore",
    "LocalStore",
    "LoggingStore",
    "ManagedMemoryStore",
    "MappingStore",
    "MemoryStore",
    "N5Store",
    "ObjectStore",
    "ReferenceStore",
    "SQLiteStore",
    "StoreLike",
    "StorePath",
    "WrapperStore",
    "ZipStore",
]


class VerboseModule(ModuleType):
    """A module that says so when a setting of earlier versions, now without effect, is set on it."""

    def __setattr__(self, attr: str, value: Any) -> None:
        if attr == "default_compressor":
            warn(
                "zarr.storage.default_compressor is deprecated and has no effect; give `compressor` or `compressors` "
                "when an array is created",
                ZarrDeprecationWarning,
            )
        else:
            super().__setattr__(attr, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = VerboseModule
