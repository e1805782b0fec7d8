"""Type aliases and parsers; re-exports."""

from __future__ import annotations

from zarr.chunks.shapes import parse_chunk_edge
from zarr.compat.version3.arrays import compress_rle, expand_rle
from zarr.compat.version3.requests import concurrent_foreach, concurrent_iter, concurrent_map
from zarr.types import (
    ANY_ACCESS_MODE,
    JSON,
    ZARR_JSON,
    ZARRAY_JSON,
    ZATTRS_JSON,
    ZGROUP_JSON,
    ZMETADATA_V2_JSON,
    AccessModeLiteral,
    BytesLike,
    ChunkCoords,
    ChunksLike,
    DimensionNames,
    DimensionNamesLike,
    MemoryOrder,
    NamedConfig,
    NamedRequiredConfig,
    NodeType,
    ShapeLike,
    ZarrFormat,
    ceildiv,
    ceildiv_int,
    enum_names,
    parse_bool,
    parse_configuration,
    parse_enum,
    parse_fill_value,
    parse_int,
    parse_name,
    parse_named_configuration,
    parse_order,
    parse_shapelike,
    product,
)

__all__ = [
    "ANY_ACCESS_MODE", "AccessModeLiteral", "BytesLike", "ChunkCoords", "ChunksLike", "DimensionNames",
    "DimensionNamesLike", "JSON", "MemoryOrder", "NamedConfig", "NamedRequiredConfig", "NodeType", "ShapeLike",
    "ZARRAY_JSON", "ZARR_JSON", "ZATTRS_JSON", "ZGROUP_JSON", "ZMETADATA_V2_JSON", "ZarrFormat", "ceildiv",
    "ceildiv_int", "compress_rle", "concurrent_foreach", "concurrent_iter", "concurrent_map", "enum_names",
    "expand_rle", "parse_bool", "parse_chunk_edge", "parse_configuration", "parse_enum", "parse_fill_value",
    "parse_int", "parse_name", "parse_named_configuration", "parse_order", "parse_shapelike", "product",
]
