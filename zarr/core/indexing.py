"""Indexers: a selection as one projection for each chunk, by the plans of ``zarr_core``.

Needed by tifffile (`BasicIndexer`), cubed (`OrthogonalIndexer`) and zarrs (`is_integer`).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import zarr_core
from zarr.arrays.io import selection as selections
from zarr.arrays.io.selection import expand_ellipsis
from zarr.arrays.io.selection import is_integer_list as is_integer_list
from zarr.arrays.io.selection import pop_fields as pop_fields
from zarr.arrays.methods.indexers import AsyncOIndex as AsyncOIndex
from zarr.arrays.methods.indexers import AsyncVIndex as AsyncVIndex
from zarr.arrays.methods.indexers import BlockIndex as BlockIndex
from zarr.arrays.methods.indexers import OIndex as OIndex
from zarr.arrays.methods.indexers import VIndex as VIndex
from zarr.chunks import ChunkGrid, DimensionGrid
from zarr.chunks.shapes import block_of, cells
from zarr.core import borrowed_names
from zarr.errors import BoundsCheckError, FieldsError, err_too_many_indices
from zarr.types import SelectorTuple as SelectorTuple

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)


class ChunkDimProjection(NamedTuple):
    """The intersection of one chunk of an axis and a selection.

    Parameters
    ----------
    dim_chunk_ix : int
        The chunk.
    dim_chunk_sel : int, slice or array
        The selection within the chunk.
    dim_out_sel : slice, array or None
        The place in the result; None for a single element.
    is_complete_chunk : bool
        True if all of the chunk that lies in the array is selected.
    """

    dim_chunk_ix: int
    dim_chunk_sel: Any
    dim_out_sel: Any
    is_complete_chunk: bool


class DimIndexer:
    """The selection of one axis, chunk by chunk.

    Parameters
    ----------
    dim_sel
        A selection of the kind of the class.
    dim_len : int
    dim_grid : DimensionGrid

    Attributes
    ----------
    nitems : int
        The number of selected elements.
    nchunks : int
        The number of chunks of the axis.

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
    """The indexer of a slice."""

    def __init__(self, dim_sel: slice, dim_len: int, dim_grid: DimensionGrid) -> None:
        self.start, self.stop, self.step = dim_sel.indices(dim_len)
        super().__init__(dim_sel, dim_len, dim_grid)


class IntDimIndexer(DimIndexer):
    """The indexer of one element."""

    def __init__(self, dim_sel: int, dim_len: int, dim_grid: DimensionGrid) -> None:
        normalize_integer_selection(dim_sel, dim_len)  # raises an error for one outside
        super().__init__(dim_sel, dim_len, dim_grid)


class IntArrayDimIndexer(DimIndexer):
    """The indexer of an array of indices, in any order."""

    def __init__(self, dim_sel: npt.NDArray[np.intp], dim_len: int, dim_grid: DimensionGrid) -> None:
        indices = np.asarray(dim_sel)
        boundscheck_indices(wraparound_indices(indices, dim_len), dim_len)
        self._increasing = is_increasing(indices)
        super().__init__(indices, dim_len, dim_grid)

    def _of_result(self, place: Any) -> Any:
        return as_run(place) if self._increasing else as_indices(place)

    def _of_chunk(self, slot: Any) -> Any:
        return as_indices(slot.chunk_selection[0])


class BoolArrayDimIndexer(DimIndexer):
    """The indexer of a mask of the axis; the selection of a chunk is a mask of its full length."""

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
    """Return True if no index is smaller than the one before, so that chunks fill runs of the result."""
    return bool(np.all(indices[1:] >= indices[:-1]))


def as_run(place: Any) -> Any:
    """Return consecutive indices as a slice without a step, any others unchanged."""
    if isinstance(place, slice):
        return slice(place.start, place.stop) if place.step in (None, 1) else place
    if not len(place) or np.any(np.diff(place) != 1):
        return place
    return slice(int(place[0]), int(place[-1]) + 1)


