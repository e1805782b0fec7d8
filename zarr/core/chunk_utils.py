"""The codecs of one chunk; re-exports."""

from __future__ import annotations

from zarr.compat.version3.chunk_transforms import ChunkTransform as ChunkTransform
from zarr.compat.version3.chunk_transforms import _merge_chunk_array as _merge_chunk_array
from zarr.compat.version3.chunk_transforms import chunk_is_empty as chunk_is_empty
from zarr.compat.version3.chunk_transforms import encode_or_elide_chunk as encode_or_elide_chunk
from zarr.compat.version3.chunk_transforms import evolve_codecs as evolve_codecs
from zarr.compat.version3.chunk_transforms import fill_value_or_default as fill_value_or_default
