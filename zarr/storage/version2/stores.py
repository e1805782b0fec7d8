"""The stores of zarr-python 2 by their names and parameters, over the stores of this library."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self, TypeVar

from zarr.abc.store import BulkAccess, ByteRequest, Store, bulk_access_of, is_synchronous
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import MetadataValidationError
from zarr.storage.databases.dbm import DBMStore as CurrentDBMStore
from zarr.storage.databases.lmdb import LMDBStore as CurrentLMDBStore
from zarr.storage.databases.sqlite import SQLiteStore as CurrentSQLiteStore
from zarr.storage.keys import dir_prefix
from zarr.storage.local.store import LocalStore
from zarr.storage.mapping import StoreMapping, as_bytes
from zarr.storage.memory import MemoryStore as CurrentMemoryStore
from zarr.storage.payloads import MappingStore
from zarr.storage.remote.fsspec import FsspecStore
from zarr.storage.url import filesystem_of
from zarr.storage.version2.items import go_by_items
from zarr.storage.wrappers.wrapper import StepsStore, WrapperStore
from zarr.storage.zip.store import ZipStore as CurrentZipStore
from zarr.types import METADATA_NAMES, ZARR_JSON

T_Store = TypeVar("T_Store", bound=Store)
Separator = Literal[".", "/"]

_DOCUMENTS: Final = METADATA_NAMES - {ZARR_JSON}
_SEPARATORS: Final = (None, ".", "/")
_NOTHING: Final = b"{}"
_FORMAT_3_KEYS: Final = {"name": "default", "separator": "/"}


def document_of(key: str) -> str | None:
    """Return the name of the document for a key; None if it is no key of a document.

    Examples
    --------
    >>> document_of("a/.zarray"), document_of("a/0.0")
    ('.zarray', None)
    """
    name = key.rpartition("/")[2]
    return name if name in _DOCUMENTS else None


def as_format_2_wrote(name: str, raw: bytes, separator: Separator | None) -> bytes:
    """Return a document with its members in the order of their names, indented by four.

    The separator "." is left out, unless the caller gave it explicitly.

    Examples
    --------
    >>> as_format_2_wrote(".zgroup", b'{"zarr_format":2}', None).decode()
    '{\\n    "zarr_format": 2\\n}'
    """
    document = json.loads(raw)
    if name == ".zarray" and separator is None and document.get("dimension_separator") == ".":
        del document["dimension_separator"]
    return json.dumps(document, indent=4, sort_keys=True, ensure_ascii=True, separators=(",", ": ")).encode()


class Format2Store(StoreMapping, WrapperStore[T_Store]):
    """A store in which new arrays and groups have format 2, unless another format is given.

    Documents are written as zarr-python 2 wrote them. The store is a mutable mapping of keys to bytes, too.

    Parameters
    ----------
    store : Store
        The store of the values.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of new arrays, unless they define another one. If it is "/", arrays whose document
        has no separator are read with "/".

    Raises
    ------
    ValueError
        For any other separator.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> store = Format2Store(MemoryStore())
    >>> store["a/0"] = b"value"
    >>> list(store), store["a/0"], store.listdir("a")
    (['a/0'], b'value', ['0'])
    """

    default_zarr_format: int = 2
    _by_items: ClassVar[type | None] = None
    """The last class outside this library in the order of inheritance, if the methods of stores call its items."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let arrays go by the items of a class that overrides them."""
        super().__init_subclass__(**options)
        cls._by_items = go_by_items(cls, Format2Store)

    def _called(self) -> Any:
        """Return the object whose methods of stores the items call: this store without the methods that call items."""
        return self if self._by_items is None else super(self._by_items, self)

    def __init__(self, store: T_Store, dimension_separator: Separator | None = None) -> None:
        if dimension_separator not in _SEPARATORS:
            raise ValueError(f"dimension_separator must be '.' or '/', got {dimension_separator!r}")
        super().__init__(store)
        self.dimension_separator = dimension_separator

    def _with_store(self, store: T_Store) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._store = store
        return other

    def _put(self, key: str, value: Buffer) -> None:
        """Store a value as it is: a caller that writes a document by its key gives its final bytes."""
        if is_synchronous(self._store):
            self._store.set_sync(key, value)  # type: ignore[attr-defined]
        else:
            self._wait(self._store.set(key, value))

    def __contains__(self, key: object) -> bool:
        # Asynchronous file systems return True for a folder.
        return super().__contains__(key) and (
            is_synchronous(self) or self._plain("get", key, prototype=default_buffer_prototype()) is not None
        )

    # Values as they are read and stored

    def _outward(self, key: str, value: Buffer | None) -> Buffer | None:
        """Return a value for readers: a document without a separator gets that of the store."""
        if value is None or self.dimension_separator != "/" or document_of(key) != ".zarray":
            return value
        try:
            document = json.loads(value.to_bytes())
        except ValueError:  # the reader refuses it, or it is a form of its own that a subclass translates
            return value
        if not isinstance(document, dict) or document.get("dimension_separator") is not None:
            return value
        document["dimension_separator"] = "/"
        return default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())

    def _inward(self, key: str, value: Buffer) -> Buffer:
        """Return a value in its stored form."""
        name = document_of(key)
        if name is None:
            return value
        raw = as_format_2_wrote(name, value.to_bytes(), self.dimension_separator)
        return default_buffer_prototype().buffer.from_bytes(raw)

    @staticmethod
    def _is_empty_document(key: str, value: Buffer) -> bool:
        """Return True if a value is the document of empty attributes, which need not be stored."""
        return document_of(key) == ".zattrs" and value.to_bytes() == _NOTHING

    async def _later(self, key: str, *args: Any, **options: Any) -> Buffer | None:
        return self._outward(key, await super()._later(key, *args, **options))

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value of a key."""
        return self._outward(key, super().get_sync(key, prototype=prototype, byte_range=byte_range))

    async def set(self, key: str, value: Buffer) -> None:
        """Store a value."""
        if not (self._is_empty_document(key, value) and not await self.exists(key)):
            await super().set(key, self._inward(key, value))

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value."""
        if not (self._is_empty_document(key, value) and not self.exists_sync(key)):
            super().set_sync(key, self._inward(key, value))

    async def get_versioned(self, key: str, *args: Any) -> tuple[Buffer | None, Any] | None:
        """Read the value of a key, and its version."""
        found = await super().get_versioned(key, *args)
        return None if found is None else (self._outward(key, found[0]), found[1])

    async def set_if_version(self, key: str, value: Buffer, version: Any) -> bool:
        """Store a value if the key still has a version."""
        if version is None and self._is_empty_document(key, value):
            return not await self.exists(key)
        return bool(await super().set_if_version(key, self._inward(key, value), version))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store a value if there is none."""
        if not self._is_empty_document(key, value):
            await super().set_if_not_exists(key, self._inward(key, value))

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Store a value if there is none; return True if this call stored it."""
        return self._is_empty_document(key, value) or await super().put_if_absent(key, self._inward(key, value))

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store a value if there is none."""
        if not self._is_empty_document(key, value):
            super().set_if_not_exists_sync(key, self._inward(key, value))

    def bulk_access(self) -> BulkAccess | None:
        """Return that of the wrapped store: chunks are the same in both."""
        return bulk_access_of(self._store)


_OF_MAPPER = frozenset(("check", "create", "missing_exceptions"))
"""Options of a mapping of fsspec, not of its file system."""


class FoldedStore(StepsStore):
    """A store that folds all keys to lower case.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> from zarr.buffer.cpu import Buffer
    >>> store = FoldedStore(MemoryStore())
    >>> store.set_sync("Foo", Buffer.from_bytes(b"value"))
    >>> store.exists_sync("FOO"), list(store.list_sync())
    (True, ['foo'])
    """

    ROUTED = "get get_ranges exists getsize set set_if_not_exists set_if_match delete delete_dir list_prefix list_dir"

    def _route(self, key: str) -> tuple[Store, str]:
        """Return the wrapped store, and the key in lower case."""
        return self._store, key.lower()


class MemoryStore(Format2Store[CurrentMemoryStore]):
    """Values in the memory of the process.

    Parameters
    ----------
    root : MutableMapping, optional
        Initial values; they are copied.
    cls : type
        Must be ``dict``; kept for code written for zarr-python 2.
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

    @property
    def _mutable_mapping(self) -> MutableMapping[str, Any]:
        return self._store.mapping

    # Its values are those of the mapping, of any type.

    def __getitem__(self, key: str) -> Any:
        return self._mutable_mapping[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._mutable_mapping[key] = value

    def __delitem__(self, key: str) -> None:
        del self._mutable_mapping[key]

    def __contains__(self, key: object) -> bool:
        return key in self._mutable_mapping

    def keys(self) -> list[str]:
        """Return all keys."""
        return list(self._mutable_mapping.keys())

    def __len__(self) -> int:
        return len(self._mutable_mapping)


class DirectoryStore(Format2Store[Store]):
    """A folder: each key is the path of a file.

    Parameters
    ----------
    path : str or Path
    normalize_keys : bool
        If True, keys are folded to lower case, which other readers do not do.
    dimension_separator : {".", "/"}, optional
    chunk_key_encoding : dict, optional
        The chunk keys of format 3, ``{"name": "default", "separator": "/"}``. With it, new nodes have format 3: a
        program that is written for both versions passes it where it finds version 3, and to its arrays, too.

    Raises
    ------
    ValueError
        There is a file at the path, or other chunk keys are given.

    Examples
    --------
    >>> import tempfile, zarr
    >>> store = zarr.DirectoryStore(tempfile.mkdtemp())
    >>> array = zarr.create(shape=(4,), chunks=(2,), dtype="i4", store=store)
    >>> array.metadata.zarr_format, sorted(store)
    (2, ['.zarray'])
    """

    _has_folders = True

    def __init__(
        self,
        path: str | Path,
        normalize_keys: bool = False,
        dimension_separator: Separator | None = None,
        *,
        chunk_key_encoding: Mapping[str, Any] | None = None,
    ) -> None:
        if os.path.isfile(path):
            raise ValueError(f"there is a file where a folder is asked for: {os.fspath(path)!r}")
        if chunk_key_encoding is not None:
            if {"separator": "/", **chunk_key_encoding} != _FORMAT_3_KEYS:
                raise ValueError(
                    f"a DirectoryStore takes the chunk_key_encoding {_FORMAT_3_KEYS} only, got {chunk_key_encoding!r}; "
                    "pass another one to the function that creates the array"
                )
            self.default_zarr_format = 3
        place: Store = LocalStore(os.path.abspath(path))
        super().__init__(FoldedStore(place) if normalize_keys else place, dimension_separator)
        self.path, self.normalize_keys = str(path), normalize_keys

    def dir_path(self, path: str | None = None) -> str:
        """Return the folder of a path in the store."""
        return os.path.join(self.path, dir_prefix(path or "").rstrip("/")) if path else self.path


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
    """A new folder among the temporary files, removed when the process ends.

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
        """Close the file, so that it is complete on the disk; the store can still be used."""
        self.close()


class FSStore(Format2Store[Store]):
    """A place that fsspec can open.

    Parameters
    ----------
    url : str
    normalize_keys : bool
    key_separator : {".", "/"}, optional
        An older name of ``dimension_separator``.
    mode : {"r", "w", "r+", "a"}
    exceptions : sequence of type, optional
        Errors that mean that a key does not exist; by default those of the store.
    dimension_separator : {".", "/"}, optional
    fs : fsspec.AbstractFileSystem, optional
        The file system; then ``url`` is a path in it.
    **storage_options
        Options of fsspec.

    Raises
    ------
    ValueError
        If options are given together with ``fs``.
    """

    _has_folders = True

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
        read_only = mode == "r"
        options: dict[str, Any] = {} if exceptions is None else {"allowed_exceptions": tuple(exceptions)}
        store: LocalStore | FsspecStore
        if fs is not None:
            if storage_options.keys() - _OF_MAPPER:
                raise ValueError(f"options of fsspec beside fs, which is open already: {sorted(storage_options)}")
            if storage_options.get("create"):
                fs.makedirs(url, exist_ok=True)
            store = FsspecStore(fs, path=url, read_only=read_only, **options)
        elif "://" in url or "::" in url:
            store = FsspecStore.from_url(url, storage_options=storage_options, read_only=read_only, **options)
        else:
            store = LocalStore(os.path.abspath(url), read_only=read_only)
        separator = dimension_separator if key_separator is None else key_separator
        super().__init__(FoldedStore(store) if normalize_keys else store, separator)
        self.path, self.mode, self.normalize_keys = store.path, mode, normalize_keys
        self._url, self._fs, self._options = url, fs, storage_options

    @property
    def fs(self) -> Any:
        """The file system of fsspec."""
        return filesystem_of(self._url, self._options)[0] if self._fs is None else self._fs

    @property
    def map(self) -> Any:
        """The place as a mapping of fsspec."""
        return self.fs.get_mapper(self.path)


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
    """A database of LMDB, which needs the package ``lmdb``: ``pip install 'zarr[lmdb]'``.

    Parameters
    ----------
    path : str or Path
    buffers : bool
        Has no effect on reads; kept for code written for zarr-python 2.
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
    flag : {"r", "w", "c", "n"}
        ``"n"`` empties the database.
    open : callable, optional
        The function that opens the database; `dbm.open` by default.
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
        super().__init__(CurrentDBMStore(path, flag, open=open, **kwargs), dimension_separator)
        self.path, self.flag = str(path), flag


class CachedMapping(MutableMapping[str, Any]):
    """A mapping that caches the values and the list of keys of another mapping.

    Parameters
    ----------
    below : MutableMapping
    max_size : int or None
        Bytes of values to keep; None for all.

    Examples
    --------
    >>> cache = CachedMapping({"a": b"value"}, None)
    >>> cache["a"], cache["a"], cache.hits, cache.misses
    (b'value', b'value', 1, 1)
    """

    def __init__(self, below: MutableMapping[str, Any], max_size: int | None) -> None:
        self.below = below
        self.max_size = max_size
        self.hits = self.misses = 0
        self._size = 0
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._changes = 0
        """The number of changes that have begun or ended: what was read before one may be an old value."""
        self._keys: list[str] | None = None
        self._contains: dict[str, bool] = {}
        self._lock = threading.RLock()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.below, self.max_size

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            if key in self._values:
                self.hits += 1
                self._values.move_to_end(key)
                return self._values[key]
            moment = self._changes
        value = self.below[key]
        with self._lock:
            self.misses += 1
            self._keep(key, value, moment)
        return value

    def _keep(self, key: str, value: Any, moment: int) -> None:
        """Keep a value that was known at a moment, unless there were changes since; drop those used longest ago."""
        size = len(value)
        if moment != self._changes or (self.max_size is not None and size > self.max_size):
            return
        self._drop(key)
        while self.max_size is not None and self._size + size > self.max_size:
            self._drop(next(iter(self._values)))
        self._values[key] = value
        self._size += size

    def _drop(self, key: str) -> None:
        self._size -= len(self._values.pop(key, b""))

    def _forget(self, key: str) -> int:
        """Forget what is known of a key whose change begins or ends; return this moment."""
        with self._lock:
            self.invalidate_keys()
            self._drop(key)
            self._changes += 1
            return self._changes

    def __setitem__(self, key: str, value: Any) -> None:
        begin = self._forget(key)
        try:
            self.below[key] = value
        finally:
            with self._lock:
                is_alone = begin == self._changes
                end = self._forget(key)
        if is_alone:  # of two values that are set at once, either may be the final one
            with self._lock:
                self._keep(key, as_bytes(value), end)

    def __delitem__(self, key: str) -> None:
        self._forget(key)
        try:
            del self.below[key]
        finally:
            self._forget(key)

    def __contains__(self, key: object) -> bool:
        with self._lock:
            if key not in self._contains:
                self._contains[str(key)] = key in self.below
            return self._contains[str(key)]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            if self._keys is None:
                self._keys = list(self.below.keys())
            return iter(list(self._keys))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def invalidate_values(self) -> None:
        """Drop all cached values."""
        with self._lock:
            self._changes += 1
            self._values.clear()
            self._size = 0

    def invalidate_keys(self) -> None:
        """Drop the cached list of keys."""
        with self._lock:
            self._keys = None
            self._contains.clear()


class LRUStoreCache(KVStore):
    """Keep the values of a store that were read in memory, and drop first those that were not read for longest.

    Changes that others make in the store below are not noticed: call :meth:`invalidate` after them.

    Parameters
    ----------
    store : Store or MutableMapping
    max_size : int or None
        Bytes to keep; None for all.

    Examples
    --------
    >>> import zarr
    >>> cache = zarr.LRUStoreCache(zarr.MemoryStore({"a": b"value"}), max_size=2**20)
    >>> cache["a"], cache["a"], cache.hits
    (b'value', b'value', 1)
    """

    def __init__(self, store: Any, max_size: int | None) -> None:
        below = store
        if isinstance(store, Store) and not isinstance(store, MutableMapping):
            below = Format2Store(store)
        super().__init__(CachedMapping(below, max_size), getattr(store, "dimension_separator", None))

    @property
    def _cache(self) -> CachedMapping:
        return self._store.mapping  # type: ignore[return-value]

    @property
    def settled_document(self) -> Any:
        """Return the rule of the store below for new documents, if it has one."""
        return getattr(self._cache.below, "settled_document", None)

    @property
    def max_size(self) -> int | None:
        """Return the maximum number of bytes in the cache; None for no limit."""
        return self._cache.max_size

    @property
    def hits(self) -> int:
        """Return the number of values that came from memory."""
        return self._cache.hits

    @property
    def misses(self) -> int:
        """Return the number of values that came from the store."""
        return self._cache.misses

    def invalidate(self) -> None:
        """Drop all cached values, and the list of keys."""
        self.invalidate_values()
        self.invalidate_keys()

    def invalidate_values(self) -> None:
        """Drop all cached values."""
        self._cache.invalidate_values()

    def invalidate_keys(self) -> None:
        """Drop the cached list of keys."""
        self._cache.invalidate_keys()


class _RemovedStore:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"there is no {type(self).__name__} any more. {type(self).__doc__}")


