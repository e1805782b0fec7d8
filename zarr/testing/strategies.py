"""Hypothesis strategies for all that zarr stores: names, data types, grids, selections, arrays."""

from __future__ import annotations

import sys
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
from zarr.dtype.types.times import DATETIME_UNIT
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.sync import sync
from zarr.storage.keys import METADATA_NAMES, normalize_path
from zarr.storage.memory import MemoryStore
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
    orthogonal_indices,
    rectilinear_chunk_grids,
    rectilinear_chunk_shape_declarations,
    rectilinear_chunks,
    rectilinear_dim_edges,
    shard_shapes,
)
from zarr.types import JSON, AccessModeLiteral, AnyArray, ZarrFormat

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CHARACTERS = ".-0123456789" + _LETTERS.upper() + "_" + _LETTERS

zarr_key_chars: SearchStrategy[str] = st.sampled_from(tuple(_CHARACTERS))
"""The characters of node names, which every store can hold."""


def _is_node_name(name: str) -> bool:
    return bool(name.strip(".")) and not name.startswith("__") and name.lower() not in METADATA_NAMES


node_names: SearchStrategy[str] = st.text(alphabet=zarr_key_chars, min_size=1).filter(_is_node_name)
"""Valid names of nodes."""

short_node_names: SearchStrategy[str] = st.text(alphabet=zarr_key_chars, min_size=1, max_size=3).filter(_is_node_name)
"""Short names, so that the same one is drawn twice now and then."""

array_names = node_names

_attribute_keys = st.text(min_size=1)
_attribute_values: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5),
    lambda children: st.lists(children) | st.dictionaries(_attribute_keys, children),
    max_leaves=3,
)
attrs: SearchStrategy[Any] = st.none() | st.dictionaries(_attribute_keys, _attribute_values)
"""Attributes of a node, or None."""


@st.composite
def keys(draw: st.DrawFn, *, max_num_nodes: int | None = None) -> str:
    """Draw keys of several names, joined by slashes.

    Parameters
    ----------
    max_num_nodes : int, optional
        The maximal number of names.
    """
    return "/".join(draw(st.lists(node_names, min_size=1, max_size=max_num_nodes)))


@st.composite
def paths(draw: st.DrawFn, *, max_num_nodes: int | None = None) -> str:
    """Draw paths of nodes; the root is written as a slash.

    Parameters
    ----------
    max_num_nodes : int, optional
        The maximal number of names.
    """
    return draw(st.just("/") | keys(max_num_nodes=max_num_nodes))


def clear_store(x: Store) -> Store:
    """Empty a store and return it."""
    sync(x.clear())
    return x


stores: SearchStrategy[Any] = st.builds(MemoryStore, st.just({})).map(clear_store)
"""Empty stores in memory."""


def key_ranges(
    keys: SearchStrategy[str] = node_names, max_size: int = sys.maxsize
) -> SearchStrategy[list[tuple[str, ByteRequest | None]]]:
    """Draw lists of keys, each with a byte range or None.

    Parameters
    ----------
    keys : strategy
        The strategy of the keys.
    max_size : int
        No range goes beyond this byte.
    """

    @st.composite
    def requests(draw: st.DrawFn) -> ByteRequest | None:
        start = draw(st.integers(min_value=0, max_value=max_size))
        length = draw(st.integers(min_value=0, max_value=max_size))
        kind = draw(st.sampled_from(["whole", "range", "offset", "suffix"]))
        if kind == "range":
            return RangeByteRequest(start, min(start + length, max_size))
        if kind == "offset":
            return OffsetByteRequest(start)
        return SuffixByteRequest(length) if kind == "suffix" else None

    return st.lists(st.tuples(keys, requests()), min_size=1, max_size=10)


@st.composite
def dimension_names(draw: st.DrawFn, *, ndim: int | None = None) -> list[str | None] | None:
    """Draw names of dimensions, some of them None, or no names at all.

    Parameters
    ----------
    ndim : int, optional
    """
    name = st.text(alphabet=zarr_key_chars, max_size=5)
    count = draw(st.integers(min_value=0, max_value=4)) if ndim is None else ndim
    return draw(st.none() | st.lists(st.none() | name, min_size=count, max_size=count))


def dtypes() -> SearchStrategy[np.dtype[Any]]:
    """Draw numpy data types that both formats can store."""
    return (
        npst.boolean_dtypes()
        | npst.integer_dtypes(endianness="=")
        | npst.unsigned_integer_dtypes(endianness="=")
        | npst.floating_dtypes(endianness="=", sizes=(16, 32, 64))
        | npst.complex_number_dtypes(endianness="=", sizes=(64, 128))
        | npst.byte_string_dtypes(endianness="=", min_len=1, max_len=16)
        | npst.unicode_string_dtypes(endianness="=", min_len=1, max_len=16)
        | npst.datetime64_dtypes(endianness="=")
        | npst.timedelta64_dtypes(endianness="=")
    )


def v3_dtypes() -> SearchStrategy[np.dtype[Any]]:
    """Draw numpy data types that format 3 can store."""
    return dtypes()


def v2_dtypes() -> SearchStrategy[np.dtype[Any]]:
    """Draw numpy data types that format 2 can store."""
    return dtypes()


_FIELD_NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=4)


