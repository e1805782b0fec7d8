"""Selections to plans."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.grid import Axis, Grid
from zarr_core.reference.plan import Piece, Plan, PointGroup


def plan_basic(grid: Grid, selection: Any) -> Plan:
    """Integers and slices, as NumPy's basic indexing."""
    items = expand(grid, selection)
    return _product(grid, [basic_positions(axis, d, item) for d, (axis, item) in enumerate(zip(grid.axes, items))])


def plan_orthogonal(grid: Grid, selection: Any) -> Plan:
    """Integers, slices, integer arrays and boolean arrays, each applied to its own axis."""
    items = expand(grid, selection)
    return _product(grid, [orthogonal_positions(axis, d, item) for d, (axis, item) in enumerate(zip(grid.axes, items))])


def plan_blocks(grid: Grid, selection: Any) -> Plan:
    """Whole chunks by chunk index: integers and slices of step 1, each applied to its own axis."""
    items = expand(grid, selection)
    return _product(grid, [block_positions(axis, d, item) for d, (axis, item) in enumerate(zip(grid.axes, items))])


def plan_points(grid: Grid, coords: Any) -> Plan:
    """One element per tuple of coordinates; the coordinate arrays are broadcast together."""
    arrays = [integer_array(item, d) for d, item in enumerate(coords)]
    if len(arrays) != grid.ndim:
        raise IndexError(
            f"points need one coordinate array per dimension: got {len(arrays)} for {grid.ndim} dimensions"
        )
    try:
        arrays = list(np.broadcast_arrays(*arrays)) if arrays else []
    except ValueError as error:
        raise IndexError(f"coordinate arrays do not broadcast together: {[a.shape for a in arrays]}") from error
    shape = arrays[0].shape if arrays else ()
    flat = [wrap(a.reshape(-1), axis, d) for d, (axis, a) in enumerate(zip(grid.axes, arrays))]
    points = np.stack(flat, axis=1) if flat else np.zeros((1, 0), dtype=np.int64)
    return _points(grid, shape, points)


def plan_mask(grid: Grid, mask: Any) -> Plan:
    """Plan the elements where a boolean array of the grid's shape is True, in C order."""
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise IndexError(f"a mask must be boolean, got dtype {mask.dtype}")
    if mask.shape != grid.shape:
        raise IndexError(f"mask shape {mask.shape} does not match array shape {grid.shape}")
    points = np.argwhere(mask).astype(np.int64)
    return _points(grid, (len(points),), points)


def _product(grid: Grid, parts: list[tuple[NDArray[np.int64], bool]]) -> Plan:
    pieces = []
    for axis, (positions, dropped) in zip(grid.axes, parts):
        chunks = np.array([axis.find(int(p)) for p in positions], dtype=np.int64)
        on_axis = []
        for chunk in np.unique(chunks).tolist():
            out = np.flatnonzero(chunks == chunk).astype(np.int64)
            inner = positions[out] - axis.offset(chunk)
            order = np.argsort(inner, kind="stable")
            on_axis.append(Piece.make(axis, chunk, inner[order], out[order], dropped))
        pieces.append(on_axis)
    return Plan(grid, tuple(len(positions) for positions, dropped in parts if not dropped), pieces=pieces)


def _points(grid: Grid, shape: tuple[int, ...], points: NDArray[np.int64]) -> Plan:
    groups: dict[tuple[int, ...], list[int]] = {}
    for out, point in enumerate(points.tolist()):
        chunk = tuple(axis.find(p) for axis, p in zip(grid.axes, point))
        groups.setdefault(chunk, []).append(out)
    slots = []
    for chunk, outs in sorted(groups.items()):
        offsets = [axis.offset(c) for axis, c in zip(grid.axes, chunk)]
        inner = points[outs] - np.array(offsets, dtype=np.int64)
        slots.append(PointGroup(chunk, inner, np.array(outs, dtype=np.int64)))
    return Plan(grid, shape, points=slots)


