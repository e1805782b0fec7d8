"""One axis of a grid, against a plain list of chunks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr.chunks import DimensionGrid, FixedDimension, VaryingDimension

edges = st.lists(st.integers(1, 9), min_size=1, max_size=8)


def as_list(axis: DimensionGrid) -> list[int]:
    """The chunk number of every element."""
    return [i for i in range(axis.nchunks) for _ in range(axis.data_size(i))]


def check(axis: DimensionGrid) -> None:
    owners = as_list(axis)
    assert len(owners) == axis.extent
    assert [axis.index_to_chunk(i) for i in range(axis.extent)] == owners
    assert axis.indices_to_chunks(np.arange(axis.extent)).tolist() == owners
    for i in range(axis.nchunks):
        assert owners.index(i) == axis.chunk_offset(i)
        assert 0 < axis.data_size(i) <= axis.chunk_size(i)
    for beyond in (-1, axis.extent):
        with pytest.raises(IndexError):
            axis.index_to_chunk(beyond)
    assert isinstance(axis, DimensionGrid)


@given(st.integers(1, 12), st.integers(0, 50))
def test_fixed(size: int, extent: int) -> None:
    axis = FixedDimension(size, extent)
    check(axis)
    core = axis.to_core()
    assert (core.nchunks, core.length, core.chunk) == (axis.nchunks, extent, size)


@given(edges, st.data())
def test_varying(lengths: list[int], data: st.DataObject) -> None:
    axis = VaryingDimension(lengths, data.draw(st.integers(0, sum(lengths))))
    check(axis)
    assert axis.ngridcells == len(lengths)
    core = axis.to_core()
    assert core.nchunks == axis.nchunks
    assert [core.chunk_length(i) for i in range(axis.nchunks)] == lengths[: axis.nchunks]


@given(edges, st.data(), st.integers(0, 100))
def test_a_resize_keeps_chunks_and_reaches_the_end(lengths: list[int], data: st.DataObject, extent: int) -> None:
    axis = VaryingDimension(lengths, data.draw(st.integers(0, sum(lengths)))).resize(extent)
    assert axis.extent == extent
    assert axis.edges[: len(lengths)] == tuple(lengths)
    assert axis.ngridcells <= len(lengths) + 1
    check(axis)


@pytest.mark.parametrize(("size", "extent"), [(0, 0), (0, 5), (-1, 5), (3, -1)])
def test_bad_fixed(size: int, extent: int) -> None:
    with pytest.raises(ValueError, match="FixedDimension"):
        FixedDimension(size, extent)


def test_a_dataclass_of_a_fixed_axis() -> None:
    @dataclasses.dataclass(frozen=True)
    class Named(FixedDimension):
        name: str = "x"

    assert Named(3, 10).nchunks == Named(3, 10).ngridcells == 4
    assert dataclasses.replace(Named(3, 10, "y"), extent=4) == Named(3, 4, "y")
    with pytest.raises(ValueError, match="FixedDimension"):
        Named(0, 5)


@pytest.mark.parametrize(("lengths", "extent"), [([3], 5), ([], 0), ([0], 0), ([3, 3], -1), ([3, -1], 2)])
def test_bad_varying(lengths: list[int], extent: int) -> None:
    with pytest.raises(ValueError, match=r"edge|extent"):
        VaryingDimension(lengths, extent)


def test_with_extent() -> None:
    assert FixedDimension(3, 10).with_extent(5) == FixedDimension(3, 5)
    axis = VaryingDimension([3, 7, 5], 12)
    assert axis.with_extent(5) == VaryingDimension((3, 7, 5), 5)
    with pytest.raises(ValueError, match="edge sum 15"):
        axis.with_extent(30)
