"""Nodes and hierarchies of a store, as coroutines and as plain functions.

Needed by pydantic-zarr (``zarr.core.sync_group.get_node``); ``zarr.core.group`` offers the coroutines,
``zarr.core.sync_group`` the functions that end with ``_sync``, without that ending.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.errors import NodeNotFoundError
from zarr.groups.async_group import AsyncGroup, wrap_async
from zarr.groups.group import Group, wrap
from zarr.groups.handle import NodeMetadata, NodeRecord, Nodes
from zarr.groups.hierarchy import (
    create_hierarchy_steps,
    create_nodes_steps,
    implicit_groups,
    normalize_nodes,
    root_of,
)
from zarr.runners.choose import async_runner_for, runner_for
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.groups.summary import TreeRepr
    from zarr.types import ZarrFormat


def _node_steps(store: Store, path: str, zarr_format: ZarrFormat) -> Steps[NodeRecord]:
    place = StorePath(store, path)
    try:
        metadata = yield from read_node_steps(place, zarr_format)
    except NodeNotFoundError:
        raise FileNotFoundError(path) from None
    return NodeRecord(place.path, place, metadata)


def _nodes_steps(store: Store, nodes: Nodes) -> Steps[list[NodeRecord]]:
    return create_nodes_steps(StorePath(store), normalize_nodes(nodes, one_format=False))


def _rooted_steps(store: Store, nodes: Nodes, overwrite: bool) -> Steps[NodeRecord]:
    root = root_of(nodes)
    records = yield from create_hierarchy_steps(StorePath(store), nodes, overwrite)
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
    normal = normalize_nodes(data)
    return {**normal, **implicit_groups(normal)}


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
