"""Metadata documents of groups; re-exports."""

from __future__ import annotations

from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata

__all__ = ["ConsolidatedMetadata", "GroupMetadata"]
