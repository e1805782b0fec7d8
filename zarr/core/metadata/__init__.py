"""Metadata documents."""

from __future__ import annotations

from zarr.core.metadata.documents import ArrayMetadata, ArrayMetadataDict
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata

__all__ = [
    "ArrayMetadata",
    "ArrayMetadataDict",
    "ArrayV2Metadata",
    "ArrayV3Metadata",
]
