"""Axes of a chunk grid: each tells where its chunks begin and end."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

import zarr_core
from zarr._records import field, record, set_values

if TYPE_CHECKING:
    import numpy.typing as npt


@runtime_checkable
class DimensionGrid(Protocol):
    """An axis of a chunk grid.

    A chunk grid extension must reduce to axes with these methods; `FixedDimension` and `VaryingDimension` are enough
    for every grid whose chunks are boxes.

    Examples
    --------
    >>> from zarr.chunks import DimensionGrid, FixedDimension
    >>> isinstance(FixedDimension(4, 10), DimensionGrid)
    True
    """

    @property
    def nchunks(self) -> int:
        """Number of chunks that contain elements."""

    @property
    def ngridcells(self) -> int:
        """Number of chunks, with those beyond the end of the array."""

    @property
    def extent(self) -> int:
        """Length of the array along this axis."""

    def index_to_chunk(self, idx: int) -> int:
        """Return the number of the chunk with the element ``idx``.

        Parameters
        ----------
        idx : int
            The number of the element along this axis.

        Returns
        -------
        int
        """

    def chunk_offset(self, chunk_ix: int) -> int:
        """Return the first element of chunk ``chunk_ix``.

        Parameters
        ----------
        chunk_ix : int
            The number of the chunk along this axis.

        Returns
        -------
        int
        """

    def chunk_size(self, chunk_ix: int) -> int:
        """Return the length of chunk ``chunk_ix`` for the codecs, overhang included.

        Parameters
        ----------
        chunk_ix : int
            The number of the chunk along this axis.

        Returns
        -------
        int
        """

    def data_size(self, chunk_ix: int) -> int:
        """Return the number of elements of chunk ``chunk_ix`` inside the array.

        Parameters
        ----------
        chunk_ix : int
            The number of the chunk along this axis.

        Returns
        -------
        int
        """

    def indices_to_chunks(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the number of the chunk of each of many elements.

        Parameters
        ----------
        indices : ndarray of intp
            Numbers of elements along this axis.

        Returns
        -------
        ndarray of intp
        """

    @property
    def _size_repr(self) -> str: ...

    def with_extent(self, new_extent: int) -> DimensionGrid:
        """Return the same chunks over an array of another length.

        Parameters
        ----------
        new_extent : int
            The length of the other array along this axis.

        Returns
        -------
        DimensionGrid
        """

    def resize(self, new_extent: int) -> DimensionGrid:
        """Return the axis of the array after a resize: chunks are added if the old ones do not reach its end.

        Parameters
        ----------
        new_extent : int
            The length after the resize.

        Returns
        -------
        DimensionGrid
        """


@record(frozen=True)
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
    >>> from zarr.chunks import FixedDimension
    >>> axis = FixedDimension(size=3, extent=10)
    >>> axis.nchunks, axis.data_size(3)
    (4, 1)
    """

    size: int
    extent: int
    nchunks: int = field(init=False, repr=False)
    ngridcells: int = field(init=False, repr=False)

    def __init__(self, size: int, extent: int) -> None:
        set_values(self, size=size, extent=extent)
        self.__post_init__()

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"FixedDimension size must be >= 1, got {self.size}")
        if self.extent < 0:
            raise ValueError(f"FixedDimension extent must be >= 0, got {self.extent}")
        count = -(-self.extent // self.size)
        set_values(self, nchunks=count, ngridcells=count)

    def index_to_chunk(self, idx: int) -> int:
        """Return the number of the chunk with the element ``idx``; raise `IndexError` outside of the array."""
        if idx < 0:
            raise IndexError(f"Negative index {idx} is not allowed")
        if idx >= self.extent:
            raise IndexError(f"Index {idx} is out of bounds for extent {self.extent}")
        return idx // self.size

    def chunk_offset(self, chunk_ix: int) -> int:
        """Return the first element of chunk ``chunk_ix``."""
        return chunk_ix * self.size

    def chunk_size(self, chunk_ix: int) -> int:
        """Return the length of chunk ``chunk_ix`` for the codecs."""
        return self.size

    def data_size(self, chunk_ix: int) -> int:
        """Return the number of elements of chunk ``chunk_ix`` inside the array."""
        return max(0, min(self.size, self.extent - chunk_ix * self.size))

    def indices_to_chunks(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the number of the chunk of each of many elements."""
        return indices // self.size

    @property
    def _size_repr(self) -> str:
        return str(self.size)

    def with_extent(self, new_extent: int) -> FixedDimension:
        """Return the same chunk length over an array of another length."""
        return FixedDimension(self.size, new_extent)

    resize = with_extent

    def to_core(self) -> zarr_core.RegularAxis:
        """Return the axis of the compiled core.

        Returns
        -------
        zarr_core.RegularAxis
        """
        return zarr_core.RegularAxis(self.extent, self.size)