def expand(grid: Grid, selection: Any) -> list[Any]:
    """One item per dimension."""
    items = list(selection) if isinstance(selection, tuple) else [selection]
    ellipses = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError(f"a selection can have one ellipsis, got {len(ellipses)}")
    missing = grid.ndim - (len(items) - len(ellipses))
    if missing < 0:
        raise IndexError(f"too many indices: the array has {grid.ndim} dimensions, got {len(items) - len(ellipses)}")
    at = ellipses[0] if ellipses else len(items)
    return items[:at] + [slice(None)] * missing + items[at + 1 :]


def basic_positions(axis: Axis, dimension: int, item: Any) -> tuple[NDArray[np.int64], bool]:
    """Return the positions that an integer or a slice selects, and True if the dimension is dropped."""
    if isinstance(item, slice):
        return np.arange(*item.indices(axis.length), dtype=np.int64), False
    if item is None or isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
        raise IndexError(f"dimension {dimension}: {item!r} is not an integer or a slice")
    try:
        position = index(item)
    except TypeError as error:
        raise IndexError(f"dimension {dimension}: {item!r} is not an integer or a slice") from error
    if not -axis.length <= position < axis.length:
        raise IndexError(f"index {position} is out of bounds for dimension {dimension} with length {axis.length}")
    return np.array([position % axis.length], dtype=np.int64), True


def orthogonal_positions(axis: Axis, dimension: int, item: Any) -> tuple[NDArray[np.int64], bool]:
    if isinstance(item, (slice, int, np.generic, type(None))):
        return basic_positions(axis, dimension, item)
    try:
        array = np.asarray(item)
    except ValueError as error:
        raise IndexError(f"dimension {dimension}: index arrays must be rectangular: {error}") from error
    if array.ndim == 0:
        return basic_positions(axis, dimension, item)
    if array.ndim != 1:
        raise IndexError(f"dimension {dimension}: index arrays must have 1 dimension, got {array.ndim}")
    if array.dtype == np.bool_:
        if len(array) != axis.length:
            raise IndexError(f"dimension {dimension}: boolean index has length {len(array)}, expected {axis.length}")
        return np.flatnonzero(array).astype(np.int64), False
    return wrap(integer_array(array, dimension), axis, dimension), False


def block_positions(axis: Axis, dimension: int, item: Any) -> tuple[NDArray[np.int64], bool]:
    if isinstance(item, slice):
        start, stop, step = item.indices(axis.nchunks)
        if step != 1:
            raise IndexError(f"dimension {dimension}: block slices must have step 1, got {step}")
    else:
        blocks = Axis()
        blocks.length = axis.nchunks
        (start,) = basic_positions(blocks, dimension, item)[0].tolist()
        stop = start + 1
    if stop <= start:
        return np.zeros(0, dtype=np.int64), False
    return np.arange(axis.offset(start), axis.offset(stop - 1) + axis.valid_length(stop - 1), dtype=np.int64), False


def integer_array(item: Any, dimension: int) -> NDArray[np.int64]:
    array = np.asarray(item)
    if array.size == 0 and array.dtype == np.float64:
        array = array.astype(np.int64)  # what [] becomes
    if array.dtype.kind not in "iu":
        raise IndexError(f"dimension {dimension}: index arrays must hold integers, got dtype {array.dtype}")
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise IndexError(f"dimension {dimension}: index {int(array.max())} is out of bounds")
    return array.astype(np.int64)


def wrap(positions: NDArray[np.int64], axis: Axis, dimension: int) -> NDArray[np.int64]:
    """Negative indices count from the end."""
    outside = (positions < -axis.length) | (positions >= axis.length)
    if np.any(outside):
        wrong = int(positions[np.argmax(outside)])
        raise IndexError(f"index {wrong} is out of bounds for dimension {dimension} with length {axis.length}")
    return np.where(positions < 0, positions + axis.length, positions)
