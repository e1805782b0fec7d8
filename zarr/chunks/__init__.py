"""Chunk grids: how an array is cut into chunks, as a description and as something one can ask questions.

May import `zarr_core` and floor 1 (`errors`, `types`, `settings`, `abc`, `registry`) and `dtype`.
Read first: `grid.py` (axes and chunks), then `base.py` and `rectilinear.py` (documents). `keys.py` has the keys of
chunks, `spec.py` what a codec is told of a chunk; `guesses.py` chooses shapes that the user leaves open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.chunks.base import ChunkGridMetadata as ChunkGridMetadata
    from zarr.chunks.base import RegularChunkGridMetadata as RegularChunkGridMetadata
    from zarr.chunks.base import create_chunk_grid_metadata as create_chunk_grid_metadata
    from zarr.chunks.base import parse_chunk_grid as parse_chunk_grid
    from zarr.chunks.grid import ChunkGrid as ChunkGrid
    from zarr.chunks.grid import ChunkSpec as ChunkSpec
    from zarr.chunks.grid import DimensionGrid as DimensionGrid
    from zarr.chunks.grid import FixedDimension as FixedDimension
    from zarr.chunks.grid import VaryingDimension as VaryingDimension
    from zarr.chunks.guesses import SHARDED_INNER_CHUNK_MAX_BYTES as SHARDED_INNER_CHUNK_MAX_BYTES
    from zarr.chunks.guesses import guess_chunks as guess_chunks
    from zarr.chunks.guesses import guess_regular_chunks as guess_regular_chunks
    from zarr.chunks.normalize import ChunkLayout as ChunkLayout
    from zarr.chunks.normalize import full_span_chunk_size as full_span_chunk_size
    from zarr.chunks.normalize import is_regular_1d as is_regular_1d
    from zarr.chunks.normalize import is_regular_nd as is_regular_nd
    from zarr.chunks.normalize import normalize_chunks as normalize_chunks
    from zarr.chunks.normalize import normalize_chunks_1d as normalize_chunks_1d
    from zarr.chunks.normalize import normalize_chunks_nd as normalize_chunks_nd
    from zarr.chunks.normalize import resolve_outer_and_inner_chunks as resolve_outer_and_inner_chunks
    from zarr.chunks.rectilinear import RectilinearChunkGridMetadata as RectilinearChunkGridMetadata
    from zarr.chunks.rectilinear import RectilinearChunksDisabledError as RectilinearChunksDisabledError
    from zarr.chunks.shapes import MAX_LENGTH as MAX_LENGTH
    from zarr.chunks.shapes import parse_shape as parse_shape

__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.chunks.base": "ChunkGridMetadata RegularChunkGridMetadata create_chunk_grid_metadata parse_chunk_grid",
        "zarr.chunks.grid": "DimensionGrid FixedDimension VaryingDimension ChunkGrid ChunkSpec",
        "zarr.chunks.guesses": "SHARDED_INNER_CHUNK_MAX_BYTES guess_chunks guess_regular_chunks",
        "zarr.chunks.normalize": (
            "ChunkLayout full_span_chunk_size is_regular_1d is_regular_nd normalize_chunks normalize_chunks_1d "
            "normalize_chunks_nd resolve_outer_and_inner_chunks"
        ),
        "zarr.chunks.rectilinear": "RectilinearChunkGridMetadata RectilinearChunksDisabledError",
        "zarr.chunks.shapes": "MAX_LENGTH parse_shape",
    },
)
