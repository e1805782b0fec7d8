"""The import path that other libraries use for places in stores, and for what names a store."""

from __future__ import annotations

from zarr.storage.path import StorePath
from zarr.storage.probe import contains_array, contains_group, ensure_no_existing_node
from zarr.storage.resolve import StoreLike, make_store, make_store_path

__all__ = [
    "StoreLike",
    "StorePath",
    "contains_array",
    "contains_group",
    "ensure_no_existing_node",
    "make_store",
    "make_store_path",
]
