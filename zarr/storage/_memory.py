"""The import path that other libraries use for ``zarr.storage.memory``."""

from __future__ import annotations

from zarr.storage.memory import GpuMemoryStore, ManagedMemoryStore, MemoryStore

__all__ = ["GpuMemoryStore", "ManagedMemoryStore", "MemoryStore"]
