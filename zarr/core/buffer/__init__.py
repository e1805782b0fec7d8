"""Buffers; re-exports."""

from __future__ import annotations

from types import ModuleType

from zarr._lazy import submodule
from zarr.buffer import core, cpu
from zarr.buffer.core import (
    ArrayLike,
    Buffer,
    BufferPrototype,
    NDArrayLike,
    NDArrayLikeOrScalar,
    NDBuffer,
    default_buffer_prototype,
)
from zarr.buffer.cpu import numpy_buffer_prototype

__all__ = [
    "ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDArrayLikeOrScalar", "NDBuffer", "core", "cpu",
    "default_buffer_prototype", "numpy_buffer_prototype",
]


def __getattr__(name: str) -> ModuleType:
    # All modules below can be asked for as attributes, imported or not.
    return submodule(__name__, name)
