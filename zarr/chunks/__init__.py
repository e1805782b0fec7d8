"""Chunk grids: how an array is cut into chunks, as a description and as something one can ask questions.

May import `zarr_core` and floor 1 (`errors`, `types`, `settings`, `abc`, `registry`), `dtype` and `array_spec`.
Read first: `grid.py` (axes and chunks), then `base.py` and `rectilinear.py` (documents).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:
    from zarr.chunks.base import (
        ChunkGridMetadata,
        RegularChunkGridMetadata,
        create_chunk_grid_metadata,
        parse_chunk_grid,
    )
    from zarr.chunks.grid import ChunkGrid, ChunkSpec, DimensionGrid, FixedDimension, VaryingDimension
    from zarr.chunks.normalize import (
        SHARDED_INNER_CHUNK_MAX_BYTES,
        ChunkLayout,
        full_span_chunk_size,
        guess_chunks,
        guess_regular_chunks,
        is_regular_1d,
        is_regular_nd,
        normalize_chunks,
        normalize_chunks_1d,
        normalize_chunks_nd,
        resolve_outer_and_inner_chunks,
    )
    from zarr.chunks.rectilinear import RectilinearChunkGridMetadata, RectilinearChunksDisabledError
    from zarr.chunks.shapes import MAX_LENGTH, parse_shape

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.chunks.base": "ChunkGridMetadata RegularChunkGridMetadata create_chunk_grid_metadata parse_chunk_grid",
        "zarr.chunks.grid": "DimensionGrid FixedDimension VaryingDimension ChunkGrid ChunkSpec",
        "zarr.chunks.normalize": (
            "ChunkLayout SHARDED_INNER_CHUNK_MAX_BYTES full_span_chunk_size guess_chunks guess_regular_chunks "
            "is_regular_1d is_regular_nd normalize_chunks normalize_chunks_1d normalize_chunks_nd "
            "resolve_outer_and_inner_chunks"
        ),
        "zarr.chunks.rectilinear": "RectilinearChunkGridMetadata RectilinearChunksDisabledError",
        "zarr.chunks.shapes": "MAX_LENGTH parse_shape",
    },
)

__all__ = [
    "MAX_LENGTH",
    "SHARDED_INNER_CHUNK_MAX_BYTES",
    "ChunkGrid",
    "ChunkGridMetadata",
    "ChunkLayout",
    "ChunkSpec",
    "DimensionGrid",
    "FixedDimension",
    "RectilinearChunkGridMetadata",
    "RectilinearChunksDisabledError",
    "RegularChunkGridMetadata",
    "VaryingDimension",
    "create_chunk_grid_metadata",
    "full_span_chunk_size",
    "guess_chunks",
    "guess_regular_chunks",
    "is_regular_1d",
    "is_regular_nd",
    "normalize_chunks",
    "normalize_chunks_1d",
    "normalize_chunks_nd",
    "parse_chunk_grid",
    "parse_shape",
    "resolve_outer_and_inner_chunks",
]
