"""Indexers; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from zarr.compat.version3.indexing import *
from zarr.compat.version3.indexing import iter_grid as _iter_grid
from zarr.compat.version3.indexing import iter_regions as _iter_regions
from zarr.compat.version3.indexing import lexicographic_order as _lexicographic_order
from zarr.compat.version3.indexing import morton_order as _morton_order
from zarr.compat.version3.sibling_names import borrowed_names

_ArrayIndexingOrder: TypeAlias = Literal["lexicographic"]

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
