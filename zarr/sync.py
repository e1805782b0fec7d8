"""Synchronizers under the name that zarr-python 2 has them; re-exports only."""

from __future__ import annotations

from zarr.runners.locks.synchronizers import ProcessSynchronizer, ThreadSynchronizer

__all__ = ["ProcessSynchronizer", "ThreadSynchronizer"]
