"""Arrays: the faces, and how they are made."""

from __future__ import annotations

from zarr.api.asynchronous import create_array, from_array
from zarr.arrays.asynchronous import AsyncArray
from zarr.arrays.create import (
    DEFAULT_FILL_VALUE,
    CompressorLike,
    CompressorsLike,
    FiltersLike,
    SerializerLike,
    ShardsConfigParam,
    ShardsLike,
    default_compressor_v2,
    default_compressors_v3,
    default_filters_v2,
    default_serializer_v3,
)
from zarr.arrays.synchronous import Array
from zarr.core.array_nodes import create_codec_pipeline, get_array_metadata, init_array, parse_array_metadata
from zarr.types import AnyArray, AnyAsyncArray

__all__ = [
    "AnyArray",
    "AnyAsyncArray",
    "Array",
    "AsyncArray",
    "CompressorLike",
    "CompressorsLike",
    "DEFAULT_FILL_VALUE",
    "FiltersLike",
    "SerializerLike",
    "ShardsConfigParam",
    "ShardsLike",
    "create_array",
    "create_codec_pipeline",
    "default_compressor_v2",
    "default_compressors_v3",
    "default_filters_v2",
    "default_serializer_v3",
    "from_array",
    "get_array_metadata",
    "init_array",
    "parse_array_metadata",
]
