"""Between chunks and arrays: scatter a chunk into an output, gather a chunk from a value, fill."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.plan import Slot


def scatter(chunk: NDArray[Any], slot: Slot, out: NDArray[Any]) -> None:
    """Copy the selected part of a decoded chunk to its place in the output."""
    _check_arrays("chunk", chunk, slot.chunk_shape, "out", out, slot.plan.shape)
    _check_writeable("out", out)
    part = chunk[(*slot.chunk_selection, ...)]
    if part.dtype == bool == out.dtype:  # stored bytes may be others than 0 and 1
        part = part.view(np.uint8) != 0
    out[(*slot.out_selection, ...)] = part


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
    """Make a value a 0-d array of a dtype."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise ValueError(f"a fill value must be a scalar, got an array of shape {value.shape}")
    scalar = np.zeros((), dtype=dtype)
    scalar[()] = value[()] if isinstance(value, np.ndarray) else value
    return scalar


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