@record(frozen=True)
class VaryingDimension:
    """An axis cut into chunks whose lengths are listed.

    Parameters
    ----------
    edges
        The chunk lengths, each at least 1. Their sum must reach ``extent``; chunks beyond it have no elements.
    extent
        The length of the array.

    Raises
    ------
    ValueError
        If there are no edges, one is smaller than 1, or they do not reach ``extent``.

    Examples
    --------
    >>> from zarr.chunks import VaryingDimension
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
        set_values(self, edges=lengths, cumulative=cumulative, extent=extent, nchunks=count, ngridcells=len(lengths))

    def index_to_chunk(self, idx: int) -> int:
        """Return the number of the chunk with the element ``idx``; raise `IndexError` outside of the array."""
        if not 0 <= idx < self.extent:
            raise IndexError(f"Index {idx} out of bounds for dimension with extent {self.extent}")
        return bisect_right(self.cumulative, idx)

    def chunk_offset(self, chunk_ix: int) -> int:
        """Return the first element of chunk ``chunk_ix``."""
        return self.cumulative[chunk_ix - 1] if chunk_ix > 0 else 0

    def chunk_size(self, chunk_ix: int) -> int:
        """Return the length of chunk ``chunk_ix`` for the codecs."""
        return self.edges[chunk_ix]

    def data_size(self, chunk_ix: int) -> int:
        """Return the number of elements of chunk ``chunk_ix`` inside the array."""
        return max(0, min(self.edges[chunk_ix], self.extent - self.chunk_offset(chunk_ix)))

    def indices_to_chunks(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the number of the chunk of each of many elements."""
        return np.searchsorted(np.asarray(self.cumulative), indices, side="right")

    @property
    def _size_repr(self) -> str:
        return f"({', '.join(map(str, self.edges))})"

    def with_extent(self, new_extent: int) -> VaryingDimension:
        """Return the same chunks over an array of another length, which they must reach."""
        if new_extent > self.cumulative[-1]:
            raise ValueError(f"VaryingDimension edge sum {self.cumulative[-1]} is less than new extent {new_extent}")
        return VaryingDimension(self.edges, new_extent)

    def resize(self, new_extent: int) -> VaryingDimension:
        """Return the axis after a resize: one chunk is added if the old ones do not reach its end."""
        missing = new_extent - self.cumulative[-1]
        return VaryingDimension((*self.edges, missing) if missing > 0 else self.edges, new_extent)

    def to_core(self) -> zarr_core.VaryingAxis:
        """Return the axis of the compiled core.

        Returns
        -------
        zarr_core axis
        """
        return zarr_core.VaryingAxis(self.extent, self.edges)


def make_dimension(size: int | Iterable[int], extent: int) -> DimensionGrid:
    """Return the axis whose chunk length, or list of chunk lengths, is ``size``."""
    if isinstance(size, Iterable):
        plain = type(size) is tuple and set(map(type, size)) == {int}
        return VaryingDimension(size if plain else [operator.index(edge) for edge in size], extent)  # type: ignore[arg-type]
    return FixedDimension(operator.index(size), extent)


def core_grid(dimensions: Sequence[DimensionGrid]) -> zarr_core.Grid:
    """Return the grid of the compiled core with these axes."""
    axes: list[zarr_core.RegularAxis | zarr_core.VaryingAxis] = []
    for dim in dimensions:
        if isinstance(dim, FixedDimension | VaryingDimension):
            axes.append(dim.to_core())
        else:
            axes.append(zarr_core.VaryingAxis(dim.extent, [dim.chunk_size(i) for i in range(dim.ngridcells)]))
    return zarr_core.Grid(axes)
