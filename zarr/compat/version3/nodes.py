"""Arrays, groups and hierarchies as functions of zarr-python 3, under its names.

Needed by tifffile and cubed (regions and keys of chunks), icechunk and virtualizarr (specs, codecs), and pydantic-zarr
(``zarr.core.sync_group.get_node``). ``zarr.core.array`` and ``zarr.core.group`` offer all of it,
``zarr.core.sync_group`` the functions that end in ``_sync``, without that ending.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, CodecPipeline
from zarr.abc.store import Store
from zarr.api.asynchronous import create_array, create_hierarchy, from_array, get_array_metadata
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.change import stored_chunks_steps
from zarr.arrays.create import steps as creation
from zarr.arrays.create.codecs import choose_codecs_v2, choose_codecs_v3
from zarr.arrays.create.version2 import like_parameters
from zarr.arrays.handle import parse_metadata as parse_array_metadata
from zarr.arrays.methods.properties import ArrayFace
from zarr.buffer.core import BufferPrototype
from zarr.chunks import ChunkGrid
from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike, parse_chunk_key_encoding
from zarr.chunks.rectilinear import MAX_EDGES_PER_AXIS
from zarr.chunks.shapes import cells_outside as _iter_chunk_coords_to_delete
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, ArraySpec
from zarr.codecs.base.order import SortedCodecs, sort_codecs
from zarr.dtype import ZDType
from zarr.errors import MetadataValidationError, NodeNotFoundError
from zarr.groups import hierarchy
from zarr.groups.async_group import AsyncGroup, wrap_async
from zarr.groups.group import Group, wrap
from zarr.groups.handle import NodeMetadata, NodeRecord, Nodes
from zarr.groups.summary import TreeRepr
from zarr.metadata.group import GroupMetadata, parse_node_type
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.choose import async_runner_for, runner_for
from zarr.steps.consolidated import settle
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import Steps
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.types import ZarrFormat

# An array, the first chunk of a block (``origin``) and its number of chunks along each axis (``selection_shape``).
_iter_chunk_coords = ArrayFace._iter_chunk_coords
_iter_shard_coords = ArrayFace._iter_shard_coords
_iter_shard_keys = ArrayFace._iter_shard_keys
_iter_chunk_regions = ArrayFace._iter_chunk_regions
_iter_shard_regions = ArrayFace._iter_shard_regions


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


async def _getitem_semaphore(
    node: AsyncGroup, key: str, semaphore: AbstractAsyncContextManager[Any] | None
) -> AsyncArray[Any] | AsyncGroup:
    """Return a member of a group, and wait for the semaphore before, if there is one."""
    async with semaphore or nullcontext():
        return await node.getitem(key)


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


def expand_rle(data: Sequence[object], axis: int | None = None) -> list[int]:
    """Expand run-length encoded chunk lengths: integers, and pairs ``[length, count]``.

    Parameters
    ----------
    data : sequence
    axis : int, optional
        The dimension, for messages.

    Returns
    -------
    list of int

    Raises
    ------
    TypeError, ValueError
        If an entry is something else, a length or a count is smaller than 1, or there are more than 2**24 chunks.

    Examples
    --------
    >>> expand_rle([[2, 3], 1])
    [2, 2, 2, 1]
    """
    place = "" if axis is None else f"Dimension {axis}: "
    edge = "Chunk edge length" if axis is None else "chunk edge length"
    lengths: list[int] = []
    for entry in data:
        pair = entry if isinstance(entry, list | tuple) else (entry, 1)
        if len(pair) != 2:
            raise ValueError(f"{place}RLE entries must be an integer or [size, count], got {list(pair)}")
        size, count = pair
        length, times = _positive(size, place + edge), _positive(count, f"{place}RLE repeat count")
        if len(lengths) + times > MAX_EDGES_PER_AXIS:
            raise ValueError(f"{place}{len(lengths) + times} chunks are more than the limit of {MAX_EDGES_PER_AXIS}")
        lengths.extend([length] * times)
    return lengths


def _positive(value: object, what: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, got {value!r}")
    if value < 1:
        raise ValueError(f"{what} must be >= 1, got {value}")
    return int(value)


def _node_steps(store: Store, path: str, zarr_format: ZarrFormat) -> Steps[NodeRecord]:
    place = StorePath(store, path)
    settle(store)
    try:
        metadata = yield from read_node_steps(place, zarr_format)
    except NodeNotFoundError:
        raise FileNotFoundError(path) from None
    return NodeRecord(place.path, place, metadata)


def _nodes_steps(store: Store, nodes: Nodes) -> Steps[list[NodeRecord]]:
    return hierarchy.create_nodes_steps(StorePath(store), hierarchy.normalize_nodes(nodes, one_format=False))


def _rooted_steps(store: Store, nodes: Nodes, overwrite: bool) -> Steps[NodeRecord]:
    root = hierarchy.root_of(nodes)
    records = yield from hierarchy.create_hierarchy_steps(StorePath(store), nodes, overwrite)
    found: NodeRecord = next(record for record in records if record.store_path.path == root)
    return found


async def get_node(store: Store, path: str, zarr_format: ZarrFormat) -> AsyncArray[Any] | AsyncGroup:
    """Open the array or group at a path of a store; FileNotFoundError if there is none.

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> asyncio.run(get_node(zarr.group().store, "", 3)).path
    ''
    """
    return wrap_async(await async_runner_for(store).run(_node_steps(store, path, zarr_format)))


def get_node_sync(store: Store, path: str, zarr_format: ZarrFormat) -> Array[Any] | Group:
    """Open the array or group at a path of a store; FileNotFoundError if there is none.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> get_node_sync(root.store, "", 3) == root
    True
    """
    return wrap(runner_for(store).run(_node_steps(store, path, zarr_format)))


async def create_nodes(*, store: Store, nodes: Nodes) -> AsyncIterator[tuple[str, AsyncGroup | AsyncArray[Any]]]:
    """Write the metadata documents of many nodes, without reading what is stored there.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata

    Yields
    ------
    (path, AsyncArray or AsyncGroup)
    """
    for record in await async_runner_for(store).run(_nodes_steps(store, nodes)):
        yield record.name, wrap_async(record)


def create_nodes_sync(*, store: Store, nodes: Nodes) -> Iterator[tuple[str, Group | Array[Any]]]:
    """Write the metadata documents of many nodes; see `create_nodes`.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> [path for path, node in create_nodes_sync(store=root.store, nodes={"a": root.metadata})]
    ['a']
    """
    return iter([(record.name, wrap(record)) for record in runner_for(store).run(_nodes_steps(store, nodes))])


async def create_rooted_hierarchy(
    *, store: Store, nodes: Nodes, overwrite: bool = False
) -> AsyncGroup | AsyncArray[Any]:
    """Create a hierarchy that has a root among its nodes, and return the root.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata
    overwrite : bool

    Raises
    ------
    ValueError
        If no node is above all others.
    """
    return wrap_async(await async_runner_for(store).run(_rooted_steps(store, nodes, overwrite)))


def create_rooted_hierarchy_sync(*, store: Store, nodes: Nodes, overwrite: bool = False) -> Group | Array[Any]:
    """Create a hierarchy that has a root among its nodes, and return the root; see `create_rooted_hierarchy`.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> create_rooted_hierarchy_sync(store=root.store, nodes={"r": root.metadata, "r/a": root.metadata}).path
    'r'
    """
    return wrap(runner_for(store).run(_rooted_steps(store, nodes, overwrite)))


def _parse_hierarchy_dict(*, data: Nodes) -> dict[str, NodeMetadata]:
    """Return all nodes of a hierarchy by normalized paths, with the implicit groups above them."""
    normal = hierarchy.normalize_nodes(data)
    return {**normal, **hierarchy.implicit_groups(normal)}


async def group_tree_async(
    group: AsyncGroup, max_depth: int | None = None, *, max_nodes: int = 500, plain: bool = False
) -> TreeRepr:
    """Draw the hierarchy below a group; the same as ``AsyncGroup.tree``.

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> asyncio.run(group_tree_async(zarr.group()._async_group))
    /
    <BLANKLINE>
    """
    return await group.tree(level=max_depth, max_nodes=max_nodes, plain=plain)


def _get_roots(data: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of a hierarchy that lie above all others: those of the fewest names.

    Parameters
    ----------
    data : iterable of str
        Paths without slashes at the ends; ``""`` is the root.

    Examples
    --------
    >>> _get_roots(["a", "b", "a/x"]), _get_roots(["a", ""])
    (('a', 'b'), ('',))
    """
    depths = {path: path.count("/") + 1 if path else 0 for path in data}
    least = min(depths.values(), default=0)
    return tuple(path for path, depth in depths.items() if depth == least)


