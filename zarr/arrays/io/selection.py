"""Turn the selection between brackets into a plan.

Five kinds of selection: basic (integers and slices), orthogonal (an index per axis), coordinate (a list of points),
mask (a boolean array of the array's shape) and block (whole stored chunks). ``zarr_core`` checks every number again;
this module raises the errors with their public classes.
"""

from __future__ import annotations

import re
import reprlib
from typing import Any, NoReturn

import numpy as np

import zarr_core
from zarr.arrays.layout import ArrayLayout
from zarr.errors import BoundsCheckError, FieldsError, NegativeStepError, VindexInvalidSelectionError

Fields = str | list[str] | None


def as_items(selection: Any) -> tuple[Any, ...]:
    """Return a selection as a tuple, one item an axis. As in zarr-python, a tuple alone in a tuple is the selection."""
    if type(selection) is not tuple:
        return (selection,)
    return selection[0] if len(selection) == 1 and type(selection[0]) is tuple else selection


def is_integer(item: Any) -> bool:
    """Return True if an item is one integer; a bool is not."""
    return (type(item) is int or isinstance(item, (int, np.integer))) and not isinstance(item, bool)


def is_integer_array(item: Any) -> bool:
    """Return True if an item is a NumPy array (or an array of this library) of integers."""
    return getattr(getattr(item, "dtype", None), "kind", None) in ("i", "u") and not np.isscalar(item)


def is_bool_array(item: Any) -> bool:
    """Return True if an item is an array of booleans."""
    return getattr(getattr(item, "dtype", None), "kind", None) == "b"


def is_integer_list(item: Any) -> bool:
    """Return True if an item is a list of integers (or of booleans), not empty."""
    return isinstance(item, list) and len(item) > 0 and all(isinstance(i, (int, np.integer)) for i in item)


# ----------------------------------------------------------------------------------------------- fields


def pop_fields(selection: Any) -> tuple[Fields, Any]:
    """Split the names of fields off a selection.

    Parameters
    ----------
    selection : object
        The object between the brackets, for example ``("x", slice(2, 5))``.

    Returns
    -------
    fields, selection
        ``fields`` is None, a name, or a list of names.

    Examples
    --------
    >>> pop_fields(("x", slice(2, 5)))
    ('x', slice(2, 5, None))
    """
    kind = type(selection)
    if kind is str:
        return selection, ()
    if kind is list and selection and all(isinstance(item, str) for item in selection):
        return selection, ()
    if kind is not tuple:
        return None, selection
    names = [item for item in selection if isinstance(item, str)]
    if not names:
        return None, selection
    rest = tuple(item for item in selection if not isinstance(item, str))
    return (names[0] if len(names) == 1 else names), (rest[0] if len(rest) == 1 else rest)


def field_dtype(dtype: np.dtype[Any], fields: Fields) -> np.dtype[Any]:
    """Return the dtype of a selection of fields.

    Raises
    ------
    FieldsError
        If the array has no fields, or not these.
    """
    if fields is None:
        return dtype
    if dtype.names is None or dtype.fields is None:
        raise FieldsError(f"invalid 'fields' argument, array does not have any fields: its data type is {dtype}")
    names = [fields] if isinstance(fields, str) else fields
    if not isinstance(names, list | tuple):
        raise FieldsError(f"'fields' argument must be a string or list of strings; found {type(fields)!r}")
    for name in names:
        if name not in dtype.fields:
            raise FieldsError(
                f"invalid 'fields' argument, field not found: {name!r}; the fields are {', '.join(dtype.names)}"
            )
    if isinstance(fields, str):
        return dtype[fields]
    return np.dtype([(name, dtype[name]) for name in fields])


# ----------------------------------------------------------------------------------------------- basic


def _refuse(kind: str, expected: str, item: Any) -> NoReturn:
    raise IndexError(f"unsupported selection item for {kind} indexing; expected {expected}, got {type(item)!r}")


def _check_step(item: slice) -> None:
    step = item.step
    if step is None or (type(step) is int and step > 0):
        return
    item.indices(0)  # TypeError for a step that is no integer, ValueError for a step of zero
    if step.__index__() < 0:
        raise NegativeStepError(f"only slices with step >= 1 are supported, got {item}; reverse the result instead")


