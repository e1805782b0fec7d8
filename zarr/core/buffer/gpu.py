"""Buffers in the memory of a graphics card; re-exports."""

from __future__ import annotations

from zarr.buffer.gpu import Buffer, NDBuffer, buffer_prototype

__all__ = ["Buffer", "NDBuffer", "buffer_prototype"]
