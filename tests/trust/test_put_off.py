"""What a finalizer wants amid an operation is put off: all of it, never for ever, and nobody else is taken for one."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.errors import OperationPutOffError
from zarr.runners.inline import InlineRunner
from zarr.runners.locks import operation as locks
from zarr.runners.locks.deferred import wait_for_all
from zarr.runners.locks.operation import Holder
from zarr.runners.locks.table import LOCKS, CalledOff, LockTable
from zarr.steps.requests import Put, Steps
from zarr.storage import MemoryStore


class Interrupted(MemoryStore):
    """While it reads a chunk, something else comes in between, as a finalizer does."""

    between: Callable[[], None] | None = None

    def get_sync(self, key: str, **options: Any) -> Any:
        found = super().get_sync(key, **options)
        if self.between is not None and "c/" in key:
            between, self.between = self.between, None
            between()
        return found


@pytest.fixture(autouse=True)
def nothing_is_left_over() -> Iterator[None]:
    gc.collect()
    before = list(locks._holding)
    yield
    assert wait_for_all()
    assert [holder for holder in locks._holding if holder not in before] == []
    assert len(LOCKS) == 0


def interrupted(**members: Any) -> tuple[Interrupted, zarr.Array[Any]]:
    """Such a store, with an array of ones in it."""
    store = Interrupted()
    array = zarr.create_array(store, chunks=8, dtype="i4", **members)
    array[:] = 1
    return store, array


def let_go_later(names: list[str], seconds: float = 0.2) -> threading.Timer:
    """Keys that another thread holds for a while."""
    for name in names:
        assert LOCKS.try_acquire(name)
    timer = threading.Timer(seconds, lambda: [LOCKS.release(name) for name in names])
    timer.start()
    return timer


def test_two_that_were_put_off_do_not_wait_for_each_other() -> None:
    store, array = interrupted(shape=24)
    timers = []

    def between() -> None:
        timers.append(let_go_later([f"chunk:{store.lock_prefix}/c/{number}" for number in (1, 2)]))
        array[9] = 7
        array[17] = 8

    store.between = between
    array[1] = 5
    timers[0].join()
    assert wait_for_all()
    assert array[[1, 9, 17]].tolist() == [5, 7, 8]


def test_an_append_is_put_off_as_a_whole() -> None:
    """Not its data alone: the shape would be changed first, and the reply to the writing be none."""
    store, array = interrupted(shape=6)
    seen = []

    def between() -> None:
        with pytest.raises(OperationPutOffError, match="finalizer"):
            array.append([7])
        seen.append(zarr.open_array(store, mode="r").shape)

    store.between = between
    array[1] = 5
    assert seen == [(6,)]
    assert wait_for_all()
    assert zarr.open_array(store, mode="r")[:].tolist() == [1, 5, 1, 1, 1, 1, 7]
    assert array.append([8]) == (8,)


def test_attributes_and_new_arrays_are_put_off_as_a_whole() -> None:
    store, array = interrupted(name="a", shape=6)
    node = f"node:{store.lock_prefix}/b/zarr.json"
    timers: list[threading.Timer] = []

    def between() -> None:
        timers.append(let_go_later([node, f"node:{store.lock_prefix}/a/zarr.json"]))
        array.attrs["x"] = 1
        try:
            zarr.create_array(store, name="b", data=np.arange(4))
        except OperationPutOffError:
            pass

    store.between = between
    array[1] = 5
    timers[0].join()
    assert wait_for_all()
    assert zarr.open_array(store, path="a", mode="r").attrs["x"] == 1
    assert zarr.open_array(store, path="b", mode="r")[:].tolist() == [0, 1, 2, 3]


def test_the_number_of_a_thread_that_has_ended_stands_for_nobody() -> None:
    """Numbers of threads are given anew; and Ctrl-C may have left a holder behind."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=0, chunks=8, dtype="i4")
    left = Holder("elsewhere")
    locks._holding[left] = None
    locks.STORING["elsewhere"] = threading.get_ident()
    try:
        timer = let_go_later([f"node:{store.lock_prefix}/zarr.json", f"chunk:{store.lock_prefix}/c/0"])
        assert array.append([1]) == (1,)
        timer.join()
    finally:
        del locks._holding[left], locks.STORING["elsewhere"]
    assert left.after == []
    assert array[:].tolist() == [1]


