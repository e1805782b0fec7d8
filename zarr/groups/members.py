"""Find the members of a group, from consolidated metadata or by a listing; make consolidated metadata of them."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from zarr.buffer.core import default_buffer_prototype
from zarr.chunks.spec import parse_array_config
from zarr.errors import GroupNotFoundError, MetadataValidationError, NodeNotFoundError, ZarrUserWarning
from zarr.groups.handle import GroupHandle, NodeMetadata, NodeRecord
from zarr.groups.opening import open_group_steps
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata, nest
from zarr.notices import warn, warn_once
from zarr.steps.consolidated import changes_noted, settle, touch
from zarr.steps.documents import V2_NAMES, V3_NAMES, blame_copy, hold_node, node_key
from zarr.steps.nodes import put_documents_steps, read_nodes_steps
from zarr.steps.requests import Await, Delete, Gather, ListDir, Steps, compared_steps
from zarr.storage.keys import TOOL_PREFIX, ancestors
from zarr.storage.path import StorePath
from zarr.types import METADATA_NAMES, ZarrFormat

Lookup: TypeAlias = Callable[[str], Awaitable[Any]]


class Lookups:
    """The hook for programs that replace ``AsyncGroup.getitem``, to watch look-ups or to change them."""

    replaced: Callable[[GroupHandle], Lookup | None] = staticmethod(lambda handle: None)


READ_AT_ONCE = 4096
"""Number of members whose documents are requested together."""

AT_ONCE = 64
"""Number of groups that are listed together if only some members are needed."""


def fresh_steps(handle: GroupHandle) -> Steps[None]:
    """Read consolidated metadata again if it has changed; if the group is gone, keep the old one."""
    if handle.consolidated is not None:
        settle(handle.store)
    if not handle.stale:
        return
    origin, stored = StorePath(handle.store, handle.origin), handle.stored
    try:
        top = yield from open_group_steps(origin, handle.metadata.zarr_format, again=True)
    except NodeNotFoundError:
        return
    metadata: NodeMetadata | None = top.metadata
    if handle.origin != handle.path:
        relative = handle.path[len(handle.origin) :].strip("/")
        metadata = look_up(top.consolidated, relative)
    if isinstance(metadata, GroupMetadata):
        handle.show_read(metadata, stored)
    else:
        metadata = handle.metadata
    handle.read = metadata.consolidated_metadata, top.version_of(top.consolidated)


def forget_member(handle: GroupHandle, path: str, noted: Mapping[str, tuple[int, int]]) -> None:
    """Take a removed node, and all below it, out of what a handle has of the copy.

    Parameters
    ----------
    handle : GroupHandle
        One that was up to date before stays so; another one is read anew when its members are looked up.
    path : str
        Of the node that was removed.
    noted : mapping
        What :func:`zarr.steps.consolidated.record_changes_steps` returned.
    """
    copy = handle.consolidated
    if copy is None or copy.unreadable:
        return
    inside = path.startswith(f"{handle.path}/") if handle.path else bool(path)
    less = copy.with_member(path[len(handle.path) :].strip("/"), None) if inside else copy
    if less is None:
        return
    read_at = handle.version_of(copy)
    before, after = noted.get(handle.origin, (-1, -1))
    handle.show_copy(less)
    handle.read = less, after if read_at == before else read_at


def look_up(consolidated: ConsolidatedMetadata | None, path: str) -> NodeMetadata | None:
    """Find a node in consolidated metadata by its relative path."""
    if consolidated is None:
        return None
    node = consolidated.metadata.get(path)
    if node is not None:
        return node
    # A node whose parent cannot be read stands in consolidated metadata under its longer path.
    for above in ancestors(path):
        group = consolidated.metadata.get(above) if above else None
        if isinstance(group, GroupMetadata):
            return look_up(group.consolidated_metadata, path[len(above) + 1 :])
    return None


def check_depth(max_depth: int | None) -> None:
    """Refuse a depth that is no depth."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or >= 0. Got '{max_depth}' instead")


def members_steps(
    handle: GroupHandle,
    max_depth: int | None = 0,
    use_consolidated_for_children: bool = True,
    most: float = math.inf,
) -> Steps[list[NodeRecord]]:
    """Find the members of a group.

    Parameters
    ----------
    handle : GroupHandle
    max_depth : int or None
        Number of levels below the direct members to include; None for all.
    use_consolidated_for_children : bool
        If True, use a member group's own consolidated metadata where this group has none.
    most : int, optional
        After so many members on the upper levels, no more documents are read: some nodes may be missing.

    Returns
    -------
    list of NodeRecord
        Depth first; in the order of consolidated metadata, or of the listing of the store: our own stores sort names.
    """
    check_depth(max_depth)
    yield from fresh_steps(handle)
    if handle.consolidated is not None:
        _check_copy(handle, handle.consolidated, max_depth)
        return list(_copied(handle, "", max_depth))
    found: list[NodeRecord] = []
    level = [NodeRecord("", handle.store_path, handle.metadata, config=handle.config)]
    depth = 0
    while level and (max_depth is None or depth <= max_depth):
        groups, level = iter(level), []
        while len(found) < most and (some := list(islice(groups, None if most == math.inf else AT_ONCE))):
            per_group = yield Gather(_listed_steps(group, most) for group in some)
            for record in (record for records in per_group for record in records):
                found.append(record)
                if not isinstance(record.metadata, GroupMetadata):
                    continue
                if record.metadata.consolidated_metadata is None:
                    level.append(record)
                elif use_consolidated_for_children:
                    remaining = None if max_depth is None else max_depth - depth - 1
                    member = record.handle()
                    _check_copy(member, record.metadata.consolidated_metadata, remaining)
                    found += _copied(member, f"{record.name}/", remaining)
                else:
                    record.metadata = record.metadata.replaced(consolidated_metadata=None)
                    level.append(record)
        depth += 1
    return found if depth == 1 else _depth_first(found)


