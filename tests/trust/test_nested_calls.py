"""A call inside an operation of the same thread that holds what it needs is refused at once; nobody waits for ever."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import zarr
from zarr.errors import LockedByCallerError
from zarr.runners.locks.operation import Holder
from zarr.runners.locks.table import LOCKS, CalledOff, LockTable, wait_async
from zarr.storage import MemoryStore, WrapperStore


class Interrupted(MemoryStore):
    """While it reads or stores a chunk, something else comes in between, as a finalizer does."""

    between: Callable[[], None] | None = None

    def come_between(self, key: str) -> None:
        if self.between is not None and "c/" in key:
            between, self.between = self.between, None
            between()

    def get_sync(self, key: str, **options: Any) -> Any:
        found = super().get_sync(key, **options)
        self.come_between(key)
        return found

    def set_sync(self, key: str, value: Any) -> None:
        self.come_between(key)
        super().set_sync(key, value)


@pytest.fixture(autouse=True)
def nothing_is_left_over() -> Iterator[None]:
    gc.collect()
    yield
    assert len(LOCKS) == 0
    assert not LOCKS.trees


def interrupted(**members: Any) -> tuple[Interrupted, zarr.Array[Any]]:
    """Such a store, with an array of ones in it."""
    store = Interrupted()
    array = zarr.create_array(store, chunks=8, dtype="i4", **members)
    array[:] = 1
    return store, array


def release_later(names: list[str], seconds: float = 0.2) -> threading.Timer:
    """Acquire keys as another thread would, and release them after a while."""
    for name in names:
        assert LOCKS.try_acquire(name)
    timer = threading.Timer(seconds, lambda: [LOCKS.release(name) for name in names])
    timer.start()
    return timer


def write_part(array: Any) -> None:
    array[2] = 7


def write_whole(array: Any) -> None:
    array[:8] = 7


def append(array: Any) -> None:
    array.append([7])


def write_many(array: Any) -> None:
    array[:] = 7


CALLS = [write_part, write_whole, append, write_many]


@pytest.mark.parametrize("outer", [write_part, write_whole])
@pytest.mark.parametrize("inner", CALLS)
@pytest.mark.parametrize("shards", [None, (8,)])
def test_a_call_that_needs_what_the_interrupted_one_holds_is_refused(outer: Any, inner: Any, shards: Any) -> None:
    store = Interrupted()
    array = zarr.create_array(store, shape=6, chunks=8 if shards is None else 4, shards=shards, dtype="i4")
    array[:] = 1
    before = {key: value.to_bytes() for key, value in store._store_dict.items()}
    seen: list[Any] = []

    def between() -> None:
        with pytest.raises(LockedByCallerError, match="holds locks"):
            inner(array)
        seen.append({key: value.to_bytes() for key, value in store._store_dict.items()})

    store.between = between
    outer(array)
    assert seen == [before], "the refused call has stored nothing"
    assert array[:].tolist() == ([1, 1, 7, 1, 1, 1] if outer is write_part else [7] * 6)


def test_a_call_that_finds_its_keys_free_is_done() -> None:
    store, array = interrupted(shape=24)

    def between() -> None:
        array[9] = 7
        array.attrs["x"] = 1
        assert array[16:].tolist() == [1] * 8

    store.between = between
    array[1] = 5
    assert array[[1, 9]].tolist() == [5, 7]
    assert array.attrs["x"] == 1


def test_a_call_that_would_wait_for_another_thread_is_refused_too() -> None:
    """That thread may wait for what the interrupted operation holds."""
    store, array = interrupted(shape=24)

    def between() -> None:
        timer = release_later([f"chunk:{store.lock_prefix}/c/1"])
        with pytest.raises(LockedByCallerError):
            array[9] = 7
        timer.join()

    store.between = between
    array[1] = 5
    array[9] = 8
    assert array[[1, 9]].tolist() == [5, 8]


def test_a_finalizer_may_catch_the_refusal() -> None:
    store, array = interrupted(shape=8)
    refused: list[BaseException] = []

    class Late:
        def __del__(self) -> None:
            try:
                array[2] = 7
            except LockedByCallerError as error:
                refused.append(error)

    def between() -> None:
        Late()

    store.between = between
    array[1] = 5
    assert len(refused) == 1
    assert array[:3].tolist() == [1, 5, 1]


def test_locks_of_other_threads_are_waited_for_where_nothing_is_interrupted() -> None:
    store, array = interrupted(shape=8)
    timer = release_later([f"chunk:{store.lock_prefix}/c/0"])
    array[2] = 7
    timer.join()
    with zarr.ThreadSynchronizer()["a lock of the user's own"]:
        timer = release_later([f"chunk:{store.lock_prefix}/c/0"])
        array[1] = 5
        timer.join()
    assert array[:3].tolist() == [1, 5, 7]


async def test_a_synchronous_call_among_tasks_that_hold_what_it_needs() -> None:
    """It would wait for a task that cannot go on meanwhile."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=0, chunks=8, dtype="i4")
    holder = Holder(store.lock_prefix)
    await holder.acquire_async(("zarr.json",), "node")
    try:
        with pytest.raises(LockedByCallerError, match="asynchronous twin"):
            array.append([1])
    finally:
        holder.release()
    assert array.append([1]) == (1,)


