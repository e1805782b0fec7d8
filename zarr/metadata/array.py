"""The metadata of an array of either format."""

from __future__ import annotations

from typing import TypeAlias

from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata

ArrayMetadata: TypeAlias = ArrayV2Metadata | ArrayV3Metadata

__all__ = ["ArrayMetadata"]
