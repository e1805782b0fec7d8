"""Read values in limited memory: cut an array into blocks that depend on its shape alone, and read stored ones only.

The cut is part of the definition of a checksum (``checksums.py``); the same blocks compare two arrays with different
chunks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from zarr.arrays.array import Array
from zarr.arrays.layout import ArrayLayout
from zarr.tools.contents.nodes import can_list, keys_of, sizes_of, stream_keys
from zarr.tools.copies.regions import number_of
from zarr.tools.plans.executors import TASK_BYTES, Piece

Coords: TypeAlias = tuple[int, ...]
Slices: TypeAlias = tuple[slice, ...]

BLOCK_ELEMENTS: Final = 1 << 20
"""Maximum number of elements of a block."""

MOST_BLOCKS: Final = 10_000_000
"""Maximum number of blocks of one array in a tool: their numbers are kept in memory."""


def block_shape(shape: Sequence[int]) -> Coords:
    """Return the shape of the blocks of an array of a shape.

    The longest side (the first of equals) is halved, rounded up, until at most ``BLOCK_ELEMENTS`` elements are left.

    Examples
    --------
    >>> block_shape((3000, 1000)), block_shape(())
    ((750, 1000), ())
    """
    lengths = [max(1, length) for length in shape]
    while math.prod(lengths) > BLOCK_ELEMENTS:
        longest = lengths.index(max(lengths))
        lengths[longest] = (lengths[longest] + 1) // 2
    return tuple(lengths)


def block_counts(shape: Sequence[int], block: Sequence[int]) -> Coords:
    """Return the number of blocks along each axis.

    Examples
    --------
    >>> block_counts((10, 0), (4, 1))
    (3, 0)
    """
    return tuple(-(-length // edge) for length, edge in zip(shape, block, strict=True))


def block_slices(number: int, shape: Sequence[int], block: Sequence[int]) -> Slices:
    """Return the place of a block, given by its number in C order.

    Examples
    --------
    >>> block_slices(3, (10, 10), (4, 8))
    (slice(4, 8, None), slice(8, 10, None))
    """
    slices: list[slice] = []
    for length, edge, count in zip(reversed(shape), reversed(block), reversed(block_counts(shape, block)), strict=True):
        number, at = divmod(number, count)
        slices.append(slice(at * edge, min(at * edge + edge, length)))
    return tuple(reversed(slices))


def size_of(slices: Slices) -> int:
    """Return the number of elements of a block.

    Examples
    --------
    >>> size_of((slice(0, 2), slice(3, 6)))
    6
    """
    return math.prod(part.stop - part.start for part in slices)


# ------------------------------------------------------------------------------------------- stored chunks


def stored_chunks(array: Array[Any]) -> Iterator[tuple[str, Coords]]:
    """Yield the keys and coordinates of the stored chunks of an array (of its shards, if it has any).

    Examples
    --------
    >>> import zarr
    >>> array = zarr.zeros(6, chunks=2)
    >>> array[3] = 1
    >>> list(stored_chunks(array))
    [('c/1', (1,))]
    """
    layout = array._handle.layout
    for key in stream_keys(array.store, array.path):
        coords = layout.coords_of(key)
        if coords is not None:
            yield key, coords


def stored_sizes(array: Array[Any]) -> Iterator[tuple[Coords, int]]:
    """Yield the stored chunks with their sizes; in a store without listings, each chunk is requested."""
    for key, nbytes in sizes_of(array.store, keys_of(array)):
        coords = array._handle.layout.coords_of(key)
        if coords is not None:
            yield coords, nbytes


def chunk_lengths(layout: ArrayLayout) -> Coords:
    """Return the lengths of the first stored chunk of an array."""
    return tuple(axis.chunk_length(0) if axis.nchunks else 0 for axis in layout.outer.axes)


def chunk_region(layout: ArrayLayout, coords: Coords) -> Slices:
    """Return the part of the array in a stored chunk."""
    pairs = zip(layout.outer.axes, coords, strict=True)
    return tuple(slice(axis.offset(at), axis.offset(at) + axis.valid_length(at)) for axis, at in pairs)


def touched_blocks(arrays: Iterable[Array[Any]], block: Coords) -> list[int]:
    """Return the numbers of the blocks in which an array has a stored chunk; all others hold the fill value only.

    Parameters
    ----------
    arrays : iterable of Array
        Arrays of the same shape.
    block : tuple of int

    Raises
    ------
    ValueError
        If there are more than ``MOST_BLOCKS``.
    """
    numbers: set[int] = set()
    for array in arrays:
        counts = block_counts(array.shape, block)
        if not can_list(array.store_path):
            _check_count(array, math.prod(counts))
            return list(range(math.prod(counts)))
        for _, coords in stored_chunks(array):
            region = chunk_region(array._handle.layout, coords)
            ranges = [range(s.start // b, -(-s.stop // b)) for s, b in zip(region, block, strict=True)]
            _check_count(array, len(numbers) + math.prod(map(len, ranges)))
            numbers.update(number_of(place, counts) for place in product(*ranges))
    return sorted(numbers)


def _check_count(array: Array[Any], count: int) -> None:
    if count > MOST_BLOCKS:
        raise ValueError(
            f"array /{array.path} of shape {array.shape} has {count} blocks of {BLOCK_ELEMENTS} elements that may be "
            f"stored, more than the {MOST_BLOCKS} that fit into memory: read parts of it"
        )


def read_part(array: Array[Any], slices: Slices) -> Any:
    """Return a part of an array as an array, also a single element.

    Examples
    --------
    >>> import zarr
    >>> read_part(zarr.full((), fill_value="x", dtype=str), ()).shape
    ()
    """
    values: Any = array[slices]
    if values is np.ma.masked:  # which has lost its data type
        return np.ma.MaskedArray(np.zeros((), array.dtype), mask=True)
    return values if isinstance(values, np.ndarray) else np.array(values, dtype=array.dtype)


def count_blocks(array: Array[Any]) -> int:
    """Return the number of blocks of an array.

    Examples
    --------
    >>> import zarr
    >>> count_blocks(zarr.zeros((3000, 1000), chunks=100))
    4
    """
    return math.prod(block_counts(array.shape, block_shape(array.shape)))


def cut_numbers(array: Array[Any], numbers: list[int], at_once: int) -> Iterator[Piece[list[int]]]:
    """Divide the numbers of blocks into pieces, with blocks that are read together in one piece.

    Parameters
    ----------
    array : Array
    numbers : list of int
    at_once : int
        See :func:`read_blocks`.
    """
    nbytes = math.prod(block_shape(array.shape)) * array.dtype.itemsize
    together = max(1, at_once // max(1, nbytes))
    count = together * max(1, TASK_BYTES // max(1, together * nbytes))
    for start in range(0, len(numbers), count):
        some = numbers[start : start + count]
        yield len(some), len(some) * nbytes, some


def read_blocks(
    array: Array[Any], numbers: Iterable[int], block: Coords, at_once: int
) -> Iterator[tuple[int, Slices, np.ndarray[Any, Any]]]:
    """Yield blocks with their numbers, places and values; neighbours along the last axis are read together.

    Parameters
    ----------
    array : Array
    numbers : iterable of int
        The numbers in increasing order.
    block : tuple of int
    at_once : int
        Number of bytes of neighbours that are read together, so that a wide chunk is not decoded for each of them.
    """
    most = max(1, at_once // max(1, math.prod(block) * array.dtype.itemsize))
    run: list[tuple[int, Slices]] = []
    for number in numbers:
        slices = block_slices(number, array.shape, block)
        if run and (len(run) == most or not _follows(run[-1], number, slices)):
            yield from _read_run(array, run)
            run = []
        run.append((number, slices))
    if run:
        yield from _read_run(array, run)


def _follows(before: tuple[int, Slices], number: int, slices: Slices) -> bool:
    return number == before[0] + 1 and bool(slices) and slices[-1].start == before[1][-1].stop


def _read_run(array: Array[Any], run: list[tuple[int, Slices]]) -> Iterator[tuple[int, Slices, Any]]:
    first, last = run[0][1], run[-1][1]
    if not first:
        yield run[0][0], first, read_part(array, first)
        return
    values = read_part(array, (*first[:-1], slice(first[-1].start, last[-1].stop)))
    begin = first[-1].start
    for number, slices in run:
        yield number, slices, values[..., slices[-1].start - begin : slices[-1].stop - begin]
