"""Names for either kind of array metadata."""

from __future__ import annotations

from typing import Any, TypeAlias

from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata

ArrayMetadata: TypeAlias = ArrayV2Metadata | ArrayV3Metadata
ArrayMetadataDict: TypeAlias = dict[str, Any]

__all__ = ["ArrayMetadata", "ArrayMetadataDict"]
