"""Look for work that takes longer here than with zarr-python: many small rows, each with both libraries.

    python benchmarks/sweep.py [--peer PYTHON] [--only TEXT,TEXT] [--rounds 3] [--all]

``compare.py`` measures few rows well. This measures many, each once or a few times: data types, codecs, selections and
stores, each written, read whole and read in part. A row is the least CPU time in milliseconds. Printed are the rows
that take at least as long here, the slowest first, and the rows that only one of the libraries can do; ``--all`` prints
every row. The peer (default: zarr-python as ``compare.py`` installs it) and this library measure in turn, each time in
a new process. A ratio near 1 is noise: measure it again with ``--only``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import zarr

HERE = Path(__file__).resolve().parent
EDGE = 1000
LENGTH = 200_000

Figures = dict[str, Any]


class Sweep:
    """The rows of one process: names, and the least CPU time or the error of each.

    Parameters
    ----------
    folder : str
        An empty folder for arrays.
    only : list of str
        Groups of rows whose names contain none of these are left out; empty: all are measured.
    """

    def __init__(self, folder: str, only: list[str]) -> None:
        self.folder, self.only = folder, only
        self.figures: Figures = {}
        self.numbers = count()
        self.random = np.random.default_rng(0)
        self.grid = self.random.normal(size=(EDGE, EDGE)).astype("f4")

    def path(self) -> str:
        """Return a new path."""
        return f"{self.folder}/{next(self.numbers)}.zarr"

    def wants(self, name: str) -> bool:
        """Return True if a group of rows is measured."""
        return not self.only or any(text in name for text in self.only)

    def row(self, name: str, call: Callable[[], Any], runs: int = 4) -> None:
        """Measure a row."""
        seconds = []
        try:
            for _ in range(runs):
                start = time.process_time()
                call()
                seconds.append(time.process_time() - start)
        except Exception as error:  # what a library cannot do is a result
            self.figures[name] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:80]
        else:
            self.figures[name] = min(seconds) * 1000


def text_cases() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield names, values and keywords of arrays of text, bytes, dates and records."""
    texts = [f"string number {i}" for i in range(LENGTH)]
    for dtype in ("S18", "U18", object, np.dtypes.StringDType()):
        kind = "str" if dtype is object or isinstance(dtype, np.dtypes.StringDType) else dtype
        yield f"text {dtype!s:.20}", np.array(texts, dtype=dtype), {"chunks": (20_000,), "dtype": kind}
    yield "text in shards", np.array(texts, object), {"chunks": (1000,), "shards": (20_000,), "dtype": "str"}
    records = np.zeros(LENGTH, [("a", "i4"), ("b", "f8"), ("c", "S4")])
    records["a"] = np.arange(LENGTH)
    yield "records", records, {"chunks": (20_000,)}
    yield "dates", (np.arange(LENGTH) * 1000).astype("M8[s]"), {"chunks": (20_000,)}


