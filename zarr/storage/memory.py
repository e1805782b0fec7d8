"""Stores in the memory of this process: a dictionary of any kind, a named one, one of values on a GPU."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator, MutableMapping
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, cast

from zarr._lazy import LazyModule
from zarr._process import at_fork
from zarr.abc.store import BulkAccess, ByteRequest
from zarr.abc.stores.changes import Changes, removed_first
from zarr.buffer import cpu
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.storage.checks import SameObject, check_buffer, frozen
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix, keys_below, normalize_path, only_keys
from zarr.storage.mapping import MappingProtocol, as_bytes
from zarr.storage.ranges import slice_of
from zarr.storage.wrappers.overlay import TransactionStore, check_expected

if TYPE_CHECKING:
    from zarr.buffer import gpu
    from zarr.storage import url as store_url
else:
    gpu, store_url = LazyModule("zarr.buffer.gpu"), LazyModule("zarr.storage.url")

_CHANGES = threading.RLock()
"""Held while many keys of a dictionary change in one step: by all stores, since several may share one dictionary."""

at_fork(_CHANGES.acquire, _CHANGES.release, _CHANGES.release)


class _ByItems(MutableMapping[str, Any]):
    """A dictionary whose class overrides ``[]``: here its other methods go through ``[]``, too.

    Parameters
    ----------
    values : dict
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.below = values

    def __getitem__(self, key: str) -> Any:
        return self.below[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.below[key] = value

    def __delitem__(self, key: str) -> None:
        del self.below[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.below)

    def __len__(self) -> int:
        return len(self.below)


def by_items(values: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Return a mapping that is read and written by ``[]``, if the class of a dictionary overrides that."""
    kind = type(values)
    if kind is dict or not isinstance(values, dict):
        return values
    plain = not any(isinstance(getattr(kind, name), FunctionType) for name in ("__getitem__", "__setitem__"))
    return values if plain else _ByItems(values)


class MemoryStore(MappingProtocol, TransactionStore):
    """Keys and values in a dictionary.

    Values are copied when they are set and are read-only when they are read, so that neither an array of the caller nor
    a stored value changes by accident.

    Parameters
    ----------
    store_dict : MutableMapping of str to Buffer, optional
        Used as it is, not copied. Values of type ``bytes`` are accepted, too.
    read_only : bool
        If True, the store refuses every change. Default: False.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> from zarr.buffer.cpu import Buffer
    >>> store = MemoryStore()
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    """

    blocking = False

    _store_dict: MutableMapping[str, Buffer]
    _start: str = ""
    """The common prefix of the keys of this store in the dictionary; see :class:`ManagedMemoryStore`."""

    def __init__(self, store_dict: MutableMapping[str, Buffer] | None = None, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self._store_dict = {} if store_dict is None else by_items(store_dict)

    def __str__(self) -> str:
        return f"memory://{id(self._store_dict)}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._store_dict, self.read_only)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        values = self._store_dict
        return f"memory:{id(values.below if type(values) is _ByItems else values)}/{self._start}".rstrip("/")

    def lock_folder(self, path: str) -> str:
        """Return an empty name: no other process can reach the values.

        Parameters
        ----------
        path : str
            The path in the store.

        Returns
        -------
        str
        """
        return ""

    # Reading

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key."""
        value = self._store_dict.get(self._start + key)
        if value is None:
            # The key was checked when it was set, so a stored key needs no check.
            check_key(key)
            return None
        value = self._converted(value, prototype)
        return value if byte_range is None else value[slice_of(byte_range, len(value))]

    @staticmethod
    def _converted(value: Any, prototype: BufferPrototype | None) -> Buffer:
        """Return the value as the prototype's buffer; the same object if it is one, and is read-only."""
        wanted: type[Buffer] = cpu.Buffer if prototype is None else prototype.buffer
        if type(value) is not wanted:
            return wanted.from_buffer(value) if isinstance(value, Buffer) else wanted.from_bytes(_payload(value))
        found: Buffer = value
        if isinstance(value, cpu.Buffer) and value._data.flags.writeable:
            data = value._data.view()
            data.flags.writeable = False
            found = wanted(data)
        return found

    def stamp_sync(self, key: str) -> SameObject | None:
        """Return the stamp of a value: the stored object itself, which is read-only.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        object or None
            None if the key has no value.
        """
        value = self._store_dict.get(self._start + key)
        if type(value) is not cpu.Buffer or value._data.flags.writeable:
            return None
        return SameObject(value)

    def exists_sync(self, key: str) -> bool:
        """Return True if the key has a value."""
        check_key(key)
        return self._store_dict.get(self._start + key) is not None

    def getsize_sync(self, key: str) -> int:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key."""
        check_key(key)
        value = self._store_dict.get(self._start + key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    def _names(self, prefix: str) -> list[str]:
        """Return all names in the dictionary that begin with a prefix, at one moment."""
        with _CHANGES:
            names = list(self._store_dict)
        start, skip = self._start + check_prefix(prefix), len(self._start)
        try:  # ``in`` is no call: for the most of many names it is the only look
            found = [name for name in names if start in name and name.startswith(start)]
        except (TypeError, AttributeError):  # the user's dictionary has other keys, too
            found = [name for name in names if isinstance(name, str) and name.startswith(start)]
        return [name[skip:] for name in found] if skip else found

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return only_keys(self._names(""))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        return only_keys(self._names(prefix))

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix."""
        return child_names(self._names(prefix.rstrip("/")), prefix)

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a copy of ``value`` under the key."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        self._store_dict[self._start + key] = self._kept(value)

    def _kept(self, value: Buffer) -> Buffer:
        """Return the object to store for a value."""
        return frozen(value)

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store ``value`` under the key, or in place of the bytes ``byte_range`` (start, stop) of its present value."""
        if byte_range is None:
            self.set_sync(key, value)
            return
        self._check_writable()
        check_buffer(self, value)
        with _CHANGES:  # of two threads that replace parts of one value, neither undoes the other
            data = bytearray(self._store_dict[self._start + key].to_bytes())
            data[byte_range[0] : byte_range[1]] = value.to_bytes()
            self._store_dict[self._start + key] = type(value).from_bytes(bytes(data))

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` if the key has none; return True if this call stored it."""
        self._check_writable()
        check_key(key)
        mine = self._kept(check_buffer(self, value))
        with _CHANGES:
            return self._store_dict.setdefault(self._start + key, mine) is mine

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        check_key(key)
        self._store_dict.pop(self._start + key, None)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        for names in removed_first(self._names(dir_prefix(check_prefix(prefix)))):
            for name in names:
                self._store_dict.pop(self._start + name, None)

    # Many changes in one step

    def apply_sync(self, changes: Changes) -> None:
        """Make many changes; no reader sees only some of them.

        Raises
        ------
        TakenError
            If a key does not hold its expected value; nothing has changed then.
        """
        self._check_writable()
        values, start = self._store_dict, self._start
        with _CHANGES:
            check_expected(changes, lambda key: _payload(values.get(start + key)))
            gone = keys_below(list(values), changes.removed, start) if changes.removed else ()
            step: dict[str, Any] = dict.fromkeys(gone)
            for key, new in changes.values.items():
                name = start + key
                if key not in changes.defaults or name in step or values.get(name) is None:
                    step[name] = new
            # One call, in which no other thread runs: deleted keys hold None, which means no value, until they are
            # removed.
            values.update(step)
            for name in [name for name, value in step.items() if value is None]:
                values.pop(name, None)

    # Bulk

    def bulk_access(self) -> BulkAccess | None:
        """Return that values are used in place."""
        return BulkAccess("buffers", get_many=self._get_payloads, set_many=self._set_payloads, in_place=True)

    @staticmethod
    def _buffer_class() -> type[Buffer]:
        """Return the class of the values that the core stores."""
        return cpu.Buffer

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        # One call for all keys: ten thousand small chunks must not cost a Python frame each.
        names = [self._start + key for key in keys] if self._start else keys
        values: list[Any] = list(map(self._store_dict.get, names))
        return [v._data if type(v) is cpu.Buffer else _payload(v) for v in values]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        make = self._buffer_class().from_bytes
        for key, payload in items:
            if payload is None:
                self._store_dict.pop(self._start + key, None)
            else:
                self._store_dict[self._start + key] = make(bytes(payload))


def _payload(value: Any) -> Any:
    """Return the bytes of a value that is no plain buffer: None, or what a program has put into the dictionary."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):  # a document
        return value.encode()
    return value.as_numpy_array() if isinstance(value, Buffer) else as_bytes(value)


class GpuMemoryStore(MemoryStore):
    """A store in the memory of a GPU.

    Parameters
    ----------
    store_dict : MutableMapping of str to zarr.buffer.gpu.Buffer, optional
        The initial values of the store, by key.
    read_only : bool
        If True, the store refuses every change. Default: False.

    Examples
    --------
    >>> store = GpuMemoryStore()  # doctest: +SKIP
    """

    def __init__(self, store_dict: MutableMapping[str, gpu.Buffer] | None = None, *, read_only: bool = False) -> None:
        super().__init__(cast("MutableMapping[str, Buffer] | None", store_dict), read_only=read_only)

    def __str__(self) -> str:
        return f"gpumemory://{id(self._store_dict)}"

    @classmethod
    def from_dict(cls, store_dict: MutableMapping[str, Buffer]) -> Self:
        """Make a store whose values are copies of those of ``store_dict`` in GPU memory.

        Parameters
        ----------
        store_dict : MutableMapping[str, Buffer]
            The initial values of the store, by key.
        """
        return cls({key: gpu.Buffer.from_buffer(value) for key, value in store_dict.items()})

    def bulk_access(self) -> BulkAccess | None:
        """Return that values are copied, since the core reads host memory only."""
        return BulkAccess("buffers", get_many=self._get_payloads, set_many=self._set_payloads)

    @staticmethod
    def _buffer_class() -> type[Buffer]:
        return gpu.Buffer

    def _kept(self, value: Buffer) -> Buffer:
        return value if isinstance(value, gpu.Buffer) else gpu.Buffer.from_buffer(value)


class _SharedDict(dict[str, Buffer]):
    """A dictionary that can be found by name while it is in use."""

    __slots__ = ("__weakref__",)


_dicts: weakref.WeakValueDictionary[str, _SharedDict] = weakref.WeakValueDictionary()
_numbers = count()


def _named_dict(name: str | None) -> tuple[str, _SharedDict]:
    """Return the dictionary of a name; make one if there is none; without a name, make one with a new name."""
    with _CHANGES:
        if name is None:
            name = next(candidate for number in _numbers if (candidate := str(number)) not in _dicts)
        return name, _dicts.setdefault(name, _SharedDict())


def is_managed(name: str | None) -> bool:
    """Return True if a store of this name is in use.

    Examples
    --------
    >>> is_managed("nobody uses this name")
    False
    """
    return name is not None and name in _dicts


class ManagedMemoryStore(MemoryStore):
    """A store in memory with a name, by which other parts of the process find it: ``memory://name/path``.

    Parameters
    ----------
    name : str, optional
        Stores with the same name share their keys while one of them is in use. By default a new name is made.
    path : str
        All keys are kept under this path.
    read_only : bool
        If True, the store refuses every change. Default: False.

    Examples
    --------
    >>> from zarr.storage import ManagedMemoryStore
    >>> first = ManagedMemoryStore("shared")
    >>> ManagedMemoryStore.from_url("memory://shared") == first
    True
    """

    _store_dict: _SharedDict

    def __init__(self, name: str | None = None, *, path: str = "", read_only: bool = False) -> None:
        if name is not None and "/" in name:
            raise ValueError(
                f"Store name cannot contain '/': {name!r}. Use the 'path' parameter to specify a path within the store."
            )
        self.path = normalize_path(path)
        self._start = dir_prefix(self.path)
        self._name, shared = _named_dict(name)
        super().__init__(shared, read_only=read_only)

    @property
    def name(self) -> str:
        """Return the name of the store."""
        return self._name

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> ManagedMemoryStore:
        """Find the store that a URL names.

        Parameters
        ----------
        url : str
            The URL.
        read_only : bool
            If True, the store refuses every change. Default: False.

        Raises
        ------
        ValueError
            If the URL is no ``memory://`` URL, or no store of that name is in use.
        """
        parsed = store_url.parse_store_url(url)
        if parsed.scheme != "memory":
            raise ValueError(f"Expected a 'memory://' URL, got scheme {parsed.scheme!r} in {url!r}.")
        name = parsed.name or ""
        if not is_managed(name):
            raise ValueError(f"Memory store not found for URL {url!r}. The store may have been garbage collected.")
        return cls(name, path=parsed.path, read_only=read_only)

    def __str__(self) -> str:
        return f"memory://{self._name}/{self.path}" if self.path else f"memory://{self._name}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (id(self._store_dict), self.path, self.read_only)

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key != "_store_dict"}
        return {**state, "created_pid": os.getpid()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        pid = state.pop("created_pid", os.getpid())
        if "_name" not in state:  # as zarr-python pickles it: the name is a parameter of the class
            state["_name"] = self._name
        if pid != os.getpid():
            raise RuntimeError(
                f"the store 'memory://{state['_name']}' was created in process {pid} and cannot be used in process "
                f"{os.getpid()}: its data is in the memory of the other process; use a LocalStore to share data"
            )
        self.__dict__.update(state)
        self._name, self._store_dict = _named_dict(state["_name"])
