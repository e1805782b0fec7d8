"""Automatic chunk and shard shapes: the files that are written must have the shapes that users are used to."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr.chunks import guess_chunks, guess_regular_chunks
from zarr.chunks.guesses import chunks_per_shard_axis, guess_shard_shape

# (shape, bytes an element, upper bound or None, chunk shape that zarr-python 3.4 chooses)
CHOSEN = [
    ((), 8, None, ()),
    ((0,), 8, None, (1,)),
    ((1,), 1, None, (1,)),
    ((10,), 0, None, (10,)),
    ((100, 200), 8, None, (100, 200)),
    ((10000000,), 1, None, (625000,)),
    ((5000000,), 8, None, (78125,)),
    ((10000, 20000), 8, None, (313, 1250)),
    ((10000, 10000), 4, 1048576, (313, 625)),
    ((365, 721, 1440), 4, None, (46, 91, 180)),
    ((365, 721, 1440), 4, 1048576, (23, 46, 180)),
    ((50, 2048, 2048), 2, None, (7, 256, 512)),
    ((3, 4096, 4096), 1, None, (1, 1024, 1024)),
    ((1000000000,), 40, None, (122071,)),
    ((1099511627776,), 8, None, (4194304,)),
    ((1, 1, 1000000), 8, None, (1, 1, 62500)),
    ((7, 0, 13), 4, None, (7, 1, 13)),
    ((1000000,), 1000, None, (1954,)),
    ((100, 100, 100, 100), 8, None, (13, 25, 25, 25)),
    ((87382,), 8, None, (21846,)),
    ((1000000000000, 3), 1, 1048576, (953675, 1)),
    ((2147483648, 2147483648), 16, None, (1024, 2048)),
]


@pytest.mark.parametrize(("shape", "typesize", "max_bytes", "expected"), CHOSEN)
def test_chosen_shapes(shape: tuple[int, ...], typesize: int, max_bytes: int | None, expected: tuple[int, ...]) -> None:
    assert guess_chunks(shape, typesize, max_bytes=max_bytes).chunk_shape == expected


@given(st.lists(st.integers(0, 10**7), max_size=5), st.integers(1, 64))
def test_chunks_cover_no_more_than_the_array(shape: list[int], typesize: int) -> None:
    chunks = guess_regular_chunks(tuple(shape), typesize)
    assert len(chunks) == len(shape)
    assert all(1 <= c <= max(n, 1) for c, n in zip(chunks, shape))
    assert math.prod(chunks) * typesize < 64 * 2**20


def test_contradicting_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="min_bytes"):
        guess_chunks((10,), 8, max_bytes=1000)


@pytest.mark.parametrize(
    ("shape", "chunks", "expected"),
    [
        ((80,), (10,), (10,)),
        ((89,), (10,), (10,)),
        ((90,), (10,), (20,)),
        ((1000, 20), (10, 10), (20, 10)),
        ((), (), ()),
    ],
)
def test_shards_without_a_target(shape: tuple[int, ...], chunks: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert guess_shard_shape(shape, chunks, 8) == expected


@pytest.mark.parametrize(
    ("shape", "chunks", "target", "expected"),
    [
        ((100,), (10,), 79, (10,)),
        ((100,), (10,), 160, (20,)),
        ((95,), (10,), 10000, (90,)),
        ((100, 30), (10, 1), 320, (20, 2)),
        ((100, 30, 7), (2, 5, 1), 720, (4, 10, 2)),
        ((100, 30, 7), (2, 5, 1), 10**9, (12, 30, 6)),
        ((10, 0), (10, 1), 10**9, (10, 1)),
    ],
)
def test_shards_with_a_target(
    shape: tuple[int, ...], chunks: tuple[int, ...], target: int, expected: tuple[int, ...]
) -> None:
    assert guess_shard_shape(shape, chunks, 8, target) == expected


@given(st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(1, 16), st.integers(-1, 10**9))
def test_the_largest_count_that_fits(chunks: list[int], itemsize: int, limit: int) -> None:
    shape = tuple(c * 1000 for c in chunks)
    count = chunks_per_shard_axis(tuple(chunks), itemsize, limit, shape)
    nbytes = math.prod(chunks) * itemsize
    assert count == 1 or count ** len(chunks) * nbytes <= limit
    assert count == 1000 or (count + 1) ** len(chunks) * nbytes > limit
