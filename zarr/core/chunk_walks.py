"""Helpers of arrays, under the private names of ``zarr.core.array`` that other programs call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.api.asynchronous import get_array_metadata
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.change.operations import stored_chunks_steps
from zarr.arrays.create.codecs import choose_codecs_v2, choose_codecs_v3
from zarr.arrays.create.steps import init_array_steps, new_array_metadata
from zarr.arrays.opening import parse_metadata
from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike, parse_chunk_key_encoding
from zarr.chunks.spec import ArraySpec
from zarr.chunks.walk import cells_outside
from zarr.codecs.base.adapters import SortedCodecs, sort_codecs
from zarr.runners.choose import async_runner_for
from zarr.storage.memory.store import MemoryStore
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.codec import CodecPipeline
    from zarr.abc.store import Store
    from zarr.buffer.core import BufferPrototype
    from zarr.chunks import ChunkGrid
    from zarr.chunks.spec import ArrayConfig, ArrayConfigLike
    from zarr.dtype import ZDType
    from zarr.types import ZarrFormat


AnyFace = Array[Any] | AsyncArray[Any]
Block = Sequence[int] | None


def iter_chunk_coords(
    array: AnyFace, *, origin: Block = None, selection_shape: Block = None
) -> Iterator[tuple[int, ...]]:
    """The coordinates of the chunks of an array, the last axis fastest.

    Parameters
    ----------
    array : Array or AsyncArray
    origin : sequence of int, optional
        The first chunk of a block; the first of the grid by default.
    selection_shape : sequence of int, optional
        How many chunks the block has along each axis; all that follow by default.

    Returns
    -------
    iterator of tuple of int

    Examples
    --------
    >>> import zarr
    >>> list(iter_chunk_coords(zarr.zeros((4,), chunks=(2,))))
    [(0,), (1,)]
    """
    return array._iter_chunk_coords(origin, selection_shape)


def iter_shard_coords(
    array: AnyFace, *, origin: Block = None, selection_shape: Block = None
) -> Iterator[tuple[int, ...]]:
    """The coordinates of the stored objects; parameters as :func:`iter_chunk_coords`."""
    return array._iter_shard_coords(origin, selection_shape)


def iter_shard_keys(array: AnyFace, *, origin: Block = None, selection_shape: Block = None) -> Iterator[str]:
    """The keys of the stored objects, below the array; parameters as :func:`iter_chunk_coords`."""
    return array._iter_shard_keys(origin, selection_shape)


def iter_chunk_regions(
    array: AnyFace, *, origin: Block = None, selection_shape: Block = None
) -> Iterator[tuple[slice, ...]]:
    """The parts of the array that chunks hold; parameters as :func:`iter_chunk_coords`."""
    return array._iter_chunk_regions(origin, selection_shape)


def iter_shard_regions(
    array: AnyFace, *, origin: Block = None, selection_shape: Block = None
) -> Iterator[tuple[slice, ...]]:
    """The parts of the array that stored objects hold; parameters as :func:`iter_chunk_coords`."""
    return array._iter_shard_regions(origin, selection_shape)


async def shards_initialized(array: AsyncArray[Any]) -> tuple[str, ...]:
    """The keys, below the array, of the objects with chunks that are stored, in the order of the grid."""
    stored = await array._run(stored_chunks_steps(array._handle))
    return tuple(array.metadata.encode_chunk_key(coords) for coords in sorted(stored))


def chunk_spec(
    metadata: Any,
    chunk_grid: ChunkGrid,
    chunk_coords: tuple[int, ...],
    array_config: ArrayConfig,
    prototype: BufferPrototype,
) -> ArraySpec:
    """What codecs are told of one chunk.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    chunk_grid : ChunkGrid
    chunk_coords : tuple of int
    array_config : ArrayConfig
    prototype : BufferPrototype

    Returns
    -------
    ArraySpec

    Raises
    ------
    ValueError
        There is no such chunk.
    """
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


def parse_chunk_encoding_v2(
    *, compressor: Any, filters: Any, dtype: ZDType[Any, Any]
) -> tuple[tuple[Any, ...] | None, Any]:
    """The filters and the compressor of a format 2 array, of any of their forms."""
    return choose_codecs_v2(dtype, filters, compressor)


def parse_chunk_encoding_v3(
    *, compressors: Any, filters: Any, serializer: Any, dtype: ZDType[Any, Any]
) -> tuple[tuple[ArrayArrayCodec, ...], ArrayBytesCodec, tuple[BytesBytesCodec, ...]]:
    """The filters, the serializer and the compressors of a format 3 array, of any of their forms."""
    found: SortedCodecs = sort_codecs(choose_codecs_v3(dtype, filters, serializer, compressors))
    return found


def default_chunk_key_encoding(data: ChunkKeyEncodingLike | None, zarr_format: ZarrFormat) -> ChunkKeyEncoding:
    """How chunk coordinates become keys, or what is the default of a format."""
    if data is None:
        data = {"name": "v2", "separator": "."} if zarr_format == 2 else {"name": "default", "separator": "/"}
    return parse_chunk_key_encoding(data)


parse_array_metadata = parse_metadata


async def init_array(
    *,
    store_path: StorePath,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    **parameters: Any,
) -> AsyncArray[Any]:
    """Make an array without data.

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
    metadata = new_array_metadata(**parameters)
    steps = init_array_steps(store_path, metadata, overwrite=overwrite, config=config)
    return AsyncArray.from_handle(await async_runner_for(store_path.store).run(steps))


def create_codec_pipeline(metadata: Any, *, store: Store | None = None) -> CodecPipeline:
    """The codec pipeline of an array, by its metadata.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    store : Store, optional
        Only for pipelines that want to know it.

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


__all__ = [
    "cells_outside",
    "chunk_spec",
    "create_codec_pipeline",
    "default_chunk_key_encoding",
    "get_array_metadata",
    "init_array",
    "iter_chunk_coords",
    "iter_chunk_regions",
    "iter_shard_coords",
    "iter_shard_keys",
    "iter_shard_regions",
    "parse_array_metadata",
    "parse_chunk_encoding_v2",
    "parse_chunk_encoding_v3",
    "shards_initialized",
]
