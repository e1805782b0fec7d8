"""Between synchronous code and event loops."""

from __future__ import annotations

from zarr.runners.crossing import SyncMixin, _collect_aiterator, _with_semaphore, collect_aiterator, sync
from zarr.runners.resources import RESOURCES, SyncError, cleanup_resources, get_executor, get_loop

_get_executor = get_executor
_get_loop = get_loop
reset_resources_after_fork = RESOURCES.forget

__all__ = [
    "SyncError",
    "SyncMixin",
    "_collect_aiterator",
    "_get_executor",
    "_get_loop",
    "_with_semaphore",
    "cleanup_resources",
    "collect_aiterator",
    "reset_resources_after_fork",
    "sync",
]
