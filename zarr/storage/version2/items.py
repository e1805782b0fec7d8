"""Let arrays and groups go by ``store[key]`` where a class of a program for zarr-python 2 overrides it.

``Format2Store`` has two ways to a value: the methods of stores, which arrays call, and the items of a mapping. A class
that overrides items, or what lists them, gets methods of stores that call these; the items of this library call the
methods below.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from zarr._lazy import asyncio
from zarr.abc.store import ByteRequest, Store, SyncStore
from zarr.abc.stores.async_store import as_folder
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage.mapping import as_bytes
from zarr.storage.ranges import slice_of

_NODES: Final = (".zarray", ".zgroup", "zarr.json")
"""The documents for which zarr-python 2 asks if the store contains them; it reads all other values at once."""


def _is_ours(cls: type) -> bool:
    return cls is object or f"{cls.__module__}.".startswith("zarr.")


def _owner(cls: type, name: str) -> type | None:
    """Return the class outside this library that defines a name for a class; None if there is none."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), object)
    return None if _is_ours(owner) else owner


def payload_of(value: Any) -> bytes:
    """Return the bytes of an item: texts and documents that are no bytes are encoded.

    Examples
    --------
    >>> payload_of({"zarr_format": 2}), payload_of("{}"), payload_of(bytearray(b"ab"))
    (b'{"zarr_format": 2}', b'{}', b'ab')
    """
    if isinstance(value, dict):
        value = json.dumps(value)
    return value.encode() if isinstance(value, str) else as_bytes(value)


class ItemCalls:
    """The methods of stores for single values, by items."""

    def get_sync(
        self: Any, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value of a key, or a range of it."""
        if key.rpartition("/")[2] in _NODES and key not in self:
            return None
        try:
            data = payload_of(self[key])
        except KeyError:
            return None
        value: Buffer | None = self._outward(key, (prototype or default_buffer_prototype()).buffer.from_bytes(data))
        return value if value is None or byte_range is None else value[slice_of(byte_range, len(value))]

    def set_sync(self: Any, key: str, value: Buffer) -> None:
        """Store a value."""
        self._check_writable()
        if not (self._is_empty_document(key, value) and key not in self):
            self[key] = self._inward(key, value).to_bytes()

    def set_if_not_exists_sync(self: Any, key: str, value: Buffer) -> None:
        """Store a value if there is none."""
        self._check_writable()
        if key not in self:
            self.set_sync(key, value)

    def delete_sync(self: Any, key: str) -> None:
        """Remove a key, if it is there."""
        self._check_writable()
        if key in self:
            del self[key]

    def exists_sync(self: Any, key: str) -> bool:
        """Return True if the key has a value."""
        return key in self

    def getsize_sync(self: Any, key: str) -> int:
        """Return the number of stored bytes; where the items use other keys, that of the value."""
        try:
            return int(self._called().getsize_sync(key))
        except FileNotFoundError:
            return SyncStore.getsize_sync(self, key)

    def delete_dir_sync(self: Any, prefix: str) -> None:
        """Remove all keys below a folder."""
        SyncStore.delete_dir_sync(self, prefix)
        self._remove_empty(prefix)

    def _remove_empty(self: Any, prefix: str) -> None:
        """Remove a folder without values; there are values where the items use other keys than the store below."""
        if not list(self._plain("list_prefix", as_folder(prefix))):
            self._plain("delete_dir", prefix)

    # Coroutines: in a thread, since items wait for the outcome, of coroutines of a file system, too.

    async def _later(self: Any, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Any:
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def set(self: Any, key: str, value: Buffer) -> None:
        """Store a value."""
        await asyncio.to_thread(self.set_sync, key, value)

    async def set_if_not_exists(self: Any, key: str, value: Buffer) -> None:
        """Store a value if there is none."""
        await asyncio.to_thread(self.set_if_not_exists_sync, key, value)

    async def delete(self: Any, key: str) -> None:
        """Remove a key, if it is there."""
        await asyncio.to_thread(self.delete_sync, key)

    async def delete_dir(self: Any, prefix: str) -> None:
        """Remove all keys below a folder."""
        await Store.delete_dir(self, prefix)
        await asyncio.to_thread(self._remove_empty, prefix)

    async def exists(self: Any, key: str) -> bool:
        """Return True if the key has a value."""
        return await asyncio.to_thread(self.exists_sync, key)

    # Those of the wrapped store would pass over the items.
    set_if_match_sync = SyncStore.set_if_match_sync
    set_if_match = Store.set_if_match
    _set_many = Store._set_many


class KeyCalls:
    """The methods of stores that list, by the keys of a mapping."""

    def list_sync(self: Any) -> Iterable[str]:
        """Return all keys."""
        return builtins.list(self)

    def list_prefix_sync(self: Any, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        return [key for key in self if key.startswith(prefix)]

    list_dir_sync = SyncStore.list_dir_sync

    async def list(self: Any) -> AsyncIterator[str]:
        """Yield all keys."""
        for key in await asyncio.to_thread(self.list_sync):
            yield key

    async def list_prefix(self: Any, prefix: str) -> AsyncIterator[str]:
        """Yield all keys that begin with the prefix."""
        for key in await asyncio.to_thread(self.list_prefix_sync, prefix):
            yield key

    async def list_dir(self: Any, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below a folder."""
        for name in await asyncio.to_thread(self.list_dir_sync, prefix):
            yield name


class FolderCalls:
    """The method of stores that lists a folder, by ``listdir``."""

    def list_dir_sync(self: Any, prefix: str) -> Iterable[str]:
        """Return the names directly below a folder."""
        return builtins.list(self.listdir(prefix.rstrip("/")))

    list_dir = KeyCalls.list_dir


_CALLS: Final[tuple[tuple[type, tuple[str, ...]], ...]] = (
    (ItemCalls, ("__getitem__", "__setitem__", "__delitem__", "__contains__")),
    (KeyCalls, ("__iter__", "keys")),
    (FolderCalls, ("listdir",)),
)
"""Methods of stores, and the methods of mappings that they call."""
_COPIED: Final = frozenset(method for calls, _ in _CALLS for method in vars(calls).values() if callable(method))


def go_by_items(cls: Any, base: type) -> type | None:
    """Give a class the methods of stores that call what it overrides of a mapping.

    Methods of stores that a class outside this library defines stay as they are.

    Parameters
    ----------
    cls : type
    base : type
        The class of this library that all such classes have for a base.

    Returns
    -------
    type or None
        The class before those of this library in the order of inheritance; None if nothing is overridden.

    Examples
    --------
    >>> import zarr
    >>> go_by_items(zarr.MemoryStore, zarr.MemoryStore)
    >>> go_by_items(type("Mine", (zarr.MemoryStore,), {"__getitem__": print}), zarr.MemoryStore).__name__
    'Mine'
    """
    overridden = [calls for calls, names in _CALLS if any(_owner(cls, name) for name in names)]
    for calls in overridden:
        for name, method in vars(calls).items():
            owner = _owner(cls, name)
            if callable(method) and (owner is None or vars(owner)[name] in _COPIED):
                setattr(cls, name, method)
    order = cls.__mro__
    first = next(i for i, each in enumerate(order) if _is_ours(each) and issubclass(each, base))
    return order[first - 1] if overridden else None
