"""Plans: compiled equals reference equals NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr_core
from tests.core.strategies import (
    DTYPES,
    axis_specs,
    basic_items,
    cut,
    grid_specs,
    make_grid,
    numbered,
    orthogonal_items,
    reference_of,
    selections,
    slices,
    valid_region,
)
from zarr_core import chunks, grid, planners, point_planners
from zarr_core.plan import Plan, Slot
from zarr_core.reference import chunks as reference_chunks
from zarr_core.reference import planners as reference
from zarr_core.reference.plan import ShardGroups as PlainGroups
from zarr_core.shard_groups import ShardGroups

pytestmark = pytest.mark.filterwarnings("error")
many = settings(max_examples=300, deadline=None)


def compare(plan: Any, other: Any) -> None:
    """A compiled plan says what the reference says."""
    assert plan.shape == other.shape
    assert plan.nslots == other.nslots
    assert plan.ndim == other.ndim
    assert plan.all_whole == other.all_whole
    assert np.array_equal(plan.all_coords(), other.all_coords())
    for i in range(plan.nslots):
        slot, twin = plan.slot(i), other.slot(i)
        assert slot.index == i
        assert slot.plan is plan
        assert plan.coords(i) == slot.coords == twin.coords
        assert plan.whole(i) == slot.whole == twin.whole, (i, slot.coords)
        assert plan.chunk_shape(i) == slot.chunk_shape == twin.chunk_shape
        assert plan.valid_shape(i) == other.valid_shape(i)


def read(plan: Any, array: Any, order: str = "C", out: Any = None) -> Any:
    """Read a selection chunk by chunk, by the kernels and by the slots' NumPy indexes."""
    out = np.zeros(plan.shape, dtype=array.dtype) if out is None else out
    again = np.zeros(plan.shape, dtype=array.dtype)
    for i in range(plan.nslots):
        slot = plan.slot(i)
        chunk = cut(array, slot, order)
        chunks.scatter(chunk, slot, out)
        again[(*slot.out_selection, ...)] = chunk[(*slot.chunk_selection, ...)]
    assert np.array_equal(out, again)
    return out


def write(plan: Any, array: Any, value: Any) -> Any:
    """Write a selection chunk by chunk to a copy of an array."""
    result = array.copy()
    for i in range(plan.nslots):
        slot = plan.slot(i)
        chunk = cut(array, slot)
        if slot.whole:
            chunk[...] = np.zeros((), dtype=array.dtype)  # what is there must not matter
        chunks.gather(value, slot, chunk)
        region = valid_region(slot)
        result[(*region, ...)] = chunk[(*(slice(r.stop - r.start) for r in region), ...)]
    return result


