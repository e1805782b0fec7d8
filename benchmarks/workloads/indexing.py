"""Orthogonal, pointwise and masked selections of a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workloads.registry import QUICK, RNG, Prepared, add, stored

SIDE = 4000 if QUICK else 20000


def picture(peer: Any, folder: Path, side: int) -> Any:
    """Store a square picture of 16-bit values."""
    spec = {"shape": (side, side), "chunks": (1000, 1000), "dtype": "uint16", "codec": "blosc"}
    values = np.random.default_rng(1)
    return stored(peer, folder, spec, lambda: values.integers(0, 256, (side, side), dtype="u1").astype("u2"))


def oindex(peer: Any, folder: Path) -> Prepared:
    """Read 1000 rows by 1000 columns."""
    array = picture(peer, folder, SIDE)
    rows, columns = (np.sort(RNG.choice(SIDE, 1000, replace=False)) for _ in range(2))
    return (lambda: peer.oindex(array, (rows, columns))), 1, "s"


def vindex(peer: Any, folder: Path) -> Prepared:
    """Read 100,000 points."""
    array = picture(peer, folder, SIDE)
    rows, columns = (RNG.integers(0, SIDE, 100_000) for _ in range(2))
    return (lambda: peer.vindex(array, (rows, columns))), 1, "s"


def mask(peer: Any, folder: Path) -> Prepared:
    """Read what a mask selects: one element in a hundred."""
    array = picture(peer, folder, SIDE // 2)
    chosen = RNG.random((SIDE // 2, SIDE // 2)) < 0.01
    return (lambda: peer.mask(array, chosen)), 1, "s"


add("oindex_1000_by_1000", oindex, leave_out="zarrs h5py", repeats=3, best=1.5, keeps="picture")
add("vindex_100000_points", vindex, leave_out="zarrs h5py", repeats=3, best=1.5, keeps="picture")
add("mask_10000_by_10000", mask, leave_out="zarrs h5py", repeats=3, best=1.5, keeps="own")
