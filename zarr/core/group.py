"""Groups and the creation of hierarchies, under names of zarr-python 3."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store
from zarr.api.asynchronous import create_hierarchy
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.core import borrowed_names
from zarr.errors import MetadataValidationError, NodeNotFoundError
from zarr.groups import hierarchy
from zarr.groups.async_group import AsyncGroup, wrap_async
from zarr.groups.group import Group
from zarr.groups.handle import NodeMetadata, NodeRecord, Nodes
from zarr.groups.hierarchy import ImplicitGroupMarker as ImplicitGroupMarker
from zarr.metadata.fields import parse_attributes as parse_attributes
from zarr.metadata.group import *
from zarr.metadata.group import GroupMetadata, parse_node_type
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.choose import async_runner_for
from zarr.steps.consolidated import settle
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import Steps
from zarr.storage import StoreLike as StoreLike
from zarr.storage import StorePath as StorePath
from zarr.storage.resolve import make_store_path as make_store_path
from zarr.types import ZarrFormat

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)


async def _getitem_semaphore(
    node: AsyncGroup, key: str, semaphore: AbstractAsyncContextManager[Any] | None
) -> AsyncArray[Any] | AsyncGroup:
    """Return a member of a group, and wait for the semaphore before, if there is one."""
    async with semaphore or nullcontext():
        return await node.getitem(key)


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


def _parse_hierarchy_dict(*, data: Nodes) -> dict[str, NodeMetadata]:
    """Return all nodes of a hierarchy by normalized paths, with the implicit groups above them."""
    normal = hierarchy.normalize_nodes(data)
    return {**normal, **hierarchy.implicit_groups(normal)}


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