def number_cases(sweep: Sweep) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield names, values and keywords of arrays of numbers: data types, layouts, codecs of format 3."""
    for dtype in ("?", "i1", "u2", ">i4", "i8", "f2", ">f8", "c16"):
        yield f"dtype {dtype}", (sweep.grid * 10).astype(dtype), {"chunks": (250, 250)}
    edges = {"chunks": (250, 250)}
    yield "order F", np.asfortranarray(sweep.grid), edges
    yield "transposed", sweep.grid.T, edges
    yield "fill value", np.zeros_like(sweep.grid), {"chunks": (50, 50)}
    yield "fill value NaN", np.full_like(sweep.grid, np.nan), {"chunks": (50, 50), "fill_value": np.nan}
    yield "small shards", sweep.grid, {"chunks": (20, 20), "shards": (500, 500)}
    yield "four axes", sweep.random.normal(size=(20, 20, 20, 20)), {"chunks": (5, 5, 5, 5)}
    yield "rows", sweep.grid[:200, :200], {"chunks": (1, 200)}
    codecs = zarr.codecs
    yield "codec transpose", sweep.grid, edges | {"filters": [codecs.TransposeCodec(order=(1, 0))]}
    compressors: dict[str, Any] = {
        "none": None, "crc32c": codecs.Crc32cCodec(), "gzip 1": codecs.GzipCodec(level=1),
        "gzip 6": codecs.GzipCodec(level=6), "zstd 0": codecs.ZstdCodec(level=0), "zstd 9": codecs.ZstdCodec(level=9),
    }  # fmt: skip
    for name in ("lz4", "lz4hc", "blosclz", "zstd", "zlib"):
        for shuffle in ("shuffle", "bitshuffle", "noshuffle"):
            compressors[f"blosc {name} {shuffle}"] = codecs.BloscCodec(cname=name, clevel=3, shuffle=shuffle)
    for name, compressor in compressors.items():
        yield f"codec {name}", sweep.grid, edges | {"compressors": compressor and [compressor]}


def version2_cases(sweep: Sweep) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield names, values and keywords of arrays of format 2, with codecs of numcodecs."""
    import numcodecs

    edges, steps = {"chunks": (250, 250), "zarr_format": 2}, np.arange(EDGE * EDGE, dtype="i4").reshape(EDGE, EDGE)
    yield "v2 order F", sweep.grid, edges | {"order": "F"}
    for compressor in (
        numcodecs.Blosc(), numcodecs.Zstd(3), numcodecs.LZ4(), numcodecs.Zlib(1), numcodecs.GZip(1), numcodecs.BZ2(1),
        numcodecs.LZMA(preset=1),
    ):  # fmt: skip
        yield f"v2 {compressor.codec_id}", steps, edges | {"compressors": compressor}
    for values, filtered in (
        (steps, numcodecs.Delta("i4")), (sweep.grid, numcodecs.FixedScaleOffset(0, 100, "f4", "i2")),
        (sweep.grid, numcodecs.Quantize(3, "f4")), (sweep.grid > 0, numcodecs.PackBits()),
        (sweep.grid, numcodecs.Shuffle(4)), (sweep.grid, numcodecs.BitRound(8)), (steps, numcodecs.AsType("i4", "i8")),
    ):  # fmt: skip
        yield f"v2 {filtered.codec_id}", values, edges | {"filters": [filtered], "compressors": numcodecs.Zlib(1)}


def measure_arrays(sweep: Sweep) -> None:
    """Write, read and read in part one array of each case."""
    for cases in (number_cases(sweep), text_cases(), version2_cases(sweep)):
        for name, values, keywords in cases:
            if sweep.wants(name):
                measure_array(sweep, name, values, {"dtype": values.dtype, **keywords})


def measure_array(sweep: Sweep, name: str, values: Any, keywords: dict[str, Any]) -> None:
    """Write, read and read in part one array."""
    written = []

    def write() -> None:
        array = zarr.create_array(sweep.path(), shape=values.shape, **keywords)
        array[...] = values
        written.append(array)

    sweep.row(f"{name} write", write, 3)
    if written:  # else the row of writing has the error
        sweep.row(f"{name} read", lambda: written[0][...])
        sweep.row(f"{name} part", lambda: written[0][3:50])


def measure_selections(sweep: Sweep) -> None:
    """Read and write by each kind of selection."""
    array, draw = zarr.create_array(sweep.path(), shape=(EDGE, EDGE), chunks=(50, 50), dtype="f4"), sweep.random
    array[...] = sweep.grid
    mask = draw.random((EDGE, EDGE)) < 0.01
    rows, columns = np.sort(draw.integers(0, EDGE, 300)), draw.permutation(EDGE)[:300]
    points = draw.integers(0, EDGE, 50_000), draw.integers(0, EDGE, 50_000)
    for name, face, key in (
        ("mask", array.vindex, mask), ("points", array.vindex, points), ("orthogonal", array.oindex, (rows, rows)),
        ("orthogonal, unsorted", array.oindex, (columns, rows)), ("strides", array, np.s_[::7, ::3]),
        ("column", array, np.s_[:, 7]), ("row", array, 7), ("all", array, ...), ("block", array.blocks, (3, 4)),
    ):  # fmt: skip
        sweep.row(f"selection {name} get", partial(face.__getitem__, key))
        sweep.row(f"selection {name} set", partial(face.__setitem__, key, 1.5))
    sweep.row("selection elements", lambda: [array[i, i] for i in range(100)])
    sweep.row("selection iterate", lambda: [None for _ in zip(array, range(60), strict=False)])


