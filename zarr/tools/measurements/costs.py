"""The costs of reads in a layout: measured on a sample of an array, and extrapolated to the whole array.

The time of a read is modelled as ``call + file * f + chunk * n + byte * b`` with its f files (shards, or chunks without
them), its n chunks and its b decoded bytes. To scale a whole time by the sizes of sample and array would also scale the
fixed cost of a call.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import zarr
from zarr.arrays.array import Array
from zarr.storage import LocalStore, MemoryStore
from zarr.tools.contents.canonical import filled_block
from zarr.tools.contents.differences import different
from zarr.tools.measurements.candidates import Layout, codec_text, own_layout
from zarr.tools.measurements.reads import Read, Selection, Shape, chunks_met

ENOUGH_SECONDS: Final = 0.01
"""CPU time after which a read is not repeated any more, if it was repeated often enough."""

LONG_SECONDS: Final = 0.1
"""CPU time after which a read is not repeated in any case."""

FEWEST: Final = 3
"""Minimum number of repetitions of a short read."""

MOST: Final = 50

_PLACES: Final = (0.5, 0.2, 0.8, 0.35, 0.65)
"""Places of samples, as fractions of the axes."""

_MOST_FILLED: Final = 0.5
"""If a larger part of a sample equals the fill value, another sample is tried."""


@dataclass(frozen=True)
class Cost:
    """The cost of one kind of read of one layout, on average over some places.

    Parameters
    ----------
    seconds : float
        CPU time of all threads.
    files : float
        Number of shards, or of chunks without shards.
    chunks : float
        Number of decoded chunks.
    nbytes : float
        Their bytes in memory.
    """

    seconds: float
    files: float
    chunks: float
    nbytes: float


@dataclass(frozen=True)
class Trial:
    """The sample in one layout.

    Parameters
    ----------
    layout : Layout
    codec : str
    stored : int
        The bytes of all chunks.
    costs : dict
        A ``Cost`` for the name of each read.
    probe : Cost
        The cost of a read of one element.
    """

    layout: Layout
    codec: str
    stored: int
    costs: dict[str, Cost]
    probe: Cost

    def least(self, other: Trial) -> Trial:
        """Return the same layout with the lower costs of two trials."""
        costs = {name: min(cost, other.costs[name], key=lambda each: each.seconds) for name, cost in self.costs.items()}
        return Trial(self.layout, self.codec, self.stored, costs, self.probe)


# ------------------------------------------------------------------------------------------------------- sample


def sample_shape(array: Array[Any], layouts: Sequence[Layout], limit: int) -> Shape:
    """Return the shape of a part of an array with some chunks of each layout, as far as a limit of bytes allows.

    Parameters
    ----------
    array : Array
    layouts : sequence of Layout
        The most promising first: the sample fits the first one best.
    limit : int

    Examples
    --------
    >>> array = zarr.zeros((1000, 512, 512), dtype="f4")
    >>> sample_shape(array, [Layout((32, 64, 64), None), Layout((1000, 16, 16), None)], 16 << 20)
    (250, 128, 128)
    """
    if array.nbytes <= limit:
        return tuple(array.shape)
    widest = [2 * max(layout.chunks[axis] for layout in layouts) for axis in range(array.ndim)]
    lengths = list(map(min, widest, array.shape))
    first = layouts[0].chunks
    while math.prod(lengths) * array.dtype.itemsize > limit and max(lengths) > 1:
        axis = max((a for a in range(array.ndim) if lengths[a] > 1), key=lambda a: lengths[a] / first[a])
        lengths[axis] = -(-lengths[axis] // 2)
    return tuple(lengths)


def _representative_part(array: Array[Any], shape: Shape) -> Any:
    """Return the elements of a part of an array: from its middle, or from a place where fewer equal the fill value."""
    best, least = None, 1.0
    for place in _PLACES if shape != array.shape else _PLACES[:1]:
        values = array[_part_at(array, shape, place)]
        share = 1 - np.count_nonzero(different(values, filled_block(array._handle.layout, shape))) / values.size
        if share < least:
            best, least = values, share
        if least < _MOST_FILLED:
            break
    if best is None:
        raise ValueError(
            f"all elements of the sample of {array.store_path} equal the fill value, so no chunk of it is stored and "
            "nothing can be measured: take a larger sample, or write the array first"
        )
    return best


def _part_at(array: Array[Any], shape: Shape, place: float) -> Selection:
    """Return a part that begins at a border of chunks, or lies within one, so that few chunks are read for it."""
    own, selection = own_layout(array), []
    for size, length, part in zip(own.shards or own.chunks, array.shape, shape, strict=True):
        start = int((length - part) * place)
        chunk = start // size * size
        start = chunk if part >= size else min(start, chunk + size - part)
        start = min(start, length - part)
        selection.append(slice(start, start + part))
    return tuple(selection)


class Sample:
    """A part of an array, and its place of storage in one layout after the other.

    Parameters
    ----------
    array : Array
    shape : tuple of int
        The shape of the part.
    folder : Path, optional
        The folder for trials; None: in memory.
    """

    def __init__(self, array: Array[Any], shape: Shape, folder: Path | None) -> None:
        self.values = _representative_part(array, shape)
        self.whole, self.shape, self.folder = array, shape, folder
        self.template = zarr.from_array({}, data=array, write_data=False, chunks=shape, shards=None)
        self.template.resize(shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the part in memory."""
        return math.prod(self.shape) * self.whole.dtype.itemsize

    @contextmanager
    def stored(self, layout: Layout, write: bool = True) -> Iterator[tuple[Array[Any], int]]:
        """Create an array for the part in a layout, and write it; yield the array, and the bytes of its chunks."""
        folder = None if self.folder is None else Path(tempfile.mkdtemp(dir=self.folder, prefix="zarr-trial-"))
        try:
            store = MemoryStore() if folder is None else LocalStore(folder)
            made = zarr.from_array(store, data=self.template, write_data=False, **layout.parameters(self.shape))
            before = made.nbytes_stored()
            if write:
                made[...] = self.values
            yield made, made.nbytes_stored() - before
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def trial(self, layout: Layout, reads: Sequence[Read]) -> Trial:
        """Store the part in a layout, and measure reads of it."""
        with self.stored(layout) as (made, stored):
            costs = {read.name: read_cost(made, read) for read in reads}
            probe = read_cost(made, Read("probe", (1,) * made.ndim))
            return Trial(layout, codec_text(made), stored, costs, probe)


