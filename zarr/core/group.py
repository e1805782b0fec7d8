"""Groups and the creation of hierarchies; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.api.asynchronous import create_hierarchy
from zarr.compat.version3.hierarchies import (
    _parse_hierarchy_dict,
    create_nodes,
    create_rooted_hierarchy,
    get_node,
)
from zarr.compat.version3.sibling_names import borrowed_names
from zarr.groups.async_group import AsyncGroup
from zarr.groups.group import Group
from zarr.groups.hierarchy import ImplicitGroupMarker
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata, parse_node_type, parse_zarr_format
from zarr.metadata.members import parse_attributes
from zarr.storage import StoreLike, StorePath
from zarr.storage.resolve import make_store_path

__all__ = [
    "AsyncGroup", "ConsolidatedMetadata", "Group", "GroupMetadata", "ImplicitGroupMarker", "StoreLike", "StorePath",
    "_parse_hierarchy_dict", "create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node",
    "make_store_path", "parse_attributes", "parse_node_type", "parse_zarr_format",
]

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
