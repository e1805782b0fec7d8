"""The import path that other libraries use for ``zarr.storage.memory``."""

from __future__ import annotations

from zarr.storage.managed_memory import ManagedMemoryStore
from zarr.storage.memory import GpuMemoryStore, MemoryStore

__all__ = ["GpuMemoryStore", "ManagedMemoryStore", "MemoryStore"]
