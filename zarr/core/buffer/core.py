"""Buffers in any memory; re-exports."""

from __future__ import annotations

from zarr.buffer.core import (
    ArrayLike,
    Buffer,
    BufferPrototype,
    NDArrayLike,
    NDArrayLikeOrScalar,
    NDBuffer,
    check_item_key_is_1d_contiguous,
    default_buffer_prototype,
)

__all__ = [
    "ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDArrayLikeOrScalar", "NDBuffer",
    "check_item_key_is_1d_contiguous", "default_buffer_prototype",
]
