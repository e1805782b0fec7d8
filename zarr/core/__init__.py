"""The import paths of zarr-python's ``zarr.core`` that other libraries use.

May import: everything; nothing below imports from here.
Most modules only re-export names of other rooms; functions that this library does not use itself stand here.
Read first: ``indexing.py`` (tifffile, cubed, xarray), then ``array.py`` and ``group.py`` (pydantic-zarr).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:
    from zarr.arrays.array import Array
    from zarr.buffer.core import Buffer, NDBuffer
    from zarr.codecs.base.pipeline import BatchedCodecPipeline
    from zarr.core import array, buffer, chunk_grids, codec_pipeline, common, config, group, indexing, metadata, sync

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.arrays.array": "Array",
        "zarr.buffer.core": "Buffer NDBuffer",
        "zarr.codecs.base.pipeline": "BatchedCodecPipeline",
    },
)

__all__ = [
    "Array", "BatchedCodecPipeline", "Buffer", "NDBuffer", "array", "buffer", "chunk_grids", "codec_pipeline", "common",
    "config", "group", "indexing", "metadata", "sync",
]
