"""Calls of coroutines from synchronous code; re-exports."""

from __future__ import annotations

from zarr.runners.sync import *
from zarr.runners.sync import LOOP, THREAD, get_executor, get_lock, get_loop
from zarr.runners.sync import _collect_aiterator as _collect_aiterator
from zarr.runners.sync import _with_semaphore as _with_semaphore

_get_executor, _get_lock, _get_loop = get_executor, get_lock, get_loop
loop, iothread = LOOP, THREAD
