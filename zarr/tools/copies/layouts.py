"""Choose the regions in which an array is read and written anew, within a limit of memory.

If the chunks of the source and of the target cross each other, a region of whole chunks of both may be larger than the
memory. Then each chunk of the source is read several times, or the array is stored in between in chunks that fit both
sides: the published algorithm of the package rechunker. The cheaper way is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zarr.errors import like_names
from zarr.tools.contents.nodes import some_of
from zarr.tools.copies.regions import Regions, amplification, every, longest, merge

Borders = tuple[int, ...]

BETWEEN_WRITE_COST = 1.0
"""The cost of storing a byte without compression, relative to reading a compressed one."""

BETWEEN_READ_COST = 0.5

ENOUGH_BYTES = 64 << 20
"""Regions do not grow beyond this size if that saves no reads: small tasks are easier to distribute."""


BETWEEN_BYTES = 16 << 20
"""The largest chunk of an array in between: each thread has one of them in memory beside the region."""


@dataclass(frozen=True)
class Route:
    """The way of an array from one layout to another.

    Parameters
    ----------
    first : Regions
        Read from the source, and written to the target or to the array in between.
    between : tuple of int, optional
        Chunks of the array in between.
    second : Regions, optional
        Read from the array in between, and written to the target.
    reads : float
        Number of reads of each chunk of the source.
    """

    first: Regions
    between: tuple[int, ...] | None
    second: Regions | None
    reads: float


def choose_route(source: Sequence[Borders], target: Sequence[Borders], itemsize: int, limit: int) -> Route:
    """Choose the regions of a copy.

    Parameters
    ----------
    source : sequence of tuples of int
        Along each axis the borders of the chunks that can be read alone.
    target : sequence of tuples of int
        The borders of the chunks or shards that are written.
    itemsize : int
        Bytes of an element in memory.
    limit : int
        Maximum number of bytes of a region.

    Raises
    ------
    ValueError
        If one chunk or shard of the target is larger than the limit.

    Examples
    --------
    >>> rows, columns = every(1, 64), every(64, 64)
    >>> route = choose_route((rows, columns), (columns, rows), 8, limit=4096)
    >>> route.between, len(route.first), len(route.second)
    ((8, 8), 8, 8)
    >>> choose_route((rows, columns), (columns, rows), 8, limit=64 * 64 * 8).between is None
    True
    """
    least = math.prod(longest(axis) for axis in target) * itemsize
    if least > limit:
        raise ValueError(
            f"one chunk or shard of the target takes {least} bytes, more than the {limit} bytes that a task may use "
            "(a half of the memory limit): allow more memory, or choose smaller chunks or shards"
        )
    direct = Regions(grow(target, source, itemsize, limit))
    reads = _reads(direct.borders, source)
    found = Route(direct, None, None, reads)
    whole = math.prod(longest(axis) for axis in source) * itemsize
    if reads <= 1 + BETWEEN_WRITE_COST + BETWEEN_READ_COST or whole > limit:
        return found
    return _route_between(source, target, itemsize, limit, direct) or found


def _route_between(
    source: Sequence[Borders], target: Sequence[Borders], itemsize: int, limit: int, direct: Regions
) -> Route | None:
    """Return the way with an array in between, if it costs less than direct reads."""
    reading = grow(source, target, itemsize, limit)
    between = _divided(
        [min(longest(mine), longest(theirs)) for mine, theirs in zip(reading, direct.borders, strict=True)],
        BETWEEN_BYTES // itemsize,
    )
    whole = tuple(every(size, axis[-1]) for size, axis in zip(between, source, strict=True))
    # Writes must be whole chunks of the array in between.
    first = Regions(
        merge(axis, axis[-1] if len(mine) <= 2 else max(size, longest(mine) // size * size))
        for axis, size, mine in zip(whole, between, reading, strict=True)
    )
    second = Regions(grow(target, whole, itemsize, limit))
    reads = _reads(first.borders, source)
    cost = reads + BETWEEN_WRITE_COST + BETWEEN_READ_COST * _reads(second.borders, whole)
    return Route(first, between, second, reads) if cost < _reads(direct.borders, source) else None


def _divided(shape: Sequence[int], limit: int) -> tuple[int, ...]:
    """Return a shape of at most a number of elements whose sides divide those of a shape; shrink the first sides first.

    Examples
    --------
    >>> _divided((64, 256, 1024), 4 << 20), _divided((7, 10), 5)
    ((16, 256, 1024), (1, 5))
    """
    sides = list(shape)
    for axis, side in enumerate(shape):
        most = limit * side // math.prod(sides)
        sides[axis] = next(size for size in range(max(1, min(side, most)), 0, -1) if side % size == 0)
    return tuple(sides)


def _reads(pieces: Sequence[Borders], chunks: Sequence[Borders]) -> float:
    return math.prod(amplification(mine, theirs) for mine, theirs in zip(pieces, chunks, strict=True))


def grow(own: Sequence[Borders], other: Sequence[Borders], itemsize: int, limit: int) -> list[Borders]:
    """Merge pieces along the axes where it saves most reads of the other side, until the limit is reached.

    Parameters
    ----------
    own, other : sequence of tuples of int
        The borders of pieces that stay whole, and of chunks of the other side.
    itemsize, limit : int
        Bytes of an element, and of a piece.

    Examples
    --------
    >>> grow([every(1, 4), every(4, 4)], [every(1, 4), every(4, 4)], 1, limit=8)
    [(0, 2, 4), (0, 4)]
    """
    pieces = [tuple(axis) for axis in own]
    while True:
        best: tuple[float, int, Borders] | None = None
        size = math.prod(longest(axis) for axis in pieces) * itemsize
        for axis in reversed(range(len(pieces))):  # if nothing is saved, first the axis that is contiguous in memory
            borders = pieces[axis]
            for larger in _larger(own[axis], borders, other[axis]):
                growth = longest(larger) / longest(borders)
                if growth <= 1 or size * growth > limit:
                    continue
                saved = amplification(borders, other[axis]) / amplification(larger, other[axis])
                gain = math.log(saved) / math.log(growth)
                if (gain > 0 or size * growth <= ENOUGH_BYTES) and (best is None or gain > best[0]):
                    best = gain, axis, larger
        if best is None:
            return pieces
        pieces[best[1]] = best[2]


def _larger(own: Borders, borders: Borders, other: Borders) -> Iterator[Borders]:
    """Yield larger pieces to try: of twice the size, of half the number, and of whole pieces of the other side.

    Each is an eighth longer at least, and the longest come first, which win if they save as much: with the next piece
    of the other side alone, an axis of very many small chunks would grow in as many steps.
    """
    length, own_longest, step = borders[-1], longest(borders), longest(other)
    if own_longest < length:
        half = -(-length // max(1, (len(borders) - 1) // 2))
        whole = -(-(own_longest + max(1, own_longest // 8)) // step) * step
        for size in sorted({2 * own_longest, half, whole}, reverse=True):
            yield merge(own, size)


def check_wanted(arrays: Mapping[str, Sequence[str | None]], wanted: Any) -> None:
    """Refuse chunk shapes that are meant for none of some arrays.

    Parameters
    ----------
    arrays : mapping
        The names of the dimensions of each array, by its path.
    wanted : int, sequence of int, or mapping
        See :func:`wanted_shape`.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> check_wanted({"t": ("hour", "lat")}, {"hour": 24})
    >>> check_wanted({"t": ("hour", "lat")}, {"hours": 24})
    Traceback (most recent call last):
    ValueError: there is no array and no dimension 'hours' (did you mean 'hour'?); arrays: t; dimensions: hour, lat
    """
    if isinstance(wanted, Mapping):
        dimensions = list(dict.fromkeys(each for names in arrays.values() for each in names if each is not None))
        for key in wanted:
            if key not in arrays and key not in dimensions:
                raise ValueError(
                    f"there is no array and no dimension {key!r}{like_names(key, [*arrays, *dimensions])}; arrays: "
                    f"{some_of(filter(None, arrays))}; dimensions: {some_of(dimensions)}"
                )
        return
    ndim = 1 if isinstance(wanted, int) else len(tuple(wanted))
    if arrays and "" not in arrays and all(len(names) != ndim for names in arrays.values()):
        raise ValueError(f"chunks {wanted} have {ndim} dimensions, as none of the arrays has: {some_of(arrays)}")


def wanted_shape(
    name: str, shape: Sequence[int], own: Sequence[int], dimensions: Sequence[str | None], wanted: Any
) -> tuple[int, ...] | None:
    """Return the chunk shape that the caller gives for an array; None if there is none for it.

    Parameters
    ----------
    name : str
        The path of the array below the copied node; empty for the node itself.
    shape, own : sequence of int
        The shape of the array, and that of its chunks.
    dimensions : sequence of str or None
        The names of its dimensions.
    wanted : int, sequence of int, or mapping
        A shape, or shapes by the paths of arrays, or lengths by the names of dimensions; -1 is a whole axis. The array
        that has the coordinates of a dimension, and its name, is not cut into smaller chunks by such a length.

    Raises
    ------
    ValueError
        If the shape has another number of dimensions than the node itself.

    Examples
    --------
    >>> wanted_shape("a", (10, 20), (1, 20), ("y", "x"), {"y": -1})
    (10, 20)
    >>> wanted_shape("y", (10,), (10,), ("y",), {"y": 2})
    (10,)
    """
    if isinstance(wanted, Mapping):
        length = wanted.get(dimensions[0]) if [*dimensions] == [name.rpartition("/")[2]] else None
        if isinstance(length, int):
            wanted = length if length == -1 else max(length, own[0])
        elif name in wanted:
            wanted = wanted[name]
        elif not any(dimension in wanted for dimension in dimensions):
            return None
        else:
            wanted = tuple(wanted.get(dimension, size) for dimension, size in zip(dimensions, own, strict=True))
    wanted = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    if len(wanted) != len(shape):
        if name:
            return None  # other arrays of the hierarchy have these dimensions
        raise ValueError(f"chunks {wanted} have {len(wanted)} dimensions, the array has {len(shape)}: {tuple(shape)}")
    return tuple(max(1, length) if size == -1 else size for size, length in zip(wanted, shape, strict=True))
