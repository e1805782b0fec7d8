"""A chunk grid over an array of known shape: its chunks, in the order of its axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import zarr_core
from zarr._records import record, set_values
from zarr.chunks.dimensions import DimensionGrid, FixedDimension, core_grid, make_dimension
from zarr.chunks.shapes import block_of, cells, parse_shape


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