def test_a_key_that_somebody_was_killed_over_is_waited_for() -> None:
    """Who wants a key is not amid an operation that holds it because he knows its name."""
    store = MemoryStore()
    name = f"chunk:{store.lock_prefix}/k"

    def storing() -> Steps[None]:
        yield Put("k", Buffer.from_bytes(b"1"), locks=True)

    locks.STORING[name] = threading.get_ident()
    try:
        timer = let_go_later([f"chunk:{store.lock_prefix}/k"])
        InlineRunner(store).run(storing())
        timer.join()
    finally:
        locks.STORING.pop(name, None)
    assert list(store._store_dict) == ["k"]


async def test_a_synchronous_call_amid_tasks_that_hold_what_it_wants() -> None:
    """It can wait neither here, where the task could not go on, nor say what it has not got yet."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=0, chunks=8, dtype="i4")
    holder = Holder(store.lock_prefix)
    await holder.acquire_async(("zarr.json",), "node")
    try:
        with pytest.raises(OperationPutOffError):
            array.append([1])
    finally:
        holder.release()
    assert await asyncio.to_thread(wait_for_all)
    assert zarr.open_array(store, mode="r")[:].tolist() == [1]


# ------------------------------------------------------------------------------------- the table itself


def test_ctrl_c_just_as_a_key_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for it looks himself, some time."""
    table = LockTable()

    def press(*arguments: Any) -> None:
        raise KeyboardInterrupt

    got = threading.Event()

    def wait() -> None:
        table.acquire("a")
        got.set()

    assert table.try_acquire("a")
    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    while not table.queues["a"]:
        pass
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(table, "hand_over", press)
        table.release("a")
    assert got.wait(10)
    table.release("a")
    assert len(table) == 0


async def test_ctrl_c_just_as_a_key_is_handed_to_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    table = LockTable()

    def press(*arguments: Any) -> None:
        raise KeyboardInterrupt

    assert table.try_acquire("a")
    task = asyncio.ensure_future(table.acquire_async("a"))
    await asyncio.sleep(0)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(table, "hand_over", press)
        table.release("a")
    await asyncio.wait_for(task, 10)
    table.release("a")
    assert len(table) == 0


@pytest.mark.parametrize("turns", range(4))
async def test_a_task_cancelled_around_the_moment_when_it_is_given_the_key(turns: int) -> None:
    table = LockTable()
    assert table.try_acquire("a")
    first = asyncio.ensure_future(table.acquire_async("a"))
    second = asyncio.ensure_future(table.acquire_async("a"))
    await asyncio.sleep(0.01)
    table.release("a")
    for _ in range(turns):
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait((first,))
    if not first.cancelled():
        table.release("a")
    await asyncio.wait_for(second, 10)
    table.release("a")
    assert len(table) == 0


@pytest.mark.parametrize("gil", [True, False])
def test_only_one_holds_a_key_and_nobody_waits_for_ever(gil: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads and tasks, some of which give up at any moment, with and without the guard around every change."""
    monkeypatch.setattr("zarr.runners.locks.table.GIL", gil)
    table = LockTable()
    inside, most, taken = [0], [0], [0]

    def use() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        taken[0] += 1
        inside[0] -= 1

    def by_thread() -> None:
        for number in range(200):
            off = threading.Event()
            if number % 7 == 0:
                off.set()
            try:
                table.acquire("a", off if number % 2 else None)
            except CalledOff:
                continue
            use()
            table.release("a")

    async def by_task(number: int) -> None:
        for turn in range(40):
            task = asyncio.ensure_future(table.acquire_async("a"))
            if (number + turn) % 3 == 0:
                await asyncio.sleep(0)
                task.cancel()
            await asyncio.wait((task,))
            if not task.cancelled():
                use()
                table.release("a")

    async def tasks() -> None:
        await asyncio.gather(*(by_task(number) for number in range(6)))

    threads = [threading.Thread(target=by_thread, daemon=True) for _ in range(4)]
    threads += [threading.Thread(target=lambda: asyncio.run(tasks()), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert most[0] == 1
    assert taken[0] > 1000
    assert len(table) == 0
