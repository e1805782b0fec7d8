"""What a view asks of its array: the steps of reading and writing through a composed selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr.arrays.io.reading import get_selection_steps
from zarr.arrays.io.selection import as_items, field_dtype, is_bool_array
from zarr.arrays.io.writing import as_elements, prepare_value, set_selection_steps
from zarr.arrays.views.composition import ViewSelection, arranged, rearranged, stored_items, stored_points
from zarr.errors import BoundsCheckError

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.io.selection import Fields
    from zarr.steps.requests import Steps


def check_inside(handle: ArrayHandle, selection: ViewSelection) -> None:
    """Refuse to go through a view of elements that the array has lost.

    Raises
    ------
    BoundsCheckError
        The array was made smaller after the view was made.
    """
    for axis, (item, length) in enumerate(zip(selection.items, handle.metadata.shape, strict=True)):
        last = item if isinstance(item, int) else int(max(item[0], item[-1])) if isinstance(item, range) and item else 0
        if isinstance(item, np.ndarray) and item.size:
            last = int(item.max())
        if last >= length and (isinstance(item, int) or len(item)):
            raise BoundsCheckError(
                f"index out of bounds for dimension with length {length}: the view goes to index {last} of dimension "
                f"{axis}; {handle.describe()} was made smaller after the view was made"
            )


def read_view_steps(handle: ArrayHandle, selection: ViewSelection, fields: Fields) -> Steps[Any]:
    """Read all elements of a view."""
    check_inside(handle, selection)
    data = yield from get_selection_steps(handle, "orthogonal", stored_items(selection), fields=fields)
    return arranged(data, selection)


def write_view_steps(handle: ArrayHandle, selection: ViewSelection, value: Any, fields: Fields) -> Steps[None]:
    """Write to all elements of a view, and to no other."""
    check_inside(handle, selection)
    nullable = handle.layout.nullable
    value = value if nullable is None or fields is not None else nullable.from_values(value)
    elements = as_elements(value, field_dtype(handle.layout.dtype, fields))
    if elements.ndim:
        elements = rearranged(prepare_value(elements, elements.dtype, selection.shape), selection)
    yield from set_selection_steps(handle, "orthogonal", stored_items(selection), elements, fields=fields)


def as_points(selection: ViewSelection, points: Any) -> tuple[Any, ...]:
    """What ``vindex`` takes, points or a mask of the view's shape, as points of the stored array."""
    items = as_items(points)
    if len(items) == 1 and is_bool_array(items[0]):
        if items[0].shape != selection.shape:
            raise IndexError(f"a mask of a view has its shape {selection.shape}, got {items[0].shape}")
        items = np.nonzero(np.asarray(items[0]))
    return stored_points(selection, items)


def read_points_steps(handle: ArrayHandle, selection: ViewSelection, points: Any, fields: Fields) -> Steps[Any]:
    """Read points of a view."""
    check_inside(handle, selection)
    return (yield from get_selection_steps(handle, "coordinate", as_points(selection, points), fields=fields))


def write_points_steps(
    handle: ArrayHandle, selection: ViewSelection, points: Any, value: Any, fields: Fields
) -> Steps[None]:
    """Write to points of a view."""
    check_inside(handle, selection)
    yield from set_selection_steps(handle, "coordinate", as_points(selection, points), value, fields=fields)
