"""Measure loggers that are off: an element read, with the look at the switch and without it.

Run as ``python benchmarks/bench_logging.py``. CPU time, the least of many runs; what the look costs is also measured by
itself. Prints nanoseconds.
"""

from __future__ import annotations

import logging
from time import process_time, process_time_ns
from timeit import repeat
from typing import Any

import numpy as np

import zarr
from zarr.listening import SWITCH, TRACING
from zarr.storage import MemoryStore

ROUNDS, READS = 40, 1000


def read_ns(array: zarr.Array[Any]) -> float:
    """CPU time of one element read."""
    start = process_time_ns()
    for _ in range(READS):
        array[3, 4]
    return (process_time_ns() - start) / READS


def main() -> None:
    """Print the table."""
    array = zarr.create_array(MemoryStore(), data=np.arange(100).reshape(10, 10), chunks=(5, 5), compressors=None)
    array[3, 4]
    names = {"SWITCH": SWITCH, "TRACING": TRACING}
    options: dict[str, Any] = {"timer": process_time, "number": 100_000, "globals": names}
    look = min(repeat("SWITCH.get(TRACING) is not False", repeat=50, **options)) * 1e4
    nothing = min(repeat("pass", repeat=50, **options)) * 1e4
    off = min(read_ns(array) for _ in range(ROUNDS))
    logging.getLogger("zarr").addHandler(logging.NullHandler())
    logging.getLogger("zarr").setLevel("DEBUG")
    logging.getLogger("zarr").propagate = False
    on = min(read_ns(array) for _ in range(3))
    logging.getLogger("zarr").setLevel("WARNING")
    again = min(read_ns(array) for _ in range(ROUNDS))
    print(f"element read, loggers never on: {off:8.0f} ns")
    print(f"element read, loggers off again:{again:8.0f} ns")
    print(f"element read, loggers on:       {on:8.0f} ns")
    print(f"one look at the switch:         {look - nothing:8.1f} ns, {(look - nothing) / off:.2%} of a read")


if __name__ == "__main__":
    main()
