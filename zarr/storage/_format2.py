"""The functions of zarr-python 2's ``zarr.storage``, on stores that are mappings, and the base of such stores.

May import: everything; nothing below imports from here.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import MutableMapping
from typing import Any

import numcodecs

from zarr.abc.store import Store as CurrentStore
from zarr.api.create import create
from zarr.api.opening import create_group
from zarr.experimental.cache_store import CacheStore
from zarr.storage.keys import child_names, dir_prefix, normalize_path
from zarr.storage.memory import MemoryStore as CurrentMemoryStore
from zarr.storage.version2.base import Format2Store
from zarr.storage.version2.stores import DirectoryStore, FSStore, KVStore, MemoryStore, ZipStore

array_meta_key = ".zarray"
group_meta_key = ".zgroup"
attrs_key = ".zattrs"
default_compressor = numcodecs.Blosc()
DictStore = MemoryStore
normalize_storage_path = normalize_path


class LRUStoreCache(Format2Store[CacheStore]):
    """A store whose values are kept in memory when they were read; what was not asked for longest goes first.

    What others write to the store below is not noticed: call :meth:`invalidate` when they do.

    Parameters
    ----------
    store : Store
    max_size : int or None
        Bytes to keep; None for all.

    Examples
    --------
    >>> import zarr
    >>> cache = zarr.LRUStoreCache(zarr.MemoryStore({"a": b"value"}), max_size=2**20)
    >>> cache["a"], cache["a"], cache.hits
    (b'value', b'value', 1)
    """

    def __init__(self, store: CurrentStore, max_size: int | None) -> None:
        self._memory = CurrentMemoryStore()
        cache = CacheStore(store, cache_store=self._memory, max_size=max_size, cache_set_data=False)
        super().__init__(cache, getattr(store, "dimension_separator", None))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store._store, self.max_size)

    @property
    def max_size(self) -> int | None:
        """Return how many bytes are kept at most; None for all."""
        return self._store.max_size

    @property
    def hits(self) -> int:
        """Return how many values came from memory."""
        return int(self._store.cache_stats()["hits"])

    @property
    def misses(self) -> int:
        """Return how many values came from the store."""
        return int(self._store.cache_stats()["misses"])

    def invalidate(self) -> None:
        """Forget all values."""
        self._store._records.clear()
        self._memory.delete_dir_sync("")

    invalidate_values = invalidate

    def invalidate_keys(self) -> None:
        """Do nothing: which keys there are is always asked of the store."""


class BaseStore(MutableMapping[str, Any]):
    """The base of stores that are mappings of keys to bytes: an author writes the five methods of a mutable mapping.

    Wherever a store is asked for, such a mapping can be given; what is made in it is of the format that is asked for.

    Examples
    --------
    >>> import zarr
    >>> class Mine(BaseStore):
    ...     def __init__(self): self.values_ = {}
    ...     def __getitem__(self, key): return self.values_[key]
    ...     def __setitem__(self, key, value): self.values_[key] = value
    ...     def __delitem__(self, key): del self.values_[key]
    ...     def __iter__(self): return iter(self.values_)
    ...     def __len__(self): return len(self.values_)
    >>> array = zarr.create(4, store=Mine(), zarr_format=2)
    >>> array[:] = 1
    >>> array.store.mapping.listdir()
    ['.zarray', '.zattrs', '0']
    """

    def is_readable(self) -> bool:
        """Return whether values can be read, stored, listed and removed: they can, unless a subclass says otherwise."""
        return True

    is_writeable = is_listable = is_erasable = is_readable

    def __enter__(self) -> BaseStore:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what the store holds; nothing, here."""

    def listdir(self, path: str = "") -> list[str]:
        """Return the names directly below a path."""
        return listdir(self, path)

    def rmdir(self, path: str = "") -> None:
        """Remove all that is below a path."""
        rmdir(self, path)

    def rename(self, src_path: str, dst_path: str) -> None:
        """Move all that is below a path."""
        rename(self, src_path, dst_path)


Store = BaseStore
BaseStore.register(Format2Store)


def normalize_store_arg(
    store: Any, storage_options: dict[str, Any] | None = None, mode: str = "r", *, zarr_version: int | None = None
) -> Any:
    """Return a store of whatever names one: a path, a URL, a mapping; None is a new store in memory.

    Examples
    --------
    >>> type(normalize_store_arg({})).__name__
    'KVStore'
    """
    if store is None:
        return MemoryStore()
    if isinstance(store, os.PathLike):
        store = os.fspath(store)
    if isinstance(store, str):
        if "://" in store or "::" in store:
            return FSStore(store, mode=mode, **(storage_options or {}))
        return ZipStore(store, mode=mode) if store.endswith(".zip") else DirectoryStore(store)
    if isinstance(store, CurrentStore):
        return store if isinstance(store, MutableMapping) else Format2Store(store)
    return store if isinstance(store, BaseStore) else KVStore(store)