def _depth_first(found: list[NodeRecord]) -> list[NodeRecord]:
    """Return the same nodes, each before those below it, siblings in the order of the list."""
    place = {record.name: index for index, record in enumerate(found)}

    def places(record: NodeRecord) -> list[int]:
        above = [place[name] for name in ancestors(record.name) if name in place]
        return [*reversed(above), place[record.name]]

    return sorted(found, key=places)


def _check_copy(handle: GroupHandle, copy: ConsolidatedMetadata, max_depth: int | None) -> None:
    """Refuse consolidated metadata in which a member of such a depth cannot be read."""
    for name in copy.unreadable:
        if max_depth is None or name.count("/") <= max_depth:
            refuse_unreadable(handle.store_path / name, unreadable_error(handle, copy, name))


def unreadable_error(handle: GroupHandle, copy: ConsolidatedMetadata, name: str) -> Exception:
    """Return the error of a member that cannot be read in the consolidated metadata of a group."""
    _, error = copy.unreadable[name]
    if isinstance(error, MetadataValidationError):  # what is not installed, such as a codec, the node itself needs, too
        blame_copy(error, StorePath(handle.store, handle.origin))
    return error


def _copied(handle: GroupHandle, prefix: str, max_depth: int | None) -> Iterator[NodeRecord]:
    """Return the members that consolidated metadata lists, depth first."""
    copy = handle.consolidated
    if copy is None or (max_depth is not None and max_depth < 0):
        return
    shared = handle.origin, handle.config, handle.version_of(copy)
    for name, metadata in copy.metadata.items():
        record = NodeRecord(f"{prefix}{name}", handle.store_path.child(name), metadata, *shared)
        yield record
        if isinstance(metadata, GroupMetadata):
            deeper = None if max_depth is None else max_depth - 1
            yield from _copied(record.handle(), f"{prefix}{name}/", deeper)


def _listed_steps(group: NodeRecord, most: float) -> Steps[list[NodeRecord]]:
    """Find the direct members of one group, or ``most`` of them: one listing, then the documents of each name."""
    names = yield from names_steps(group)
    return (yield from named_steps(group, names, most))


def names_steps(group: NodeRecord) -> Steps[list[str]]:
    """List the names in one group that may be members."""
    store = group.store_path.store
    if not store.supports_listing:
        raise ValueError(
            f"the store of the group {group.store_path.label} ({type(store).__name__}) does not support listing: its "
            "members can only be opened by their names"
        )
    listed = yield ListDir(group.store_path.path)
    names = dict.fromkeys(listed)
    for name in sorted(METADATA_NAMES & names.keys()):
        if (name == "zarr.json") != (group.metadata.zarr_format == 3):  # of the other format
            warn_unrecognized(group.store_path / name)
    return [name for name in names if name not in METADATA_NAMES and not name.startswith(TOOL_PREFIX)]


def named_steps(group: NodeRecord, names: list[str], most: float = math.inf) -> Steps[list[NodeRecord]]:
    """Read the documents of those names that are members of one group, or at least ``most`` of them."""
    prefix = f"{group.name}/" if group.name else ""
    lookup = Lookups.replaced(group.handle())
    if lookup is not None:
        records = yield Gather(_asked_steps(prefix + name, group.store_path / name, lookup) for name in names)
    else:
        records = []
        left, at_once = iter(names), int(min(most, READ_AT_ONCE))
        while len(records) < most and (some := list(islice(left, at_once))):
            records += yield from _members_steps(group, prefix, some)
    found = [record for record in records if record is not None]
    for record in found:
        record.config = group.config
    return found


def warn_unrecognized(store_path: StorePath) -> None:
    """Warn about something in a folder that is no member of the group."""
    warn(f"Object at {store_path.path} is not recognized as a component of a Zarr hierarchy.", ZarrUserWarning)


