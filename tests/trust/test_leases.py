"""Processes that share a store without a folder for lock files: nothing is lost, and the dead hold up nobody."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import SLOWNESS, rounds, run_together
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import LockLostError
from zarr.runners.locks.leases import take_lease
from zarr.runners.locks.table import LOCKS
from zarr.storage import ObjectStore, SQLiteStore, WrapperStore
from zarr.storage.keys import is_lock

posix = pytest.mark.skipif(sys.platform == "win32", reason="posix only")
PROCESS = {"locking": "process"}


class Remote(WrapperStore[Any]):
    """A store of coroutines that compares before it stores, as an object store does."""

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        await asyncio.sleep(0)
        return await self._store.get(key, prototype, byte_range)

    def lock_folder(self, path: str) -> None:
        return None


class Stranger(Remote):
    """One that locks nothing together with others of this process: as if it were in a process of its own."""

    @property
    def lock_prefix(self) -> str:
        return f"stranger:{id(self)}"


def strangers(kind: str, folder: Path, count: int = 4) -> list[Any]:
    if kind == "sqlite":
        return [Stranger(SQLiteStore(folder / "data")) for _ in range(count)]
    obstore = pytest.importorskip("obstore.store")
    shared = ObjectStore(obstore.MemoryStore())
    return [Stranger(shared) for _ in range(count)]


pytestmark = pytest.mark.clock
LEASE = 1.5 * SLOWNESS


@pytest.fixture(autouse=True)
def short_leases() -> Any:
    with zarr.config.set({"array.lock_lease_seconds": LEASE}):
        yield


KINDS = ["sqlite", "obstore"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [None, (16, 16)])
def test_partial_writes(kind: str, shards: Any, tmp_path: Path) -> None:
    stores = strangers(kind, tmp_path)
    zarr.create_array(stores[0], shape=(16, 16), chunks=(8, 8), shards=shards, dtype="i4")
    arrays = [zarr.open_array(store, mode="r+", config=PROCESS) for store in stores]
    for turn in range(1, rounds(3, 25) + 1):
        run_together([partial(arrays[n].__setitem__, (slice(n, 16, 4), slice(None)), turn + n) for n in range(4)])
        np.testing.assert_array_equal(arrays[0][:, 0], turn + np.arange(16) % 4)
    assert len(LOCKS) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_emptied_parts(kind: str, tmp_path: Path) -> None:
    """A chunk that becomes all fill is not deleted under a writer who has read it before."""
    stores = strangers(kind, tmp_path, 2)
    zarr.create_array(stores[0], shape=8, chunks=8, dtype="i4")
    arrays = [zarr.open_array(store, mode="r+", config=PROCESS) for store in stores]
    for turn in range(1, rounds(10, 100) + 1):
        arrays[0][:4] = turn
        first, second = (array.__setitem__ for array in arrays)
        run_together([partial(first, slice(0, 4), 0), partial(second, slice(4, 8), turn % 3)])
        assert arrays[0][:].tolist() == [0] * 4 + [turn % 3] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_appends_attributes_and_members(kind: str, tmp_path: Path) -> None:
    stores = strangers(kind, tmp_path)
    zarr.create_group(stores[0]).create_array("a", shape=0, chunks=3, dtype="i4")
    zarr.consolidate_metadata(stores[0])
    many = rounds(2, 10)

    def work(number: int) -> None:
        group = zarr.open_group(stores[number], mode="r+", use_consolidated=False)
        for i in range(many):
            group["a"].append([number * many + i])
            group["a"].attrs[f"{number}-{i}"] = i
            group.create_array(f"{number}-{i}", shape=1, dtype="i4")

    with zarr.config.set({"array.locking": "process"}):  # for all threads: the setting is one for the process
        run_together([lambda n=n: work(n) for n in range(4)])
    group = zarr.open_group(stores[0], mode="r", use_consolidated=False)
    assert sorted(group["a"][:].tolist()) == list(range(4 * many))
    assert len(group["a"].attrs) == 4 * many
    copy = zarr.open_group(stores[0], mode="r", use_consolidated=True)
    assert sorted(copy.keys()) == sorted(group.keys())
    assert len(list(copy.keys())) == 4 * many + 1
    assert not any(is_lock(key) or key.startswith(".") for key in group)


def append_remote(number: int, store: Any, times: int) -> None:
    array = zarr.open_array(store, mode="r+", config=PROCESS)
    for i in range(times):
        array.append([number * times + i])


@pytest.mark.slow
def test_processes(tmp_path: Path) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    zarr.create_array(store, shape=0, chunks=4, dtype="i4", config=PROCESS)
    context = multiprocessing.get_context("spawn")
    times = rounds(5, 25)
    processes = [context.Process(target=append_remote, args=(number, store, times)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert sorted(zarr.open_array(store, mode="r")[:].tolist()) == list(range(3 * times))


HOLD = """
import asyncio, sys, zarr
from tests.trust.test_leases import Remote
from zarr.runners.locks.leases import take_lease
from zarr.storage import SQLiteStore