def _build_metadata_v3(zarr_json: dict[str, Any]) -> ArrayV3Metadata | GroupMetadata:
    """Return the metadata of a document of format 3.

    Parameters
    ----------
    zarr_json : dict
        The document.

    Raises
    ------
    MetadataValidationError
        If ``node_type`` is missing, or is no kind of node.

    Examples
    --------
    >>> _build_metadata_v3({"zarr_format": 3, "node_type": "group"}).node_type
    'group'
    """
    if "node_type" not in zarr_json:
        raise MetadataValidationError("Required key 'node_type' is missing from the provided metadata document.")
    if parse_node_type(zarr_json["node_type"]) == "array":
        return ArrayV3Metadata.from_dict(zarr_json)
    return GroupMetadata.from_dict(zarr_json)


__all__ = [
    "Array", "AsyncArray", "AsyncGroup", "Group", "_build_metadata_v3", "_get_chunk_spec", "_get_roots",
    "_getitem_semaphore",
    "_iter_chunk_coords",
    "_iter_chunk_coords_to_delete", "_iter_chunk_regions", "_iter_shard_coords", "_iter_shard_keys",
    "_iter_shard_regions", "_parse_chunk_encoding_v2", "_parse_chunk_encoding_v3", "_parse_chunk_key_encoding",
    "_parse_hierarchy_dict", "_shards_initialized", "create_array", "create_codec_pipeline", "create_hierarchy",
    "create_nodes", "create_rooted_hierarchy", "from_array", "get_array_metadata", "get_node", "init_array",
    "parse_array_metadata",
]
