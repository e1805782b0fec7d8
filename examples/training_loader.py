"""Random windows for training: many small selections as one operation, into memory that the loader owns."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import zarr


def main(folder: str = ".") -> None:
    """Store images and their labels, then draw batches."""
    root = zarr.open_group(Path(folder) / "training.zarr", mode="w")
    random = np.random.default_rng(1)
    images = root.create_array(
        "images", data=random.integers(0, 255, (256, 32, 32), dtype="u1"), chunks=(8, 32, 32), shards=(64, 32, 32)
    )
    names = root.create_array("names", shape=(256,), chunks=(64,), dtype=str)
    names[:] = [f"image {number}" for number in range(256)]

    batch = np.empty((16, 32, 32), dtype="u1")
    for _ in range(3):
        chosen = random.integers(0, 256, 16)
        # One operation: every chunk is fetched and decoded once, however many of the selections it serves.
        images.read_many([int(number) for number in chosen], out=list(batch))
        print(batch.mean().round(2), names[int(chosen[0])])


if __name__ == "__main__":
    main(*sys.argv[1:])
