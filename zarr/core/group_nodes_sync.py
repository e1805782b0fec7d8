"""Nodes and hierarchies, under the names of zarr-python's ``zarr.core.sync_group``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zarr.api.synchronous import create_hierarchy
from zarr.arrays.array import Array
from zarr.core.group_nodes import node_at_steps, rooted_steps
from zarr.groups.create.hierarchy import create_nodes_steps, normalize_nodes
from zarr.groups.group import Group, wrap
from zarr.groups.handle import Nodes
from zarr.runners.choose import runner_for
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.types import ZarrFormat


def get_node(store: Store, path: str, zarr_format: ZarrFormat) -> Array[Any] | Group:
    """Open the array or group at a path of a store.

    Parameters
    ----------
    store : Store
    path : str
    zarr_format : 2 or 3

    Returns
    -------
    Array or Group

    Raises
    ------
    FileNotFoundError
        If there is none.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> get_node(root.store, "", 3) == root
    True
    """
    return wrap(runner_for(store).run(node_at_steps(store, path, zarr_format)))


def create_nodes(*, store: Store, nodes: Nodes) -> Iterator[tuple[str, Group | Array[Any]]]:
    """Write the documents of many nodes, without looking at what is there.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata

    Returns
    -------
    iterator of (path, Array or Group)

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> [path for path, node in create_nodes(store=root.store, nodes={"a": root.metadata})]
    ['a']
    """
    records = runner_for(store).run(create_nodes_steps(StorePath(store), normalize_nodes(nodes, one_format=False)))
    return iter([(record.name, wrap(record)) for record in records])


def create_rooted_hierarchy(*, store: Store, nodes: Nodes, overwrite: bool = False) -> Group | Array[Any]:
    """Make a hierarchy that has a root among its nodes, and return the root.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata
    overwrite : bool

    Returns
    -------
    Array or Group

    Raises
    ------
    ValueError
        If no node is above all others.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> create_rooted_hierarchy(store=root.store, nodes={"r": root.metadata, "r/a": root.metadata}).path
    'r'
    """
    return wrap(runner_for(store).run(rooted_steps(store, nodes, overwrite)))


__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]
