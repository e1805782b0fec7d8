"""Buffers; re-exports."""

from __future__ import annotations

from types import ModuleType

from zarr._lazy import submodule
from zarr.buffer.core import *
from zarr.buffer.cpu import numpy_buffer_prototype as numpy_buffer_prototype


def __getattr__(name: str) -> ModuleType:
    # All modules below can be asked for as attributes, imported or not.
    return submodule(__name__, name)
