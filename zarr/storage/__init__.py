"""Stores: where bytes are kept. One file a store, and ``resolve.py``, which makes a store of what a user names.

May import: errors, types, buffer, abc, registry, zarr_core. Never steps, runners, arrays or the config.
Read first: ``memory.py``.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zarr._lazy import lazy_names
from zarr.errors import ZarrDeprecationWarning

if TYPE_CHECKING:
    from zarr.storage.dbm_store import DBMStore
    from zarr.storage.fsspec_store import FsspecStore
    from zarr.storage.lmdb_store import LMDBStore
    from zarr.storage.local import LocalStore
    from zarr.storage.logging_store import LoggingStore
    from zarr.storage.managed_memory import ManagedMemoryStore
    from zarr.storage.mapping import MappingStore
    from zarr.storage.memory import GpuMemoryStore, MemoryStore
    from zarr.storage.n5_store import N5Store
    from zarr.storage.object_store import ObjectStore
    from zarr.storage.path import StorePath
    from zarr.storage.reference_store import ReferenceStore
    from zarr.storage.resolve import StoreLike
    from zarr.storage.sqlite import SQLiteStore
    from zarr.storage.wrapper import WrapperStore
    from zarr.storage.zip import ZipStore

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.storage.dbm_store": "DBMStore",
        "zarr.storage.fsspec_store": "FsspecStore",
        "zarr.storage.lmdb_store": "LMDBStore",
        "zarr.storage.local": "LocalStore",
        "zarr.storage.logging_store": "LoggingStore",
        "zarr.storage.mapping": "MappingStore",
        "zarr.storage.managed_memory": "ManagedMemoryStore",
        "zarr.storage.memory": "GpuMemoryStore MemoryStore",
        "zarr.storage.n5_store": "N5Store",
        "zarr.storage.object_store": "ObjectStore",
        "zarr.storage.path": "StorePath",
        "zarr.storage.reference_store": "ReferenceStore",
        "zarr.storage.resolve": "StoreLike",
        "zarr.storage.sqlite": "SQLiteStore",
        "zarr.storage.wrapper": "WrapperStore",
        "zarr.storage.zip": "ZipStore",
        # Names of zarr-python 2 that mean nothing else now; stores that kept their names are those of format 3 here.
        "zarr.storage.format2": (
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
            warnings.warn(
                "zarr.storage.default_compressor is deprecated and has no effect; give `compressor` or `compressors` "
                "when an array is created",
                ZarrDeprecationWarning,
                stacklevel=2,
            )
        else:
            super().__setattr__(attr, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = VerboseModule
