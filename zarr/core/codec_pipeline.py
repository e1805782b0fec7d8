"""Codec pipelines."""

from __future__ import annotations

from zarr.codecs.pipeline import BatchedCodecPipeline, FusedCodecPipeline

__all__ = [
    "BatchedCodecPipeline",
    "FusedCodecPipeline",
]
