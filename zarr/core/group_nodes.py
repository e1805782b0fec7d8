"""Nodes and hierarchies by coroutines, under the names of zarr-python's ``zarr.core.group``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from zarr.api.asynchronous import create_hierarchy
from zarr.arrays.async_array import AsyncArray
from zarr.errors import NodeNotFoundError
from zarr.groups.async_group import AsyncGroup, wrap_async
from zarr.groups.create.hierarchy import (
    create_hierarchy_steps,
    create_nodes_steps,
    implicit_groups,
    normalize_nodes,
    root_of,
)
from zarr.groups.handle import NodeMetadata, NodeRecord, Nodes
from zarr.runners.choose import async_runner_for
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.types import ZarrFormat


def node_at_steps(store: Store, path: str, zarr_format: ZarrFormat) -> Steps[NodeRecord]:
    """Read the node at a path of a store.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    place = StorePath(store, path)
    try:
        metadata = yield from read_node_steps(place, zarr_format)
    except NodeNotFoundError:
        raise FileNotFoundError(path) from None
    return NodeRecord(place.path, place, metadata)


def rooted_steps(store: Store, nodes: Nodes, overwrite: bool) -> Steps[NodeRecord]:
    """Make a hierarchy that has a root among its nodes, and return the root."""
    root = root_of(nodes)
    records = yield from create_hierarchy_steps(StorePath(store), nodes, overwrite)
    found: NodeRecord = next(record for record in records if record.store_path.path == root)
    return found


async def get_node(store: Store, path: str, zarr_format: ZarrFormat) -> AsyncArray[Any] | AsyncGroup:
    """Open the array or group at a path of a store.

    Parameters
    ----------
    store : Store
    path : str
    zarr_format : 2 or 3

    Returns
    -------
    AsyncArray or AsyncGroup

    Raises
    ------
    FileNotFoundError
        If there is none.

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> root = zarr.group()
    >>> asyncio.run(get_node(root.store, "", 3)).path
    ''
    """
    return wrap_async(await async_runner_for(store).run(node_at_steps(store, path, zarr_format)))


async def create_nodes(*, store: Store, nodes: Nodes) -> AsyncIterator[tuple[str, AsyncGroup | AsyncArray[Any]]]:
    """Write the documents of many nodes, without looking at what is there.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata

    Yields
    ------
    (path, AsyncArray or AsyncGroup)

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> root = zarr.group()
    >>> async def paths():
    ...     return [path async for path, node in create_nodes(store=root.store, nodes={"a": root.metadata})]
    >>> asyncio.run(paths())
    ['a']
    """
    steps = create_nodes_steps(StorePath(store), normalize_nodes(nodes, one_format=False))
    for record in await async_runner_for(store).run(steps):
        yield record.name, wrap_async(record)


async def create_rooted_hierarchy(
    *, store: Store, nodes: Nodes, overwrite: bool = False
) -> AsyncGroup | AsyncArray[Any]:
    """Make a hierarchy that has a root among its nodes, and return the root.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata
    overwrite : bool

    Returns
    -------
    AsyncArray or AsyncGroup

    Raises
    ------
    ValueError
        If no node is above all others.

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> root = zarr.group()
    >>> nodes = {"r": root.metadata, "r/a": root.metadata}
    >>> asyncio.run(create_rooted_hierarchy(store=root.store, nodes=nodes)).path
    'r'
    """
    return wrap_async(await async_runner_for(store).run(rooted_steps(store, nodes, overwrite)))


__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]


def _parse_hierarchy_dict(*, data: Nodes) -> dict[str, NodeMetadata]:
    """All nodes of a hierarchy by normal paths, with the groups that they need above them."""
    normal = normalize_nodes(data)
    return {**normal, **implicit_groups(normal)}
