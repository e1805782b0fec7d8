"""Chunk grids; re-exports."""

from __future__ import annotations

from zarr.chunks import *
from zarr.chunks import RegularChunkGridMetadata
from zarr.chunks.guesses import *
from zarr.chunks.guesses import chunks_per_shard_axis, guess_regular_chunks
from zarr.chunks.normalize import *

_guess_num_chunks_per_axis_shard, _guess_regular_chunks = chunks_per_shard_axis, guess_regular_chunks
# The name of zarr-python until 3.1, which tifffile imports.
RegularChunkGrid = RegularChunkGridMetadata
