"""Finalizers, forks, nested loops, the end of the interpreter: nothing hangs, complains or leaves things over."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import KINDS, make_store, open_descriptors, rounds, run_together
from zarr.errors import LockedByCallerError
from zarr.runners.locks.table import LOCKS

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="posix only")


class Writes:
    """In a circle of references, so that the collector finds it, some time, anywhere."""

    def __init__(self, action: Any) -> None:
        self.action, self.me = action, self

    def __del__(self) -> None:
        self.action()


@pytest.fixture
def eager_collector() -> Any:
    before = gc.get_threshold()
    gc.set_threshold(20, 2, 2)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("eager_collector")
def test_finalizers_that_write_what_is_being_written(kind: str, tmp_path: Path) -> None:
    """Each write of a finalizer is done, or refused because its thread holds locks; no other write is lost."""
    store = make_store(kind, tmp_path)
    array = zarr.create_array(store, name="a", shape=64, chunks=16, dtype="i4")
    group = zarr.open_group(store, mode="a")
    done: set[tuple[int, int]] = set()

    def write_late(number: int, i: int) -> None:
        with contextlib.suppress(LockedByCallerError):
            array[number * 16 + 8] = i + 1
            group.attrs[f"{number}"] = i
            done.add((number, i))

    def work(number: int) -> None:
        for i in range(rounds(12, 100)):
            Writes(lambda number=number, i=i: write_late(number, i))
            array[number * 16 : number * 16 + 3] = i
            group.attrs["x"] = i

    run_together([lambda n=n: work(n) for n in range(4)])
    gc.collect()
    assert len(LOCKS) == 0
    last = rounds(12, 100) - 1
    assert array[:].reshape(4, 16)[:, :3].tolist() == [[last] * 3] * 4
    attrs = zarr.open_group(store, mode="r").attrs
    assert attrs["x"] == last
    assert {f"{number}" for number, _ in done} <= set(attrs), "what was not refused was done"
    store.close()


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_forks_at_any_moment(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    array = zarr.create_array(store, shape=(64, 64), chunks=(8, 64), dtype="i4")
    array[...] = 1
    done = threading.Event()

    def work(number: int) -> None:
        while not done.is_set():
            array[number * 8 + 1] = number
            array[number * 8]
            array[...]

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(rounds(6, 60)):
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                try:
                    found = array[0].tolist()
                    if kind != "zip":
                        array[40, 3] = 5
                        found += array[40, 3:4].tolist()
                    os._exit(0 if found[:64] == [1] * 64 else 3)
                except BaseException:
                    os._exit(4)
            deadline = time.monotonic() + 60
            while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
                if time.monotonic() > deadline:
                    os.kill(child, 9)
                    os.waitpid(child, 0)
                    pytest.fail("the child hangs")
                time.sleep(0.005)
            assert os.waitstatus_to_exitcode(ended[1]) == 0
    finally:
        done.set()
        for thread in threads:
            thread.join(60)


def test_a_synchronous_call_inside_a_running_loop() -> None:
    async def main() -> int:
        array = zarr.create_array({}, shape=8, dtype="i4")
        array[:] = 3
        inner = await zarr.api.asynchronous.open_array(store=array.store)
        return int(array[0]) + int(await inner.getitem(0))

    assert asyncio.run(main()) == 6


ENDS = {
    "bulk": "array[...] = 1",
    "async": "asyncio.run(main())",
    "thread": "threading.Thread(target=lambda: array.__setitem__(..., 2)).start()",
    "thread_that_opens": "threading.Thread(target=lambda: zarr.open_array(sys.argv[1])[...].sum()).start()",
    "daemon": "threading.Thread(target=forever, daemon=True).start()",
    "atexit": "import atexit; atexit.register(lambda: array.__setitem__(3, 3))",
}


@pytest.mark.parametrize("way", ENDS)
def test_the_interpreter_ends_in_silence(way: str, tmp_path: Path) -> None:
    script = f"""
import asyncio, threading, sys
import numpy as np, zarr
array = zarr.create_array(sys.argv[1], shape=(64, 1000), chunks=(1, 1000), dtype="i4")
async def main():
    inner = await zarr.api.asynchronous.open_array(store=sys.argv[1])
    await inner.setitem(..., 4)
def forever():
    while True:
        array[...] = 5
{ENDS[way]}
"""
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a")], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_nothing_is_left_over(tmp_path: Path) -> None:
    """Threads and descriptors after many operations are those after a few."""

    def work() -> None:
        array = zarr.create_array(tmp_path / "data", shape=(256, 4096), chunks=(16, 4096), dtype="f4", overwrite=True)
        array[...] = np.ones((256, 4096), "f4")
        array[3:5] = 2
        array[...]

    for _ in range(3):
        work()
    before = open_descriptors(), threading.active_count()
    for _ in range(20):
        work()
    gc.collect()
    assert (open_descriptors(), threading.active_count()) <= (before[0], before[1] + 1)


AMID_A_LOAD = """
import os, sys, threading, time
from zarr._lazy import LazyModule
slow = LazyModule("slow_module")
thread = threading.Thread(target=lambda: slow.answer)
thread.start()
while "slow_module" not in sys.modules:
    time.sleep(0.001)
child = os.fork()
if child == 0:
    os._exit(slow.answer)
deadline = time.monotonic() + 20
while time.monotonic() < deadline:
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        break
    time.sleep(0.01)
else:
    os.kill(child, 9)
    sys.exit("the child hangs")
thread.join()
assert os.waitstatus_to_exitcode(status) == 42
"""


@posix
def test_a_fork_waits_for_what_is_being_loaded(tmp_path: Path) -> None:
    (tmp_path / "slow_module.py").write_text("import time\ntime.sleep(0.5)\nanswer = 42\n")
    paths = os.pathsep.join([str(tmp_path), os.getcwd()])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AMID_A_LOAD],
        capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": paths}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
