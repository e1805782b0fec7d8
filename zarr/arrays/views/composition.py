"""Selections of selections: pure functions on numbers, with no array and no store.

A composed selection has for each axis of the stored array one integer, one ``range``, or one array of indices; and for
each axis of the view the axis of the stored array that it follows. Python's ``range`` computes slices of slices, also
with negative steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr.arrays.io.selection import as_items, expand_ellipsis, index_array, is_integer
from zarr.chunks.normalize import is_regular_1d
from zarr.errors import BoundsCheckError

Index = int | range | NDArray[np.int64]
"""The selection along one axis: one element (the axis is gone), a regular row of elements, or any list of them."""


@dataclass(frozen=True, eq=False)
class ViewSelection:
    """The part of a stored array that a view selects.

    Parameters
    ----------
    items : tuple of int, range or array
        One for each axis of the stored array; no number is negative, all lie inside.
    axes : tuple of int
        For each axis of the view, the axis of the stored array.
    """

    items: tuple[Index, ...]
    axes: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the view."""
        return tuple(len(self.along(axis)) for axis in range(len(self.axes)))

    def along(self, axis: int) -> range | NDArray[np.int64]:
        """Return the selection of an axis of the view on its axis of the stored array."""
        index = self.items[self.axes[axis]]
        assert not isinstance(index, int)
        return index


def whole(shape: Sequence[int]) -> ViewSelection:
    """Return the selection of all elements.

    Examples
    --------
    >>> whole((4, 6)).shape
    (4, 6)
    """
    return ViewSelection(tuple(range(n) for n in shape), tuple(range(len(shape))))


def compose(outer: ViewSelection, selection: Any, *, orthogonal: bool = False) -> ViewSelection:
    """Select from a selection.

    Parameters
    ----------
    outer : ViewSelection
    selection : int, slice, Ellipsis, list, array of integers or booleans, or a tuple of them
        Slices may have a negative step.
    orthogonal : bool
        If True, several index arrays may stand side by side, each for its own axis.

    Raises
    ------
    IndexError
        If an item is of no supported kind, or there are too many items; or for several index arrays without
        ``orthogonal``, which NumPy would take for points.
    BoundsCheckError
        If an index lies outside its axis.

    Examples
    --------
    >>> compose(compose(whole((10,)), slice(8, None, -2)), slice(1, 3)).items
    (range(6, 2, -2),)
    """
    given = expand_ellipsis(as_items(selection), len(outer.axes))
    if not orthogonal and sum(_is_array(item) for item in given) > 1:
        raise IndexError("several index arrays in one view: write .oindex[...] where each is for its own axis")
    items, axes = list(outer.items), []
    for axis, (base, item) in enumerate(zip(outer.axes, given, strict=True)):
        items[base] = narrow(outer.along(axis), item, axis)
        if not isinstance(items[base], int):
            axes.append(base)
    return ViewSelection(tuple(items), tuple(axes))


def permute(outer: ViewSelection, axes: Sequence[int] | None = None) -> ViewSelection:
    """Put the axes of a view in another order; without ``axes``, in reverse.

    Raises
    ------
    ValueError
        If ``axes`` does not contain each axis once.

    Examples
    --------
    >>> permute(whole((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    ndim = len(outer.axes)
    order = tuple(reversed(range(ndim))) if axes is None else tuple(a + ndim if a < 0 else a for a in axes)
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"axes {tuple(axes or ())} do not name each of the {ndim} axes of the view once")
    return ViewSelection(outer.items, tuple(outer.axes[a] for a in order))


def _is_array(item: Any) -> bool:
    return isinstance(item, list) or (hasattr(item, "dtype") and not np.isscalar(item))


def narrow(index: range | NDArray[np.int64], item: Any, axis: int) -> Index:
    """Select along one axis from an existing selection of that axis.

    Parameters
    ----------
    index : range or array
    item : int, slice, list or array
    axis : int
        The number of the axis, for messages.
    """
    if is_integer(item):
        _check_bounds(np.asarray(item), len(index), axis)
        return int(index[int(item)])
    if isinstance(item, slice):
        return index[item]
    if _is_array(item):
        return picked(index, positions(index_array(np.asarray(item), len(index)), len(index), axis))
    raise IndexError(
        f"unsupported selection item for a view; expected integer, slice, integer array or Boolean array, "
        f"got {type(item)!r}"
    )


def positions(array: NDArray[Any], length: int, axis: int) -> NDArray[np.int64]:
    """Return an index array as checked places from the front; a boolean one as the places of True."""
    if array.dtype.kind == "b":
        return np.flatnonzero(array)
    _check_bounds(array, length, axis)
    array = array.astype(np.int64)
    return np.where(array < 0, array + length, array)


def picked(index: Index, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the elements of an axis selection at some places."""
    if isinstance(index, range):
        return index.start + index.step * places
    return index[places] if isinstance(index, np.ndarray) else np.full(places.shape, index, dtype=np.int64)


