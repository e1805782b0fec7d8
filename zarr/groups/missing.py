"""Saying of a node that is not there what is there instead: a node of the other kind, or one whose name is like it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zarr._lazy import LazyModule
from zarr.arrays.handle import bulk_kind
from zarr.arrays.show.notebook import AT_HAND
from zarr.errors import MetadataValidationError, NodeNotFoundError
from zarr.metadata.group import GroupMetadata
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import ListDir, Steps

if TYPE_CHECKING:
    import difflib
    from collections.abc import Iterable

    from zarr.groups.handle import GroupHandle
    from zarr.storage.path import StorePath
else:
    difflib = LazyModule("difflib")

MAX_COMPARED: Final = 1000
"""The most names among which similar ones are looked for; more would take too long for an error."""


class NoSuchMemberError(KeyError):
    """There is no such member; the message names members with similar names."""

    like = ""

    def __str__(self) -> str:
        return f"{super().__str__()}{self.like}"


def member_error_steps(handle: GroupHandle, key: str) -> Steps[NoSuchMemberError]:
    """Return the error to raise if a group has no such member."""
    error = NoSuchMemberError(key)
    error.like = yield from _like_steps(handle.store_path / key)
    return error


def missing_steps(place: StorePath, kind: type[NodeNotFoundError]) -> Steps[NodeNotFoundError]:
    """Return the error to raise if a store has no node of a kind at a place."""
    error = kind(place.store, place.path)
    try:
        found = yield from read_node_steps(place)
    except NodeNotFoundError:
        told = yield from _like_steps(place)
    except (MetadataValidationError, OSError):
        told = ""
    else:
        is_group = isinstance(found, GroupMetadata)
        other, opener = ("a group", "open_group") if is_group else ("an array", "open_array")
        told = f". There is {other} of format {found.zarr_format}: use {opener}"
    return kind(f"{error}{told}")


def explained_steps(place: StorePath, error: Exception) -> Steps[Exception]:
    """Return the same error, with more to say if it is about a missing node."""
    if not isinstance(error, NodeNotFoundError):
        return error
    return (yield from missing_steps(place, type(error)))


def _like_steps(place: StorePath) -> Steps[str]:
    """Names beside a place that are like its own, as the end of a message; only where listing costs little."""
    above, _, name = place.path.rpartition("/")
    if not name or bulk_kind(place.store) not in AT_HAND:
        return ""
    try:
        return like_names(name, (yield ListDir(above)))
    except OSError:  # the names only help; the error that is being made matters
        return ""


def like_names(name: str, names: Iterable[str]) -> str:
    """Name those of some names that are like another, as the end of a message.

    Parameters
    ----------
    name : str
        The name that was not found.
    names : iterable of str
        The names that are there.

    Returns
    -------
    str
        Empty, if none is like it or there are too many to compare.

    Examples
    --------
    >>> like_names("temprature", ["temperature", "wind"])
    " (did you mean 'temperature'?)"
    >>> like_names("x", ["temperature"])
    ''
    """
    known = list(names)
    if len(known) > MAX_COMPARED:
        return ""
    folded = [each for each in known if each.lower() == name.lower()]
    close = [*folded, *difflib.get_close_matches(name, [each for each in known if each not in folded])][:3]
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
