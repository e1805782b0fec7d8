"""``read_many``: requests are shared, memory is the caller's, errors say which selection they are about."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.api import asynchronous as async_api
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore, MemoryStore, WrapperStore


class Counting(WrapperStore[Any]):
    """Has coroutines only; notes every read."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.reads: list[tuple[str, Any]] = []

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        self.reads.append((key, byte_range))
        await asyncio.sleep(0)
        return await super().get(key, prototype or default_buffer_prototype(), byte_range)


def filled(store: Any, name: str = "a", **options: Any) -> tuple[zarr.Array[Any], np.ndarray[Any, Any]]:
    values = np.arange(40 * 30, dtype="i4").reshape(40, 30)
    array = zarr.create_array(store, name=name, shape=(40, 30), chunks=(10, 10), dtype="i4", **options)
    array[...] = values
    return array, values


@pytest.mark.parametrize("raw", [False, True])
def test_a_chunk_comes_once(raw: bool) -> None:
    store = Counting(MemoryStore())
    array, values = filled(store, compressors=None if raw else "auto")
    store.reads.clear()
    selections = [(slice(i, i + 5), slice(3, 15)) for i in range(12)]
    found = array.read_many(selections)
    for got, selection in zip(found, selections, strict=True):
        np.testing.assert_array_equal(got, values[selection])
    assert sorted(key for key, _ in store.reads) == ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1"]


def test_a_shard_index_comes_once_and_near_chunks_together() -> None:
    store = Counting(MemoryStore())
    array, values = filled(store, shards=(20, 30))
    store.reads.clear()
    selections = [(slice(i, i + 2), slice(0, 12)) for i in range(8)]
    for got, selection in zip(array.read_many(selections), selections, strict=True):
        np.testing.assert_array_equal(got, values[selection])
    assert [key for key, _ in store.reads] == ["a/c/0/0", "a/c/0/0"]  # the index, and two inner chunks in one range
    assert all(byte_range is not None for _, byte_range in store.reads)


def test_several_arrays_in_several_stores(tmp_path: Path) -> None:
    remote, other = Counting(MemoryStore()), Counting(MemoryStore())
    a, values = filled(remote)
    b, _ = filled(remote, "b")
    c, _ = filled(other)
    d, _ = filled(LocalStore(tmp_path))
    again = zarr.open_array(remote, path="a")
    remote.reads.clear()
    requests = [(x, (slice(0, 3), slice(i, 9))) for i, x in enumerate([a, b, c, d, a, again])]
    for read in (zarr.read_many, lambda pairs: asyncio.run(async_api.read_many(pairs))):
        found = read(requests)
        for i, got in enumerate(found):
            np.testing.assert_array_equal(got, values[0:3, i:9])
        assert sorted(key for key, _ in remote.reads) == ["a/c/0/0", "b/c/0/0"]  # however often it was opened
        remote.reads.clear()
    assert zarr.read_many([]) == []


def test_one_array_as_memory_for_all() -> None:
    array, values = filled(MemoryStore())
    batch = np.full((8, 4, 30), -1, dtype="i4")
    found = array.read_many([slice(i, i + 4) for i in range(8)], out=batch)
    assert all(np.shares_memory(part, batch) for part in found)
    np.testing.assert_array_equal(batch, [values[i : i + 4] for i in range(8)])
    points = np.zeros(3, dtype="i8")
    array.read_many([(1, 2), (3, 4), (39, 29)], out=points)
    assert points.tolist() == [values[1, 2], values[3, 4], values[39, 29]]


def test_errors_name_the_selection() -> None:
    array, _ = filled(MemoryStore())
    with pytest.raises(IndexError) as caught:
        array.read_many([0, 99])
    assert "in selection 1 of a batch" in "".join(caught.value.__notes__)
    for out, message in (
        ([None], "1 arrays for 2"),
        (np.empty((2, 7), "i4"), "shape of out"),
        ([None, np.broadcast_to(np.int32(0), (30,))], "read-only"),
    ):
        with pytest.raises(ValueError, match=message):
            array.read_many([0, 1], out=out)
    with pytest.raises(TypeError, match="pair of an array"):
        zarr.read_many([("not an array", 0)])  # type: ignore[list-item]


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize("shards", [None, (20, 30)])
def test_missing_and_damaged_chunks(remote: bool, shards: Any) -> None:
    memory = MemoryStore()
    array, values = filled(memory, shards=shards, fill_value=9)
    keys = sorted(key for key in memory._store_dict if "/c/" in key)
    del memory._store_dict[keys[0]]
    array = zarr.open_array(Counting(memory) if remote else memory, path="a")
    first, last = array.read_many([(slice(0, 2), slice(0, 2)), (slice(38, 40), slice(28, 30))])
    assert (first == 9).all()
    np.testing.assert_array_equal(last, values[38:, 28:])
    with pytest.raises(zarr.errors.ChunkNotFoundError):
        array.with_config({"read_missing_chunks": False}).read_many([0])
    memory._store_dict[keys[0]] = memory._store_dict[keys[-1]][:-9]
    with pytest.raises(Exception, match=r".") as caught:
        array.read_many([0])
    assert "of array /a" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("shards", [None, (20, 30)])
@pytest.mark.parametrize("kind", ["memory", "local", "remote"])
@pytest.mark.parametrize("pattern", ["contiguous", "F", "gaps", "other dtype"])
def test_out_everywhere(kind: str, shards: Any, pattern: str, tmp_path: Path) -> None:
    store = {"memory": MemoryStore, "local": lambda: LocalStore(tmp_path), "remote": lambda: Counting(MemoryStore())}
    array, values = filled(store[kind](), shards=shards)
    mask = values % 7 == 0
    rows, columns = np.array([1, 5, 38]), np.array([0, 29, 7])
    size = (20, 30) if shards else (10, 10)
    for method, selection, expected in (
        ("get_basic_selection", (slice(3, 37, 3), slice(2, 30)), values[3:37:3, 2:30]),
        ("get_basic_selection", (3, 4), values[3, 4]),
        ("get_orthogonal_selection", (rows, columns), values[np.ix_(rows, columns)]),
        ("get_coordinate_selection", (rows, columns), values[rows, columns]),
        ("get_mask_selection", mask, values[mask]),
        ("get_block_selection", (1, 0), values[size[0] : 2 * size[0], : size[1]]),
    ):
        shape = np.shape(expected)
        out = {
            "contiguous": lambda s=shape: np.zeros(s, "i4"),
            "F": lambda s=shape: np.zeros(s, "i4", order="F"),
            "gaps": lambda s=shape: np.zeros(tuple(2 * n for n in s), "i4")[tuple(slice(None, None, -2) for _ in s)],
            "other dtype": lambda s=shape: np.zeros(s, "f8"),
        }[pattern]()
        out = np.asarray(out)
        getattr(array, method)(selection, out=out)
        np.testing.assert_array_equal(out, expected)


def test_an_open_batch_is_seen() -> None:
    array, values = filled(MemoryStore())
    with array.batch():
        array[0, 0] = -5
        first, last = array.read_many([(0, 0), slice(39, 40)])
    assert first == -5
    np.testing.assert_array_equal(last, values[39:])


def test_elements_of_shards_by_number_slice_array_and_mask() -> None:
    array = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), shards=(2, 4), dtype="i1", compressors=None)
    array[:] = np.arange(16).reshape(4, 4)
    one = np.arange(4) == 2
    found = array.read_many([(2, 3), (slice(2, 3), 3), (np.array([2]), [3]), (one, slice(3, 4)), (np.array([-2]), -1)])
    assert [np.ravel(each).tolist() for each in found] == [[11]] * 5