class Slow(WrapperStore[Any]):
    """A store of coroutines, which stores chunks a while after it is asked to."""

    async def set(self, key: str, value: Any) -> None:
        await asyncio.sleep(0.1 if "zarr" not in key else 0)
        await self._store.set(key, value)


@pytest.mark.parametrize("kind", [MemoryStore, lambda: Slow(MemoryStore())])
@pytest.mark.parametrize("call", [write_part, write_whole])
async def test_a_synchronous_call_beside_a_task_that_is_writing(kind: Any, call: Any) -> None:
    """The background loop would wait for the task, and the task for this thread, which waits for the background."""
    store = kind()
    array = await zarr.api.asynchronous.create_array(store, shape=16, chunks=16, dtype="i4")
    name = f"chunk:{store.lock_prefix}/c/0"
    taken = LOCKS.try_acquire(name)  # by nobody of this thread, so that the task has to wait
    assert taken
    task = asyncio.ensure_future(array.setitem(0, 5))
    while len(LOCKS.queues[name]) < 2:
        await asyncio.sleep(0.01)
    with pytest.raises(LockedByCallerError, match="gets this one first"):
        call(zarr.Array(array))
    LOCKS.release(name)
    if isinstance(store, Slow):
        await asyncio.sleep(0.05)
        with pytest.raises(LockedByCallerError, match="asynchronous twin"):
            call(zarr.Array(array))
    await task
    call(zarr.Array(array))
    assert (await array.getitem(2)) == 7
    assert len(LOCKS) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="posix signals")
def test_a_finalizer_behind_a_wait_of_its_own_thread_is_refused() -> None:
    """The key is given to the wait that it interrupts."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=8, chunks=8, dtype="i4")
    name = f"chunk:{store.lock_prefix}/c/0"
    assert LOCKS.try_acquire(name)
    refused: list[BaseException] = []

    def press(*arguments: Any) -> None:
        try:
            array[2] = 7
        except LockedByCallerError as error:
            refused.append(error)
        LOCKS.release(name)

    former = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        array[1] = 5
    finally:
        signal.signal(signal.SIGALRM, former)
    assert len(refused) == 1
    assert array[:3].tolist() == [0, 5, 0]


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
    while len(table.queues["a"]) < 2:
        pass
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(table, "grant", press)
        table.release("a")
    assert got.wait(60)
    table.release("a")
    assert len(table) == 0


async def test_ctrl_c_just_as_a_key_is_handed_to_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    table = LockTable()

    def press(*arguments: Any) -> None:
        raise KeyboardInterrupt

    assert table.try_acquire("a")
    task = asyncio.ensure_future(wait_async(table.acquiring("a")))
    await asyncio.sleep(0)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(table, "grant", press)
        table.release("a")
    await asyncio.wait_for(task, 60)
    table.release("a")
    assert len(table) == 0


@pytest.mark.parametrize("turns", range(4))
async def test_a_task_cancelled_around_the_moment_when_it_is_given_the_key(turns: int) -> None:
    table = LockTable()
    assert table.try_acquire("a")
    first = asyncio.ensure_future(wait_async(table.acquiring("a")))
    second = asyncio.ensure_future(wait_async(table.acquiring("a")))
    await asyncio.sleep(0.01)
    table.release("a")
    for _ in range(turns):
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait((first,))
    if not first.cancelled():
        table.release("a")
    await asyncio.wait_for(second, 60)
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
            task = asyncio.ensure_future(wait_async(table.acquiring("a")))
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
