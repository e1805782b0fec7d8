"""The stores of zarr-python 2 by their names and parameters, over the stores of this library."""

from __future__ import annotations

import atexit
import dbm
import json
import os
import shutil
import tempfile
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from zarr.abc.store import ByteRequest, Store
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import MetadataValidationError
from zarr.storage.databases.dbm import DBMStore as CurrentDBMStore
from zarr.storage.databases.lmdb import LMDBStore as CurrentLMDBStore
from zarr.storage.databases.sqlite import SQLiteStore as CurrentSQLiteStore
from zarr.storage.keys import dir_prefix
from zarr.storage.layouts.n5 import N5Store as CurrentN5Store
from zarr.storage.local.store import LocalStore
from zarr.storage.memory import MemoryStore as CurrentMemoryStore
from zarr.storage.payloads import MappingStore
from zarr.storage.remote.fsspec import FsspecStore
from zarr.storage.version2.base import Format2Store, Separator, document_of
from zarr.storage.zip.store import ZipStore as CurrentZipStore


class DirectoryStore(Format2Store[LocalStore]):
    """A folder: each key is the path of a file.

    Parameters
    ----------
    path : str or Path
    normalize_keys : bool
        Whether keys are folded to lower case, which other readers would not do: only False is taken.
    dimension_separator : {".", "/"}, optional

    Raises
    ------
    ValueError
        For ``normalize_keys=True``.

    Examples
    --------
    >>> import tempfile, zarr
    >>> store = zarr.DirectoryStore(tempfile.mkdtemp())
    >>> array = zarr.create(shape=(4,), chunks=(2,), dtype="i4", store=store)
    >>> array.metadata.zarr_format, sorted(store)
    (2, ['.zarray'])
    """

    def __init__(
        self, path: str | Path, normalize_keys: bool = False, dimension_separator: Separator | None = None
    ) -> None:
        refuse_normalizing(normalize_keys)
        super().__init__(LocalStore(os.path.abspath(path)), dimension_separator)
        self.path = str(path)

    def dir_path(self, path: str | None = None) -> str:
        """Return the folder of a path in the store."""
        return os.path.join(self.path, dir_prefix(path or "").rstrip("/")) if path else self.path


def refuse_normalizing(normalize_keys: bool) -> None:
    """Refuse to fold keys.

    Raises
    ------
    ValueError
    """
    if normalize_keys:
        raise ValueError("normalize_keys=True folds keys to lower case, under which nobody finds them; leave it out")


class NestedDirectoryStore(DirectoryStore):
    """A folder in which the chunks of an array lie in folders of their own: ``0/0`` for the first of a matrix.

    Parameters
    ----------
    path : str or Path
    normalize_keys : bool
    dimension_separator : "/"

    Raises
    ------
    ValueError
        For another separator.
    """

    def __init__(
        self, path: str | Path, normalize_keys: bool = False, dimension_separator: Separator | None = "/"
    ) -> None:
        if dimension_separator not in (None, "/"):
            raise ValueError(f"NestedDirectoryStore has the separator '/', not {dimension_separator!r}")
        super().__init__(path, normalize_keys, "/")


class TempStore(DirectoryStore):
    """A folder of its own among the temporary files, removed when the process ends.

    Parameters
    ----------
    suffix, prefix, dir
        As for `tempfile.mkdtemp`.
    normalize_keys : bool
    dimension_separator : {".", "/"}, optional
    """

    def __init__(
        self,
        suffix: str = "",
        prefix: str = "zarr",
        dir: str | None = None,
        normalize_keys: bool = False,
        dimension_separator: Separator | None = None,
    ) -> None:
        path = tempfile.mkdtemp(suffix=suffix, prefix=prefix, dir=dir)
        atexit.register(shutil.rmtree, path, ignore_errors=True)
        super().__init__(path, normalize_keys, dimension_separator)


class MemoryStore(Format2Store[CurrentMemoryStore]):
    """Values in the memory of the process.

    Parameters
    ----------
    root : MutableMapping, optional
        Values to begin with; they are copied.
    cls : type
        Had a use when groups were dicts in dicts; only ``dict`` is taken.
    dimension_separator : {".", "/"}, optional

    Raises
    ------
    TypeError
        For another ``cls``.
    """

    def __init__(
        self,
        root: MutableMapping[str, Any] | None = None,
        cls: type = dict,
        dimension_separator: Separator | None = None,
    ) -> None:
        if cls is not dict:
            raise TypeError(f"MemoryStore keeps its values in a dict, not in a {cls.__name__}; for that take KVStore")
        super().__init__(CurrentMemoryStore(), dimension_separator)
        for key, value in (root or {}).items():
            self[key] = value


