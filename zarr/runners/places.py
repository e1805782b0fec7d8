"""Places of nodes: whether two of them, by whatever store, path, link or URL, are the same or one within the other."""

from __future__ import annotations

import os

from zarr.runners.locks.operation import lock_prefix
from zarr.storage.path import StorePath


def true_place(place: StorePath) -> str:
    """Return the same text for all names of a place: by a link, by a URL, by another class of stores.

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> true_place(StorePath(LocalStore("/data"), "a/b")) == true_place(StorePath(LocalStore("/data/a"), "b"))
    True
    """
    prefix = lock_prefix(place.store)
    _, _, folder = prefix.partition(":")
    if os.path.isabs(folder):  # of files: links may lie below the root of the store, too
        return f"file:{os.path.realpath(os.path.join(folder, place.path))}"
    return f"{prefix}/{place.path}".rstrip("/")


def overlap(one: StorePath, other: StorePath) -> bool:
    """Return True if two places are the same, or one lies within the other.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> store = MemoryStore()
    >>> overlap(StorePath(store, "a"), StorePath(store, "a/b")), overlap(StorePath(store, "a"), StorePath(store, "ab"))
    (True, False)
    """
    first, second = (f"{true_place(place)}/" for place in (one, other))
    return first.startswith(second) or second.startswith(first)
