"""Interfaces that may still change: chunk grids as objects, a store that caches another, a cache of decoded chunks.

``chunk_cache`` is the cache that ``chunk_cache_bytes`` (a setting, and a part of the configuration of an array) lets
arrays use: ``chunk_cache.info()`` describes its content, ``chunk_cache.clear()`` empties it.

May import: everything below.
Read first: ``cache_store.py``.
"""

from __future__ import annotations

from zarr.chunks import ChunkGrid, ChunkSpec
from zarr.runners.caches import CHUNKS as chunk_cache

__all__ = ["ChunkGrid", "ChunkSpec", "chunk_cache"]
