"""Trees, counts and other things to look at."""

from __future__ import annotations

from typing import Any

from zarr.arrays.handle import bulk_kind
from zarr.arrays.show.html import attributes_table, page, table
from zarr.arrays.show.notebook import AT_HAND
from zarr.groups.handle import GroupHandle, NodeRecord
from zarr.groups.members.walk import fresh_steps, members_steps
from zarr.groups.show.info import GroupInfo
from zarr.groups.show.tree import TreeRepr, draw_tree
from zarr.metadata.group import GroupMetadata
from zarr.steps.requests import Steps


def tree_steps(
    handle: GroupHandle,
    expand: bool | None = None,
    level: int | None = None,
    max_nodes: int = 500,
    plain: bool = False,
) -> Steps[TreeRepr]:
    """Draw the hierarchy below a group."""
    del expand
    records = yield from members_steps(handle, level)
    truncated = ""
    if len(records) > max_nodes:
        truncated = f"Truncated at max_nodes={max_nodes}, some nodes and their children may be missing\n"
        records = sorted(records, key=lambda record: record.name.count("/"))[:max_nodes]
    nodes = [(record.name, _detail(record)) for record in records]
    return draw_tree(handle.name, nodes, truncated=truncated, plain=plain)


def _detail(record: NodeRecord) -> str:
    metadata = record.metadata
    if isinstance(metadata, GroupMetadata):
        return ""
    return f"{metadata.shape} {metadata.dtype.to_native_dtype()}"


def info_of(handle: GroupHandle, **counts: Any) -> GroupInfo:
    """What a group says of itself without asking the store."""
    if not counts and handle.consolidated is not None and not handle.consolidated.unreadable:
        members = handle.consolidated.flattened_metadata
        groups = sum(isinstance(metadata, GroupMetadata) for metadata in members.values())
        counts = _counts(len(members), groups)
    return GroupInfo(
        _name=handle.path,
        _zarr_format=handle.metadata.zarr_format,
        _read_only=handle.store.read_only,
        _store_type=type(handle.store).__name__,
        **counts,
    )


def _counts(members: int, groups: int) -> dict[str, int]:
    return {"_count_members": members, "_count_arrays": members - groups, "_count_groups": groups}


def info_complete_steps(handle: GroupHandle) -> Steps[GroupInfo]:
    """What a group says of itself with all nodes below it counted."""
    yield from fresh_steps(handle)
    records = yield from members_steps(handle, None)
    return info_of(handle, **_counts(len(records), sum(record.is_group for record in records)))


def tree_at_hand_steps(handle: GroupHandle) -> Steps[TreeRepr | None]:
    """The tree that a notebook shows, where drawing it is cheap; else None.

    All of it where there is a copy of the documents or the store is in memory; the members alone in a folder.
    """
    kind = bulk_kind(handle.store)
    if handle.consolidated is None and kind not in AT_HAND:
        return None
    level = 0 if handle.consolidated is None and kind == "files" else None
    try:
        return (yield from tree_steps(handle, None, level, 100, True))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):  # tree() raises it
        return None


def group_page(handle: GroupHandle, tree: TreeRepr | None) -> str:
    """What a notebook shows of a group."""
    shown = "<div>tree() shows the members</div>" if tree is None else tree._repr_html_()
    return page(table(info_of(handle)._rows()) + attributes_table(handle.metadata.attributes), shown)
