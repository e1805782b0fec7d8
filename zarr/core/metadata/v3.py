"""Metadata documents of format 3; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.chunks import (
    RectilinearChunkGridMetadata,
    RectilinearChunksDisabledError,
    RegularChunkGridMetadata,
    create_chunk_grid_metadata,
    parse_chunk_grid,
)
from zarr.chunks.rectilinear import RectilinearChunkGridMetadataJSON
from zarr.compat.version3.json_values import ArrayMetadataJSON_V3
from zarr.compat.version3.sibling_names import borrowed_names
from zarr.metadata.members import (
    AllowedExtraField,
    check_allowed_extra_field,
    parse_codecs,
    parse_dimension_names,
    parse_extra_fields,
    parse_storage_transformers,
)
from zarr.metadata.v3 import ARRAY_METADATA_KEYS, ArrayV3Metadata, parse_node_type_array, parse_zarr_format
from zarr.types import parse_shapelike

__all__ = [
    "ARRAY_METADATA_KEYS", "ArrayMetadataJSON_V3", "AllowedExtraField", "ArrayV3Metadata",
    "RectilinearChunkGridMetadata", "RectilinearChunkGridMetadataJSON", "RectilinearChunksDisabledError",
    "RegularChunkGridMetadata", "check_allowed_extra_field", "create_chunk_grid_metadata", "parse_chunk_grid",
    "parse_codecs", "parse_dimension_names", "parse_extra_fields", "parse_node_type_array", "parse_shapelike",
    "parse_storage_transformers", "parse_zarr_format",
]

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
