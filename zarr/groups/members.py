"""Find the members of a group, from consolidated metadata or by listing; make consolidated metadata of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeAlias

from zarr.buffer.core import default_buffer_prototype
from zarr.chunks.spec import parse_array_config
from zarr.errors import GroupNotFoundError, NodeNotFoundError, ZarrUserWarning
from zarr.groups.handle import GroupHandle, NodeMetadata, NodeRecord
from zarr.groups.opening import open_group_steps
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.notices import warn, warn_once
from zarr.steps.consolidated import changes_noted, touch
from zarr.steps.documents import ancestors, hold_node, node_key
from zarr.steps.nodes import read_nodes_steps
from zarr.steps.requests import Await, Gather, ListDir, Put, Steps
from zarr.storage.keys import REPAIR_FOLDER
from zarr.storage.path import StorePath
from zarr.types import METADATA_NAMES, ZarrFormat

Lookup: TypeAlias = Callable[[str], Awaitable[Any]]


class Lookups:
    """Where those who replace ``AsyncGroup.getitem``, to watch look-ups or to change them, are asked."""

    replaced: Callable[[GroupHandle], Lookup | None] = staticmethod(lambda handle: None)


READ_AT_ONCE = 4096
"""Of so many members the documents are asked for in one go."""



def fresh_steps(handle: GroupHandle) -> Steps[None]:
    """Read the copy again if it has changed since; a group that is gone by now keeps what it had."""
    if not handle.stale:
        return
    origin = StorePath(handle.store, handle.origin)
    try:
        top = yield from open_group_steps(origin, handle.metadata.zarr_format)
    except NodeNotFoundError:
        return
    metadata: NodeMetadata | None = top.metadata
    if handle.origin != handle.path:
        relative = handle.path[len(handle.origin) :].strip("/")
        metadata = look_up(top.consolidated, relative)
    if isinstance(metadata, GroupMetadata):
        handle.metadata = metadata
    handle.version = top.version


def look_up(consolidated: ConsolidatedMetadata | None, path: str) -> NodeMetadata | None:
    """Find a node in a copy by its relative path."""
    if consolidated is None:
        return None
    node = consolidated.metadata.get(path)
    if node is not None:
        return node
    # A node whose parent cannot be read stands in the copy under its longer path.
    for above in ancestors(path):
        group = consolidated.metadata.get(above) if above else None
        if isinstance(group, GroupMetadata):
            return look_up(group.consolidated_metadata, path[len(above) + 1 :])
    return None


def check_depth(max_depth: int | None) -> None:
    """Refuse a depth that means nothing."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or >= 0. Got '{max_depth}' instead")


def members_steps(
    handle: GroupHandle, max_depth: int | None = 0, use_consolidated_for_children: bool = True
) -> Steps[list[NodeRecord]]:
    """Find the members of a group.

    Parameters
    ----------
    handle : GroupHandle
    max_depth : int or None
        How many levels below the direct members to go into; None for all.
    use_consolidated_for_children : bool
        Whether a member group's own copy of its members' documents is used, where this group has none.

    Returns
    -------
    list of NodeRecord
        Depth first; in the order of the copy, or in the order in which the store lists names: our own stores sort them.
    """
    check_depth(max_depth)
    yield from fresh_steps(handle)
    if handle.consolidated is not None:
        _check_copy(handle.consolidated, handle.store_path, max_depth)
        return list(_copied(handle, "", max_depth))
    found: list[NodeRecord] = []
    level = [NodeRecord("", handle.store_path, handle.metadata, config=handle.config)]
    depth = 0
    while level and (max_depth is None or depth <= max_depth):
        per_group = yield Gather(_listed_steps(group) for group in level)
        level = []
        for record in (record for records in per_group for record in records):
            found.append(record)
            if not isinstance(record.metadata, GroupMetadata):
                continue
            if record.metadata.consolidated_metadata is None:
                level.append(record)
            elif use_consolidated_for_children:
                remaining = None if max_depth is None else max_depth - depth - 1
                _check_copy(record.metadata.consolidated_metadata, record.store_path, remaining)
                found += _copied(record.handle(), f"{record.name}/", remaining)
            else:
                record.metadata = dataclasses.replace(record.metadata, consolidated_metadata=None)
                level.append(record)
        depth += 1
    return _depth_first(found)


