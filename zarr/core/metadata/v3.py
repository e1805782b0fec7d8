"""Documents of format 3."""

from __future__ import annotations

from zarr.grids import (
    RectilinearChunkGridMetadata,
    RectilinearChunksDisabledError,
    RegularChunkGridMetadata,
    create_chunk_grid_metadata,
    parse_chunk_grid,
)
from zarr.grids.rectilinear import RectilinearChunkGridMetadataJSON
from zarr.metadata.codecs import parse_codecs
from zarr.metadata.members import (
    AllowedExtraField,
    check_allowed_extra_field,
    parse_dimension_names,
    parse_extra_fields,
    parse_storage_transformers,
)
from zarr.metadata.v3 import ArrayV3Metadata, parse_zarr_format
from zarr.types import parse_shapelike

__all__ = [
    "AllowedExtraField",
    "ArrayV3Metadata",
    "RectilinearChunkGridMetadata",
    "RectilinearChunkGridMetadataJSON",
    "RectilinearChunksDisabledError",
    "RegularChunkGridMetadata",
    "check_allowed_extra_field",
    "create_chunk_grid_metadata",
    "parse_chunk_grid",
    "parse_codecs",
    "parse_dimension_names",
    "parse_extra_fields",
    "parse_shapelike",
    "parse_storage_transformers",
    "parse_zarr_format",
]
