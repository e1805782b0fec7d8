"""The ``chunk_grid`` member: regular, rectilinear, and grids of third parties."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr.chunks import (
    ChunkGrid,
    ChunkGridMetadata,
    DimensionGrid,
    FixedDimension,
    RectilinearChunkGridMetadata,
    RectilinearChunksDisabledError,
    RegularChunkGridMetadata,
    create_chunk_grid_metadata,
    parse_chunk_grid,
)
from zarr.chunks.rectilinear import compress_runs, expand_runs
from zarr.registry import register_chunk_grid
from zarr.settings import config


def inline(*shapes: Any) -> dict[str, Any]:
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": list(shapes)}}


def test_regular_round_trip() -> None:
    document = {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}
    grid = parse_chunk_grid(document)
    assert grid == RegularChunkGridMetadata(chunk_shape=(2, 3))
    assert grid.to_dict() == {"name": "regular", "configuration": {"chunk_shape": (2, 3)}}
    assert parse_chunk_grid(grid) is grid
    assert grid.ndim == 2
    assert hash(grid) == hash(RegularChunkGridMetadata(chunk_shape=(2, 3)))


@pytest.mark.parametrize(
    ("chunk_shape", "error"),
    [((0, 3), ValueError), ((-1,), ValueError), ((2.0,), TypeError), (("a",), TypeError), (5, TypeError),
     ((2**63,), ValueError)],
)  # fmt: skip
def test_bad_regular(chunk_shape: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="chunk"):
        RegularChunkGridMetadata(chunk_shape=chunk_shape)


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        ({"name": "regular"}, ValueError, "configuration"),
        ("regular", ValueError, "configuration"),
        ({"name": "regular", "configuration": {}}, ValueError, "chunk_shape"),
        ({"name": "hexagons", "configuration": {}}, ValueError, "Unknown chunk grid name: 'hexagons'"),
        ({}, ValueError, "name"),
        ([], TypeError, "Expected dict"),
        ({"name": 1}, TypeError, "string"),
        ({"name": "regular", "configuration": []}, TypeError, "dict"),
    ],
)
def test_bad_documents(document: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        parse_chunk_grid(document)


def test_rectilinear_round_trip() -> None:
    grid = parse_chunk_grid(inline([[2, 3], 1, 1, 5], 3, [[4, 3]]))
    assert grid == RectilinearChunkGridMetadata(chunk_shapes=((2, 2, 2, 1, 1, 5), 3, (4, 4, 4)))
    assert list(grid.to_dict()["configuration"]["chunk_shapes"]) == [[[2, 3], [1, 2], 5], 3, [[4, 3]]]
    assert grid.to_grid((12, 7, 10)) == ChunkGrid.from_sizes((12, 7, 10), ((2, 2, 2, 1, 1, 5), 3, (4, 4, 4)))


@given(st.lists(st.integers(1, 3), min_size=1))
def test_runs(lengths: list[int]) -> None:
    assert expand_runs(compress_runs(lengths), 0) == tuple(lengths)


@pytest.mark.parametrize(
    ("shapes", "error", "message"),
    [
        ([[]], ValueError, "no chunk edges"),
        ([[0, 1]], ValueError, ">= 1, got 0"),
        ([0], ValueError, ">= 1, got 0"),
        ([[1.0]], TypeError, "must be an int"),
        ([[[2, 0]]], ValueError, "repeat count"),
        ([[[2, -1]]], ValueError, "repeat count"),
        ([[[2, 1.5]]], TypeError, "repeat count"),
        ([[[2, 3, 4]]], ValueError, "RLE entries"),
        ([[[1, 10**15]]], ValueError, "limit"),
        ([[2**62, 2**62]], ValueError, "sum"),
        (["ab"], TypeError, "must be an int"),
    ],
)
def test_bad_rectilinear(shapes: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        parse_chunk_grid(inline(*shapes))


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"chunk_shapes": [1]}, "requires a 'kind'"),
        ({"kind": "x", "chunk_shapes": [1]}, "Unsupported"),
        ({"kind": "inline"}, "chunk_shapes"),
    ],
)
def test_bad_rectilinear_configuration(configuration: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_chunk_grid({"name": "rectilinear", "configuration": configuration})


def test_rectilinear_can_be_switched_off() -> None:
    grid = ChunkGrid.from_sizes((10,), ((3, 7),))
    assert create_chunk_grid_metadata(grid) == RectilinearChunkGridMetadata(chunk_shapes=((3, 7),))
    with config.set({"array.rectilinear_chunks": False}):
        with pytest.raises(RectilinearChunksDisabledError):
            parse_chunk_grid(inline([3, 7]))
        with pytest.raises(RectilinearChunksDisabledError):
            create_chunk_grid_metadata(grid)


def test_resize_of_rectilinear() -> None:
    grid = RectilinearChunkGridMetadata(chunk_shapes=((1, 2), 3))
    assert grid.update_shape((3, 5), (7, 9)).chunk_shapes == ((1, 2, 4), 3)
    assert grid.update_shape((3, 5), (1, 1)) == grid
    with pytest.raises(ValueError, match="shorter"):
        grid.update_shape((3,), (4,))


def test_descriptions_of_grids() -> None:
    mixed = ChunkGrid.from_sizes((10, 4), ((3, 7), 2))
    assert create_chunk_grid_metadata(mixed) == RectilinearChunkGridMetadata(chunk_shapes=((3, 7), 2))
    with pytest.raises(TypeError, match="Unknown dimension grid type <class 'object'>"):
        create_chunk_grid_metadata(ChunkGrid(dimensions=(object(),)))  # type: ignore[arg-type]
    regular = ChunkGrid.from_sizes((10, 4), (3, 2))
    assert create_chunk_grid_metadata(regular) == RegularChunkGridMetadata(chunk_shape=(3, 2))


def test_a_grid_of_a_third_party() -> None:
    class Halves(ChunkGridMetadata):
        """Two chunks an axis."""

        ndim = 1

        @classmethod
        def from_dict(cls, data: Any) -> Self:
            return cls()

        def to_dict(self) -> Any:
            return {"name": "test.halves"}

        def dimensions(self, shape: tuple[int, ...]) -> tuple[DimensionGrid, ...]:
            return tuple(FixedDimension(-(-n // 2), n) for n in shape)

    register_chunk_grid("test.halves", Halves)
    grid = parse_chunk_grid("test.halves")
    assert isinstance(grid, Halves)
    assert grid.to_core((9,)).nchunks == 2
    assert grid.to_grid((9,)).chunk_sizes == ((5, 4),)


@pytest.mark.parametrize("seed", range(20))
def test_a_grid_that_grew_is_that_of_its_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = RectilinearChunkGridMetadata(chunk_shapes=(tuple(rng.integers(1, 3, 5).tolist()), 4))
    shape = (sum(grid.chunk_shapes[0]), 9)  # type: ignore[arg-type]
    for _ in range(8):
        longer = (shape[0] + int(rng.integers(-1, 3)), shape[1] + 1)
        grid, shape = grid.update_shape(shape, longer), longer
        parsed = RectilinearChunkGridMetadata(chunk_shapes=grid.chunk_shapes)
        assert grid == parsed
        assert grid.to_dict() == parsed.to_dict()
        assert grid.ends == (sum(grid.chunk_shapes[0]), None)  # type: ignore[arg-type]
        assert [axis.offset(axis.nchunks - 1) for axis in grid.to_core(shape).axes] == [
            axis.offset(axis.nchunks - 1) for axis in parsed.to_core(shape).axes
        ]
        grid.to_dict()["configuration"]["chunk_shapes"][0].append(1)
        assert grid.to_dict() == parsed.to_dict()
