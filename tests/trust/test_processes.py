"""Processes that write to the same array with ``locking="process"`` lose nothing, and the dead hold up nobody."""

from __future__ import annotations

import asyncio
import functools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import check_waits, run_processes
from zarr.runners.locks.folders import Place
from zarr.runners.locks.processes import STRIPES, lock_file, lock_paths, locking
from zarr.runners.locks.table import wait_async
from zarr.steps.requests import LockScope
from zarr.storage import FsspecStore, LMDBStore, LocalStore, MemoryStore, SQLiteStore, WrapperStore, ZipStore

posix = pytest.mark.skipif(sys.platform == "win32", reason="posix only")
METHODS = ["spawn", pytest.param("fork", marks=posix)]
KINDS = ["local", "sqlite", *(["lmdb"] if find_spec("lmdb") else [])]
# Starting an interpreter takes seconds: one store is enough to show that all of it survives the way to another one.
PAIRS = [("spawn", "local"), *(pytest.param("fork", kind, marks=posix) for kind in KINDS)]
WORKERS = 4


def make_store(kind: str, folder: Any) -> Any:
    if kind == "local":
        return LocalStore(Path(folder) / "data")
    return SQLiteStore(Path(folder) / "data") if kind == "sqlite" else LMDBStore(Path(folder) / "data", sync=False)


def open_locked(store: Any, config: Any = None) -> Any:
    return zarr.open_array(store, mode="r+", config=config or {"locking": "process"})


# --------------------------------------------------------------------------------------------- nothing is lost


def write_rows(number: int, barrier: Any, store: Any, rounds: int) -> None:
    array = open_locked(store)
    for round_number in range(rounds):
        barrier.wait(60)
        rows = np.arange(number, 16, WORKERS)
        array.oindex[rows, :] = round_number * 100 + number + 1


