"""What the tests of concurrent work share: how to start it, where it goes, how many rounds it takes."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from zarr.storage import LMDBStore, LocalStore, MemoryStore, SQLiteStore, ZipStore

KINDS = ["memory", "local", "zip", "sqlite", *(["lmdb"] if find_spec("lmdb") else [])]
SHARED_KINDS = [kind for kind in KINDS if kind not in ("memory", "zip")]
"""Stores that several processes can write."""


def rounds(few: int, full: int) -> int:
    """How often a race is run: a few times in the suite, as often as promised with ``ZARR_TRUST_FULL=1``."""
    return full if os.environ.get("ZARR_TRUST_FULL") == "1" else few


def slowness() -> float:
    """How many times slower than usual this machine is, from 1 to 10: a lease must outlast its pauses."""
    begin = time.perf_counter()
    sum(range(5_000_000))
    return min(10.0, max(1.0, (time.perf_counter() - begin) / 0.2))


SLOWNESS = slowness()


def make_store(kind: str, folder: Any) -> Any:
    """A new store of one kind below a folder."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if kind == "memory":
        return MemoryStore()
    if kind == "local":
        return LocalStore(place / "data")
    if kind == "zip":
        return ZipStore(place / "data.zip", mode="w")
    return SQLiteStore(place / "data.sqlite") if kind == "sqlite" else LMDBStore(place / "data.lmdb", sync=False)


def run_together(actions: list[Callable[[], Any]], seconds: float = 60) -> None:
    """Start every action at once in a thread of its own; raise the first error, or if they do not end."""
    barrier, errors = threading.Barrier(len(actions)), []

    def run(action: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            action()
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,), daemon=True) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), f"not done within {seconds} seconds"
    if errors:
        raise errors[0]


def run_processes(count: int, method: str, work: Callable[..., None], *arguments: Any) -> None:
    """Run ``work(number, barrier, *arguments)`` in several processes at once; all must end well."""
    context: Any = multiprocessing.get_context(method)
    barrier = context.Barrier(count)
    processes = [context.Process(target=work, args=(number, barrier, *arguments)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0] * count


def check_waits(
    write: Callable[[], Any], release: Callable[[], Any], waits: str = "", goes_on: str = "it waits for nobody"
) -> None:
    """A write waits while somebody else has the lock, and is done soon after that one has released it."""
    done = threading.Event()
    writer = threading.Thread(target=lambda: (write(), done.set()), daemon=True)
    writer.start()
    assert not done.wait(0.3), waits
    release()
    assert done.wait(60), goes_on
    writer.join()


def paths_below(folder: Path) -> list[str]:
    """All files and folders below a folder, hidden ones too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def open_descriptors() -> int:
    """How many files this process has open; -1 where that cannot be counted."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        if os.path.isdir(folder):
            return len(os.listdir(folder)) - 1
    return -1
