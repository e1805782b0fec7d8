"""Buffers in main memory; re-exports."""

from __future__ import annotations

from zarr.buffer.cpu import *
