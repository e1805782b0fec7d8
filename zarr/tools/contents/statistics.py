"""Statistics of arrays: range, mean, missing elements, a histogram, and the stored part."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby, islice, repeat
from typing import Any, Final, TypeAlias, TypeVar, overload

import numpy as np

from zarr.arrays.array import Array
from zarr.arrays.layout import ArrayLayout
from zarr.groups.group import Group
from zarr.tools.contents.blocks import (
    Coords,
    Slices,
    chunk_lengths,
    chunk_region,
    read_part,
    size_of,
    stored_sizes,
)
from zarr.tools.contents.canonical import filled_block, in_types_of_numpy, one_line
from zarr.tools.contents.differences import different
from zarr.tools.contents.nodes import SIZES_AT_ONCE, Node, arrays_of, open_node
from zarr.tools.plans.executors import TASK_BYTES, Piece, part_bytes, run_pieces
from zarr.tools.plans.plan import MEMORY, parse_bytes
from zarr.tools.plans.progress import Progress, reporting

T = TypeVar("T")
Values: TypeAlias = np.ndarray[Any, Any]

_ORDERED: Final = "biufmM"
_SUMMED: Final = "biufcmM"


@dataclass(frozen=True)
class ArrayStatistics:
    """The statistics of one array.

    Parameters
    ----------
    path : str
        Path relative to the given node.
    shape : tuple of int
        Number of elements along each dimension.
    data_type : str
        Name of the data type in a metadata document.
    min, max
        Smallest and largest of all elements that are not missing; None if there is none, or elements have no order.
    mean
        Mean of the same elements; None if there is none, or elements cannot be added.
    missing : int
        The number of elements that are NaN, NaT or masked.
    filled : int
        The number of elements that equal the fill value, stored or not.
    histogram : tuple of two lists, optional
        The number of finite elements in each bin, and the edges of the bins (one more), as in ``numpy.histogram``; None
        without bins, or if elements are no real numbers.
    raw_bytes : int
        The size of all elements in memory.
    stored_bytes : int
        The size of all stored chunks.
    chunks_stored, chunks : int
        Number of stored chunks (with shards: of stored shards), and number of all chunks of the array.

    Examples
    --------
    >>> import zarr
    >>> found = zarr.tools.stats(zarr.array([1, 2, 3]))
    >>> int(found.min), int(found.max), float(found.mean)
    (1, 3, 2.0)
    """

    path: str
    shape: tuple[int, ...]
    data_type: str
    min: Any
    max: Any
    mean: Any
    missing: int
    filled: int
    histogram: tuple[list[int], list[float]] | None
    raw_bytes: int
    stored_bytes: int
    chunks_stored: int
    chunks: int

    def __str__(self) -> str:
        return (
            f"/{one_line(self.path)} {self.shape} {self.data_type}: min {self.min}, max {self.max}, mean {self.mean}, "
            f"{self.missing} missing, {self.filled} filled; {self.raw_bytes} bytes as {self.stored_bytes}, "
            f"{self.chunks_stored} of {self.chunks} chunks stored"
        )


@overload
def stats(
    node: Array[Any],
    *,
    bins: int = 0,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
) -> ArrayStatistics: ...


@overload
def stats(
    node: Group, *, bins: int = 0, memory: int | str = MEMORY, executor: Any = None, progress: Progress = "auto"
) -> list[ArrayStatistics]: ...


@overload
def stats(
    node: Any,
    *,
    bins: int = 0,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> ArrayStatistics | list[ArrayStatistics]: ...


def stats(
    node: Any,
    *,
    bins: int = 0,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> ArrayStatistics | list[ArrayStatistics]:
    """Compute statistics of an array, or of all arrays of a group.

    Chunks are read one after the other, each once (twice with ``bins``). Chunks that are not stored are not read: they
    count as the fill value.

    Parameters
    ----------
    node : Array, Group or StoreLike
        A node, or a path, a URL, a store, a mapping.
    bins : int, default 0
        Number of histogram bins of equal width, from the smallest finite element to the largest; 0: no histogram.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit. A chunk is in memory as a whole in any case.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of finished chunks, and that of all.
    path : str, optional
        The path below the node.
    storage_options : dict, optional
        Options for URLs of fsspec.

    Returns
    -------
    ArrayStatistics, or list of ArrayStatistics
        One for an array; for a group a list in the order of the paths.

    Raises
    ------
    ValueError
        If ``bins`` is no number of bins.
    FileNotFoundError
        If there is no node.

    Examples
    --------
    >>> from zarr.tools import stats
    >>> import zarr
    >>> array = zarr.zeros(8, chunks=2, dtype="f4")
    >>> array[:3] = [1, float("nan"), 4]
    >>> found = stats(array)
    >>> float(found.min), float(found.max), found.missing, found.filled, found.chunks_stored, found.chunks
    (0.0, 4.0, 1, 5, 2, 4)
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 0:
        raise ValueError(f"bins must be a whole number from 0 on, not {bins!r}")
    top = open_node(node, path, storage_options)
    job = _Statistics(top, bins, part_bytes(parse_bytes(memory)))
    with reporting(progress, "stats", job.total) as report:
        found = job.run(executor, report)
    return found[0] if isinstance(top, Array) else found