class KVStore(Format2Store[MappingStore]):
    """Any mutable mapping of keys to bytes.

    Parameters
    ----------
    mutablemapping : MutableMapping
    dimension_separator : {".", "/"}, optional

    Examples
    --------
    >>> import zarr
    >>> values = {}
    >>> group = zarr.group(zarr.storage.KVStore(values))
    >>> list(values)
    ['.zgroup']
    """

    def __init__(self, mutablemapping: MutableMapping[str, Any], dimension_separator: Separator | None = None) -> None:
        super().__init__(MappingStore(mutablemapping), dimension_separator)


class ZipStore(Format2Store[CurrentZipStore]):
    """One zip file.

    Parameters
    ----------
    path : str or Path
    compression, allowZip64
        As for `zipfile.ZipFile`.
    mode : {"r", "w", "a", "x"}
    dimension_separator : {".", "/"}, optional
    """

    def __init__(
        self,
        path: str | Path,
        compression: int = 0,
        allowZip64: bool = True,
        mode: Any = "a",
        dimension_separator: Separator | None = None,
    ) -> None:
        store = CurrentZipStore(path, mode=mode, compression=compression, allowZip64=allowZip64)
        super().__init__(store, dimension_separator)
        self.path = str(path)

    def flush(self) -> None:
        """Close the file, so that it is whole on the disk; the store stays in use."""
        self.close()


class FSStore(Format2Store[Store]):
    """A place that fsspec can open. The mapping methods are for file systems that fsspec serves without coroutines.

    Parameters
    ----------
    url : str
    normalize_keys : bool
    key_separator : {".", "/"}, optional
        An older name of ``dimension_separator``.
    mode : {"r", "w", "r+", "a"}
    exceptions : sequence of type, optional
        Which errors mean that a key is not there; by default the store's own.
    dimension_separator : {".", "/"}, optional
    fs : fsspec.AbstractFileSystem, optional
        Then ``url`` is a path in it.
    **storage_options
        For fsspec.
    """

    def __init__(
        self,
        url: str,
        normalize_keys: bool = False,
        key_separator: Separator | None = None,
        mode: str = "w",
        exceptions: tuple[type[Exception], ...] | None = None,
        dimension_separator: Separator | None = None,
        fs: Any = None,
        **storage_options: Any,
    ) -> None:
        refuse_normalizing(normalize_keys)
        read_only = mode == "r"
        options: dict[str, Any] = {} if exceptions is None else {"allowed_exceptions": tuple(exceptions)}
        store: Store
        if fs is not None:
            store = FsspecStore(fs, path=url, read_only=read_only, **options)
        elif "://" in url or "::" in url:
            store = FsspecStore.from_url(url, storage_options=storage_options, read_only=read_only, **options)
        else:
            store = LocalStore(os.path.abspath(url), read_only=read_only)
        super().__init__(store, dimension_separator if key_separator is None else key_separator)
        self.path = url


class SQLiteStore(Format2Store[CurrentSQLiteStore]):
    """A database of SQLite.

    Parameters
    ----------
    path : str or Path
    dimension_separator : {".", "/"}, optional
    **kwargs
        For `zarr.storage.SQLiteStore`.
    """

    def __init__(self, path: str | Path, dimension_separator: Separator | None = None, **kwargs: Any) -> None:
        super().__init__(CurrentSQLiteStore(path, **kwargs), dimension_separator)
        self.path = str(path)


class LMDBStore(Format2Store[CurrentLMDBStore]):
    """A database of LMDB, for which the package ``lmdb`` is needed: ``pip install 'zarr[lmdb]'``.

    Parameters
    ----------
    path : str or Path
    buffers : bool
        Whether values may be views of the database; has no effect on what is read.
    dimension_separator : {".", "/"}, optional
    **kwargs
        For `zarr.storage.LMDBStore`.
    """

    def __init__(
        self, path: str | Path, buffers: bool = True, dimension_separator: Separator | None = None, **kwargs: Any
    ) -> None:
        super().__init__(CurrentLMDBStore(path, **kwargs), dimension_separator)
        self.path, self.buffers = str(path), buffers


