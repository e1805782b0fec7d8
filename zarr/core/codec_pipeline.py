"""Codec pipelines; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.codecs.base.order import sort_codecs as codecs_from_list
from zarr.codecs.base.pipeline import BatchedCodecPipeline, FusedCodecPipeline
from zarr.core import borrowed_names
from zarr.core.chunk_utils import AsyncChunkTransform

__all__ = ["AsyncChunkTransform", "BatchedCodecPipeline", "FusedCodecPipeline", "codecs_from_list"]

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
