"""A batch gives what the same writes give without one: values inside, values after, and as few requests as promised."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import zarr
from zarr.storage import MemoryStore

from .strategies import Layout, basic_selections, layouts, orthogonal_selections, point_selections, values_for
from .test_bulk import KeyByKey, stored
from .test_numpy import assert_same

COMMON = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


class Counting(KeyByKey):
    """Counts reads and writes of keys that are no documents."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.reads = self.writes = 0

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        self.reads += not key.endswith(".json")
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)

    def set_sync(self, key: str, value: Any) -> None:
        self.writes += not key.endswith(".json")
        self._store.set_sync(key, value)

    async def set(self, key: str, value: Any) -> None:
        self.set_sync(key, value)


def random_write(array: Any, plain: Any, layout: Layout, seed: int, data: st.DataObject) -> None:
    """Write the same to both, by one kind of selection."""
    kind = data.draw(st.sampled_from(["basic", "orthogonal", "points"]))
    if kind == "orthogonal":
        selection = data.draw(orthogonal_selections(layout.shape))
        selection = tuple(np.unique(s % n) if isinstance(s, np.ndarray) and s.dtype != bool else s
                          for s, n in zip(selection, layout.shape))  # fmt: skip
        shape = plain.oindex[selection].shape
        value = values_for(shape, layout.dtype, seed)
        array.oindex[selection] = value
        plain.oindex[selection] = value
        return
    points = data.draw(point_selections(layout.shape)) if kind == "points" else None
    if points is not None:
        value = values_for(points[0].shape, layout.dtype, seed)
        array.vindex[points] = value
        plain.vindex[points] = value
        return
    basic = data.draw(basic_selections(layout.shape))
    value = values_for(np.empty(layout.shape)[basic].shape, layout.dtype, seed)
    array[basic] = value
    plain[basic] = value


@COMMON
@given(layout=layouts(), limit=st.sampled_from([1, 300, 1 << 20]), seed=st.integers(0, 1000), data=st.data())
def test_a_batch_gives_what_single_writes_give(layout: Layout, limit: int, seed: int, data: st.DataObject) -> None:
    stores = MemoryStore(), MemoryStore()
    batched, plain = (zarr.create_array(s, name="a", **layout.options(zarr)) for s in stores)
    for array in (batched, plain):
        array[...] = values_for(layout.shape, layout.dtype, seed)
    with batched.batch(max_bytes=limit):
        for step in range(data.draw(st.integers(1, 4))):
            random_write(batched, plain, layout, seed + step, data)
            if data.draw(st.booleans()):
                window = data.draw(basic_selections(layout.shape))
                assert_same(batched[window], plain[window])
    assert stored_keys(stores[0]) == stored_keys(stores[1])
    for fresh in (batched, zarr.open_array(stores[0], path="a", mode="r")):
        assert_same(fresh[...], plain[...])


def stored_keys(store: MemoryStore) -> set[str]:
    """Return the keys: chunks that hold nothing but fill are left out alike."""
    return set(stored(store))


@pytest.mark.parametrize("shards", [None, (40,)])
def test_each_object_is_written_once_and_not_read_when_it_is_covered(shards: tuple[int, ...] | None) -> None:
    store = Counting(MemoryStore())
    array = zarr.create_array(store, name="a", shape=(80,), chunks=(10,), shards=shards, dtype="i4", fill_value=-1)
    with array.batch():
        for i in range(80):
            array[i] = i
        assert store.writes == 0
    assert (store.reads, store.writes) == (0, 8 if shards is None else 2)
    assert array[:].tolist() == list(range(80))


def test_a_part_of_a_shard_reads_its_index_and_no_chunk_that_is_covered() -> None:
    store = Counting(MemoryStore())
    array = zarr.create_array(store, name="a", shape=(40,), chunks=(10,), shards=(40,), dtype="i4")
    array[...] = np.arange(40)
    store.reads = store.writes = 0
    with array.batch():
        for i in range(10, 20):
            array[i] = -i
    assert store.writes == 1
    assert array[:].tolist() == [-i if 10 <= i < 20 else i for i in range(40)]


def test_an_error_inside_keeps_what_was_written_before() -> None:
    array = zarr.create_array({}, shape=(10,), chunks=(5,), dtype="i4")
    with pytest.raises(KeyError), array.batch():
        array[2] = 7
        raise KeyError("mine")
    assert array[2] == 7
    assert array._handle.batch is None


def test_appending_resizing_and_nesting() -> None:
    array = zarr.create_array({}, shape=(0, 3), chunks=(4, 3), dtype="i4", fill_value=9)
    with array.batch():
        for i in range(10):
            array.append(np.full((1, 3), i))
        with array.batch():
            array[0, 0] = 100
        assert array[0, 0] == 100
        array.resize((6, 3))
        array.resize((8, 3))
        array[7, 1] = 5
    expected = np.repeat(np.arange(8), 3).reshape(8, 3)
    expected[6:] = 9
    expected[0, 0], expected[7, 1] = 100, 5
    np.testing.assert_array_equal(array[...], expected)


def test_fields_and_threads() -> None:
    dtype = np.dtype([("a", "i4"), ("b", "f8")])
    array = zarr.create_array({}, shape=(64,), chunks=(16,), dtype=dtype, zarr_format=2)
    array[...] = np.ones(64, dtype)
    with array.batch():
        threads = [threading.Thread(target=lambda i=i: array.set_basic_selection(slice(i, None, 4), i, fields="a"))
                   for i in range(4)]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert array[...]["a"].tolist() == [i % 4 for i in range(64)]
    assert array[...]["b"].tolist() == [1.0] * 64


def test_a_write_by_somebody_else_survives_beside_those_of_the_batch() -> None:
    array = zarr.create_array({}, shape=(10,), chunks=(10,), dtype="i4")
    other = zarr.open_array(array.store)
    with array.batch():
        array[0] = 1
        other[9] = 2
    assert array[:].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]


def test_group_batches_hold_all_arrays_taken_inside() -> None:
    store = Counting(MemoryStore())
    group = zarr.create_group(store)
    group.create_array("old", shape=(8,), chunks=(4,), dtype="i4")
    with group.batch():
        new = group.create_array("sub/new", shape=(8,), chunks=(4,), dtype="i4")
        for i in range(8):
            new[i] = i + 1
            group["old"][i] = i + 1
            assert group["sub"]["new"][i] == i + 1
        assert store.writes == 0
    assert store.writes == 4
    assert new._handle.batch is None
    assert group["old"][:].tolist() == group["sub/new"][:].tolist() == list(range(1, 9))


def test_async_faces() -> None:
    async def run() -> tuple[Any, Any]:
        group = await zarr.AsyncGroup.from_store(MemoryStore())
        array = await group.create_array("a", shape=(20,), chunks=(5,), shards=(20,), dtype="i4")
        async with array.batch():
            for i in range(20):
                await array.setitem(i, i)
            assert (await array.getitem(3)) == 3
        async with group.batch():
            inside = await group.getitem("a")
            await asyncio.gather(*(inside.setitem(i, -i) for i in range(10)))
        return await array.getitem(slice(None)), inside._handle.batch

    values, batch = asyncio.run(run())
    assert values.tolist() == [-i if i < 10 else i for i in range(20)]
    assert batch is None


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="max_bytes=0"):
        zarr.create_array({}, shape=(1,), dtype="i4").batch(max_bytes=0)
