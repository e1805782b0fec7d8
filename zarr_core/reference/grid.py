"""Chunk grids: how each axis of an array is cut into chunks."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import index

import numpy as np
from numpy.typing import NDArray

MAX_RANK = 64
MAX_LENGTH = 2**63 - 1


class Axis:
    """One dimension of a grid. Chunk ``i`` covers positions ``offset(i)`` to ``offset(i) + chunk_length(i)``."""

    length: int
    nchunks: int
    ncells: int
    regular: bool

    def offset(self, i: int) -> int:
        raise TypeError("use RegularAxis or VaryingAxis")

    def chunk_length(self, i: int) -> int:
        return self.offset(i + 1) - self.offset(i)

    def valid_length(self, i: int) -> int:
        return min(self.chunk_length(i), self.length - self.offset(i))

    def find(self, position: int) -> int:
        raise TypeError("use RegularAxis or VaryingAxis")

    def _check(self, i: int) -> int:
        i = index(i)
        if not 0 <= i < self.nchunks:
            raise IndexError(f"chunk {i} is out of range for an axis of {self.nchunks} chunks")
        return i

    def _inside(self, position: int) -> int:
        position = index(position)
        if not 0 <= position < self.length:
            raise IndexError(f"position {position} is out of range for an axis of length {self.length}")
        return position


class RegularAxis(Axis):
    """Chunks of one length; the last may overhang the end of the axis."""

    regular = True

    def __init__(self, length: int, chunk: int) -> None:
        length, chunk = index(length), index(chunk)
        if not 0 <= length <= MAX_LENGTH:
            raise ValueError(f"axis length must be between 0 and 2**63 - 1, got {length}")
        if not (1 <= chunk <= MAX_LENGTH or (chunk == 0 and length == 0)):
            raise ValueError(f"chunk length must be between 1 and 2**63 - 1, got {chunk} for axis length {length}")
        self.length = length
        self.chunk = chunk
        self.nchunks = self.ncells = -(-length // chunk) if length else 0

    def offset(self, i: int) -> int:
        return self._check(i) * self.chunk

    def chunk_length(self, i: int) -> int:
        self._check(i)
        return self.chunk

    def find(self, position: int) -> int:
        return self._inside(position) // self.chunk


class VaryingAxis(Axis):
    """Chunks of given lengths, whose sum reaches or passes the end of the axis."""

    regular = False

    def __init__(self, length: int, edges: Sequence[int]) -> None:
        length = index(length)
        if not 0 <= length <= MAX_LENGTH:
            raise ValueError(f"axis length must be between 0 and 2**63 - 1, got {length}")
        offsets = [0]
        for i, edge in enumerate(edges):
            if index(edge) < 1:
                raise ValueError(f"chunk lengths must be at least 1, got {edge} for chunk {i}")
            offsets.append(offsets[-1] + index(edge))
        if offsets[-1] > MAX_LENGTH:
            raise ValueError(f"chunk lengths sum to {offsets[-1]}, more than 2**63 - 1")
        if offsets[-1] < length:
            raise ValueError(f"chunk lengths sum to {offsets[-1]}, less than the axis length {length}")
        self.length = length
        self.offsets = offsets
        self.ncells = len(offsets) - 1
        self.nchunks = bisect_right(offsets, length - 1) if length else 0

    def offset(self, i: int) -> int:
        return self.offsets[self._check(i)]

    def chunk_length(self, i: int) -> int:
        self._check(i)
        return self.offsets[i + 1] - self.offsets[i]

    def find(self, position: int) -> int:
        return bisect_right(self.offsets, self._inside(position)) - 1


class Grid:
    """One axis per dimension."""

    def __init__(self, axes: Iterable[Axis]) -> None:
        self.axes = tuple(axes)
        for axis in self.axes:
            if not isinstance(axis, Axis):
                raise TypeError(f"axes must be RegularAxis or VaryingAxis, got {type(axis).__name__}")
        if len(self.axes) > MAX_RANK:
            raise ValueError(f"a grid has at most {MAX_RANK} axes, got {len(self.axes)}")
        self.ndim = len(self.axes)
        self.shape = tuple(axis.length for axis in self.axes)

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        return tuple(axis.nchunks for axis in self.axes)

    @property
    def nchunks(self) -> int:
        return math.prod(self.cdata_shape)

    @property
    def regular(self) -> bool:
        return all(axis.regular for axis in self.axes)

    @property
    def overhangs(self) -> tuple[tuple[int, int], ...]:
        lasts = [(i, axis, axis.nchunks - 1) for i, axis in enumerate(self.axes) if axis.nchunks]
        return tuple((i, n) for i, axis, n in lasts if axis.valid_length(n) < axis.chunk_length(n))

    def counts_within(self, shape: Sequence[int]) -> tuple[int, ...]:
        if len(shape) != self.ndim or min(shape, default=0) < 0:
            raise ValueError(f"a grid of {self.ndim} axes was asked for the shape {shape}")
        shorter = [min(length, axis.length) for length, axis in zip(shape, self.axes, strict=True)]
        return tuple(
            axis.find(length - 1) + 1 if length else 0 for length, axis in zip(shorter, self.axes, strict=True)
        )

    def ends(self, counts: Sequence[int]) -> tuple[int, ...]:
        if len(counts) != self.ndim:
            raise ValueError(f"a grid of {self.ndim} axes was asked for the ends of {counts} chunks")
        return tuple(
            axis.offset(count - 1) + axis.valid_length(count - 1) if count else 0
            for axis, count in zip(self.axes, counts, strict=True)
        )


def morton_order(shape: Iterable[int]) -> NDArray[np.int64]:
    """Coordinates of a box in Morton (Z) order.

    Bit by bit from the lowest, each axis that still has a bit at that level (of ``n - 1``) gives one bit of the code,
    the first axis the lowest bit. Codes that fall outside the box are left out.
    """
    lengths = tuple(index(n) for n in shape)
    if len(lengths) > MAX_RANK:
        raise ValueError(f"a shape has at most {MAX_RANK} axes, got {len(lengths)}")
    if any(n < 0 for n in lengths):
        raise ValueError(f"lengths must not be negative, got {lengths}")
    bits = [(level, axis) for level in range(64) for axis, n in enumerate(lengths) if n > 0 and (n - 1) >> level]

    def code(coords: tuple[int, ...]) -> int:
        return sum(((coords[axis] >> level) & 1) << place for place, (level, axis) in enumerate(bits))

    inside = sorted((tuple(int(c) for c in coords) for coords in np.ndindex(*lengths)), key=code)
    return np.array(inside, dtype=np.int64).reshape(math.prod(lengths), len(lengths))
