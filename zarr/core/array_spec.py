"""Descriptions of chunks for codecs, and runtime configuration; re-exports."""

from __future__ import annotations

from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, ArrayConfigParams, ArraySpec, parse_array_config

__all__ = ["ArrayConfig", "ArrayConfigLike", "ArrayConfigParams", "ArraySpec", "parse_array_config"]
