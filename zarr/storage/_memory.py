"""The import path that other libraries use for ``zarr.storage.memory.store``."""

from __future__ import annotations

from zarr.storage.memory.managed import ManagedMemoryStore
from zarr.storage.memory.store import GpuMemoryStore, MemoryStore

__all__ = ["GpuMemoryStore", "ManagedMemoryStore", "MemoryStore"]
