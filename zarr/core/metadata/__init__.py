"""Metadata documents; re-exports."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeAlias

from zarr._lazy import submodule
from zarr.metadata import ArrayMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata

ArrayMetadataDict: TypeAlias = dict[str, Any]

__all__ = ["ArrayMetadata", "ArrayMetadataDict", "ArrayV2Metadata", "ArrayV3Metadata"]


def __getattr__(name: str) -> ModuleType:
    # All modules below can be asked for as attributes, imported or not.
    return submodule(__name__, name)
