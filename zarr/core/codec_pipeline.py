"""Codec pipelines."""

from __future__ import annotations

from zarr.codecs.pipeline import BatchedCodecPipeline, FusedCodecPipeline
from zarr.metadata.codecs import codecs_from_list

__all__ = [
    "BatchedCodecPipeline",
    "FusedCodecPipeline",
    "codecs_from_list",
]
