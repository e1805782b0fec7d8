"""A plan: which chunks a selection touches, which part of each, and where each part lands in the output.

A plan is one of two things. A *product* holds one list of pieces per axis; its slots are all combinations. *Points*
hold, per touched chunk, the coordinates of the elements wanted and their places in the output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.grid import Axis, Grid

Index = slice | NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """The part of one axis that lies in one chunk."""

    chunk: int
    inner: Index  # elements inside the chunk
    out: Index  # their places in the output
    whole: bool
    dropped: bool = False

    @classmethod
    def make(cls, axis: Axis, chunk: int, inner: NDArray[np.int64], out: NDArray[np.int64], dropped: bool) -> Piece:
        """Return True if the whole of the chunk is taken, once, in order, to consecutive places."""
        valid = axis.valid_length(chunk)
        whole = np.array_equal(inner, np.arange(valid)) and bool(np.all(np.diff(out) == 1))
        return cls(chunk, as_slice(inner), as_slice(out), whole, dropped)


def as_slice(places: NDArray[np.int64]) -> Index:
    """Return a slice where the places are evenly spaced, else the places."""
    if len(places) == 1:
        return slice(int(places[0]), int(places[0]) + 1, 1)
    steps = np.diff(places)
    if steps[0] == 0 or np.any(steps != steps[0]):
        return places
    start, stop, step = int(places[0]), int(places[-1] + steps[0]), int(steps[0])
    return slice(start, None if stop < 0 else stop, step)


@dataclass(frozen=True)
class PointGroup:
    """The points that lie in one chunk."""

    coords: tuple[int, ...]
    inner: NDArray[np.int64]  # (points, ndim), inside the chunk
    out: NDArray[np.int64]  # places in the C order of the output


class Plan:
    """The part of each chunk that one selection needs. Made by the ``plan_*`` functions."""

    def __init__(
        self,
        grid: Grid,
        shape: tuple[int, ...],
        pieces: list[list[Piece]] | None = None,
        points: list[PointGroup] | None = None,
    ) -> None:
        self.grid = grid
        self.shape = shape
        self.ndim = grid.ndim
        self._pieces = pieces
        self._points = points
        self.nslots = len(points) if points is not None else math.prod(len(p) for p in pieces or [])

    def _check(self, i: int) -> int:
        i = index(i)
        if not 0 <= i < self.nslots:
            raise IndexError(f"slot {i} is out of range for a plan of {self.nslots} slots")
        return i

    def pieces(self, i: int) -> tuple[Piece, ...]:
        """One piece per axis (product plans)."""
        assert self._pieces is not None
        places = np.unravel_index(self._check(i), [len(p) for p in self._pieces]) if self._pieces else ()
        return tuple(pieces[place] for pieces, place in zip(self._pieces, places))

    def coords(self, i: int) -> tuple[int, ...]:
        if self._points is not None:
            return self._points[self._check(i)].coords
        return tuple(piece.chunk for piece in self.pieces(i))

    def all_coords(self) -> NDArray[np.int64]:
        coords = [self.coords(i) for i in range(self.nslots)]
        return np.array(coords, dtype=np.int64).reshape(self.nslots, self.ndim)

    def chunk_shape(self, i: int) -> tuple[int, ...]:
        return tuple(axis.chunk_length(c) for axis, c in zip(self.grid.axes, self.coords(i)))

    def valid_shape(self, i: int) -> tuple[int, ...]:
        return tuple(axis.valid_length(c) for axis, c in zip(self.grid.axes, self.coords(i)))

    def whole(self, i: int) -> bool:
        if self._points is None:
            return all(piece.whole for piece in self.pieces(i))
        valid = self.valid_shape(i)
        inner = self._points[self._check(i)].inner
        if len(inner) != math.prod(valid):
            return False
        return np.array_equal(inner, np.indices(valid).reshape(self.ndim, len(inner)).T)

    @cached_property
    def all_whole(self) -> bool:
        return all(self.whole(i) for i in range(self.nslots))

    def slot(self, i: int) -> Slot:
        return Slot(self, self._check(i))


class Slot:
    """One chunk of a plan."""

    def __init__(self, plan: Plan, i: int) -> None:
        self.plan = plan
        self.index = i

    @property
    def coords(self) -> tuple[int, ...]:
        return self.plan.coords(self.index)

    @property
    def whole(self) -> bool:
        return self.plan.whole(self.index)

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        return self.plan.chunk_shape(self.index)

    @property
    def chunk_selection(self) -> tuple[Any, ...]:
        if self.plan._points is not None:
            inner = self.plan._points[self.index].inner
            return tuple(inner.T) if self.plan.shape else tuple(int(i) for i in inner[0])
        return open_mesh([_chunk_index(piece) for piece in self.plan.pieces(self.index)])

    @property
    def out_selection(self) -> tuple[Any, ...]:
        if self.plan._points is not None:
            return np.unravel_index(self.plan._points[self.index].out, self.plan.shape) if self.plan.shape else ()
        return open_mesh([piece.out for piece in self.plan.pieces(self.index) if not piece.dropped])


def _chunk_index(piece: Piece) -> Index | int:
    if piece.dropped:
        assert isinstance(piece.inner, slice)
        return int(piece.inner.start)
    return piece.inner


def open_mesh(items: list[Index | int]) -> tuple[Any, ...]:
    """Orthogonal indexing spelled for NumPy: slices as they are, or, with any index array, all as an open mesh."""
    if not any(isinstance(item, np.ndarray) for item in items):
        return tuple(items)
    kept = [item for item in items if not isinstance(item, int)]
    arrays = [_expand(item) if isinstance(item, slice) else item for item in kept]
    mesh = iter(np.ix_(*arrays))
    return tuple(item if isinstance(item, int) else next(mesh) for item in items)


def _expand(item: slice) -> NDArray[np.int64]:
    stop = -1 if item.stop is None else item.stop
    return np.arange(item.start, stop, item.step, dtype=np.int64)


class ShardGroups:
    """The slots of a plan over inner chunks, grouped by the shard that holds them."""

    def __init__(self, plan: Plan, starts: Sequence[int | NDArray[np.int64]]) -> None:
        if len(starts) != plan.ndim:
            raise ValueError(f"starts must have one entry per dimension: got {len(starts)} for {plan.ndim} dimensions")
        self.plan = plan
        self.ndim = plan.ndim
        self._starts = [shard_starts(axis, item) for axis, item in zip(plan.grid.axes, starts)]
        groups: dict[tuple[int, ...], list[int]] = {}
        for i in range(plan.nslots):
            groups.setdefault(self._shard(plan.coords(i)), []).append(i)
        self._groups = sorted(groups.items())
        self.ngroups = len(self._groups)

    def _shard(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(np.searchsorted(s, c, side="right")) - 1 for s, c in zip(self._starts, coords))

    def _group(self, g: int) -> tuple[tuple[int, ...], list[int]]:
        g = index(g)
        if not 0 <= g < self.ngroups:
            raise IndexError(f"group {g} is out of range for {self.ngroups} groups")
        return self._groups[g]

    def coords(self, g: int) -> tuple[int, ...]:
        return self._group(g)[0]

    def all_coords(self) -> NDArray[np.int64]:
        return np.array([coords for coords, _ in self._groups], dtype=np.int64).reshape(self.ngroups, self.ndim)

    def slots(self, g: int) -> NDArray[np.int64]:
        return np.array(self._group(g)[1], dtype=np.int64)

    def chunks_per_shard(self, g: int) -> tuple[int, ...]:
        return tuple(int(s[c + 1] - s[c]) for s, c in zip(self._starts, self.coords(g)))

    def inner(self, g: int) -> NDArray[np.int64]:
        first = [int(s[c]) for s, c in zip(self._starts, self.coords(g))]
        counts = self.chunks_per_shard(g)
        linear = []
        for i in self.slots(g):
            place = 0
            for c, f, n in zip(self.plan.coords(int(i)), first, counts):
                place = place * n + (c - f)
            linear.append(place)
        return np.array(linear, dtype=np.int64)


def shard_starts(axis: Axis, item: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first inner chunk of each shard of an axis, and one entry that closes the last shard."""
    if isinstance(item, (int, np.integer)):
        if item < 1:
            raise ValueError(f"chunks per shard must be at least 1, got {item}")
        return np.arange(0, axis.ncells + 2 * int(item), int(item), dtype=np.int64)
    starts = np.asarray(item, dtype=np.int64)
    if starts.ndim != 1 or (len(starts) and starts[0] != 0) or np.any(np.diff(starts) < 1):
        raise ValueError(f"first chunks of shards must rise strictly from 0, got {starts!r}")
    if not len(starts) or starts[-1] < axis.ncells:
        starts = np.append(starts, axis.ncells)
    return starts
