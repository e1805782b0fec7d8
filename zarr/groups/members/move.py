"""Moving a node, with all below it, to another place in the same store."""

from __future__ import annotations

from collections.abc import Iterable

from zarr.abc.store import takes_contents_first
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import ContainsArrayError, ContainsGroupError, NodeNotFoundError
from zarr.groups.batch import pending_steps
from zarr.groups.handle import GroupHandle
from zarr.groups.operations import find_steps, locking_of
from zarr.metadata.group import GroupMetadata
from zarr.steps.consolidated import record_changes_steps
from zarr.steps.nodes import ensure_ancestors_steps, read_node_steps
from zarr.steps.removing import delete_node_steps, hold_tree
from zarr.steps.requests import Gather, Get, List, Put, Steps
from zarr.storage.path import StorePath
from zarr.types import METADATA_NAMES

PUBLISHING = METADATA_NAMES - {".zattrs", ".zmetadata"}
"""The documents that make a node of a path; the others only add to it."""


def move_steps(handle: GroupHandle, source: str, dest: str) -> Steps[None]:
    """Move a node below a group.

    Everything is copied first, the documents of the node last, and only then is the source removed: whoever reads at
    the same time finds the node at the one place or at the other. (Stores that do not take contents first get all
    documents before what they tell of.)

    Parameters
    ----------
    handle : GroupHandle
    source, dest : str
        Paths relative to the group; with a slash in front, the destination is relative to the root of the store.

    Raises
    ------
    KeyError
        If there is no source.
    ValueError
        If the destination lies within the source, or is the group itself.
    ContainsArrayError, ContainsGroupError
        If there is a node at the destination.
    """
    above = StorePath(handle.store) if dest.startswith("/") else handle.store_path
    old, new = (handle.store_path / source).path, (above / dest).path
    if old == handle.path or new == handle.path or f"{new}/".startswith(f"{old}/"):
        raise ValueError(f"cannot move {source!r} to {dest!r}: the one lies within the other, or is the group itself")
    moved = yield from find_steps(handle, source)
    if moved is None:
        raise KeyError(source)
    yield from pending_steps(handle, old, new)
    locking = locking_of(handle)
    targets = (yield Gather([_move_locked_steps(handle, old, new, locking)]))[0]
    documents = yield from _documents_steps(target for _, target in targets)
    yield from record_changes_steps(handle.store, {old: {}}, locking=locking)
    yield from record_changes_steps(handle.store, documents, locking=locking)


def _move_locked_steps(handle: GroupHandle, old: str, new: str, locking: str) -> Steps[list[tuple[str, str]]]:
    """Move while nobody changes the node, and nobody else makes one at the destination: pairs of keys, old and new."""
    yield hold_tree((old, new), locking)
    yield from _refuse_taken_steps(handle, new)
    yield from ensure_ancestors_steps(new, handle.metadata.zarr_format)
    keys = yield List(old)
    targets = [(key, new + key[len(old) :]) for key in keys]
    if takes_contents_first(handle.store):
        late = {f"{old}/{name}" for name in PUBLISHING}
    else:
        late = {key for key in keys if key.rpartition("/")[2] not in METADATA_NAMES}
    yield Gather(_copy_steps(key, target) for key, target in targets if key not in late)
    yield Gather(_copy_steps(key, target) for key, target in targets if key in late)
    yield from delete_node_steps(old, locking)
    return targets


def _refuse_taken_steps(handle: GroupHandle, path: str) -> Steps[None]:
    try:
        there = yield from read_node_steps(StorePath(handle.store, path), handle.metadata.zarr_format)
    except NodeNotFoundError:
        return
    raise (ContainsGroupError if isinstance(there, GroupMetadata) else ContainsArrayError)(handle.store, path)


def _copy_steps(source: str, dest: str) -> Steps[None]:
    value = yield Get(source)
    if value is not None:
        yield Put(dest, value)


def _documents_steps(keys: Iterable[str]) -> Steps[dict[str, dict[str, Buffer]]]:
    """Read the documents among some keys, by node."""
    found: dict[str, dict[str, Buffer]] = {}
    for key in keys:
        path, _, name = key.rpartition("/")
        if name in METADATA_NAMES and name != ".zmetadata":
            value = yield Get(key, prototype=default_buffer_prototype())
            if value is not None:
                found.setdefault(path, {})[name] = value
    return {path: documents for path, documents in found.items() if set(documents) - {".zattrs"}}