def _fields(children: SearchStrategy[np.dtype[Any]]) -> SearchStrategy[np.dtype[Any]]:
    named = st.lists(st.tuples(_FIELD_NAMES, children), min_size=1, max_size=3)
    return named.map(lambda fields: np.dtype([(f"{name}{i}", dtype) for i, (name, dtype) in enumerate(fields)]))


@st.composite
def structured_dtypes(draw: st.DrawFn, *, allow_extended: bool = False, max_depth: int = 3) -> np.dtype[np.void]:
    """Draw structured numpy data types, nested up to a depth.

    Parameters
    ----------
    allow_extended : bool
        If True, fields may also be arrays of fixed shape.
    max_depth : int
    """
    leaves: SearchStrategy[np.dtype[Any]] = (
        npst.boolean_dtypes()
        | npst.integer_dtypes()
        | npst.unsigned_integer_dtypes()
        | npst.floating_dtypes(sizes=(16, 32, 64))
        | npst.complex_number_dtypes(sizes=(64, 128))
        | npst.byte_string_dtypes(min_len=1, max_len=8)
    )
    if allow_extended:
        shapes = npst.array_shapes(max_dims=2, max_side=3)
        leaves = leaves | st.tuples(leaves, shapes).map(np.dtype)
    level = leaves
    for _ in range(draw(st.integers(min_value=0, max_value=max(0, max_depth - 1)))):
        level = leaves | _fields(level)
    return draw(_fields(level))


@st.composite
def zdtypes(draw: st.DrawFn, *, max_leaves: int = 6) -> ZDType[TBaseDType, TBaseScalar]:
    """Draw zarr data types, records among them.

    Parameters
    ----------
    max_leaves : int
        The maximal number of fields of a record.
    """
    leaf = dtypes().filter(lambda dtype: dtype.itemsize > 0)
    native = draw(leaf | _fields(leaf)) if max_leaves > 1 else draw(leaf)
    return get_data_type_from_native_dtype(native)


def safe_unicode_for_dtype(dtype: np.dtype[np.str_]) -> SearchStrategy[str]:
    """Draw texts that fit a data type: no longer than it, no surrogates, no zeros at the end.

    Parameters
    ----------
    dtype : numpy.dtype
    """
    width = max(1, dtype.itemsize // 4)
    letters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
    return st.text(alphabet=letters, max_size=width)


array_shapes = npst.array_shapes(max_dims=4, min_side=3, max_side=5) | npst.array_shapes(max_dims=4, min_side=0)
"""Shapes of arrays, now and then with lengths of 0."""


@st.composite
def numpy_arrays(
    draw: st.DrawFn,
    *,
    shapes: SearchStrategy[tuple[int, ...]] = array_shapes,
    dtype: np.dtype[Any] | None = None,
) -> npt.NDArray[Any]:
    """Draw numpy arrays.

    Parameters
    ----------
    shapes : strategy
    dtype : numpy.dtype, optional
    """
    chosen = draw(dtypes()) if dtype is None else dtype
    elements = safe_unicode_for_dtype(chosen) if chosen.kind == "U" else None
    return draw(npst.arrays(dtype=chosen, shape=draw(shapes), elements=elements))


_rectilinear_chunks = rectilinear_chunks


zarr_formats: SearchStrategy[ZarrFormat] = st.sampled_from((3, 2))
compressors: SearchStrategy[Any] = st.sampled_from((None, "default"))
SubchunkOrder = Literal["morton", "unordered", "lexicographic", "colexicographic"]
PATHS = paths()
SMALL_SHAPES = npst.array_shapes(max_dims=4, max_side=8)
WIDE_SHAPES = npst.array_shapes(max_dims=3, max_side=20)
subchunk_write_orders: SearchStrategy[SubchunkOrder] = st.sampled_from(SUBCHUNK_WRITE_ORDER)


NUMPY_ARRAYS = numpy_arrays()


@st.composite
def np_array_and_chunks(
    draw: st.DrawFn, *, arrays: SearchStrategy[npt.NDArray[Any]] = NUMPY_ARRAYS
) -> tuple[np.ndarray[Any, Any], tuple[int, ...]]:
    """Draw numpy arrays, and a chunk shape for each.

    Parameters
    ----------
    arrays : strategy
    """
    array = draw(arrays)
    return array, draw(chunk_shapes(shape=array.shape))


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
    """Write an array below the root of a store."""
    zarr_format = parameters.pop("zarr_format", 3)
    group = open_group(store, mode=mode, zarr_format=zarr_format)
    return group.create_array(normalize_path(f"{path}/{name}"), data=data, **parameters)


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
        The NumPy arrays to store.
    subchunk_write_orders : strategy
        The order of the chunks in a shard.
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
    return create_array(MemoryStore(), data=data, chunks=outer, serializer=serializer, compressors=None)


@st.composite
def rectilinear_arrays(draw: st.DrawFn, *, shapes: SearchStrategy[tuple[int, ...]] = WIDE_SHAPES) -> Any:
    """Draw arrays with a rectilinear chunk grid.

    Parameters
    ----------
    shapes : strategy
    """
    data = draw(numpy_arrays(shapes=shapes))
    grid = draw(rectilinear_chunk_grids(shape=data.shape))
    return create_array(MemoryStore(), data=data, chunks=chunks_param_from_rectilinear(grid))


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
    return create_array(MemoryStore(), data=data, chunks=chunks), data


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
