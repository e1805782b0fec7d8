"""The lock files that keep other processes out while a transaction is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from zarr.chunks.spec import parse_array_config
from zarr.runners.locks.processes import in_order, lock_folder, lock_paths
from zarr.steps.requests import LockScope

if TYPE_CHECKING:
    from zarr.abc.store import Store


def lock_files(
    store: Store,
    documents: Iterable[str],
    chunks: Iterable[str],
    removed: Iterable[str] = (),
    asked: Mapping[str, LockScope] | None = None,
) -> list[str]:
    """The files to lock, in the order in which all take them.

    Parameters
    ----------
    store : Store
    documents, chunks : iterable of str
        The keys that were read or are changed.
    removed : iterable of str
        Nodes that are removed with all below them.
    asked : mapping of path to LockScope
        Whom arrays and groups that were changed want kept out; of other nodes ``array.locking`` says it.
    """
    locking, asked = parse_array_config(None).locking, asked or {}
    if locking == "thread" and not asked:
        return []
    gone = set(removed)
    nodes = {key.rpartition("/")[0] for key in documents} | gone
    below: dict[str, list[str]] = {node: [] for node in nodes | set(asked)}
    places = set(below)
    for key in chunks:
        owner = _owner(key, places)
        if owner is not None:
            below[owner].append(key)
    found: list[str] = []
    for node, keys in below.items():
        scope = asked.get(node) or LockScope.of(locking, node)
        if scope is not None and lock_folder(store, scope):
            if node in nodes:
                found.extend(lock_paths(store, scope, [node], "node", [node] if node in gone else ()))
            found.extend(lock_paths(store, scope, keys, "chunk"))
    return in_order(found)


def _owner(key: str, nodes: set[str]) -> str | None:
    """The nearest of some nodes above a key."""
    while key:
        key = key.rpartition("/")[0]
        if key in nodes:
            return key
    return None
