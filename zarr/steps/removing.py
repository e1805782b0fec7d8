"""The steps that remove nodes, and what all do who make, change, move or remove one while others do so, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.steps.documents import hold_node, path_of
from zarr.steps.requests import DeletePrefix, Gather, Steps

if TYPE_CHECKING:
    from zarr.storage.path import StorePath

T = TypeVar("T")


def delete_node_steps(place: StorePath | str, locking: str = "thread") -> Steps[None]:
    """Remove a node and all below it, when nobody is making or changing any of these nodes.

    Parameters
    ----------
    place : StorePath or str
    locking : str
        Who else must not change the node meanwhile; see :class:`zarr.chunks.spec.ArrayConfig`.
    """
    yield Gather([_delete_locked_steps(path_of(place), locking)])


def _delete_locked_steps(path: str, locking: str) -> Steps[None]:
    yield hold_node(path, locking, below=True)
    yield DeletePrefix(path)


def or_found_steps(place: Any, steps: Callable[..., Steps[T]], *args: Any, **parameters: Any) -> Steps[T]:
    """Run steps that find a node or make it: once more where somebody made it between the two, so that it is found.

    Parameters
    ----------
    place : StorePath or handle
    steps : function that returns steps
    *args, **parameters
        What it is called with, after the place.
    """
    try:
        return (yield from steps(place, *args, **parameters))
    except (ContainsArrayError, ContainsGroupError):
        return (yield from steps(place, *args, **parameters))


def opening_steps(place: StorePath, steps: Callable[..., Steps[T]], mode: str | None, *how: Any) -> Steps[T]:
    """Open or, in mode "a", make what is not there: of several who do so at once, all get the same node."""
    return or_found_steps(place, steps, mode, *how) if mode == "a" else steps(place, mode, *how)
