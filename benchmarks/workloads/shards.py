"""Shards: whole, one inner chunk read, one inner chunk written."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from workloads.bulk import full_read, full_write
from workloads.registry import QUICK, RNG, Prepared, add, smooth, stored

SHARD = (1024, 1024) if QUICK else (4096, 2048)
SPEC: dict[str, Any] = {"chunks": (128, 128), "shards": SHARD, "dtype": "float32", "codec": "blosc"}


def random_inner_chunk(peer: Any, folder: Path) -> Prepared:
    """Read 100 inner chunks, one at a time."""
    shape = (SHARD[0], 2 * SHARD[1])
    array = stored(peer, folder, {**SPEC, "shape": shape}, lambda: smooth(shape))
    corners = RNG.integers(0, min(shape) // 128, (100, 2)) * 128
    windows = [np.s_[int(y) : int(y) + 128, int(x) : int(x) + 128] for y, x in corners]
    return (lambda: [peer.read(array, w) for w in windows]), len(windows), "us"


def write_inner_chunk(peer: Any, folder: Path) -> Prepared:
    """Replace single inner chunks of one shard."""
    values = smooth(SHARD)
    array = peer.create(folder / "shard", {**SPEC, "shape": SHARD})
    peer.write(array, ..., values)
    corners = itertools.cycle(RNG.integers(0, min(SHARD) // 128, (64, 2)) * 128)

    def run() -> None:
        for _ in range(4):
            y, x = (int(c) for c in next(corners))
            peer.write(array, np.s_[y : y + 128, x : x + 128], values[:128, :128])

    return run, 4, "us"


SHARDS = {"chunks": (128, 128), "shards": SHARD}
add("read_shards_of_64KiB", full_read("blosc", **SHARDS), leave_out="z2 h5py", repeats=3, best=1.5, keeps="own")
add("write_shards_of_64KiB", full_write("blosc", **SHARDS), leave_out="z2 h5py limit", repeats=3, best=1.5)
add("random_inner_chunk", random_inner_chunk, leave_out="z2 h5py", best=1.5, default=10.0, keeps="own")
add("write_inner_chunk", write_inner_chunk, leave_out="z2 h5py limit", best=1.5)
