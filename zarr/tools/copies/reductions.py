"""Reduce blocks of elements to one element each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Values: TypeAlias = npt.NDArray[Any]
Method: TypeAlias = Literal["mean", "mode", "max", "min", "nearest"]

METHODS: Final = ("mean", "mode", "max", "min", "nearest")


def reduce_blocks(values: Values, factors: Sequence[int], method: Method, missing: Values | None = None) -> Values:
    """Return an array with one element for each block; blocks at the end of an axis may be smaller.

    Parameters
    ----------
    values : numpy.ndarray
    factors : sequence of int
        The length of a block along each axis.
    method : "mean", "mode", "max", "min" or "nearest"
        The mean ignores NaN; for integers it is rounded to the nearest, halves up; for booleans it is the majority. The
        mode is the most frequent value, the smallest of several. The nearest is the first of each block.
    missing : numpy.ndarray, optional
        Elements that mean, max and min leave out. A block of such elements alone becomes its first one.

    Returns
    -------
    numpy.ndarray
        An array of the same data type.

    Raises
    ------
    TypeError
        If the data type has no mean, or no order.

    Examples
    --------
    >>> reduce_blocks(np.array([1, 3, 5, 7, 9]), (2,), "mean").tolist()
    [2, 6, 9]
    """
    check_method(method, values.dtype)
    if method == "nearest":
        return values[tuple(slice(None, None, factor) for factor in factors)]
    result = np.empty([-(-n // f) for n, f in zip(values.shape, factors, strict=True)], dtype=values.dtype)
    axes = [_pieces(length, factor) for length, factor in zip(values.shape, factors, strict=True)]
    for piece in product(*axes):
        region = tuple(source for source, _, _ in piece)
        block = _blocks(values[region], [factor for _, _, factor in piece])
        gone = np.isin(block, missing) if missing is not None and missing.size and method != "mode" else None
        reduced = _REDUCE[method](block) if gone is None or not gone.any() else _of_known(block, gone, method)
        result[tuple(target for _, target, _ in piece)] = reduced
    return result


def check_method(method: str, dtype: np.dtype[Any]) -> None:
    """Refuse a method that is unknown, or that a data type does not have.

    Raises
    ------
    ValueError, TypeError
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, not {method!r}")
    if (method == "mean" and dtype.kind not in "biufc") or (method in ("max", "min") and dtype.kind not in "biufmM"):
        raise TypeError(f"elements of {dtype} have no {method}: take 'mode' or 'nearest'")
    if method == "mode" and dtype.kind in "VO":
        raise TypeError(f"elements of {dtype} have no {method}: take 'nearest'")


def _pieces(length: int, factor: int) -> list[tuple[slice, slice, int]]:
    """Return the part of an axis with whole blocks, and the rest, each with its place and length of blocks."""
    whole, rest = divmod(length, factor)
    pieces = [(slice(0, whole * factor), slice(0, whole), factor)] if whole else []
    if rest:
        pieces.append((slice(whole * factor, length), slice(whole, whole + 1), rest))
    return pieces


def _blocks(values: Values, factors: Sequence[int]) -> Values:
    """Return the elements of each block along a last axis."""
    split = [n for length, factor in zip(values.shape, factors, strict=True) for n in (length // factor, factor)]
    outer, inner = range(0, len(split), 2), range(1, len(split), 2)
    blocks = values.reshape(split).transpose(*outer, *inner)
    return blocks.reshape(*(split[axis] for axis in outer), math.prod(factors))


def _of_known(blocks: Values, gone: Values, method: Method) -> Values:
    """Reduce the elements of each block that are not gone."""
    if blocks.dtype.kind == "f":
        reduced = _REDUCE[method](np.where(gone, blocks.dtype.type(np.nan), blocks))
    elif method == "mean":
        reduced = _integer_mean(np.where(gone, blocks.dtype.type(0), blocks), np.maximum(1, (~gone).sum(axis=-1)))
    else:
        bounds = np.iinfo(blocks.dtype)
        least = blocks.dtype.type(bounds.min if method == "max" else bounds.max)
        reduced = _REDUCE[method](np.where(gone, least, blocks))
    return np.where(gone.all(axis=-1), blocks[..., 0], reduced)


def _mean(blocks: Values) -> Values:
    kind = blocks.dtype.kind
    if kind == "b":
        majority: Values = blocks.mean(axis=-1) >= 0.5
        return majority
    if kind in "iu":
        return _integer_mean(blocks, np.array(blocks.shape[-1]))
    missing = np.isnan(blocks)
    if not missing.any():
        plain: Values = blocks.mean(axis=-1, dtype=np.result_type(blocks.dtype, np.float64))
        return plain.astype(blocks.dtype)
    counts = (~missing).sum(axis=-1)
    total = np.where(missing, 0, blocks).sum(axis=-1, dtype=np.result_type(blocks.dtype, np.float64))
    means = np.full(counts.shape, np.nan, dtype=total.dtype)
    np.divide(total, counts, out=means, where=counts > 0)
    return means.astype(blocks.dtype)


def _integer_mean(blocks: Values, counts: Values) -> Values:
    """Return means that are exact before they are rounded: a sum of 64-bit integers may not fit into 64 bits.

    ``counts`` is the number of elements in each block, or one number for all.
    """
    wide = np.uint64 if blocks.dtype.kind == "u" else np.int64
    count = counts.astype(wide)
    quotients, remainders = np.divmod(blocks.astype(wide), count[..., None])
    means: Values = quotients.sum(axis=-1) + (2 * remainders.sum(axis=-1) + count) // (2 * count)
    return means.astype(blocks.dtype)


def _mode(blocks: Values) -> Values:
    ordered = np.sort(blocks, axis=-1)
    # The number of each element up to its place: the first greatest number is that of the smallest value.
    counts = np.ones(ordered.shape, dtype=np.int64)
    for place in range(1, ordered.shape[-1]):
        same = ordered[..., place] == ordered[..., place - 1]
        counts[..., place] = np.where(same, counts[..., place - 1] + 1, 1)
    return np.take_along_axis(ordered, counts.argmax(axis=-1)[..., None], axis=-1)[..., 0]


def _folded(fold: Any, blocks: Values) -> Any:
    return fold.reduce(blocks, axis=-1)


_REDUCE: Final[dict[str, Callable[[Values], Values]]] = {
    "mean": _mean, "mode": _mode, "max": partial(_folded, np.fmax), "min": partial(_folded, np.fmin),
}  # fmt: skip
