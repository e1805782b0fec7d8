"""What locking costs: the same operations with the locks of chunks and without, interleaved; CPU time, not the clock's.

    python benchmarks/locking.py [ROUNDS]

Each line is the median of many ratios of neighbouring measurements (on / off, off / on by turns, so that a machine that
grows slower favours neither), with the interval that holds it with 95 % probability (by the order of the ratios).
The last line says whether whole-chunk writes and reads are within 3 %.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

import zarr
import zarr.runners.inline
from zarr.runners.inline import InlineRunner

ROUNDS = 300
SAMPLE_SECONDS = 0.004
LIMIT = 0.03


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


@contextlib.contextmanager
def locking_off() -> Iterator[None]:
    """For measuring only: two who write parts of one chunk undo each other in here."""
    with (
        patch.object(zarr.runners.inline, "Holder", NoHolder),
        patch.object(InlineRunner, "_transfer_locked", lambda self, request, above: self.transfer(request)),
        patch.object(InlineRunner, "get_parts", lambda self, request, above: self._get_parts_once(request)),
    ):
        yield


def operations(store: Any, shards: Any) -> dict[str, Callable[[], Any]]:
    array = zarr.create_array(store, shape=(1024, 1024), chunks=(128, 128), shards=shards, dtype="f4", overwrite=True)
    value = np.random.default_rng(0).normal(size=(1024, 1024)).astype("f4").round(1)
    array[...] = value
    size = 128 if shards is None else shards[0]
    return {
        "write all": lambda: array.__setitem__(..., value),
        "write one whole": lambda: array.__setitem__((slice(0, size), slice(0, size)), value[:size, :size]),
        "read all": lambda: array[...],
        "read a part": lambda: array[100:300, 100:300],
        "read an element": lambda: array[7, 9],
    }


def seconds_of(action: Callable[[], Any], times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        action()
    return time.process_time() - begin


def ratios(action: Callable[[], Any], rounds: int) -> list[float]:
    """Time with locks to time without, in pairs of which each is first by turns."""
    once = min(seconds_of(action, 3) / 3 for _ in range(3))
    times = max(1, math.ceil(SAMPLE_SECONDS / max(once, 1e-7)))
    found = []
    for number in range(rounds):
        if number % 2:
            on = seconds_of(action, times)
        with locking_off():
            off = seconds_of(action, times)
        if not number % 2:
            on = seconds_of(action, times)
        found.append(on / off)
    return found


def median_with_interval(values: list[float]) -> tuple[float, float, float]:
    ordered, n = sorted(values), len(values)
    reach = 0.98 * math.sqrt(n)  # 1.96 standard deviations of a binomial count
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(ordered), ordered[low], ordered[high]


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    within = True
    for name, shards in (("plain", None), ("sharded", (512, 512))):
        for place in ("memory", "local"):
            with tempfile.TemporaryDirectory() as folder, zarr.config.set({"threading.max_workers": 1}):
                store = zarr.storage.MemoryStore() if place == "memory" else zarr.storage.LocalStore(folder)
                for what, action in operations(store, shards).items():
                    middle, low, high = median_with_interval(ratios(action, rounds))
                    within = within and low <= 1 + LIMIT
                    print(
                        f"{place:8}{name:9}{what:17}{100 * (middle - 1):+6.2f} %"
                        f"   [{100 * (low - 1):+.2f}, {100 * (high - 1):+.2f}]",
                        flush=True,
                    )
    print(f"within {LIMIT:.0%}: {'yes' if within else 'no'}")
    return 0 if within else 1


if __name__ == "__main__":
    raise SystemExit(main())
