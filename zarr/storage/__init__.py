"""Stores keep bytes by key. Each store has a file; ``resolve.py`` makes a store from what a user gives.

May import: errors, types, buffer, abc, registry, zarr_core. Never steps, runners, arrays or the config.
Read first: ``memory.py``, then ``resolve.py``. Files that begin with ``_`` are import paths of zarr-python.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zarr._lazy import lazy_names
from zarr.defaults import STORES as _STORES
from zarr.errors import ZarrDeprecationWarning
from zarr.notices import warn

if TYPE_CHECKING:  # for type checkers; they see other names, of zarr-python 2, as Any
    from zarr.storage.databases.dbm import DBMStore as DBMStore
    from zarr.storage.databases.lmdb import LMDBStore as LMDBStore
    from zarr.storage.databases.sqlite import SQLiteStore as SQLiteStore
    from zarr.storage.layouts.n5 import N5Store as N5Store
    from zarr.storage.local.store import LocalStore as LocalStore
    from zarr.storage.memory import GpuMemoryStore as GpuMemoryStore
    from zarr.storage.memory import ManagedMemoryStore as ManagedMemoryStore
    from zarr.storage.memory import MemoryStore as MemoryStore
    from zarr.storage.path import StorePath as StorePath
    from zarr.storage.payloads import MappingStore as MappingStore
    from zarr.storage.references.store import ReferenceStore as ReferenceStore
    from zarr.storage.references.tar import TarStore as TarStore
    from zarr.storage.remote.fsspec import FsspecStore as FsspecStore
    from zarr.storage.remote.obstore import ObjectStore as ObjectStore
    from zarr.storage.resolve import StoreLike as StoreLike
    from zarr.storage.wrappers.logging import LoggingStore as LoggingStore
    from zarr.storage.wrappers.wrapper import WrapperStore as WrapperStore
    from zarr.storage.zip.store import ZipStore as ZipStore

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **{module: " ".join(name for name in _STORES if _STORES[name][0] == module) for module, *_ in _STORES.values()},
        "zarr.storage.path": "StorePath",
        "zarr.storage.resolve": "StoreLike",
        # Names of zarr-python 2 without another meaning; stores with the same name in both are those of format 3.
        "zarr.storage.version2.stores": (
            "ABSStore ConsolidatedMetadataStore DirectoryStore FSStore KVStore MongoDBStore "
            "NestedDirectoryStore RedisStore TempStore"
        ),
        "zarr.storage.version2.n5": "N5FSStore",
        # Functions and bases of zarr-python 2.
        "zarr.storage._format2": (
            "BaseStore DictStore LRUStoreCache Store array_meta_key atexit_rmglob atexit_rmtree attrs_key "
            "contains_array contains_group default_compressor getsize group_meta_key init_array init_group listdir "
            "normalize_storage_path normalize_store_arg rename rmdir"
        ),
    },
)

__all__ = [*_STORES, "StoreLike", "StorePath"]  # noqa: PLE0604


class VerboseModule(ModuleType):
    """A module that warns if a former setting, now without effect, is assigned."""

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
