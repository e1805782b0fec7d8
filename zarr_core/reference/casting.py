"""Casts of numbers by value, in plain NumPy: nearest first, then the neighbour that the direction asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
ROUNDINGS = ("nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away")


def cast_numbers(
    array: AnyArray, dtype: np.dtype[Any], rounding: str = "nearest-even", out_of_range: str | None = None
) -> AnyArray:
    """Return numbers in another data type: each true value is rounded once, in the asked direction."""
    if rounding not in ROUNDINGS:
        raise ValueError(f"Unknown rounding mode: {rounding}")
    if out_of_range not in (None, "clamp", "wrap"):
        raise ValueError(f"out_of_range must be 'clamp', 'wrap' or None, got {out_of_range!r}")
    for each in (array.dtype, dtype):
        if each.kind not in "iuf" or each.itemsize not in (1, 2, 4, 8) or not each.isnative:
            raise TypeError(f"casts are for native integers and floats of up to 64 bits, not {each}")
    cast = _to_float if dtype.kind == "f" else _to_int
    return cast(array, dtype, rounding, out_of_range)


def _refuse(values: AnyArray, outside: AnyArray, low: Any, high: Any, remedy: str) -> None:
    if np.any(outside):
        value = values[outside].reshape(-1)[0]
        raise ValueError(f"Value {value} out of range [{low}, {high}]. {remedy}")


# --- to integers


def _to_int(array: AnyArray, target: np.dtype[Any], rounding: str, out_of_range: str | None) -> AnyArray:
    info = np.iinfo(target)
    low, high = int(info.min), int(info.max)
    if array.dtype.kind == "f":
        values = round_to_integers(array, rounding)
        # One above the highest value is a power of two, which floating-point numbers hold exactly.
        outside = (values < float(low)) | (values >= float(high + 1))
    else:
        values = array
        outside = (array < low) | (array > high)
    if out_of_range is None:
        _refuse(array, outside, low, high, "Set out_of_range='clamp' or out_of_range='wrap' to handle this.")
        return values.astype(target)
    if out_of_range == "wrap":
        return _wrapped(values, target)
    inside = np.where(outside, values.dtype.type(0), values).astype(target)
    return np.where(outside, np.where(values < 0, target.type(low), target.type(high)), inside).astype(target)


def round_to_integers(array: AnyArray, rounding: str) -> AnyArray:
    """Return floating-point numbers without fractions, as 64-bit floating-point numbers.

    Raises
    ------
    ValueError
        If a value is NaN or infinite.
    """
    values = array.astype(np.float64)
    if not np.all(np.isfinite(values)):
        bad = array[~np.isfinite(values)].reshape(-1)[0]
        raise ValueError(f"Cannot cast {bad} to integer type without scalar_map.")
    if rounding == "nearest-even":
        return np.rint(values)
    if rounding == "towards-positive":
        return np.ceil(values)
    if rounding == "towards-negative":
        return np.floor(values)
    whole: AnyArray = np.trunc(values)
    if rounding == "nearest-away":
        return whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)
    return whole


def _wrapped(values: AnyArray, target: np.dtype[Any]) -> AnyArray:
    """Return integers modulo the number of values of the target."""
    if values.dtype.kind != "f":
        return values.astype(target)
    remainder = np.fmod(values, 2.0**64)
    magnitude = np.abs(remainder).astype(np.uint64)
    return np.where(remainder < 0, np.uint64(0) - magnitude, magnitude).astype(target)


# --- to floating-point numbers


def _to_float(array: AnyArray, target: np.dtype[Any], rounding: str, out_of_range: str | None) -> AnyArray:
    with np.errstate(over="ignore", under="ignore"):
        nearest = array.astype(target)
    finite = np.isfinite(array) if array.dtype.kind == "f" else np.ones(array.shape, dtype=bool)
    result = nearest if rounding == "nearest-even" else _rounded(array, nearest, target, rounding, finite)
    info = np.finfo(target)
    outside = finite & np.isinf(result)
    if out_of_range == "wrap" or out_of_range is None:
        _refuse(array, outside, info.min, info.max, "Set out_of_range='clamp' to map it to ±Infinity.")
    return result


def _rounded(array: AnyArray, nearest: AnyArray, target: np.dtype[Any], rounding: str, finite: AnyArray) -> AnyArray:
    """Return values rounded in a direction, given the nearest ones; infinity stands for what lies beyond the range."""
    # The first power of two beyond the range; there is none for 64 bits, and no source that could reach it.
    limit = math.inf if target.itemsize == 8 else math.ldexp(1.0, int(np.finfo(target).maxexp))
    difference = _difference(nearest, array, limit, finite)
    infinity = target.type(np.inf)
    lower = np.where(difference > 0, np.nextafter(nearest, -infinity), nearest)
    upper = np.where(difference < 0, np.nextafter(nearest, infinity), nearest)
    if rounding == "towards-negative":
        result = lower
    elif rounding == "towards-positive":
        result = upper
    elif rounding == "towards-zero":
        result = np.where(array < 0, upper, lower)
    else:  # nearest-away
        below, above = _difference(lower, array, limit, finite), _difference(upper, array, limit, finite)
        tie = (-below == above) & (difference != 0)
        result = np.where(tie, np.where(array < 0, lower, upper), nearest)
    # A value beyond the next power of two is out of range whichever way it is rounded.
    beyond = finite & (np.abs(array.astype(np.float64)) >= limit)
    result = np.where(finite & ~beyond, result, nearest)
    return result.astype(target)


def _difference(rounded: AnyArray, array: AnyArray, limit: float, finite: AnyArray) -> AnyArray:
    """Return ``rounded - array`` with its exact sign, 0 where the value is not finite.

    Infinity in ``rounded`` counts as the first power of two beyond the range, where rounding leads without a limit.
    """
    wide = rounded.astype(np.float64)
    if limit < np.inf:
        wide = np.where(np.isinf(wide), np.copysign(limit, wide), wide)
    if array.dtype.kind == "f":
        return np.subtract(wide, array.astype(np.float64), where=finite, out=np.zeros(array.shape))
    # 64-bit integers do not fit a floating-point number; their two halves do, and each difference is exact.
    high = array >> array.dtype.type(32) if array.dtype.itemsize == 8 else array * 0
    low = array - (high << array.dtype.type(32)) if array.dtype.itemsize == 8 else array
    return (wide - high.astype(np.float64) * 2.0**32) - low.astype(np.float64)
