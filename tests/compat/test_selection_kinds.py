"""The questions about selections of zarr.indexing (zarr-python 2) and zarr.core.indexing (zarr-python 3)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import zarr.core.indexing
import zarr.indexing

RECORD = np.dtype([("a", "i4"), ("b", "f8")])
MASK = np.zeros((3, 2), dtype=bool)
HOMES = pytest.mark.parametrize("home", [zarr.indexing, zarr.core.indexing])


@HOMES
def test_slices_are_told_by_their_steps(home: ModuleType) -> None:
    slices = [slice(None), slice(1, 3), slice(1, 3, 2), slice(3, 1, -1), 1]
    assert [home.is_contiguous_slice(s) for s in slices] == [True, True, False, False, False]
    assert [home.is_positive_slice(s) for s in slices] == [True, True, True, False, False]
    assert home.is_contiguous_selection(slice(3)) is True
    assert home.is_contiguous_selection((slice(3), ...)) is True
    assert home.is_contiguous_selection((slice(3), 1)) is False


@HOMES
@pytest.mark.parametrize(
    ("selection", "points", "mask"),
    [
        ((1, 2), True, False),
        ((np.array([0, 1]), 1), True, False),
        ((1,), False, False),
        ([0, 1], False, False),
        ((slice(1), 1), False, False),
        ((MASK,), False, True),
        (MASK, False, False),
        ((MASK[:2],), False, False),
    ],
)
def test_points_and_masks_are_parts_of_a_tuple(home: ModuleType, selection: Any, points: bool, mask: bool) -> None:
    assert home.is_coordinate_selection(selection, (3, 2)) is points
    assert home.is_mask_selection(selection, (3, 2)) is mask


@HOMES
def test_arrays_are_told_by_their_dimensions(home: ModuleType) -> None:
    for dtype, asked, other in ((int, home.is_integer_array, home.is_bool_array),
                                (bool, home.is_bool_array, home.is_integer_array)):  # fmt: skip
        array = np.zeros((2, 2), dtype=dtype)
        assert [asked(array), asked(array, ndim=2), asked(array, 1), other(array)] == [True, True, False, False]
    assert not home.is_integer_array(np.int64(3))
    (array, rest) = home.replace_lists(([1, 2], slice(1)))
    assert (type(array), rest) == (np.ndarray, slice(1))


@HOMES
def test_fields_are_checked(home: ModuleType) -> None:
    assert home.check_fields(None, RECORD) == RECORD
    assert home.check_fields("a", RECORD) == np.dtype("i4")
    assert home.check_fields(["b"], RECORD) == np.dtype([("b", "f8")])
    for fields, dtype in (("c", RECORD), ("a", np.dtype("i4")), (5, RECORD)):
        with pytest.raises(IndexError, match="fields"):
            home.check_fields(fields, dtype)
    assert [home.check_no_multi_fields(fields) for fields in (None, "a", ["a"], [])] == [None, "a", "a", []]
    with pytest.raises(IndexError, match="multiple fields"):
        home.check_no_multi_fields(["a", "b"])
    home.check_selection_length((1,), (3,))
    with pytest.raises(IndexError, match="expected 1, got 2"):
        home.check_selection_length((1, 2), (3,))


@HOMES
def test_a_scalar_is_one_element(home: ModuleType) -> None:
    scalars = [1, np.float32(2), "x", b"x", np.array(3), (1, 2.0)]
    assert all(home.is_scalar(value, RECORD) for value in scalars)
    assert not any(home.is_scalar(value, RECORD) for value in ([1], (1, 2, 3), np.array([3])))
