"""Between chunks and arrays: scatter a chunk into an output, gather a chunk from a value, fill, compare with a fill."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.plan import Slot


def scatter(chunk: NDArray[Any], slot: Slot, out: NDArray[Any]) -> None:
    """Copy the selected part of a decoded chunk to its place in the output."""
    _check_arrays("chunk", chunk, slot.chunk_shape, "out", out, slot.plan.shape)
    _check_writeable("out", out)
    out[(*slot.out_selection, ...)] = chunk[(*slot.chunk_selection, ...)]


def gather(value: NDArray[Any], slot: Slot, chunk: NDArray[Any]) -> None:
    """Copy the part of a value that belongs to a chunk into the chunk."""
    _check_arrays("chunk", chunk, slot.chunk_shape, "value", value, slot.plan.shape)
    _check_writeable("chunk", chunk)
    chunk[(*slot.chunk_selection, ...)] = value[(*slot.out_selection, ...)]


def fill(out: NDArray[Any], slot: Slot, value: Any) -> None:
    """Set the part of the output that a missing chunk would have filled."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if out.shape != slot.plan.shape:
        raise ValueError(f"out has shape {out.shape}, expected {slot.plan.shape}")
    _check_writeable("out", out)
    out[(*slot.out_selection, ...)] = scalar_array(value, out.dtype)


def scalar_array(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A value as a 0-d array of a dtype."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise ValueError(f"a fill value must be a scalar, got an array of shape {value.shape}")
    scalar = np.zeros((), dtype=dtype)
    scalar[()] = value[()] if isinstance(value, np.ndarray) else value
    return scalar


def is_filled(array: NDArray[Any], fill_value: Any) -> bool:
    """Whether every element is the fill value, bit for bit; but any NaN equals any other."""
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
    if isinstance(a, float) and isinstance(b, float) and a != a and b != b:
        return True
    equal = a == b
    return bool(equal) if np.ndim(equal) == 0 else bool(np.all(equal))


def _check_arrays(
    name: str,
    array: NDArray[Any],
    shape: tuple[int, ...],
    other: str,
    value: NDArray[Any],
    value_shape: tuple[int, ...],
) -> None:
    for label, item, expected in ((name, array, shape), (other, value, value_shape)):
        if not isinstance(item, np.ndarray):
            raise TypeError(f"{label} must be a NumPy array, got {type(item).__name__}")
        if item.shape != expected:
            raise ValueError(f"{label} has shape {item.shape}, expected {expected}")


def _check_writeable(name: str, array: NDArray[Any]) -> None:
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only")
