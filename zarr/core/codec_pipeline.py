"""Codec pipelines."""

from __future__ import annotations

from zarr.codecs.pipeline import BatchedCodecPipeline, FusedCodecPipeline
from zarr.codecs.stages import sort_codecs as codecs_from_list

__all__ = [
    "BatchedCodecPipeline",
    "FusedCodecPipeline",
    "codecs_from_list",
]
