"""What selections are refused, and with which error."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.errors import BoundsCheckError, NegativeStepError, VindexInvalidSelectionError

DATA = np.arange(100, dtype="i4").reshape(10, 10)
HALF = np.arange(10) < 5


@pytest.fixture(scope="module")
def array() -> Any:
    return zarr.create_array({}, data=DATA, chunks=(3, 3))


@pytest.mark.parametrize(
    ("selection", "error"),
    [
        ((10, 0), BoundsCheckError),
        ((-11, 0), BoundsCheckError),
        ((Ellipsis, Ellipsis), IndexError),
        ((0, 0, 0), IndexError),
        (None, IndexError),
        ((slice(None), None), IndexError),
        (slice(None, None, -1), NegativeStepError),
        (slice(0, 10, 0), ValueError),
        (1.5, IndexError),
        ("foo", IndexError),
        (True, IndexError),
        (HALF, VindexInvalidSelectionError),
        (np.zeros((3, 3), bool), VindexInvalidSelectionError),
        ((np.array([1, 20]), np.array([1, 2])), BoundsCheckError),
        ((np.array([1, 2, 3]), np.array([1, 2])), ValueError),
        (np.array([1.0, 2.0]), IndexError),
        (range(3), IndexError),
        ([[1, 2], [3, 4]], IndexError),
        (slice(0.5, 3), TypeError),
        ((np.array([[1]]), slice(None)), IndexError),
        ((np.array([True, False]), slice(None)), IndexError),
    ],
)
def test_brackets_refuse(array: Any, selection: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        array[selection]
    before = array[...]
    with pytest.raises(error):
        array[selection] = 1
    assert (array[...] == before).all()


@pytest.mark.parametrize("selection", [0, slice(0, 2), Ellipsis, (), None, [1, 2], HALF, (HALF, HALF), True])
def test_vindex_refuses(array: Any, selection: Any) -> None:
    with pytest.raises(VindexInvalidSelectionError):
        array.vindex[selection]


@pytest.mark.parametrize("selection", [None, 1.5, DATA > 3, np.array([[1]]), "foo", True, range(3)])
def test_oindex_refuses(array: Any, selection: Any) -> None:
    with pytest.raises(IndexError):
        array.oindex[selection]


@pytest.mark.parametrize("selection", [4, -5, slice(0, 4, 2), slice(None, None, -1), [1], None, 1.5, "foo", True])
def test_blocks_refuse(array: Any, selection: Any) -> None:
    with pytest.raises(IndexError):
        array.blocks[selection]


@pytest.mark.parametrize("selection", [[1, 2], (1, 2), HALF, slice(None), 0])
def test_mask_selection_refuses(array: Any, selection: Any) -> None:
    with pytest.raises(IndexError, match="invalid mask selection"):
        array.get_mask_selection(selection)


@pytest.mark.parametrize("selection", [[1, 2], slice(None), (HALF, HALF), (1.5, 2), ([1], [2], [3])])
def test_coordinate_selection_refuses(array: Any, selection: Any) -> None:
    with pytest.raises(IndexError, match="invalid coordinate selection"):
        array.get_coordinate_selection(selection)


def test_errors_name_the_numbers(array: Any) -> None:
    with pytest.raises(BoundsCheckError, match="10"):
        array[12]
    with pytest.raises(IndexError, match="expected 2, got 3"):
        array[0, 0, 0]
    for selection in (4, slice(4, 5)):
        with pytest.raises(BoundsCheckError, match=r"block index out of bounds .* 4 chunk\(s\): index 4"):
            array.blocks[selection]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ([1, 2], DATA[[1, 2]]),
        (([1, 2], [3, 4]), DATA[[1, 2], [3, 4]]),
        (([1, 2], 3), DATA[[1, 2], 3]),
        (([1, 2], slice(0, 3)), DATA[[1, 2], 0:3]),
        ((slice(0, 3), [1, 2]), DATA[0:3, [1, 2]]),
        ((np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])), DATA[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]),
        ((np.array([1, 2])[:, None], np.array([3, 4])), DATA[np.ix_([1, 2], [3, 4])]),
        (DATA % 2 == 0, DATA[DATA % 2 == 0]),
        ((HALF, slice(0, 2)), DATA[HALF, 0:2]),
        ((HALF, HALF), DATA[np.ix_(HALF, HALF)]),
        ([True, False] * 5, DATA[[True, False] * 5]),
        (([-1, -2], [-3, -4]), DATA[[-1, -2], [-3, -4]]),
        (([3, 1], slice(None)), DATA[[3, 1]]),
        ((np.array([], int), np.array([], int)), DATA[np.array([], int), np.array([], int)]),
        ((), DATA),
        ((Ellipsis, 0), DATA[..., 0]),
        (slice(-3, None), DATA[-3:]),
        (slice(8, 2), DATA[8:2]),
    ],
)
def test_brackets_mean_what_they_mean_in_numpy(array: Any, selection: Any, expected: Any) -> None:
    got = array[selection]
    assert got.shape == expected.shape
    assert (got == expected).all()


@pytest.mark.parametrize("selection", [(Ellipsis, [1, 2]), ([1, 2], Ellipsis), (Ellipsis, np.array([1]))])
def test_no_ellipsis_beside_an_index_array(array: Any, selection: Any) -> None:
    with pytest.raises(IndexError, match="basic indexing"):
        array[selection]


@pytest.mark.parametrize("error", [ValueError, IndexError, zarr.errors.ShapeMismatchError])
def test_a_value_of_another_shape_is_an_error_as_in_numpy_and_as_in_version_3(error: type[Exception]) -> None:
    array = zarr.zeros((4, 5, 6), chunks=(2, 5, 3))
    for selection in (..., 2, (2, ...), (slice(None), slice(1, 3))):
        with pytest.raises(error, match="could not broadcast a value"):
            array[selection] = np.zeros(7)
        with pytest.raises(error, match="could not broadcast a value"):
            array.oindex[selection] = np.zeros(7)
    assert not array[:].any()


def test_a_mask_takes_a_flat_value(array: Any) -> None:
    mask = np.zeros(DATA.shape, dtype=bool)
    mask[:2, :2] = True
    with pytest.raises(ValueError, match="shape mismatch"):
        array.vindex[mask] = np.ones((2, 2))
    with pytest.raises(ValueError, match="shape mismatch"):
        array.set_mask_selection(mask, np.ones(3))


def test_scalars(array: Any) -> None:
    """Python integers give a 0-d array, numpy integers and Ellipsis a scalar, as in zarr-python."""
    assert isinstance(array[1, 2], np.ndarray)
    assert array[1, 2].shape == ()
    assert isinstance(array[np.int64(1), np.int64(2)], np.int32)
    assert isinstance(array[1, 2, ...], np.int32)
    assert isinstance(array.get_basic_selection((1, 2)), np.int32)
    assert isinstance(array.oindex[1, 2], np.ndarray)
    assert array.vindex[1, 2].shape == (1,)
    scalar = zarr.create_array({}, shape=(), dtype="f8", fill_value=3.5)
    assert isinstance(scalar[()], np.float64)
    assert isinstance(scalar[...], np.float64)


def test_a_tuple_alone_within_a_tuple_is_the_selection(array: Any) -> None:
    np.testing.assert_array_equal(array[((1,),)], DATA[1])
    np.testing.assert_array_equal(array.oindex[((1,),)], DATA[1])
    np.testing.assert_array_equal(array[((),)], DATA)
    scalar = zarr.create_array({}, shape=(), dtype="i4", fill_value=7)
    assert scalar[((),)] == 7
    scalar[((),)] = 3
    assert scalar[()] == 3


@pytest.mark.parametrize("order", ["C", "F"])
def test_points_come_in_c_order(order: Any) -> None:
    array = zarr.create_array({}, data=DATA, chunks=(3, 3), zarr_format=2, order=order)
    points = np.array([[0, 1, 2], [3, 4, 5]])
    by_name = array.get_coordinate_selection((points, points))
    for found in (array.vindex[points, points], array[points, points], by_name):
        np.testing.assert_array_equal(found, DATA[points, points])
        assert found.flags.c_contiguous
    assert array[:].flags.f_contiguous == (order == "F")


OVER_THE_END = [
    (slice(6, 12), slice(0, 5)),
    (slice(0, 30, 4), slice(None)),
    (3, slice(2, 9)),
    (..., slice(4, 6)),
    (slice(9, 11), 1),
]


@pytest.mark.parametrize("selection", OVER_THE_END, ids=str)
@pytest.mark.parametrize("write", ["brackets", "method", "batch"])
def test_a_value_for_slices_beyond_the_end_is_cut_with_a_warning(selection: Any, write: str) -> None:
    wide = np.zeros((40, 40), dtype="i4")
    array = zarr.create_array({}, shape=(10, 5), chunks=(4, 3), dtype="i4")
    full = tuple(slice(0, 5) if item is ... else item for item in selection)
    full = tuple(slice(0, n) if item == slice(None) else item for item, n in zip(full, (10, 5), strict=True))
    if selection[0] is ...:
        full = (slice(0, 10), selection[1])
    value = np.arange(1, wide[full].size + 1, dtype="i4").reshape(wide[full].shape)
    wide[full] = value
    store = array.set_basic_selection if write == "method" else array.__setitem__
    with (
        array.batch() if write == "batch" else contextlib.nullcontext(),
        pytest.warns(zarr.errors.ZarrUserWarning, match=r"passes the end of the array of shape \(10, 5\)") as caught,
    ):
        store(selection, value)
    assert [warning.filename for warning in caught] == [__file__]
    np.testing.assert_array_equal(array[...], wide[:10, :5])


@pytest.mark.parametrize("selection", OVER_THE_END, ids=str)
def test_a_value_that_fits_neither_is_refused(selection: Any) -> None:
    array = zarr.create_array({}, shape=(10, 5), chunks=(4, 3), dtype="i4")
    value = np.ones((17, 19), dtype="i4")
    with pytest.raises(zarr.errors.ShapeMismatchError):
        array[selection] = value
    with pytest.raises(zarr.errors.ShapeMismatchError):
        array[3:5, 0] = np.ones(3, dtype="i4")  # inside of the array, nothing is cut
    with pytest.raises(zarr.errors.ShapeMismatchError):
        array.oindex[[3, 4], 0:7] = np.ones((2, 7), dtype="i4")
    assert not array[...].any()
