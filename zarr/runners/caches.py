"""Decoded chunks that are kept in this process, up to a number of bytes; those last used stay.

A chunk is kept with the stamp that its store gave the stored value (see ``Stamp``), and is handed out only while the
store gives that stamp again. So nothing has to tell the cache of a write: whoever wrote, by whichever array, face or
process, has changed the stamp.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import zarr_core
from zarr._process import at_fork

Chunk: TypeAlias = np.ndarray[Any, Any]
Stamp: TypeAlias = tuple[str, Any]


class ChunkCacheInfo(NamedTuple):
    """The contents of the cache, and how often it could help."""

    hits: int
    misses: int
    chunks: int
    nbytes: int


class _Entry(NamedTuple):
    stamp: Any
    codecs: tuple[Any, ...]
    chunk: Chunk
    nbytes: int


def held_bytes(chunk: Chunk) -> int | None:
    """Return how much memory a chunk holds, at most; None for Python objects, which a reader might change.

    Examples
    --------
    >>> held_bytes(np.zeros(4)), held_bytes(np.zeros(4, dtype=object))
    (32, None)
    """
    if chunk.dtype.kind == "T":  # a character has four bytes at most
        return chunk.nbytes + 4 * int(np.strings.str_len(chunk).sum())
    return None if chunk.dtype.hasobject else chunk.nbytes


class ChunkCache:
    """Decoded chunks by the name of their store, their key, and their place in it.

    All arrays of a process share one; it holds at most as many bytes as the largest ``chunk_cache_bytes`` that an array
    has brought along since it was last cleared.

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

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew; for a forked child, too, where another thread of the parent may have held the lock."""
        self._lock = threading.RLock()  # a finalizer may run, and read an array, at any allocation
        self._entries: OrderedDict[tuple[str, Any], _Entry] = OrderedDict()
        self._nbytes = self._capacity = self._hits = self._misses = 0

    def find(self, stamp: Stamp, key: Any, codecs: tuple[Any, ...], shape: tuple[int, ...]) -> Chunk | None:
        """Return the chunk of a key, if the stored value is still the one that it was decoded from.

        Parameters
        ----------
        stamp : (str, object)
            The name of the store, and what it says of the value now.
        key : hashable
        codecs : tuple of codecs
            By which the chunk would be decoded: another array may take the same bytes for something else.
        shape : tuple of int
        """
        name = (stamp[0], key)
        with self._lock:
            entry = self._entries.get(name)
            if entry is not None and (
                entry.stamp != stamp[1]
                or entry.chunk.shape != shape
                or not (entry.codecs is codecs or entry.codecs == codecs)
            ):
                self._drop(name)
                entry = None
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(name)
            return entry.chunk

    def keep(self, stamp: Stamp, key: Any, codecs: tuple[Any, ...], chunk: Chunk, capacity: int) -> None:
        """Keep a chunk that was decoded from the value of a stamp; nobody may change it from now on."""
        nbytes = held_bytes(chunk)
        if nbytes is None or nbytes > capacity:
            return
        name = (stamp[0], key)
        with self._lock:
            self._capacity = max(self._capacity, capacity)
            self._drop(name)
            self._entries[name] = _Entry(stamp[1], codecs, chunk, nbytes)
            self._nbytes += nbytes
            while self._nbytes > self._capacity:
                self._nbytes -= self._entries.popitem(last=False)[1].nbytes

    def _drop(self, name: tuple[str, Any]) -> None:
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._nbytes -= entry.nbytes

    def clear(self) -> None:
        """Let all chunks go, and count from nothing."""
        with self._lock:
            self._entries.clear()
            self._nbytes = self._capacity = self._hits = self._misses = 0

    def info(self) -> ChunkCacheInfo:
        """Return what is held now, and the hits and misses since the cache was last cleared."""
        with self._lock:
            return ChunkCacheInfo(self._hits, self._misses, len(self._entries), self._nbytes)


CHUNKS = ChunkCache()
at_fork(renew=CHUNKS.reset)


CAPACITY_BYTES = 16 << 20
"""An inner chunk takes 16 bytes of an index: so many indexes of 4096 inner chunks are kept as 256 shards have."""

INDEXES = zarr_core.IndexCache(CAPACITY_BYTES)
at_fork(renew=INDEXES.after_fork)
