"""What locking costs: the same operations with the locks of chunks and without, interleaved; CPU time, not the clock's.

    python benchmarks/locking.py [BLOCKS]

Each block measures an operation many times, on and off by turns, and divides the shortest time on by the shortest time
off: what else the machine does makes a sample longer and never shorter. Each line is the median over the blocks, with
the interval that holds it with 95 % probability (by the order of the ratios), and how much longer the operation takes.
It is within the limit where that interval does not lie above it, or where it takes at most a microsecond longer: the
shortest operations are a few of these. The last line says whether all whole-chunk writes and all reads are.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

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

    run = FunctionType(InlineRunner.run.__code__, {**vars(inline), "Holder": NoHolder}, "run", (None,))

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


def pairs(store: Any, options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """Each operation by its name, on an array with locks and on the same one without."""
    value = np.random.default_rng(0).normal(size=(1024, 1024)).astype("f4").round(1)
    locked = zarr.create_array(store, data=value, chunks=(128, 128), overwrite=True, **options)
    unlocked = zarr.open_array(store)
    unlocked._run = unlocked._handle._run = Unlocked(unlocked.store).run
    on, off = operations(locked, value), operations(unlocked, value)
    return ((name, on[name], off[name]) for name in on)


def seconds_of(action: Callable[[], Any], times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        action()
    return time.process_time() - begin


def compare(on: Callable[[], Any], off: Callable[[], Any], times: int, samples: int) -> tuple[float, float]:
    """The shortest of many samples with locks to the shortest without, and the microseconds between them."""
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


def main() -> int:
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else BLOCKS
    within = True
    for name, options in LAYOUTS.items():
        for place in ("memory", "local"):
            with tempfile.TemporaryDirectory() as folder, zarr.config.set({"threading.max_workers": 1}):
                store = zarr.storage.MemoryStore() if place == "memory" else zarr.storage.LocalStore(folder)
                for what, on, off in pairs(store, options):
                    found = comparisons(on, off, blocks)
                    middle, low, high = median_with_interval([ratio for ratio, _ in found])
                    longer = statistics.median(microseconds for _, microseconds in found)
                    within = within and (low <= 1 + LIMIT or longer <= LIMIT_MICROSECONDS)
                    print(
                        f"{place:8}{name:9}{what:17}{100 * (middle - 1):+6.2f} %"
                        f"   [{100 * (low - 1):+.2f}, {100 * (high - 1):+.2f}]   {longer:+.2f} us",
                        flush=True,
                    )
    print(f"within {LIMIT:.0%} or {LIMIT_MICROSECONDS:g} us: {'yes' if within else 'no'}")
    return 0 if within else 1


if __name__ == "__main__":
    raise SystemExit(main())
