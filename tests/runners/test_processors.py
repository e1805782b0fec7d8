"""What runs at once does not depend on two processors: 2, 8 and 64 are simulated."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer import Buffer
from zarr.runners import bulk, sync
from zarr.steps.requests import Transfer
from zarr.storage import MemoryStore

MIB = 1 << 20
AT_ONCE = 24


@pytest.fixture(params=[2, 8, 64])
def processors(request: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("the system does not tell which processors a process has")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(request.param)))
    monkeypatch.setattr(os, "cpu_count", lambda: request.param)
    return int(request.param)


class Meeting(MemoryStore):
    """A store whose chunks are handed out only when many are asked for at once."""

    def __init__(self, blocking: bool) -> None:
        super().__init__()
        self.blocking = blocking
        self.barrier = threading.Barrier(AT_ONCE)
        self.asked = 0
        self.all_asked = asyncio.Event()

    async def get(self, key: str, *args: Any, **kwargs: Any) -> Buffer | None:
        if "/c/" in f"/{key}":
            if self.blocking:
                await asyncio.to_thread(self.barrier.wait, 10)
            else:
                self.asked += 1
                if self.asked == AT_ONCE:
                    self.all_asked.set()
                await asyncio.wait_for(self.all_asked.wait(), 10)
        return await super().get(key, *args, **kwargs)


@pytest.mark.parametrize("blocking", [False, True])
def test_requests_that_wait_go_on_together(blocking: bool, processors: int) -> None:
    store = Meeting(blocking)
    data = np.arange(AT_ONCE, dtype="i4")
    array = zarr.create_array(store, data=data, chunks=(1,))
    with sync.get_lock():
        sync.cleanup_resources()  # pools are made anew, with as many processors
    np.testing.assert_array_equal(array[...], data)


def test_bulk_jobs_use_all_processors_and_little_memory(processors: int) -> None:
    request = Transfer.__new__(Transfer)
    for name, value in {"job": None, "count": 10_000, "nbytes": 10_000 * MIB}.items():
        object.__setattr__(request, name, value)
    threads = bulk.thread_count(request)
    assert threads == processors
    assert threads * bulk.batch_count(request, threads) * MIB <= bulk.MAX_BATCHES_BYTES
