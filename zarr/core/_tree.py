"""Hierarchies drawn."""

from __future__ import annotations

from zarr.groups.render import TreeRepr

__all__ = [
    "TreeRepr",
]
