"""Hypothesis strategies for everything that zarr stores: names, data types, grids, selections, arrays."""

from __future__ import annotations

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st

import zarr
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.arrays.array import Array
from zarr.arrays.create.steps import CompressorsLike, SerializerLike
from zarr.chunks import RectilinearChunkGridMetadata, RegularChunkGridMetadata
from zarr.chunks.keys import DefaultChunkKeyEncoding
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, ZstdCodec
from zarr.codecs.sharding import SUBCHUNK_WRITE_ORDER
from zarr.dtype import (
    HasItemSize,
    Struct,
    TBaseDType,
    TBaseScalar,
    ZDType,
    data_type_registry,
    get_data_type_from_native_dtype,
)
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.sync import sync
from zarr.storage.keys import normalize_path
from zarr.storage.memory.store import MemoryStore
from zarr.storage.resolve import StoreLike
from zarr.testing.generate.arrays import (
    array_metadata,
    arrays,
    block_test_arrays,
    complex_rectilinear_arrays,
    compressors,
    rectilinear_arrays,
    sharded_arrays,
    sharding_inner_codecs,
    simple_arrays,
    subchunk_write_orders,
    zarr_formats,
)
from zarr.testing.generate.grids import (
    basic_indices,
    block_indices,
    chunk_grids,
    chunk_paths,
    chunk_shapes,
    chunks_param_from_rectilinear,
    end_slices,
    is_negative_slice,
    np_array_and_chunks,
    orthogonal_indices,
    rectilinear_chunk_grids,
    rectilinear_chunk_shape_declarations,
    rectilinear_chunks,
    rectilinear_dim_edges,
    shard_shapes,
)
from zarr.testing.generate.names import (
    DATETIME_UNIT,
    array_names,
    array_shapes,
    attrs,
    clear_store,
    dimension_names,
    dtypes,
    key_ranges,
    keys,
    node_names,
    numpy_arrays,
    paths,
    safe_unicode_for_dtype,
    short_node_names,
    stores,
    structured_dtypes,
    v2_dtypes,
    v3_dtypes,
    zarr_key_chars,
    zdtypes,
)
from zarr.types import AnyArray

_rectilinear_chunks = rectilinear_chunks

__all__ = [
    "AnyArray",
    "Array",
    "ArrayV2Metadata",
    "ArrayV3Metadata",
    "ByteRequest",
    "BytesCodec",
    "CompressorsLike",
    "Crc32cCodec",
    "DATETIME_UNIT",
    "DefaultChunkKeyEncoding",
    "HasItemSize",
    "MemoryStore",
    "OffsetByteRequest",
    "RangeByteRequest",
    "RectilinearChunkGridMetadata",
    "RegularChunkGridMetadata",
    "SUBCHUNK_WRITE_ORDER",
    "SerializerLike",
    "ShardingCodec",
    "Store",
    "StoreLike",
    "Struct",
    "SuffixByteRequest",
    "TBaseDType",
    "TBaseScalar",
    "ZDType",
    "ZstdCodec",
    "array_metadata",
    "array_names",
    "array_shapes",
    "arrays",
    "attrs",
    "basic_indices",
    "block_indices",
    "block_test_arrays",
    "chunk_grids",
    "chunk_paths",
    "chunk_shapes",
    "chunks_param_from_rectilinear",
    "clear_store",
    "complex_rectilinear_arrays",
    "compressors",
    "data_type_registry",
    "dimension_names",
    "dtypes",
    "end_slices",
    "get_data_type_from_native_dtype",
    "is_negative_slice",
    "key_ranges",
    "keys",
    "node_names",
    "npst",
    "normalize_path",
    "np_array_and_chunks",
    "numpy_arrays",
    "orthogonal_indices",
    "paths",
    "rectilinear_arrays",
    "rectilinear_chunk_grids",
    "rectilinear_chunk_shape_declarations",
    "rectilinear_chunks",
    "rectilinear_dim_edges",
    "safe_unicode_for_dtype",
    "shard_shapes",
    "sharded_arrays",
    "sharding_inner_codecs",
    "short_node_names",
    "simple_arrays",
    "st",
    "stores",
    "structured_dtypes",
    "subchunk_write_orders",
    "sync",
    "v2_dtypes",
    "v3_dtypes",
    "zarr_formats",
    "zarr_key_chars",
    "zarr",
    "zdtypes",
]
