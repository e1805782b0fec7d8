"""Synchronizers, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.runners.locks.synchronizers import ProcessSynchronizer, ThreadSynchronizer

__all__ = ["ProcessSynchronizer", "ThreadSynchronizer"]
