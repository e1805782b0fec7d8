"""Calls of coroutines from synchronous code; re-exports."""

from __future__ import annotations

from zarr.runners.sync import (
    LOOP,
    THREAD,
    SyncError,
    SyncMixin,
    _collect_aiterator,
    _with_semaphore,
    cleanup_resources,
    collect_aiterator,
    get_executor,
    get_lock,
    get_loop,
    reset_resources_after_fork,
    sync,
)

_get_executor = get_executor
_get_lock = get_lock
_get_loop = get_loop
loop = LOOP
iothread = THREAD

__all__ = [
    "SyncError", "SyncMixin", "_collect_aiterator", "_get_executor", "_get_lock", "_get_loop", "_with_semaphore",
    "cleanup_resources", "collect_aiterator", "iothread", "loop", "reset_resources_after_fork", "sync",
]
