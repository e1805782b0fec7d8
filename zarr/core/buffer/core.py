"""Buffers in any memory; re-exports."""

from __future__ import annotations

from zarr.buffer.core import *
