"""Casts of numbers by value: the compiled kernel against the plain one, and against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr_core
from zarr_core import casting as compiled
from zarr_core.reference import casting as reference

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
ROUNDINGS = list(reference.ROUNDINGS)


def items_of(data: st.DataObject, dtype: str) -> np.ndarray[Any, Any]:
    """Items of any bits, and among them those where rounding is decided."""
    size = np.dtype(dtype).itemsize
    raw = np.frombuffer(data.draw(st.binary(min_size=8 * size, max_size=24 * size)), dtype="u1")
    items = raw[: raw.size // size * size].view(dtype).copy()
    if dtype in FLOATS:
        near = data.draw(st.sampled_from([0.5, 1.5, -2.5, 127.5, -128.5, 255.5, 65504, 2.0**15, -0.0]))
        items[:2] = np.array([near, np.nextafter(near, 0)]).astype(dtype)
    return items


def outcome(cast: Any, *arguments: Any) -> Any:
    try:
        return cast(*arguments)
    except ValueError as error:
        return str(error)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_both_give_the_same(data: st.DataObject) -> None:
    source, target = data.draw(st.sampled_from(INTEGERS + FLOATS)), data.draw(st.sampled_from(INTEGERS + FLOATS))
    rounding, beyond = data.draw(st.sampled_from(ROUNDINGS)), data.draw(st.sampled_from([None, "clamp", "wrap"]))
    items = items_of(data, source)
    with np.errstate(all="ignore"):
        ours = outcome(compiled.cast_numbers, items, np.dtype(target), rounding, beyond)
        plain = outcome(reference.cast_numbers, items, np.dtype(target), rounding, beyond)
    if isinstance(plain, str) or isinstance(ours, str):
        assert ours == plain
    else:
        assert ours.dtype == plain.dtype
        numbers = np.ones(items.shape, bool) if target in INTEGERS else ~np.isnan(plain)
        assert ours[numbers].tobytes() == plain[numbers].tobytes()
        assert (target in INTEGERS) or np.isnan(ours[~numbers]).all()


def neighbours(value: Fraction, dtype: str) -> tuple[float, float]:
    """The two floats of a type around a value, which are one where it is representable."""
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        near = kind(float(value))
    below = near if Fraction(float(near)) <= value else np.nextafter(near, kind(-np.inf))
    above = near if Fraction(float(near)) >= value else np.nextafter(near, kind(np.inf))
    return float(below), float(above)


@given(st.data(), st.sampled_from(ROUNDINGS), st.sampled_from(["f2", "f4"]))
@settings(max_examples=150, deadline=None)
def test_rounding_is_that_of_the_true_value(data: st.DataObject, rounding: str, target: str) -> None:
    limit = 60000 if target == "f2" else 2**63 - 1
    value = data.draw(st.one_of(
        st.integers(-limit, limit), st.floats(-60000, 60000).filter(lambda x: abs(x) > 1e-7 or x == 0)
    ))  # fmt: skip
    array = np.array([value], dtype="i8" if isinstance(value, int) else "f8")
    true = Fraction(value)
    below, above = neighbours(true, target)
    found = float(compiled.cast_numbers(array, np.dtype(target), rounding)[0])
    if below == above:
        assert found == below
        return
    low, high = true - Fraction(below), Fraction(above) - true
    even = below if np.array(below, target).view(f"u{np.dtype(target).itemsize}") % 2 == 0 else above
    wanted = {
        "towards-negative": below, "towards-positive": above, "towards-zero": below if true > 0 else above,
        "nearest-even": below if low < high else above if high < low else even,
        "nearest-away": below if low < high else above if high < low else (above if true > 0 else below),
    }  # fmt: skip
    assert found == wanted[rounding]


@given(st.floats(-300, 300), st.sampled_from(ROUNDINGS))
def test_integers_are_rounded_like_fractions(value: float, rounding: str) -> None:
    down, up = math.floor(value), math.ceil(value)
    wanted = {
        "towards-negative": down, "towards-positive": up, "towards-zero": math.trunc(value),
        "nearest-even": round(value),
        "nearest-away": int(math.copysign(math.floor(abs(Fraction(value)) + Fraction(1, 2)), value)),
    }[rounding]  # fmt: skip
    array = np.array([value])
    assert compiled.cast_numbers(array, np.dtype("i2"), rounding).tolist() == [wanted]
    assert compiled.cast_numbers(array, np.dtype("i1"), rounding, "clamp").tolist() == [max(-128, min(127, wanted))]
    assert compiled.cast_numbers(array, np.dtype("u1"), rounding, "wrap").tolist() == [wanted % 256]


def test_special_numbers() -> None:
    special = np.array([np.nan, np.inf, -np.inf, -0.0])
    for target in FLOATS:
        found = compiled.cast_numbers(special, np.dtype(target))
        assert np.isnan(found[0])
        assert found[1:].tolist() == [np.inf, -np.inf, 0.0]
        assert np.signbit(found[3])
    quiet = np.array([0x7FC00001, 0x7F800001], dtype="u4").view("f4")
    assert compiled.cast_numbers(quiet, np.dtype("f4")).view("u4").tolist() == [0x7FC00001, 0x7F800001]
    assert compiled.cast_numbers(quiet[:1], np.dtype("f8")).view("u8").tolist() == [0x7FF8000020000000]
    with pytest.raises(ValueError, match="Cannot cast nan to integer"):
        compiled.cast_numbers(special, np.dtype("i4"), "nearest-even", "clamp")


@pytest.mark.parametrize("n", [0, 1, 40_000])
def test_any_shape_and_strides(n: int) -> None:
    array = np.arange(2 * n, dtype="f8").reshape(n, 2)[:, ::-1]
    assert (zarr_core.cast_numbers(array, np.dtype("i4")) == array.astype("i4")).all()
    assert zarr_core.cast_numbers(np.array(2.5), np.dtype("u1")).shape == ()


@pytest.mark.parametrize("cast", [compiled.cast_numbers, reference.cast_numbers])
def test_the_door(cast: Any) -> None:
    array = np.zeros(2, dtype="f8")
    for wrong in ("c8", "b1", "M8[s]", "S2", ">i4"):
        with pytest.raises(TypeError, match="native integers and floats"):
            cast(array, np.dtype(wrong))
        with pytest.raises(TypeError, match="native integers and floats"):
            cast(np.zeros(2, dtype=wrong), np.dtype("i4"))
    with pytest.raises(ValueError, match="Unknown rounding mode"):
        cast(array, np.dtype("i4"), "up")
    with pytest.raises(ValueError, match="out_of_range"):
        cast(array, np.dtype("i4"), "nearest-even", "ignore")
    with pytest.raises(ValueError, match=r"Value 300.0 out of range \[0, 255\]"):
        cast(array + 300, np.dtype("u1"))
