"""Ctrl-C, an error, a time-out and a cancelled task end an operation soon, and nothing is written after its end."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from tests.trust.together import KINDS, SLOWNESS, make_store
from zarr.runners.locks.table import LOCKS, LockTable
from zarr.storage import LocalStore, MemoryStore, WrapperStore

pytestmark = pytest.mark.clock
SOON = 1.0 * SLOWNESS
posix = pytest.mark.skipif(sys.platform == "win32", reason="posix signals")
COMPRESSED = {"compressors": zarr.codecs.ZstdCodec(level=9)}


def slow_value() -> Any:
    """What takes seconds to compress, in chunks that take milliseconds."""
    return np.random.default_rng(0).integers(0, 1 << 14, (512, 128, 256)).astype("u4")


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def now() -> tuple[float, float]:
    return time.process_time(), time.monotonic()


def since(begin: tuple[float, float]) -> float:
    """Seconds of work, or tens of seconds of the clock: other programs on the machine make no difference."""
    work, clock = now()
    return max(work - begin[0], (clock - begin[1]) / 10)


def interrupted(action: Any, after: float = 0.3) -> float:
    """Do something again and again until Ctrl-C, pressed a while later, ends it; how long it took to end."""
    pressed: list[tuple[float, float]] = []

    def press() -> None:
        pressed.append(now())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    former = signal.signal(signal.SIGINT, signal.default_int_handler)  # in a background of a shell it is ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            while True:
                action()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, former)
    return since(pressed[0])


def quiet(look: Any, seconds: float = 0.5) -> None:
    """Nothing changes any more."""
    before = look()
    time.sleep(seconds)
    assert look() == before


@posix
@pytest.mark.parametrize("shards", [None, (64, 128, 256)])
@pytest.mark.parametrize("threads", [1, None])
def test_ctrl_c_in_a_bulk_write(shards: Any, threads: int | None, tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "data", shape=(512, 128, 256), chunks=(4, 64, 64), shards=shards, dtype="u4", **COMPRESSED
    )
    value = slow_value()
    with zarr.config.set({"threading.max_workers": threads}):
        took = interrupted(lambda: array.__setitem__(..., value))
    assert took < SOON
    quiet(lambda: files(tmp_path))
    assert len(LOCKS) == 0
    assert not [name for name in files(tmp_path) if name.endswith(".partial")]
    array[:4] = value[:4]
    np.testing.assert_array_equal(array[:4], value[:4])


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_in_stores_of_all_kinds(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    array = zarr.create_array(store, shape=(512, 128, 256), chunks=(4, 64, 64), dtype="u4", **COMPRESSED)
    value = slow_value()
    assert interrupted(lambda: array.__setitem__(..., value)) < SOON
    quiet(lambda: sorted(store.list_sync()))
    assert len(LOCKS) == 0
    array[:4] = value[:4]
    np.testing.assert_array_equal(array[:4], value[:4])
    for part in (array[0:512:4, 0, 0], value[0:512:4, 0, 0]):
        assert part.shape == (128,)
    stored = array[:, 0, 0]
    assert all(a in (0, b) for a, b in zip(stored.tolist(), value[:, 0, 0].tolist(), strict=True))
    store.close()


@posix
def test_ctrl_c_in_a_bulk_read(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=1 << 23, chunks=1 << 10, dtype="u1", compressors=None)
    array[:] = 1

    def read() -> None:
        for _ in range(100):
            array[:]

    assert interrupted(read) < SOON


class Slow(WrapperStore[Any]):
    """A store whose writing takes a while, in coroutines only."""

    def __init__(self, store: Any, seconds: float = 0.05, threads: bool = False) -> None:
        super().__init__(store)
        self.seconds, self.threads = seconds, threads

    async def set(self, key: str, value: Any) -> None:
        if self.threads and "zarr" not in key:
            await asyncio.to_thread(self._set_slowly, key, value)
        else:
            await asyncio.sleep(self.seconds if "zarr" not in key else 0)
            await self._store.set(key, value)

    def _set_slowly(self, key: str, value: Any) -> None:
        time.sleep(self.seconds)
        self._store.set_sync(key, value)

    def finish(self) -> None:
        """Wait for what its threads had begun: nobody can stop those."""
        time.sleep(10 * self.seconds if self.threads else 0)


@posix
@pytest.mark.parametrize("threads", [False, True])
def test_ctrl_c_over_a_store_of_coroutines(threads: bool) -> None:
    inner = MemoryStore()
    store = Slow(inner, threads=threads)
    array = zarr.create_array(store, shape=4000, chunks=1, dtype="i4")
    assert interrupted(lambda: array.__setitem__(..., 1)) < SOON
    store.finish()
    quiet(lambda: sorted(inner.list_sync()))
    assert len(LOCKS) == 0


@pytest.mark.parametrize("threads", [False, True])
def test_a_time_out(threads: bool) -> None:
    inner = MemoryStore()
    store = Slow(inner, threads=threads)
    array = zarr.create_array(store, shape=4000, chunks=1, dtype="i4")
    begin = now()
    with zarr.config.set({"async.timeout": 0.3}), pytest.raises(TimeoutError):
        array[...] = 1
    assert since(begin) < SOON
    store.finish()
    quiet(lambda: sorted(inner.list_sync()))
    assert len(LOCKS) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [None, (64, 128, 256)])
async def test_a_cancelled_task(kind: str, shards: Any, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    array = await zarr.api.asynchronous.create_array(
        store, shape=(512, 128, 256), chunks=(4, 64, 64), shards=shards, dtype="u4", **COMPRESSED
    )
    value = slow_value()

    async def write() -> None:
        while True:
            await array.setitem(..., value)

    task = asyncio.ensure_future(write())
    await asyncio.sleep(0.3)
    begin = now()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert since(begin) < SOON
    quiet(lambda: sorted(store.list_sync()))
    assert len(LOCKS) == 0
    store.close()


async def test_a_task_cancelled_while_it_waits_for_a_lock(tmp_path: Path) -> None:
    """Also where the operation runs in a thread, which nobody can cancel."""
    store = LocalStore(tmp_path)
    array = await zarr.api.asynchronous.create_array(store, shape=8, chunks=8, dtype="i4")
    name = f"chunk:{store.lock_prefix}/c/0"
    assert LOCKS.try_acquire(name)
    task = asyncio.ensure_future(array.setitem(slice(1, 2), 1))
    await asyncio.sleep(0.1)
    task.cancel()
    begin = now()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert since(begin) < SOON
    LOCKS.release(name)
    assert len(LOCKS) == 0
    assert (await array.getitem(slice(None))).tolist() == [0] * 8


@pytest.mark.parametrize("times", [1, 2, 4])
async def test_a_task_cancelled_again_waits_for_its_change(times: int) -> None:
    """The thread that stores a value goes on: its lock must not be released before, or it undoes a later change."""
    inner = MemoryStore()
    array = await zarr.api.asynchronous.create_array(Slow(inner, 0.2, threads=True), shape=8, chunks=8, dtype="i4")
    task = asyncio.ensure_future(array.setitem(0, 1))
    await asyncio.sleep(0.1)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0.01)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(LOCKS) == 0
    await array.setitem(1, 2)
    quiet(lambda: inner.get_sync("c/0").to_bytes())
    assert (await array.getitem(slice(2))).tolist() == [1, 2]


class Full(MemoryStore):
    """Has room for so many chunks."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def set_sync(self, key: str, value: Any) -> None:
        if "zarr" not in key and len(self._store_dict) > self.room:
            raise OSError(errno.ENOSPC, "no space left")
        super().set_sync(key, value)

    def _set_payloads(self, items: Any) -> None:
        if len(self._store_dict) > self.room:
            raise OSError(errno.ENOSPC, "no space left")
        super()._set_payloads(items)


