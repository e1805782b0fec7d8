"""Arrays that hold nothing but the fill value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.chunks import scalar_array


def is_filled(array: NDArray[Any], fill_value: Any) -> bool:
    """Return True if every element is the fill value, bit for bit; but any NaN equals any other."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"array must be a NumPy array, got {type(array).__name__}")
    value = scalar_array(fill_value, array.dtype)
    if array.dtype.hasobject or array.dtype.kind == "T":
        wanted = value.tolist()  # of records with objects, numpy compares neither one with the other
        return all(_same(item, wanted) for item in array.reshape(-1).tolist())
    if array.dtype.itemsize == 0 or array.size == 0:
        return True
    if array.dtype.kind == "c":
        part = array.real.dtype
        pairs = np.ascontiguousarray(array).reshape(-1).view(part).reshape(-1, 2)
        return is_filled(pairs[:, 0], value.real) and is_filled(pairs[:, 1], value.imag)
    if array.dtype.kind == "f" and np.isnan(value):
        return bool(np.all(np.isnan(array)))
    if array.dtype.char == "g":  # its padding bytes hold anything
        return bool(np.all((array == value) & (np.signbit(array) == np.signbit(value))))
    items = np.frombuffer(array.tobytes(), dtype=np.uint8).reshape(array.size, -1)
    return bool(np.all(items == np.frombuffer(value.tobytes(), dtype=np.uint8)))


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    equal = a == b
    return bool(equal) if np.ndim(equal) == 0 else bool(np.all(equal))
