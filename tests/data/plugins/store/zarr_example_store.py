"""A store: shelves in memory, found by the name in ``example-shelf://name``."""

from __future__ import annotations

from zarr.storage import MemoryStore

SHELVES = {}


def open_shelf(url, read_only=False, **options):
    """Open the shelf of a URL."""
    return MemoryStore(SHELVES.setdefault(url.partition("://")[2], {}), read_only=read_only)
