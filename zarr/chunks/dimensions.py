"""One axis of a chunk grid: either chunks of one length, or chunks whose lengths are listed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

import zarr_core


@runtime_checkable
class DimensionGrid(Protocol):
    """What an axis of a chunk grid answers.

    A chunk grid extension must reduce to axes that answer this; `FixedDimension` and `VaryingDimension` suffice for
    every grid whose chunks are boxes.
    """

    @property
    def nchunks(self) -> int:
        """Number of chunks that hold data."""
        ...

    @property
    def ngridcells(self) -> int:
        """Number of chunks that are described, those beyond the end of the array included."""
        ...

    @property
    def extent(self) -> int:
        """Length of the array along this axis."""
        ...

    def index_to_chunk(self, idx: int) -> int:
        """Say which chunk holds the element ``idx``."""
        ...

    def chunk_offset(self, chunk_ix: int) -> int:
        """Say where chunk ``chunk_ix`` begins."""
        ...

    def chunk_size(self, chunk_ix: int) -> int:
        """Say how long chunk ``chunk_ix`` is as the codecs see it, overhang included."""
        ...

    def data_size(self, chunk_ix: int) -> int:
        """Say how many elements of chunk ``chunk_ix`` lie inside the array."""
        ...

    def indices_to_chunks(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Say which chunk holds each of many elements."""
        ...

    @property
    def _unique_edge_lengths(self) -> Iterable[int]: ...

    @property
    def _size_repr(self) -> str: ...

    def with_extent(self, new_extent: int) -> DimensionGrid:
        """Return the same chunks over an array of another length."""
        ...

    def resize(self, new_extent: int) -> DimensionGrid:
        """Return the axis of the array after a resize: chunks are added where the old ones do not reach."""
        ...


