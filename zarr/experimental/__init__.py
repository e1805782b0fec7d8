"""What may still change: chunk grids as objects, and a store that caches another one.

May import: everything below.
Read first: ``cache_store.py``.
"""

from __future__ import annotations

from zarr.grids import ChunkGrid, ChunkSpec

__all__ = ["ChunkGrid", "ChunkSpec"]
