"""Measure how fast an array is read and written in its present layout."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from zarr.arrays.array import Array
from zarr.arrays.show.cf import dimension_names
from zarr.tools.copies.regions import Regions, every
from zarr.tools.measurements.candidates import codec_text, own_layout
from zarr.tools.measurements.costs import Sample, sample_shape
from zarr.tools.measurements.reads import (
    Read,
    Selection,
    Shape,
    check_seconds,
    open_measured,
    parse_limit,
    parse_reads,
)
from zarr.tools.measurements.results import aligned
from zarr.tools.measurements.tuning import SAMPLE, sample_limit, scratch_folder
from zarr.tools.plans.plan import MEMORY, human
from zarr.tools.plans.progress import Progress, reporting

CHUNKS: Final = "chunks"
"""The name for reads of one chunk or shard after the other."""

MOST: Final = 10_000


@dataclass(frozen=True)
class Speed:
    """The result of :func:`bench`.

    Parameters
    ----------
    array : Array
        The name of the array.
    rows : list of dict
        For each kind of read, and for the write: ``name``; ``count``, the number of repetitions; ``nbytes``, the bytes
        of its elements; ``seconds``, the median on the clock; ``cpu_seconds``, the mean over all processors;
        ``bytes_per_second``.

    Examples
    --------
    >>> import zarr
    >>> found = zarr.tools.bench(zarr.array([1, 2, 3]), seconds=0.1)
    >>> isinstance(found, zarr.tools.Speed)
    True
    """

    array: Array[Any]
    rows: list[dict[str, Any]]

    def __str__(self) -> str:
        return self.table()

    def table(self) -> str:
        """Return the rows as text.

        Returns
        -------
        str
        """
        lines = [["", "MB/s", "ms", "CPU ms", "bytes", "times"]]
        for row in self.rows:
            times = [f"{row[name] * 1e3:.3g}" for name in ("seconds", "cpu_seconds")]
            lines.append(
                [row["name"], f"{row['bytes_per_second'] / 1e6:.4g}", *times, human(row["nbytes"]), str(row["count"])]
            )
        layout = own_layout(self.array)
        cut = f"chunks {layout.chunks}" + ("" if layout.shards is None else f" in shards {layout.shards}")
        return "\n".join([f"{self.array.shape} {self.array.dtype}, {cut}, {codec_text(self.array)}", *aligned(lines)])

    def to_json(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        return {"shape": self.array.shape, "rows": self.rows}


def bench(
    array: Any,
    *,
    reads: str | Iterable[str] = (CHUNKS,),
    write: bool = False,
    seconds: float = 5.0,
    sample: int | str | None = SAMPLE,
    memory: int | str = MEMORY,
    scratch: str | Path | None = None,
    progress: Progress = "auto",
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Speed:
    """Measure how fast an array is read and written in its present layout.

    Parameters
    ----------
    array : Array, store, path or URL
        The array; it is only read.
    reads : str or iterable of str, default "chunks"
        As in :func:`tune`, and "chunks": one chunk or shard after the other, in random order.
    write : bool, default False
        If True, measure writes, too: of a sample, chunk by chunk or shard by shard, into a copy of the same layout in a
        temporary place.
    seconds : float, default 5.0
        Approximate total time of all measurements; each is made at least once.
    sample : int or str, default "64 MiB"
        The size of the sample to write; 0 or None: the whole array.
    memory : int or str, default "512 MiB"
        Reads and samples that need more are not tried.
    scratch : str or Path, optional
        As in :func:`tune`: the folder for the sample.
    progress : "auto", bool or callable, default "auto"
        As in :func:`rechunk`.
    path : str, optional
        The path of the array in the store.
    storage_options : dict, optional
        Options for URLs of fsspec.

    Returns
    -------
    Speed
        A row for each kind; ``table()`` shows them.

    Raises
    ------
    ValueError
        If there is no such read of the array, one needs more memory than allowed, a limit is invalid, or there is a
        group and no array.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> array = zarr.array(np.arange(10_000), chunks=(1000,))
    >>> [row["name"] for row in zarr.tools.bench(array, write=True, seconds=0.1).rows]
    ['chunks', 'write']
    """
    check_seconds(seconds)
    limit = parse_limit(memory, "memory")
    node = open_measured(array, path, storage_options, "bench")
    kinds = _parse_kinds(node, reads, limit)
    part = _sample(node, sample, limit, scratch) if write else None
    share = seconds / (len(kinds) + write)
    with reporting(progress, f"bench {node.name or node.store_path}", len(kinds) + write) as report:
        rows = []
        for read in kinds:
            rows.append(_timed(read.name, _places(node, read), node.__getitem__, share))
            rows[-1]["nbytes"] = math.prod(read.spans) * node.dtype.itemsize
            report(1)
        if part is not None:
            rows.append(_write(part, share))
            report(1)
    for row in rows:
        row["bytes_per_second"] = row["nbytes"] / max(row["seconds"], 1e-9)
    return Speed(node, rows)


def _parse_kinds(array: Array[Any], reads: str | Iterable[str], limit: int) -> list[Read]:
    """Return the reads; "chunks" has the spans of a chunk or shard."""
    layout = own_layout(array)
    unit = tuple(map(min, layout.shards or layout.chunks, array.shape))
    kinds = parse_reads(reads, array.shape, dimension_names(array), {CHUNKS: unit})
    for read in kinds:
        size = math.prod(read.spans) * array.dtype.itemsize
        if size > limit:
            raise ValueError(f"{read.name!r} reads {human(size)}, more than memory={human(limit)!r} allows")
    return kinds


def _sample(array: Array[Any], size: int | str | None, memory: int, scratch: str | Path | None) -> Sample:
    limit = sample_limit(array, size, memory)
    return Sample(array, sample_shape(array, [own_layout(array)], limit), scratch_folder(array, scratch))


def _places(array: Array[Any], read: Read) -> Iterator[Selection]:
    """Yield selections without end: chunks in random order, others at random places."""
    random = np.random.default_rng(0)
    while True:
        if read.name == CHUNKS:
            starts = [
                int(random.integers(-(-length // span))) * span
                for length, span in zip(array.shape, read.spans, strict=True)
            ]
        else:
            starts = [
                int(random.integers(length - span + 1)) for length, span in zip(array.shape, read.spans, strict=True)
            ]
        yield tuple(slice(start, start + span) for start, span in zip(starts, read.spans, strict=True))


def _timed(name: str, items: Iterable[Any], action: Callable[[Any], object], limit: float) -> dict[str, Any]:
    """Call a function for one item after the other until a time is over; return the durations."""
    begin, used, took = time.perf_counter(), time.process_time(), list[float]()
    for item in items:
        start = time.perf_counter()
        action(item)
        took.append(time.perf_counter() - start)
        if time.perf_counter() - begin > limit or len(took) == MOST:
            break
    cpu = (time.process_time() - used) / len(took)
    return {"name": name, "count": len(took), "nbytes": 0, "seconds": median(took), "cpu_seconds": cpu}


def _write(sample: Sample, limit: float) -> dict[str, Any]:
    """Write a sample by chunks or shards, in the layout of its array."""
    with sample.stored(own_layout(sample.whole), write=False) as (made, _):
        unit = tuple(map(min, made.shards or made.chunks, made.shape))
        regions = Regions(every(size, length) for size, length in zip(unit, made.shape, strict=True))
        whole = [region for region in regions if region_shape(region) == unit]  # those at the end are smaller

        def put(region: Selection) -> None:
            made[region] = sample.values[region]

        row = _timed("write", cycle(whole), put, limit)
    return {**row, "nbytes": math.prod(unit) * made.dtype.itemsize}


def region_shape(region: Selection) -> Shape:
    """Return the shape of a selection.

    Examples
    --------
    >>> region_shape((slice(2, 5), slice(0, 1)))
    (3, 1)
    """
    return tuple(part.stop - part.start for part in region)
