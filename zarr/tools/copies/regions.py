"""Regions of an array: boxes between borders along each axis, numbered in C order."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, product

import numpy as np

Region = tuple[slice, ...]


class Regions:
    """All boxes between some borders along each axis.

    Parameters
    ----------
    borders : sequence of sequences of int
        For each axis from 0 to its length. An axis of length 0 has no region.

    Examples
    --------
    >>> regions = Regions([(0, 4, 6), (0, 3)])
    >>> len(regions), regions[1]
    (2, (slice(4, 6, None), slice(0, 3, None)))
    """

    def __init__(self, borders: Iterable[Sequence[int]]) -> None:
        self.borders = tuple(tuple(int(border) for border in axis) for axis in borders)
        self.counts = tuple(len(axis) - 1 for axis in self.borders)

    def __repr__(self) -> str:
        return f"Regions({self.borders})"

    def __len__(self) -> int:
        return math.prod(self.counts)

    def __iter__(self) -> Iterator[Region]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: int) -> Region:
        if not 0 <= index < len(self):
            raise IndexError(f"region {index} of {len(self)}")
        places = np.unravel_index(index, self.counts) if self.counts else ()
        return tuple(slice(axis[i], axis[i + 1]) for axis, i in zip(self.borders, map(int, places), strict=True))

    def touched_by(self, box: Region) -> Iterator[int]:
        """Return the numbers of the regions that have elements in a box.

        Examples
        --------
        >>> list(Regions([(0, 4, 6), (0, 3)]).touched_by((slice(3, 5), slice(0, 1))))
        [0, 1]
        """
        places = [
            range(bisect_right(axis, part.start) - 1, bisect_left(axis, part.stop))
            for axis, part in zip(self.borders, box, strict=True)
        ]
        return (number_of(place, self.counts) for place in product(*places))


def number_of(place: Iterable[int], counts: Sequence[int]) -> int:
    """Return the number of the box at a place, in C order.

    Examples
    --------
    >>> number_of((1, 2), (2, 3))
    5
    """
    number = 0
    for at, count in zip(place, counts, strict=True):
        number = number * count + at
    return number


def borders_of(sizes: Iterable[int]) -> tuple[int, ...]:
    """Return the borders of pieces of some sizes.

    Examples
    --------
    >>> borders_of((4, 4, 2))
    (0, 4, 8, 10)
    """
    return (0, *accumulate(int(size) for size in sizes))


def every(step: int, length: int) -> tuple[int, ...]:
    """Return the borders of pieces of one size; the last piece may be shorter.

    Examples
    --------
    >>> every(4, 10), every(5, 0)
    ((0, 4, 8, 10), (0,))
    """
    return (*range(0, length, max(1, step)), length) if length else (0,)


def merge(borders: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the borders that are left after neighbours are merged to pieces of at most a size; a piece stays whole.

    Examples
    --------
    >>> merge((0, 3, 6, 9, 10), 6)
    (0, 6, 10)
    """
    kept, place, end = [borders[0]], 0, len(borders) - 1
    while place < end:
        next_one = min(bisect_right(borders, kept[-1], place), end)
        place = max(next_one, bisect_right(borders, kept[-1] + size, next_one) - 1)
        kept.append(borders[place])
    return tuple(kept)


def amplification(pieces: Sequence[int], chunks: Sequence[int]) -> float:
    """Return the average number of reads of a chunk along an axis, if each piece reads the chunks that it touches.

    Examples
    --------
    >>> amplification((0, 10, 20), (0, 20)), amplification((0, 20), (0, 10, 20))
    (2.0, 1.0)
    """
    length = chunks[-1]
    if not length:
        return 1.0
    edges = np.asarray(chunks)
    starts, stops = np.asarray(pieces[:-1]), np.asarray(pieces[1:])
    first = edges[np.searchsorted(edges, starts, side="right") - 1]
    last = edges[np.searchsorted(edges, stops, side="left")]
    return float((last - first).sum() / length)


def longest(borders: Sequence[int]) -> int:
    """Return the size of the largest piece; 0 if there is none.

    Examples
    --------
    >>> longest((0, 4, 6))
    4
    """
    return max((after - before for before, after in pairwise(borders)), default=0)