class DBMStore(Format2Store[CurrentDBMStore]):
    """A database of `dbm`.

    Parameters
    ----------
    path : str or Path
    flag : {"r", "w", "c"}
        ``"n"``, which empties the database, is not taken.
    open : callable, optional
        Opens the database; `dbm.open` by default.
    dimension_separator : {".", "/"}, optional
    **kwargs
        For `zarr.storage.DBMStore`.

    Raises
    ------
    ValueError
        For another flag.
    """

    def __init__(
        self,
        path: str | Path,
        flag: str = "c",
        open: Callable[..., Any] | None = None,
        dimension_separator: Separator | None = None,
        **kwargs: Any,
    ) -> None:
        if flag not in ("r", "w", "c"):
            raise ValueError(f"flag must be 'r', 'w' or 'c', got {flag!r}; to begin anew, remove the file")
        store = CurrentDBMStore(path, opener=open or dbm.open, read_only=flag == "r", **kwargs)
        super().__init__(store, dimension_separator)
        self.path, self.flag = str(path), flag


class N5Store(CurrentN5Store):
    """A hierarchy of N5 in a folder, for reading; what is made is a `zarr.storage.N5Store`.

    Parameters
    ----------
    path : str or Path
    normalize_keys : bool

    Examples
    --------
    >>> import zarr
    >>> zarr.N5Store("data.n5").read_only
    True
    """

    def __new__(cls, path: str | Path, normalize_keys: bool = False) -> Any:
        """Return a store over a folder."""
        refuse_normalizing(normalize_keys)
        return CurrentN5Store(LocalStore(os.path.abspath(path), read_only=True))


class N5FSStore(CurrentN5Store):
    """A hierarchy of N5 where fsspec can read, for reading; what is made is a `zarr.storage.N5Store`.

    Parameters
    ----------
    url : str
    **kwargs
        For `zarr.FSStore`.
    """

    def __new__(cls, url: str, **kwargs: Any) -> Any:
        """Return a store over what a URL names."""
        return CurrentN5Store(FSStore(url, **{**kwargs, "mode": "r"})._store)


class _GoneStore:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"there is no {type(self).__name__} any more. {type(self).__doc__}")


class ABSStore(_GoneStore):
    """Open Azure blobs with zarr.storage.FsspecStore.from_url('abfs://...', storage_options={...}) and adlfs.

    Or with zarr.storage.ObjectStore(obstore.store.AzureStore(...)).
    """


class RedisStore(_GoneStore):
    """Give any mutable mapping of str to bytes to zarr.storage.KVStore(mapping), as one over a redis client."""


class MongoDBStore(_GoneStore):
    """Give any mutable mapping of str to bytes to zarr.storage.KVStore(mapping), as one over a collection."""


class ConsolidatedMetadataStore(Format2Store[Store]):
    """A store that reads documents from the copy that ``zarr.consolidate_metadata`` made; it cannot be written to.

    Parameters
    ----------
    store : Store
        With synchronous methods.
    metadata_key : str
        The key of the copy.

    Raises
    ------
    KeyError
        There is no copy.
    MetadataValidationError
        It is not one, or of another version.
    """

    def __init__(self, store: Store, metadata_key: str = ".zmetadata") -> None:
        super().__init__(store.with_read_only(True), getattr(store, "dimension_separator", None))
        raw = self._store.get_sync(metadata_key)  # type: ignore[attr-defined]
        if raw is None:
            raise KeyError(metadata_key)
        copy = json.loads(raw.to_bytes())
        if not isinstance(copy, dict) or copy.get("zarr_consolidated_format") != 1:
            raise MetadataValidationError(f"{metadata_key!r} is no consolidated metadata of version 1")
        make = default_buffer_prototype().buffer.from_bytes
        self._documents = {key: make(json.dumps(value).encode()) for key, value in copy["metadata"].items()}

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read a document from the copy, any other value from the store."""
        if document_of(key) is not None:
            return self._outward(key, self._documents.get(key))
        return await super().get(key, prototype, byte_range)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read a document from the copy, any other value from the store."""
        if document_of(key) is not None:
            return self._outward(key, self._documents.get(key))
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)
