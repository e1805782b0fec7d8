"""Random grids, selections and arrays, and the chunks that an array is cut into."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from zarr_core.reference import grid as reference_grid

AxisSpec = tuple[int, int | list[int]]  # length, and a chunk length or many

DTYPES = ["i1", "<i2", ">i4", "<f8", "<c16", ">c8", "S3", "U2", "V5", "M8[s]", "O", "T"]


@st.composite
def axis_specs(draw: st.DrawFn, max_length: int = 9) -> AxisSpec:
    length = draw(st.integers(0, max_length))
    if draw(st.booleans()):
        return length, draw(st.integers(1, 5))
    edges = draw(st.lists(st.integers(1, 4), max_size=4))
    missing = length - sum(edges)
    while missing > 0:
        edges.append(min(missing, draw(st.integers(1, 5))))
        missing -= edges[-1]
    return length, edges


def grid_specs(max_ndim: int = 3) -> st.SearchStrategy[list[AxisSpec]]:
    return st.lists(axis_specs(), max_size=max_ndim)


def make_grid(module: Any, specs: list[AxisSpec]) -> Any:
    """The grid of one implementation: ``module`` has RegularAxis, VaryingAxis and Grid."""
    return module.Grid([module.RegularAxis(n, c) if isinstance(c, int) else module.VaryingAxis(n, c) for n, c in specs])


def slices(length: int) -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-length - 2, length + 2)
    return st.builds(slice, bound, bound, st.none() | st.integers(-4, 4).filter(bool))


def basic_items(length: int) -> st.SearchStrategy[Any]:
    if not length:
        return slices(0)
    return st.one_of(st.integers(-length, length - 1), st.integers(-length, length - 1).map(np.int32), slices(length))


def orthogonal_items(length: int) -> st.SearchStrategy[Any]:
    masks = st.lists(st.booleans(), min_size=length, max_size=length).map(lambda v: np.array(v, dtype=bool))
    options = [basic_items(length), masks]
    if length:
        numbers = st.lists(st.integers(-length, length - 1), max_size=8)
        options += [numbers, numbers.map(lambda v: np.array(v, dtype="i2")), numbers.map(sorted)]
    return st.one_of(options)


@st.composite
def selections(draw: st.DrawFn, shape: tuple[int, ...], item: Any) -> Any:
    """A tuple of items, perhaps shortened, perhaps with an ellipsis."""
    items = [draw(item(n)) for n in shape]
    if items and draw(st.booleans()):
        at = draw(st.integers(0, len(items) - 1))
        stop = draw(st.integers(at, len(items)))
        items[at:stop] = [Ellipsis]
    if len(items) == 1 and draw(st.booleans()):
        return items[0]
    return tuple(items)


def numbered(shape: tuple[int, ...], dtype: str = "i8") -> NDArray[Any]:
    """An array whose elements tell their places."""
    size = int(np.prod(shape, dtype=np.int64))
    if dtype == "O":
        flat = np.empty(size, dtype=object)
        flat[:] = [("item", i) for i in range(size)]
    elif dtype == "T":
        flat = np.array([f"item {i}" for i in range(size)], dtype=np.dtypes.StringDType())
    elif dtype.startswith("V"):
        flat = np.zeros(size, dtype=dtype)
        flat.view(np.uint8).reshape(size, flat.itemsize)[:] = np.arange(size, dtype=np.uint8)[:, None] + np.arange(5)
    else:
        flat = np.arange(1, size + 1).astype(dtype)
    return flat.reshape(shape)


def cut(array: NDArray[Any], slot: Any, order: str = "C") -> NDArray[Any]:
    """The chunk of a slot, its overhang left at the dtype's zero."""
    offsets = [axis.offset(c) for axis, c in zip(slot.plan.grid.axes, slot.coords)]
    part = array[(*(slice(o, o + n) for o, n in zip(offsets, slot.chunk_shape)), ...)]
    chunk = np.zeros(slot.chunk_shape, dtype=array.dtype, order=order)  # type: ignore[call-overload]
    chunk[(*(slice(n) for n in part.shape), ...)] = part
    return chunk


def valid_region(slot: Any) -> tuple[slice, ...]:
    axes = zip(slot.plan.grid.axes, slot.coords)
    return tuple(slice(a.offset(c), a.offset(c) + a.valid_length(c)) for a, c in axes)


def reference_of(specs: list[AxisSpec]) -> Any:
    return make_grid(reference_grid, specs)
