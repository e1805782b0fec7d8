"""Detect stores that do not list their keys, such as many web servers."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from zarr.errors import label_of
from zarr.runners.sync import sync
from zarr.storage.path import StorePath
from zarr.types import METADATA_NAMES

_HELD: Final = ("_store", "store", "fs", "sync_fs")
"""Attributes in which wrappers, stores and file systems keep the object below them."""


def can_list(place: StorePath) -> bool:
    """Return True if a store lists what is at a place; a web server is asked for a listing of its documents.

    Examples
    --------
    >>> import zarr
    >>> can_list(zarr.group().store_path)
    True
    """
    if not place.store.supports_listing:
        return False
    return not is_web(place.store) or sync(_lists_documents(place))


def check_listing(place: StorePath) -> None:
    """Refuse to search the members of a group without consolidated metadata in a store that cannot list.

    Raises
    ------
    ValueError
    """
    if not can_list(place):
        raise ValueError(
            f"{label_of(place.store)!r} cannot list its keys, and the group /{place.path} has no consolidated "
            "metadata: its members cannot be found. Name an array, or consolidate the metadata where it is written"
        )


def is_web(held: Any) -> bool:
    """Return True if a store, or what it wraps, reads a web server: its listings may lack something."""
    protocol = getattr(held, "protocol", ())
    if type(held).__name__ == "HTTPStore" or "http" in ((protocol,) if isinstance(protocol, str) else protocol):
        return True
    inner = next((vars(held)[name] for name in _HELD if name in getattr(held, "__dict__", ())), None)
    return inner is not None and is_web(inner)


async def _lists_documents(place: StorePath) -> bool:
    try:
        names = {name async for name in place.store.list_dir(place.path)}
    except Exception:  # any error of a server and its client about a request that they do not support
        return False
    exist = await asyncio.gather(*((place / name).exists() for name in sorted(METADATA_NAMES)))
    documents = {name for name, there in zip(sorted(METADATA_NAMES), exist, strict=True) if there}
    return bool(names) and documents <= names
