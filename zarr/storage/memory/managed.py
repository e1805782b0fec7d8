"""Stores in the memory of this process that are found by a name."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Collection, Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

from zarr.buffer.core import Buffer
from zarr.storage.keys import check_key, check_prefix, dir_prefix, normalize_path, only_keys
from zarr.storage.memory.store import MemoryStore
from zarr.storage.url import parse_store_url

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.abc.stores.changes import Stage
    from zarr.buffer.core import BufferPrototype


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
        """Return the dictionary of that name, made where there is none; a new name where none is given."""
        with self._lock:
            if name is None:
                name = next(candidate for number in self._numbers if (candidate := str(number)) not in self._dicts)
            shared = self._dicts.get(name)
            if shared is None:
                shared = self._dicts[name] = _SharedDict()
            return name, shared


_REGISTRY = _Registry()


def is_managed(name: str | None) -> bool:
    """Return whether a store of this name is in use.

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
        """Return the name of the store."""
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

    @property
    def _identity(self) -> tuple[object, ...]:
        return (id(self._store_dict), self.path, self.read_only)

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
        """Return the name under which the keys of this store are locked."""
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
        """Return whether the key has a value."""
        return super().exists_sync(self._key(key))

    def getsize_sync(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        return super().getsize_sync(self._key(key))

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return self.list_prefix_sync("")

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        skip = len(dir_prefix(self.path))
        start = dir_prefix(self.path) + check_prefix(prefix)
        return only_keys([key[skip:] for key in self._names() if key.startswith(start)])

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix."""
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

    def stage_sync(self, path: str, *, replace: Collection[str] = (), absent: Collection[str] = ()) -> Stage:
        """Return a stage of changes that are gathered, and then made in one step."""
        return super().stage_sync(path, replace=replace, absent=absent)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        super().delete_dir_sync(self._folder(prefix))

    async def clear(self) -> None:
        """Remove all keys under the path of this store."""
        self.delete_dir_sync("")
