"""Arrays and their creation; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.api.asynchronous import create_array, from_array
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.codecs import (
    CompressorLike,
    CompressorsLike,
    FiltersLike,
    SerializerLike,
    default_compressor_v2,
    default_compressors_v3,
    default_filters_v2,
    default_serializer_v3,
)
from zarr.arrays.create.parameters import DEFAULT_FILL_VALUE, ShardsConfigParam, ShardsLike
from zarr.compat.version3.arrays import cells_outside as _iter_chunk_coords_to_delete
from zarr.compat.version3.arrays import chunk_spec as _get_chunk_spec
from zarr.compat.version3.arrays import create_codec_pipeline, get_array_metadata, init_array, parse_array_metadata
from zarr.compat.version3.arrays import default_chunk_key_encoding as _parse_chunk_key_encoding
from zarr.compat.version3.arrays import iter_chunk_coords as _iter_chunk_coords
from zarr.compat.version3.arrays import iter_chunk_regions as _iter_chunk_regions
from zarr.compat.version3.arrays import iter_shard_coords as _iter_shard_coords
from zarr.compat.version3.arrays import iter_shard_keys as _iter_shard_keys
from zarr.compat.version3.arrays import iter_shard_regions as _iter_shard_regions
from zarr.compat.version3.arrays import parse_chunk_encoding_v2 as _parse_chunk_encoding_v2
from zarr.compat.version3.arrays import parse_chunk_encoding_v3 as _parse_chunk_encoding_v3
from zarr.compat.version3.arrays import shards_initialized as _shards_initialized
from zarr.compat.version3.sibling_names import borrowed_names
from zarr.types import AnyArray, AnyAsyncArray

__all__ = [
    "AnyArray", "AnyAsyncArray", "Array", "AsyncArray", "CompressorLike", "CompressorsLike", "DEFAULT_FILL_VALUE",
    "FiltersLike", "SerializerLike", "ShardsConfigParam", "ShardsLike", "_get_chunk_spec", "_iter_chunk_coords",
    "_iter_chunk_coords_to_delete", "_iter_chunk_regions", "_iter_shard_coords", "_iter_shard_keys",
    "_iter_shard_regions", "_parse_chunk_encoding_v2", "_parse_chunk_encoding_v3", "_parse_chunk_key_encoding",
    "_shards_initialized", "create_array", "create_codec_pipeline", "default_compressor_v2", "default_compressors_v3",
    "default_filters_v2", "default_serializer_v3", "from_array", "get_array_metadata", "init_array",
    "parse_array_metadata",
]

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
