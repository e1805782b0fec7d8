"""Stores in the memory of this process."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, MutableMapping
from itertools import count
from typing import TYPE_CHECKING, Any, Self, cast

from zarr.abc.store import BulkAccess, SyncStore
from zarr.buffer import cpu, gpu
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.byte_ranges import slice_of
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix, normalize_path, only_keys
from zarr.storage.url import parse_store_url
from zarr.storage.values import SameObject, check_buffer

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import BufferPrototype


def frozen(value: Buffer) -> Buffer:
    """A copy of a buffer that nobody can write into: an encoded value may be a view of somebody's array."""
    return type(value).from_bytes(value.to_bytes())


class MemoryStore(SyncStore):
    """Keys and values in a dictionary.

    Values are copied when they are set and cannot be written to when they are got, so that neither a caller's array
    nor a stored value changes behind the other's back.

    Parameters
    ----------
    store_dict : MutableMapping of str to Buffer, optional
        Used as it is, not copied. Values of type ``bytes`` are understood, too.
    read_only : bool

    Examples
    --------
    >>> from zarr.buffer.cpu import Buffer
    >>> store = MemoryStore()
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    """

    blocking = False
    contents_first: bool = True
    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True

    _store_dict: MutableMapping[str, Buffer]

    def __init__(self, store_dict: MutableMapping[str, Buffer] | None = None, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self._store_dict = {} if store_dict is None else store_dict

    def with_read_only(self, read_only: bool = False) -> MemoryStore:
        """Return a store over the same dictionary that may, or may not, be written to."""
        return type(self)(self._store_dict, read_only=read_only)

    def __str__(self) -> str:
        return f"memory://{id(self._store_dict)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and self._store_dict == other._store_dict
            and self.read_only == other.read_only
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def lock_prefix(self) -> str:
        """Under which name the keys of this store are locked."""
        return f"memory:{id(self._store_dict)}"

    def lock_folder(self, path: str) -> str:
        """Empty: no other process can reach the values."""
        return ""

    # Reading

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        return await super().get(key, prototype or default_buffer_prototype(), byte_range)

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        value = self._store_dict.get(key)
        if value is None:
            # Only here: what is there was let in when it was set.
            check_key(key)
            return None
        value = self._converted(value, prototype)
        return value if byte_range is None else value[slice_of(byte_range, len(value))]

    @staticmethod
    def _converted(value: Any, prototype: BufferPrototype | None) -> Buffer:
        """The value as the prototype's buffer; the very object where it is one, and cannot be written to."""
        wanted: type[Buffer] = cpu.Buffer if prototype is None else prototype.buffer
        if type(value) is not wanted:
            return wanted.from_bytes(value) if isinstance(value, bytes) else wanted.from_buffer(value)
        found: Buffer = value
        if isinstance(value, cpu.Buffer) and value._data.flags.writeable:
            data = value._data.view()
            data.flags.writeable = False
            found = wanted(data)
        return found

    def stamp_sync(self, key: str) -> SameObject | None:
        """What tells the value of a key from every other: the very object, which nobody can write into."""
        value = self._store_dict.get(key)
        if type(value) is not cpu.Buffer or value._data.flags.writeable:
            return None
        return SameObject(value)

    def exists_sync(self, key: str) -> bool:
        """Whether the key has a value."""
        check_key(key)
        return key in self._store_dict

    def getsize_sync(self, key: str) -> int:
        """How many bytes the key holds; FileNotFoundError where there is no such key."""
        check_key(key)
        value = self._store_dict.get(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    def list_sync(self) -> Iterable[str]:
        """All keys."""
        return only_keys(list(self._store_dict))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """All keys that begin with the prefix."""
        check_prefix(prefix)
        return only_keys([key for key in list(self._store_dict) if key.startswith(prefix)])

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """The names directly under the prefix."""
        check_prefix(prefix)
        return child_names(list(self._store_dict), prefix)

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a copy of ``value`` under the key."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        self._store_dict[key] = frozen(value)

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store ``value`` under the key, or under ``byte_range`` (start, stop) of what the key holds already."""
        if byte_range is None:
            self.set_sync(key, value)
            return
        self._check_writable()
        check_buffer(self, value)
        data = bytearray(self._store_dict[key].to_bytes())
        data[byte_range[0] : byte_range[1]] = value.to_bytes()
        self._store_dict[key] = type(value).from_bytes(bytes(data))

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; True where this call stored it."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        mine = frozen(value)
        return self._store_dict.setdefault(key, mine) is mine

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self.put_if_absent_sync(key, value)

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        check_key(key)
        self._store_dict.pop(key, None)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        for key in [key for key in list(self._store_dict) if key.startswith(start)]:
            self._store_dict.pop(key, None)

    async def clear(self) -> None:
        """Remove all keys."""
        self._check_writable()
        self._store_dict.clear()

    # Bulk

    def bulk_access(self) -> BulkAccess | None:
        """Values are handed over in place."""
        return BulkAccess("buffers", get_many=self._get_payloads, set_many=self._set_payloads, in_place=True)

    def _key(self, key: str) -> str:
        return key

    def _keys(self, keys: list[str]) -> list[str]:
        return keys

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        # One call for all keys: ten thousand small chunks must not cost a Python frame each.
        values: list[Any] = list(map(self._store_dict.get, self._keys(keys)))
        return [v._data if type(v) is cpu.Buffer else _payload(v) for v in values]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        make = default_buffer_prototype().buffer.from_bytes
        for key, payload in items:
            if payload is None:
                self._store_dict.pop(self._key(key), None)
            else:
                self._store_dict[self._key(key)] = make(bytes(payload))


def _payload(value: Any) -> Any:
    """The bytes of a value that is no plain buffer: a buffer of another kind, bytes, or nothing."""
    return value if value is None or isinstance(value, bytes) else value.as_numpy_array()


class _SharedDict(dict[str, Buffer]):
    """A dictionary that can be found by name for as long as somebody uses it."""

    __slots__ = ("__weakref__",)


class _Registry:
    """The dictionaries of this process by name."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finalizer may use the library at any allocation
        self._dicts: weakref.WeakValueDictionary[str, _SharedDict] = weakref.WeakValueDictionary()
        self._numbers = count()

    def get(self, name: str) -> _SharedDict | None:
        return self._dicts.get(name)

    def make(self, name: str | None) -> tuple[str, _SharedDict]:
        """The dictionary of that name, made where there is none; a new name where none is given."""
        with self._lock:
            if name is None:
                name = next(candidate for number in self._numbers if (candidate := str(number)) not in self._dicts)
            shared = self._dicts.get(name)
            if shared is None:
                shared = self._dicts[name] = _SharedDict()
            return name, shared


_REGISTRY = _Registry()


def is_managed(name: str | None) -> bool:
    """Whether a store of this name is in use.

    Examples
    --------
    >>> is_managed("nobody uses this name")
    False
    """
    return name is not None and _REGISTRY.get(name) is not None


class ManagedMemoryStore(MemoryStore):
    """A store in memory that has a name, by which other parts of the process find it: ``memory://name/path``.

    Parameters
    ----------
    name : str, optional
        Stores of one name share their keys, as long as one of them is in use. Without a name, a new one is made up.
    path : str
        All keys are kept under this path.
    read_only : bool

    Examples
    --------
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
        self._name, shared = _REGISTRY.make(name)
        super().__init__(shared, read_only=read_only)

    @property
    def name(self) -> str:
        """The name of the store."""
        return self._name

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> ManagedMemoryStore:
        """Find the store that a URL names.

        Raises
        ------
        ValueError
            If the URL is no ``memory://`` URL, or nobody uses a store of that name.
        """
        parsed = parse_store_url(url)
        if parsed.scheme != "memory":
            raise ValueError(f"Expected a 'memory://' URL, got scheme {parsed.scheme!r} in {url!r}.")
        name = parsed.name or ""
        shared = _REGISTRY.get(name)
        if shared is None:
            raise ValueError(f"Memory store not found for URL {url!r}. The store may have been garbage collected.")
        return cls(name, path=parsed.path, read_only=read_only)

    def with_read_only(self, read_only: bool = False) -> ManagedMemoryStore:
        """Return a store over the same keys that may, or may not, be written to."""
        return type(self)(self._name, path=self.path, read_only=read_only)

    def __str__(self) -> str:
        return f"memory://{self._name}/{self.path}" if self.path else f"memory://{self._name}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and self._store_dict is other._store_dict
            and self.path == other.path
            and self.read_only == other.read_only
        )

    __hash__ = None

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key != "_store_dict"}
        return {**state, "created_pid": os.getpid()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        pid = state.pop("created_pid", os.getpid())
        if pid != os.getpid():
            raise RuntimeError(
                f"the store 'memory://{state['_name']}' was created in process {pid} and cannot be used in process "
                f"{os.getpid()}: its data is in the memory of the other process; use a LocalStore to share data"
            )
        self.__dict__.update(state)
        self._name, self._store_dict = _REGISTRY.make(state["_name"])

    @property
    def lock_prefix(self) -> str:
        """Under which name the keys of this store are locked."""
        return f"memory:{id(self._store_dict)}" + (f"/{self.path}" if self.path else "")

    def _key(self, key: str) -> str:
        check_key(key)
        return f"{self.path}/{key}" if self.path else key

    def _folder(self, prefix: str) -> str:
        check_prefix(prefix)
        return f"{self.path}/{prefix}" if self.path else prefix

    def _keys(self, keys: list[str]) -> list[str]:
        return [f"{self.path}/{key}" for key in keys] if self.path else keys

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        return super().get_sync(self._key(key), prototype=prototype, byte_range=byte_range)

    def exists_sync(self, key: str) -> bool:
        """Whether the key has a value."""
        return super().exists_sync(self._key(key))

    def getsize_sync(self, key: str) -> int:
        """How many bytes the key holds; FileNotFoundError where there is no such key."""
        return super().getsize_sync(self._key(key))

    def list_sync(self) -> Iterable[str]:
        """All keys."""
        return self.list_prefix_sync("")

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """All keys that begin with the prefix."""
        skip = len(dir_prefix(self.path))
        start = dir_prefix(self.path) + check_prefix(prefix)
        return only_keys([key[skip:] for key in list(self._store_dict) if key.startswith(start)])

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """The names directly under the prefix."""
        return super().list_dir_sync(self._folder(prefix).rstrip("/"))

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a copy of ``value`` under the key."""
        super().set_sync(self._key(key), value)

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store ``value`` under the key, or under ``byte_range`` (start, stop) of what the key holds already."""
        if byte_range is None:
            self.set_sync(key, value)
        else:
            await super().set(self._key(key), value, byte_range)

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; True where this call stored it."""
        return super().put_if_absent_sync(self._key(key), value)

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        super().delete_sync(self._key(key))

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        super().delete_dir_sync(self._folder(prefix))

    async def clear(self) -> None:
        """Remove all keys under the path of this store."""
        self.delete_dir_sync("")


class GpuMemoryStore(MemoryStore):
    """A store in the memory of a GPU.

    Parameters
    ----------
    store_dict : MutableMapping of str to zarr.buffer.gpu.Buffer, optional
    read_only : bool

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
        """Make a store whose values are copies, in GPU memory, of those of ``store_dict``."""
        return cls({key: gpu.Buffer.from_buffer(value) for key, value in store_dict.items()})

    def bulk_access(self) -> BulkAccess | None:
        """None: the core reads host memory only."""
        return None

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key, in GPU memory."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        self._store_dict[key] = value if isinstance(value, gpu.Buffer) else gpu.Buffer.from_buffer(value)
