"""Chunk grids of several axes, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr.chunks import ChunkGrid, ChunkSpec


@st.composite
def grids(draw: st.DrawFn) -> ChunkGrid:
    shape, sizes = [], []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            sizes.append(draw(st.integers(1, 7)))
            shape.append(draw(st.integers(0, 15)))
        else:
            lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
            sizes.append(lengths)
            shape.append(draw(st.integers(0, sum(lengths))))
    return ChunkGrid.from_sizes(tuple(shape), sizes)


@given(grids())
def test_chunks_tile_the_array(grid: ChunkGrid) -> None:
    counts = np.zeros(grid.array_shape, dtype=int)
    specs = list(grid)
    assert len(specs) == grid.get_nchunks() == np.prod(grid.grid_shape, dtype=int)
    for spec, coords, region in zip(specs, grid.all_chunk_coords(), grid.iter_chunk_regions()):
        assert grid[coords] == spec
        assert spec.slices == region
        assert counts[spec.slices].shape == spec.shape
        assert spec.is_boundary == (spec.shape != spec.codec_shape)
        counts[spec.slices] += 1
    assert (counts == 1).all()
    assert tuple(sum(sizes) for sizes in grid.chunk_sizes) == grid.array_shape


@given(grids())
def test_core_agrees(grid: ChunkGrid) -> None:
    core = grid.to_core()
    assert core.shape == grid.array_shape
    assert core.nchunks == grid.get_nchunks()
    assert tuple(core.cdata_shape) == grid.grid_shape


def test_outside_of_the_grid() -> None:
    grid = ChunkGrid.from_sizes((10, 20), (3, 5))
    assert grid[3, 3] == ChunkSpec((slice(9, 10, 1), slice(15, 20, 1)), (3, 5))
    assert grid[4, 0] is None
    assert grid[-1, 0] is None
    for bad in (0, (0,), (0, 0, 0)):
        with pytest.raises(ValueError, match="2-d chunk grid"):
            grid[bad]


def test_blocks_of_chunks() -> None:
    grid = ChunkGrid.from_sizes((10, 20), (3, 5))
    assert list(grid.all_chunk_coords(origin=(1, 1), selection_shape=(2, 2))) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert list(grid.all_chunk_coords(origin=(3, 3))) == [(3, 3)]
    with pytest.raises(IndexError, match="axis 0"):
        list(grid.all_chunk_coords(origin=(3, 3), selection_shape=(3, 3)))


def test_representation() -> None:
    grid = ChunkGrid.from_sizes((10, 20), (3, (5, 15)))
    assert repr(grid) == "ChunkGrid(chunk_sizes=(3, (5, 15)), array_shape=(10, 20))"
    assert grid == ChunkGrid.from_sizes((10, 20), (3, [5, 15]))
    assert hash(grid) == hash(ChunkGrid.from_sizes((10, 20), (3, [5, 15])))
    assert not grid.is_regular
    with pytest.raises(ValueError, match="regular"):
        grid.chunk_shape  # noqa: B018


def test_resize() -> None:
    grid = ChunkGrid.from_sizes((10, 20), (3, (5, 15)))
    assert grid.update_shape((12, 25)) == ChunkGrid.from_sizes((12, 25), (3, (5, 15, 5)))
    assert grid.update_shape((5, 5)) == ChunkGrid.from_sizes((5, 5), (3, (5, 15)))
    with pytest.raises(ValueError, match="1 dimensions"):
        grid.update_shape((5,))


@pytest.mark.parametrize(
    ("shape", "sizes"), [((10,), (3, 3)), ((-1,), (3,)), ((10,), (0,)), ((10,), ((3, 3),)), ((2**63,), (1,))]
)
def test_bad_sizes(shape: tuple[int, ...], sizes: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ChunkGrid.from_sizes(shape, sizes)  # type: ignore[arg-type]


def test_axes_of_a_third_party() -> None:
    class Doubling:
        """Chunks of 1, 2, 4, 8 ... elements."""

        extent = 10
        nchunks = ngridcells = 4
        _size_repr = "doubling"

        def chunk_size(self, i: int) -> int:
            return 2**i

        def chunk_offset(self, i: int) -> int:
            return int(2**i - 1)

        def data_size(self, i: int) -> int:
            return min(2**i, 10 - self.chunk_offset(i))

    grid = ChunkGrid(dimensions=(Doubling(),))  # type: ignore[arg-type]
    assert grid.chunk_sizes == ((1, 2, 4, 3),)
    assert grid.to_core().nchunks == 4
