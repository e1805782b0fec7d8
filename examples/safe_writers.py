"""Several writers at once: threads that append, and a change of two arrays that becomes visible as one."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import zarr


def main(folder: str = ".") -> None:
    """Append from eight threads, then store two arrays in one transaction."""
    path = Path(folder) / "writers.zarr"
    root = zarr.open_group(path, mode="w")
    log = root.create_array("log", shape=(0,), chunks=(64,), dtype="i8")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: log.append(np.full(10, number)), range(40)))
    counts = np.bincount(log[:])
    print(f"{log.shape[0]} rows, {counts.min()} to {counts.max()} of each writer")

    with zarr.transaction(root.store) as changes:
        group = changes.group()
        group.create_array("mean", data=np.array([counts.mean()]))
        group.create_array("spread", data=np.array([counts.std()]))
        print("outside:", sorted(zarr.open_group(path, mode="r").array_keys()))
    print("after:  ", sorted(zarr.open_group(path, mode="r").array_keys()))


if __name__ == "__main__":
    main(*sys.argv[1:])