class ABSStore(_RemovedStore):
    """Open Azure blobs with zarr.storage.FsspecStore.from_url('abfs://...', storage_options={...}) and adlfs.

    Or with zarr.storage.ObjectStore(obstore.store.AzureStore(...)).
    """


class RedisStore(_RemovedStore):
    """Give any mutable mapping of str to bytes to zarr.storage.KVStore(mapping), as one over a redis client."""


class MongoDBStore(_RemovedStore):
    """Give any mutable mapping of str to bytes to zarr.storage.KVStore(mapping), as one over a collection."""


class ConsolidatedMetadataStore(Format2Store[Store]):
    """A read-only store that takes documents from the consolidated metadata of ``zarr.consolidate_metadata``.

    Parameters
    ----------
    store : Store or MutableMapping
        A store with synchronous methods.
    metadata_key : str
        The key of the consolidated metadata.

    Raises
    ------
    KeyError
        If there is no consolidated metadata.
    MetadataValidationError
        If it is malformed, or of another version.
    """

    def __init__(self, store: Store | MutableMapping[str, Any], metadata_key: str = ".zmetadata") -> None:
        place = store if isinstance(store, Store) else KVStore(store)
        super().__init__(place.with_read_only(True), getattr(store, "dimension_separator", None))
        raw = self._store.get_sync(metadata_key)  # type: ignore[attr-defined]
        if raw is None:
            raise KeyError(metadata_key)
        copy = json.loads(raw.to_bytes())
        if not isinstance(copy, dict) or copy.get("zarr_consolidated_format") != 1:
            raise MetadataValidationError(f"{metadata_key!r} is no consolidated metadata of version 1")
        make = default_buffer_prototype().buffer.from_bytes
        self._values = copy["metadata"]
        self._documents = {key: make(json.dumps(value).encode()) for key, value in self._values.items()}

    def __getitem__(self, key: str) -> Any:
        """Return a document from consolidated metadata; any other value as bytes."""
        return self._values[key] if key in self._values else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._values or super().__contains__(key)

    def __delitem__(self, key: str) -> None:
        self._check_writable()

    def _later(self, key: str, *args: Any, **options: Any) -> Any:
        return self._from_copy(key) if document_of(key) is not None else super()._later(key, *args, **options)

    async def _from_copy(self, key: str) -> Buffer | None:
        return self._outward(key, self._documents.get(key))

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read a document from consolidated metadata, any other value from the store."""
        if document_of(key) is not None:
            return self._outward(key, self._documents.get(key))
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)