def _raise_index_error(error: IndexError, items: tuple[Any, ...], layout: ArrayLayout) -> NoReturn:
    """Raise an index error of the core as its public class."""
    given = sum(item is not Ellipsis for item in items)
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')") from None
    if given > layout.ndim:
        raise IndexError(f"too many indices for array; expected {layout.ndim}, got {given}") from None
    raise out_of_bounds(error) from None


CORE_MESSAGE = r"index (-?\d+) is out of bounds for dimension (\d+) with length (\d+)"


def out_of_bounds(error: IndexError) -> BoundsCheckError:
    """Give an index error of the core the text that users of zarr-python match, with all its numbers."""
    found = re.search(CORE_MESSAGE, str(error))
    if found is None:
        return BoundsCheckError(str(error))
    index, dimension, length = found.groups()
    return BoundsCheckError(
        f"index out of bounds for dimension with length {length}: index {index} of dimension {dimension}"
    )


def plan_basic(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection of integers and slices.

    Raises
    ------
    IndexError
        If an item is neither integer, slice nor Ellipsis, or there are too many items.
    BoundsCheckError
        If an integer lies outside its dimension.
    NegativeStepError
        If a slice has a negative step.
    """
    items = as_items(selection)
    if simple_kind(items) is None:
        for item in items:
            if isinstance(item, bool) or not (item is Ellipsis or isinstance(item, (int, np.integer, slice))):
                _refuse("basic", "integer or slice", item)
    return plan_simple(layout, items)


def simple_kind(items: tuple[Any, ...]) -> bool | None:
    """Return True if items are Python integers and slices alone, False for other items of basic indexing, else None.

    This and :func:`plan_simple` run in every small read: hence the plain loop.
    """
    python = True
    for item in items:
        kind = type(item)
        if kind is int:
            continue
        if kind is slice:
            if item.step is not None and (type(item.step) is not int or item.step < 1):
                _check_step(item)
        elif item is Ellipsis or isinstance(item, np.integer):
            python = False
        else:
            return None
    return python


def plan_simple(layout: ArrayLayout, items: tuple[Any, ...]) -> zarr_core.Plan:
    """Plan items that :func:`simple_kind` accepts."""
    try:
        return zarr_core.plan_basic(layout.grid, items)
    except IndexError as error:
        _raise_index_error(error, items, layout)


# ----------------------------------------------------------------------------------------------- orthogonal


def expand_ellipsis(items: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """Replace an Ellipsis by full slices, and add missing full slices at the end."""
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    given = len(items) - len(places)
    if given > ndim:
        raise IndexError(f"too many indices for array; expected {ndim}, got {given}")
    full = (slice(None),) * (ndim - given)
    at = places[0] if places else len(items)
    return items[:at] + full + items[at + len(places) :]


def _orthogonal_item(item: Any, length: int) -> Any:
    kind = type(item)
    if kind is int:
        return item
    if kind is slice:
        _check_step(item)
        return item
    if is_integer(item):
        return int(item)
    if isinstance(item, list) or is_integer_array(item) or is_bool_array(item):
        array = np.asarray(item)
        return index_array(array, length) if array.ndim or array.dtype.kind == "b" else int(array)
    _refuse("orthogonal", "integer, slice, integer array or Boolean array", item)


def index_array(array: np.ndarray[Any, Any], length: int) -> np.ndarray[Any, Any]:
    """Check an index array of one axis; an empty list becomes one of integers."""
    if array.size == 0 and array.ndim == 1 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # an empty list
    if array.dtype.kind not in "iub":
        _refuse("orthogonal", "integer, slice, integer array or Boolean array", array)
    what = "Boolean" if array.dtype.kind == "b" else "integer"
    if array.ndim != 1:
        raise IndexError(
            f"{what} arrays in an orthogonal selection must be 1-dimensional only, got {array.ndim} dimensions"
        )
    if what == "Boolean" and array.shape[0] != length:
        raise IndexError(f"Boolean array has the wrong length for dimension; expected {length}, got {array.shape[0]}")
    return array


def plan_orthogonal(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection that indexes each axis by itself.

    Raises
    ------
    IndexError
        If an item is of no supported kind, an index array is not 1-dimensional, or a boolean one has the wrong length.
    BoundsCheckError
        If an index lies outside its dimension.
    """
    if is_bool_array(selection) or is_integer_array(selection):
        selection = np.asarray(selection)
    given = as_items(selection)
    items = expand_ellipsis(given, layout.ndim)
    items = tuple(_orthogonal_item(item, n) for item, n in zip(items, layout.shape, strict=True))
    try:
        if any(isinstance(item, np.ndarray) for item in items):
            return zarr_core.plan_orthogonal(layout.grid, items)
        return zarr_core.plan_basic(layout.grid, items)
    except IndexError as error:
        _raise_index_error(error, items, layout)


# ----------------------------------------------------------------------------------------------- points and masks


def is_coordinate_selection(items: tuple[Any, ...], ndim: int) -> bool:
    """Return True if items are one integer or integer array per axis."""
    return len(items) == ndim and all(is_integer(i) or is_integer_list(i) or is_integer_array(i) for i in items)


def is_mask_selection(items: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Return True if items are a single boolean array of the array's shape."""
    return len(items) == 1 and is_bool_array(items[0]) and getattr(items[0], "shape", None) == shape


def plan_coordinates(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection of points: one integer array per axis, broadcast against each other.

    Raises
    ------
    IndexError
        If there is not one integer array per axis.
    BoundsCheckError
        If a coordinate lies outside its dimension.
    ValueError
        If the arrays do not broadcast.
    """
    items = as_items(selection)
    if layout.ndim == 1 and not isinstance(selection, tuple):
        items = (selection,)
    coords = []
    for item in items:
        array = np.atleast_1d(np.asarray(item))
        if array.size == 0 and array.dtype.kind == "f":
            array = array.astype(np.int64)
        coords.append(array)
    if len(coords) != layout.ndim or any(array.dtype.kind not in "iu" for array in coords) or not coords:
        raise VindexInvalidSelectionError(
            "invalid coordinate selection; expected one integer (coordinate) array per dimension of the target "
            f"array ({layout.ndim}), got {selection!r}"
        )
    np.broadcast_shapes(*(array.shape for array in coords))
    try:
        return zarr_core.plan_points(layout.grid, tuple(coords))
    except IndexError as error:
        raise out_of_bounds(error) from None


def plan_mask(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection by a boolean array of the array's shape.

    Raises
    ------
    IndexError
        If the mask is not boolean, or has another shape.
    """
    items = as_items(selection)
    mask = np.asarray(items[0]) if len(items) == 1 else None
    if mask is None or mask.dtype.kind != "b" or mask.shape != layout.shape or mask.ndim == 0:
        got = f"shape {mask.shape} and dtype {mask.dtype}" if mask is not None else f"{len(items)} items"
        raise IndexError(
            "invalid mask selection; expected one Boolean (mask) array with the same shape as the target array "
            f"{layout.shape}, got {got}"
        )
    return zarr_core.plan_mask(layout.grid, mask)


def vectorized_kind(selection: Any, shape: tuple[int, ...]) -> str:
    """Return the kind of selection for ``vindex``: "coordinate" or "mask".

    Raises
    ------
    VindexInvalidSelectionError
        If the selection is neither.

    Examples
    --------
    >>> vectorized_kind(([0, 2], [1, 3]), (4, 4)), vectorized_kind([True, False], (2,))
    ('coordinate', 'mask')
    """
    items = as_items(selection)
    if type(selection) is list and selection and isinstance(selection[0], (bool, np.bool_)):
        items = (np.asarray(selection),)
    if shape and is_coordinate_selection(items, len(shape)):
        return "coordinate"
    if is_mask_selection(items, shape) or (
        isinstance(selection, list) and is_mask_selection((np.asarray(selection),), shape)
    ):
        return "mask"
    if len(items) == len(shape) and all(isinstance(i, list) or is_integer_array(i) for i in items):
        return "coordinate"
    raise VindexInvalidSelectionError(
        "unsupported selection type for vectorized indexing; only coordinate selection (tuple of integer arrays) and "
        f"mask selection (single Boolean array) are supported; got {', '.join(map(_item_text, items))} for an array of "
        f"shape {shape}; .oindex takes a mask or a list for each axis by itself"
    )


def _item_text(item: Any) -> str:
    """Name one part of a selection in a message: arrays by type and shape."""
    if isinstance(item, np.ndarray):
        return f"{'a mask' if item.dtype == bool else f'an array of {item.dtype}'} of shape {item.shape}"
    return reprlib.repr(item)


# ----------------------------------------------------------------------------------------------- blocks


def elements_of(axis: Any, first: int, stop: int) -> slice:
    """Return the elements of stored chunks along an axis, from one up to another, clipped to the array."""
    if stop <= first:
        return slice(0, 0)
    return slice(int(axis.offset(first)), int(axis.offset(stop - 1) + axis.valid_length(stop - 1)))


def _block_slice(item: Any, axis: Any) -> slice:
    """Return the elements of a selection of stored chunks along one axis."""
    count = axis.nchunks
    if is_integer(item):
        index = int(item)
        if not -count <= index < count:
            raise BoundsCheckError(f"block index out of bounds for dimension with {count} chunk(s): index {index}")
        index %= count
        return elements_of(axis, index, index + 1)
    if not isinstance(item, slice):
        _refuse("block", "integer or slice", item)
    if item.step not in (None, 1):
        _refuse("block", "integer or slice with step=1", item)
    first, stop, _ = item.indices(count)
    start = 0 if item.start is None else item.start.__index__()
    if count and not -count <= start < count:
        raise BoundsCheckError(f"block index out of bounds for dimension with {count} chunk(s): index {start}")
    return elements_of(axis, first, stop)


def plan_blocks(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection of stored chunks (shards, if there are any) by their place in the grid.

    Raises
    ------
    IndexError
        If an item is neither an integer nor a slice of step 1.
    BoundsCheckError
        If a block lies outside the grid.
    """
    items = expand_ellipsis(as_items(selection), layout.ndim)
    slices = tuple(_block_slice(item, axis) for item, axis in zip(items, layout.outer.axes, strict=True))
    return zarr_core.plan_basic(layout.grid, slices)


# ----------------------------------------------------------------------------------------------- brackets


def is_fancy(items: tuple[Any, ...], layout: ArrayLayout) -> bool:
    """Return True if brackets mean points or a mask: one integer or integer array per axis, or one boolean array."""
    if len(items) == 1 and is_bool_array(items[0]):
        return True
    if layout.ndim == 0 or not is_coordinate_selection(items, layout.ndim):
        return False
    if any(isinstance(i, list) and any(isinstance(j, (bool, np.bool_)) for j in i) for i in items):
        return False
    return any(not is_integer(i) for i in items)


def _is_orthogonal(items: tuple[Any, ...], ndim: int) -> bool:
    """Return True if brackets mean one index per axis: at most one index array, or nothing but index arrays.

    An Ellipsis beside an index array is refused, as in zarr-python: NumPy would move the axes of some of these results.
    """
    if ndim == 0:
        return False
    arrays = [i for i in items if is_integer_list(i) or is_integer_array(i) or is_bool_array(i)]
    if len(arrays) == len(items) == ndim:
        return True
    if len(items) > ndim or len(arrays) > 1:
        return False
    plain = sum(isinstance(i, (int, np.integer, slice)) for i in items)
    return plain + len(arrays) == len(items)


def are_points(layout: ArrayLayout, kind: str, selection: Any) -> bool:
    """Return True if a selection of a kind means points or a mask."""
    return kind in ("coordinate", "mask") or (kind == "brackets" and is_fancy(as_items(selection), layout))


def plan_kind(layout: ArrayLayout, kind: str, selection: Any) -> tuple[zarr_core.Plan, bool]:
    """Plan a selection of one kind, as :func:`plan_brackets` does with that of the kind "brackets"."""
    if kind == "brackets":
        return plan_brackets(layout, selection)
    return PLANNERS[kind](layout, selection), kind == "basic"


def plan_brackets(layout: ArrayLayout, selection: Any) -> tuple[zarr_core.Plan, bool]:
    """Plan the selection between the brackets of ``array[...]``.

    Parameters
    ----------
    layout : ArrayLayout
    selection : object
        The selection without fields.

    Returns
    -------
    plan, scalar
        ``scalar`` is True if a 0-d result is returned as a NumPy scalar. As in zarr-python, an index of Python integers
        and slices alone gives a 0-d array; an index with an Ellipsis or a NumPy integer gives a scalar.
    """
    items = as_items(selection)
    simple = simple_kind(items)
    if simple is not None:
        return plan_simple(layout, items), not (simple and layout.ndim)
    if is_fancy(items, layout):
        masked = vectorized_kind(selection, layout.shape) == "mask"
        return (plan_mask if masked else plan_coordinates)(layout, selection), False
    if _is_orthogonal(items, layout.ndim):
        return plan_orthogonal(layout, selection), False
    return plan_basic(layout, selection), True


PLANNERS = {
    "basic": plan_basic,
    "orthogonal": plan_orthogonal,
    "coordinate": plan_coordinates,
    "mask": plan_mask,
    "block": plan_blocks,
}
