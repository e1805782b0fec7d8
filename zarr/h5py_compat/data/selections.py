"""h5py's rules of selection: what may stand between the brackets of a dataset.

Integers, slices with a positive step, one ``...``, one list or 1-D array of increasing positions or a 1-D mask, a
mask of the dataset's whole shape, field names, ``MultiBlockSlice``. Errors are of the classes that h5py raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["MultiBlockSlice", "Selection", "select", "split_names"]

Array = np.ndarray[Any, Any]


class MultiBlockSlice:
    """``count`` blocks of ``block`` elements, ``stride`` apart; a count of None means as many as fit whole."""

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if block > stride:
            raise ValueError(f"Blocks will overlap if block size {block} > stride {stride}")
        self.start, self.stride, self.count, self.block = start, stride, count, block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Return start, stride, count and block for an axis of ``length``; a ValueError where they do not fit."""
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
        """Return the selected positions."""
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
        """The shape with the axes that an integer took away, as axes of one element."""
        if self.mask is not None:
            return self.shape
        return tuple(len(axis) if isinstance(axis, np.ndarray) else _length(axis) for axis in self.axes)

    @property
    def has_list(self) -> bool:
        """Say whether an axis is selected by a list of positions."""
        return any(isinstance(axis, np.ndarray) for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of selected elements."""
        return int(np.prod(self.shape, dtype=object))


def _length(axis: slice) -> int:
    return len(range(axis.start, axis.stop, axis.step))


def split_names(args: Any, dtype: np.dtype[Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return the selection proper and the field names of what stood between the brackets."""
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
    """Return the selection that ``args`` mean for a dataset of ``shape``.

    Raises
    ------
    IndexError
        For an integer out of range.
    TypeError
        For what can select nothing, two lists, positions that do not increase, a mask of another shape.
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
            out.append(len(axis) if isinstance(axis, np.ndarray) else _length(axis))
    return Selection(tuple(axes), tuple(out))


def _expand(args: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """Return one argument an axis."""
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
    """Return what one argument selects of an axis, and whether the axis stays."""
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