def stores(sweep: Sweep) -> Iterator[tuple[str, Any]]:
    """Yield names and new stores that both libraries have."""
    from zarr import storage

    yield "folder", storage.LocalStore(sweep.path())
    yield "memory", storage.MemoryStore()
    yield "zip", storage.ZipStore(f"{sweep.folder}/{next(sweep.numbers)}.zip", mode="w")
    yield "wrapper", storage.WrapperStore(storage.MemoryStore())
    try:
        import fsspec  # noqa: F401

        yield "fsspec memory", storage.FsspecStore.from_url(f"memory://sweep{next(sweep.numbers)}")
        yield "fsspec local", storage.FsspecStore.from_url(f"file://{sweep.path()}", {"auto_mkdir": True})
        import obstore.store

        yield "obstore memory", storage.ObjectStore(obstore.store.MemoryStore())
        yield "obstore local", storage.ObjectStore(obstore.store.LocalStore(sweep.path(), mkdir=True))
    except ImportError:
        return


def measure_stores(sweep: Sweep) -> None:
    """Do the same work on each store."""
    for name, store in stores(sweep):
        if sweep.wants(f"store {name}"):
            group = zarr.open_group(store, mode="a")
            measure_data(sweep, f"store {name}", group, "plain", None)
            measure_data(sweep, f"store {name} shard", group, "sharded", (500, 500))
            measure_nodes(sweep, f"store {name}", group)


def measure_data(sweep: Sweep, row: str, group: Any, name: str, shards: Any) -> None:
    """Write and read an array; set elements and append, but not in zip files: they keep what is replaced."""
    array = group.create_array(name, shape=(EDGE, EDGE), chunks=(50, 50), shards=shards, dtype="f4")
    in_zip = "zip" in row
    sweep.row(f"{row} write", lambda: array.__setitem__(..., sweep.grid), 1 if in_zip else 3)
    sweep.row(f"{row} read", lambda: array[...])
    sweep.row(f"{row} element", lambda: [array[i, i] for i in range(50)])
    if not in_zip:
        sweep.row(f"{row} element set", lambda: [array.__setitem__((i, i), 1) for i in range(50)])
        sweep.row(f"{row} append", lambda: [array.append(sweep.grid[:50]) for _ in range(3)], 1)


def measure_nodes(sweep: Sweep, row: str, group: Any) -> None:
    """Create, list and open arrays, and set attributes."""
    fresh, array = count(), group["plain"]

    def create() -> None:
        for _ in range(50):
            group.create_array(f"c{next(fresh)}", shape=(10,), dtype="f4")

    sweep.row(f"{row} create", create, 2)
    sweep.row(f"{row} members", lambda: list(group.members()))
    sweep.row(f"{row} keys", lambda: list(group.keys()))
    sweep.row(f"{row} open", lambda: [group["plain"] for _ in range(50)])
    if "zip" not in row:
        sweep.row(f"{row} attribute", lambda: [array.attrs.__setitem__("a", i) for i in range(20)])


