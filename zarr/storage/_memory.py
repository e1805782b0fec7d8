"""The import path that other libraries use for ``zarr.storage.memory.store``."""

from __future__ import annotations

from zarr.storage.memory.store import GpuMemoryStore, ManagedMemoryStore, MemoryStore

__all__ = ["GpuMemoryStore", "ManagedMemoryStore", "MemoryStore"]