@pytest.mark.parametrize(("method", "kind"), PAIRS)
@pytest.mark.parametrize("shards", [None, (16, 16)])
def test_partial_writes(method: str, kind: str, shards: Any, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    array = zarr.create_array(store, shape=(16, 16), chunks=(8, 8), shards=shards, dtype="i4")
    rounds = 15
    run_processes(WORKERS, method, write_rows, store, rounds)
    expected = ((rounds - 1) * 100 + np.arange(16) % WORKERS + 1)[:, None].repeat(16, axis=1)
    np.testing.assert_array_equal(array[...], expected)


def count_up(number: int, barrier: Any, store: Any, times: int) -> None:
    """Each adds to elements of its own, whole chunks and parts of them by turns."""
    array = open_locked(store)
    barrier.wait(60)
    for i in range(times):
        array[number * 5 : number * 5 + 5] = i + 1
        array[20 + number] = i + 1


@posix
def test_writes_that_cross_chunks(tmp_path: Path) -> None:
    store = make_store("local", tmp_path)
    array = zarr.create_array(store, shape=24, chunks=4, dtype="i4")
    run_processes(WORKERS, "fork", count_up, store, 40)
    np.testing.assert_array_equal(array[:], np.full(24, 40))


def append_rows(number: int, barrier: Any, store: Any, times: int, config: Any) -> None:
    array = open_locked(store, config)
    barrier.wait(60)
    for i in range(times):
        array.append(np.full((1, 4), number * times + i + 1, "i4"))


@pytest.mark.parametrize(("method", "kind"), PAIRS)
@pytest.mark.parametrize("place", ["beside", "folder"])
def test_appends(method: str, kind: str, place: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, shape=(0, 4), chunks=(3, 4), dtype="i4")
    config = {"locking": "process" if place == "beside" else f"process:{tmp_path}/locks"}
    run_processes(WORKERS, method, append_rows, store, 10, config)
    rows = zarr.open_array(store, mode="r")[...]
    assert sorted(rows[:, 0].tolist()) == list(range(1, 10 * WORKERS + 1))
    assert (rows == rows[:, :1]).all()
    assert (tmp_path / "locks").is_dir() == (place == "folder")


def update_attributes(number: int, barrier: Any, store: Any, times: int) -> None:
    synchronizer = zarr.ProcessSynchronizer(Path(store.root).parent / "locks")
    group = zarr.open_group(store, mode="r+", synchronizer=synchronizer)
    barrier.wait(60)
    for i in range(times):
        group.attrs[f"{number}-{i}"] = i
        group["array"].attrs[f"{number}-{i}"] = i


@pytest.mark.parametrize("method", METHODS)
def test_attributes(method: str, tmp_path: Path) -> None:
    store = make_store("local", tmp_path)
    zarr.create_group(store).create_array("array", shape=1, dtype="i4")
    run_processes(WORKERS, method, update_attributes, store, 10)
    group = zarr.open_group(store, mode="r")
    assert len(group.attrs) == len(group["array"].attrs) == 10 * WORKERS


def append_in_threads(number: int, barrier: Any, store: Any, times: int) -> None:
    array = open_locked(store)
    barrier.wait(60)

    def work(thread: int) -> None:
        for i in range(times):
            array.append(np.array([(number * 3 + thread) * times + i + 1]))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@posix
def test_threads_of_processes(tmp_path: Path) -> None:
    store = make_store("local", tmp_path)
    zarr.create_array(store, shape=0, chunks=4, dtype="i8")
    run_processes(WORKERS, "fork", append_in_threads, store, 5)
    assert sorted(zarr.open_array(store, mode="r")[:].tolist()) == list(range(1, 15 * WORKERS + 1))


def append_in_tasks(number: int, barrier: Any, store: Any, times: int) -> None:
    async def main() -> None:
        array = await zarr.api.asynchronous.open_array(store=store, mode="r+", config={"locking": "process"})
        barrier.wait(60)
        await asyncio.gather(*(array.append(np.array([number * times + i + 1])) for i in range(times)))

    asyncio.run(main())


@posix
def test_tasks_of_processes(tmp_path: Path) -> None:
    store = make_store("local", tmp_path)
    zarr.create_array(store, shape=0, chunks=4, dtype="i8")
    run_processes(WORKERS, "fork", append_in_tasks, store, 8)
    assert sorted(zarr.open_array(store, mode="r")[:].tolist()) == list(range(1, 8 * WORKERS + 1))


def write_remote(number: int, barrier: Any, store: Any, locks: str, times: int) -> None:
    array = zarr.open_array(store, mode="r+", synchronizer=zarr.ProcessSynchronizer(locks))
    barrier.wait(60)
    for i in range(times):
        array[number * 2 : number * 2 + 2] = i + 1


def test_stores_of_coroutines(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    store = FsspecStore.from_url(f"local://{tmp_path}/data")
    array = zarr.create_array(store, shape=8, chunks=8, dtype="i4")
    run_processes(WORKERS, "spawn", write_remote, store, str(tmp_path / "locks"), 15)
    np.testing.assert_array_equal(array[:], np.full(8, 15))


# --------------------------------------------------------------------------------------------- the dead

HOLD = """
import sys, time
from zarr_core import Folder, FolderLock
lock = FolderLock(Folder(sys.argv[1]), (sys.argv[2],))
assert lock.try_acquire() == 0
print("locked", flush=True)
time.sleep(600)
"""


HOLD_FILE = """
import sys, time
from zarr.runners.locks.processes import lock_file
file = lock_file(sys.argv[1])
print("locked", flush=True)
time.sleep(600)
"""


@posix
def test_killed_holder_holds_up_nobody(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    array = zarr.create_array(store, shape=8, chunks=4, dtype="i4", config={"locking": "process"})
    places = [
        *lock_paths(store, LockScope(""), ["c/0"], "chunk"),
        *lock_paths(store, LockScope(""), [""], "node"),
    ]
    assert len(places) == 2
    for place in places:
        assert isinstance(place, Place)
        command = [sys.executable, "-c", HOLD, place.folder, place.names[0]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            check_waits(
                lambda: (array.__setitem__(slice(1, 3), 7), array.append(np.zeros(1, "i4"))),
                functools.partial(process.send_signal, signal.SIGKILL),
                "the lock keeps others out while its holder lives",
            )
    assert array[1:3].tolist() == [7, 7]
    assert array.shape == (10,)


@posix
def test_lock_held_while_a_child_is_forked(tmp_path: Path) -> None:
    """The child does not go on holding what its parent held when it died."""
    script = """
import os, sys, time
from zarr.runners.locks.processes import lock_file
file = lock_file(sys.argv[1])
child = os.fork()
if child == 0:
    os.close(1)
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""
    path = str(tmp_path / "lock")
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            process.send_signal(signal.SIGKILL)
            process.wait()
            done = threading.Event()
            threading.Thread(target=lambda: (lock_file(path).close(), done.set()), daemon=True).start()
            assert done.wait(60)
        finally:
            os.kill(child, signal.SIGKILL)


@posix
def test_child_forked_under_a_lock_leaves_it_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    synchronizer = zarr.ProcessSynchronizer(tmp_path)
    with synchronizer["key"]:
        file = lock_file(path)
        child = os.fork()
        if child == 0:
            file.close()  # does nothing: it is the parent's
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with subprocess.Popen([sys.executable, "-c", HOLD_FILE, path], stdout=subprocess.PIPE, text=True) as process:
            time.sleep(1.0)
            assert process.poll() is None
            file.close()
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            process.kill()


# --------------------------------------------------------------------------------------------- the lock files


def test_lock_files_are_no_keys(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    group = zarr.create_group(store)
    array = group.create_array("a/b", shape=8, chunks=4, dtype="i4")
    array[1:3] = 1
    array.resize(6)
    (tmp_path / "a/b/.zarr-locks").mkdir()  # of a system where folders have no locks
    (tmp_path / "a/b/.zarr-locks/0.node").touch()
    assert sorted(store.list_sync()) == ["a/b/c/0", "a/b/zarr.json", "a/zarr.json", "zarr.json"]
    assert sorted(store.list_prefix_sync("a/b")) == ["a/b/c/0", "a/b/zarr.json"]
    assert sorted(store.list_dir_sync("a/b")) == ["c", "zarr.json"]
    assert sorted(name for name, _ in group.members(max_depth=None)) == ["a", "a/b"]
    assert array.nbytes_stored() == sum((tmp_path / "a/b" / name).stat().st_size for name in ("zarr.json", "c/0"))
    with pytest.raises(ValueError, match="reserved"):
        asyncio.run(store.set("a/.zarr-locks/x", zarr.core.buffer.cpu.Buffer.from_bytes(b"")))
    del group["a/b"]
    assert not (tmp_path / "a/b").exists()


def test_locks_do_not_depend_on_where_the_store_begins(tmp_path: Path) -> None:
    for folder in (None, str(tmp_path / "locks")):
        scopes = LockScope("a/b", folder), LockScope("", folder)
        for keys, family in ((["c/0/1"], "chunk"), (["zarr.json"], "node")):
            above = lock_paths(LocalStore(tmp_path), scopes[0], [f"a/b/{key}" for key in keys], family)
            below = lock_paths(LocalStore(tmp_path / "a/b"), scopes[1], keys, family)
            if folder is None:
                above, below = ([(place.folder, place.names[0]) for place in places] for places in (above, below))
                above = above[-len(below) :]  # the lock of a node comes after those of the nodes above it
            assert above == below
    scope = LockScope("", str(tmp_path / "locks"))
    many = lock_paths(LocalStore(tmp_path), scope, [f"c/{i}" for i in range(10_000)], "chunk")
    assert many == sorted(many)
    assert len(many) == STRIPES


def test_stores_without_a_place_for_lock_files_say_so(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "data.zip", mode="w") as store:
        with pytest.raises(ValueError, match="ProcessSynchronizer"):
            zarr.create_array(store, shape=8, chunks=4, dtype="i4", config={"locking": "process"})
        zarr.create_array(store, shape=8, chunks=4, dtype="i4")
        array = zarr.open_array(store, mode="r+", config={"locking": "process"})
        with pytest.raises(ValueError, match="ProcessSynchronizer"):
            array[1:3] = 1
    for store in (MemoryStore(), WrapperStore(MemoryStore())):
        array = zarr.create_array(store, shape=8, chunks=4, dtype="i4", config={"locking": "process"})
        array[1:3] = 1
        array.append(np.zeros(3, "i4"))
        assert array[:3].tolist() == [0, 1, 1]


@posix
def test_lock_file_that_is_removed_while_others_wait(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    first = lock_file(str(path))
    taken: list[Any] = []
    waiter = threading.Thread(target=lambda: taken.append(lock_file(str(path))))
    waiter.start()
    time.sleep(0.1)
    path.unlink()
    path.parent.rmdir()
    first.close()
    waiter.join(60)
    assert taken[0].is_current()
    taken[0].close()


async def test_waiting_task_can_be_cancelled(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    held = lock_file(path)
    task = asyncio.ensure_future(wait_async(locking(path)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    held.close()
    (await wait_async(locking(path))).close()


@posix
def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=80, chunks=4, dtype="i4", config={"locking": "process"})
    array[1:70] = 1
    before = len(os.listdir("/dev/fd"))
    for i in range(20):
        array[1 : 70 - i] = i
        array.attrs["i"] = i
    assert len(os.listdir("/dev/fd")) == before


# --------------------------------------------------------------------------------------------- what is asked for


def test_ways_to_ask(tmp_path: Path) -> None:
    synchronizer = zarr.ProcessSynchronizer(tmp_path / "locks")

    def locking(array: Any) -> str:
        return str(array._async_array._handle.config.locking)

    asked = f"process:{tmp_path}/locks"
    assert locking(zarr.create_array({}, shape=1, dtype="i4")) == "auto"
    assert locking(zarr.create_array({}, shape=1, dtype="i4", config={"locking": "process"})) == "process"
    assert locking(zarr.create(shape=1, synchronizer=synchronizer)) == asked
    assert locking(zarr.zeros(shape=1, synchronizer=zarr.ThreadSynchronizer())) == "thread"
    with zarr.config.set({"array.locking": "process"}):
        assert locking(zarr.create_array({}, shape=1, dtype="i4")) == "process"
    store = MemoryStore()
    group = zarr.open_group(store, mode="w", synchronizer=synchronizer)
    assert locking(group.create_array("a", shape=1, dtype="i4")) == asked
    assert locking(group.create_group("g").create_array("b", data=np.arange(3))) == asked
    assert locking(group["g/b"]) == locking(group["g"]["b"]) == asked
    assert {locking(array) for _, array in group.arrays()} == {asked}
    assert locking(zarr.open_array(store, path="a", synchronizer=synchronizer)) == asked
    assert locking(zarr.open(store, path="a", synchronizer=synchronizer)) == asked
    assert locking(zarr.open(store, synchronizer=synchronizer)["a"]) == asked
    assert locking(pickle.loads(pickle.dumps(zarr.open_array(tmp_path, mode="w", shape=1, synchronizer=synchronizer))))
    with pytest.raises(ValueError, match="locking must be"):
        zarr.create_array({}, shape=1, dtype="i4", config={"locking": "processes"})


def test_synchronizers_are_locks_by_key(tmp_path: Path) -> None:
    for synchronizer in (zarr.ThreadSynchronizer(), zarr.ProcessSynchronizer(tmp_path / "locks")):
        total = [0]

        def work(synchronizer: Any = synchronizer, total: list[int] = total) -> None:
            for _ in range(50):
                with synchronizer["a/key"], synchronizer["another"]:
                    seen = total[0]
                    time.sleep(0)
                    total[0] = seen + 1

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert total == [200]
    with zarr.ProcessSynchronizer(tmp_path / "locks")["x" * 1000]:
        pass
    from zarr.sync import ProcessSynchronizer

    assert ProcessSynchronizer(tmp_path) == pickle.loads(pickle.dumps(zarr.ProcessSynchronizer(tmp_path)))
