"""The copy of its members' documents that a group may carry; the class lives in `group.py`, beside the group."""

from __future__ import annotations

from zarr.metadata.consolidated_tree import split_zmetadata, zmetadata_document
from zarr.metadata.group import ConsolidatedMetadata, NodeMetadata, parse_member

__all__ = ["ConsolidatedMetadata", "NodeMetadata", "parse_member", "split_zmetadata", "zmetadata_document"]
