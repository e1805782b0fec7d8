"""Documents of format 2."""

from __future__ import annotations

from zarr.metadata.v2 import ArrayV2Metadata, get_object_codec_id, parse_chunks, parse_zarr_format

__all__ = [
    "ArrayV2Metadata",
    "get_object_codec_id",
    "parse_chunks",
    "parse_zarr_format",
]
