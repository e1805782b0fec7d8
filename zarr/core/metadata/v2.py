"""Metadata documents of format 2; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.core import borrowed_names
from zarr.metadata.v2 import (
    ArrayV2Metadata,
    get_object_codec_id,
    parse_chunks,
    parse_compressor,
    parse_filters,
    parse_zarr_format,
)

__all__ = [
    "ArrayV2Metadata", "get_object_codec_id", "parse_chunks", "parse_compressor", "parse_filters", "parse_zarr_format",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