async def main():
    lease = await take_lease(Remote(SQLiteStore(sys.argv[1])), sys.argv[2])
    print("held", flush=True)
    await asyncio.sleep(600)

with zarr.config.set({"array.lock_lease_seconds": float(sys.argv[3])}):
    asyncio.run(main())
"""


@posix
def test_killed_holder_holds_up_nobody_for_long(tmp_path: Path) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    array = zarr.create_array(store, shape=0, chunks=4, dtype="i4", config=PROCESS)
    command = [sys.executable, "-c", HOLD, str(tmp_path / "data"), ".zarr-locks/0.node", str(LEASE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        done = threading.Event()
        writer = threading.Thread(target=lambda: (array.append([7]), done.set()))
        writer.start()
        assert not done.wait(LEASE + 1), "the lease lasts while its holder lives"
        process.send_signal(signal.SIGKILL)
        begin = time.monotonic()
        assert done.wait(60)
        assert time.monotonic() - begin > 0.5
        writer.join()
    assert array[:].tolist() == [7]


async def test_a_lease_that_ran_out_stores_nothing(tmp_path: Path) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    with zarr.config.set({"array.lock_lease_seconds": LASTS / 2}):
        lease = await take_lease(store, "lock")
        lease.check()
        assert lease._renewal is not None
        lease._renewal.cancel()  # as in a process that is stopped for a while
        other = await asyncio.wait_for(take_lease(store, "lock"), 60)
        with pytest.raises(LockLostError, match="lock_lease_seconds"):
            lease.check()
        other.check()
        await lease.end()
        other.check()
        await other.end()
        await (await asyncio.wait_for(take_lease(store, "lock"), 60)).end()


async def test_a_waiting_task_can_be_cancelled(tmp_path: Path) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    lease = await take_lease(store, "lock")
    task = asyncio.ensure_future(take_lease(store, "lock"))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    lease.check()
    await lease.end()
    await (await asyncio.wait_for(take_lease(store, "lock"), 60)).end()


def test_a_document_that_changed_under_a_lease_is_not_replaced(tmp_path: Path) -> None:
    """Whoever does not heed the locks: what the others read is not stored over."""
    inner = SQLiteStore(tmp_path / "data")

    class Meddled(Remote):
        armed = False

        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            found = await self._store.get(key, prototype, byte_range)
            if self.armed and key == "zarr.json":
                inner.set_sync(key, default_buffer_prototype().buffer.from_bytes(found.to_bytes() + b" "))
            return found

    store = Meddled(inner)
    array = zarr.create_array(store, shape=0, chunks=4, dtype="i4", config=PROCESS)
    store.armed = True
    with pytest.raises(LockLostError, match=r"zarr\.json"):
        array.attrs["a"] = 1
    store.armed = False
    array.attrs["a"] = 1
    assert dict(zarr.open_array(store, mode="r").attrs) == {"a": 1}


def test_local_folders_behind_obstore_use_lock_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes do not lock names in the folders themselves, as on Linux."""
    obstore = pytest.importorskip("obstore.store")
    monkeypatch.setattr(ObjectStore, "locks_folders", False)
    store = ObjectStore(obstore.LocalStore(tmp_path, mkdir=True))
    group = zarr.create_group(store)
    array = group.create_array("a", shape=8, chunks=4, dtype="i4", config=PROCESS)
    array[1:3] = 7
    array.append(np.zeros(1, "i4"))
    assert (tmp_path / "a/.zarr-locks/0.node").is_file()

    async def look() -> list[Any]:
        keys = [key async for key in store.list()]
        below = [key async for key in store.list_prefix("a/")]
        return [sorted(keys), sorted(below), [name async for name in store.list_dir("a")]]

    keys, below, names = asyncio.run(look())
    assert keys == ["a/c/0", "a/zarr.json", "zarr.json"]
    assert below == ["a/c/0", "a/zarr.json"]
    assert names == ["c", "zarr.json"]


# --------------------------------------------------------------------------------------- clocks that jump, pauses


WHO: ContextVar[str] = ContextVar("WHO", default="")


class Clocks:
    """The clocks of several processes that are tasks here: each can be set forward, back, or stopped."""

    def __init__(self) -> None:
        self.ahead: dict[str, float] = {}
        self.stopped: dict[str, float] = {}

    def __call__(self) -> float:
        who = WHO.get()
        return self.stopped.get(who, time.monotonic() + self.ahead.get(who, 0.0))


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    made = Clocks()
    monkeypatch.setattr("zarr.runners.locks.leases.clock", made)
    return made


def as_process(who: str, coroutine: Any) -> Any:
    """A task with a clock of its own."""
    context = copy_context()
    context.run(WHO.set, who)
    return context.run(asyncio.ensure_future, coroutine)


LASTS = 1.5 * SLOWNESS
ROWS = 40
"""Many whole chunks, which are written at the same time."""