_Range: TypeAlias = tuple[tuple[float, float] | None, int]
"""The data for a histogram: the smallest and the largest finite element, and the number of unstored ones."""

_Piece: TypeAlias = "tuple[str, Array[Any], list[tuple[Coords, int]], _Range]"
"""An array, after its path; some of its stored chunks, with their sizes."""


class _Statistics:
    """One call of :func:`stats`."""

    def __init__(self, top: Node, bins: int, at_once: int) -> None:
        self.top, self.bins, self.at_once = top, bins, at_once

    def total(self) -> int:
        """Return the number of chunks to read."""
        return (1 + bool(self.bins)) * sum(array._nshards for _, array in arrays_of(self.top))

    def run(self, executor: Any, report: Callable[[int], None]) -> list[ArrayStatistics]:
        """Return the statistics of all arrays; for histograms these are read a second time."""
        found: list[ArrayStatistics] = []
        ranges: list[_Range] = []
        work = partial(_tally_of, at_once=self.at_once)
        for (name, array, *_), tally in self._results(work, _Tally.merge, repeat((None, 0)), executor, report):
            unread = int(array.size) - tally.seen
            found.append(_statistics(name, array, tally, unread))
            ranges.append((tally.bounds and _apart(*tally.bounds, self.bins), unread))
        if self.bins:
            counting = partial(_histogram, bins=self.bins, at_once=self.at_once)
            histograms = self._results(counting, _add_counts, ranges, executor, report)
            found = [replace(each, histogram=counts) for each, (_, counts) in zip(found, histograms, strict=True)]
        return found

    def _results(
        self,
        work: Callable[[_Piece], T],
        fold: Callable[[T, T], T],
        ranges: Iterable[_Range],
        executor: Any,
        report: Callable[[int], None],
    ) -> Iterator[tuple[_Piece, T]]:
        """Yield for each array its first piece, and the results of the work for all of them."""
        results = run_pieces(work, self._pieces(ranges), executor, report)
        for _, same in groupby(results, key=lambda result: result[0][0]):
            yield reduce(lambda one, other: (one[0], fold(one[1], other[1])), same)

    def _pieces(self, ranges: Iterable[_Range]) -> Iterator[Piece[_Piece]]:
        """Divide the stored chunks of all arrays into pieces; the last piece of each stands for missing chunks."""
        for (name, array), span in zip(arrays_of(self.top), ranges):
            nbytes = math.prod(chunk_lengths(array._handle.layout)) * array.dtype.itemsize
            left, stored = array._nshards, stored_sizes(array)
            at_once = max(1, min(SIZES_AT_ONCE, TASK_BYTES // max(1, nbytes)))
            while some := list(islice(stored, at_once)):
                left -= len(some)
                yield len(some), len(some) * nbytes, (name, array, some, span)
            yield left, 0, (name, array, [], span)


def _tally_of(piece: _Piece, at_once: int) -> _Tally:
    """Read some chunks, and return the counts of their elements."""
    _, array, chunks, _ = piece
    layout, tally = array._handle.layout, _Tally(array.dtype)
    for coords, nbytes in chunks:
        tally.chunks, tally.stored_bytes = tally.chunks + 1, tally.stored_bytes + nbytes
        for part in _parts(layout, chunk_region(layout, coords), at_once):
            values = read_part(array, part)
            tally.add(values, filled_block(layout, values.shape))
    return tally


def _statistics(path: str, array: Array[Any], tally: _Tally, unread: int) -> ArrayStatistics:
    """Return the statistics of an array from the counts of its stored elements."""
    if unread:
        fill = filled_block(array._handle.layout, (1,))
        tally.add(fill, fill, unread)
    least, greatest = tally.ends or (None, None)
    return ArrayStatistics(
        path=path, shape=array.shape, data_type=str(array.dtype), min=least, max=greatest,
        mean=tally.mean(), missing=tally.missing, filled=tally.filled, histogram=None,
        raw_bytes=int(array.size) * array.dtype.itemsize, stored_bytes=tally.stored_bytes,
        chunks_stored=tally.chunks, chunks=array._nshards,
    )  # fmt: skip


def _parts(layout: ArrayLayout, region: Slices, at_once: int) -> Iterator[Slices]:
    """Divide a shard into parts of a number of bytes, at the borders of inner chunks."""
    if layout.inner is None or size_of(region) * layout.dtype.itemsize <= at_once:
        yield region
        return
    counts = [-(-(part.stop - part.start) // edge) for part, edge in zip(region, layout.inner, strict=True)]
    axis = counts.index(max(counts))
    if counts[axis] <= 1:
        yield region
        return
    middle = region[axis].start + (counts[axis] + 1) // 2 * layout.inner[axis]
    for start, stop in ((region[axis].start, middle), (middle, region[axis].stop)):
        yield from _parts(layout, (*region[:axis], slice(start, stop), *region[axis + 1 :]), at_once)


_Ends: TypeAlias = tuple[Any, Any] | None
"""The smallest and the largest of some elements; None if there are none."""


def _wider(one: _Ends, other: _Ends) -> _Ends:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


class _Tally:
    """The counts of the elements read so far."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = in_types_of_numpy(np.empty(0, dtype)).dtype
        self.ends: _Ends = None
        self.bounds: _Ends = None
        """The smallest and the largest finite number."""
        self.missing = self.filled = self._count = 0
        self.chunks = self.stored_bytes = 0
        self._total: Any = 0

    @property
    def seen(self) -> int:
        """The number of elements that were counted."""
        return self._count + self.missing

    def merge(self, other: _Tally) -> _Tally:
        """Add the counts of other elements."""
        for name in ("missing", "filled", "_count", "chunks", "stored_bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        with np.errstate(over="ignore", invalid="ignore"):
            self._total = self._total + other._total
        self.ends, self.bounds = _wider(self.ends, other.ends), _wider(self.bounds, other.bounds)
        return self

    def add(self, values: Any, fills: Any, weight: int = 1) -> None:
        """Count elements; with a weight, each counts as that many."""
        self.filled += weight * int(np.count_nonzero(~different(values, fills)))
        known = known_elements(values)
        self.missing += weight * (values.size - known.size)
        self._count += weight * known.size
        if not known.size:
            return
        self._range(known)
        if known.dtype.kind in _SUMMED:
            with np.errstate(over="ignore", invalid="ignore"):
                self._total = self._total + weight * _sum(known)

    def _range(self, known: Values) -> None:
        if known.dtype.kind in _ORDERED:
            ends: _Ends = (known.min(), known.max())
        elif known.dtype.kind in "TSU":
            texts = known.tolist()
            ends = (min(texts), max(texts))
        else:
            return
        self.ends = _wider(self.ends, ends)
        finite = finite_numbers(known)
        if finite.size:
            self.bounds = _wider(self.bounds, (float(finite.min()), float(finite.max())))

    def mean(self) -> Any:
        """Return the mean of the counted elements."""
        if not self._count or self.dtype.kind not in _SUMMED:
            return None
        if self.dtype.kind in "mM":
            unit = np.datetime_data(self.dtype)
            return self.dtype.type(int(self._total) // self._count, unit)
        mean = self._total / self._count
        return complex(mean) if self.dtype.kind == "c" else float(mean)


def known_elements(values: Any) -> Values:
    """Return the elements that are not missing, one after the other.

    Examples
    --------
    >>> known_elements(np.array([1.0, np.nan, 2.0])).tolist()
    [1.0, 2.0]
    """
    plain: Values = values.compressed() if isinstance(values, np.ma.MaskedArray) else values.ravel()
    plain = in_types_of_numpy(plain)
    if plain.dtype.kind in "fc":
        return plain[~np.isnan(plain)]
    return plain[~np.isnat(plain)] if plain.dtype.kind in "mM" else plain


def finite_numbers(known: Values) -> Values:
    """Return the finite numbers among real ones; an empty array for other elements.

    Examples
    --------
    >>> finite_numbers(np.array([1.0, np.inf])).tolist()
    [1.0]
    """
    if known.dtype.kind == "f":
        return known[np.isfinite(known)]
    return known.astype(np.uint8) if known.dtype.kind == "b" else known if known.dtype.kind in "iu" else known[:0]


def _sum(known: Values) -> Any:
    """Return the sum of elements: exact for integers and times, in the widest type for others."""
    if known.dtype.kind in "fc":
        return known.sum(dtype=np.clongdouble if known.dtype.kind == "c" else np.longdouble)
    whole = known.view(np.int64) if known.dtype.isnative and known.dtype.kind in "mM" else known
    whole = whole.astype(np.int64) if whole.dtype.kind in "mMb" else whole
    if whole.dtype.itemsize < 8:
        return int(whole.sum(dtype=np.int64))
    # Add 64 bits in halves, so that the sum does not overflow.
    return (int((whole >> 32).sum()) << 32) + int((whole & whole.dtype.type(0xFFFFFFFF)).sum())


def _apart(least: float, greatest: float, bins: int) -> tuple[float, float]:
    """Return bounds that are so far apart that the edges of bins between them differ.

    Examples
    --------
    >>> _apart(0.0, 1.0, 4), _apart(1e18, 1e18, 4)
    ((0.0, 1.0), (9.99999999999999e+17, 1.000000000000001e+18))
    """
    step = 2 * bins * float(np.spacing(max(abs(least), abs(greatest))))
    if greatest - least > step or (greatest == least and step < 1 / 16):  # NumPy moves equal ones apart by 1
        return least, greatest
    return least - step, greatest + step


_Histogram: TypeAlias = tuple[list[int], list[float]] | None


def _histogram(piece: _Piece, bins: int, at_once: int) -> _Histogram:
    """Count the elements of some chunks in bins; without chunks, the elements that are not stored."""
    _, array, chunks, (bounds, unread) = piece
    if bounds is None:
        return None
    layout = array._handle.layout
    edges = np.histogram(np.empty(0), bins, range=bounds)[1]
    total = np.zeros(bins, np.int64)
    for coords, _ in chunks:
        for part in _parts(layout, chunk_region(layout, coords), at_once):
            total += _counts(read_part(array, part), bins, bounds)
    if unread and not chunks:
        total += unread * _counts(filled_block(layout, (1,)), bins, bounds)
    return total.tolist(), edges.tolist()


def _add_counts(one: _Histogram, other: _Histogram) -> _Histogram:
    if one is None or other is None:
        return None
    return [a + b for a, b in zip(one[0], other[0], strict=True)], one[1]


def _counts(values: Any, bins: int, bounds: tuple[float, float]) -> Values:
    # In one width, so that an element at the edge of a bin is in the same bin for every data type.
    numbers = finite_numbers(known_elements(values)).astype(np.float64)
    return np.histogram(numbers, bins, range=bounds)[0].astype(np.int64)
