"""A chunk grid over an array of known shape: its axes, and its chunks."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

import zarr_core
from zarr._records import field, record, set_values
from zarr.chunks.shapes import block_of, cells, parse_shape

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


@record(frozen=True)
class ChunkSpec:
    """One chunk: its place in the array, and its shape for the codecs.

    Parameters
    ----------
    slices
        The part of the array in the chunk, clipped to the array.
    codec_shape
        The full shape of the chunk, overhang included.

    Examples
    --------
    >>> from zarr.chunks import ChunkGrid
    >>> spec = ChunkGrid.from_sizes((10,), (4,))[2]
    >>> spec.shape, spec.codec_shape, spec.is_boundary
    ((2,), (4,), True)
    """

    slices: tuple[slice, ...]
    codec_shape: tuple[int, ...]

    def __init__(self, slices: tuple[slice, ...], codec_shape: tuple[int, ...]) -> None:
        set_values(self, slices=slices, codec_shape=codec_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the part that lies inside the array."""
        return tuple([s.stop - s.start for s in self.slices])

    @property
    def is_boundary(self) -> bool:
        """True if the chunk overhangs the array."""
        return self.shape != self.codec_shape


@record(frozen=True)
class ChunkGrid:
    """The chunk grid of an array of known shape.

    Parameters
    ----------
    dimensions
        One `DimensionGrid` for each axis.

    Examples
    --------
    >>> from zarr.chunks import ChunkGrid
    >>> grid = ChunkGrid.from_sizes((10, 20), (3, (5, 15)))
    >>> grid.grid_shape
    (4, 2)
    >>> grid[3, 1]
    ChunkSpec(slices=(slice(9, 10, 1), slice(5, 20, 1)), codec_shape=(3, 15))
    """

    _dimensions: tuple[DimensionGrid, ...]

    def __init__(self, *, dimensions: tuple[DimensionGrid, ...]) -> None:
        set_values(self, _dimensions=tuple(dimensions))

    def __repr__(self) -> str:
        sizes = ", ".join([dim._size_repr for dim in self._dimensions])
        return f"ChunkGrid(chunk_sizes=({sizes}), array_shape={self.array_shape})"

    @classmethod
    def from_metadata(cls, metadata: Any) -> ChunkGrid:
        """Return the grid of an array, given its metadata.

        Parameters
        ----------
        metadata
            `ArrayV2Metadata` or `ArrayV3Metadata`.

        Returns
        -------
        ChunkGrid
            The grid of the stored chunks: of shards, for a sharded array.

        Raises
        ------
        TypeError
            If the metadata has no chunk grid that is known.
        """
        grid = metadata.chunk_grid
        if isinstance(grid, ChunkGrid):
            return grid
        dimensions = getattr(type(grid), "dimensions", None)
        if dimensions is None:
            raise TypeError(f"Unknown chunk grid metadata type: {type(grid).__name__}")
        return cls(dimensions=dimensions(grid, metadata.shape))

    @classmethod
    def from_sizes(cls, array_shape: Any, chunk_sizes: Sequence[int | Sequence[int]]) -> ChunkGrid:
        """Return the grid of an array of shape ``array_shape``.

        Parameters
        ----------
        array_shape
            An integer or a sequence of them.
        chunk_sizes
            For each axis a chunk length, or the list of all chunk lengths.

        Returns
        -------
        ChunkGrid

        Raises
        ------
        ValueError
            If the ranks differ or the chunks do not reach the end of the array.

        Examples
        --------
        >>> from zarr.chunks import ChunkGrid
        >>> ChunkGrid.from_sizes((10,), (4,))
        ChunkGrid(chunk_sizes=(4), array_shape=(10,))
        """
        shape = parse_shape(array_shape)
        sizes = tuple(chunk_sizes)
        if len(shape) != len(sizes):
            raise ValueError(f"array_shape has {len(shape)} dimensions but chunk_sizes has {len(sizes)} dimensions")
        return cls(dimensions=tuple([make_dimension(size, extent) for size, extent in zip(sizes, shape)]))

    @property
    def dimensions(self) -> tuple[DimensionGrid, ...]:
        """One `DimensionGrid` an axis."""
        return self._dimensions

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._dimensions)

    @property
    def array_shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple([dim.extent for dim in self._dimensions])

    @property
    def is_regular(self) -> bool:
        """True if every axis has chunks of one length."""
        return all(isinstance(dim, FixedDimension) for dim in self._dimensions)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return tuple([dim.nchunks for dim in self._dimensions])

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of every chunk of a regular grid; raise `ValueError` for any other grid."""
        if not self.is_regular:
            raise ValueError(
                "chunk_shape is only available for regular chunk grids. Use grid[coords] for per-chunk sizes."
            )
        return tuple([dim.chunk_size(0) for dim in self._dimensions])

    @property
    def chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of all chunks along each axis, clipped to the array (as dask writes chunks)."""
        return tuple([tuple([dim.data_size(i) for i in range(dim.nchunks)]) for dim in self._dimensions])

    def get_nchunks(self) -> int:
        """Return the number of chunks.

        Returns
        -------
        int
        """
        return math.prod(self.grid_shape)

    def __getitem__(self, coords: int | tuple[int, ...]) -> ChunkSpec | None:
        """Return the chunk at ``coords``, or None outside of the grid."""
        index = (coords,) if not isinstance(coords, tuple) else coords
        if len(index) != self.ndim:
            raise ValueError(f"Expected {self.ndim} coordinate(s) for a {self.ndim}-d chunk grid, got {len(index)}.")
        slices, shape = [], []
        for dim, i in zip(self._dimensions, map(operator.index, index)):
            if not 0 <= i < dim.nchunks:
                return None
            start = dim.chunk_offset(i)
            slices.append(slice(start, start + dim.data_size(i), 1))
            shape.append(dim.chunk_size(i))
        return ChunkSpec(tuple(slices), tuple(shape))

    def __iter__(self) -> Iterator[ChunkSpec]:
        """Iterate over the chunks, the last axis fastest."""
        for coords in self.all_chunk_coords():
            spec = self[coords]
            if spec is not None:
                yield spec

    def all_chunk_coords(
        self, *, origin: Sequence[int] | None = None, selection_shape: Sequence[int] | None = None
    ) -> Iterator[tuple[int, ...]]:
        """Iterate over the coordinates of the chunks, the last axis fastest.

        Parameters
        ----------
        origin
            Coordinates of the first chunk; by default the first of the grid.
        selection_shape
            Number of chunks along each axis; by default all following ones.

        Returns
        -------
        iterator of tuples of int

        Raises
        ------
        IndexError
            If the block of chunks reaches beyond the grid.
        """
        return cells(block_of(self.grid_shape, origin, selection_shape))

    def iter_chunk_regions(
        self, *, origin: Sequence[int] | None = None, selection_shape: Sequence[int] | None = None
    ) -> Iterator[tuple[slice, ...]]:
        """Iterate over the parts of the array in the chunks; parameters as `all_chunk_coords`.

        Parameters
        ----------
        origin : Sequence[int] or None
            Coordinates of the first chunk; by default the first of the grid.
        selection_shape : Sequence[int] or None
            Number of chunks along each axis; by default all following ones.
        """
        for coords in self.all_chunk_coords(origin=origin, selection_shape=selection_shape):
            spec = self[coords]
            if spec is not None:
                yield spec.slices

    def update_shape(self, new_shape: tuple[int, ...]) -> ChunkGrid:
        """Return the grid of the array after a resize.

        Parameters
        ----------
        new_shape : tuple[int, ...]
            The new shape of the array.

        Returns
        -------
        ChunkGrid

        Raises
        ------
        ValueError
            If the shape has another number of dimensions.
        """
        if len(new_shape) != self.ndim:
            raise ValueError(f"new_shape has {len(new_shape)} dimensions but chunk grid has {self.ndim} dimensions")
        return ChunkGrid(dimensions=tuple([dim.resize(n) for dim, n in zip(self._dimensions, new_shape)]))

    def to_core(self, shape: tuple[int, ...] | None = None) -> zarr_core.Grid:
        """Return the grid of the compiled core, for the array of this shape or of shape ``shape``.

        Parameters
        ----------
        shape : tuple[int, ...] or None
            The shape of the array. Default: that of the grid.

        Returns
        -------
        zarr_core.Grid
        """
        return core_grid(self._dimensions if shape is None else self.update_shape(shape)._dimensions)


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
