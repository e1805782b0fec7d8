"""Random grids and selections, made for the compiled and the plain core alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import zarr_core
from zarr_core import grid, plan
from zarr_core.reference import grid as plain_grid
from zarr_core.reference import planners as plain_planners
from zarr_core.reference.plan import Plan as PlainPlan


@dataclass
class Twin:
    """The same plan twice."""

    compiled: plan.Plan
    plain: PlainPlan

    @property
    def shape(self) -> tuple[int, ...]:
        return self.plain.shape


@st.composite
def axes(draw: st.DrawFn) -> tuple[Any, ...]:
    """An axis's length and its chunks: one length, or one for each."""
    if draw(st.booleans()):
        return draw(st.integers(1, 12)), draw(st.integers(1, 5))
    edges = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    return draw(st.integers(max(1, sum(edges) - 4), sum(edges))), edges


def make_grids(described: list[tuple[Any, ...]]) -> tuple[grid.Grid, plain_grid.Grid]:
    """A grid from both sides."""
    grids = []
    for side in (grid, plain_grid):
        axis = [
            side.VaryingAxis(length, chunks) if isinstance(chunks, list) else side.RegularAxis(length, chunks)
            for length, chunks in described
        ]
        grids.append(side.Grid(axis))
    return grids[0], grids[1]


@st.composite
def slices(draw: st.DrawFn, length: int) -> slice:
    start = draw(st.integers(0, length))
    return slice(start, draw(st.integers(start, length)), draw(st.integers(1, 3)))


@st.composite
def selections(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[str, Any]:
    """The kind of a selection, and the selection."""
    kind = draw(st.sampled_from(["all", "basic", "orthogonal", "points", "mask"]))
    if kind == "all":
        return "basic", ...
    if kind == "basic":
        return kind, tuple(draw(st.one_of(slices(n), st.integers(0, n - 1))) for n in shape)
    if kind == "orthogonal":
        lists = [st.lists(st.integers(0, n - 1), min_size=1, max_size=6).map(np.array) for n in shape]
        return kind, tuple(draw(st.one_of(slices(n), some)) for n, some in zip(shape, lists))
    if kind == "points":
        count = draw(st.integers(1, 8))
        columns = (st.lists(st.integers(0, n - 1), min_size=count, max_size=count) for n in shape)
        return kind, tuple(np.array(draw(column)) for column in columns)
    flags = draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return kind, np.array(flags, bool).reshape(shape)


@st.composite
def twins(draw: st.DrawFn, whole: bool = False) -> Twin:
    """A plan of one to three axes; whole: all of the array."""
    described = draw(st.lists(axes(), min_size=1, max_size=3))
    grids = make_grids(described)
    kind, selection = ("basic", ...) if whole else draw(selections(tuple(length for length, _ in described)))
    name = f"plan_{kind}"
    return Twin(getattr(zarr_core, name)(grids[0], selection), getattr(plain_planners, name)(grids[1], selection))


DTYPES = st.sampled_from(["u1", "<i2", "<f4", "<f8", "<c16", "M8[s]", "V3", "<c8", "<f2"])


def values(seed: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Random items, many of them zero."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    raw[rng.random(shape) < 0.5] = 0
    return np.ascontiguousarray(raw).view(dtype).reshape(shape)


@st.composite
def program_parts(draw: st.DrawFn, dtype: np.dtype[Any], ndim: int) -> tuple[Any, ...]:
    """Arguments of a program for items of a dtype."""
    width = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    swap = draw(st.sampled_from([0, width])) if width in (2, 4, 8) else 0
    order = draw(st.one_of(st.none(), st.permutations(range(ndim)).map(tuple)))
    stages = draw(
        st.sampled_from(
            [
                [],
                [("crc32c", {})],
                [("zstd", {"level": 1})],
                [("blosc", {"typesize": dtype.itemsize})],
                [("shuffle", {"elementsize": dtype.itemsize}), ("zlib", {"level": 1}), ("crc32c", {})],
            ]
        )
    )
    return dtype.itemsize, swap, order, stages
