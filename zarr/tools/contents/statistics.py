"""What arrays hold: range, mean, missing elements, a histogram, and how much of them is stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any, Final, TypeAlias, overload

import numpy as np

from zarr._records import record, set_values
from zarr.arrays.array import Array
from zarr.arrays.layout import ArrayLayout
from zarr.groups.group import Group
from zarr.runners.choose import runner_for
from zarr.steps.requests import Gather, Size, ask_steps
from zarr.tools.contents.blocks import Coords, Slices, chunk_region, read_part, size_of, stored_chunks
from zarr.tools.contents.canonical import filled_block, in_types_of_numpy, one_line
from zarr.tools.contents.differences import different
from zarr.tools.contents.nodes import open_node, walk

Values: TypeAlias = np.ndarray[Any, Any]

PART_BYTES: Final = 16 << 20
"""Shards are read in parts of so many bytes; a chunk is decoded as a whole in any case."""

_SIZES_AT_ONCE: Final = 1000
_ORDERED: Final = "biufmM"
_SUMMED: Final = "biufcmM"


@record(frozen=True)
class ArrayStatistics:
    """What is known of one array.

    Parameters
    ----------
    path : str
        Relative to the node that was given.
    shape : tuple of int
    data_type : str
    min, max
        Of all elements that are not missing; None where there is none, or elements have no order.
    mean
        Of the same elements; None where there is none, or elements cannot be added.
    missing : int
        The number of elements that are NaN, NaT or masked.
    filled : int
        The number of elements that equal the fill value, stored or not.
    histogram : tuple of two lists, optional
        The number of finite elements in each bin, and the edges of the bins (one more), as ``numpy.histogram`` has
        them; None if no bins were asked for, or elements are no real numbers.
    raw_bytes : int
        The size of all elements in memory.
    stored_bytes : int
        The size of all stored chunks.
    chunks_stored, chunks : int
        How many chunks (of an array with shards: shards) are stored, and how many the array has.
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

    def __init__(self, **values: Any) -> None:
        set_values(self, **values)

    def __str__(self) -> str:
        return (
            f"/{one_line(self.path)} {self.shape} {self.data_type}: min {self.min}, max {self.max}, mean {self.mean}, "
            f"{self.missing} missing, {self.filled} filled; {self.raw_bytes} bytes as {self.stored_bytes}, "
            f"{self.chunks_stored} of {self.chunks} chunks stored"
        )


@overload
def stats(node: Array[Any], *, bins: int = 0) -> ArrayStatistics: ...


@overload
def stats(node: Group, *, bins: int = 0) -> list[ArrayStatistics]: ...


@overload
def stats(
    node: Any, *, bins: int = 0, path: str | None = None, storage_options: dict[str, Any] | None = None
) -> ArrayStatistics | list[ArrayStatistics]: ...


