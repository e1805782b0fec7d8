"""Buffers; re-exports."""

from __future__ import annotations

from zarr._lazy import lazy_names
from zarr.buffer.core import *
from zarr.buffer.cpu import numpy_buffer_prototype as numpy_buffer_prototype

# All modules below can be read as attributes, imported or not.
__getattr__, __dir__ = lazy_names(__name__, {})
