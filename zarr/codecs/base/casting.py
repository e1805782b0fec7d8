"""Casts of numbers by value: how to round, what to do beyond the range, which values to map.

The casts themselves are `zarr_core.cast_numbers`; here the values that become given values are set apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import zarr_core

if TYPE_CHECKING:
    from zarr.codecs.base.bound import AnyArray

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
    result = zarr_core.cast_numbers(plain, native, rounding, out_of_range)
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