def stats(
    node: Any, *, bins: int = 0, path: str | None = None, storage_options: dict[str, Any] | None = None
) -> ArrayStatistics | list[ArrayStatistics]:
    """Compute statistics of an array, or of all arrays of a group.

    Chunks are read one after the other, each once (twice with ``bins``). Chunks that are not stored are not read: they
    count as the fill value.

    Parameters
    ----------
    node : Array, Group or StoreLike
        A node, or a path, a URL, a store, a mapping.
    bins : int, default 0
        The number of bins of equal width of the histogram, from the least finite element to the greatest; 0: none.
    path : str, optional
        Below the node.
    storage_options : dict, optional
        For URLs of fsspec.

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
    if isinstance(top, Array):
        return _statistics("", top, bins)
    return [_statistics(name, each, bins) for name, each in walk(top) if isinstance(each, Array)]


def _statistics(path: str, array: Array[Any], bins: int) -> ArrayStatistics:
    layout, tally = array._handle.layout, _Tally(array.dtype)
    stored_bytes = stored = 0
    unread = int(array.size)
    for coords, nbytes in _stored_sizes(array):
        stored, stored_bytes = stored + 1, stored_bytes + nbytes
        for part in _parts(layout, chunk_region(layout, coords)):
            unread -= size_of(part)
            values = read_part(array, part)
            tally.add(values, filled_block(layout, values.shape))
    if unread:
        fill = filled_block(layout, (1,))
        tally.add(fill, fill, unread)
    return ArrayStatistics(
        path=path, shape=array.shape, data_type=str(array.dtype), min=tally.least, max=tally.greatest,
        mean=tally.mean(), missing=tally.missing, filled=tally.filled,
        histogram=_histogram(array, tally, bins, unread) if bins else None,
        raw_bytes=int(array.size) * array.dtype.itemsize, stored_bytes=stored_bytes, chunks_stored=stored,
        chunks=math.prod(layout.outer.cdata_shape),
    )  # fmt: skip


def _stored_sizes(array: Array[Any]) -> Iterator[tuple[Coords, int]]:
    """Yield the chunks that are stored, with their sizes; in a store without listings, each chunk is asked for."""
    layout = array._handle.layout
    if array.store.supports_listing:
        asked: Iterator[tuple[str, Coords]] = stored_chunks(array)
    else:
        asked = ((layout.key(coords), coords) for coords in product(*map(range, layout.outer.cdata_shape)))
    runner = runner_for(array.store)
    while some := list(islice(asked, _SIZES_AT_ONCE)):
        sizes = runner.run(ask_steps(Gather([ask_steps(Size(key)) for key, _ in some], lean=True)))
        for (_, coords), nbytes in zip(some, sizes, strict=True):
            if nbytes is not None:
                yield coords, nbytes


def _parts(layout: ArrayLayout, region: Slices) -> Iterator[Slices]:
    """Cut what a shard holds into parts of a bearable size, at the borders of inner chunks."""
    if layout.inner is None or size_of(region) * layout.dtype.itemsize <= PART_BYTES:
        yield region
        return
    counts = [-(-(part.stop - part.start) // edge) for part, edge in zip(region, layout.inner, strict=True)]
    axis = counts.index(max(counts))
    if counts[axis] <= 1:
        yield region
        return
    middle = region[axis].start + (counts[axis] + 1) // 2 * layout.inner[axis]
    for start, stop in ((region[axis].start, middle), (middle, region[axis].stop)):
        yield from _parts(layout, (*region[:axis], slice(start, stop), *region[axis + 1 :]))


class _Tally:
    """What is known of the elements that were read so far."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = in_types_of_numpy(np.empty(0, dtype)).dtype
        self.least: Any = None
        self.greatest: Any = None
        self.bounds: tuple[float, float] | None = None
        """The least and the greatest finite number."""
        self.missing = self.filled = self._count = 0
        self._total: Any = 0

    def add(self, values: Any, fills: Any, weight: int = 1) -> None:
        """Count elements; with a weight, each stands for as many."""
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
            ends: Iterable[Any] = (known.min(), known.max())
        elif known.dtype.kind in "TSU":
            texts = known.tolist()
            ends = (min(texts), max(texts))
        else:
            return
        least, greatest = ends
        self.least = least if self.least is None else min(self.least, least)
        self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
        finite = finite_numbers(known)
        if finite.size:
            bounds = float(finite.min()), float(finite.max())
            before = self.bounds or bounds
            self.bounds = min(bounds[0], before[0]), max(bounds[1], before[1])

    def mean(self) -> Any:
        """Return the mean of what was counted."""
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
    """Return the finite ones of real numbers; none of other elements.

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
    # 64 bits are added in halves, lest the sum overflow.
    return (int((whole >> 32).sum()) << 32) + int((whole & whole.dtype.type(0xFFFFFFFF)).sum())


def _histogram(array: Array[Any], tally: _Tally, bins: int, unread: int) -> tuple[list[int], list[float]] | None:
    """Count elements in bins, once their range is known."""
    if tally.bounds is None:
        return None
    layout = array._handle.layout
    total, edges = np.histogram(np.empty(0), bins, range=tally.bounds)
    total = total.astype(np.int64)
    for coords, _ in _stored_sizes(array):
        for part in _parts(layout, chunk_region(layout, coords)):
            total += _counts(read_part(array, part), bins, tally.bounds)
    if unread:
        total += unread * _counts(filled_block(layout, (1,)), bins, tally.bounds)
    return total.tolist(), edges.tolist()


def _counts(values: Any, bins: int, bounds: tuple[float, float]) -> Values:
    # In one width, lest an element at the edge of a bin falls into another one in another data type.
    numbers = finite_numbers(known_elements(values)).astype(np.float64)
    return np.histogram(numbers, bins, range=bounds)[0].astype(np.int64)
