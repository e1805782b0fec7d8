"""Single elements, small windows, and rows one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workloads.registry import RNG, Prepare, Prepared, add, smooth, stored


def one_element(chunk: int, codec: str, where: str) -> Prepare:
    """Return the workload of reading single elements."""

    def prepare(peer: Any, folder: Path) -> Prepared:
        spec = {"shape": (chunk * 4,), "chunks": (chunk,), "dtype": "float32", "codec": codec}
        if where == "memory":
            array = peer.create(peer.memory(), spec)
            peer.write(array, ..., smooth(spec["shape"]))
        else:
            array = stored(peer, folder, spec, lambda: smooth(spec["shape"]))
        places = [int(i) for i in RNG.integers(0, chunk * 4, 300)]
        return (lambda: [peer.read(array, i) for i in places]), len(places), "us"

    return prepare


def small_slice(peer: Any, folder: Path) -> Prepared:
    """Read windows of 10 x 10 elements."""
    spec = {"shape": (1000, 1000), "chunks": (100, 100), "dtype": "float32", "codec": "raw"}
    array = stored(peer, folder, spec, lambda: smooth(spec["shape"]))
    corners = RNG.integers(0, 9, (200, 2)) * 100
    windows = [np.s_[int(y) : int(y) + 10, int(x) : int(x) + 10] for y, x in corners]
    return (lambda: [peer.read(array, w) for w in windows]), len(windows), "us"


def iterate(peer: Any, folder: Path) -> Prepared:
    """Walk over the rows of an array in memory."""
    spec = {"shape": (1000, 100), "chunks": (1000, 100), "dtype": "float32", "codec": "raw"}
    array = peer.create(peer.memory(), spec)
    peer.write(array, ..., smooth(spec["shape"]))
    return (lambda: sum(1 for _ in array)), 1000, "us/row"


# h5py reads without a codec: its own lz4 needs a plugin.
_big = one_element(125_000, "blosc", "local")
add("element_500KB_blosc_file", _big, leave_out="limit h5py", default=10.0, keeps="own")
add("element_20KB_raw_file", one_element(5_000, "raw", "local"), default=10.0, keeps="own")
add("element_memory", one_element(5_000, "raw", "memory"), leave_out="zarrs h5py limit", default=10.0)
add("small_slice_local", small_slice, default=10.0, keeps="own")
add("iterate_1000_rows", iterate, leave_out="ts zarrs h5py limit", repeats=3, default=10.0)