def refuse_unreadable(store_path: StorePath, error: Exception) -> None:
    """Raise the error that makes a member unreadable; as in zarr-python, a document that lacks members gives a warning.

    Listings and look-ups both use this function, so that they agree.
    """
    if not isinstance(error, KeyError) or isinstance(error, TypeError):
        raise error.with_traceback(None)
    warn(
        f"Object at {store_path.label} cannot be read and is left out: {type(error).__name__}: {error}",
        ZarrUserWarning,
    )


def _members_steps(group: NodeRecord, prefix: str, names: list[str]) -> Steps[list[NodeRecord]]:
    """Return the members of these names, with one warning for each name that is no member or cannot be read."""
    places = [group.store_path.child(name) for name in names]
    nodes = yield from read_nodes_steps(places, group.metadata.zarr_format)
    records = []
    for name, place, node in zip(names, places, nodes, strict=True):
        if isinstance(node, NodeNotFoundError) and not isinstance(node, MetadataValidationError):
            warn_unrecognized(place)
        elif isinstance(node, Exception):
            refuse_unreadable(place, node)
        else:
            records.append(NodeRecord(prefix + name, place, node))
    return records


def _asked_steps(name: str, store_path: StorePath, lookup: Lookup) -> Steps[NodeRecord | None]:
    """Find one member by the look-up of a subclass or program."""
    try:
        node = yield Await(lambda: lookup(name.rpartition("/")[2]))
    except KeyError as error:
        refuse_unreadable(store_path, error)
        return None
    return NodeRecord(name, store_path, node.metadata)


def consolidate_steps(store_path: StorePath, zarr_format: ZarrFormat | None = None) -> Steps[GroupHandle]:
    """Read all nodes below a group and store consolidated metadata with it.

    Raises
    ------
    FileNotFoundError
        If there is no group.
    TypeError
        If the store does not allow consolidated metadata.
    """
    if not store_path.store.supports_consolidated_metadata:
        name = type(store_path.store).__name__
        raise TypeError(f"The Zarr Store in use ({name}) doesn't support consolidated metadata.")
    handle, names = yield from compared_steps(partial(_consolidate_locked_steps, store_path, zarr_format))
    copied = handle.metadata.consolidated_metadata
    if "zarr.json" in names and copied is not None and copied.metadata:
        warn_once(
            "Consolidated metadata is currently not part in the Zarr format 3 specification. It may not be supported "
            "by other zarr implementations and may change in the future.",
            ZarrUserWarning,
        )
    return handle


def remove_copy_steps(store_path: StorePath) -> Steps[None]:
    """Remove the consolidated metadata that :func:`consolidate_steps` stored; the nodes below it stay as they are.

    Raises
    ------
    GroupNotFoundError
        If there is no group.
    """
    yield from compared_steps(partial(_remove_copy_locked_steps, store_path))
    touch(store_path.store, store_path.path)


def _remove_copy_locked_steps(store_path: StorePath) -> Steps[None]:
    compared = [node_key(store_path.path, name) for name in V3_NAMES]
    yield hold_node(store_path.path, parse_array_config(None).locking, compared=compared)
    handle = yield from open_group_steps(store_path, use_consolidated=False)
    if handle.metadata.zarr_format == 2:
        yield Delete(node_key(store_path.path, ".zmetadata"))
        return
    plain = handle.metadata.replaced(consolidated_metadata=None)
    yield from put_documents_steps(store_path.path, plain.to_buffer_dict(default_buffer_prototype()))


def _consolidate_locked_steps(
    store_path: StorePath, zarr_format: ZarrFormat | None
) -> Steps[tuple[GroupHandle, list[str]]]:
    """Read and write under one lock: changes that others record meanwhile come after it, and stay."""
    locking = parse_array_config(None).locking
    compared = [node_key(store_path.path, name) for name in (*V3_NAMES, *V2_NAMES)]
    yield hold_node(store_path.path, locking, compared=compared)
    before = changes_noted()
    made = yield from _store_copy_steps(store_path, zarr_format)
    if locking.startswith("process") or changes_noted() != before:
        # A writer that changed a node meanwhile may have found no consolidated metadata; from now on all writers find
        # it.
        made = yield from _store_copy_steps(store_path, zarr_format)
    handle, names = made
    _, read_at = touch(handle.store, handle.path)  # under the lock: a later change is a later version
    return GroupHandle(handle.metadata, store_path, read_at=read_at), names


def _store_copy_steps(store_path: StorePath, zarr_format: ZarrFormat | None) -> Steps[tuple[GroupHandle, list[str]]]:
    try:
        handle = yield from open_group_steps(store_path, zarr_format, use_consolidated=False)
    except GroupNotFoundError as error:
        raise FileNotFoundError(f"could not find zarr.json or .zgroup objects in {store_path.label}") from error
    records = yield from members_steps(handle, None, use_consolidated_for_children=False)
    found = {record.name: record.metadata for record in sorted(records, key=lambda record: record.name)}
    handle.metadata = handle.metadata.replaced(consolidated_metadata=nest(found, {}))
    documents = handle.metadata.to_buffer_dict(default_buffer_prototype())
    yield from put_documents_steps(store_path.path, documents)
    return handle, list(documents)