def _depth_first(found: list[NodeRecord]) -> list[NodeRecord]:
    """Return the same nodes, each before those below it, siblings in the order in which they were found."""
    place = {record.name: index for index, record in enumerate(found)}

    def places(record: NodeRecord) -> list[int]:
        above = [place[name] for name in ancestors(record.name) if name in place]
        return [*reversed(above), place[record.name]]

    return sorted(found, key=places)


def _check_copy(consolidated: ConsolidatedMetadata, store_path: StorePath, max_depth: int | None) -> None:
    """Refuse a copy in which a member so deep cannot be read."""
    for name, (_, error) in consolidated.unreadable.items():
        if max_depth is None or name.count("/") <= max_depth:
            refuse_unreadable(store_path / name, error)


def _copied(handle: GroupHandle, prefix: str, max_depth: int | None) -> Iterator[NodeRecord]:
    """Return the members that a group's copy lists, depth first."""
    if handle.consolidated is None or (max_depth is not None and max_depth < 0):
        return
    for name, metadata in handle.consolidated.metadata.items():
        record = NodeRecord(f"{prefix}{name}", handle.store_path.child(name), metadata, handle.origin, handle.config)
        yield record
        if isinstance(metadata, GroupMetadata):
            deeper = None if max_depth is None else max_depth - 1
            yield from _copied(record.handle(), f"{prefix}{name}/", deeper)


def _listed_steps(group: NodeRecord) -> Steps[list[NodeRecord]]:
    """Iterate over the direct members of one group: one listing, then the documents of each name."""
    names = yield ListDir(group.store_path.path)
    names = dict.fromkeys(names)
    for name in sorted(METADATA_NAMES & names.keys()):
        if (name == "zarr.json") != (group.metadata.zarr_format == 3):  # of a node of the other format at this place
            warn_unrecognized(group.store_path / name)
    names = [name for name in names if name not in METADATA_NAMES and name != REPAIR_FOLDER]
    prefix = f"{group.name}/" if group.name else ""
    lookup = Lookups.replaced(group.handle())
    if lookup is not None:
        records = yield Gather(_asked_steps(prefix + name, group.store_path / name, lookup) for name in names)
    else:
        records = []
        for first in range(0, len(names), READ_AT_ONCE):
            records += yield from _members_steps(group, prefix, names[first : first + READ_AT_ONCE])
    found = [record for record in records if record is not None]
    for record in found:
        record.config = group.config
    return found


def warn_unrecognized(store_path: StorePath) -> None:
    """Say what in a folder is no member of the group there."""
    warn(f"Object at {store_path.path} is not recognized as a component of a Zarr hierarchy.", ZarrUserWarning)


def refuse_unreadable(store_path: StorePath, error: Exception) -> None:
    """Raise what makes a member unreadable; one whose document lacks members is none, as in zarr-python: it is told.

    All that lists members or looks for one goes by this, lest they disagree.
    """
    if not isinstance(error, KeyError) or isinstance(error, TypeError):
        raise error.with_traceback(None)
    warn(
        f"The node at {store_path.label} cannot be read and is left out: {type(error).__name__}: {error}",
        ZarrUserWarning,
    )


def _members_steps(group: NodeRecord, prefix: str, names: list[str]) -> Steps[list[NodeRecord]]:
    """Return the members of these names, with one notice for each that is none, or cannot be read."""
    places = [group.store_path.child(name) for name in names]
    nodes = yield from read_nodes_steps(places, group.metadata.zarr_format)
    records = []
    for name, place, node in zip(names, places, nodes, strict=True):
        if isinstance(node, NodeNotFoundError):
            warn_unrecognized(place)
        elif isinstance(node, Exception):
            refuse_unreadable(place, node)
        else:
            records.append(NodeRecord(prefix + name, place, node))
    return records


