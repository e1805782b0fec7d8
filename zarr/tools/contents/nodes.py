"""How the tools find the nodes of a hierarchy, and in which order they go through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from zarr.api.opening import open as open_at
from zarr.api.opening import open_group
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.groups.async_group import AsyncGroup
from zarr.groups.group import Group
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path

Node: TypeAlias = "Array[Any] | Group"


def open_place(place: Any, path: str | None = None, storage_options: dict[str, Any] | None = None) -> StorePath:
    """Return where a node lies, over a store that this tool cannot write to.

    Parameters
    ----------
    place : Array, Group or StoreLike
        A node, or a path, a URL, a store, a mapping.
    path : str, optional
        Below it.
    storage_options : dict, optional
        For URLs of fsspec.

    Examples
    --------
    >>> import zarr
    >>> open_place(zarr.group().store, "a/b").path
    'a/b'
    """
    if isinstance(place, Array | Group | AsyncArray | AsyncGroup):
        place = place.store_path
    return resolve_store_path(place, path=path or "", mode="r", storage_options=storage_options)


def open_node(place: Any, path: str | None = None, storage_options: dict[str, Any] | None = None) -> Node:
    """Open a node to read, by its own documents: consolidated metadata may be older than these.

    Parameters
    ----------
    place, path, storage_options
        See :func:`open_place`.

    Returns
    -------
    Array or Group

    Raises
    ------
    FileNotFoundError
        If there is no node.

    Examples
    --------
    >>> import zarr
    >>> open_node(zarr.ones(3)).shape
    (3,)
    """
    if isinstance(place, Array) and not path:
        return place
    found = open_place(place, path, storage_options)
    node = open_at(found, mode="r")
    if isinstance(node, Group):
        return open_group(found, mode="r", zarr_format=node.metadata.zarr_format, use_consolidated=False)
    return node


def walk(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield a node and all nodes below it with their relative paths, in the order of these.

    Examples
    --------
    >>> import zarr
    >>> group = zarr.group()
    >>> made = group.create_group("b"), group.create_array("a", shape=1, dtype="i1")
    >>> [path for path, _ in walk(group)]
    ['', 'a', 'b']
    """
    yield "", node
    if isinstance(node, Group):
        yield from sorted(node.members(max_depth=None, use_consolidated_for_children=False), key=lambda each: each[0])