def as_indices(place: Any) -> npt.NDArray[np.intp]:
    """Return a slice, an index or a sequence of indices as an array."""
    if isinstance(place, slice):
        return np.arange(place.start, place.stop, place.step or 1, dtype=np.intp)
    return np.atleast_1d(np.asarray(place, dtype=np.intp))


def core_axis(dim_grid: DimensionGrid) -> zarr_core.Grid:
    """Return the grid of the core that has this one axis."""
    return ChunkGrid(dimensions=(dim_grid,)).to_core()


Selector: TypeAlias = Any
BasicSelection: TypeAlias = Any
CoordinateSelection: TypeAlias = Any
MaskSelection: TypeAlias = Any
OrthogonalSelection: TypeAlias = Any
Selection: TypeAlias = Any
SelectionWithFields: TypeAlias = Any
Fields: TypeAlias = str | list[str]
_ArrayIndexingOrder: TypeAlias = Literal["lexicographic"]


class ChunkProjection(NamedTuple):
    """The intersection of one chunk and the whole selection.

    Parameters
    ----------
    chunk_coords : tuple of int
        The chunk.
    chunk_selection : tuple
        The selection within the chunk.
    out_selection : tuple
        The place in the result.
    is_complete_chunk : bool
        True if all of the chunk that lies in the array is selected.
    """

    chunk_coords: tuple[int, ...]
    chunk_selection: Any
    out_selection: Any
    is_complete_chunk: bool


class Indexer:
    """The selection of an array, chunk by chunk.

    Parameters
    ----------
    selection
        A selection of the kind of the class.
    shape : tuple of int
        The shape of the array.
    chunk_grid : ChunkGrid, or the metadata of one

    Attributes
    ----------
    shape : tuple of int
        The shape of the result.
    drop_axes : tuple of int
        Always empty: the selections of integers drop their axes themselves.
    """

    drop_axes: tuple[int, ...] = ()

    def __init__(self, selection: Any, shape: Sequence[int], chunk_grid: Any) -> None:
        self.chunk_grid = chunk_grid
        self.plan = self._plan(core_grid(chunk_grid, tuple(shape)), selection)
        self.shape: tuple[int, ...] = tuple(self.plan.shape)

    def _plan(self, grid: zarr_core.Grid, selection: Any) -> zarr_core.Plan:
        return zarr_core.plan_basic(grid, selection)

    def __iter__(self) -> Iterator[ChunkProjection]:
        for i in range(self.plan.nslots):
            slot = self.plan.slot(i)
            yield ChunkProjection(slot.coords, slot.chunk_selection, self._place(slot.out_selection), slot.whole)

    def _place(self, out_selection: tuple[Any, ...]) -> Any:
        return out_selection

    def __len__(self) -> int:
        return int(self.plan.nslots)


class BasicIndexer(Indexer):
    """The indexer of integers and slices.

    Examples
    --------
    >>> from zarr.core.chunk_grids import ChunkGrid
    >>> indexer = BasicIndexer((slice(2, 5),), (10,), ChunkGrid.from_sizes((10,), (4,)))
    >>> [projection.chunk_coords for projection in indexer]
    [(0,), (1,)]
    """


class OrthogonalIndexer(Indexer):
    """The indexer of one selection for each axis: integers, slices, arrays of integers or of booleans."""

    def _plan(self, grid: zarr_core.Grid, selection: Any) -> zarr_core.Plan:
        return zarr_core.plan_orthogonal(grid, selection)


class _PointIndexer(Indexer):
    _increasing = True

    def _place(self, out_selection: tuple[Any, ...]) -> Any:
        if len(out_selection) != 1:
            return out_selection
        (place,) = out_selection
        return as_run(place) if self._increasing else as_indices(place)