@pytest.mark.parametrize("room", [0, 3, 40])
def test_an_error(room: int) -> None:
    store = Full(room)
    array = zarr.create_array(store, shape=(512, 128, 256), chunks=(4, 64, 64), dtype="u4", **COMPRESSED)
    value = slow_value()
    with pytest.raises(OSError, match="no space left"):
        array[...] = value
    quiet(lambda: sorted(store.list_sync()), 0.2)
    assert len(LOCKS) == 0


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is forbidden to root")
def test_an_error_of_the_file_system(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", shape=400, chunks=1, dtype="i4")
    (tmp_path / "a/c").mkdir()
    (tmp_path / "a/c").chmod(0o500)
    with pytest.raises(PermissionError):
        array[:] = 1
    quiet(lambda: files(tmp_path), 0.2)


def test_a_directory_in_a_chunks_place(tmp_path: Path) -> None:
    """What fails in a worker thread is raised when all of them have stopped, and names its chunk."""
    array = zarr.create_array(tmp_path, shape=400, chunks=1, dtype="i4")
    (tmp_path / "c/7/x").mkdir(parents=True)
    with pytest.raises(OSError, match=r".") as caught:
        array[:] = 1
    assert "c/7" in str(caught.value) + str(caught.value.__notes__)
    quiet(lambda: files(tmp_path), 0.2)


@pytest.mark.parametrize("shards", [None, (8, 128, 256)])
@pytest.mark.parametrize("threads", [1, None])
def test_an_error_ends_a_bulk_write_soon(shards: Any, threads: int | None, tmp_path: Path) -> None:
    """The other chunks are not written first: that could take hours, on a disk that is full."""
    array = zarr.create_array(
        tmp_path, shape=(512, 128, 256), chunks=(4, 64, 64), shards=shards, dtype="u4", **COMPRESSED
    )
    (tmp_path / "c/2/0/0").mkdir(parents=True)
    value = slow_value()
    with zarr.config.set({"threading.max_workers": threads}), pytest.raises(IsADirectoryError):
        array[...] = value
    written = [name for name in files(tmp_path) if "zarr" not in name]
    assert len(written) < 64 if shards is None else len(written) < 8
    quiet(lambda: files(tmp_path), 0.2)


def failing_at_odd_places(kind: Any) -> Any:
    """A job that cannot encode every second chunk, as for want of memory."""

    class Failing(kind):  # type: ignore[misc]
        def encode(self, first: int, count: int) -> Any:
            return [... if i % 2 else made for i, made in enumerate(super().encode(first, count), first)]

        @property
        def failed(self) -> Any:
            return np.arange(1, 8, 2)

    return Failing


def no_steps(*arguments: Any, **options: Any) -> Any:
    return
    yield


@pytest.mark.parametrize("name", ["WriteJob", "ShardWriteJob"])
@pytest.mark.parametrize("kind", ["memory", "coroutines", "sqlite", "zip"])
def test_what_cannot_be_encoded_in_bulk_is_never_deleted(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store("memory" if kind == "coroutines" else kind, tmp_path)
    watched = Slow(store, 0.001) if kind == "coroutines" else store
    shards = (4,) if name == "ShardWriteJob" else None
    array = zarr.create_array(watched, shape=32, chunks=4 if shards is None else 2, shards=shards, dtype="i4")
    array[:] = np.arange(1, 33)
    monkeypatch.setattr("zarr_core." + name, failing_at_odd_places(getattr(zarr_core, name)))
    array[:] = np.arange(101, 133)
    np.testing.assert_array_equal(array[:], np.arange(101, 133))
    monkeypatch.setattr("zarr.arrays.io.bulk_write.write_slots_steps", no_steps)
    monkeypatch.setattr("zarr.arrays.io.shard_write.write_part_steps", no_steps)
    array[:] = np.arange(201, 233)
    expected = np.arange(201, 233).reshape(8, 4)
    expected[1::2] -= 100
    np.testing.assert_array_equal(array[:], expected.reshape(-1), err_msg="what could not be encoded is as it was")
    store.close()


# A program that is started in the background of a shell finds Ctrl-C ignored, and so would this one's children.
SCRIPT = """
import signal, sys
import numpy as np, zarr
signal.signal(signal.SIGINT, signal.default_int_handler)
array = zarr.create_array(sys.argv[1], shape=(512, 128, 256), chunks=(4, 64, 64), dtype="u4",
                          compressors=zarr.codecs.ZstdCodec(level=9))
value = np.random.default_rng(0).integers(0, 1 << 14, (512, 128, 256)).astype("u4")
print("go", flush=True)
while True:
    array[...] = value
"""


@posix
def test_ctrl_c_ends_a_program(tmp_path: Path) -> None:
    command, pipe = [sys.executable, "-c", SCRIPT, str(tmp_path / "data")], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=100)
        finally:
            process.kill()  # leaving the block waits for its end
        assert time.monotonic() - begin < 10 * SOON  # by the clock; the interpreter has to end, too
    assert errors.rstrip().endswith("KeyboardInterrupt")
    quiet(lambda: files(tmp_path), 0.2)


class InterruptedAfter(dict[str, Any]):
    """A dictionary in which Ctrl-C comes just after a key was put into it."""

    def setdefault(self, key: str, default: Any = None) -> Any:
        super().setdefault(key, default)
        raise KeyboardInterrupt


def test_ctrl_c_just_when_a_key_was_taken() -> None:
    table = LockTable()
    table.queues = InterruptedAfter()
    with pytest.raises(KeyboardInterrupt):
        table.try_acquire("a")
    assert len(table) == 0


@posix
def test_ctrl_c_at_any_moment_of_small_writes() -> None:
    """It leaves no guard locked, so that other threads can go on."""
    array = zarr.create_array(MemoryStore(), shape=100, chunks=10, dtype="i4")
    for _ in range(100):
        interrupted(lambda: array.__setitem__(5, 1), after=random.random() * 0.002)
        assert not LOCKS._guard._is_owned()
        assert len(LOCKS) == 0


class InterruptedOnce(MemoryStore):
    """Ctrl-C comes just before the first chunk is stored."""

    pressed = False

    def set_sync(self, key: str, value: Any) -> None:
        if "c/" in key and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt
        super().set_sync(key, value)


@pytest.mark.parametrize("region", [slice(0, 2), slice(0, 1)])
def test_ctrl_c_just_before_a_value_is_stored(region: slice) -> None:
    array = zarr.create_array(InterruptedOnce(), shape=4, chunks=2, dtype="i4")
    with pytest.raises(KeyboardInterrupt):
        array[region] = 1
    assert len(LOCKS) == 0
    array[:2] = 2
    assert array[:].tolist() == [2, 2, 0, 0]


@pytest.mark.parametrize("way", ["release_all", "try_acquire", "end_claim"])
@pytest.mark.parametrize("region", [slice(0, 1), slice(0, 8)])
def test_ctrl_c_in_the_table_of_locks(way: str, region: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of the table is interrupted as it begins; its caller releases what is held."""
    array = zarr.create_array(MemoryStore(), shape=8, chunks=2, dtype="i4")
    pressed: list[str] = []
    real = getattr(LockTable, way)

    def press(*arguments: Any) -> Any:
        if not pressed:
            pressed.append(way)
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(LockTable, way, press)
        try:
            array[region] = 1
        except KeyboardInterrupt:
            assert pressed
    assert len(LOCKS) == 0
    array[:2] = 2
    assert array[:2].tolist() == [2, 2]


def test_what_waits_for_a_thread_does_not_begin_after_a_time_out() -> None:
    """A remote file system that blocks works in threads, of which there are fewer than requests."""
    implementations = pytest.importorskip("fsspec.implementations.asyn_wrapper")
    from fsspec.implementations.memory import MemoryFileSystem

    written: list[float] = []

    class Slow(MemoryFileSystem):  # type: ignore[misc]
        protocol, cachable, seconds = "slow-memory", False, 0.0

        def pipe_file(self, *args: Any, **options: Any) -> None:
            time.sleep(Slow.seconds)
            written.append(time.monotonic())
            super().pipe_file(*args, **options)

    wrapped = implementations.AsyncFileSystemWrapper(Slow(), asynchronous=True)
    array = zarr.create_array(zarr.storage.FsspecStore(wrapped, path="/slow"), shape=200, chunks=1, dtype="i4")
    Slow.seconds = 0.2
    with zarr.config.set({"async.timeout": 0.3}), pytest.raises(TimeoutError):
        array[:] = 4
    ended = time.monotonic()
    time.sleep(0.7)
    assert [moment for moment in written if moment > ended] == []
