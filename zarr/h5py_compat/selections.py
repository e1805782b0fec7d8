"""Selections by the rules of h5py, and the transfer of the selected elements.

Integers, slices with a positive step, one ``...``, one list or 1-D array of increasing positions or a 1-D mask, a
mask of the dataset's whole shape, field names, ``MultiBlockSlice``. Errors are of the classes that h5py raises.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr.h5py_compat.dtypes import Array, StoredType


class MultiBlockSlice:
    """``count`` blocks of ``block`` elements, ``stride`` apart; a count of None means as many whole blocks as fit.

    Parameters
    ----------
    start : int, default 0
        Where the first block begins.
    stride : int, default 1
        How far the beginnings of blocks are apart.
    count : int, optional
        How many blocks there are.
    block : int, default 1
        The length of a block.

    Raises
    ------
    ValueError
        If blocks overlap.

    Examples
    --------
    >>> from zarr.h5py_compat import MultiBlockSlice
    >>> MultiBlockSlice(start=1, stride=4, count=2, block=2).positions(10)
    array([1, 2, 5, 6])
    """

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if block > stride:
            raise ValueError(f"Blocks will overlap if block size {block} > stride {stride}")
        self.start, self.stride, self.count, self.block = start, stride, count, block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Return start, stride, count and block for an axis of ``length``; raise ValueError if they do not fit.

        Parameters
        ----------
        length : int
            The length of the axis.

        Returns
        -------
        tuple of int

        Raises
        ------
        ValueError
            If the blocks do not fit.
        """
        if self.stride < 1 or self.block < 1:
            raise ValueError(f"stride {self.stride} and block {self.block} are at least 1")
        if self.count is not None:
            end = self.start + self.block + (self.count - 1) * self.stride
            if end > length:
                raise ValueError(f"{self!r} ends at {end - 1}, beyond maximum index ({length - 1})")
            return self.start, self.stride, self.count, self.block
        span = length - self.start
        count = 0 if span < self.block else (span - self.block) // self.stride + 1
        if count == 0:
            raise ValueError(f"{self!r} selects no whole block of an axis of {length}")
        return self.start, self.stride, count, self.block

    def positions(self, length: int) -> Array:
        """Return the selected positions.

        Parameters
        ----------
        length : int
            The length of the axis.

        Returns
        -------
        ndarray of int
        """
        start, stride, count, block = self.indices(length)
        return (start + np.arange(count)[:, None] * stride + np.arange(block)[None, :]).reshape(-1)

    def __repr__(self) -> str:
        return f"MultiBlockSlice(start={self.start}, stride={self.stride}, count={self.count}, block={self.block})"


