"""Nodes taken from a group, changed, removed and consolidated; and what xarray does with them."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workloads.registry import QUICK, Prepared, add

MEMBERS = 100 if QUICK else 1000
MANY = 1000 if QUICK else 10_000
VARIABLES = 20 if QUICK else 200
TIMES = 100
DELETIONS = 3

IN_GROUPS = "fused zarrs ts limit"
"""Peers that have no groups, or the same as another."""


def group_at(peer: Any, folder: Path) -> Any:
    """Open or make a group; in h5py, that is a file."""
    if hasattr(peer, "h5py"):
        return peer.h5py.File(folder / "group.h5", "a")
    return peer.group(folder / "group")


def make(group: Any, name: str) -> Any:
    """Make a small array that can grow."""
    if hasattr(group, "create_array"):
        return group.create_array(name, shape=(10, 10), chunks=(10, 10), dtype="float32")
    if hasattr(group, "create"):
        return group.create(name, shape=(10, 10), chunks=(10, 10), dtype="float32")
    return group.create_dataset(name, shape=(10, 10), chunks=(10, 10), dtype="float32", maxshape=(None, None))


def getitem(peer: Any, folder: Path) -> Prepared:
    """Take an array from a group by its name."""
    group = group_at(peer, folder)
    make(group, "x")
    return (lambda: [group["x"] for _ in range(TIMES)]), TIMES, "us"


def set_attribute(peer: Any, folder: Path) -> Prepared:
    """Set one attribute of an array."""
    array, numbers = make(group_at(peer, folder), "x"), itertools.count()

    def run() -> None:
        attributes = array.attrs
        for _ in range(TIMES):
            attributes["k"] = next(numbers)

    return run, TIMES, "us"


def resize(peer: Any, folder: Path) -> Prepared:
    """Let an array without chunks grow by a chunk."""
    array, lengths = make(group_at(peer, folder), "x"), itertools.count(20, 10)
    return (lambda: [array.resize((next(lengths), 10)) for _ in range(TIMES)]), TIMES, "us"


def delete(peer: Any, folder: Path) -> Prepared:
    """Delete a group of 1000 arrays."""
    top = group_at(peer, folder)
    first = top.create_group("group0")
    for i in range(MEMBERS):
        make(first, f"a{i}")
    for number in range(1, DELETIONS + 1):
        if hasattr(peer, "h5py"):
            top.copy("group0", f"group{number}")
        else:
            shutil.copytree(folder / "group" / "group0", folder / "group" / f"group{number}")
    numbers = itertools.count()
    return (lambda: top.__delitem__(f"group{next(numbers)}")), 1, "ms"


def multiply(peer: Any, folder: Path, count: int) -> Path:
    """Make a group of so many arrays out of one, as copies of its folder."""
    path = folder / "group"
    if not (folder / "made").exists():
        make(group_at(peer, folder), "a0")
        for i in range(1, count):
            shutil.copytree(path / "a0", path / f"a{i}")
        (folder / "made").touch()
    return path


def consolidate(peer: Any, folder: Path) -> Prepared:
    """Consolidate the metadata of 1000 arrays."""
    path = str(multiply(peer, folder, MEMBERS))
    return (lambda: peer.zarr.consolidate_metadata(path)), 1, "ms"


def create_consolidated(peer: Any, folder: Path, count: int) -> Prepared:
    """Create arrays in a group that has consolidated metadata of some already."""
    path = str(multiply(peer, folder, count))
    peer.zarr.consolidate_metadata(path)
    group, numbers = peer.zarr.open_group(path, mode="r+"), itertools.count()
    return (lambda: [make(group, f"new{next(numbers)}") for _ in range(10)]), 10, "us"


def create_first(peer: Any, folder: Path) -> Prepared:
    """Create the first arrays of a group with consolidated metadata."""
    return create_consolidated(peer, folder, 1)


def create_last(peer: Any, folder: Path) -> Prepared:
    """Create the 10,000th array of a group with consolidated metadata."""
    return create_consolidated(peer, folder, MANY)


def dataset() -> Any:
    """Return a dataset of 200 small variables."""
    import numpy as np
    import xarray

    values = np.arange(100, dtype="f4").reshape(10, 10)
    return xarray.Dataset(
        {f"v{i}": (("y", "x"), values + i, {"units": "m"}) for i in range(VARIABLES)},
        coords={"y": np.arange(10.0), "x": np.arange(10.0)},
    )


def new_paths(folder: Path) -> Iterator[str]:
    """Yield paths at which nothing is."""
    return (str(folder / f"dataset{number}") for number in itertools.count())


def to_zarr(peer: Any, folder: Path) -> Prepared:
    """Store the dataset."""
    made, paths = dataset(), new_paths(folder)
    return (lambda: made.to_zarr(next(paths), mode="w")), 1, "ms"


def open_zarr(peer: Any, folder: Path) -> Prepared:
    """Open the dataset that was stored; no values are read but those of the indexes."""
    import xarray

    path = next(new_paths(folder))
    if not Path(path).exists():
        dataset().to_zarr(path)
    return (lambda: xarray.open_zarr(path, chunks=None)), 1, "ms"


add("group_getitem", getitem, leave_out=IN_GROUPS, default=10.0)
add("set_attribute", set_attribute, leave_out=IN_GROUPS, default=10.0)
add("resize", resize, leave_out=IN_GROUPS, default=10.0)
add("delete_1000_arrays", delete, leave_out=IN_GROUPS, repeats=DELETIONS)
add("consolidate_1000_arrays", consolidate, leave_out=f"{IN_GROUPS} h5py", repeats=3, default=10.0, keeps="own")
add("create_1st_consolidated", create_first, leave_out=f"{IN_GROUPS} h5py", repeats=3)
add("create_10000th_consolidated", create_last, leave_out=f"{IN_GROUPS} h5py", repeats=3)
add("xarray_to_zarr_200", to_zarr, leave_out=f"{IN_GROUPS} h5py", repeats=3, default=4.0)
add("xarray_open_zarr_200", open_zarr, leave_out=f"{IN_GROUPS} h5py", repeats=3, default=2.0, keeps="own")
