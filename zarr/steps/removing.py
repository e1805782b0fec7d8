"""The steps that remove nodes, and the lock that all take who make, change, move or remove one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zarr.steps.documents import NODE_NAMES, node_key, path_of
from zarr.steps.requests import DeletePrefix, Gather, Hold, LockScope, Steps

if TYPE_CHECKING:
    from zarr.storage.path import StorePath


def delete_node_steps(place: StorePath | str, locking: str = "thread") -> Steps[None]:
    """Remove a node and all below it, when nobody is making or changing any of these nodes.

    Parameters
    ----------
    place : StorePath or str
    locking : str
        Who else must not change the node meanwhile; see :class:`zarr.array_spec.ArrayConfig`.
    """
    yield Gather([_delete_locked_steps(path_of(place), locking)])


def _delete_locked_steps(path: str, locking: str) -> Steps[None]:
    yield hold_tree((path,), locking)
    yield DeletePrefix(path)


def hold_tree(paths: Sequence[str], locking: str) -> Hold:
    """The request that keeps all others from making, changing and removing nodes, and those below them.

    Other processes, where they are kept out, from what lies at and below the first.
    """
    keys = [node_key(path, name) for path in paths for name in NODE_NAMES]
    return Hold(keys, "node", LockScope.of(locking, paths[0]), below=paths)
