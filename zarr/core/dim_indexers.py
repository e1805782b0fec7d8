"""Selections of one axis cut into chunks, under the names of ``zarr.core.indexing``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import zarr_core
from zarr.chunks import ChunkGrid, DimensionGrid
from zarr.errors import BoundsCheckError


class ChunkDimProjection(NamedTuple):
    """How one chunk of an axis and a selection meet.

    Parameters
    ----------
    dim_chunk_ix : int
        Which chunk.
    dim_chunk_sel : int, slice or array
        What of the chunk is selected.
    dim_out_sel : slice, array or None
        Where that lies in the result; None for a single element.
    is_complete_chunk : bool
        Whether all of the chunk that lies in the array is selected.
    """

    dim_chunk_ix: int
    dim_chunk_sel: Any
    dim_out_sel: Any
    is_complete_chunk: bool


class DimIndexer:
    """A selection of one axis, chunk by chunk.

    Parameters
    ----------
    dim_sel
        Of the kind that the class is for.
    dim_len : int
    dim_grid : DimensionGrid

    Attributes
    ----------
    nitems : int
        How many elements are selected.
    nchunks : int
        How many chunks the axis has.

    Examples
    --------
    >>> from zarr.core.chunk_grids import ChunkGrid
    >>> (axis,) = ChunkGrid.from_sizes((10,), (4,)).dimensions
    >>> [part.dim_chunk_sel for part in SliceDimIndexer(slice(3, 6), 10, axis)]
    [slice(3, 4, 1), slice(0, 2, 1)]
    """

    def __init__(self, dim_sel: Any, dim_len: int, dim_grid: DimensionGrid) -> None:
        self.dim_sel, self.dim_len, self.dim_grid = dim_sel, dim_len, dim_grid
        self.nchunks = dim_grid.nchunks
        self._plan = zarr_core.plan_orthogonal(core_axis(dim_grid), dim_sel)
        self.nitems = int(np.prod(self._plan.shape, dtype=object))

    def __iter__(self) -> Iterator[ChunkDimProjection]:
        for i in range(self._plan.nslots):
            slot = self._plan.slot(i)
            out = self._of_result(slot.out_selection[0]) if slot.out_selection else None
            yield ChunkDimProjection(slot.coords[0], self._of_chunk(slot), out, slot.whole)

    def _of_result(self, place: Any) -> Any:
        return as_run(place)

    def _of_chunk(self, slot: Any) -> Any:
        return slot.chunk_selection[0]


class SliceDimIndexer(DimIndexer):
    """A slice of an axis."""

    def __init__(self, dim_sel: slice, dim_len: int, dim_grid: DimensionGrid) -> None:
        self.start, self.stop, self.step = dim_sel.indices(dim_len)
        super().__init__(dim_sel, dim_len, dim_grid)


class IntDimIndexer(DimIndexer):
    """One element of an axis."""

    def __init__(self, dim_sel: int, dim_len: int, dim_grid: DimensionGrid) -> None:
        if not -dim_len <= dim_sel < dim_len:
            raise BoundsCheckError(f"index {dim_sel} is out of bounds for dimension with length {dim_len}")
        super().__init__(dim_sel, dim_len, dim_grid)


class IntArrayDimIndexer(DimIndexer):
    """Elements of an axis by an array of their indices, in any order."""

    def __init__(self, dim_sel: npt.NDArray[np.intp], dim_len: int, dim_grid: DimensionGrid) -> None:
        indices = np.asarray(dim_sel)
        if indices.size and (indices.min() < -dim_len or indices.max() >= dim_len):
            raise BoundsCheckError(f"index out of bounds for dimension with length {dim_len}")
        self._increasing = is_increasing(indices)
        super().__init__(indices, dim_len, dim_grid)

    def _of_result(self, place: Any) -> Any:
        return as_run(place) if self._increasing else as_indices(place)

    def _of_chunk(self, slot: Any) -> Any:
        return as_indices(slot.chunk_selection[0])


class BoolArrayDimIndexer(DimIndexer):
    """Elements of an axis by a mask of it; what is selected of a chunk is a mask of its full length."""

    def __init__(self, dim_sel: npt.NDArray[np.bool_], dim_len: int, dim_grid: DimensionGrid) -> None:
        mask = np.asarray(dim_sel)
        if mask.shape != (dim_len,):
            raise IndexError(
                f"Boolean array has the wrong length for dimension; expected {dim_len}, got {mask.shape[0]}"
            )
        super().__init__(mask, dim_len, dim_grid)

    def _of_chunk(self, slot: Any) -> Any:
        mask = np.zeros(slot.chunk_shape[0], dtype=bool)
        mask[slot.chunk_selection[0]] = True
        return mask


def is_increasing(indices: npt.NDArray[Any]) -> bool:
    """Whether no index is smaller than the one before: then what each chunk gives lies together in the result."""
    return bool(np.all(indices[1:] >= indices[:-1]))


def as_run(place: Any) -> Any:
    """Places that follow one upon another, as a slice without a step; any others as they are."""
    if isinstance(place, slice):
        return slice(place.start, place.stop) if place.step in (None, 1) else place
    if not len(place) or np.any(np.diff(place) != 1):
        return place
    return slice(int(place[0]), int(place[-1]) + 1)


def as_indices(place: Any) -> npt.NDArray[np.intp]:
    """Places as an array, whatever they are written as."""
    if isinstance(place, slice):
        return np.arange(place.start, place.stop, place.step or 1, dtype=np.intp)
    return np.atleast_1d(np.asarray(place, dtype=np.intp))


def core_axis(dim_grid: DimensionGrid) -> zarr_core.Grid:
    """The grid of the core that has this one axis."""
    return ChunkGrid(dimensions=(dim_grid,)).to_core()


__all__ = [
    "BoolArrayDimIndexer",
    "ChunkDimProjection",
    "IntArrayDimIndexer",
    "IntDimIndexer",
    "SliceDimIndexer",
]
