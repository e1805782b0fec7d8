"""The indexers that other libraries take from ``zarr.core.indexing`` cut selections as numpy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zarr.core.chunk_grids import ChunkGrid
from zarr.core.indexing import (
    BasicIndexer,
    BlockIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
    colexicographic_order_coords,
    get_indexer,
    is_integer,
    lexicographic_order_coords,
    make_slice_selection,
    morton_order_coords,
    normalize_integer_selection,
    oindex,
    oindex_set,
    replace_ellipsis,
    wraparound_indices,
)
from zarr.errors import BoundsCheckError

SHAPE = (10, 7)
GRID = ChunkGrid.from_sizes(SHAPE, (3, 4))
VALUES = np.arange(70).reshape(SHAPE)


def gathered(indexer: Any) -> Any:
    """Put a result together from its chunks, as those who use indexers do."""
    out = np.full(indexer.shape, -1)
    for coords, chunk_selection, out_selection, _ in indexer:
        padded = np.pad(VALUES, ((0, 2), (0, 1)))
        chunk = padded[coords[0] * 3 : coords[0] * 3 + 3, coords[1] * 4 : coords[1] * 4 + 4]
        out[out_selection] = chunk[chunk_selection]
    return out


@pytest.mark.parametrize(
    "selection", [(slice(1, 8), 3), slice(None), (), Ellipsis, (-1, -1), (slice(1, 9, 3), Ellipsis)]
)
def test_basic(selection: Any) -> None:
    np.testing.assert_array_equal(gathered(BasicIndexer(selection, SHAPE, GRID)), VALUES[selection])


@pytest.mark.parametrize("selection", [([1, 5, 2], slice(None)), (3, [1, 2]), (slice(2, 9), [0, 6]), ([0, 9], [6, 0])])
def test_orthogonal(selection: Any) -> None:
    indexer = OrthogonalIndexer(selection, SHAPE, GRID)
    np.testing.assert_array_equal(gathered(indexer), oindex(VALUES, selection))
    assert indexer.drop_axes == ()
    assert len(indexer) == len(list(indexer))


def test_points_masks_and_blocks() -> None:
    np.testing.assert_array_equal(gathered(CoordinateIndexer(([1, 5], [2, 3]), SHAPE, GRID)), VALUES[[1, 5], [2, 3]])
    mask = VALUES % 5 == 0
    np.testing.assert_array_equal(gathered(MaskIndexer(mask, SHAPE, GRID)), VALUES[mask])
    np.testing.assert_array_equal(gathered(BlockIndexer((1, slice(0, 1)), SHAPE, GRID)), VALUES[3:6, 0:4])


@pytest.mark.parametrize(
    ("selection", "kind"),
    [
        (slice(3), BasicIndexer),
        ((3, 4), BasicIndexer),
        (([1, 2], [3, 4]), CoordinateIndexer),
        (VALUES > 3, MaskIndexer),
        ((slice(None), [1, 2]), OrthogonalIndexer),
    ],
)
def test_which_indexer(selection: Any, kind: type) -> None:
    assert type(get_indexer(selection, SHAPE, GRID)) is kind


def test_whole_chunks_are_known() -> None:
    whole = [projection.is_complete_chunk for projection in BasicIndexer((slice(3, 10), slice(None)), SHAPE, GRID)]
    assert all(whole)
    assert not any(p.is_complete_chunk for p in BasicIndexer((slice(4, 5), slice(1, 2)), SHAPE, GRID))


def test_small_questions() -> None:
    assert is_integer(np.int8(3))
    assert not is_integer(True)
    assert replace_ellipsis((..., 1), SHAPE) == (slice(None), 1)
    with pytest.raises(IndexError, match="ellipsis"):
        replace_ellipsis((..., ...), SHAPE)
    with pytest.raises(IndexError, match="too many"):
        replace_ellipsis((1, 2, 3), SHAPE)
    assert normalize_integer_selection(-1, 5) == 4
    with pytest.raises(BoundsCheckError, match="5"):
        normalize_integer_selection(5, 5)
    np.testing.assert_array_equal(wraparound_indices(np.array([-1, 1]), 5), [4, 1])
    assert make_slice_selection((3, slice(1, 2), [4])) == [slice(3, 4, 1), slice(1, 2), slice(4, 5, 1)]
    copy = VALUES.copy()
    oindex_set(copy, ([1, 2], 3), np.array([-1, -2]))
    assert (copy[1, 3], copy[2, 3]) == (-1, -2)
    for order in (morton_order_coords, lexicographic_order_coords, colexicographic_order_coords):
        assert sorted(order((2, 3))) == [(i, j) for i in range(2) for j in range(3)]
    assert colexicographic_order_coords((2, 2))[1] == (1, 0)
    assert lexicographic_order_coords((2, 2))[1] == (0, 1)
