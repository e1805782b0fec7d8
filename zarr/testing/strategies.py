"""Hypothesis strategies for everything that zarr stores: names, data types, grids, selections, arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from hypothesis.strategies import SearchStrategy

import zarr
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.api.synchronous import create_array, open_group
from zarr.arrays.array import Array
from zarr.arrays.create.codecs import CompressorsLike, SerializerLike
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
from zarr.testing.grids import (
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
from zarr.testing.names import (
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
from zarr.types import JSON, AccessModeLiteral, AnyArray, ZarrFormat

_rectilinear_chunks = rectilinear_chunks


zarr_formats: SearchStrategy[ZarrFormat] = st.sampled_from((3, 2))
compressors: SearchStrategy[Any] = st.sampled_from((None, "default"))
SubchunkOrder = Literal["morton", "unordered", "lexicographic", "colexicographic"]
PATHS = paths()
SMALL_SHAPES = npst.array_shapes(max_dims=4, max_side=8)
WIDE_SHAPES = npst.array_shapes(max_dims=3, max_side=20)
subchunk_write_orders: SearchStrategy[SubchunkOrder] = st.sampled_from(SUBCHUNK_WRITE_ORDER)


@st.composite
def array_metadata(
    draw: st.DrawFn,
    *,
    array_shapes: Callable[..., SearchStrategy[tuple[int, ...]]] = npst.array_shapes,
    zarr_formats: SearchStrategy[ZarrFormat] = zarr_formats,
    attributes: SearchStrategy[Mapping[str, JSON] | None] = attrs,
) -> ArrayV2Metadata | ArrayV3Metadata:
    """Draw metadata of arrays.

    Parameters
    ----------
    array_shapes : callable
        Makes a strategy of shapes.
    zarr_formats, attributes : strategy
    """
    zarr_format = draw(zarr_formats)
    shape = draw(array_shapes())
    dtype = get_data_type_from_native_dtype(draw(dtypes()))
    fill_value = dtype.default_scalar()
    attributes_drawn = draw(attributes)
    own = None if attributes_drawn is None else dict(attributes_drawn)
    if zarr_format == 2:
        return ArrayV2Metadata(
            shape=shape,
            chunks=draw(chunk_shapes(shape=shape)),
            dtype=dtype,
            fill_value=fill_value,
            order=draw(st.sampled_from(["C", "F"])),
            attributes=own,
            dimension_separator=draw(st.sampled_from([".", "/"])),
            filters=None,
            compressor=None,
        )
    return ArrayV3Metadata(
        shape=shape,
        data_type=dtype,
        chunk_grid=draw(chunk_grids(shape=shape)),
        fill_value=fill_value,
        attributes=own,
        dimension_names=draw(dimension_names(ndim=len(shape))),
        chunk_key_encoding=DefaultChunkKeyEncoding(separator="/"),
        codecs=[BytesCodec()],
        storage_transformers=(),
    )


def _stored(
    store: Any, path: str, name: str, mode: AccessModeLiteral, data: npt.NDArray[Any], **parameters: Any
) -> Array[Any]:
    """Write an array somewhere below the root of a store and open it again."""
    zarr_format = parameters.pop("zarr_format", 3)
    group = open_group(store, mode=mode, zarr_format=zarr_format)
    where = normalize_path(f"{path}/{name}")
    array = group.create_array(where, shape=data.shape, dtype=data.dtype, **parameters)
    array[...] = data
    return array


@st.composite
def arrays(
    draw: st.DrawFn,
    *,
    shapes: SearchStrategy[tuple[int, ...]] = array_shapes,
    compressors: SearchStrategy[Any] = compressors,
    stores: SearchStrategy[Any] = stores,
    paths: SearchStrategy[str] = PATHS,
    array_names: SearchStrategy[str] = array_names,
    arrays: SearchStrategy[Any] | None = None,
    attrs: SearchStrategy[Any] = attrs,
    zarr_formats: SearchStrategy[ZarrFormat] = zarr_formats,
    subchunk_write_orders: SearchStrategy[SubchunkOrder] = subchunk_write_orders,
    open_mode: AccessModeLiteral = "w",
) -> Array[Any]:
    """Draw stored arrays of all kinds: both formats, with and without shards, with names and attributes.

    Parameters
    ----------
    shapes, compressors, stores, paths, array_names, attrs, zarr_formats : strategy
    arrays : strategy, optional
        Of the numpy arrays that are stored.
    subchunk_write_orders : strategy
        In which order the chunks of a shard are written.
    open_mode : str
        The mode in which the store is opened.
    """
    zarr_format = draw(zarr_formats)
    data = draw(numpy_arrays(shapes=shapes) if arrays is None else arrays)
    chunks = draw(chunk_shapes(shape=data.shape))
    parameters: dict[str, Any] = {
        "zarr_format": zarr_format,
        "chunks": chunks,
        "attributes": draw(attrs),
        "compressors": "auto" if draw(compressors) == "default" else None,
    }
    if zarr_format == 3:
        parameters["dimension_names"] = draw(dimension_names(ndim=data.ndim))
        if all(data.shape) and data.ndim and draw(st.booleans()):
            order = draw(subchunk_write_orders)
            parameters["chunks"] = draw(shard_shapes(shape=data.shape, chunk_shape=chunks))
            parameters["serializer"] = ShardingCodec(
                chunk_shape=chunks, codecs=[BytesCodec(), ZstdCodec()], subchunk_write_order=order
            )
            parameters["compressors"] = None
    return _stored(draw(stores), draw(paths), draw(array_names), open_mode, data, **parameters)


@st.composite
def simple_arrays(draw: st.DrawFn, *, shapes: SearchStrategy[tuple[int, ...]] = array_shapes) -> Any:
    """Draw arrays at short paths, without attributes and compressors.

    Parameters
    ----------
    shapes : strategy
    """
    return draw(
        arrays(
            shapes=shapes,
            paths=paths(max_num_nodes=2),
            array_names=array_names.filter(lambda name: len(name) < 8),
            attrs=st.none(),
            compressors=st.just(None),
        )
    )


sharding_inner_codecs: SearchStrategy[list[Any]] = st.sampled_from(
    [[BytesCodec()], [BytesCodec(), ZstdCodec()], [BytesCodec(), Crc32cCodec()]]
)
"""Codecs of the chunks in a shard."""


@st.composite
def sharded_arrays(
    draw: st.DrawFn,
    *,
    shapes: SearchStrategy[tuple[int, ...]] = SMALL_SHAPES,
    nested: bool | None = None,
) -> Any:
    """Draw arrays with shards, some with smaller shards inside.

    Parameters
    ----------
    shapes : strategy
    nested : bool, optional
        If True, put shards into shards; by default in some of the arrays.
    """
    data = draw(numpy_arrays(shapes=shapes))
    inner = draw(chunk_shapes(shape=data.shape))
    outer = draw(shard_shapes(shape=data.shape, chunk_shape=inner))
    codecs = draw(sharding_inner_codecs)
    if draw(st.booleans()) if nested is None else nested:
        smallest = tuple(draw(st.sampled_from([n for n in range(1, c + 1) if c % n == 0])) for c in inner)
        codecs = [ShardingCodec(chunk_shape=smallest, codecs=codecs)]
    serializer = ShardingCodec(
        chunk_shape=inner,
        codecs=codecs,
        index_location=draw(st.sampled_from(["start", "end"])),
        subchunk_write_order=draw(subchunk_write_orders),
    )
    array = create_array(
        MemoryStore(),
        shape=data.shape,
        dtype=data.dtype,
        chunks=outer,
        serializer=serializer,
        compressors=None,
    )
    array[...] = data
    return array


@st.composite
def rectilinear_arrays(draw: st.DrawFn, *, shapes: SearchStrategy[tuple[int, ...]] = WIDE_SHAPES) -> Any:
    """Draw arrays with a rectilinear chunk grid.

    Parameters
    ----------
    shapes : strategy
    """
    data = draw(numpy_arrays(shapes=shapes))
    grid = draw(rectilinear_chunk_grids(shape=data.shape))
    array = create_array(MemoryStore(), shape=data.shape, dtype=data.dtype, chunks=chunks_param_from_rectilinear(grid))
    array[...] = data
    return array


@st.composite
def complex_rectilinear_arrays(
    draw: st.DrawFn,
    *,
    stores: SearchStrategy[Any] = stores,
    paths: SearchStrategy[str] = PATHS,
    array_names: SearchStrategy[str] = array_names,
    attrs: SearchStrategy[Any] = attrs,
) -> tuple[npt.NDArray[Any], Array[Any]]:
    """Draw larger arrays with chunks of many lengths, and their content.

    Parameters
    ----------
    stores, paths, array_names, attrs : strategy
    """
    shape = draw(npst.array_shapes(min_dims=1, max_dims=3, min_side=5, max_side=30))
    data = draw(npst.arrays(dtype=np.dtype("uint64"), shape=shape))
    grid = draw(rectilinear_chunk_grids(shape=shape))
    array = _stored(
        draw(stores),
        draw(paths),
        draw(array_names),
        "w",
        data,
        chunks=chunks_param_from_rectilinear(grid),
        attributes=draw(attrs),
    )
    return data, array


@st.composite
def block_test_arrays(draw: st.DrawFn) -> tuple[Array[Any], np.ndarray[Any, Any]]:
    """Draw small arrays of numbers in order, with chunks of either kind, and their content."""
    shape = draw(npst.array_shapes(max_dims=3, max_side=6))
    data = np.arange(int(np.prod(shape)), dtype="int16").reshape(shape)
    if draw(st.booleans()):
        chunks: Any = chunks_param_from_rectilinear(draw(rectilinear_chunk_grids(shape=shape)))
    else:
        chunks = draw(chunk_shapes(shape=shape))
    array = create_array(MemoryStore(), shape=shape, dtype=data.dtype, chunks=chunks)
    array[...] = data
    return array, data


__all__ = [
    "AnyArray", "Array", "ArrayV2Metadata", "ArrayV3Metadata", "ByteRequest", "BytesCodec", "CompressorsLike",
    "Crc32cCodec", "DATETIME_UNIT", "DefaultChunkKeyEncoding", "HasItemSize", "MemoryStore", "OffsetByteRequest",
    "RangeByteRequest", "RectilinearChunkGridMetadata", "RegularChunkGridMetadata", "SUBCHUNK_WRITE_ORDER",
    "SerializerLike", "ShardingCodec", "Store", "StoreLike", "Struct", "SuffixByteRequest", "TBaseDType", "TBaseScalar",
    "ZDType", "ZstdCodec", "array_metadata", "array_names", "array_shapes", "arrays", "attrs", "basic_indices",
    "block_indices", "block_test_arrays", "chunk_grids", "chunk_paths", "chunk_shapes", "chunks_param_from_rectilinear",
    "clear_store", "complex_rectilinear_arrays", "compressors", "data_type_registry", "dimension_names", "dtypes",
    "end_slices", "get_data_type_from_native_dtype", "is_negative_slice", "key_ranges", "keys", "node_names",
    "normalize_path", "np_array_and_chunks", "npst", "numpy_arrays", "orthogonal_indices", "paths",
    "rectilinear_arrays", "rectilinear_chunk_grids", "rectilinear_chunk_shape_declarations", "rectilinear_chunks",
    "rectilinear_dim_edges", "safe_unicode_for_dtype", "shard_shapes", "sharded_arrays", "sharding_inner_codecs",
    "short_node_names", "simple_arrays", "st", "stores", "structured_dtypes", "subchunk_write_orders", "sync",
    "v2_dtypes", "v3_dtypes", "zarr", "zarr_formats", "zarr_key_chars", "zdtypes",
]
