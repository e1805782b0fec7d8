"""Arrays with listed chunks that were shrunk: their chunks run past the shape, and every copy keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.models import from_zarr, to_zarr

LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": [[3, 4, 3], [4]]},
    "mixed": {"chunks": [[3, 4, 3], 2]},
    "shards": {"chunks": (2, 2), "shards": [[4, 2, 4], [4]]},
}


def shrunk(layout: str, length: int = 5) -> Any:
    group = zarr.create_group({})
    array = group.create_array("x", shape=(10, 4), dtype="i4", **LAYOUTS[layout])
    array[...] = np.arange(40).reshape(10, 4)
    array.resize((length, 4))
    return group


def grid_of(array: Any) -> Any:
    return array.metadata.to_dict()["chunk_grid"]


def copied(group: Any) -> Any:
    zarr.copy(group["x"], group, name="y")
    return group["y"]


def all_copied(group: Any) -> Any:
    other = zarr.create_group({})
    group.create_array("z", shape=(2,), dtype="i4")
    assert zarr.copy_all(group, other)[0] == 2
    return other["x"]


def assigned(group: Any) -> Any:
    group["y"] = group["x"]
    return group["y"]


def through_a_model(group: Any) -> Any:
    made: Any = to_zarr(from_zarr(group), {}, "again")
    made["x"][...] = group["x"][...]
    return made["x"]


def stores_copied(group: Any) -> Any:
    other: dict[str, Any] = {}
    zarr.copy_store(group.store, other)
    return zarr.open_array(other, path="x")


def by_the_grid(group: Any) -> Any:
    source = group["x"]
    chunks = {"chunks": source.metadata.chunk_grid}
    if source.metadata.sharding_codec is not None:
        chunks = {"chunks": source.chunks, "shards": source.metadata.chunk_grid}
    return zarr.create_array({}, data=source[...], **chunks)


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copied,
    "copy_all": all_copied,
    "copy_store": stores_copied,
    "assign": assigned,
    "model": through_a_model,
    "grid": by_the_grid,
    "from_array": lambda group: zarr.from_array({}, data=group["x"]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("length", [5, 0])
def test_copies_keep_all_chunks(way: str, layout: str, length: int) -> None:
    group = shrunk(layout, length)
    copy = COPIES[way](group)
    expected = np.arange(40).reshape(10, 4)[:length]
    assert grid_of(copy) == grid_of(group["x"])
    np.testing.assert_array_equal(copy[...], expected)
    copy.resize((8, 4))  # within the chunks that are there
    assert grid_of(copy) == grid_of(group["x"])
    np.testing.assert_array_equal(copy[...], np.pad(expected, ((0, 8 - length), (0, 0))))
    copy.append(np.ones((4, 4), "i4"))  # beyond them
    assert copy[8:].tolist() == [[1] * 4] * 4
    group["x"].resize((12, 4))
    assert grid_of(copy) == grid_of(group["x"])


LIKE: dict[str, Callable[..., Any]] = {
    "zeros_like": zarr.zeros_like,
    "empty_like": zarr.empty_like,
    "ones_like": zarr.ones_like,
    "full_like": lambda model, **how: zarr.full_like(model, fill_value=3, **how),
    "open_like": lambda model, **how: zarr.open_like(model, "y", store=zarr.storage.MemoryStore(), **how),
    "member": lambda model, **how: zarr.create_group({}).empty_like(name="y", data=model, **how),
    "asynchronous": lambda model, **how: asyncio.run(zarr.api.asynchronous.zeros_like(model, **how)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", LIKE)
def test_models_lend_all_chunks(way: str, layout: str) -> None:
    model = shrunk(layout)["x"]
    assert grid_of(LIKE[way](model)) == grid_of(model)
    for length in (2, 9, 14):  # a model of another shape lends the chunks that it would have after a resize
        made = LIKE[way](model, shape=(length, 4))
        model.resize((length, 4))
        assert made.shape == model.shape
        assert grid_of(made) == grid_of(model)
    assert LIKE[way](model, chunks=(2, 2), shape=(4, 4)).chunks == (2, 2) if layout != "shards" else True


def test_grids_as_chunks() -> None:
    array = shrunk("chunks")["x"]
    for chunks in (array.metadata.chunk_grid, array._chunk_grid):
        assert grid_of(zarr.create_array({}, shape=(5, 4), dtype="i4", chunks=chunks)) == grid_of(array)
        with pytest.raises(ValueError, match="extent 20"):
            zarr.create_array({}, shape=(20, 4), dtype="i4", chunks=chunks)
        with pytest.raises(ValueError, match="chunks has 2 dimensions but shape has 1 dimensions"):
            zarr.create_array({}, shape=(5,), dtype="i4", chunks=chunks)
    made = zarr.create_array({}, shape=(5, 4), dtype="i4", chunks=array.write_chunk_sizes)
    assert made.write_chunk_sizes == array.write_chunk_sizes == ((3, 2), (4,))
    with pytest.raises(ValueError, match=r"do not sum to span 5.*metadata\.chunk_grid"):
        zarr.create_array({}, shape=(5, 4), dtype="i4", chunks=[[3, 4, 3], [4]])


@pytest.mark.parametrize("layout", ["chunks", "mixed"])
def test_format_2_needs_other_chunks(layout: str) -> None:
    group, other = shrunk(layout), zarr.create_group({}, zarr_format=2)
    ways: list[Callable[..., Any]] = [
        lambda **how: zarr.copy(group["x"], other, name="x", **how),
        lambda **how: zarr.from_array({}, data=group["x"], zarr_format=2, **how),
        lambda **how: zarr.zeros_like(group["x"], zarr_format=2, **how),
    ]
    for way in ways:
        with pytest.raises(ValueError, match=r"format 2 does not support rectilinear.*Pass chunks="):
            way()
        way(chunks=(2, 4))
    assert other["x"].chunks == (2, 4)
    np.testing.assert_array_equal(other["x"][...], group["x"][...])
