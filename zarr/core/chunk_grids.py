"""Chunk grids; re-exports."""

from __future__ import annotations

from zarr.chunks import *
from zarr.chunks.normalize import *
from zarr.chunks.normalize import chunks_per_shard_axis as _guess_num_chunks_per_axis_shard
from zarr.chunks.normalize import guess_regular_chunks as _guess_regular_chunks
