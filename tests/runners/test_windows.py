"""The window of jobs: nothing that it began goes on when it has ended, however often it is called off."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from zarr.runners.concurrency import windowed


class Job:
    """Waits for ever, and takes its time to stop."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_stop = asyncio.Event()
        self.stopped = False

    async def run(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await self.may_stop.wait()
            self.stopped = True


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_who_is_called_off_more_than_once_still_waits_for_its_jobs(times: int) -> None:
    job = Job()
    task = asyncio.ensure_future(windowed(iter([job.run]), 4))
    await job.begun.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not task.done()
    job.may_stop.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert job.stopped


async def test_results_come_in_order_and_few_jobs_are_alive_at_once() -> None:
    alive = most = 0

    async def job(number: int) -> int:
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        for _ in range(number % 3):
            await asyncio.sleep(0)
        alive -= 1
        return number

    assert await windowed((partial(job, number) for number in range(20)), 4) == list(range(20))
    assert most == 4
