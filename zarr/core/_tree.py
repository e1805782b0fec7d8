"""Drawn hierarchies; re-exports."""

from __future__ import annotations

from zarr.compat.version3.nodes import group_tree_async
from zarr.groups.summary import TreeRepr

__all__ = ["TreeRepr", "group_tree_async"]