@dataclass(frozen=True)
class Selection:
    """A selection of one dataset: a slice or an array of positions an axis, or one mask of the whole shape."""

    axes: tuple[slice | Array, ...]
    shape: tuple[int, ...]
    mask: Array | None = None

    @property
    def full_shape(self) -> tuple[int, ...]:
        """The shape with the axes of integers, as axes of one element."""
        if self.mask is not None:
            return self.shape
        return tuple(map(_length, self.axes))

    @property
    def has_list(self) -> bool:
        """Return True if an axis is selected by a list of positions."""
        return any(isinstance(axis, np.ndarray) for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of selected elements."""
        return int(np.prod(self.shape, dtype=object))


def _length(axis: slice | Array) -> int:
    return len(axis) if isinstance(axis, np.ndarray) else len(range(axis.start, axis.stop, axis.step))


def split_names(args: Any, dtype: np.dtype[Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return the selection proper and the field names of an index expression."""
    parts = args if isinstance(args, tuple) else (args,)
    names = tuple(part.decode() if isinstance(part, bytes) else part for part in parts if isinstance(part, str | bytes))
    rest = tuple(part for part in parts if not isinstance(part, str | bytes))
    if names and dtype.names is None:
        raise ValueError("Field names only allowed for compound types")
    for name in names:
        if name not in (dtype.names or ()):
            raise ValueError(f"Field {name} does not appear in this type: {dtype.names}")
    return rest, names


def select(args: tuple[Any, ...], shape: tuple[int, ...]) -> Selection:
    """Return the selection of ``args`` for a dataset of ``shape``.

    Raises
    ------
    IndexError
        For an integer out of range.
    TypeError
        For an argument that selects nothing, two lists, positions that do not increase, a mask of another shape.
    ValueError
        For too many arguments, two ellipses, a step below 1.
    """
    if len(args) == 1 and isinstance(args[0], np.ndarray) and args[0].dtype.kind == "b" and args[0].shape == shape:
        if not shape:
            raise ValueError("Illegal slicing argument for scalar dataspace")
        if len(shape) > 1:
            return Selection((), (int(np.count_nonzero(args[0])),), args[0])
    if not shape and args and not (len(args) == 1 and args[0] is Ellipsis):
        raise ValueError("Illegal slicing argument for scalar dataspace")
    axes: list[slice | Array] = []
    out: list[int] = []
    for arg, length in zip(_expand(args, shape), shape, strict=True):
        axis, kept = _select_axis(arg, length)
        if isinstance(axis, np.ndarray) and any(isinstance(other, np.ndarray) for other in axes):
            raise TypeError("Only one indexing vector or array is currently allowed for fancy indexing")
        axes.append(axis)
        if kept:
            out.append(_length(axis))
    return Selection(tuple(axes), tuple(out))


def _expand(args: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """Return one argument for each axis."""
    ellipses = [position for position, arg in enumerate(args) if arg is Ellipsis]
    if len(ellipses) > 1:
        raise ValueError("Only one ellipsis may be used.")
    if len(args) - len(ellipses) > len(shape):
        if any(isinstance(arg, np.ndarray) and arg.dtype.kind == "b" for arg in args):
            raise TypeError("Boolean indexing array has incompatible shape")
        if any(arg is None for arg in args):
            raise TypeError("Indexing with None (or np.newaxis) is not supported")
        raise ValueError(f"{len(args) - len(ellipses)} indexing arguments for {len(shape)} dimensions")
    at = ellipses[0] if ellipses else len(args)
    missing = len(shape) - (len(args) - len(ellipses))
    return [*args[:at], *[slice(None)] * missing, *args[at + 1 :]]


def _select_axis(arg: Any, length: int) -> tuple[slice | Array, bool]:
    """Return the selection of one axis, and True if the axis stays in the result."""
    if arg is None:
        raise TypeError("Indexing with None (or np.newaxis) is not supported")
    if isinstance(arg, slice):
        start, stop, step = arg.indices(length)
        if step < 1:
            raise ValueError(f"Step must be >= 1 (got {step})")
        return slice(start, max(start, stop), step), True
    if isinstance(arg, MultiBlockSlice):
        return arg.positions(length), True
    if hasattr(arg, "__index__") and np.ndim(arg) == 0 and not isinstance(arg, bool | np.bool_):
        position = int(arg)
        if not -length <= position < length:
            upper = f"(0-{length - 1})" if length else "empty dimension"
            raise IndexError(f"Index ({position}) out of range for {upper}")
        position += length if position < 0 else 0
        return slice(position, position + 1, 1), False
    if isinstance(arg, list | tuple | range | np.ndarray):
        return _positions(arg, length), True
    raise TypeError(f"Selection can't process {arg!r}")


def _positions(arg: Any, length: int) -> Array:
    array = np.asarray(arg)
    if array.dtype.kind == "b":
        if array.shape != (length,):
            raise TypeError("Boolean indexing array has incompatible shape")
        return np.flatnonzero(array)
    if array.size == 0 and not isinstance(arg, np.ndarray):
        array = array.astype(np.int64)
    if array.ndim != 1:
        raise TypeError("Only 1D arrays allowed for fancy indexing")
    if array.dtype.kind not in "iu":
        raise TypeError("Indexing arrays must have integer dtypes")
    wrapped = np.where(array < 0, array.astype(np.int64) + length, array.astype(np.int64))
    if wrapped.size and (wrapped.min() < 0 or wrapped.max() >= length):
        raise IndexError(f"Fancy indexing out of range for (0-{length - 1})")
    if np.any(np.diff(wrapped) <= 0):
        raise TypeError("Indexing elements must be in increasing order")
    return wrapped


def read(array: Any, stored: StoredType, selection: Selection) -> Array:
    """Return the selected elements, with the axes of a subarray type at the end."""
    inner = stored.dtype.shape
    if selection.size == 0:
        return np.empty(selection.shape + inner, dtype=stored.element)
    if selection.mask is not None:
        if inner:
            return stored.decode(array[...])[selection.mask]
        return stored.decode(array.get_mask_selection(selection.mask))
    where, index = _target(array, selection, len(inner))
    return stored.decode(where[index]).reshape(selection.shape + inner)


def _target(array: Any, selection: Selection, inner: int) -> tuple[Any, Any]:
    """Return the object to index for a selection, and the index."""
    return (array.oindex if selection.has_list else array), (selection.axes + (slice(None),) * inner) or Ellipsis


def spread(values: Array, shape: tuple[int, ...]) -> Array:
    """Return values in the shape of a selection, as h5py broadcasts them; raise TypeError if they do not fit."""
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
    where, index = _target(array, selection, len(inner))
    where[index] = encoded.reshape(selection.full_shape + inner)


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
