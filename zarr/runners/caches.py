"""Decoded chunks that are kept in this process, up to a number of bytes; the least recently used ones are dropped.

A chunk is kept with the stamp that its store gave the stored value (see ``Stamp``), and is returned only while the
store gives that stamp again. So no code has to invalidate the cache: each write changes the stamp, also a write by
another array, face or process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import zarr_core
from zarr._process import at_fork
from zarr.defaults import settings

Chunk: TypeAlias = np.ndarray[Any, Any]
Stamp: TypeAlias = tuple[str, Any]


class ChunkCacheInfo(NamedTuple):
    """The contents of the cache, and its hits and misses."""

    hits: int
    misses: int
    chunks: int
    nbytes: int


class _Entry(NamedTuple):
    """A kept array, with the stamp of the value that it came from, and what else determines it."""

    stamp: Any
    form: Any
    array: Chunk
    nbytes: int


def held_bytes(chunk: Chunk) -> int | None:
    """Return the maximum number of bytes of a chunk in memory; None for Python objects, which a reader might change.

    Examples
    --------
    >>> held_bytes(np.zeros(4)), held_bytes(np.zeros(4, dtype=object))
    (32, None)
    """
    if chunk.dtype.kind == "T":  # a character has at most four bytes
        return chunk.nbytes + 4 * int(np.strings.str_len(chunk).sum())
    return None if chunk.dtype.hasobject else chunk.nbytes


class _Cache:
    """Arrays by the name of their store and a key, up to a number of bytes; the last used ones stay."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset the cache; also in a forked child, where another thread of the parent may have held the lock."""
        self._lock = threading.RLock()  # a finalizer may run, and read an array, at any allocation
        self._entries: OrderedDict[tuple[str, Any], _Entry] = OrderedDict()
        self._nbytes = self._capacity = self._hits = self._misses = 0

    def find(self, stamp: Stamp, key: Any, form: Any, shape: tuple[int, ...]) -> Chunk | None:
        """Return the array of a key, if the stored value is still the one that it came from.

        Parameters
        ----------
        stamp : (str, object)
            The name of the store, and the present stamp of the value.
        key : hashable
        form : object
            The codecs of the chunk, or the format of the index: another array may read the same bytes in another way.
        shape : tuple of int
        """
        name = (stamp[0], key)
        with self._lock:
            entry = self._entries.get(name)
            if entry is not None and (
                entry.stamp != stamp[1] or entry.array.shape != shape or not (entry.form is form or entry.form == form)
            ):
                self._drop(name)
                entry = None
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(name)
            return entry.array

    def _add(self, name: tuple[str, Any], entry: _Entry, capacity: int) -> None:
        """Keep an entry in place of the one of that name, and drop those that were used longest ago."""
        replaced = self._entries.pop(name, None)
        self._entries[name] = entry
        self._nbytes += entry.nbytes - (0 if replaced is None else replaced.nbytes)
        while self._nbytes > capacity:
            self._nbytes -= self._entries.popitem(last=False)[1].nbytes

    def _drop(self, name: tuple[str, Any]) -> None:
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._nbytes -= entry.nbytes


class ChunkCache(_Cache):
    """Decoded chunks by the name of their store, their key, and their place in the stored value.

    All arrays of a process share one cache; its size is the largest ``chunk_cache_bytes`` of the arrays used since it
    was last cleared.

    Examples
    --------
    >>> cache = ChunkCache()
    >>> chunk = np.zeros(4)
    >>> cache.keep(("store", 1), ("c/0", 0), (), chunk, 100)
    >>> cache.find(("store", 1), ("c/0", 0), (), (4,)) is chunk
    True
    >>> cache.find(("store", 2), ("c/0", 0), (), (4,)) is None
    True
    >>> cache.info()
    ChunkCacheInfo(hits=1, misses=1, chunks=0, nbytes=0)
    """

    def keep(self, stamp: Stamp, key: Any, codecs: tuple[Any, ...], chunk: Chunk, capacity: int) -> None:
        """Keep a chunk that was decoded from the value of a stamp; from now on it must not be changed."""
        nbytes = held_bytes(chunk)
        if nbytes is None or nbytes > capacity:
            return
        with self._lock:
            self._capacity = max(self._capacity, capacity)
            self._add((stamp[0], key), _Entry(stamp[1], codecs, chunk, nbytes), self._capacity)

    def clear(self) -> None:
        """Remove all chunks, and reset the counters."""
        with self._lock:
            self._entries.clear()
            self._nbytes = self._capacity = self._hits = self._misses = 0

    def info(self) -> ChunkCacheInfo:
        """Return the present contents, and the hits and misses since the cache was last cleared."""
        with self._lock:
            return ChunkCacheInfo(self._hits, self._misses, len(self._entries), self._nbytes)


CHUNKS = ChunkCache()
at_fork(renew=CHUNKS.reset)


class IndexTables(_Cache):
    """Parsed indexes of shards in stores that give stamps, up to a number of bytes; the last used ones stay.

    Examples
    --------
    >>> tables = IndexTables()
    >>> tables.keep(("store", 1), "c/0", None, np.zeros((2, 2), np.uint64))
    >>> [tables.find(("store", stamp), "c/0", None, (2, 2)) is None for stamp in (1, 2)]
    [False, True]
    """

    def stamp_of(self, store: str, key: str) -> Stamp | None:
        """Return the stamp of the value whose index is kept, which may have been replaced meanwhile; None if none is.

        Parameters
        ----------
        store : str
            The name of the store.
        key : str
        """
        with self._lock:
            entry = self._entries.get((store, key))
            return None if entry is None else (store, entry.stamp)

    def keep(self, stamp: Stamp, key: str, form: Any, table: Chunk) -> None:
        """Keep an index that was parsed from the value of a stamp; from now on it must not be changed."""
        capacity = index_capacity()
        if table.nbytes <= capacity:
            with self._lock:
                self._add((stamp[0], key), _Entry(stamp[1], form, table, table.nbytes), capacity)


TABLES = IndexTables()
at_fork(renew=TABLES.reset)


class _Files:
    """The indexes of files, which the core looks up itself, after the setting of which they are the cache."""

    state: tuple[int, zarr_core.IndexCache] | None = None


def index_capacity() -> int:
    """Return the setting ``array.index_cache_bytes``."""
    return int(settings.get("array.index_cache_bytes", DEFAULT_INDEX_BYTES))


def file_indexes() -> zarr_core.IndexCache:
    """Return the cache of indexes of files; another one, if the setting has changed.

    Examples
    --------
    >>> file_indexes() is file_indexes()
    True
    """
    capacity, state = index_capacity(), _Files.state
    if state is None or state[0] != capacity:
        state = _Files.state = (capacity, zarr_core.IndexCache(capacity))
    return state[1]


def _renew_files() -> None:
    if _Files.state is not None:
        _Files.state[1].after_fork()


at_fork(renew=_renew_files)

DEFAULT_INDEX_BYTES = 64 << 20
"""An inner chunk takes 16 bytes; one index of a file may take a quarter: that is a million inner chunks."""
