"""The import paths of zarr-python's ``zarr.core`` that other libraries use: re-exports only.

May import: everything; nothing below imports from here.
Read first: any file, they are short.
"""

from __future__ import annotations

from types import ModuleType

from zarr._lazy import submodule
from zarr.arrays.synchronous import Array
from zarr.buffer.core import Buffer, NDBuffer
from zarr.codecs.pipeline import BatchedCodecPipeline
from zarr.core import array, buffer, chunk_grids, codec_pipeline, common, config, group, indexing, metadata, sync

__all__ = [
    "Array",
    "BatchedCodecPipeline",
    "Buffer",
    "NDBuffer",
    "array",
    "buffer",
    "chunk_grids",
    "codec_pipeline",
    "common",
    "config",
    "group",
    "indexing",
    "metadata",
    "sync",
]


def __getattr__(name: str) -> ModuleType:
    # All modules below can be asked for as attributes, imported or not.
    return submodule(__name__, name)
