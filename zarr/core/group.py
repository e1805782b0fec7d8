"""Groups and the creation of hierarchies; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.compat.version3.nodes import *
from zarr.compat.version3.sibling_names import borrowed_names
from zarr.groups.hierarchy import ImplicitGroupMarker as ImplicitGroupMarker
from zarr.metadata.fields import parse_attributes as parse_attributes
from zarr.metadata.group import *
from zarr.storage import StoreLike as StoreLike
from zarr.storage import StorePath as StorePath
from zarr.storage.resolve import make_store_path as make_store_path

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