class CoordinateIndexer(_PointIndexer):
    """The indexer of points, by one array of coordinates for each axis."""

    def _plan(self, grid: zarr_core.Grid, selection: Any) -> zarr_core.Plan:
        coords = tuple(np.asarray(item) for item in ensure_tuple(selection))
        self._increasing = len(coords) == 1 and coords[0].ndim == 1 and is_increasing(coords[0])
        return zarr_core.plan_points(grid, coords)

    def __iter__(self) -> Iterator[ChunkProjection]:
        for part in super().__iter__():
            yield part._replace(chunk_selection=tuple(as_indices(places) for places in part.chunk_selection))


class MaskIndexer(_PointIndexer):
    """The indexer of a mask that has the shape of the array."""

    def _plan(self, grid: zarr_core.Grid, selection: Any) -> zarr_core.Plan:
        (mask,) = ensure_tuple(selection)
        return zarr_core.plan_mask(grid, np.asarray(mask))


class BlockIndexer(Indexer):
    """The indexer of whole chunks, by their coordinates."""

    def _plan(self, grid: zarr_core.Grid, selection: Any) -> zarr_core.Plan:
        return zarr_core.plan_blocks(grid, selection)


def core_grid(chunk_grid: Any, shape: tuple[int, ...]) -> zarr_core.Grid:
    """Return the grid of the core for any kind of chunk grid."""
    if isinstance(chunk_grid, zarr_core.Grid):
        return chunk_grid
    grid: zarr_core.Grid = chunk_grid.to_core(shape)
    return grid


def get_indexer(selection: Any, shape: tuple[int, ...], chunk_grid: Any) -> Indexer:
    """Return the indexer that fits a selection.

    Parameters
    ----------
    selection
    shape : tuple of int
    chunk_grid : ChunkGrid

    Returns
    -------
    Indexer

    Examples
    --------
    >>> from zarr.core.chunk_grids import ChunkGrid
    >>> type(get_indexer(slice(3), (10,), ChunkGrid.from_sizes((10,), (4,)))).__name__
    'BasicIndexer'
    """
    _, plain = pop_fields(selection)
    if is_pure_fancy_indexing(plain, len(shape)):
        items = ensure_tuple(plain)
        if len(items) == 1 and is_bool_array(items[0]) and np.ndim(items[0]) == len(shape):
            return MaskIndexer(items[0], shape, chunk_grid)
        return CoordinateIndexer(items, shape, chunk_grid)
    if is_pure_orthogonal_indexing(plain, len(shape)):
        return OrthogonalIndexer(plain, shape, chunk_grid)
    return BasicIndexer(plain, shape, chunk_grid)


# --------------------------------------------------------------------------------------- small checks


def ensure_tuple(v: Any) -> tuple[Any, ...]:
    """Return a selection as a tuple."""
    return v if isinstance(v, tuple) else (v,)


def is_integer(x: Any) -> bool:
    """Return True for an integer; a boolean is none.

    Examples
    --------
    >>> is_integer(3), is_integer(np.int64(3)), is_integer(True)
    (True, True, False)
    """
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def is_slice(s: Any) -> bool:
    """Return True for a slice."""
    return isinstance(s, slice)


def is_bool(x: Any) -> bool:
    """Return True for a boolean."""
    return isinstance(x, bool | np.bool_)


def is_bool_list(x: Any) -> bool:
    """Return True for a list of booleans that is not empty."""
    return isinstance(x, list) and len(x) > 0 and all(is_bool(item) for item in x)


def is_int_or_bool_iterable(x: Any) -> bool:
    """Return True for an array or a list of integers or booleans."""
    return is_integer_list(x) or is_integer_array(x) or is_bool_array(x) or is_bool_list(x)


def is_total_slice(item: Any, shape: Sequence[int]) -> bool:
    """Return True if the slices select all of a shape."""
    items = (item,) if isinstance(item, slice) else item
    if items is Ellipsis:
        return True
    return len(items) == len(shape) and all(
        isinstance(part, slice) and part.indices(length) == (0, length, 1)
        for part, length in zip(items, shape, strict=True)
    )


def is_basic_selection(selection: Any) -> bool:
    """Return True if a selection consists of integers, slices and an ellipsis."""
    return all(is_integer(item) or isinstance(item, slice) or item is Ellipsis for item in ensure_tuple(selection))


