"""Grids: compiled equals reference."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import AxisSpec, axis_specs, grid_specs, make_grid
from zarr_core import grid
from zarr_core.reference import grid as reference

both = pytest.mark.parametrize("module", [grid, reference], ids=["compiled", "reference"])


@given(axis_specs(max_length=30))
def test_axis(spec: AxisSpec) -> None:
    axis, twin = (make_grid(module, [spec]).axes[0] for module in (grid, reference))
    assert (axis.length, axis.nchunks, axis.ncells, axis.regular) == (
        twin.length,
        twin.nchunks,
        twin.ncells,
        twin.regular,
    )
    covered = []
    for i in range(axis.nchunks):
        assert axis.offset(i) == twin.offset(i)
        assert axis.chunk_length(i) == twin.chunk_length(i)
        assert axis.valid_length(i) == twin.valid_length(i)
        covered += range(axis.offset(i), axis.offset(i) + axis.valid_length(i))
    assert covered == list(range(axis.length))
    for position in covered:
        assert axis.find(position) == twin.find(position)
    assert repr(pickle.loads(pickle.dumps(axis))) == repr(axis)


@given(grid_specs())
def test_grid(specs: list[AxisSpec]) -> None:
    compiled, twin = make_grid(grid, specs), make_grid(reference, specs)
    for name in ("ndim", "shape", "cdata_shape", "nchunks", "regular", "overhangs"):
        assert getattr(compiled, name) == getattr(twin, name)
    assert repr(pickle.loads(pickle.dumps(compiled))) == repr(compiled)


@given(grid_specs(), st.data())
def test_edges_of_smaller_arrays(specs: list[AxisSpec], data: st.DataObject) -> None:
    shape = [data.draw(st.integers(0, n + 2)) for n in make_grid(grid, specs).shape]
    for module in (grid, reference):
        made = make_grid(module, specs)
        spans = [[(a.offset(i), a.offset(i) + a.chunk_length(i)) for i in range(a.nchunks)] for a in made.axes]
        beyond = [(d, len(each) - 1) for d, each in enumerate(spans) if each and each[-1][1] > made.shape[d]]
        assert made.overhangs == tuple(beyond)
        counts = made.counts_within(shape)
        assert counts == tuple(sum(first < n for first, _ in each) for n, each in zip(shape, spans, strict=True))
        assert made.ends(counts) == tuple(
            max((min(last, a.length) for _, last in each[:count]), default=0)
            for a, each, count in zip(made.axes, spans, counts, strict=True)
        )


@both
def test_wrong_shapes_of_smaller_arrays(module: Any) -> None:
    made = module.Grid([module.RegularAxis(10, 3)])
    for shape in ((), (1, 1), (-1,)):
        with pytest.raises(ValueError, match=r"shape|length"):
            made.counts_within(shape)
    for counts in ((), (1, 1)):
        with pytest.raises(ValueError, match="ends"):
            made.ends(counts)
    with pytest.raises(IndexError, match="out of range"):
        made.ends((5,))


@given(st.lists(st.integers(0, 6), max_size=4))
def test_morton_order(shape: list[int]) -> None:
    order = grid.morton_order(shape)
    assert np.array_equal(order, reference.morton_order(shape))
    assert len(np.unique(order, axis=0)) == len(order) == np.prod(shape, dtype=int)


def test_morton_order_by_hand() -> None:
    assert grid.morton_order((2, 3)).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]
    assert grid.morton_order((2,) * 3).tolist()[:4] == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]


def test_huge_grid() -> None:
    compiled = grid.Grid([grid.RegularAxis(2**63 - 1, 3)] * 3)
    assert compiled.nchunks == ((2**63 - 1) // 3 + 1) ** 3
    last = grid.RegularAxis(2**63 - 1, 2**62)
    assert (last.nchunks, last.valid_length(1)) == (2, 2**62 - 1)


@both
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1, 3), ValueError, "axis length must be between 0 and 2\\*\\*63 - 1, got -1"),
        ((2**63, 3), ValueError, "axis length must be"),
        ((5, 0), ValueError, "chunk length must be"),
        ((5, -2), ValueError, "chunk length must be"),
        ((5, 2**63), ValueError, "chunk length must be"),
        ((5.0, 2), TypeError, "float"),
        ((5, "2"), TypeError, "str"),
    ],
)
def test_regular_guards(module: Any, arguments: tuple[Any, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        module.RegularAxis(*arguments)


@both
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, [3]), "axis length must be"),
        ((5, [2, 2]), "chunk lengths sum to 4, less than the axis length 5"),
        ((5, [5, 0]), "chunk lengths must be at least 1, got 0 for chunk 1"),
        ((5, [2**62, 2**62]), "more than 2\\*\\*63 - 1"),
        ((5, [-1]), "chunk length"),
    ],
)
def test_varying_guards(module: Any, arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        module.VaryingAxis(*arguments)


@both
def test_other_guards(module: Any) -> None:
    axis = module.RegularAxis(10, 4)
    for method in (axis.offset, axis.chunk_length, axis.valid_length):
        for i in (-1, 3, 2**70):
            with pytest.raises(IndexError, match=f"chunk {i} is out of range for an axis of 3 chunks"):
                method(i)
    for position in (-1, 10, 2**70):
        with pytest.raises(IndexError, match=f"position {position} is out of range for an axis of length 10"):
            axis.find(position)
    with pytest.raises(TypeError, match="got int"):
        module.Grid([3])
    with pytest.raises(ValueError, match="at most 64 axes, got 65"):
        module.Grid([axis] * 65)
    with pytest.raises(ValueError, match="at most 64 axes, got 65"):
        module.morton_order([1] * 65)
    with pytest.raises(ValueError, match=r"got -1|\(2, -1\)"):
        module.morton_order([2, -1])


def test_morton_order_of_too_large_a_box() -> None:
    with pytest.raises(ValueError, match="too large to order"):
        grid.morton_order([2**40, 2**40])
