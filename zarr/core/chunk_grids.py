"""Chunk grids; re-exports."""

from __future__ import annotations

from zarr.chunks import (
    ChunkGrid,
    ChunkSpec,
    DimensionGrid,
    FixedDimension,
    VaryingDimension,
    guess_chunks,
    resolve_outer_and_inner_chunks,
)
from zarr.chunks.normalize import (
    SHARDED_INNER_CHUNK_MAX_BYTES,
    ChunkLayout,
    full_span_chunk_size,
    is_regular_1d,
    is_regular_nd,
    normalize_chunks_1d,
    normalize_chunks_nd,
)
from zarr.chunks.normalize import chunks_per_shard_axis as _guess_num_chunks_per_axis_shard
from zarr.chunks.normalize import guess_regular_chunks as _guess_regular_chunks

__all__ = [
    "SHARDED_INNER_CHUNK_MAX_BYTES", "_guess_num_chunks_per_axis_shard", "_guess_regular_chunks", "ChunkGrid",
    "ChunkLayout", "ChunkSpec", "DimensionGrid", "FixedDimension", "VaryingDimension", "full_span_chunk_size",
    "guess_chunks", "is_regular_1d", "is_regular_nd", "normalize_chunks_1d", "normalize_chunks_nd",
    "resolve_outer_and_inner_chunks",
]