def is_pure_fancy_indexing(selection: Any, ndim: int) -> bool:
    """Return True if a selection is of points: an array of indices for every axis, or a mask of all axes."""
    if is_bool_array(selection) and np.ndim(selection) == ndim:
        return True
    if ndim == 1 and (is_integer_list(selection) or is_integer_array(selection) or is_bool_list(selection)):
        return True
    items = ensure_tuple(selection)
    if len(items) != ndim or any(isinstance(item, slice) or item is Ellipsis for item in items):
        return False
    return any(not is_integer(item) for item in items) and all(
        is_integer(item) or is_integer_list(item) or is_integer_array(item) for item in items
    )


def is_pure_orthogonal_indexing(selection: Any, ndim: int) -> bool:
    """Return True if one axis has an array of indices and the others have integers or slices."""
    if not selection:
        return False
    items = ensure_tuple(selection)
    arrays = sum(is_int_or_bool_iterable(item) for item in items)
    others = all(is_int_or_bool_iterable(item) or is_integer(item) or isinstance(item, slice) for item in items)
    return len(items) == ndim and arrays == 1 and others


def replace_ellipsis(selection: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """Replace the ellipsis and missing axes by slices; raise IndexError for two ellipses or too many indices."""
    return expand_ellipsis(ensure_tuple(selection), len(shape))


def normalize_integer_selection(dim_sel: int, dim_len: int) -> int:
    """Return an index counted from the start; BoundsCheckError if it lies outside."""
    index = operator.index(dim_sel)
    if not -dim_len <= index < dim_len:
        raise BoundsCheckError(f"index {index} is out of bounds for dimension with length {dim_len}")
    return index % dim_len if dim_len else index


def slice_to_range(s: slice, length: int) -> range:
    """Return the indices that a slice selects of a length."""
    return range(*s.indices(length))


def boundscheck_indices(x: Any, dim_len: int) -> None:
    """Raise BoundsCheckError if an index lies outside."""
    if np.any(x < 0) or np.any(x >= dim_len):
        raise BoundsCheckError(f"index out of bounds for dimension with length {dim_len}")


def wraparound_indices(x: Any, dim_len: int) -> Any:
    """Return indices counted from the start."""
    return np.where(x < 0, x + dim_len, x)


def make_slice_selection(selection: Any) -> list[slice]:
    """Return slices for integers and one-element lists; ValueError for anything else."""
    slices = []
    for item in ensure_tuple(selection):
        if isinstance(item, slice):
            slices.append(item)
        elif is_integer(item):
            slices.append(slice(int(item), int(item) + 1, 1))
        elif isinstance(item, list | np.ndarray) and len(item) == 1:
            slices.append(slice(int(item[0]), int(item[0]) + 1, 1))
        else:
            raise ValueError(f"no slice can be made of {item!r}")
    return slices


def ix_(selection: Any, shape: Sequence[int]) -> Any:
    """Return the index arrays with which numpy selects axis by axis."""
    full = []
    for item, length in zip(replace_ellipsis(selection, shape), shape, strict=True):
        if isinstance(item, slice):
            full.append(np.arange(*item.indices(length)))
        elif is_integer(item):
            full.append(np.array([int(item)]))
        else:
            indices = np.asarray(item)
            full.append(np.nonzero(indices)[0] if indices.dtype == bool else indices)
    return np.ix_(*full)


def oindex(a: Any, selection: Any) -> Any:
    """Select from a numpy array axis by axis."""
    items = replace_ellipsis(selection, a.shape)
    drop = tuple(axis for axis, item in enumerate(items) if is_integer(item))
    found = a[ix_(items, a.shape)]
    return found.squeeze(axis=drop) if drop else found


def oindex_set(a: Any, selection: Any, value: Any) -> None:
    """Assign to a numpy array axis by axis."""
    items = replace_ellipsis(selection, a.shape)
    drop = tuple(axis for axis, item in enumerate(items) if is_integer(item))
    if not np.isscalar(value) and drop:
        value = np.expand_dims(np.asarray(value), drop)
    a[ix_(items, a.shape)] = value


def iter_grid(
    grid_shape: Sequence[int],
    *,
    origin: Sequence[int] | None = None,
    selection_shape: Sequence[int] | None = None,
    order: _ArrayIndexingOrder = "lexicographic",
) -> Iterator[tuple[int, ...]]:
    """Iterate over the coordinates of a block of a grid, the last axis fastest.

    Parameters
    ----------
    grid_shape : sequence of int
    origin : sequence of int, optional
        The first cell of the block; by default the first of the grid.
    selection_shape : sequence of int, optional
        The number of cells along each axis; by default all following ones.
    order : "lexicographic"

    Raises
    ------
    IndexError
        The block reaches beyond the grid.
    ValueError
        The numbers of dimensions differ, or the order is another one.

    Examples
    --------
    >>> list(iter_grid((2, 3), origin=(1, 1)))
    [(1, 1), (1, 2)]
    """
    if order != "lexicographic":
        raise ValueError(f"a grid is gone over in the order 'lexicographic'; got {order!r}")
    return cells(block_of(grid_shape, origin, selection_shape))


def iter_regions(
    domain_shape: Sequence[int],
    region_shape: Sequence[int],
    *,
    origin: Sequence[int] | None = None,
    selection_shape: Sequence[int] | None = None,
    order: _ArrayIndexingOrder = "lexicographic",
    trim_excess: bool = True,
) -> Iterator[tuple[slice, ...]]:
    """Iterate over the regions of one shape that cover a domain; ``trim_excess`` clips the last ones.

    Examples
    --------
    >>> list(iter_regions((5,), (3,)))
    [(slice(0, 3, 1),), (slice(3, 5, 1),)]
    """
    counts = tuple(-(-length // size) for length, size in zip(domain_shape, region_shape, strict=True))
    for coords in iter_grid(counts, origin=origin, selection_shape=selection_shape, order=order):
        stops = ((i + 1) * size for i, size in zip(coords, region_shape, strict=True))
        if trim_excess:
            stops = (min(stop, length) for stop, length in zip(stops, domain_shape, strict=True))
        yield tuple(slice(i * n, stop, 1) for i, n, stop in zip(coords, region_shape, stops, strict=True))


def decode_morton(z: int, chunk_shape: Sequence[int]) -> tuple[int, ...]:
    """Return the coordinates at position ``z`` of the Z-curve, whose bits go to the axes in turn."""
    bits = [max(length - 1, 0).bit_length() for length in chunk_shape]
    coords = [0] * len(bits)
    taken = 0
    for level in range(max(bits, default=0)):
        for axis, width in enumerate(bits):
            if level < width:
                coords[axis] |= ((z >> taken) & 1) << level
                taken += 1
    return tuple(coords)


@functools.lru_cache(maxsize=16)
def morton_order(shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the coordinates of all chunks of a grid along the Z-curve, as rows of a read-only array."""
    return _frozen(np.array(zarr_core.morton_order(shape), dtype=np.intp).reshape(math.prod(shape), len(shape)))


@functools.lru_cache(maxsize=16)
def lexicographic_order(shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the coordinates of all chunks of a grid, the last axis fastest, as rows of a read-only array."""
    return _frozen(np.indices(shape, dtype=np.intp).reshape(len(shape), math.prod(shape)).T)


def _frozen(rows: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return an array that many callers share."""
    rows.flags.writeable = False
    return rows


@functools.lru_cache(maxsize=16)
def morton_order_coords(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the coordinates of all chunks of a grid along the Z-curve."""
    return tuple(tuple(row) for row in morton_order(shape).tolist())


@functools.lru_cache(maxsize=16)
def lexicographic_order_coords(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the coordinates of all chunks of a grid, the last axis fastest."""
    return tuple(tuple(row) for row in lexicographic_order(shape).tolist())


def colexicographic_order_coords(shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the coordinates of all chunks of a grid, the first axis fastest."""
    return tuple(coords[::-1] for coords in np.ndindex(*tuple(shape)[::-1]))


# ------------------------------------------------------------------------------------------------ kinds of selections


def is_integer_array(x: Any, ndim: int | None = None) -> bool:
    """Return True for an array of integers, of a number of dimensions if one is given.

    Examples
    --------
    >>> is_integer_array(np.arange(3)), is_integer_array(np.arange(3), ndim=2)
    (True, False)
    """
    return selections.is_integer_array(x) and ndim in (None, np.ndim(x))


def is_bool_array(x: Any, ndim: int | None = None) -> bool:
    """Return True for an array of booleans, of a number of dimensions if one is given."""
    return selections.is_bool_array(x) and ndim in (None, np.ndim(x))


def is_positive_slice(s: Any) -> bool:
    """Return True for a slice that goes up.

    Examples
    --------
    >>> is_positive_slice(slice(0, 9, 2)), is_positive_slice(slice(9, 0, -1))
    (True, False)
    """
    return isinstance(s, slice) and (s.step is None or s.step >= 1)


def is_contiguous_slice(s: Any) -> bool:
    """Return True for a slice of neighbours."""
    return isinstance(s, slice) and s.step in (None, 1)


def is_contiguous_selection(selection: Any) -> bool:
    """Return True if all parts are slices of neighbours, or an ellipsis.

    Examples
    --------
    >>> is_contiguous_selection((slice(0, 9), ...)), is_contiguous_selection((slice(0, 9), 3))
    (True, False)
    """
    items = selection if isinstance(selection, tuple) else (selection,)
    return all(item is Ellipsis or is_contiguous_slice(item) for item in items)


def is_coordinate_selection(selection: Any, shape: Sequence[int]) -> bool:
    """Return True for a tuple of an integer or an array of integers for each axis.

    Examples
    --------
    >>> is_coordinate_selection((np.array([0, 2]), 1), (4, 4)), is_coordinate_selection((1,), (4, 4))
    (True, False)
    """
    if not isinstance(selection, tuple) or len(selection) != len(shape):
        return False
    return all(selections.is_integer(item) or is_integer_array(item) for item in selection)


def is_mask_selection(selection: Any, shape: Sequence[int]) -> bool:
    """Return True for a tuple with one array of booleans, of the shape of the array."""
    if not isinstance(selection, tuple) or len(selection) != 1:
        return False
    return is_bool_array(selection[0]) and np.shape(selection[0]) == tuple(shape)


def is_scalar(value: Any, dtype: Any) -> bool:
    """Return True for one element: a scalar, or a tuple with a value for each field of a record.

    Examples
    --------
    >>> is_scalar(1.5, None), is_scalar([1], None)
    (True, False)
    """
    if np.isscalar(value) or getattr(value, "shape", None) == ():
        return True
    return isinstance(value, tuple) and len(getattr(dtype, "names", None) or ()) == len(value)


def replace_lists(selection: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the selection with arrays in place of lists."""
    return tuple([np.asarray(item) if isinstance(item, list) else item for item in selection])


def check_selection_length(selection: Sequence[Any], shape: tuple[int, ...]) -> None:
    """Raise an IndexError if a selection has more parts than the array has axes."""
    if len(selection) > len(shape):
        err_too_many_indices(selection, shape)


def check_fields(fields: Fields | None, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a selection of fields; raise an IndexError if the array has no such fields.

    Examples
    --------
    >>> check_fields("a", np.dtype([("a", "i4"), ("b", "f8")]))
    dtype('int32')
    """
    return selections.field_dtype(dtype, fields) if fields else dtype


def check_no_multi_fields(fields: Fields | None) -> Fields | None:
    """Return the name of a single field; raise an IndexError for several."""
    if isinstance(fields, list):
        if len(fields) > 1:
            raise FieldsError("multiple fields are not supported for this operation")
        return fields[0] if fields else fields
    return fields


_iter_grid, _iter_regions = iter_grid, iter_regions
_morton_order, _lexicographic_order = morton_order, lexicographic_order
