"""The steps that remove nodes, and the lock that all take who make, change, move or remove one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.steps.documents import V2_NAMES, V3_NAMES, node_key, path_of
from zarr.steps.requests import DeletePrefix, Gather, Hold, LockScope, Steps

if TYPE_CHECKING:
    from zarr.storage.path import StorePath


def delete_node_steps(place: StorePath | str, locking: str = "thread") -> Steps[None]:
    """Remove a node and all below it, when nobody is changing its documents.

    Parameters
    ----------
    place : StorePath or str
    locking : str
        Who else must not change the node meanwhile; see :class:`zarr.array_spec.ArrayConfig`.
    """
    yield Gather([_delete_locked_steps(path_of(place), locking)])


def _delete_locked_steps(path: str, locking: str) -> Steps[None]:
    yield hold_node(path, locking)
    yield DeletePrefix(path)


def hold_node(path: str, locking: str) -> Hold:
    """The request that keeps all others from making, changing and removing a node."""
    names = dict.fromkeys((*V3_NAMES, *V2_NAMES))
    return Hold([node_key(path, name) for name in names], "node", LockScope.of(locking, path))
