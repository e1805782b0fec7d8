"""A store that caches the values of a slower one."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Literal

from zarr.abc.store import ByteRequest, Store, _store_supports_sync_io, is_synchronous
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.steps.requests import Delete, DeletePrefix, Get, Put, Steps
from zarr.storage.wrappers.wrapper import Call, StepsStore, WrapperStore

__all__ = ["CacheStore", "WrapperStore"]

logger = logging.getLogger("zarr.experimental.cache_store")

Entry = str | tuple[str, ByteRequest]
"""A cached value: that of a key as a whole, or a part of it."""


def entry_of(key: str, byte_range: ByteRequest | None) -> Entry:
    """Return the entry of a value, or of a part of it."""
    return key if byte_range is None else (key, byte_range)


class CacheRecords:
    """The size and age of the cached entries, apart from any store.

    Parameters
    ----------
    max_age_seconds : float or "infinity"
    max_size : int, optional
        Number of bytes; beyond it the least recently used entries are removed.
    """

    def __init__(self, max_age_seconds: float | Literal["infinity"], max_size: int | None) -> None:
        self.max_age_seconds = max_age_seconds
        self.max_size = max_size
        self.size = 0
        self.hits = self.misses = self.evictions = 0
        self.changes = 0
        """The number of removals: values read before a removal may be old ones."""
        # By the names that they have in zarr-python, since tests of caches look into them.
        self.cache_order: OrderedDict[Entry, None] = OrderedDict()
        self.key_sizes: dict[Entry, int] = {}
        self.key_insert_times: dict[Entry, float] = {}
        self.range_cache: dict[str, dict[ByteRequest, Buffer]] = {}
        self._storing: dict[Entry, int] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self.cache_order)

    def __getstate__(self) -> dict[str, Any]:
        return {"max_age_seconds": self.max_age_seconds, "max_size": self.max_size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Entries of another process have no use here: its cache store may be its own.
        self.__init__(state["max_age_seconds"], state["max_size"])  # type: ignore[misc]

    def use(self, entry: Entry) -> bool:
        """Return True if an entry is cached and not too old, and mark it as used."""
        with self._lock:
            if not self.is_fresh(entry):
                return False
            if entry in self.cache_order:
                self.cache_order.move_to_end(entry)
            return True

    def is_fresh(self, entry: Entry) -> bool:
        """Return True if an entry is cached and not too old."""
        moment = self.key_insert_times.get(entry)
        if moment is None:
            return False
        return self.max_age_seconds == "infinity" or time.monotonic() - moment <= self.max_age_seconds

    def part(self, entry: Entry) -> Buffer | None:
        """Return a cached part of a value; None for whole values, which are in the cache store."""
        return None if isinstance(entry, str) else self.range_cache.get(entry[0], {}).get(entry[1])

    def count(self, hit: bool) -> None:
        """Count a hit or a miss."""
        with self._lock:
            self.hits += hit
            self.misses += not hit

    def begin(self, entry: Entry, size: int, moment: int) -> tuple[bool, list[Entry]]:
        """Make room for an entry; return success and the evicted entries.

        There is none if another one was forgotten since ``moment``, or while another caller stores the same entry: of
        two values that are stored at once, the older one could stay.
        """
        with self._lock:
            if self.changes != moment or entry in self._storing:
                return False, []
            self._drop(entry)
            if self.max_size is not None and size > self.max_size:
                logger.debug("%s (%d bytes) is larger than the whole cache", entry, size)
                return False, []
            gone: list[Entry] = []
            while self.max_size is not None and self.size + size > self.max_size:
                if not self.cache_order:  # the rest is just being stored
                    return False, gone
                oldest = next(iter(self.cache_order))
                self._drop(oldest)
                self.evictions += 1
                gone.append(oldest)
            self._storing[entry] = size
            self.size += size
            return True, gone

    def end(self, entry: Entry, moment: int | None, part: Buffer | None = None) -> bool:
        """Record an entry that is stored now, unless one was forgotten since ``moment``; return success."""
        with self._lock:
            size = self._storing.pop(entry)
            if self.changes != moment:
                self.size -= size
                return False
            self.cache_order[entry] = None
            self.key_sizes[entry], self.key_insert_times[entry] = size, time.monotonic()
            if part is not None and not isinstance(entry, str):
                self.range_cache.setdefault(entry[0], {})[entry[1]] = part
            return True

    def _drop(self, entry: Entry) -> None:
        self.cache_order.pop(entry, None)
        self.key_insert_times.pop(entry, None)
        self.size -= self.key_sizes.pop(entry, 0)
        if not isinstance(entry, str) and entry[0] in self.range_cache:
            parts = self.range_cache[entry[0]]
            parts.pop(entry[1], None)
            if not parts:
                del self.range_cache[entry[0]]

    def forget(self, key: str, *, below: bool = False) -> list[str]:
        """Remove all entries of a key, or of all keys below a prefix; return the keys that were cached whole."""
        with self._lock:
            self.changes += 1
            prefix = f"{key.rstrip('/')}/" if key else ""
            gone = []
            for entry in list(self.key_insert_times):
                name = entry if isinstance(entry, str) else entry[0]
                if name.startswith(prefix) if below else name == key:
                    self._drop(entry)
                    gone.append(entry)
            return [entry for entry in gone if isinstance(entry, str)]

    def clear(self) -> None:
        """Remove all entries, but keep the counts."""
        with self._lock:
            self.changes += 1
            for records in (self.cache_order, self.key_sizes, self.key_insert_times, self.range_cache):
                records.clear()
            self.size = sum(self._storing.values())


class _CacheState:
    """The records of a cache as zarr-python pickles them; a store that is unpickled begins with none."""


class CacheStore(StepsStore):
    """A store that reads through a cache, which is a store itself, and writes to the store behind.

    What others change in the store behind is seen after ``max_age_seconds``. Over an object store, a change of a part
    of a value begins with the present value and not with a cached one, so nothing is lost that others have stored. Of a
    shard that they replace, the cached index does not fit the new inner chunks: cache arrays with shards only where
    nobody else writes.

    Parameters
    ----------
    store : Store
        The store whose values are cached.
    cache_store : Store
        The store that caches whole values; it must support writes and deletes.
    max_age_seconds : int or "infinity"
        Older values are read anew.
    max_size : int, optional
        Number of bytes.
    cache_set_data : bool
        If True, also cache the values that are written.

    Raises
    ------
    ValueError
        If the cache store cannot be written to or deleted from, or a limit is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from zarr.storage import MemoryStore
    >>> slow = MemoryStore()
    >>> zarr.save(slow, np.arange(4))
    >>> store = CacheStore(slow, cache_store=MemoryStore())
    >>> array = zarr.open_array(store, mode="r")
    >>> array[:].sum(), array[:].sum(), store.cache_stats()["hits"] > 0
    (np.int64(6), np.int64(6), True)
    """

    def __init__(
        self,
        store: Store,
        *,
        cache_store: Store,
        max_age_seconds: int | str = "infinity",
        max_size: int | None = None,
        cache_set_data: bool = True,
    ) -> None:
        super().__init__(store)
        if not cache_store.supports_deletes:
            raise ValueError(f"The cache store {cache_store} does not support deletes: old values could not leave it.")
        if not cache_store.supports_writes or cache_store.read_only:
            raise ValueError(f"The cache store {cache_store} must let itself be written to.")
        if isinstance(max_age_seconds, str) and max_age_seconds != "infinity":
            raise ValueError("max_age_seconds string value must be 'infinity'")
        if not isinstance(max_age_seconds, str) and max_age_seconds < 0:
            raise ValueError(f"max_age_seconds must be 'infinity' or at least 0, not {max_age_seconds}")
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size must be at least 0 bytes, not {max_size}")
        self._cache = cache_store
        self._cache_set_data = cache_set_data
        self._state = CacheRecords(max_age_seconds, max_size)  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "max_age_seconds" in state:  # as zarr-python pickles it
            given = {name: state[name] for name in ("max_age_seconds", "max_size", "cache_set_data")}
            CacheStore.__init__(self, state["_store"], cache_store=state["_cache"], **given)
        else:
            self.__dict__.update(state)

    def _with_store(self, store: Store) -> CacheStore:
        twin = type(self)(store, cache_store=self._cache, cache_set_data=self._cache_set_data)
        twin._state = self._state
        return twin

    @property
    def synchronous(self) -> bool:
        """Return True if both stores have synchronous methods."""
        return is_synchronous(self._store) and is_synchronous(self._cache)

    @property
    def _supports_sync_io(self) -> bool:
        return super()._supports_sync_io and _store_supports_sync_io(self._cache)

    def _is_key_fresh(self, entry: Entry) -> bool:
        return self._state.is_fresh(entry)

    @property
    def max_age_seconds(self) -> float | Literal["infinity"]:
        """Return the number of seconds for which a value is cached."""
        return self._state.max_age_seconds

    @property
    def max_size(self) -> int | None:
        """Return the maximum number of cached bytes."""
        return self._state.max_size

    def __repr__(self) -> str:
        info = self.cache_info()
        return (
            f"{type(self).__name__}(store={self._store!r}, cache_store={self._cache!r}, "
            f"max_age_seconds={self.max_age_seconds}, max_size={self.max_size}, "
            f"current_size={info['current_size']}, cached_keys={info['cached_keys']})"
        )

    def cache_info(self) -> dict[str, Any]:
        """Return the settings of the cache and its fill.

        Returns
        -------
        dict
        """
        return {
            "cache_store_type": type(self._cache).__name__,
            "max_age_seconds": self.max_age_seconds,
            "max_size": self.max_size,
            "current_size": self._state.size,
            "cache_set_data": self._cache_set_data,
            "tracked_keys": len(self._state),
            "cached_keys": len(self._state),
        }

    def cache_stats(self) -> dict[str, Any]:
        """Return the counts of hits and misses.

        Returns
        -------
        dict
        """
        records = self._state
        total = records.hits + records.misses
        return {
            "hits": records.hits,
            "misses": records.misses,
            "evictions": records.evictions,
            "total_requests": total,
            "hit_rate": records.hits / total if total else 0.0,
        }

    async def clear_cache(self) -> None:
        """Remove all cached values."""
        self._state.clear()
        await self._cache.clear()

    async def clear(self) -> None:
        """Remove everything from both stores."""
        await self._store.clear()
        await self.clear_cache()

    def get_steps(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Steps[Buffer | None]:
        """Read from the cache, or from the store behind."""
        entry = entry_of(key, byte_range)
        value: Buffer | None = None
        if self._state.use(entry):
            value = self._state.part(entry)
            if byte_range is None:
                value = yield Call(self._cache, "get", key, prototype=prototype)
        self._state.count(value is not None)
        if value is not None:
            return value
        moment = self._state.changes
        value = yield Get(key, byte_range, prototype)
        if value is None:
            yield from self._forget_steps(key)
        else:
            yield from self._remember_steps(entry, value, moment)
        return value

    def get_ranges_steps(
        self, key: str, byte_ranges: Sequence[ByteRequest | None], *, prototype: BufferPrototype, **limits: Any
    ) -> Steps[list[tuple[int, Buffer | None]]]:
        """Read ranges of one value, cached ones from the cache, the others together."""
        known, missing = self._split(key, byte_ranges)
        if not missing:
            return known
        wanted, moment = [byte_ranges[i] for i in missing], self._state.changes
        given = {name: limit for name, limit in limits.items() if limit is not None}
        answers = yield Call(self._store, "get_ranges", key, wanted, prototype=prototype, **given)
        for i, value in answers:
            if value is not None:
                yield from self._remember_steps(entry_of(key, wanted[i]), value, moment)
        return [*known, *[(missing[i], value) for i, value in answers]]

    def set_steps(self, key: str, value: Buffer) -> Steps[None]:
        """Write to the store behind, then to the cache."""
        yield from self._setting_steps(Put(key, value), key, value)

    def _setting_steps(self, request: Any, key: str, value: Buffer) -> Steps[Any]:
        """Store a value by a request, whose answer may be False, and cache it if it was stored."""
        yield from self._forget_steps(key)
        moment = self._state.changes + 1
        reply = yield from self._changing_steps(request, key)
        if self._cache_set_data and reply is not False:
            yield from self._remember_steps(key, value, moment)
        return reply

    def set_if_not_exists_steps(self, key: str, value: Buffer) -> Steps[None]:
        """Write to the store behind if the key has no value, and remove the key from the cache."""
        yield from self._changing_steps(Call(self._store, "set_if_not_exists", key, value), key)

    def set_if_match_steps(self, key: str, value: Buffer, expected: Buffer | None) -> Steps[bool]:
        """Write to the store behind if the key holds the expected value, and remove the key from the cache."""
        request = Call(self._store, "set_if_match", key, value, expected)
        return bool((yield from self._changing_steps(request, key)))

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Write to the store behind if the key has no value, and remove the key from the cache."""
        try:
            return await super().put_if_absent(key, value)
        finally:
            await self._run_async(self._forget_steps(key))

    gives_versions = False  # plain reads go through the cache; those before a change ask for the present value
    get_versioned = WrapperStore.get_versioned

    async def set_if_version(self, key: str, value: Buffer, version: Any) -> bool:
        """Write to the store behind if the key still has a version, then to the cache."""
        request = Call(self._store, "set_if_version", key, value, version)
        return bool(await self._run_async(self._setting_steps(request, key, value)))

    def delete_steps(self, key: str) -> Steps[None]:
        """Remove a key from both stores."""
        yield from self._changing_steps(Delete(key), key)

    def delete_dir_steps(self, prefix: str) -> Steps[None]:
        """Remove all keys below a prefix from both stores."""
        yield from self._changing_steps(DeletePrefix(prefix), prefix, below=True)

    def _changing_steps(self, request: Any, key: str, below: bool = False) -> Steps[Any]:
        """Change the store behind, and remove its old values from the cache, also if the change has failed."""
        try:
            reply = yield request
        finally:
            gone = self._state.forget(key, below=below)
        for name in gone:
            yield Call(self._cache, "delete", name)
        return reply

    def _split(
        self, key: str, byte_ranges: Sequence[ByteRequest | None]
    ) -> tuple[list[tuple[int, Buffer | None]], list[int]]:
        """Return the cached ranges and the positions of the others."""
        known: list[tuple[int, Buffer | None]] = []
        missing: list[int] = []
        for i, byte_range in enumerate(byte_ranges):
            entry = entry_of(key, byte_range)
            value = self._state.part(entry) if self._state.use(entry) else None
            self._state.count(value is not None)
            if value is None:
                missing.append(i)
            else:
                known.append((i, value))
        return known, missing

    def _remember_steps(self, entry: Entry, value: Buffer, moment: int) -> Steps[None]:
        """Cache values read or written since ``moment``, unless there were writes in between.

        A value is found only after it was stored, and only if nothing was forgotten until then.
        """
        fits, gone = self._state.begin(entry, len(value), moment)
        stored: int | None = None
        kept = False
        try:
            for old in gone:
                if isinstance(old, str):
                    yield Call(self._cache, "delete", old)
            if fits and isinstance(entry, str):
                yield Call(self._cache, "set", entry, value)
            stored = moment
        finally:
            if fits:
                kept = self._state.end(entry, stored, value)
        if fits and isinstance(entry, str) and not kept:
            yield Call(self._cache, "delete", entry)

    def _forget_steps(self, key: str) -> Steps[None]:
        for name in self._state.forget(key):
            yield Call(self._cache, "delete", name)
