"""Hierarchies, synchronously."""

from __future__ import annotations

from zarr.core.group_nodes_sync import create_hierarchy, create_nodes, create_rooted_hierarchy, get_node

__all__ = [
    "create_hierarchy",
    "create_nodes",
    "create_rooted_hierarchy",
    "get_node",
]
