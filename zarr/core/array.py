"""Arrays and their creation, under names of zarr-python 3.

Needed by tifffile and cubed (regions and keys of chunks), icechunk and virtualizarr (specs, codecs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, CodecPipeline
from zarr.abc.store import Store
from zarr.api.asynchronous import create_array, from_array, get_array_metadata
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create import steps as creation
from zarr.arrays.create.codecs import *
from zarr.arrays.create.codecs import choose_codecs_v2, choose_codecs_v3
from zarr.arrays.create.parameters import *
from zarr.arrays.create.steps import *
from zarr.arrays.create.version2 import like_parameters
from zarr.arrays.handle import parse_metadata as parse_array_metadata
from zarr.arrays.methods.properties import ArrayFace
from zarr.arrays.stored import stored_chunks_steps
from zarr.buffer.core import BufferPrototype
from zarr.chunks import ChunkGrid
from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike, parse_chunk_key_encoding
from zarr.chunks.shapes import cells_outside as _iter_chunk_coords_to_delete
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, ArraySpec
from zarr.codecs.base.order import SortedCodecs, sort_codecs
from zarr.core import borrowed_names
from zarr.dtype import ZDType
from zarr.runners.choose import async_runner_for
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.types import AnyArray as AnyArray
from zarr.types import AnyAsyncArray as AnyAsyncArray
from zarr.types import ChunksLike as ChunksLike
from zarr.types import ZarrFormat

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)

# An array, the first chunk of a block (``origin``) and its number of chunks along each axis (``selection_shape``).
_iter_chunk_coords = ArrayFace._iter_chunk_coords
_iter_shard_coords = ArrayFace._iter_shard_coords
_iter_shard_keys = ArrayFace._iter_shard_keys
_iter_chunk_regions = ArrayFace._iter_chunk_regions
_iter_shard_regions = ArrayFace._iter_shard_regions


def default_filters_v3(dtype: ZDType[Any, Any]) -> tuple[ArrayArrayCodec, ...]:
    """Return the filters that a new array of format 3 has by default."""
    return sort_codecs(choose_codecs_v3(dtype, "auto", "auto", "auto"))[0]


def default_compressors_v3(dtype: ZDType[Any, Any]) -> tuple[BytesBytesCodec, ...]:
    """Return the compressors that a new array of format 3 has by default."""
    return sort_codecs(choose_codecs_v3(dtype, "auto", "auto", "auto"))[2]


def default_compressor_v2(dtype: ZDType[Any, Any]) -> Any:
    """Return the compressor that a new array of format 2 has by default."""
    return choose_codecs_v2(dtype, "auto", "auto")[1]


def _get_shape_chunks(a: Any) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Return the shape and the chunk shape of an array of any library; None for what it does not have."""
    if not hasattr(a, "shape"):
        return None, None
    found = like_parameters(a, {})
    return found["shape"], found.get("chunks")


def _like_args(a: Any, zarr_format: ZarrFormat | None) -> dict[str, Any]:
    """Return the parameters of an array like another one, in its format or in a given one."""
    return like_parameters(a, {} if zarr_format is None else {"zarr_format": zarr_format})


async def _shards_initialized(array: AsyncArray[Any]) -> tuple[str, ...]:
    """Return the keys of the stored objects, relative to the array, in the order of the grid."""
    stored = await array._run(stored_chunks_steps(array._handle))
    return tuple(array.metadata.encode_chunk_key(coords) for coords in sorted(stored))


def _get_chunk_spec(
    metadata: Any,
    chunk_grid: ChunkGrid,
    chunk_coords: tuple[int, ...],
    array_config: ArrayConfig,
    prototype: BufferPrototype,
) -> ArraySpec:
    """Return the `ArraySpec` of one chunk; ValueError if the grid has no such chunk."""
    chunk = chunk_grid[chunk_coords]
    if chunk is None:
        raise ValueError(f"there is no chunk {chunk_coords} in a grid of shape {chunk_grid.grid_shape}")
    return ArraySpec(
        shape=chunk.codec_shape,
        dtype=metadata.dtype,
        fill_value=metadata.fill_value,
        config=array_config,
        prototype=prototype,
    )


def _parse_chunk_encoding_v2(
    *, compressor: Any, filters: Any, dtype: ZDType[Any, Any]
) -> tuple[tuple[Any, ...] | None, Any]:
    """Return the filters and the compressor of a format 2 array, given in any form."""
    return choose_codecs_v2(dtype, filters, compressor)


def _parse_chunk_encoding_v3(
    *, compressors: Any, filters: Any, serializer: Any, dtype: ZDType[Any, Any]
) -> tuple[tuple[ArrayArrayCodec, ...], ArrayBytesCodec, tuple[BytesBytesCodec, ...]]:
    """Return the filters, the serializer and the compressors of a format 3 array, given in any form."""
    found: SortedCodecs = sort_codecs(choose_codecs_v3(dtype, filters, serializer, compressors))
    return found


def _parse_chunk_key_encoding(data: ChunkKeyEncodingLike | None, zarr_format: ZarrFormat) -> ChunkKeyEncoding:
    """Return the chunk key encoding, by default that of the format."""
    if data is None:
        data = {"name": "v2", "separator": "."} if zarr_format == 2 else {"name": "default", "separator": "/"}
    return parse_chunk_key_encoding(data)


async def init_array(
    *,
    store_path: StorePath,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    **parameters: Any,
) -> AsyncArray[Any]:
    """Create an array without data.

    Parameters
    ----------
    store_path : StorePath
    overwrite : bool
    config : ArrayConfig or dict, optional
    **parameters
        See :func:`zarr.create_array`.

    Returns
    -------
    AsyncArray

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore, StorePath
    >>> asyncio.run(init_array(store_path=StorePath(MemoryStore()), shape=(3,), dtype="int8")).shape
    (3,)
    """
    metadata = creation.new_array_metadata(**parameters)
    steps = creation.init_array_steps(store_path, metadata, overwrite=overwrite, config=config)
    return AsyncArray.from_handle(await async_runner_for(store_path.store).run(steps))


def create_codec_pipeline(metadata: Any, *, store: Store | None = None) -> CodecPipeline:
    """Return the codec pipeline of an array, by its metadata.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    store : Store, optional
        The store, for pipelines that need it.

    Returns
    -------
    CodecPipeline

    Examples
    --------
    >>> import zarr
    >>> type(create_codec_pipeline(zarr.zeros((3,)).metadata)).__name__.endswith("Pipeline")
    True
    """
    path = StorePath(MemoryStore() if store is None else store)
    pipeline: CodecPipeline = AsyncArray(metadata, path).codec_pipeline
    return pipeline
