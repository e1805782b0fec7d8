"""Values of a slow store, kept in memory up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store
from zarr.buffer.core import default_buffer_prototype
from zarr.storage.version2.base import Format2Store

if TYPE_CHECKING:
    from zarr.abc.store import BulkAccess, ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype


class LRUStoreCache(Format2Store[Store]):
    """A store whose values are kept in memory when they were read; what was not asked for longest goes first.

    What others write to the store below is not noticed: call :meth:`invalidate` when they do.

    Parameters
    ----------
    store : Store
    max_size : int or None
        Bytes to keep; None for all.

    Attributes
    ----------
    hits, misses : int
        How many values came from memory, and how many from the store.

    Examples
    --------
    >>> import zarr
    >>> cache = zarr.LRUStoreCache(zarr.MemoryStore({"a": b"value"}), max_size=2**20)
    >>> cache["a"], cache["a"], cache.hits
    (b'value', b'value', 1)
    """

    def __init__(self, store: Store, max_size: int | None) -> None:
        super().__init__(store, getattr(store, "dimension_separator", None))
        self.max_size = max_size
        self.hits = self.misses = 0
        self._values: OrderedDict[str, Buffer] = OrderedDict()
        self._nbytes = self._changes = 0
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {"store": self._store, "max_size": self.max_size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        LRUStoreCache.__init__(self, **state)

    def _find(self, key: str) -> tuple[Buffer | None, int]:
        """Return a value that is kept, and a number that changes with every value written through this store."""
        with self._lock:
            value = self._values.get(key)
            if value is None:
                self.misses += 1
            else:
                self.hits += 1
                self._values.move_to_end(key)
            return value, self._changes

    def _keep(self, key: str, value: Buffer | None, moment: int) -> None:
        """Keep what was read, unless something was written since ``moment``: it may be what stood there before."""
        if value is None or (self.max_size is not None and len(value) > self.max_size):
            return
        with self._lock:
            if self._changes != moment:
                return
            old = self._values.pop(key, None)
            self._nbytes -= 0 if old is None else len(old)
            self._values[key] = value
            self._nbytes += len(value)
            while self.max_size is not None and self._nbytes > self.max_size:
                self._nbytes -= len(self._values.popitem(last=False)[1])

    def _drop(self, key: str) -> None:
        with self._lock:
            self._changes += 1
            old = self._values.pop(key, None)
            self._nbytes -= 0 if old is None else len(old)

    def invalidate(self) -> None:
        """Forget everything."""
        with self._lock:
            self._changes += 1
            self._values.clear()
            self._nbytes = 0

    invalidate_values = invalidate

    def invalidate_keys(self) -> None:
        """Do nothing: which keys there are is always asked of the store."""

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Read the value of a key; parts of values go past the memory."""
        if byte_range is not None:
            return await super().get(key, prototype, byte_range)
        value, moment = self._find(key)
        if value is None:
            value = await super().get(key, prototype or default_buffer_prototype())
            self._keep(key, value, moment)
        return value

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value of a key; parts of values go past the memory."""
        if byte_range is not None:
            return super().get_sync(key, prototype=prototype, byte_range=byte_range)
        value, moment = self._find(key)
        if value is None:
            value = super().get_sync(key, prototype=prototype)
            self._keep(key, value, moment)
        return value

    async def set(self, key: str, value: Buffer) -> None:
        """Store a value, and forget the one that was read before."""
        try:
            await super().set(key, value)
        finally:
            self._drop(key)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value, and forget the one that was read before."""
        try:
            super().set_sync(key, value)
        finally:
            self._drop(key)

    def __setitem__(self, key: str, value: Any) -> None:
        try:
            super().__setitem__(key, value)
        finally:
            self._drop(key)

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value in the place of an expected one."""
        try:
            return await super().set_if_match(key, value, expected)
        finally:
            self._drop(key)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value in the place of an expected one."""
        try:
            return super().set_if_match_sync(key, value, expected)
        finally:
            self._drop(key)

    async def delete(self, key: str) -> None:
        """Remove a key."""
        try:
            await super().delete(key)
        finally:
            self._drop(key)

    def delete_sync(self, key: str) -> None:
        """Remove a key."""
        try:
            super().delete_sync(key)
        finally:
            self._drop(key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys below a prefix."""
        try:
            await super().delete_dir(prefix)
        finally:
            self.invalidate()

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys below a prefix."""
        try:
            super().delete_dir_sync(prefix)
        finally:
            self.invalidate()

    async def clear(self) -> None:
        """Remove all keys."""
        try:
            await super().clear()
        finally:
            self.invalidate()

    def bulk_access(self) -> BulkAccess | None:
        """None: values go through the memory one by one."""
        return None