def _check_bounds(array: NDArray[Any], length: int, axis: int) -> None:
    outside = (array < -length) | (array >= length)
    if outside.any():
        first = int(array[outside].flat[0])
        raise BoundsCheckError(
            f"index out of bounds for dimension with length {length}: index {first} of dimension {axis}"
        )


# ------------------------------------------------------------------------------------------- to and from the array


def stored_items(selection: ViewSelection) -> tuple[Any, ...]:
    """Return the selection for the stored array: integers, slices with positive steps, index arrays.

    Examples
    --------
    >>> stored_items(compose(whole((10,)), slice(8, 2, -2)))
    (slice(4, 9, 2),)
    """
    return tuple(_forward(item) if isinstance(item, range) else item for item in selection.items)


def _forward(row: range) -> slice:
    if not row:
        return slice(0, 0)
    row = row if row.step > 0 else row[::-1]
    return slice(row[0], row[-1] + 1, row.step)


def _flips(selection: ViewSelection) -> tuple[slice, ...]:
    """Return the slices that reverse axes with negative steps; axes of the stored array, without removed ones."""
    kept = [item for item in selection.items if not isinstance(item, int)]
    return tuple(slice(None, None, -1) if isinstance(item, range) and item.step < 0 else slice(None) for item in kept)


def _order(selection: ViewSelection) -> tuple[int, ...]:
    """Return for each axis of the view its place among the axes that :func:`stored_items` leaves."""
    kept = sorted(selection.axes)
    return tuple(kept.index(axis) for axis in selection.axes)


def arranged(data: Any, selection: ViewSelection) -> Any:
    """Bring elements read by :func:`stored_items` into the order of the view, without a copy."""
    return data[_flips(selection)].transpose(_order(selection)) if selection.axes else data


def rearranged(value: Any, selection: ViewSelection) -> Any:
    """Bring a value of the view's shape into the order of :func:`stored_items`; the inverse of :func:`arranged`."""
    if not selection.axes:
        return value
    return value.transpose(tuple(int(i) for i in np.argsort(_order(selection))))[_flips(selection)]


def stored_points(selection: ViewSelection, points: Sequence[Any]) -> tuple[NDArray[np.int64], ...]:
    """Return points of the view as points of the stored array.

    Parameters
    ----------
    selection : ViewSelection
    points : sequence of integer arrays
        One for each axis of the view; broadcast against each other.

    Returns
    -------
    tuple of array
        One for each axis of the stored array.
    """
    arrays = [np.atleast_1d(np.asarray(part)) for part in points]
    if not arrays or len(arrays) != len(selection.axes) or any(a.size and a.dtype.kind not in "iu" for a in arrays):
        raise IndexError(f"points of a view need one integer array for each of its {len(selection.axes)} axes")
    arrays = list(np.broadcast_arrays(*arrays))
    items: list[Index] = list(selection.items)
    for axis, (array, length) in enumerate(zip(arrays, selection.shape, strict=True)):
        items[selection.axes[axis]] = picked(selection.along(axis), positions(array, length, axis))
    zeros = np.zeros(arrays[0].shape, dtype=np.int64)
    return tuple(picked(item, zeros) if isinstance(item, int) else np.asarray(item) for item in items)


# ------------------------------------------------------------------------------------------- chunks of a view


def run_lengths(edges: NDArray[np.int64], index: range | NDArray[np.int64]) -> tuple[int, ...]:
    """Return the numbers of consecutive elements along an axis of a view that lie in the same chunk.

    Parameters
    ----------
    edges : array of int64
        The begin of each chunk of the stored axis, and the end of the last one.
    index : range or array

    Examples
    --------
    >>> run_lengths(np.array([0, 10, 20, 25]), range(4, 25, 2))
    (3, 5, 3)
    """
    if not len(index):
        return ()
    if isinstance(index, range):
        row = index if index.step > 0 else index[::-1]
        lengths = np.diff(np.clip(-((row.start - edges) // row.step), 0, len(row)))
        lengths = lengths if index.step > 0 else lengths[::-1]
    else:
        chunk = np.searchsorted(edges, index, side="right")
        lengths = np.diff(np.flatnonzero(np.concatenate(([True], chunk[1:] != chunk[:-1], [True]))))
    return tuple(int(n) for n in lengths if n)


def regular_length(lengths: tuple[int, ...]) -> int | None:
    """Return the length of chunks that are equal except for the last; None if they differ."""
    if not lengths:
        return 1
    return lengths[0] if is_regular_1d(lengths) else None
