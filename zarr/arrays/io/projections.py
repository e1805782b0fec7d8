"""Read what an indexer of zarr-python selects: one part for each chunk.

Needed by programs that define an indexer of their own, to read many ranges as one operation (anndata, annbatch).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.read_many import read_many_steps
from zarr.arrays.io.reading import checked_out, project, wants_pipeline
from zarr.arrays.io.selection import Fields, field_dtype
from zarr.buffer.core import BufferPrototype, NDBuffer
from zarr.chunks.grid import DimensionGrid
from zarr.dtype.base import empty_array
from zarr.steps.requests import Steps

Ndarray = np.ndarray[Any, Any]


class Part(NamedTuple):
    """What an indexer selects of one chunk."""

    box: tuple[slice, ...]
    """The smallest box of the array that holds it."""
    within: tuple[Any, ...]
    """The selection in that box."""
    place: tuple[Any, ...]
    """The place in the result."""

    def target(self, result: Ndarray) -> Ndarray | None:
        """Return the part of the result that receives the whole box; None if it is no box there."""
        runs = all(isinstance(entry, slice) for entry in (*self.within, *self.place))
        whole = runs and self.within == (slice(None),) * len(self.box)
        return result[(*self.place, ...)] if whole else None


def read_indexer_steps(
    handle: ArrayHandle,
    indexer: Any,
    *,
    out: NDBuffer | Ndarray | None = None,
    fields: Fields = None,
    prototype: BufferPrototype | None = None,
) -> Steps[Any]:
    """Read the projections of an indexer; chunks that several of them need are fetched once.

    Parameters
    ----------
    handle
        The array.
    indexer
        Its ``shape`` and ``drop_axes``, and as items for each chunk: its coordinates, the selection within it, and the
        place in the result.
    out
        The array that receives the result.
    fields
        The fields of a structured data type to read.
    prototype
        The classes that hold the result.

    Returns
    -------
    The elements; a scalar for a result without dimensions.
    """
    layout, fields = handle.state.layout, fields or None
    shape = tuple(indexer.shape)
    dtype = field_dtype(layout.dtype, fields)
    data = empty_array(shape, dtype, layout.order) if out is None else checked_out(out, shape)
    grid = handle.state.chunk_grid.dimensions
    parts = [_part(projection, grid) for projection in indexer]
    direct = fields is None and data.dtype == layout.dtype and not indexer.drop_axes
    targets = [part.target(data) if direct else None for part in parts]
    boxes = yield from read_many_steps([(handle, part.box) for part in parts], targets)
    for part, target, box in zip(parts, targets, boxes, strict=True):
        if target is None:
            found = box[part.within] if fields is None else project(box, fields)[part.within]
            data[part.place] = np.squeeze(found, axis=indexer.drop_axes) if indexer.drop_axes else found
    if out is None and prototype is not None and wants_pipeline(prototype):
        return prototype.nd_buffer.from_numpy_array(data).as_ndarray_like()
    return data if shape else data[()]


def _part(projection: Any, grid: tuple[DimensionGrid, ...]) -> Part:
    coords, selection, place, *_ = projection
    axes = [_axis(entry, chunk, axis) for entry, chunk, axis in zip(_items(selection), coords, grid, strict=True)]
    return Part(tuple(box for box, _ in axes), tuple(within for _, within in axes), _items(place))


def _items(selection: Any) -> tuple[Any, ...]:
    return selection if isinstance(selection, tuple) else (selection,)


def _axis(entry: Any, chunk: int, axis: DimensionGrid) -> tuple[slice, Any]:
    """Return the run of an axis that holds a selection within a chunk, and the selection within that run."""
    start, length = axis.chunk_offset(chunk), axis.data_size(chunk)
    if isinstance(entry, slice):
        first, stop, step = entry.indices(length)
        if step == 1:
            return slice(start + first, start + max(first, stop)), slice(None)
    elif isinstance(entry, int | np.integer):
        return slice(start + int(entry), start + int(entry) + 1), 0
    elif np.size(entry):
        indices = np.flatnonzero(entry) if np.asarray(entry).dtype == bool else np.asarray(entry)
        if indices.size:
            least = int(np.min(indices))
            return slice(start + least, start + int(np.max(indices)) + 1), indices - least
        return slice(start, start), indices
    return slice(start, start + length), entry
