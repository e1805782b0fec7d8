"""Hierarchies as plain functions, as pydantic-zarr imports them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zarr.abc.store import Store
from zarr.api.opening import create_hierarchy
from zarr.arrays.array import Array
from zarr.core.group import _node_steps, _nodes_steps, _rooted_steps
from zarr.groups.group import Group, wrap
from zarr.groups.handle import Nodes
from zarr.runners.choose import runner_for
from zarr.types import ZarrFormat


def get_node(store: Store, path: str, zarr_format: ZarrFormat) -> Array[Any] | Group:
    """Open the array or group at a path of a store; FileNotFoundError if there is none.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> get_node(root.store, "", 3) == root
    True
    """
    return wrap(runner_for(store).run(_node_steps(store, path, zarr_format)))


def create_nodes(*, store: Store, nodes: Nodes) -> Iterator[tuple[str, Group | Array[Any]]]:
    """Write the metadata documents of many nodes; see ``zarr.core.group.create_nodes``.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> [path for path, node in create_nodes(store=root.store, nodes={"a": root.metadata})]
    ['a']
    """
    return iter([(record.name, wrap(record)) for record in runner_for(store).run(_nodes_steps(store, nodes))])


def create_rooted_hierarchy(*, store: Store, nodes: Nodes, overwrite: bool = False) -> Group | Array[Any]:
    """Create a hierarchy that has a root among its nodes, and return the root.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> create_rooted_hierarchy(store=root.store, nodes={"r": root.metadata, "r/a": root.metadata}).path
    'r'
    """
    return wrap(runner_for(store).run(_rooted_steps(store, nodes, overwrite)))


__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]
