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
from zarr.errors import ZarrDeprecationWarning
from zarr.notices import warn
from zarr.storage.keys import child_names, dir_prefix, normalize_path
from zarr.storage.mapping import as_bytes
from zarr.storage.version2.n5 import N5Store
from zarr.storage.version2.stores import DirectoryStore, Format2Store, FSStore, KVStore, MemoryStore, ZipStore
from zarr.storage.version2.stores import LRUStoreCache as LRUStoreCache

array_meta_key = ".zarray"
group_meta_key = ".zgroup"
attrs_key = ".zattrs"
default_compressor = numcodecs.Blosc()
normalize_storage_path = normalize_path


class DictStore(MemoryStore):
    """Another name of :class:`zarr.MemoryStore`, deprecated since zarr-python 2.4."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn("DictStore is another name of zarr.MemoryStore: use that", ZarrDeprecationWarning)
        super().__init__(*args, **kwargs)


class BaseStore(MutableMapping[str, Any]):
    """The base of stores that are mappings of keys to bytes: a subclass defines the five methods of a mutable mapping.

    It can be given for any store parameter; new nodes in it have the format of the call.

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
        """Return True: values can be read, stored, listed and removed, unless a subclass overrides this."""
        return True

    is_writeable = is_listable = is_erasable = is_readable

    def __enter__(self) -> BaseStore:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the resources of the store; the base class has none."""

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
    """Return a store for a path, a URL or a mapping; None is a new store in memory.

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
        if store.endswith(".n5"):
            return N5Store(store)
        return ZipStore(store, mode=mode) if store.endswith(".zip") else DirectoryStore(store)
    if isinstance(store, CurrentStore):
        return store if isinstance(store, MutableMapping) else Format2Store(store)
    return store if isinstance(store, BaseStore) else KVStore(store)


def _mapping(store: Any) -> Any:
    """Return a store as a mapping."""
    return store if isinstance(store, MutableMapping) else normalize_store_arg(store, mode="a")


def contains_array(store: Any, path: str | None = None) -> bool:
    """Return True if there is an array, of format 2 or 3.

    Examples
    --------
    >>> contains_array({".zarray": b"{}"}), contains_array({}, "a")
    (True, False)
    """
    return _contains(store, path, array_meta_key, "array")


def contains_group(store: Any, path: str | None = None, explicit_only: bool = True) -> bool:
    """Return True if there is a group, of format 2 or 3."""
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
    """Return the bytes of the values directly at and below a path; -1 if the store cannot report them.

    Examples
    --------
    >>> getsize({"a/b": b"12", "a/c/d": b"345"}, "a")
    2
    """
    if not isinstance(store, MutableMapping | CurrentStore):
        return -1
    where, values = normalize_path(path), _mapping(store)
    if where and where in values:
        return _length(values[where])
    prefix = dir_prefix(where)
    sizes = [_length(values[key]) for key in list(values) if key.startswith(prefix) and "/" not in key[len(prefix) :]]
    return -1 if -1 in sizes else sum(sizes)


def _length(value: Any) -> int:
    """Return the number of bytes of a value; -1 if it has none."""
    try:
        return len(as_bytes(value))
    except TypeError:
        return -1


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


def init_array(
    store: Any,
    shape: Any,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = None,
    order: str = "C",
    overwrite: bool = False,
    path: str | None = None,
    chunk_store: Any = None,
    filters: Any = None,
    object_codec: Any = None,
    dimension_separator: Any = None,
    storage_transformers: Any = (),
    **kwargs: Any,
) -> None:
    """Create an array of format 2.

    Parameters
    ----------
    store : a store or a mapping
    shape : int or tuple of int
    chunks, dtype, fill_value, order, overwrite, filters, object_codec, dimension_separator
        As for :func:`zarr.create`; ``dtype`` is float64 by default, and ``fill_value`` none.
    compressor : codec, optional
        "default" is Blosc.
    path : str, optional
    chunk_store : a store or a mapping, optional
        With ``overwrite`` it is emptied, too.
    storage_transformers
        Must be empty.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node already.

    Examples
    --------
    >>> values = {}
    >>> init_array(values, 4, dtype="i4")
    >>> contains_array(values)
    True
    """
    if isinstance(compressor, str) and compressor == "default":
        compressor = default_compressor
    place = normalize_store_arg(store, mode="a")
    create(
        shape, chunks=chunks, dtype=dtype, compressor=compressor, fill_value=fill_value, order=order, store=place,
        overwrite=overwrite, path=path, filters=filters, object_codec=object_codec,
        dimension_separator=dimension_separator, zarr_format=2, **kwargs,
    )  # fmt: skip
    if overwrite and chunk_store is not None:
        rmdir(chunk_store, path)


def init_group(store: Any, overwrite: bool = False, path: str | None = None, chunk_store: Any = None) -> None:
    """Create a group of format 2.

    Parameters
    ----------
    store : a store or a mapping
    overwrite : bool
    path : str, optional
    chunk_store : a store or a mapping, optional
        With ``overwrite`` it is emptied, too.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node already.

    Examples
    --------
    >>> values = {}
    >>> init_group(values)
    >>> contains_group(values)
    True
    """
    create_group(normalize_store_arg(store, mode="a"), path=path, overwrite=overwrite, zarr_format=2)
    if overwrite and chunk_store is not None:
        rmdir(chunk_store, path)


def atexit_rmtree(path: str, isdir: Any = os.path.isdir, rmtree: Any = shutil.rmtree) -> None:
    """Remove a folder; a function for :mod:`atexit`."""
    if isdir(path):
        rmtree(path)


def atexit_rmglob(path: str) -> None:
    """Remove all files and folders that match a pattern; a function for :mod:`atexit`."""
    for found in glob.glob(path):
        if os.path.isdir(found):
            shutil.rmtree(found)
        elif os.path.isfile(found):
            os.remove(found)
