"""What a codec is told of a chunk."""

from __future__ import annotations

from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, ArrayConfigParams, ArraySpec, parse_array_config

__all__ = [
    "ArrayConfig",
    "ArrayConfigLike",
    "ArrayConfigParams",
    "ArraySpec",
    "parse_array_config",
]
