"""Documents of format 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from zarr.chunks import (
    RectilinearChunkGridMetadata,
    RectilinearChunksDisabledError,
    RegularChunkGridMetadata,
    create_chunk_grid_metadata,
    parse_chunk_grid,
)
from zarr.chunks.rectilinear import RectilinearChunkGridMetadataJSON
from zarr.core.borrowed import borrowed_names
from zarr.metadata.codecs import parse_codecs
from zarr.metadata.members import (
    AllowedExtraField,
    check_allowed_extra_field,
    parse_dimension_names,
    parse_extra_fields,
    parse_storage_transformers,
)
from zarr.metadata.v3 import ARRAY_METADATA_KEYS, ArrayV3Metadata, parse_node_type_array, parse_zarr_format
from zarr.types import JSON, NamedConfig, parse_shapelike


class ArrayMetadataJSON_V3(TypedDict):
    """The members of an array document of format 3."""

    zarr_format: Literal[3]
    node_type: Literal["array"]
    shape: tuple[int, ...]
    data_type: str | NamedConfig[str, Mapping[str, object]]
    chunk_grid: NamedConfig[str, Mapping[str, object]]
    chunk_key_encoding: NamedConfig[str, Mapping[str, object]]
    fill_value: JSON
    codecs: tuple[str | NamedConfig[str, Mapping[str, object]], ...]
    attributes: NotRequired[Mapping[str, JSON]]
    storage_transformers: NotRequired[tuple[Mapping[str, JSON], ...]]
    dimension_names: NotRequired[tuple[str | None, ...]]


__all__ = [
    "ARRAY_METADATA_KEYS",
    "ArrayMetadataJSON_V3",
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
    "parse_node_type_array",
    "parse_shapelike",
    "parse_storage_transformers",
    "parse_zarr_format",
]

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
