"""Casts of numbers by value: how to round, what to do beyond the range, which values to map.

Everything is exact: a cast gives what rounding the true value once, in the asked direction, gives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from zarr.codecs.bound import AnyArray

RoundingMode: TypeAlias = Literal[
    "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
]
OutOfRangeMode: TypeAlias = Literal["clamp", "wrap"]


def cast_values(
    array: AnyArray,
    target: np.dtype[Any],
    rounding: RoundingMode = "nearest-even",
    out_of_range: OutOfRangeMode | None = None,
    scalar_map: Mapping[Any, Any] | None = None,
) -> AnyArray:
    """Return numbers in another data type.

    Parameters
    ----------
    array
        Integers of up to 64 bits, or floating-point numbers of 16, 32 or 64 bits.
    target
        A data type of the same kinds.
    rounding
        What to do with values between two representable ones.
    out_of_range
        What to do with values beyond the target's range: the nearest end (infinity, for floating-point targets), or
        for integers the remainder; None raises.
    scalar_map
        Values that become given values instead; a NaN stands for every NaN.

    Raises
    ------
    ValueError
        When a value is out of range, or is NaN or infinite and the target holds integers.

    Examples
    --------
    >>> cast_values(np.array([1.5, 300.0]), np.dtype("u1"), out_of_range="clamp")
    array([  2, 255], dtype=uint8)
    """
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    native = target.newbyteorder("=")
    mapped = _find_mapped(array, scalar_map or {})
    plain = array
    if mapped:
        plain = array.copy()
        for mask, _ in mapped:
            plain[mask] = 0
    if native.kind == "f":
        result = _to_float(plain, native, rounding, out_of_range)
    else:
        result = _to_int(plain, native, rounding, out_of_range)
    for mask, value in mapped:
        result[mask] = value
    return result.astype(target, copy=False)


def _find_mapped(array: AnyArray, scalar_map: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Return where each mapped value stands; of two entries for one value the first counts."""
    found: list[tuple[Any, Any]] = []
    free = np.ones(array.shape, dtype=bool)
    for source, value in scalar_map.items():
        is_nan = isinstance(source, (float, np.floating)) and source != source
        if is_nan and array.dtype.kind != "f":
            continue
        mask = (np.isnan(array) if is_nan else array == source) & free
        if np.any(mask):
            free &= ~mask
            found.append((mask, value))
    return found


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
        When a value is NaN or infinite, or the rounding is unknown.

    Examples
    --------
    >>> round_to_integers(np.array([0.5, 1.5, -2.5]), "nearest-away").tolist()
    [1.0, 2.0, -3.0]
    """
    values = array.astype(np.float64)
    if not np.all(np.isfinite(values)):
        bad = values[~np.isfinite(values)].reshape(-1)[0]
        raise ValueError(f"Cannot cast {bad} to integer type without scalar_map.")
    if rounding == "nearest-even":
        return np.rint(values)
    if rounding == "towards-positive":
        return np.ceil(values)
    if rounding == "towards-negative":
        return np.floor(values)
    whole = np.trunc(values)
    if rounding == "towards-zero":
        return whole
    if rounding == "nearest-away":
        return whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)
    raise ValueError(f"Unknown rounding mode: {rounding}")


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
    elif rounding == "nearest-away":
        below, above = _difference(lower, array, limit, finite), _difference(upper, array, limit, finite)
        tie = (-below == above) & (difference != 0)
        result = np.where(tie, np.where(array < 0, lower, upper), nearest)
    else:
        raise ValueError(f"Unknown rounding mode: {rounding}")
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