def measure_calls(sweep: Sweep) -> None:
    """Do what is neither a selection nor a store: whole functions, and coroutines."""
    sweep.row("call save", lambda: zarr.save(sweep.path(), sweep.grid), 3)
    zarr.save(saved := sweep.path(), sweep.grid)
    sweep.row("call load", lambda: zarr.load(saved))
    source = zarr.create_array(sweep.path(), data=sweep.grid, chunks=(100, 100))
    sweep.row("call from_array", lambda: zarr.from_array(sweep.path(), data=source), 2)
    sweep.row("call info_complete", source.info_complete)
    group = zarr.open_group(sweep.path(), mode="w")
    for number in range(100):
        group.create_array(f"a{number}", shape=(10,), dtype="f4")
    sweep.row("call tree", lambda: str(group.tree()))
    sweep.row("call contains", lambda: [f"a{number}" in group for number in range(100)])
    sweep.row("call consolidate", lambda: zarr.consolidate_metadata(group.store), 3)
    sweep.row("call gather", lambda: asyncio.run(gather_elements(sweep.grid)), 3)


async def gather_elements(values: Any) -> None:
    """Read elements by coroutines, all at once."""
    store = zarr.storage.MemoryStore()
    array = await zarr.api.asynchronous.create_array(store, shape=values.shape, chunks=(50, 50), dtype="f4")
    await array.setitem(..., values)
    await asyncio.gather(*(array.getitem((i, i)) for i in range(200)))


def measure_here(only: list[str]) -> Figures:
    """Measure all rows with the library of this interpreter."""
    warnings.simplefilter("ignore")
    from environments import work_folder

    with tempfile.TemporaryDirectory(prefix="zarr-sweep-", dir=work_folder()) as folder:
        sweep = Sweep(folder, only)
        measure_arrays(sweep)
        measure_stores(sweep)
        if sweep.wants("selections"):
            measure_selections(sweep)
        if sweep.wants("calls"):
            measure_calls(sweep)
    return sweep.figures


def least(older: Any, newer: Any) -> Any:
    """Return the smaller figure; an error only if there is no figure."""
    figures = [each for each in (older, newer) if isinstance(each, float)]
    return min(figures) if figures else newer


def measure_in_turn(python: str, options: argparse.Namespace) -> tuple[Figures, Figures]:
    """Return the figures of this library and of the peer, the least over the rounds."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ours: Figures = {}
    theirs: Figures = {}
    for _ in range(options.rounds):
        for interpreter, figures in ((sys.executable, ours), (python, theirs)):
            code = "import json, sweep, sys; print(json.dumps(sweep.measure_here(sys.argv[1:])))"
            command = [interpreter, "-W", "ignore", "-c", code, *filter(None, options.only.split(","))]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=HERE, env=clean)
            for name, figure in json.loads(done.stdout.splitlines()[-1]).items():
                figures[name] = least(figures.get(name), figure)
    return ours, theirs


def show(figure: Any) -> str:
    """Return a figure or an error as a cell."""
    return f"{figure:.3g}" if isinstance(figure, float) else str(figure)


def report(ours: Figures, theirs: Figures, everything: bool) -> None:
    """Print the table."""
    both = {name: theirs[name] / ours[name] for name in ours if {type(ours[name]), type(theirs.get(name))} == {float}}
    print("| row | ours, ms | zarr-python, ms | ratio |", "|---|---|---|---|", sep="\n")
    for name in sorted(both, key=lambda name: both[name]):
        if everything or both[name] <= 1:
            print(f"| {name} | {show(ours[name])} | {show(theirs[name])} | {both[name]:.2f} |")
    for name in ours.keys() - both.keys():
        print(f"| {name} | {show(ours[name])} | {show(theirs.get(name))} | - |")
    ratios = sorted(both.values())
    behind = sum(ratio <= 1 for ratio in ratios)
    print(f"\n{len(both)} rows, median ratio {ratios[len(ratios) // 2]:.1f}, not ahead in {behind}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="an interpreter with zarr-python")
    parser.add_argument("--only", default="", help="parts of names of groups: dtype, v2, store zip, calls")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="print every row")
    options = parser.parse_args()
    from environments import make_environment

    report(*measure_in_turn(options.peer or make_environment("new"), options), options.all)


if __name__ == "__main__":
    main()
