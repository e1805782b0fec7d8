"""Elements of one dataset, read and written through its zarr array by a ``Selection``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from zarr.h5py_compat.data.selections import Selection
from zarr.h5py_compat.types.stored import StoredType

Array = np.ndarray[Any, Any]


def read(array: Any, stored: StoredType, selection: Selection) -> Array:
    """Return the selected elements, with the axes of a subarray type at the end."""
    inner = stored.dtype.shape
    if selection.size == 0:
        return np.empty(selection.shape + inner, dtype=stored.element)
    if selection.mask is not None:
        if inner:
            return stored.decode(array[...])[selection.mask]
        return stored.decode(array.get_mask_selection(selection.mask))
    return stored.decode(_get(array, selection, len(inner))).reshape(selection.shape + inner)


def _get(array: Any, selection: Selection, inner: int) -> Any:
    index = selection.axes + (slice(None),) * inner
    if not index:
        return array[...]
    return array.oindex[index] if selection.has_list else array[index]


def spread(values: Array, shape: tuple[int, ...]) -> Array:
    """Return values in the shape of a selection, as h5py broadcasts them; a TypeError where they do not fit."""
    source = values
    while source.ndim > len(shape) and source.shape[0] == 1:
        source = source[0]
    try:
        return np.broadcast_to(source, shape)
    except ValueError:
        raise TypeError(f"Can't broadcast {values.shape} -> {shape}") from None


def write(array: Any, stored: StoredType, selection: Selection, values: Array) -> None:
    """Store elements; ``values`` has the shape of the selection and the axes of a subarray type."""
    if selection.size == 0:
        return
    encoded = stored.encode(np.asarray(values))
    inner = stored.dtype.shape
    if selection.mask is not None:
        if inner:
            everything = array[...]
            everything[selection.mask] = encoded
            array[...] = everything
        else:
            array.set_mask_selection(selection.mask, encoded)
        return
    index = selection.axes + (slice(None),) * len(inner)
    encoded = encoded.reshape(selection.full_shape + inner)
    if not index:
        array[...] = encoded
    elif selection.has_list:
        array.oindex[index] = encoded
    else:
        array[index] = encoded


def walk_chunks(shape: tuple[int, ...], chunks: tuple[int, ...], sel: Any) -> Iterator[tuple[slice, ...]]:
    """Return the parts of a selection (slices of step 1 and integers; None for all) that lie in one chunk each.

    Raises
    ------
    ValueError
        If the selection has another rank than the dataset.
    TypeError
        If it has a step, or something else than slices and integers.
    """
    parts = sel if isinstance(sel, tuple) else (sel,) if sel is not None else (slice(None),) * len(shape)
    if len(parts) != len(shape):
        raise ValueError(f"a selection of {len(parts)} axes does not fit a dataset of {len(shape)}")
    bounds = [_bounds(part, length) for part, length in zip(parts, shape, strict=True)]
    pieces = [_cut(start, stop, size) for (start, stop), size in zip(bounds, chunks, strict=True)]
    return itertools.product(*pieces)


def _bounds(part: Any, length: int) -> tuple[int, int]:
    if isinstance(part, slice):
        start, stop, step = part.indices(length)
        if step != 1:
            raise TypeError(f"chunks are walked with step 1, not {step}")
        return start, stop
    if isinstance(part, int):
        return part, part + 1
    raise TypeError(f"chunks are selected by slices and integers, not by {part!r}")


def _cut(start: int, stop: int, size: int) -> list[slice]:
    edges = range(start - start % size, stop, size)
    return [slice(max(edge, start), min(edge + size, stop), 1) for edge in edges]


__all__ = [
    "read",
    "spread",
    "walk_chunks",
    "write",
]
