"""Choose the regions in which an array is read and written anew, within a limit of memory.

Where the chunks of the source and of the target lie across each other, a region that holds whole chunks of both may be
larger than the memory. Then each chunk of the source is read several times, or the array is stored in between in chunks
that suit both sides: the published algorithm of the package rechunker. The cheaper way is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from zarr._records import record, set_values
from zarr.tools.copies.regions import Regions, amplification, every, longest, merge

Borders = tuple[int, ...]

BETWEEN_WRITE_COST = 1.0
"""The cost of storing a byte without compression, where reading a compressed one costs 1."""

BETWEEN_READ_COST = 0.5

ENOUGH_BYTES = 64 << 20
"""Regions do not grow beyond this size if that saves no reading: small tasks spread better."""


@record(frozen=True)
class Route:
    """How an array gets from one layout to another.

    Parameters
    ----------
    first : Regions
        Read from the source, and written to the target or to the array in between.
    between : tuple of int, optional
        Chunks of the array in between.
    second : Regions, optional
        Read from the array in between, and written to the target.
    reads : float
        How many times each chunk of the source is read.
    """

    first: Regions
    between: tuple[int, ...] | None
    second: Regions | None
    reads: float

    def __init__(
        self, first: Regions, between: tuple[int, ...] | None, second: Regions | None, reads: float
    ) -> None:
        set_values(self, first=first, between=between, second=second, reads=reads)


def choose_route(source: Sequence[Borders], target: Sequence[Borders], itemsize: int, limit: int) -> Route:
    """Choose the regions of a copy.

    Parameters
    ----------
    source : sequence of tuples of int
        Along each axis the borders of the chunks that can be read alone.
    target : sequence of tuples of int
        The borders of what is written as one: chunks or shards.
    itemsize : int
        Bytes of an element in memory.
    limit : int
        Bytes of a region.

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
    direct = Regions(_grow(target, source, itemsize, limit))
    reads = _reads(direct.borders, source)
    found = Route(direct, None, None, reads)
    whole = math.prod(longest(axis) for axis in source) * itemsize
    if reads <= 1 + BETWEEN_WRITE_COST + BETWEEN_READ_COST or whole > limit:
        return found
    return _route_between(source, target, itemsize, limit, direct) or found


def _route_between(
    source: Sequence[Borders], target: Sequence[Borders], itemsize: int, limit: int, direct: Regions
) -> Route | None:
    """Return the way by an array in between, if it costs less than reading directly."""
    reading = _grow(source, target, itemsize, limit)
    between = tuple(
        min(longest(mine), longest(theirs)) for mine, theirs in zip(reading, direct.borders, strict=True)
    )
    whole = tuple(every(size, axis[-1]) for size, axis in zip(between, source, strict=True))
    # What is written must be whole chunks of the array in between.
    first = Regions(
        merge(axis, axis[-1] if len(mine) <= 2 else max(size, longest(mine) // size * size))
        for axis, size, mine in zip(whole, between, reading, strict=True)
    )
    second = Regions(_grow(target, whole, itemsize, limit))
    reads = _reads(first.borders, source)
    cost = reads + BETWEEN_WRITE_COST + BETWEEN_READ_COST * _reads(second.borders, whole)
    return Route(first, between, second, reads) if cost < _reads(direct.borders, source) else None


def _reads(pieces: Sequence[Borders], chunks: Sequence[Borders]) -> float:
    return math.prod(amplification(mine, theirs) for mine, theirs in zip(pieces, chunks, strict=True))


def _grow(own: Sequence[Borders], other: Sequence[Borders], itemsize: int, limit: int) -> list[Borders]:
    """Merge pieces along the axes where it saves most reading of the other side, until the limit is reached."""
    pieces = [tuple(axis) for axis in own]
    while True:
        best: tuple[float, int, Borders] | None = None
        size = math.prod(longest(axis) for axis in pieces) * itemsize
        for axis in reversed(range(len(pieces))):  # where nothing is saved, first the axis that lies together in memory
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
    """Yield larger pieces to try: of twice the size, of half the number, and of whole pieces of the other side."""
    length, own_longest, step = borders[-1], longest(borders), longest(other)
    if own_longest < length:
        half = -(-length // max(1, (len(borders) - 1) // 2))
        for size in {2 * own_longest, half, -(-(own_longest + 1) // step) * step}:
            yield merge(own, size)
