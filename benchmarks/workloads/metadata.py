"""Arrays created, opened, listed and grown: documents rather than data."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from workloads.registry import QUICK, Prepared, add, smooth

TINY = {"shape": (100, 100), "chunks": (50, 50), "dtype": "float32", "codec": "zstd"}
MEMBERS = 100 if QUICK else 1000


def create(peer: Any, folder: Path) -> Prepared:
    """Create 100 arrays in a local store."""
    counter = itertools.count()
    return (lambda: [peer.create(folder / f"made{next(counter)}", TINY) for _ in range(100)]), 100, "us"


def open_(peer: Any, folder: Path) -> Prepared:
    """Open one array 200 times."""
    peer.create(folder / "opened", TINY)
    return (lambda: [peer.open(folder / "opened") for _ in range(200)]), 200, "us"


def populate(peer: Any, folder: Path) -> Path:
    """Make a group of 1000 arrays."""
    if (folder / "made").exists():
        return folder / "group"
    group = peer.group(folder / "group")
    for i in range(MEMBERS):
        if hasattr(group, "create_array"):
            group.create_array(f"a{i}", shape=(10,), chunks=(10,), dtype="float32")
        else:
            group.create(f"a{i}", shape=(10,), chunks=(10,), dtype="float32")
    (folder / "made").touch()
    return folder / "group"


def list_plain(peer: Any, folder: Path) -> Prepared:
    """List them from the files."""
    path = str(populate(peer, folder))
    plain = {} if type(peer).__name__ == "Zarr2" else {"use_consolidated": False}
    return (lambda: list(peer.zarr.open_group(path, mode="r", **plain).arrays())), 1, "ms"


def list_consolidated(peer: Any, folder: Path) -> Prepared:
    """List them from consolidated metadata."""
    path = str(populate(peer, folder))
    peer.zarr.consolidate_metadata(path)
    return (lambda: list(peer.zarr.open_consolidated(path).arrays())), 1, "ms"


def append(peer: Any, folder: Path) -> Prepared:
    """Append rows of one chunk each."""
    spec = {"shape": (0, 1000), "chunks": (1, 1000), "dtype": "float32", "codec": "raw"}
    row = smooth((1, 1000))
    if hasattr(peer, "h5py"):
        file = peer.h5py.File(folder / "rows.h5", "w")
        dataset = file.create_dataset("rows", (0, 1000), "float32", chunks=(1, 1000), maxshape=(None, 1000))

        def run() -> None:
            for _ in range(100):
                dataset.resize(len(dataset) + 1, 0)
                dataset[-1:] = row

        return run, 100, "us"
    array = peer.create(folder / "rows", spec)
    return (lambda: [array.append(row) for _ in range(100)]), 100, "us"


add("create_array", create, leave_out="zarrs limit", default=10.0)
add("open_array", open_, leave_out="zarrs limit", default=10.0)
add("list_1000_arrays", list_plain, leave_out="ts zarrs h5py limit", repeats=3, default=10.0, keeps="own")
add("list_1000_consolidated", list_consolidated, leave_out="ts zarrs h5py limit", repeats=3, default=10.0, keeps="own")
add("append_rows", append, leave_out="ts zarrs limit", repeats=3, default=10.0)
