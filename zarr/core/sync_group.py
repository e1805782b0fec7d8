"""Hierarchies as plain functions; re-exports."""

from __future__ import annotations

from zarr.api.opening import create_hierarchy
from zarr.compat.version3.nodes import create_nodes_sync as create_nodes
from zarr.compat.version3.nodes import create_rooted_hierarchy_sync as create_rooted_hierarchy
from zarr.compat.version3.nodes import get_node_sync as get_node

__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]
