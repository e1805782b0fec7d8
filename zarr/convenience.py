"""Functions that open, save and copy, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.api.opening import consolidate_metadata, open, open_consolidated
from zarr.api.saving import copy, copy_all, copy_store, load, save, save_array, save_group, tree

__all__ = [
    "consolidate_metadata", "copy", "copy_all", "copy_store", "load", "open", "open_consolidated", "save", "save_array",
    "save_group", "tree",
]
