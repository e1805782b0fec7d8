"""Consolidating: one document that holds a copy of the documents of all nodes below a group."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from zarr.buffer.core import default_buffer_prototype
from zarr.chunks.spec import parse_array_config
from zarr.errors import GroupNotFoundError, ZarrUserWarning
from zarr.groups.handle import GroupHandle, NodeMetadata, NodeRecord
from zarr.groups.members.walk import members_steps
from zarr.groups.opening import open_group_steps
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.notices import warn_once
from zarr.steps.consolidated import changes_noted, touch
from zarr.steps.documents import hold_node, node_key
from zarr.steps.requests import Gather, Put, Steps

if TYPE_CHECKING:
    from zarr.storage.path import StorePath
    from zarr.types import ZarrFormat


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
    if locking != "thread" or changes_noted() != before:
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