@dataclass(frozen=True)
class FixedDimension:
    """An axis cut into chunks of one length; the last may overhang the array.

    Parameters
    ----------
    size
        The chunk length, at least 1.
    extent
        The length of the array.

    Raises
    ------
    ValueError
        If ``size`` is smaller than 1 or ``extent`` negative.

    Examples
    --------
    >>> axis = FixedDimension(size=3, extent=10)
    >>> axis.nchunks, axis.data_size(3)
    (4, 1)
    """

    size: int
    extent: int
    nchunks: int = field(init=False, repr=False)
    ngridcells: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"FixedDimension size must be >= 1, got {self.size}")
        if self.extent < 0:
            raise ValueError(f"FixedDimension extent must be >= 0, got {self.extent}")
        count = -(-self.extent // self.size)
        object.__setattr__(self, "nchunks", count)
        object.__setattr__(self, "ngridcells", count)

    def index_to_chunk(self, idx: int) -> int:
        """Say which chunk holds the element ``idx``; `IndexError` outside of the array."""
        if idx < 0:
            raise IndexError(f"Negative index {idx} is not allowed")
        if idx >= self.extent:
            raise IndexError(f"Index {idx} is out of bounds for extent {self.extent}")
        return idx // self.size

    def chunk_offset(self, chunk_ix: int) -> int:
        """Say where chunk ``chunk_ix`` begins."""
        return chunk_ix * self.size

    def chunk_size(self, chunk_ix: int) -> int:
        """Say how long chunk ``chunk_ix`` is as the codecs see it."""
        return self.size

    def data_size(self, chunk_ix: int) -> int:
        """Say how many elements of chunk ``chunk_ix`` lie inside the array."""
        return max(0, min(self.size, self.extent - chunk_ix * self.size))

    def indices_to_chunks(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Say which chunk holds each of many elements."""
        return indices // self.size

    @property
    def _unique_edge_lengths(self) -> Iterable[int]:
        return (self.size,)

    @property
    def _size_repr(self) -> str:
        return str(self.size)

    def with_extent(self, new_extent: int) -> FixedDimension:
        """Return the same chunk length over an array of another length."""
        return FixedDimension(self.size, new_extent)

    def resize(self, new_extent: int) -> FixedDimension:
        """Return the axis after a resize."""
        return FixedDimension(self.size, new_extent)

    def to_core(self) -> zarr_core.RegularAxis:
        """Return the axis of the compiled core."""
        return zarr_core.RegularAxis(self.extent, self.size)


@dataclass(frozen=True, init=False)
class VaryingDimension:
    """An axis cut into chunks whose lengths are listed.

    Parameters
    ----------
    edges
        The chunk lengths, each at least 1. Their sum must reach ``extent``; chunks beyond it hold no data.
    extent
        The length of the array.

    Raises
    ------
    ValueError
        If there are no edges, one is smaller than 1, or they do not reach ``extent``.

    Examples
    --------
    >>> axis = VaryingDimension([3, 7, 5], extent=12)
    >>> axis.nchunks, axis.chunk_size(2), axis.data_size(2)
    (3, 5, 2)
    """

    edges: tuple[int, ...]
    cumulative: tuple[int, ...]
    extent: int
    nchunks: int = field(repr=False)
    ngridcells: int = field(repr=False)

    def __init__(self, edges: Sequence[int], extent: int) -> None:
        lengths = tuple(edges)
        if not lengths:
            raise ValueError("VaryingDimension edges must not be empty")
        if min(lengths) < 1:
            raise ValueError(f"All edge lengths must be > 0, got {lengths}")
        if extent < 0:
            raise ValueError(f"VaryingDimension extent must be >= 0, got {extent}")
        cumulative = tuple(accumulate(lengths))
        if extent > cumulative[-1]:
            raise ValueError(f"VaryingDimension extent {extent} exceeds sum of edges {cumulative[-1]}")
        count = bisect_right(cumulative, extent - 1) + 1 if extent else 0
        for name, value in zip(
            ("edges", "cumulative", "extent", "nchunks", "ngridcells"),
            (lengths, cumulative, extent, count, len(lengths)),
        ):
            object.__setattr__(self, name, value)

    def index_to_chunk(self, idx: int) -> int:
        """Say which chunk holds the element ``idx``; `IndexError` outside of the array."""
        if not 0 <= idx < self.extent:
            raise IndexError(f"Index {idx} out of bounds for dimension with extent {self.extent}")
        return bisect_right(self.cumulative, idx)

    def chunk_offset(self, chunk_ix: int) -> int:
        """Say where chunk ``chunk_ix`` begins."""
        return self.cumulative[chunk_ix - 1] if chunk_ix > 0 else 0

    def chunk_size(self, chunk_ix: int) -> int:
        """Say how long chunk ``chunk_ix`` is as the codecs see it."""
        return self.edges[chunk_ix]

    def data_size(self, chunk_ix: int) -> int:
        """Say how many elements of chunk ``chunk_ix`` lie inside the array."""
        return max(0, min(self.edges[chunk_ix], self.extent - self.chunk_offset(chunk_ix)))

    def indices_to_chunks(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Say which chunk holds each of many elements."""
        return np.searchsorted(np.asarray(self.cumulative), indices, side="right")

    @property
    def _unique_edge_lengths(self) -> Iterable[int]:
        return dict.fromkeys(self.edges)

    @property
    def _size_repr(self) -> str:
        return f"({', '.join(map(str, self.edges))})"

    def with_extent(self, new_extent: int) -> VaryingDimension:
        """Return the same chunks over an array of another length, which they must reach."""
        if new_extent > self.cumulative[-1]:
            raise ValueError(f"VaryingDimension edge sum {self.cumulative[-1]} is less than new extent {new_extent}")
        return VaryingDimension(self.edges, new_extent)

    def resize(self, new_extent: int) -> VaryingDimension:
        """Return the axis after a resize: one chunk is added where the old ones do not reach."""
        missing = new_extent - self.cumulative[-1]
        return VaryingDimension((*self.edges, missing) if missing > 0 else self.edges, new_extent)

    def to_core(self) -> zarr_core.VaryingAxis:
        """Return the axis of the compiled core."""
        return zarr_core.VaryingAxis(self.extent, self.edges)
