"""Scatter, gather, fill, is_filled: guards, dtypes NumPy must handle, threads. The copies themselves: test_plan.py."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import cut, numbered
from zarr_core import chunks, fill_values, grid, planners
from zarr_core.reference import chunks as reference
from zarr_core.reference import fill_values as reference_fill_values
from zarr_core.reference import grid as reference_grid
from zarr_core.reference import planners as reference_planners

PLAN = planners.plan_basic(grid.Grid([grid.RegularAxis(5, 3), grid.RegularAxis(4, 4)]), (slice(1, 5), slice(0, 2)))
TWIN = reference_planners.plan_basic(
    reference_grid.Grid([reference_grid.RegularAxis(5, 3), reference_grid.RegularAxis(4, 4)]),
    (slice(1, 5), slice(0, 2)),
)
both = pytest.mark.parametrize(("module", "slot"), [(chunks, PLAN.slot(0)), (reference, TWIN.slot(0))])
FILL_VALUES: dict[Any, Any] = {chunks: fill_values, reference: reference_fill_values}


@both
def test_guards(module: Any, slot: Any) -> None:
    chunk, out = np.zeros((3, 4)), np.zeros((4, 2))
    frozen = np.broadcast_to(0.0, (4, 2))
    for wrong in (np.zeros((4, 3)), np.zeros(3), np.zeros((3, 4, 1)), np.zeros(())):
        with pytest.raises(ValueError, match=r"chunk has shape .*, expected \(3, 4\)"):
            module.scatter(wrong, slot, out)
        with pytest.raises(ValueError, match=r"chunk has shape .*, expected \(3, 4\)"):
            module.gather(out, slot, wrong)
    for wrong in (np.zeros((2, 4)), np.zeros(4), np.zeros((4, 2, 1)), np.zeros(())):
        with pytest.raises(ValueError, match=r"out has shape .*, expected \(4, 2\)"):
            module.scatter(chunk, slot, wrong)
        with pytest.raises(ValueError, match=r"value has shape .*, expected \(4, 2\)"):
            module.gather(wrong, slot, chunk)
        with pytest.raises(ValueError, match=r"out has shape .*, expected \(4, 2\)"):
            module.fill(wrong, slot, 0)
    with pytest.raises(ValueError, match="out is read-only"):
        module.scatter(chunk, slot, frozen)
    with pytest.raises(ValueError, match="out is read-only"):
        module.fill(frozen, slot, 0)
    with pytest.raises(ValueError, match="chunk is read-only"):
        module.gather(out, slot, np.broadcast_to(0.0, (3, 4)))
    with pytest.raises(ValueError, match="must be a scalar"):
        module.fill(out, slot, np.zeros(1))
    with pytest.raises(ValueError, match="must be a scalar"):
        FILL_VALUES[module].is_filled(out, np.zeros(2))
    for array in (None, [[0]], 1.0):
        with pytest.raises(TypeError):
            module.scatter(array, slot, out)
        with pytest.raises(TypeError):
            module.gather(array, slot, chunk)
        with pytest.raises(TypeError):
            module.fill(array, slot, 0)
        with pytest.raises(TypeError):
            FILL_VALUES[module].is_filled(array, 0)


def test_slot_of_the_wrong_kind() -> None:
    for slot in (None, 0, TWIN.slot(0)):
        with pytest.raises(TypeError):
            chunks.scatter(np.zeros((3, 4)), slot, np.zeros((4, 2)))  # type: ignore[arg-type]


@both
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("i2", "f8"),
        ("<f8", ">f4"),
        ("S3", "S5"),
        ("U2", "T"),
        ("T", "O"),
        ("O", "O"),
        ("M8[s]", "M8[ms]"),
        ("<M8[s]", ">M8[s]"),
        ("g", "g"),
        ("G", "G"),
        ([("a", "<i2"), ("b", "O")], [("a", "<i2"), ("b", "O")]),
        ([("a", "<i2"), ("b", ">f4")], [("a", "<i2"), ("b", ">f4")]),
        ([("a", "<i2"), ("b", ">f4")], [("a", ">i2"), ("b", "<f4")]),
    ],
)
def test_dtypes_left_to_numpy(module: Any, slot: Any, source: Any, target: Any) -> None:
    def make(dtype: Any, shape: tuple[int, ...]) -> Any:
        if not isinstance(dtype, str):
            records = np.zeros(shape, dtype=dtype)
            records["a"] = np.arange(records.size).reshape(shape)
            records["b"] = np.arange(records.size).reshape(shape) + 1
            return records
        return numbered(shape, dtype) if dtype != "T" else np.arange(np.prod(shape)).astype("T").reshape(shape)

    chunk, out = make(source, (3, 4)), make(target, (4, 2))
    expected = out.copy()
    expected[:2] = chunk[1:3, :2]
    module.scatter(chunk, slot, out)
    assert np.array_equal(out, expected)
    chunk, value = make(target, (3, 4)), make(source, (4, 2))
    expected = chunk.copy()
    expected[1:3, :2] = value[:2]
    module.gather(value, slot, chunk)
    assert np.array_equal(chunk, expected)


@both
def test_object_items_that_look_like_arrays(module: Any, slot: Any) -> None:
    out = np.empty((4, 2), dtype=object)
    item = np.empty((), dtype=object)
    item[()] = [1, 2]
    module.fill(out, slot, item)
    assert out[:2].tolist() == [[[1, 2], [1, 2]]] * 2
    assert FILL_VALUES[module].is_filled(out[:2], item)
    assert not FILL_VALUES[module].is_filled(out, item)


FILLS: list[tuple[str, Any, Any]] = [
    ("f8", 0.0, True),
    ("f8", -0.0, False),
    ("f4", 1, False),
    ("i4", 0, True),
    ("?", False, True),
    ("c16", 0, True),
    ("c16", complex(0, -0.0), False),
    ("S3", b"", True),
    ("U3", "", True),
    ("O", 0, False),
    ("M8[s]", np.datetime64(0, "s"), True),
    ("M8[s]", np.datetime64("NaT"), False),
    ("V3", b"\0\0\0", True),
    ("T", "", True),
    ("T", "x", False),
    ("f2", 0, True),
    ("g", 0, True),
]


@pytest.mark.parametrize("module", [chunks, reference])
@pytest.mark.parametrize(("dtype", "value", "filled"), FILLS)
def test_is_filled(module: Any, dtype: str, value: Any, filled: bool) -> None:
    array = np.zeros((3, 4), dtype=dtype)
    if dtype == "O":
        array[...] = None
    for view in (array, array.T, array[::2, ::-1], np.zeros((0, 3), dtype=dtype)):
        assert FILL_VALUES[module].is_filled(view, value) is (filled or view.size == 0)


@pytest.mark.parametrize("module", [chunks, reference])
def test_objects_of_another_type_are_another_value(module: Any) -> None:
    """Else they would not be stored, and be read as the fill value."""
    array, value = np.empty(2, dtype=object), np.empty((), dtype=object)
    for fill in (None, 0, 0.0, False, "", [], np.zeros(0), np.zeros(1)):
        value[()] = fill
        for item in (None, 0, 0.0, -0.0, False, "", b"", [], {}, np.zeros(0), np.zeros(1), np.zeros(0, "i4")):
            array[0] = array[1] = item
            assert FILL_VALUES[module].is_filled(array, value) is (repr(item) == repr(fill)), (fill, item)
    value[()], array[0], array[1] = np.nan, float("nan"), -float("nan")
    assert FILL_VALUES[module].is_filled(array, value)


@pytest.mark.parametrize("module", [chunks, reference])
def test_is_filled_with_nan(module: Any) -> None:
    payload = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype="u8").view("f8")
    for array in (payload, payload.astype(">f8"), payload.astype("f4"), payload.astype("f2")):
        assert FILL_VALUES[module].is_filled(array, np.nan)
        assert not FILL_VALUES[module].is_filled(np.append(array, array.dtype.type(1)), np.nan)
        assert not FILL_VALUES[module].is_filled(array, 0)
    both_nan = np.full(3, complex(np.nan, np.nan))
    half = np.full(3, complex(np.nan, 1))
    assert FILL_VALUES[module].is_filled(both_nan, complex(np.nan, np.nan))
    assert FILL_VALUES[module].is_filled(half, complex(-np.nan, 1))
    assert not FILL_VALUES[module].is_filled(half, complex(np.nan, np.nan))
    assert not FILL_VALUES[module].is_filled(half, complex(1, np.nan))
    assert FILL_VALUES[module].is_filled(np.array([np.nan, float("nan")], dtype=object), np.nan)
    assert FILL_VALUES[module].is_filled(np.array([None, None], dtype=object), None)


@given(st.integers(1, 9), st.integers(0, 40), st.integers(0, 40))
def test_is_filled_finds_one_wrong_byte(itemsize: int, count: int, wrong: int) -> None:
    item = np.frombuffer(bytes(range(1, itemsize + 1)), dtype=f"V{itemsize}")
    array = np.repeat(item, count)
    assert fill_values.is_filled(array, item[0])
    if count:
        array.view(np.uint8)[wrong % array.nbytes] ^= 1
        assert not fill_values.is_filled(array, item[0])


def test_threads_share_a_plan() -> None:
    """Slots of one plan go to separate places, so threads need no lock."""
    array = np.arange(600 * 700, dtype="f8").reshape(600, 700)
    compiled = grid.Grid([grid.RegularAxis(600, 128), grid.RegularAxis(700, 256)])
    plan = planners.plan_basic(compiled, (slice(None, None, -1), slice(3, 690)))
    out = np.zeros(plan.shape)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: chunks.scatter(cut(array, plan.slot(i)), plan.slot(i), out), range(plan.nslots)))
    assert np.array_equal(out, array[::-1, 3:690])


def test_sixty_four_dimensions() -> None:
    compiled = grid.Grid([grid.RegularAxis(2 if d in (0, 63) else 1, 1) for d in range(64)])
    plan = planners.plan_basic(compiled, ...)
    array = np.arange(4).reshape(2, *[1] * 62, 2)
    out = np.zeros_like(array)
    for i in range(plan.nslots):
        chunks.scatter(cut(array, plan.slot(i)), plan.slot(i), out)
    assert np.array_equal(out, array)