def outer(array: Any, selection: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Orthogonal indexing spelled for NumPy."""
    items = reference.expand(type("G", (), {"ndim": array.ndim}), selection)
    positions = []
    for n, item in zip(shape, items):
        item = item.tolist() if isinstance(item, np.generic) else item
        positions.append(np.arange(n)[np.asarray(item, dtype=int) if isinstance(item, list) else item])
    mesh = np.ix_(*[np.atleast_1d(p) for p in positions]) if positions else ()
    return tuple(m.reshape([k for k, p in zip(m.shape, positions) if np.ndim(p)]) for m in mesh)


def check(plan: Any, other: Any, array: Any, index: Any, data: st.DataObject) -> None:
    compare(plan, other)
    order = data.draw(st.sampled_from("CF"))
    assert np.array_equal(read(plan, array, order), array[index])
    value = np.asarray(-numbered(plan.shape))
    expected = array.copy()
    expected[index] = value
    assert np.array_equal(write(plan, array, value), expected)


@given(grid_specs(), st.data())
@many
def test_basic(specs: Any, data: st.DataObject) -> None:
    shape = tuple(n for n, _ in specs)
    selection = data.draw(selections(shape, basic_items))
    plan = planners.plan_basic(make_grid(grid, specs), selection)
    check(plan, reference.plan_basic(reference_of(specs), selection), numbered(shape), selection, data)


@given(grid_specs(), st.data())
@many
def test_orthogonal(specs: Any, data: st.DataObject) -> None:
    shape = tuple(n for n, _ in specs)
    array = numbered(shape)
    selection = data.draw(selections(shape, orthogonal_items))
    plan = planners.plan_orthogonal(make_grid(grid, specs), selection)
    check(plan, reference.plan_orthogonal(reference_of(specs), selection), array, outer(array, selection, shape), data)


@given(grid_specs(), st.data())
@many
def test_blocks(specs: Any, data: st.DataObject) -> None:
    shape = tuple(n for n, _ in specs)
    compiled, other = make_grid(grid, specs), reference_of(specs)

    def items(n: int) -> st.SearchStrategy[Any]:
        contiguous = st.builds(slice, st.none() | st.integers(-n - 1, n + 1), st.none() | st.integers(-n - 1, n + 1))
        return contiguous | st.integers(-n, n - 1) if n else contiguous

    selection = data.draw(selections(other.cdata_shape, items))
    plan = planners.plan_blocks(compiled, selection)
    index = []
    for axis, item in zip(other.axes, reference.expand(other, selection)):
        ids = np.atleast_1d(np.arange(axis.nchunks)[item])
        ends = [(axis.offset(i), axis.offset(i) + axis.valid_length(i)) for i in ids.tolist()]
        index.append(slice(ends[0][0], ends[-1][1]) if ends else slice(0, 0))
    check(plan, reference.plan_blocks(other, selection), numbered(shape), (*index, ...), data)


@given(st.lists(axis_specs(), min_size=1, max_size=3), st.data())
@many
def test_points(specs: Any, data: st.DataObject) -> None:
    specs = [(max(n, 1), c if isinstance(c, int) else [*c, 1]) for n, c in specs]
    shape = tuple(n for n, _ in specs)
    array = numbered(shape)
    out_shape = data.draw(st.sampled_from([(), (0,), (1,), (5,), (60,), (2, 3), (3, 0, 2)]))
    coords = []
    for n in shape:
        own = data.draw(st.sampled_from([out_shape, out_shape[-1:], ()]))
        size = int(np.prod(own))
        values = data.draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size))
        coords.append(np.array(values, dtype=data.draw(st.sampled_from(["i1", "i8"]))).reshape(own))
    index = tuple(np.broadcast_arrays(*coords))
    plan = point_planners.plan_points(make_grid(grid, specs), tuple(coords))
    check(plan, reference.plan_points(reference_of(specs), tuple(coords)), array, index, data)


@given(grid_specs(), st.data())
@many
def test_mask(specs: Any, data: st.DataObject) -> None:
    shape = tuple(n for n, _ in specs)
    kind = data.draw(st.sampled_from(["random", "all", "none", "rows"]))
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    mask = random.random(shape) < 0.5 if kind == "random" else np.full(shape, kind != "none")
    if kind == "rows" and shape:
        mask = np.array(np.broadcast_to((random.random(shape[:1]) < 0.5).reshape(-1, *[1] * (len(shape) - 1)), shape))
    mask = np.array(mask, order=data.draw(st.sampled_from("CF")))
    plan = point_planners.plan_mask(make_grid(grid, specs), mask)
    check(plan, reference.plan_mask(reference_of(specs), mask), numbered(shape), mask, data)


@given(st.sampled_from(DTYPES), st.sampled_from(["basic", "orthogonal", "points", "mask"]), st.data())
@many
def test_dtypes(dtype: str, kind: str, data: st.DataObject) -> None:
    """Every item width, any strides of chunk and output, and fill."""
    specs = data.draw(st.lists(axis_specs(), min_size=1, max_size=3))
    specs = [(max(n, 1), c if isinstance(c, int) else [*c, 1]) for n, c in specs]
    shape = tuple(n for n, _ in specs)
    array = numbered(shape, dtype)
    compiled = make_grid(grid, specs)
    if kind == "mask":
        plan = point_planners.plan_mask(compiled, np.random.default_rng(len(shape)).random(shape) < 0.6)
    elif kind == "points":
        plan = point_planners.plan_points(
            compiled, tuple(np.random.default_rng(1).integers(0, n, (3, 4)) for n in shape)
        )
    elif kind == "basic":
        plan = planners.plan_basic(compiled, tuple(data.draw(basic_items(n)) for n in shape))
    else:
        plan = planners.plan_orthogonal(compiled, tuple(data.draw(orthogonal_items(n)) for n in shape))
    out = strided(plan.shape, array.dtype, data)
    expected = np.zeros(plan.shape, dtype=array.dtype)
    fill_value = array.reshape(-1)[-1:].reshape(())
    for i in range(plan.nslots):
        slot = plan.slot(i)
        chunk = cut(array, slot, data.draw(st.sampled_from("CF")))
        if data.draw(st.booleans()):
            chunk = strided(chunk.shape, chunk.dtype, data, chunk)
        if dtype[0] in "<>" and data.draw(st.booleans()):
            chunk = chunk.astype(chunk.dtype.newbyteorder("S"))
        if data.draw(st.booleans()):
            chunks.scatter(chunk, slot, out)
            expected[(*slot.out_selection, ...)] = chunk[(*slot.chunk_selection, ...)]
            back, twin = np.zeros_like(chunk), np.zeros_like(chunk)
            chunks.gather(out, slot, back)
            twin[(*slot.chunk_selection, ...)] = expected[(*slot.out_selection, ...)]
            assert np.array_equal(back, twin)
        else:
            chunks.fill(out, slot, fill_value)
            expected[(*slot.out_selection, ...)] = fill_value
    assert np.array_equal(out, expected)


def strided(shape: tuple[int, ...], dtype: Any, data: st.DataObject, like: Any = None) -> Any:
    """An array of a shape with holes, negative strides or another order of dimensions."""
    steps = [data.draw(st.sampled_from([1, 2, -1, -3])) for _ in shape]
    order = data.draw(st.sampled_from("CF"))
    room = np.zeros([max(n * abs(s), 1) for n, s in zip(shape, steps)], dtype=dtype, order=order)
    view = room[(*(slice(None, None, s) for s in steps), ...)][(*(slice(n) for n in shape), ...)]
    if like is not None:
        view[...] = like
    return view


def test_value_with_zero_strides() -> None:
    compiled = grid.Grid([grid.RegularAxis(7, 3), grid.RegularAxis(5, 2), grid.RegularAxis(4, 3)])
    plan = planners.plan_basic(compiled, (slice(1, 7), slice(None), slice(0, 4, 2)))
    value = np.broadcast_to(np.arange(5).reshape(5, 1), plan.shape)
    array = numbered((7, 5, 4))
    expected = array.copy()
    expected[1:7, :, ::2] = value
    assert np.array_equal(write(plan, array, value), expected)


@pytest.mark.parametrize("shape", [(64, 96), (33, 40, 50), (128, 3), (3, 128)])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16", "S3"])
def test_transposed_chunks(shape: tuple[int, ...], dtype: str) -> None:
    """Large enough for tiles and for the GIL to be released."""
    array = (np.arange(np.prod(shape)) % 101).astype(dtype).reshape(shape)
    plan = planners.plan_basic(grid.Grid([grid.RegularAxis(n, n) for n in shape]), ...)
    for source in (np.array(array, order="F"), array):
        for target in (np.zeros(shape, dtype), np.zeros(shape, dtype, order="F")):
            chunks.scatter(source, plan.slot(0), target)
            assert np.array_equal(target, array)


def test_many_points_on_a_huge_grid() -> None:
    """Radix sort, and the column by column order where chunk numbers do not fit 64 bits."""
    random = np.random.default_rng(3)
    for lengths in [(10**9, 10**9), (2**62, 2**62, 2**62)]:
        compiled = grid.Grid([grid.RegularAxis(n, 10) for n in lengths])
        coords = tuple(random.integers(0, n, 500) for n in lengths)
        coords = tuple(np.concatenate([c, c[:100], c[:50] // 10 * 10]) for c in coords)
        plan = point_planners.plan_points(compiled, coords)
        chunk_ids = np.stack([c // 10 for c in coords], axis=1)
        assert np.array_equal(plan.all_coords(), np.unique(chunk_ids, axis=0))
        seen = np.concatenate([plan.slot(i).out_selection[0] for i in range(plan.nslots)])
        assert np.array_equal(np.sort(seen), np.arange(650))
        for i in range(0, plan.nslots, 37):
            (outs,) = plan.slot(i).out_selection
            assert np.all(np.diff(outs) > 0)
            for d in range(len(lengths)):
                assert np.array_equal(plan.slot(i).chunk_selection[d] + plan.coords(i)[d] * 10, coords[d][outs])


def test_repeated_indices_write_the_last_value() -> None:
    compiled = grid.Grid([grid.RegularAxis(6, 4)])
    for plan in (
        planners.plan_orthogonal(compiled, [5, 1, 1, 5]),
        point_planners.plan_points(compiled, ([5, 1, 1, 5],)),
    ):
        assert write(plan, np.zeros(6, int), np.array([1, 2, 3, 4])).tolist() == [0, 3, 0, 0, 0, 4]


def test_empty_and_zero_dimensional() -> None:
    point = planners.plan_basic(grid.Grid([]), ())
    assert (point.shape, point.nslots, point.coords(0), point.all_whole) == ((), 1, (), True)
    assert point.all_coords().shape == (1, 0)
    none = planners.plan_basic(grid.Grid([grid.RegularAxis(0, 0), grid.RegularAxis(5, 2)]), ...)
    assert (none.shape, none.nslots, none.all_coords().shape) == ((0, 5), 0, (0, 2))


GRID = grid.Grid([grid.RegularAxis(10, 3), grid.VaryingAxis(7, [4, 4])])


@pytest.mark.parametrize(
    ("plan", "selection", "message"),
    [
        ("plan_basic", 10, r"index 10 is out of bounds for dimension 0 with length 10"),
        ("plan_basic", (0, -8), r"index -8 is out of bounds for dimension 1 with length 7"),
        ("plan_basic", 2**70, r"index 1180591620717411303424 is out of bounds"),
        ("plan_basic", (0, 0, 0), r"too many indices: the array has 2 dimensions, got 3"),
        ("plan_basic", (..., ...), r"one ellipsis"),
        ("plan_basic", None, r"None is not an integer or a slice"),
        ("plan_basic", True, r"True is not an integer or a slice"),
        ("plan_basic", np.True_, r"not an integer or a slice"),
        ("plan_basic", 1.0, r"1.0 is not an integer or a slice"),
        ("plan_basic", [1, 2], r"not an integer or a slice"),
        ("plan_basic", "x", r"'x' is not an integer or a slice"),
        ("plan_orthogonal", None, r"not an integer or a slice"),
        ("plan_orthogonal", 2.5, r"not an integer or a slice"),
        ("plan_orthogonal", ([0, 10],), r"index 10 is out of bounds for dimension 0 with length 10"),
        ("plan_orthogonal", (0, np.array([-9])), r"index -9 is out of bounds for dimension 1 with length 7"),
        ("plan_orthogonal", (np.ones(9, bool),), r"boolean index has length 9, expected 10"),
        ("plan_orthogonal", (0, [True]), r"boolean index has length 1, expected 7"),
        ("plan_orthogonal", (np.zeros((2, 2), int),), r"1 dimension, got 2"),
        ("plan_orthogonal", (np.array([1.5]),), r"must hold integers, got dtype float64"),
        ("plan_orthogonal", (["a"],), r"must hold integers"),
        ("plan_orthogonal", ([[1], [1, 2]],), r"rectangular"),
        ("plan_orthogonal", (np.array([2**63], dtype="u8"),), r"index 9223372036854775808 is out of bounds"),
        ("plan_orthogonal", (0, 0, [1]), r"too many indices"),
        ("plan_blocks", 4, r"index 4 is out of bounds for dimension 0 with length 4"),
        ("plan_blocks", slice(0, 2, 2), r"step 1, got 2"),
        ("plan_blocks", [1], r"not an integer or a slice"),
        ("plan_points", ([0],), r"got 1 for 2 dimensions"),
        ("plan_points", ([0], [7]), r"index 7 is out of bounds for dimension 1 with length 7"),
        ("plan_points", ([0, 1], [0, 1, 2]), r"do not broadcast"),
        ("plan_points", ([0.5], [0]), r"must hold integers"),
        ("plan_points", ([True], [0]), r"must hold integers, got dtype bool"),
        ("plan_mask", np.ones((10, 7), int), r"must be boolean, got dtype int64"),
        ("plan_mask", np.ones((10, 6), bool), r"mask shape \(10, 6\) does not match array shape \(10, 7\)"),
    ],
)
def test_guards(plan: str, selection: Any, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        getattr(zarr_core, plan)(GRID, selection)
    with pytest.raises(IndexError):
        getattr(reference, plan)(reference_of([(10, 3), (7, [4, 4])]), selection)


def test_other_guards() -> None:
    with pytest.raises(ValueError, match="zero"):
        planners.plan_basic(GRID, slice(None, None, 0))
    with pytest.raises(TypeError, match="slice indices must be integers"):
        planners.plan_basic(GRID, slice(0.5))
    with pytest.raises(TypeError):
        planners.plan_basic(None, 0)
    with pytest.raises(TypeError, match="plans are made by"):
        Plan()
    plan = planners.plan_basic(GRID, ...)
    for method in (plan.coords, plan.whole, plan.chunk_shape, plan.valid_shape, plan.slot):
        for i in (-1, plan.nslots, 2**80):
            with pytest.raises(IndexError, match=f"slot {i} is out of range for a plan of 8 slots"):
                method(i)
        with pytest.raises(TypeError):
            method("0")
    with pytest.raises(IndexError):
        Slot(plan, 8)
    with pytest.raises(TypeError):
        Slot(None, 0)
    with pytest.raises(TypeError, match="twice"):
        plan.slot(0).__init__(plan, 1)
    orphan = Slot.__new__(Slot)
    for name in ("coords", "whole", "chunk_shape", "chunk_selection", "out_selection"):
        with pytest.raises(ValueError, match="belongs to no plan"):
            getattr(orphan, name)
    with pytest.raises(ValueError, match="belongs to no plan"):
        chunks.scatter(np.zeros(3), orphan, np.zeros(3))
    huge = grid.Grid([grid.RegularAxis(2**40, 1)] * 2)
    with pytest.raises(OverflowError, match="more than 2"):
        planners.plan_basic(huge, ...)


@given(grid_specs(), st.sampled_from(["basic", "mask"]), st.data())
@many
def test_shard_groups(specs: Any, kind: str, data: st.DataObject) -> None:
    compiled, other = make_grid(grid, specs), reference_of(specs)
    if kind == "mask":
        mask = np.random.default_rng(data.draw(st.integers(0, 5))).random(other.shape) < 0.3
        plan, twin = point_planners.plan_mask(compiled, mask), reference.plan_mask(other, mask)
    else:
        selection = tuple(data.draw(slices(n)) for n in other.shape)
        plan, twin = planners.plan_basic(compiled, selection), reference.plan_basic(other, selection)
    starts: list[Any] = []
    for axis in other.axes:
        if axis.ncells == 0 or data.draw(st.booleans()):
            starts.append(data.draw(st.integers(1, 3)))
            continue
        cuts = data.draw(st.sets(st.integers(1, axis.ncells), max_size=3))
        starts.append(np.array([0, *sorted(cuts)]))
    groups, expected = ShardGroups(plan, starts), PlainGroups(twin, starts)
    assert groups.ngroups == expected.ngroups
    assert np.array_equal(groups.all_coords(), expected.all_coords())
    for g in range(groups.ngroups):
        assert groups.coords(g) == expected.coords(g)
        assert groups.chunks_per_shard(g) == expected.chunks_per_shard(g)
        assert np.array_equal(groups.slots(g), expected.slots(g))
        assert np.array_equal(groups.inner(g), expected.inner(g))


def test_shard_group_guards() -> None:
    plan = planners.plan_basic(GRID, ...)
    with pytest.raises(ValueError, match="got 1 for 2 dimensions"):
        ShardGroups(plan, [2])
    with pytest.raises(ValueError, match="at least 1, got 0"):
        ShardGroups(plan, [0, 1])
    for wrong in ([1, 2], [0, 2, 2], [0, 3, 1]):
        with pytest.raises(ValueError, match="rise strictly from 0"):
            ShardGroups(plan, [wrong, 1])
    with pytest.raises(ValueError, match="missing"):
        ShardGroups(plan, [[], 1])
    with pytest.raises(TypeError):
        ShardGroups(None, [1, 1])
    groups = ShardGroups(plan, [2, 1])
    for method in (groups.coords, groups.slots, groups.inner, groups.chunks_per_shard):
        for g in (-1, groups.ngroups):
            with pytest.raises(IndexError, match=f"group {g} is out of range for 4 groups"):
                method(g)


def test_reference_chunks_agree() -> None:
    """The oracle's own kernels on a compiled slot."""
    plan = planners.plan_basic(GRID, (slice(1, 9), slice(None, None, 2)))
    array, out, other = numbered((10, 7)), np.zeros(plan.shape, int), np.zeros(plan.shape, int)
    for i in range(plan.nslots):
        chunk = cut(array, plan.slot(i))
        chunks.scatter(chunk, plan.slot(i), out)
        reference_chunks.scatter(chunk, plan.slot(i), other)
    assert np.array_equal(out, other)
    assert np.array_equal(out, array[1:9, ::2])
