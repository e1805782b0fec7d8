"""Threads that help: what they met is told, and not what others made of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import Future

import pytest

import zarr
from zarr.runners.sync import _outcome, max_workers, run_helpers

MAIN = threading.main_thread().ident


@pytest.mark.parametrize("setting", ["threading.max_workers", "codec_pipeline.max_workers"])
def test_either_setting_bounds_the_threads_of_an_operation(setting: str) -> None:
    with zarr.config.set({setting: 1}):
        assert max_workers() == 1
    with zarr.config.set({setting: 10**6}):
        assert max_workers() < 10**6


def test_the_error_of_a_helper_is_not_hidden_by_its_being_told_to_stop() -> None:
    stopped = threading.Event()

    def work() -> None:
        if threading.get_ident() != MAIN:
            raise ValueError("the disk is gone")
        assert stopped.wait(30)
        raise InterruptedError("the job was stopped")

    with pytest.raises(ValueError, match="the disk is gone"):
        run_helpers(work, 1, stopped.set)


def test_nor_is_the_error_of_one_helper_by_that_of_another() -> None:
    futures: list[Future[None]] = [Future(), Future()]
    futures[0].set_exception(InterruptedError("the job was stopped"))
    futures[1].set_exception(ValueError("the disk is gone"))
    assert isinstance(_outcome(futures, lambda: None), ValueError)


def test_an_interruption_stays_one() -> None:
    stopped = threading.Event()

    def work() -> None:
        if threading.get_ident() == MAIN:
            raise KeyboardInterrupt
        assert stopped.wait(30)
        raise InterruptedError("the job was stopped")

    with pytest.raises(KeyboardInterrupt):
        run_helpers(work, 1, stopped.set)


TRANSACTION = """
import asyncio
import zarr
from zarr.storage import MemoryStore, WrapperStore

class InThreads(WrapperStore):
    async def get(self, *arguments):
        return await asyncio.to_thread(asyncio.run, self._store.get(*arguments))

async def main():
    store = InThreads(MemoryStore())
    array = await zarr.api.asynchronous.create_array(store, shape=(8,), chunks=(2,), dtype="i4")
    async with zarr.transaction(store) as changes:
        staged = await zarr.api.asynchronous.open_array(store=changes, mode="r+")
        await asyncio.gather(*(staged.setitem(number, number) for number in range(8)))
    print((await array.getitem(...)).tolist())

asyncio.run(main())
"""


def test_operations_in_all_threads_wait_for_the_loop_which_needs_threads() -> None:
    """The loop has threads of its own: it would wait for one of those that wait for it."""
    environment = {**os.environ, "ZARR_THREADING__MAX_WORKERS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", TRANSACTION], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == str(list(range(8))), done.stderr
