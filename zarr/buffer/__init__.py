"""Values as stores return them: bytes (``Buffer``) and arrays (``NDBuffer``), in CPU or GPU memory.

May import ``zarr.errors``, ``zarr.types``, ``zarr.settings`` and ``zarr.registry`` only.
Read ``core.py`` first; ``cpu.py`` has the default classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names
from zarr.buffer import cpu
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

if TYPE_CHECKING:
    from zarr.buffer import gpu

__getattr__, __dir__ = lazy_names(__name__, {})

__all__ = [
    "ArrayLike",
    "Buffer",
    "BufferPrototype",
    "NDArrayLike",
    "NDArrayLikeOrScalar",
    "NDBuffer",
    "cpu",
    "default_buffer_prototype",
    "gpu",
    "numpy_buffer_prototype",
]