# ------------------------------------------------------------------------------------------------------ measured


def read_cost(array: Array[Any], read: Read) -> Cost:
    """Measure a kind of read of an array, at some places."""
    selections = read.selections(array.shape)
    files, count = (
        sum(chunks_met(selection, part) for selection in selections) / len(selections)
        for part in (array.shards or array.chunks, array.chunks)
    )
    seconds = sum(cpu_seconds(array, selection) for selection in selections) / len(selections)
    return Cost(seconds, files, count, count * math.prod(array.chunks) * array.dtype.itemsize)


def cpu_seconds(array: Array[Any], selection: Selection) -> float:
    """Return the least CPU time, of all threads, of some repetitions of a read.

    Other programs disturb it less than they disturb the time on the clock.
    """
    least, spent, count = math.inf, 0.0, 0
    while True:
        begin = time.process_time()
        array[selection]
        took = time.process_time() - begin
        least, spent, count = min(least, took), spent + took, count + 1
        # The first read of files and documents may take longer; for long reads this matters little.
        if spent >= LONG_SECONDS or count == MOST or (spent >= ENOUGH_SECONDS and count >= FEWEST):
            return least


# ----------------------------------------------------------------------------------------------------- predicted


@dataclass(frozen=True)
class Model:
    """The costs of a call, of a file, of a chunk and of a decoded byte, in seconds.

    Parameters
    ----------
    call, file, chunk, byte : float
    """

    call: float
    file: float
    chunk: float
    byte: float

    @classmethod
    def fitted(cls, costs: Sequence[Cost]) -> Model:
        """Fit a model to measurements, all with the same weight; no part of it is below zero.

        Examples
        --------
        >>> sizes = ((1, 1, 4), (1, 3, 9), (8, 8, 2), (1, 1, 90), (2, 6, 8))
        >>> costs = [Cost(1 + 3 * f + 2 * n + 0.5 * b, f, n, b) for f, n, b in sizes]
        >>> Model.fitted(costs)
        Model(call=1.0, file=3.0, chunk=2.0, byte=0.5)
        """
        rows = np.array([(1.0, cost.files, cost.chunks, cost.nbytes) for cost in costs])
        seconds = np.array([max(cost.seconds, 1e-9) for cost in costs])
        scaled = rows / seconds[:, None]
        columns, found = [0, 1, 2, 3], np.zeros(4)
        while columns:
            widths = np.linalg.norm(scaled[:, columns], axis=0)
            solved = np.linalg.lstsq(scaled[:, columns] / widths, np.ones(len(rows)), rcond=None)[0] / widths
            if (solved >= 0).all():
                found[columns] = solved
                break
            columns.pop(int(np.argmin(solved * widths)))
        return cls(*(float(f"{part:.6g}") for part in found))

    def seconds(self, files: float, chunks: float, nbytes: float) -> float:
        """Return the cost of a read of some chunks in some files."""
        return self.call + self.file * files + self.chunk * chunks + self.byte * nbytes

    def carried_over(self, cost: Cost, files: float, chunks: float, nbytes: float) -> float:
        """Return the cost of a read in the whole array, where it has more chunks than in the sample.

        The difference between the codec of a layout and the others counts for each byte.

        Examples
        --------
        >>> Model(1.0, 0.5, 1.5, 0.5).carried_over(Cost(13.0, 1, 1, 10), 10, 10, 100)
        121.0
        """
        base = self.seconds(cost.files, cost.chunks, 0)
        if cost.seconds > base:
            return self.seconds(files, chunks, 0) + (cost.seconds - base) * nbytes / cost.nbytes
        said = self.seconds(cost.files, cost.chunks, cost.nbytes)
        return cost.seconds * self.seconds(files, chunks, nbytes) / max(said, 1e-12)
