"""Chunk grids: how an array is cut into chunks, as a description and as an object with methods.

May import `zarr_core` and floor 1 (`errors`, `types`, `settings`, `abc`, `registry`) and `dtype`.
Read first: `dimensions.py` (axes) and `grid.py` (chunks), then `base.py` and `rectilinear.py` (documents). `keys.py`
has the keys of chunks, `spec.py` the description of a chunk for codecs; `guesses.py` chooses shapes that the user
leaves open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.chunks.base import *  # noqa: F403
    from zarr.chunks.dimensions import *  # noqa: F403
    from zarr.chunks.grid import *  # noqa: F403
    from zarr.chunks.guesses import *  # noqa: F403
    from zarr.chunks.normalize import *  # noqa: F403
    from zarr.chunks.rectilinear import *  # noqa: F403
    from zarr.chunks.shapes import *  # noqa: F403

__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.chunks.base": "ChunkGridMetadata RegularChunkGridMetadata create_chunk_grid_metadata parse_chunk_grid",
        "zarr.chunks.dimensions": "DimensionGrid FixedDimension VaryingDimension",
        "zarr.chunks.grid": "ChunkGrid ChunkSpec",
        "zarr.chunks.guesses": "SHARDED_INNER_CHUNK_MAX_BYTES guess_chunks guess_regular_chunks",
        "zarr.chunks.normalize": (
            "ChunkLayout full_span_chunk_size is_regular_1d is_regular_nd normalize_chunks normalize_chunks_1d "
            "normalize_chunks_nd resolve_outer_and_inner_chunks"
        ),
        "zarr.chunks.rectilinear": "RectilinearChunkGridMetadata RectilinearChunksDisabledError",
        "zarr.chunks.shapes": "MAX_LENGTH parse_shape",
    },
)