def _asked_steps(name: str, store_path: StorePath, lookup: Lookup) -> Steps[NodeRecord | None]:
    """One member by somebody's own look-up."""
    try:
        node = yield Await(lambda: lookup(name.rpartition("/")[2]))
    except KeyError as error:
        refuse_unreadable(store_path, error)
        return None
    return NodeRecord(name, store_path, node.metadata)


def consolidate_steps(store_path: StorePath, zarr_format: ZarrFormat | None = None) -> Steps[GroupHandle]:
    """Read all nodes below a group and store a copy of their documents with it.

    Parameters
    ----------
    store_path : StorePath
    zarr_format : 2, 3 or None

    Returns
    -------
    GroupHandle

    Raises
    ------
    FileNotFoundError
        If there is no group.
    TypeError
        If the store wants no consolidated metadata.
    """
    if not store_path.store.supports_consolidated_metadata:
        name = type(store_path.store).__name__
        raise TypeError(f"The Zarr Store in use ({name}) doesn't support consolidated metadata.")
    made = yield Gather([_consolidate_locked_steps(store_path, zarr_format)])
    handle, names = made[0]
    touch(handle.store, handle.path)
    if "zarr.json" in names:
        warn_once(
            "Consolidated metadata is currently not part in the Zarr format 3 specification. It may not be supported "
            "by other zarr implementations and may change in the future.",
            ZarrUserWarning,
        )
    return GroupHandle(handle.metadata, store_path)


def _consolidate_locked_steps(
    store_path: StorePath, zarr_format: ZarrFormat | None
) -> Steps[tuple[GroupHandle, list[str]]]:
    """Read and write under one lock: what others record in the copy meanwhile comes after it, and stays."""
    locking = parse_array_config(None).locking
    yield hold_node(store_path.path, locking)
    before = changes_noted()
    made = yield from _store_copy_steps(store_path, zarr_format)
    if locking.startswith("process") or changes_noted() != before:
        # Who changed a node meanwhile may have looked for a copy before there was one; now everybody finds it.
        made = yield from _store_copy_steps(store_path, zarr_format)
    return made


def _store_copy_steps(store_path: StorePath, zarr_format: ZarrFormat | None) -> Steps[tuple[GroupHandle, list[str]]]:
    try:
        handle = yield from open_group_steps(store_path, zarr_format, use_consolidated=False)
    except GroupNotFoundError as error:
        raise FileNotFoundError(f"could not find zarr.json or .zgroup objects in {store_path.label}") from error
    records = yield from members_steps(handle, None, use_consolidated_for_children=False)
    handle.metadata = dataclasses.replace(handle.metadata, consolidated_metadata=nest(records))
    documents = handle.metadata.to_buffer_dict(default_buffer_prototype())
    for name, value in documents.items():
        yield Put(node_key(store_path.path, name), value)
    return handle, list(documents)


def nest(records: Iterable[NodeRecord]) -> ConsolidatedMetadata:
    """Put nodes into one another: each group carries the copy of its own members.

    Parameters
    ----------
    records : iterable of NodeRecord
        Of all nodes below one group.

    Returns
    -------
    ConsolidatedMetadata
    """
    members: dict[str, dict[str, NodeMetadata]] = {"": {}}
    for record in sorted(records, key=lambda record: record.name.count("/"), reverse=True):
        metadata = record.metadata
        parent, _, name = record.name.rpartition("/")
        if isinstance(metadata, GroupMetadata):
            copy = ConsolidatedMetadata(metadata=dict(sorted(members.get(record.name, {}).items())))
            metadata = dataclasses.replace(metadata, consolidated_metadata=copy)
        members.setdefault(parent, {})[name] = metadata
    return ConsolidatedMetadata(metadata=dict(sorted(members[""].items())))