def _mapping(store: Any) -> Any:
    """Return a store as a mapping."""
    return store if isinstance(store, MutableMapping) else normalize_store_arg(store, mode="a")


def contains_array(store: Any, path: str | None = None) -> bool:
    """Return whether there is an array, of format 2 or 3.

    Examples
    --------
    >>> contains_array({".zarray": b"{}"}), contains_array({}, "a")
    (True, False)
    """
    return _contains(store, path, array_meta_key, "array")


def contains_group(store: Any, path: str | None = None, explicit_only: bool = True) -> bool:
    """Return whether there is a group, of format 2 or 3."""
    return _contains(store, path, group_meta_key, "group")


def _contains(store: Any, path: str | None, document: str, kind: str) -> bool:
    mapping, prefix = _mapping(store), dir_prefix(normalize_path(path))
    if prefix + document in mapping:
        return True
    try:
        value = mapping[prefix + "zarr.json"]
        node = json.loads(value.to_bytes() if hasattr(value, "to_bytes") else bytes(value))
    except (KeyError, ValueError):
        return False
    return isinstance(node, dict) and node.get("node_type") == kind


def listdir(store: Any, path: str | None = None) -> list[str]:
    """Return the names directly below a path.

    Examples
    --------
    >>> listdir({"a/b": b"", "a/c/d": b"", "e": b""}, "a")
    ['b', 'c']
    """
    where = normalize_path(path)
    prefix = dir_prefix(where)
    return sorted(child_names([key for key in _mapping(store) if key.startswith(prefix)], where))


def getsize(store: Any, path: str | None = None) -> int:
    """Return the bytes of the values directly at and below a path.

    Examples
    --------
    >>> getsize({"a/b": b"12", "a/c/d": b"345"}, "a")
    2
    """
    where, values = normalize_path(path), _mapping(store)
    if where and where in values:
        return len(values[where])
    prefix = dir_prefix(where)
    below = (key for key in list(values) if key.startswith(prefix))
    return sum(len(values[key]) for key in below if "/" not in key[len(prefix) :])


def rmdir(store: Any, path: str | None = None) -> None:
    """Remove all that is below a path."""
    values, prefix = _mapping(store), dir_prefix(normalize_path(path))
    for key in [key for key in values if key.startswith(prefix)]:
        del values[key]


def rename(store: Any, src_path: str, dst_path: str) -> None:
    """Move all that is at and below a path.

    Examples
    --------
    >>> values = {"a/b": b"1"}
    >>> rename(values, "a", "c")
    >>> values
    {'c/b': b'1'}
    """
    values, source, target = _mapping(store), normalize_path(src_path), normalize_path(dst_path)
    for key in [key for key in values if key == source or key.startswith(dir_prefix(source))]:
        values[target + key[len(source) :]] = values[key]
        del values[key]


def init_array(store: Any, shape: Any, *args: Any, path: str | None = None, **kwargs: Any) -> None:
    """Make an array of format 2; parameters as those of :func:`zarr.create`.

    Parameters
    ----------
    store : a store or a mapping
    shape : int or tuple of int
    *args
        ``chunks``, ``dtype``, ``compressor``, ``fill_value``, ``order``, ``overwrite``.
    path : str, optional
    **kwargs

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        There is a node already.

    Examples
    --------
    >>> values = {}
    >>> init_array(values, 4, dtype="i4")
    >>> contains_array(values)
    True
    """
    names = ("chunks", "dtype", "compressor", "fill_value", "order", "overwrite")
    kwargs.update(zip(names, args, strict=False))
    create(shape, store=normalize_store_arg(store, mode="a"), path=path, zarr_format=2, **kwargs)


def init_group(store: Any, overwrite: bool = False, path: str | None = None, chunk_store: Any = None) -> None:
    """Make a group of format 2.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        There is a node already.

    Examples
    --------
    >>> values = {}
    >>> init_group(values)
    >>> contains_group(values)
    True
    """
    create_group(normalize_store_arg(store, mode="a"), path=path, overwrite=overwrite, zarr_format=2)


def atexit_rmtree(path: str, isdir: Any = os.path.isdir, rmtree: Any = shutil.rmtree) -> None:
    """Remove a folder; given to :mod:`atexit`."""
    if isdir(path):
        rmtree(path)


def atexit_rmglob(path: str) -> None:
    """Remove all that a pattern matches; given to :mod:`atexit`."""
    for found in glob.glob(path):
        if os.path.isdir(found):
            shutil.rmtree(found)
        elif os.path.isfile(found):
            os.remove(found)


__all__ = [
    "BaseStore",
    "DictStore",
    "LRUStoreCache",
    "Store",
    "array_meta_key",
    "atexit_rmglob",
    "atexit_rmtree",
    "attrs_key",
    "contains_array",
    "contains_group",
    "default_compressor",
    "getsize",
    "group_meta_key",
    "init_array",
    "init_group",
    "listdir",
    "normalize_storage_path",
    "normalize_store_arg",
    "rename",
    "rmdir",
]
