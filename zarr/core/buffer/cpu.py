"""Buffers in main memory; re-exports."""

from __future__ import annotations

from zarr.buffer.cpu import Buffer, NDBuffer, as_numpy_array_wrapper, buffer_prototype, numpy_buffer_prototype

__all__ = ["Buffer", "NDBuffer", "as_numpy_array_wrapper", "buffer_prototype", "numpy_buffer_prototype"]