@pytest.fixture
def brief() -> Any:
    with zarr.config.set({"array.lock_lease_seconds": LASTS}):
        yield


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("jump", [3600.0, -3600.0])
async def test_a_clock_that_jumps_takes_no_lease_from_the_living(jump: float, clocks: Clocks, tmp_path: Path) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    lease = await as_process("holder", take_lease(store, "lock"))
    waiter = as_process("waiter", take_lease(store, "lock"))
    for _ in range(6):
        await asyncio.sleep(LASTS / 3)
        clocks.ahead["waiter"] = clocks.ahead.get("waiter", 0.0) + jump
        assert not waiter.done()
        assert not lease._lost
    await lease.end()
    await (await asyncio.wait_for(waiter, 60)).end()


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("jump", [3600.0, -3600.0, 0.0])
async def test_a_clock_that_jumps_waits_no_longer_for_the_dead(jump: float, clocks: Clocks, tmp_path: Path) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    lease = await as_process("holder", take_lease(store, "lock"))
    lease._renewal.cancel()  # it is dead
    waiter = as_process("waiter", take_lease(store, "lock"))
    await asyncio.sleep(LASTS / 3)
    clocks.ahead["waiter"] = jump
    begin = time.monotonic()
    await (await asyncio.wait_for(waiter, 60)).end()
    assert time.monotonic() - begin < 10 * LASTS


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("jump", [3600.0, -3600.0])
async def test_a_holder_whose_clock_jumps_is_sure_again_when_it_has_renewed(
    jump: float, clocks: Clocks, tmp_path: Path
) -> None:
    store = Remote(SQLiteStore(tmp_path / "data"))
    WHO.set("holder")
    lease = await take_lease(store, "lock")
    clocks.ahead["holder"] = jump
    with pytest.raises(LockLostError):
        lease.check()
    renewed, _ = lease._valid
    begin = time.monotonic()
    while lease._valid[0] == renewed and time.monotonic() - begin < 60:
        await asyncio.sleep(0.01)
    lease.check()
    await lease.end()


STRANGE = [
    b"", b"[]", b"null", b"{", b"\xff\x00", b"[" * 200_000, b'{"owner": "x"}', b'{"owner": "x", "seconds": NaN}',
    b'{"owner": "x", "seconds": Infinity}', b'{"owner": "x", "seconds": -5}', b'{"owner": "x", "seconds": 1e999}',
    b'{"owner": ["x"], "seconds": 0.2}', b'{"owner": "another host", "beat": 7, "seconds": 0.9}',
]  # fmt: skip


@pytest.mark.usefixtures("brief")
async def test_what_others_left_in_place_of_a_lease_does_not_last(tmp_path: Path) -> None:
    """Of a host that is no more, of another program, or damaged: it is waited for once, and taken."""
    store = Remote(SQLiteStore(tmp_path / "data"))
    make = default_buffer_prototype().buffer.from_bytes
    for number, raw in enumerate(STRANGE):
        await store.set(f"lock{number}", make(raw))
    begin = time.monotonic()
    leases = await asyncio.wait_for(asyncio.gather(*(take_lease(store, f"lock{n}") for n in range(len(STRANGE)))), 200)
    assert time.monotonic() - begin > LASTS / 2
    for lease in leases:
        lease.check()
        await lease.end()


class Sleepy(Stranger):
    """One whose process does nothing until it is woken, just when it has read a document under its lock."""

    tired = False

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.asleep, self.woken = threading.Event(), threading.Event()

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = await super().get(key, prototype, byte_range)
        if key.endswith("zarr.json") and self.tired:
            self.tired = False
            self.asleep.set()
            self.woken.wait(60)  # its loop stands still, and with it the renewal of its leases
        return found


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunks", [1, 2, 3])
@pytest.mark.parametrize("stopped", [False, True])
def test_who_comes_back_after_another_has_taken_over(
    kind: str, chunks: int, stopped: bool, clocks: Clocks, tmp_path: Path
) -> None:
    """It stores nothing over what the other has stored: neither its document nor, by a clock that goes, its chunks."""
    other, shared = strangers(kind, tmp_path, 2)
    sleepy = Sleepy(shared._store)
    zarr.create_array(other, shape=2, chunks=chunks, dtype="i4", compressors=None)
    errors: list[Exception] = []

    async def work() -> None:
        WHO.set("sleepy")
        array = await zarr.api.asynchronous.open_array(store=sleepy, config=PROCESS)
        sleepy.tired = True
        if stopped:
            clocks.stopped["sleepy"] = time.monotonic()
        try:
            await (array.update_attributes({"late": 1}) if stopped else array.append(np.full(ROWS, 7, "i4")))
        except LockLostError as error:
            errors.append(error)

    late = threading.Thread(target=lambda: asyncio.run(work()))
    late.start()
    assert sleepy.asleep.wait(60)
    array = zarr.open_array(other, config=PROCESS)
    array.append(np.full(ROWS, 5, "i4"))
    array.attrs["mine"] = 1
    sleepy.woken.set()
    late.join(60)
    assert len(errors) == 1
    found = zarr.open_array(other, mode="r")
    assert found[:].tolist() == [0, 0, *[5] * ROWS]
    assert dict(found.attrs) == {"mine": 1}
    assert len(LOCKS) == 0
