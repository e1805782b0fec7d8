"""Large arrays read and written whole, and arrays of many small chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workloads.registry import QUICK, Prepare, Prepared, add, smooth, stored

SIDE = 2048 if QUICK else 8192
BIG = {"shape": (SIDE, SIDE), "chunks": (512, 512), "dtype": "float32"}
PART = 10 if QUICK else 1


def full_read(codec: str, **more: Any) -> Prepare:
    """Return the workload of reading a big array whole."""

    def prepare(peer: Any, folder: Path) -> Prepared:
        spec = {**BIG, "codec": codec, **more}
        array = stored(peer, folder, spec, lambda: smooth(spec["shape"]))
        return (lambda: peer.read(array)), 1, "s"

    return prepare


def full_write(codec: str, **more: Any) -> Prepare:
    """Return the workload of writing a big array whole."""

    def prepare(peer: Any, folder: Path) -> Prepared:
        spec = {**BIG, "codec": codec, **more}
        array, values = peer.create(folder / "big", spec), smooth(spec["shape"])
        return (lambda: peer.write(array, ..., values)), 1, "s"

    return prepare


def many_chunks(count: int, items: int, codec: str, where: str, direction: str, zarr_format: int = 3) -> Prepare:
    """Return the workload of reading or writing an array of many small chunks."""
    spec = {
        "shape": (count // PART * items,),
        "chunks": (items,),
        "dtype": "float32",
        "codec": codec,
        "zarr_format": zarr_format,
    }

    def prepare(peer: Any, folder: Path) -> Prepared:
        values = smooth(spec["shape"])
        if where == "local" and direction == "read":
            array = stored(peer, folder, spec, lambda: values)
        else:
            array = peer.create(peer.memory() if where == "memory" else folder / "many", spec)
        if direction == "write":
            return (lambda: peer.write(array, ..., values)), count // PART, "us/chunk"
        if where == "memory":
            peer.write(array, ..., values)
        return (lambda: peer.read(array)), count // PART, "us/chunk"

    return prepare


for _name, _prepare, _keeps in (
    ("read_256MiB_zstd", full_read("zstd"), "big_zstd"),
    ("read_256MiB_blosc", full_read("blosc"), "own"),
    ("write_256MiB_zstd", full_write("zstd"), ""),
    ("write_256MiB_blosc", full_write("blosc"), ""),
):
    add(_name, _prepare, leave_out="h5py", repeats=3, best=1.1, keeps=_keeps)

for _name, _arguments, _leave_out in (
    ("read_4096_files_64KiB", (4096, 16384, "blosc", "local", "read"), "h5py"),
    ("write_4096_files_64KiB", (4096, 16384, "blosc", "local", "write"), "h5py"),
    ("read_10000_files_1KiB", (10000, 256, "raw", "local", "read"), ""),
    ("write_10000_files_1KiB", (10000, 256, "raw", "local", "write"), ""),
    ("read_memory_1KiB", (10000, 256, "raw", "memory", "read"), "zarrs h5py"),
    ("read_memory_256B", (10000, 64, "raw", "memory", "read"), "zarrs h5py"),
    ("write_memory_256B", (10000, 64, "raw", "memory", "write"), "zarrs h5py limit"),
    ("read_v2_files_1KiB", (10000, 256, "raw", "local", "read", 2), "h5py"),
):
    _keeps = "own" if _arguments[3:5] == ("local", "read") else ""
    _many = many_chunks(*_arguments)  # type: ignore[arg-type]
    add(_name, _many, leave_out=_leave_out, repeats=4, default=10.0, keeps=_keeps)
