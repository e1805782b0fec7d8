"""What users pass as chunks and shards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zarr.chunks import (
    ChunkGrid,
    RegularChunkGridMetadata,
    full_span_chunk_size,
    is_regular_1d,
    is_regular_nd,
    normalize_chunks,
    normalize_chunks_1d,
    normalize_chunks_nd,
    resolve_outer_and_inner_chunks,
)
from zarr.errors import ZarrUserWarning


def grid(shape: Any, sizes: Any) -> ChunkGrid:
    return ChunkGrid.from_sizes(shape, sizes)


@pytest.mark.parametrize(
    ("chunks", "shape", "expected"),
    [
        ((3, 4), (10, 20), (3, 4)),
        (3, (10, 20), (3, 3)),
        (-1, (10, 20), (10, 20)),
        ((-1, 4), (10, 20), (10, 4)),
        (False, (10, 20), (10, 20)),
        (np.array([3, 4]), (10, 20), (3, 4)),
        (iter([3, 4]), (10, 20), (3, 4)),
        (np.int32(3), (10,), (3,)),
        (((3, 7), 4), (10, 20), ((3, 7), 4)),
        ([[3, 3, 4], [10, 10]], (10, 20), ((3, 3, 4), (10, 10))),
        ((), (), ()),
        (3, (), ()),
        (-1, (0, 5), (1, 5)),
        ((3, 4), (0, 20), (3, 4)),
        (RegularChunkGridMetadata(chunk_shape=(3,)), (10,), (3,)),
        (ChunkGrid.from_sizes((10,), ((3, 7),)), (10,), ((3, 7),)),
    ],
)
def test_accepted(chunks: Any, shape: tuple[int, ...], expected: Any) -> None:
    assert normalize_chunks_nd(chunks, shape) == grid(shape, expected)


@pytest.mark.parametrize(
    ("chunks", "shape", "error", "message"),
    [
        ((3,), (10, 20), ValueError, "1 dimensions but shape has 2"),
        (None, (10,), ValueError, "auto"),
        (True, (10,), ValueError, "auto"),
        ("foo", (10,), ValueError, "dimensions"),
        (3.5, (10,), TypeError, "of type float"),
        (0, (10,), ValueError, "positive or -1, got 0"),
        (-2, (10,), ValueError, "positive or -1, got -2"),
        (((3, 8),), (10,), ValueError, "do not sum to span 10"),
        (((),), (0,), ValueError, "must not be empty"),
        (((3, -1),), (2,), ValueError, "must be positive"),
        (((3, [2, 2]),), (7,), TypeError, r"indices \(1,\)"),
    ],
)
def test_refused(chunks: Any, shape: tuple[int, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        normalize_chunks_nd(chunks, shape)


def test_none_is_the_whole_axis() -> None:
    assert normalize_chunks_nd((None, 4), (10, 20)) == normalize_chunks_nd((-1, 4), (10, 20))


def test_spans_in_units() -> None:
    assert [full_span_chunk_size(n, 4) for n in (0, 1, 4, 5)] == [4, 4, 4, 8]
    assert normalize_chunks_1d(-1, 10, 4).chunk_size(0) == 12


@pytest.mark.parametrize("auto", ["auto", None, True])
def test_automatic(auto: Any) -> None:
    assert normalize_chunks(auto, (10000, 10000), 8) == grid((10000, 10000), (313, 625))
    assert normalize_chunks(auto, (10000, 10000), 8, sharded=True) == grid((10000, 10000), (313, 313))


@pytest.mark.parametrize(
    ("shards", "expected"),
    [
        ((50, 50), (50, 50)),
        (50, (50, 50)),
        ({"shape": (50, 50)}, (50, 50)),
        (-1, (100, 100)),
        (False, (100, 100)),
        ((50, -1), (50, 100)),
        (((20, 80), 20), ((20, 80), 20)),
    ],
)
def test_shards(shards: Any, expected: Any) -> None:
    chunks = grid((96, 96) if shards in (-1, False) else (100, 100), (10, 10))
    shape = chunks.array_shape
    layout = resolve_outer_and_inner_chunks(array_shape=shape, chunks=chunks, shard_shape=shards, item_size=8)
    assert layout.outer_chunks == grid(shape, expected)
    assert layout.inner is not None
    assert layout.inner.outer_chunks == chunks


def test_no_shards() -> None:
    chunks = grid((100,), ((20, 80),))
    layout = resolve_outer_and_inner_chunks(array_shape=(100,), chunks=chunks, shard_shape=None, item_size=8)
    assert layout == (chunks, None)


def test_varying_chunks_do_not_go_into_shards() -> None:
    with pytest.raises(ValueError, match="rectilinear shards instead"):
        resolve_outer_and_inner_chunks(
            array_shape=(100,), chunks=grid((100,), ((50, 50),)), shard_shape=(50,), item_size=8
        )


def test_automatic_shards_warn() -> None:
    with pytest.warns(ZarrUserWarning, match="experimental"):
        layout = resolve_outer_and_inner_chunks(
            array_shape=(1000,), chunks=grid((1000,), (10,)), shard_shape="auto", item_size=8
        )
    assert layout.outer_chunks == grid((1000,), (20,))


def test_regular_lists() -> None:
    assert [is_regular_1d(x) for x in ([3, 3], [3, 3, 1], [3, 1, 3], [3], [], [3, 4])] == [
        True, True, False, True, True, False,
    ]  # fmt: skip
    assert is_regular_nd([[3, 3], [4, 1]])
    assert not is_regular_nd([[3, 3], [4, 5]])
