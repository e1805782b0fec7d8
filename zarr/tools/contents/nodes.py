"""Find the nodes of a hierarchy, and visit them in order.

All tools and commands that take a place or a node begin here. Nothing here changes a store.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, Final, TypeAlias

from zarr.abc.store import is_synchronous
from zarr.api.opening import open as open_at
from zarr.api.opening import open_group
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.chunks.spec import parse_array_config
from zarr.groups.async_group import AsyncGroup
from zarr.groups.group import Group
from zarr.groups.handle import NodeRecord
from zarr.groups.members import members_steps, named_steps, names_steps
from zarr.metadata.group import GroupMetadata
from zarr.steps.documents import node_key
from zarr.steps.requests import Gather, Steps, ask_steps
from zarr.storage.keys import ancestors
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.contents.blocks import stream_keys
from zarr.tools.contents.listing import can_list, check_listing
from zarr.types import METADATA_NAMES

Node: TypeAlias = "Array[Any] | Group"

MOST_NAMES: Final = 10
"""The most names in a message."""

AT_ONCE: Final = 256
"""Number of members of a group whose documents are read together."""

AHEAD: Final = 16
"""Number of groups of a service that are listed together, so that a hierarchy of many groups waits less."""


def open_place(place: Any, path: str | None = None, storage_options: dict[str, Any] | None = None) -> StorePath:
    """Return the place of a node, over a read-only store.

    Parameters
    ----------
    place : Array, Group or StoreLike
        A node, or a path, a URL, a store, a mapping.
    path : str, optional
        The path below it.
    storage_options : dict, optional
        Options for URLs of fsspec.

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
    """Open a node for reading, by its own documents: consolidated metadata may be older than these.

    In a store that cannot list, consolidated metadata is used.

    Parameters
    ----------
    place, path, storage_options
        As for :func:`open_place`.

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
    return as_stored(open_at(found, mode="r"))


def as_stored(node: Node) -> Node:
    """Return a group with the members that its store lists; if the store cannot list, with those of the copy.

    Examples
    --------
    >>> import zarr
    >>> as_stored(zarr.group()).metadata.consolidated_metadata is None
    True
    """
    if isinstance(node, Group) and (node.metadata.consolidated_metadata is None or can_list(node.store_path)):
        return open_group(node.store_path, mode="r", zarr_format=node.metadata.zarr_format, use_consolidated=False)
    return node


def walk(node: Node, depth: int | None = None) -> Iterator[tuple[str, Node]]:
    """Yield a node and all nodes below it with their relative paths, in the order of the paths.

    Consolidated metadata of the group is used if it has been opened with it; :func:`open_node` opens groups without.
    Otherwise the names of one folder at a time are in memory, and the metadata of ``AT_ONCE`` of its nodes.

    Parameters
    ----------
    node : Array or Group
    depth : int, optional
        Number of levels below the direct members to include. Default: all.

    Raises
    ------
    ValueError
        If the store cannot list, and there is no consolidated metadata.

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
        handle, config = node._handle, parse_array_config(None)
        if handle.consolidated is not None:
            copied = node._run(members_steps(handle, depth))
            found = iter(sorted(copied, key=lambda record: record.name))
        else:
            check_members(node)
            ahead = 1 if is_synchronous(node.store) else AHEAD
            top = NodeRecord("", handle.store_path, handle.metadata, config=handle.config)
            found = _below(node._run, top, math.inf if depth is None else depth, ahead)
        for record in found:
            yield record.name, node._wrap(record, config)


def check_members(node: Node) -> None:
    """Refuse a group whose members cannot be found.

    Raises
    ------
    ValueError
        If the store cannot list, and there is no consolidated metadata.
    """
    if isinstance(node, Group) and node.metadata.consolidated_metadata is None:
        check_listing(node.store_path)


def arrays_of(node: Node) -> Iterator[tuple[str, Array[Any]]]:
    """Yield the arrays of a hierarchy, with their paths below the node; an empty path for the node itself."""
    return ((name, each) for name, each in walk(node) if isinstance(each, Array))


def refuse_group(node: Node, tool: str) -> Array[Any]:
    """Return a node that is an array.

    Raises
    ------
    ValueError
        If it is a group; the message names the arrays that it has.
    """
    if isinstance(node, Array):
        return node
    names = some_of(sorted(name for name, _ in arrays_of(node)))
    raise ValueError(f"{node.store_path} is a group: {tool} takes one array; it has {names}")


