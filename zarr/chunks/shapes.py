"""Convert shapes of users and documents to tuples of Python integers."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any

from zarr.types import ShapeLike, parse_shapelike

# Offsets and lengths are signed 64-bit integers in the core, so no axis can be longer than this.
MAX_LENGTH = 2**63 - 1

SHORT = 4096
"""The ranges of a product that are no longer than this may be turned into tuples."""


def are_lengths(values: Iterable[object], least: int) -> bool:
    """Return True if all values are plain integers from ``least`` to 2**63 - 1.

    Examples
    --------
    >>> are_lengths([1, 0], 1)
    False
    """
    for value in values:  # noqa: SIM110  (a generator takes twice as long)
        if type(value) is not int or not least <= value <= MAX_LENGTH:
            return False
    return True


def parse_shape(data: ShapeLike) -> tuple[int, ...]:
    """Turn an integer or an iterable of integers into the shape of an array.

    Parameters
    ----------
    data
        One non-negative integer (a 1-d shape) or an iterable of them. Lengths of zero are allowed.

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError
        If something in it is not an integer.
    ValueError
        If a length is negative or does not fit a signed 64-bit integer.

    Examples
    --------
    >>> from zarr.chunks import parse_shape
    >>> parse_shape([10, 20])
    (10, 20)
    """
    # Documents have lists of plain integers, and shapes are tuples of them: these need no further work.
    if type(data) in (list, tuple) and are_lengths(data, 0):  # type: ignore[arg-type]
        return tuple(data)  # type: ignore[arg-type]
    shape = parse_shapelike(data)
    if shape and max(shape) > MAX_LENGTH:
        raise ValueError(
            f"A length of {max(shape)} in shape {shape} is too large: the limit is 2**63 - 1 = {MAX_LENGTH}."
        )
    return shape


def parse_stored_shape(data: ShapeLike) -> tuple[int, ...]:
    """Return the shape in a document: as `parse_shape`, but ``true`` and ``false`` are no lengths.

    Raises
    ------
    TypeError, ValueError
        As for `parse_shape`, and for a boolean length.

    Examples
    --------
    >>> parse_stored_shape([True])
    Traceback (most recent call last):
        ...
    TypeError: Expected an iterable of integers. Got [True] instead.
    """
    if type(data) is list and are_lengths(data, 0):
        return tuple(data)
    if isinstance(data, bool) or (isinstance(data, list | tuple) and any(isinstance(item, bool) for item in data)):
        raise TypeError(f"Expected an iterable of integers. Got {data} instead.")
    return parse_shape(data)


def parse_chunk_edge(value: object, axis: int) -> int:
    """Check one chunk length of axis ``axis``: an integer from 1 to 2**63 - 1.

    Parameters
    ----------
    value
        The chunk length, as written.
    axis
        The number of the axis, for the message.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is smaller than 1 or does not fit a signed 64-bit integer.

    Examples
    --------
    >>> parse_chunk_edge(5, 0)
    5
    """
    if type(value) is not int:
        if not isinstance(value, numbers.Integral):
            raise TypeError(f"Dimension {axis}: chunk edge length must be an int, got {value!r}")
        if value < 1:
            raise ValueError(f"Dimension {axis}: chunk edge length must be >= 1, got {value!r}")
        value = int(value)
    if value < 1:
        raise ValueError(f"Dimension {axis}: chunk edge length must be >= 1, got {value}")
    if value > MAX_LENGTH:
        raise ValueError(f"Dimension {axis}: chunk edge length must be <= 2**63 - 1, got {value}")
    return value


def parse_member(configuration: Any, member: str, name: str) -> Any:
    """Return a required member of the configuration of the grid ``name``.

    Raises
    ------
    ValueError
        If it is absent.

    Examples
    --------
    >>> parse_member({"chunk_shape": [5]}, "chunk_shape", "regular")
    [5]
    """
    if member not in configuration:
        raise ValueError(
            f"The configuration of the chunk grid {name!r} does not have a {member!r} key. Got {configuration}."
        )
    return configuration[member]


def cells(ranges: Sequence[range]) -> Iterator[tuple[int, ...]]:
    """Return the product of ranges, the last one fastest, without lists of long ones.

    Parameters
    ----------
    ranges : sequence of range

    Returns
    -------
    iterator of tuple of int

    Examples
    --------
    >>> next(cells([range(2**40), range(3, 5)]))
    (0, 3)
    """
    if max(map(len, ranges), default=0) <= SHORT:
        return product(*ranges)
    if not all(ranges):
        return iter(())
    return ((*head, last) for head in cells(ranges[:-1]) for last in ranges[-1])


def block_of(
    grid_shape: Sequence[int], origin: Sequence[int] | None = None, selection_shape: Sequence[int] | None = None
) -> list[range]:
    """Return the ranges of a block of cells, from its first cell and its numbers of cells along each axis.

    Parameters
    ----------
    grid_shape : sequence of int
    origin : sequence of int, optional
        The first cell of the block; by default the first of the grid.
    selection_shape : sequence of int, optional
        Number of cells along each axis; by default all following ones.

    Returns
    -------
    list of range

    Raises
    ------
    IndexError
        If the block reaches beyond the grid.
    ValueError
        If the numbers of dimensions differ.

    Examples
    --------
    >>> block_of((3, 4), origin=(1, 2))
    [range(1, 3), range(2, 4)]
    """
    ndim = len(grid_shape)
    first = (0,) * ndim if origin is None else tuple(origin)
    if len(first) != ndim:
        raise ValueError(f"the grid has {ndim} dimensions, but the origin {first} has {len(first)}")
    counts = tuple(n - o for n, o in zip(grid_shape, first)) if selection_shape is None else tuple(selection_shape)
    if len(counts) != ndim:
        raise ValueError(f"the grid has {ndim} dimensions, but the selection shape {counts} has {len(counts)}")
    for axis, (start, count, size) in enumerate(zip(first, counts, grid_shape)):
        if start < 0 or start + count > size:
            raise IndexError(
                f"Invalid selection shape ({count}) for origin ({start}) and grid shape ({size}) at axis {axis}."
            )
    return [range(start, start + count) for start, count in zip(first, counts)]


def cells_outside(counts: Sequence[int], kept: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the cells of a grid outside of its kept corner, each once.

    Parameters
    ----------
    counts : sequence of int
        The shape of the grid.
    kept : sequence of int
        The shape of the corner; it may be larger than the grid.

    Examples
    --------
    >>> list(cells_outside((2, 2), (1, 1)))
    [(1, 0), (1, 1), (0, 1)]
    """
    blocks = []
    for d, count in enumerate(counts):
        if kept[d] < count:
            before, after = map(range, map(min, kept[:d], counts)), map(range, counts[d + 1 :])
            blocks.append(cells([*before, range(kept[d], count), *after]))
    return chain.from_iterable(blocks)
