"""Calls of coroutines from synchronous code; re-exports."""

from __future__ import annotations

from zarr.runners.sync import *
from zarr.runners.sync import LOOP, THREAD, _collect_aiterator, _with_semaphore, get_executor, get_lock, get_loop

_get_executor, _get_lock, _get_loop = get_executor, get_lock, get_loop
loop, iothread = LOOP, THREAD
