"""Every workload that is compared, runnable alone: ``python workloads.py PEER WORKLOAD FOLDER``.

Prints one JSON line: CPU and wall seconds (least of the timed runs, per unit) and what the unit is. A workload makes
its input in FOLDER, runs once to warm up and is then timed; peers that do not offer it print ``null``.
"""

from __future__ import annotations

import itertools
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peers import make_peer

Run = Callable[[], Any]
Workload = Callable[[Any, Path], tuple[Run, int, str]]  # what to time, units in one run, unit
WORKLOADS: dict[str, tuple[Workload, set[str], int]] = {}
ALL = {"ours", "z34", "fused", "zarrs", "z2", "ts", "h5py"}
RNG = np.random.default_rng(0)


def workload(*, leave_out: str = "", repeats: int = 5) -> Callable[[Workload], Workload]:
    """Register a workload, the peers that cannot run it, and how often it is timed in one process."""

    def register(function: Workload) -> Workload:
        WORKLOADS[function.__name__] = (function, ALL - set(leave_out.split()), repeats)
        return function

    return register


def smooth(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return float32 data that compresses like a measured field does."""
    values = np.cumsum(RNG.standard_normal(int(np.prod(shape)), dtype="f4")).reshape(shape)
    return np.round(values, 2)


BIG = {"shape": (8192, 8192), "chunks": (512, 512), "dtype": "float32"}


def full_read(codec: str, **more: Any) -> Workload:
    def prepare(peer: Any, folder: Path) -> tuple[Run, int, str]:
        spec = {**BIG, "codec": codec, **more}
        array = peer.create(folder / "big", spec)
        peer.write(array, ..., smooth(spec["shape"]))
        array = peer.open(folder / "big")
        return (lambda: peer.read(array)), 1, "s"

    return prepare


def full_write(codec: str, **more: Any) -> Workload:
    def prepare(peer: Any, folder: Path) -> tuple[Run, int, str]:
        spec = {**BIG, "codec": codec, **more}
        array, values = peer.create(folder / "big", spec), smooth(spec["shape"])
        return (lambda: peer.write(array, ..., values)), 1, "s"

    return prepare


def register_full() -> None:
    """The large arrays: whole reads and writes of 256 MiB."""
    shards = {"chunks": (128, 128), "shards": (4096, 2048)}
    for name, function, leave_out in (
        ("read_256MiB_zstd", full_read("zstd"), "h5py"),
        ("read_256MiB_blosc", full_read("blosc"), "h5py"),
        ("write_256MiB_zstd", full_write("zstd"), "h5py"),
        ("write_256MiB_blosc", full_write("blosc"), "h5py"),
        ("read_shards_of_64KiB", full_read("blosc", **shards), "z2 h5py"),
        ("write_shards_of_64KiB", full_write("blosc", **shards), "z2 h5py"),
    ):
        function.__name__ = name
        workload(leave_out=leave_out, repeats=3)(function)


register_full()


def many_chunks(count: int, items: int, codec: str, where: str, direction: str, zarr_format: int = 3) -> Workload:
    def prepare(peer: Any, folder: Path) -> tuple[Run, int, str]:
        spec = {
            "shape": (count * items,),
            "chunks": (items,),
            "dtype": "float32",
            "codec": codec,
            "zarr_format": zarr_format,
        }
        place = peer.memory() if where == "memory" else folder / "many"
        array, values = peer.create(place, spec), smooth(spec["shape"])
        peer.write(array, ..., values)
        if direction == "write":
            return (lambda: peer.write(array, ..., values)), count, "us/chunk"
        return (lambda: peer.read(array)), count, "us/chunk"

    return prepare


def register_many() -> None:
    """Many small chunks."""
    for name, arguments, leave_out in (
        ("read_4096_files_64KiB", (4096, 16384, "blosc", "local", "read"), "h5py"),
        ("write_4096_files_64KiB", (4096, 16384, "blosc", "local", "write"), "h5py"),
        ("read_10000_files_1KiB", (10000, 256, "raw", "local", "read"), ""),
        ("write_10000_files_1KiB", (10000, 256, "raw", "local", "write"), ""),
        ("read_memory_1KiB", (10000, 256, "raw", "memory", "read"), "zarrs h5py"),
        ("read_memory_256B", (10000, 64, "raw", "memory", "read"), "zarrs h5py"),
        ("write_memory_256B", (10000, 64, "raw", "memory", "write"), "zarrs h5py"),
        ("read_v2_files_1KiB", (10000, 256, "raw", "local", "read", 2), "h5py"),
    ):
        function = many_chunks(*arguments)
        function.__name__ = name
        workload(leave_out=leave_out, repeats=4)(function)


register_many()


@workload(leave_out="z2 h5py")
def random_inner_chunk(peer: Any, folder: Path) -> tuple[Run, int, str]:
    spec = {"shape": (4096, 4096), "chunks": (128, 128), "shards": (4096, 2048), "dtype": "float32", "codec": "blosc"}
    array = peer.create(folder / "shards", spec)
    peer.write(array, ..., smooth(spec["shape"]))
    array = peer.open(folder / "shards")
    corners = RNG.integers(0, 32, (100, 2)) * 128
    windows = [np.s_[int(y) : int(y) + 128, int(x) : int(x) + 128] for y, x in corners]
    return (lambda: [peer.read(array, w) for w in windows]), len(windows), "us"


@workload(leave_out="z2 h5py")
def write_inner_chunk(peer: Any, folder: Path) -> tuple[Run, int, str]:
    spec = {"shape": (4096, 2048), "chunks": (128, 128), "shards": (4096, 2048), "dtype": "float32", "codec": "blosc"}
    array, values = peer.create(folder / "shard", spec), smooth(spec["shape"])
    peer.write(array, ..., values)
    corners = itertools.cycle(RNG.integers(0, 16, (64, 2)) * 128)

    def run() -> None:
        for _ in range(4):
            y, x = (int(c) for c in next(corners))
            peer.write(array, np.s_[y : y + 128, x : x + 128], values[:128, :128])

    return run, 4, "us"


def picture(peer: Any, folder: Path, side: int) -> Any:
    spec = {"shape": (side, side), "chunks": (1000, 1000), "dtype": "uint16", "codec": "blosc"}
    array = peer.create(folder / "picture", spec)
    peer.write(array, ..., RNG.integers(0, 256, (side, side)).astype("u2"))
    return peer.open(folder / "picture")


@workload(leave_out="zarrs h5py", repeats=3)
def oindex_1000_by_1000(peer: Any, folder: Path) -> tuple[Run, int, str]:
    array = picture(peer, folder, 20000)
    rows, columns = (np.sort(RNG.choice(20000, 1000, replace=False)) for _ in range(2))
    return (lambda: peer.oindex(array, (rows, columns))), 1, "s"


@workload(leave_out="zarrs h5py", repeats=3)
def vindex_100000_points(peer: Any, folder: Path) -> tuple[Run, int, str]:
    array = picture(peer, folder, 20000)
    rows, columns = (RNG.integers(0, 20000, 100_000) for _ in range(2))
    return (lambda: peer.vindex(array, (rows, columns))), 1, "s"


@workload(leave_out="zarrs h5py", repeats=3)
def mask_10000_by_10000(peer: Any, folder: Path) -> tuple[Run, int, str]:
    array = picture(peer, folder, 10000)
    mask = RNG.random((10000, 10000)) < 0.01
    return (lambda: peer.mask(array, mask)), 1, "s"


def one_element(chunk: int, codec: str, where: str) -> Workload:
    def prepare(peer: Any, folder: Path) -> tuple[Run, int, str]:
        spec = {"shape": (chunk * 4,), "chunks": (chunk,), "dtype": "float32", "codec": codec}
        place = peer.memory() if where == "memory" else folder / "one"
        array = peer.create(place, spec)
        peer.write(array, ..., smooth(spec["shape"]))
        places = [int(i) for i in RNG.integers(0, chunk * 4, 300)]
        return (lambda: [peer.read(array, i) for i in places]), len(places), "us"

    return prepare


def register_elements() -> None:
    """Single elements and small windows."""
    for name, arguments, leave_out in (
        ("element_500KB_blosc_file", (125_000, "blosc", "local"), ""),
        ("element_20KB_raw_file", (5_000, "raw", "local"), ""),
        ("element_memory", (5_000, "raw", "memory"), "zarrs h5py"),
    ):
        function = one_element(*arguments)
        function.__name__ = name
        workload(leave_out=leave_out)(function)


register_elements()


@workload()
def small_slice_local(peer: Any, folder: Path) -> tuple[Run, int, str]:
    spec = {"shape": (1000, 1000), "chunks": (100, 100), "dtype": "float32", "codec": "raw"}
    array = peer.create(folder / "slices", spec)
    peer.write(array, ..., smooth(spec["shape"]))
    corners = RNG.integers(0, 9, (200, 2)) * 100
    windows = [np.s_[int(y) : int(y) + 10, int(x) : int(x) + 10] for y, x in corners]
    return (lambda: [peer.read(array, w) for w in windows]), len(windows), "us"


@workload(leave_out="ts zarrs h5py", repeats=3)
def iterate_1000_rows(peer: Any, folder: Path) -> tuple[Run, int, str]:
    spec = {"shape": (1000, 100), "chunks": (1000, 100), "dtype": "float32", "codec": "raw"}
    array = peer.create(peer.memory(), spec)
    peer.write(array, ..., smooth(spec["shape"]))
    return (lambda: sum(1 for _ in array)), 1000, "us/row"


def words(count: int) -> np.ndarray[Any, Any]:
    return np.array([f"word{int(i)}" for i in RNG.integers(0, 100_000, count)], dtype=object)


STRINGS = {"shape": (2_000_000,), "chunks": (100_000,), "dtype": "T", "codec": "raw", "fill": ""}


@workload(leave_out="ts zarrs", repeats=3)
def read_2M_strings(peer: Any, folder: Path) -> tuple[Run, int, str]:
    array = peer.create(folder / "strings", STRINGS)
    peer.write(array, ..., words(2_000_000))
    return (lambda: peer.read(array)), 2_000_000_000 // 1000, "ns"


@workload(leave_out="ts zarrs", repeats=3)
def write_2M_strings(peer: Any, folder: Path) -> tuple[Run, int, str]:
    array = peer.create(folder / "strings", STRINGS)
    values = words(2_000_000)
    if type(peer).__name__ == "Zarr3":
        values = values.astype("T")
    return (lambda: peer.write(array, ..., values)), 2_000_000_000 // 1000, "ns"


TINY = {"shape": (100, 100), "chunks": (50, 50), "dtype": "float32", "codec": "zstd"}


@workload(leave_out="zarrs h5py")
def create_array(peer: Any, folder: Path) -> tuple[Run, int, str]:
    counter = itertools.count()
    return (lambda: [peer.create(folder / f"made{next(counter)}", TINY) for _ in range(100)]), 100, "us"


@workload(leave_out="zarrs h5py")
def open_array(peer: Any, folder: Path) -> tuple[Run, int, str]:
    peer.create(folder / "opened", TINY)
    return (lambda: [peer.open(folder / "opened") for _ in range(200)]), 200, "us"


def populate(peer: Any, folder: Path) -> Path:
    group = peer.group(folder / "group")
    for i in range(1000):
        if hasattr(group, "create_array"):
            group.create_array(f"a{i}", shape=(10,), chunks=(10,), dtype="float32")
        else:
            group.create(f"a{i}", shape=(10,), chunks=(10,), dtype="float32")
    return folder / "group"


@workload(leave_out="ts zarrs h5py", repeats=3)
def list_1000_arrays(peer: Any, folder: Path) -> tuple[Run, int, str]:
    path = populate(peer, folder)
    return (lambda: list(peer.zarr.open_group(str(path), mode="r", **plain(peer)).arrays())), 1, "ms"


def plain(peer: Any) -> dict[str, Any]:
    return {} if type(peer).__name__ == "Zarr2" else {"use_consolidated": False}


@workload(leave_out="ts zarrs h5py", repeats=3)
def list_1000_consolidated(peer: Any, folder: Path) -> tuple[Run, int, str]:
    path = populate(peer, folder)
    peer.zarr.consolidate_metadata(str(path))
    return (lambda: list(peer.zarr.open_consolidated(str(path)).arrays())), 1, "ms"


@workload(leave_out="ts zarrs h5py", repeats=3)
def append_rows(peer: Any, folder: Path) -> tuple[Run, int, str]:
    spec = {"shape": (0, 1000), "chunks": (1, 1000), "dtype": "float32", "codec": "raw"}
    array, row = peer.create(folder / "rows", spec), smooth((1, 1000))
    return (lambda: [array.append(row) for _ in range(100)]), 100, "us"


def peak(function: Callable[[Any, Path], Any]) -> Workload:
    def prepare(peer: Any, folder: Path) -> tuple[Run, int, str]:
        array, nbytes = function(peer, folder)

        def run() -> Any:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            values = peer.read(array)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            del values
            return (after - before) * 1024 / nbytes

        return run, 1, "peak"

    return prepare


SCALE = {"us": 1e6, "us/chunk": 1e6, "us/row": 1e6, "ms": 1e3, "s": 1.0, "ns": 1e9}


def time_run(run: Run, repeats: int) -> tuple[float, float]:
    """Return the least CPU and wall seconds of some runs, after one to warm up."""
    run()
    cpu, wall = [], []
    for _ in range(repeats):
        start_cpu, start = time.process_time(), time.perf_counter()
        run()
        cpu.append(time.process_time() - start_cpu)
        wall.append(time.perf_counter() - start)
    return min(cpu), min(wall)


def main() -> None:
    """Run one workload with one peer and print its figures as JSON."""
    peer_name, name, folder = sys.argv[1:4]
    function, peers, repeats = WORKLOADS[name]
    if peer_name not in peers:
        print("null")
        return
    run, units, unit = function(make_peer(peer_name), Path(folder))
    cpu, wall = time_run(run, repeats)
    scale = SCALE[unit] / units
    print(json.dumps({"cpu": cpu * scale, "wall": wall * scale, "unit": unit}))


if __name__ == "__main__":
    main()
