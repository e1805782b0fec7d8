"""Measure the price of locks: the same operations with the locks of chunks and without, interleaved, by CPU time.

    python benchmarks/locking.py [BLOCKS]

Each block measures an operation many times, on and off by turns, and divides the shortest time on by the shortest time
off: what else the machine does makes a sample longer and never shorter. Each line is the median over the blocks, with
the interval that holds it with 95 % probability (by the order of the ratios), and how much longer the operation takes.
It is within the limit where that interval does not lie above it, or where it takes at most a microsecond longer: the
shortest operations are a few of these. The last line of the first part says whether all whole-chunk writes and all
reads are. The second part compares the default, which keeps out other processes in local stores and databases, with
locks among threads only. Files lie in memory where there is room, so that no disk is measured.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import Any

import numpy as np
from environments import work_folder

import zarr
from zarr.runners import inline
from zarr.runners.inline import InlineRunner

BLOCKS = 15
BLOCK_SECONDS = 0.2
LEAST_SAMPLES = 20
SAMPLE_SECONDS = 0.0002
LIMIT = 0.03
LIMIT_MICROSECONDS = 1.0


class NoHolder:
    """Holds nothing."""

    def __init__(self, *arguments: Any) -> None:
        pass

    def acquire(self, *arguments: Any) -> None:
        pass

    def claims(self, request: Any) -> bool:
        return True

    def release(self) -> None:
        pass


class Unlocked(InlineRunner):
    """For measuring only: two who write parts of one chunk undo each other over this runner."""

    __slots__ = ()

    run = FunctionType(InlineRunner.run.__code__, {**vars(inline), "Holder": NoHolder}, "run", (None, False))

    def put_alone(self, request: Any, above: Any) -> Any:
        return self._put(request.key, request.value)

    def _transfer_locked(self, request: Any, above: Any) -> None:
        self.transfer(request)

    def get_parts(self, request: Any, above: Any) -> Any:
        return self.get_parts_once(request)


def operations(array: Any, value: Any) -> dict[str, Callable[[], Any]]:
    size = (array.shards or array.chunks)[0]
    one = value[:size, :size].copy()
    return {
        "write all": lambda: array.__setitem__(..., value),
        "write one whole": lambda: array.__setitem__((slice(0, size), slice(0, size)), one),
        "read all": lambda: array[...],
        "read a part": lambda: array[100:300, 100:300],
        "read an element": lambda: array[7, 9],
    }


THREADS = {"locking": "thread"}

Pairs = Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]


def pairs(store: Any, options: dict[str, Any]) -> Pairs:
    """Each operation by its name, on an array with locks among threads and on the same one without."""
    value = np.random.default_rng(0).normal(size=(1024, 1024)).astype("f4").round(1)
    locked = zarr.create_array(store, data=value, chunks=(128, 128), overwrite=True, config=THREADS, **options)
    unlocked = zarr.open_array(store)
    unlocked._run = unlocked._handle._run = Unlocked(unlocked.store).run
    on, off = operations(locked, value), operations(unlocked, value)
    return ((name, on[name], off[name]) for name in on)


def process_pairs(store: Any, options: dict[str, Any]) -> Pairs:
    """Each operation by its name, with the default locks and with locks among threads only."""
    value = np.random.default_rng(0).normal(size=(1024, 1024)).astype("f4").round(1)
    zarr.create_array(store, data=value, chunks=(128, 128), overwrite=True, **options)
    arrays = [zarr.open_array(store, config=config) for config in ({"locking": "auto"}, THREADS)]
    both = []
    for array in arrays:
        found = operations(array, value)
        found["write an element"] = partial(array.__setitem__, (7, 9), 1.0)
        found["change an attribute"] = partial(array.attrs.__setitem__, "name", 1)
        both.append(found)
    return ((name, both[0][name], both[1][name]) for name in both[0])


def seconds_of(action: Callable[[], Any], times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        action()
    return time.process_time() - begin


def compare(on: Callable[[], Any], off: Callable[[], Any], times: int, samples: int) -> tuple[float, float]:
    """Return the shortest of many samples with locks to the shortest without, and the microseconds between them."""
    found = [(seconds_of(on, times), seconds_of(off, times)) for _ in range(samples)]
    with_locks, without = min(a for a, _ in found), min(b for _, b in found)
    return with_locks / without, (with_locks - without) / times * 1e6


def comparisons(on: Callable[[], Any], off: Callable[[], Any], blocks: int) -> list[tuple[float, float]]:
    once = min(seconds_of(on, 3) / 3 for _ in range(5))
    times = max(1, math.ceil(SAMPLE_SECONDS / max(once, 1e-7)))
    samples = max(LEAST_SAMPLES, math.ceil(BLOCK_SECONDS / 2 / (times * once)))
    return [compare(on, off, times, samples) for _ in range(blocks)]


def median_with_interval(values: list[float]) -> tuple[float, float, float]:
    ordered, n = sorted(values), len(values)
    reach = 0.98 * math.sqrt(n)  # 1.96 standard deviations of a binomial count
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(ordered), ordered[low], ordered[high]


LAYOUTS: dict[str, dict[str, Any]] = {"plain": {}, "raw": {"compressors": None}, "sharded": {"shards": (512, 512)}}


def report(place: str, name: str, found: Pairs, blocks: int) -> bool:
    """Print a line for each operation; return whether all are within the limits."""
    within = True
    for what, on, off in found:
        measured = comparisons(on, off, blocks)
        middle, low, high = median_with_interval([ratio for ratio, _ in measured])
        longer = statistics.median(microseconds for _, microseconds in measured)
        within = within and (low <= 1 + LIMIT or longer <= LIMIT_MICROSECONDS)
        print(
            f"{place:8}{name:9}{what:21}{100 * (middle - 1):+6.2f} %"
            f"   [{100 * (low - 1):+.2f}, {100 * (high - 1):+.2f}]   {longer:+.2f} us",
            flush=True,
        )
    return within


PLACES: dict[str, Callable[[str], Any]] = {
    "local": zarr.storage.LocalStore,
    "sqlite": zarr.storage.SQLiteStore,
    "lmdb": partial(zarr.storage.LMDBStore, sync=False),
}


def main() -> int:
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else BLOCKS
    within = True
    print("locks among threads")
    for name, options in LAYOUTS.items():
        for place in ("memory", "local"):
            with TemporaryDirectory(dir=work_folder()) as folder, zarr.config.set({"threading.max_workers": 1}):
                store = zarr.storage.MemoryStore() if place == "memory" else zarr.storage.LocalStore(folder)
                within = report(place, name, pairs(store, options), blocks) and within
    print(f"within {LIMIT:.0%} or {LIMIT_MICROSECONDS:g} us: {'yes' if within else 'no'}")
    print("locks among processes, beside those among threads")
    for name, options in LAYOUTS.items():
        for place, make in PLACES.items():
            with TemporaryDirectory(dir=work_folder()) as folder, zarr.config.set({"threading.max_workers": 1}):
                report(place, name, process_pairs(make(f"{folder}/data"), options), blocks)
    return 0 if within else 1


if __name__ == "__main__":
    raise SystemExit(main())
