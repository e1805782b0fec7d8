"""Two million short strings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workloads.registry import QUICK, Prepared, add, stored

COUNT = 200_000 if QUICK else 2_000_000
STRINGS = {"shape": (COUNT,), "chunks": (100_000,), "dtype": "T", "codec": "raw", "fill": ""}


def words(count: int) -> np.ndarray[Any, Any]:
    """Return short strings as Python objects."""
    return np.array([f"word{int(i)}" for i in np.random.default_rng(1).integers(0, 100_000, count)], dtype=object)


def read(peer: Any, folder: Path) -> Prepared:
    """Read them all; figures are for one string."""
    array = stored(peer, folder, STRINGS, lambda: words(COUNT))
    return (lambda: peer.read(array)), COUNT, "ns"


def write(peer: Any, folder: Path) -> Prepared:
    """Write them all, from the kind of array that the library hands out."""
    array = peer.create(folder / "strings", STRINGS)
    values = words(COUNT)
    if type(peer).__name__ == "Zarr3":
        values = values.astype("T")
    return (lambda: peer.write(array, ..., values)), COUNT, "ns"


add("read_2M_strings", read, leave_out="ts zarrs limit", repeats=3, keeps="own")
add("write_2M_strings", write, leave_out="ts zarrs limit", repeats=3)
