"""Questions about selections and their parts, and checks of fields, as zarr-python 2 and 3 have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zarr.arrays.io import selection as selections
from zarr.arrays.io.selection import Fields, is_integer
from zarr.errors import FieldsError, err_too_many_indices


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
    return all(is_integer(item) or is_integer_array(item) for item in selection)


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


def check_fields(fields: Fields, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a selection of fields; raise an IndexError if the array has no such fields.

    Examples
    --------
    >>> check_fields("a", np.dtype([("a", "i4"), ("b", "f8")]))
    dtype('int32')
    """
    return selections.field_dtype(dtype, fields) if fields else dtype


def check_no_multi_fields(fields: Fields) -> Fields:
    """Return the name of a single field; raise an IndexError for several."""
    if isinstance(fields, list):
        if len(fields) > 1:
            raise FieldsError("multiple fields are not supported for this operation")
        return fields[0] if fields else fields
    return fields

