"""A soak: mixed operations by threads, tasks and processes; every reading is checked, and what is left over counted.

Run it by ``bash ci/soak.sh SECONDS``.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import zarr
from tests.trust.together import KINDS, SHARED_KINDS, make_store, open_descriptors

PART = 64
WORKERS = 3
WARM_UP = 0.4
"""Which part of the time goes by before memory is first measured."""


POOLED = 2 * 2 * (WORKERS - 1) + 2
"""Descriptors that may be added: the pools of two stores open a connection (a file and its log) for each worker that
they meet, and may have met one of them when it was counted first. The folder of an array, and the one above it, stay
open when a lock was set in them."""


def resident_bytes() -> int:
    """Memory that this process holds now; 0 where that cannot be told."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096


class Player:
    """One who owns every third row of some arrays, and knows what is in them."""

    def __init__(self, arrays: list[Any], number: int) -> None:
        self.arrays = arrays
        self.rows = np.arange(number, PART, WORKERS)
        self.rng = np.random.default_rng(number)
        self.values = [0] * len(arrays)
        self.turns = 0

    def play(self) -> None:
        """Write all own rows of one array, which must be read as they were written.

        The first turns go through all arrays, so that each has opened its files before they are counted.
        """
        which = int(self.rng.integers(len(self.arrays))) if self.turns >= len(self.arrays) else self.turns
        array, value = self.arrays[which], self.values[which] + 1
        kind = int(self.rng.integers(4))
        if kind == 0:
            array.oindex[self.rows, :] = value
        elif kind == 1:
            for row in self.rows.tolist():
                array[row] = value
        elif kind == 2:
            array.vindex[self.rows[:, None], np.arange(PART)[None]] = value
        else:
            asyncio.run(self._write_in_tasks(array, value))
        self.values[which] = value
        self.check(array, value)
        self.turns += 1

    async def _write_in_tasks(self, array: Any, value: int) -> None:
        inner = array.async_array
        await asyncio.gather(*(inner.setitem((row, slice(None)), value) for row in self.rows.tolist()))

    def check(self, array: Any, value: int) -> None:
        """Whatever the others do: the own rows hold what was written."""
        found = array[...] if self.rng.integers(2) else array.oindex[self.rows, 1:PART:3]
        mine = found[self.rows] if found.shape == (PART, PART) else found
        if not (mine == value).all():
            raise AssertionError(f"wrong read of {array}: {np.unique(mine)} where {value} was written")


def make_arrays(kinds: list[str], folder: Path, config: Any = None) -> list[Any]:
    arrays = []
    for kind in kinds:
        for name, shards in (("plain", None), ("sharded", (32, 32))):
            store = make_store(kind, folder / kind / name)
            arrays.append(
                zarr.create_array(store, shape=(PART, PART), chunks=(16, 16), shards=shards, dtype="i4", config=config)
            )
    return arrays


def play_until(arrays: list[Any], number: int, deadline: float) -> int:
    player = Player(arrays, number)
    while time.monotonic() < deadline or player.turns < len(arrays):
        player.play()
    return player.turns


def run_threads(arrays: list[Any], seconds: float) -> int:
    """Several players in threads; how many turns they had."""
    turns, errors = [0] * WORKERS, []

    def work(number: int) -> None:
        try:
            turns[number] = play_until(arrays, number, time.monotonic() + seconds)
        except BaseException as error:  # raised below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(turns)


def run_process(stores: list[Any], number: int, seconds: float) -> None:
    arrays = [zarr.open_array(store, mode="r+", config={"locking": "process"}) for store in stores]
    play_until(arrays, number, time.monotonic() + seconds)


def run_processes(stores: list[Any], seconds: float) -> None:
    """The same in processes; all must end well."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=run_process, args=(stores, number, seconds)) for number in range(WORKERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(seconds + 60)
    codes = [process.exitcode for process in processes]
    if codes != [0] * WORKERS:
        raise AssertionError(f"processes ended with {codes}")


def soak(seconds: float, folder: Path) -> dict[str, int]:
    """Run it all; the result tells what was done and what was left over."""
    # Each thread of the pool opens its connections once: with few of them that is over when descriptors are counted.
    zarr.config.set({"threading.max_workers": WORKERS})
    stores = [array.store for array in make_arrays(SHARED_KINDS, folder / "shared", {"locking": "process"})]
    run_processes(stores, seconds / 2)
    arrays = make_arrays(KINDS, folder / "own")
    run_threads(arrays, seconds / 2 * WARM_UP)
    gc.collect()
    before = resident_bytes(), open_descriptors(), threading.active_count()
    turns = run_threads(arrays, seconds / 2 * (1 - WARM_UP))
    gc.collect()
    after = resident_bytes(), open_descriptors(), threading.active_count()
    for array in arrays:
        array.store.close()
    names = ("bytes", "descriptors", "threads")
    return {"turns": turns, **{name: b - a for name, a, b in zip(names, before, after, strict=True)}}


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory() as folder:
        found = soak(seconds, Path(folder))
    print(f"soak of {seconds:g} s: {found}")
    return 0 if found["bytes"] <= 5 << 20 and found["descriptors"] <= POOLED and found["threads"] <= 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
