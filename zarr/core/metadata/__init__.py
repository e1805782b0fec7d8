"""Metadata documents; re-exports."""

from __future__ import annotations

from typing import Any, TypeAlias

from zarr._lazy import lazy_names
from zarr.metadata import ArrayMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata

ArrayMetadataDict: TypeAlias = dict[str, Any]

__all__ = ["ArrayMetadata", "ArrayMetadataDict", "ArrayV2Metadata", "ArrayV3Metadata"]

# All modules below can be read as attributes, imported or not.
__getattr__, __dir__ = lazy_names(__name__, {})