def some_of(names: Iterable[str]) -> str:
    """Return the first names as text, and how many there are more.

    Examples
    --------
    >>> some_of("abc"), some_of(map(str, range(12))), some_of([])
    ('a, b, c', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more', 'none')
    """
    known = list(names)
    more = len(known) - MOST_NAMES
    return (", ".join(known[:MOST_NAMES]) or "none") + (f" and {more} more" if more > 0 else "")


def expected_keys(node: Node) -> Iterator[str]:
    """Yield the keys that a node and the nodes below it may have, for stores that cannot list.

    Examples
    --------
    >>> import zarr
    >>> list(expected_keys(zarr.zeros(4, chunks=2)))
    ['zarr.json', 'c/0', 'c/1']
    """
    for _, each in walk(node):
        kind = ".zarray" if isinstance(each, Array) else ".zgroup"
        names = ["zarr.json"] if each.metadata.zarr_format == 3 else [kind, ".zattrs", ".zmetadata"]
        yield from (node_key(each.path, name) for name in names)
        if isinstance(each, Array):
            layout = each._handle.layout
            yield from map(layout.key, product(*map(range, layout.outer.cdata_shape)))


def foreign_keys(node: Node) -> Iterator[str]:
    """Yield the keys below a node that belong to none of its nodes: files of others, and what no group lists.

    Examples
    --------
    >>> import zarr
    >>> list(foreign_keys(zarr.zeros(4, chunks=2)))
    []
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is no node: the caller gets it
        nodes = {each.path: each for _, each in walk(node)}
    for key in stream_keys(node.store, node.path):
        above, _, name = key.rpartition("/")
        owner = next((nodes[path] for path in ancestors(key) if path in nodes), None)
        is_document = name in METADATA_NAMES and above in nodes
        is_chunk = isinstance(owner, Array) and owner._handle.layout.coords_of(key) is not None
        if not is_document and not is_chunk:
            yield key


Listed: TypeAlias = tuple[list[str], list[NodeRecord]]
"""The sorted names in a group, and the members among the first ``AT_ONCE`` of them."""


def _listed_steps(group: NodeRecord) -> Steps[Listed]:
    names = sorted((yield from names_steps(group)))
    return names, (yield from named_steps(group, names[:AT_ONCE]))


def _below(
    run: Callable[[Steps[Any]], Any], group: NodeRecord, depth: float, ahead: int, listed: Listed | None = None
) -> Iterator[NodeRecord]:
    """Yield the nodes below a group in the order of their paths; up to ``ahead`` groups are listed together."""
    names, records = listed or run(_listed_steps(group))
    waiting: list[NodeRecord] = []
    groups: list[NodeRecord] = []
    known: dict[str, Listed] = {}
    for first in range(0, len(names), AT_ONCE):
        if first:
            records = run(named_steps(group, names[first : first + AT_ONCE]))
        groups = [record for record in records if isinstance(record.metadata, GroupMetadata)]
        for record in records:
            # The path "a-b" comes before "a/x".
            while waiting and f"{waiting[-1].name}/" < record.name:
                yield from _entered(run, waiting.pop(), groups, known, depth, ahead)
            if isinstance(record.metadata, GroupMetadata):
                record.metadata = dataclasses.replace(record.metadata, consolidated_metadata=None)
                if depth > 0:
                    waiting.append(record)
            yield record
    while waiting:
        yield from _entered(run, waiting.pop(), groups, known, depth, ahead)


def _entered(
    run: Callable[[Steps[Any]], Any],
    group: NodeRecord,
    groups: list[NodeRecord],
    known: dict[str, Listed],
    depth: float,
    ahead: int,
) -> Iterator[NodeRecord]:
    """Yield the nodes below a group; list the groups after it, too, which are entered next."""
    if ahead > 1 and group.name not in known and group in groups:
        after = groups[groups.index(group) :]
        some = [each for each in after if each.name not in known][:ahead]
        known.update(zip([each.name for each in some], run(ask_steps(Gather(map(_listed_steps, some)))), strict=True))
    yield from _below(run, group, depth - 1, ahead, known.pop(group.name, None))
