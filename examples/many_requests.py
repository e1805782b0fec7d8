"""The asynchronous face: many arrays of one store read at once, in an event loop of your own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np

import zarr
import zarr.api.asynchronous


async def read_all(path: Path) -> float:
    """Return the sum of every array of a group."""
    group = await zarr.api.asynchronous.open_group(path, mode="r")
    arrays = [array async for _, array in group.arrays()]
    parts = await asyncio.gather(*(array.getitem(Ellipsis) for array in arrays))
    return float(sum(np.sum(part) for part in parts))


def main(folder: str = ".") -> None:
    """Write twenty arrays and read them together."""
    path = Path(folder) / "many.zarr"
    root = zarr.open_group(path, mode="w")
    for number in range(20):
        root.create_array(f"a{number}", data=np.full((50, 50), number, dtype="f4"), chunks=(25, 25))
    print(asyncio.run(read_all(path)))


if __name__ == "__main__":
    main(*sys.argv[1:])
