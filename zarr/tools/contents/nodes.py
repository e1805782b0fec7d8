"""Find the nodes of a hierarchy and visit them in order; find its keys, also in stores that do not list them.

All tools and commands that take a place or a node begin here. Nothing here changes a store.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import Any, Final, TypeAlias, cast

from zarr.abc.store import Store, is_synchronous
from zarr.api.opening import open as open_at
from zarr.api.opening import open_group
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.chunks.spec import parse_array_config
from zarr.errors import label_of
from zarr.groups.async_group import AsyncGroup
from zarr.groups.group import Group
from zarr.groups.handle import NodeRecord
from zarr.groups.members import members_steps, named_steps, names_steps
from zarr.metadata.group import GroupMetadata
from zarr.runners.choose import runner_for
from zarr.runners.sync import sync
from zarr.steps.documents import node_key
from zarr.steps.requests import Gather, Size, Steps, ask_steps
from zarr.storage.keys import ancestors
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.types import METADATA_NAMES

Node: TypeAlias = "Array[Any] | Group"

MOST_NAMES: Final = 10
"""The most names in a message."""

AT_ONCE: Final = 256
"""Number of members of a group whose documents are read together."""

AHEAD: Final = 16
"""Number of groups of a service that are listed together, so that a hierarchy of many groups waits less."""

SIZES_AT_ONCE: Final = 1000
"""Number of values whose sizes are requested together."""

_KEYS_AT_ONCE: Final = 4096

_HELD: Final = ("_store", "store", "fs", "sync_fs")
"""Attributes in which wrappers, stores and file systems keep the object below them."""


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
    if isinstance(node, Group) and node.metadata.consolidated_metadata is None and not can_list(node.store_path):
        raise ValueError(
            f"{label_of(node.store)!r} cannot list its keys, and the group /{node.path} has no consolidated "
            "metadata: its members cannot be found. Name an array, or consolidate the metadata where it is written"
        )


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


# --------------------------------------------------------------------------------------------------- keys


def can_list(place: StorePath) -> bool:
    """Return True if a store lists what is at a place; a web server is asked for a listing of its documents.

    Examples
    --------
    >>> import zarr
    >>> can_list(zarr.group().store_path)
    True
    """
    if not place.store.supports_listing:
        return False
    return not is_web(place.store) or sync(_lists_documents(place))


def stream_keys(store: Store, path: str) -> Iterator[str]:
    """Yield the keys below a path one by one, so that a listing of any length takes no memory.

    The answer to a request ``List`` is a list; so this is the only place where a store is called without its runner.

    Parameters
    ----------
    store : Store
    path : str

    Examples
    --------
    >>> import zarr
    >>> list(stream_keys(zarr.group(path="a").store, "a"))
    ['a/zarr.json']
    """
    prefix, asked = f"{path}/" if path else "", cast("Any", store)
    if is_synchronous(store):
        yield from asked.list_prefix_sync(prefix) if prefix else asked.list_sync()
        return
    found = asked.list_prefix(prefix) if prefix else asked.list()
    while batch := sync(_next_keys(found)):
        yield from batch


async def _next_keys(found: Any) -> list[str]:
    batch: list[str] = []
    async for key in found:
        batch.append(key)
        if len(batch) == _KEYS_AT_ONCE:
            break
    return batch


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


def keys_of(node: Node) -> Iterator[str]:
    """Yield the keys of a node and all below it; those that there may be, if the store cannot list."""
    return stream_keys(node.store, node.path) if can_list(node.store_path) else expected_keys(node)


def sizes_of(store: Store, keys: Iterator[str]) -> Iterator[tuple[str, int]]:
    """Yield the keys that have values, with the sizes of these; some are requested together."""
    runner = runner_for(store)
    while some := list(islice(keys, SIZES_AT_ONCE)):
        sizes = runner.run(ask_steps(Gather([ask_steps(Size(key)) for key in some], only_requests=True)))
        yield from ((key, size) for key, size in zip(some, sizes, strict=True) if size is not None)


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


def is_web(held: Any) -> bool:
    """Return True if a store, or what it wraps, reads a web server: its listings may lack something."""
    protocol = getattr(held, "protocol", ())
    if type(held).__name__ == "HTTPStore" or "http" in ((protocol,) if isinstance(protocol, str) else protocol):
        return True
    inner = next((vars(held)[name] for name in _HELD if name in getattr(held, "__dict__", ())), None)
    return inner is not None and is_web(inner)


async def _lists_documents(place: StorePath) -> bool:
    try:
        names = {name async for name in place.store.list_dir(place.path)}
    except Exception:  # any error of a server and its client about a request that they do not support
        return False
    exist = await asyncio.gather(*((place / name).exists() for name in sorted(METADATA_NAMES)))
    documents = {name for name, there in zip(sorted(METADATA_NAMES), exist, strict=True) if there}
    return bool(names) and documents <= names
