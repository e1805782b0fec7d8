"""Deterministic guards: Python frames and store requests of an operation. Not timings."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.metadata.cache import known_documents
from zarr.metadata.group import GroupMetadata
from zarr.storage import LocalStore, MemoryStore, WrapperStore

pytestmark = pytest.mark.skipif(
    os.environ.get("ZARR_CORE_IMPL") == "reference", reason="the reference core is Python: its frames are not counted"
)


def count_frames(
    action: Callable[[], Any], stop: Callable[[str], bool] = lambda name: False, room: str = ""
) -> int:
    """Count the Python frames of a room that ``action`` enters, up to the first whose function ``stop`` names."""
    count, done = 0, False

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count, done
        if event == "call" and not done:
            count += str(frame.f_globals.get("__name__", "")).startswith(room)
            done = stop(frame.f_code.co_qualname)

    gc.disable()  # a collection would run the finalizers of other tests
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


class CountingStore(WrapperStore[Any]):
    """Counts requests; offers no bulk transfer, so that the chunk-by-chunk path runs."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.requests: list[tuple[str, str]] = []

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        self.requests.append(("get", key))
        return self._store.get_sync(key, prototype=prototype, byte_range=byte_range)

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    def set_sync(self, key: str, value: Any) -> None:
        self.requests.append(("set", key))
        self._store.set_sync(key, value)

    async def set(self, key: str, value: Any) -> None:
        self.set_sync(key, value)

    get.__qualname__ = "CountingStore.get"


def make(store: Any, **options: Any) -> Any:
    """Make an array of 4 x 4 chunks and fill it."""
    array = zarr.create_array(store, shape=(40, 40), chunks=(10, 10), dtype="f4", compressors=None, **options)
    array[...] = np.arange(1600).reshape(40, 40)
    return array


def test_plain_path_reads_its_first_chunk_within_40_frames() -> None:
    array = make(CountingStore(MemoryStore()))
    array[3, 4]
    frames = count_frames(lambda: array[3, 4], stop=lambda name: name.endswith("CountingStore.get_sync"))
    assert frames <= 40


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_bulk_path_costs_the_same_frames_for_one_chunk_and_for_all(kind: str, tmp_path: Any) -> None:
    array = make(MemoryStore() if kind == "memory" else LocalStore(tmp_path))
    array[...]
    one, many = count_frames(lambda: array[0:5, 0:5]), count_frames(lambda: array[...])
    assert one <= 40
    assert many <= one + 25  # whatever the number of chunks: here sixteen


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_one_chunk_is_written_within_few_frames(kind: str, tmp_path: Any) -> None:
    array = make(MemoryStore() if kind == "memory" else LocalStore(tmp_path))
    chunk = np.ones((10, 10), "f4")

    def write_whole() -> None:
        array[10:20, 0:10] = chunk

    def write_part() -> None:
        array[10, 0] = 2

    write_whole()
    write_part()
    assert count_frames(write_whole) <= 46
    assert count_frames(write_part) <= 60
    # Two and three of them keep other processes out, where the store is a folder.
    assert count_frames(write_whole, room="zarr.runners") <= 5
    assert count_frames(write_part, room="zarr.runners") <= 9


def test_one_request_a_chunk() -> None:
    store = CountingStore(MemoryStore())
    array = make(store)
    store.requests.clear()
    array[5:15, 5]
    assert sorted(store.requests) == [("get", "c/0/0"), ("get", "c/1/0")]


def test_a_whole_chunk_is_written_without_a_read() -> None:
    store = CountingStore(MemoryStore())
    array = make(store)
    store.requests.clear()
    array[10:20, 0:10] = 1
    assert store.requests == [("set", "c/1/0")]
    store.requests.clear()
    array[10, 0] = 2
    assert store.requests == [("get", "c/1/0"), ("set", "c/1/0")]


def test_a_read_of_metadata_costs_one_request_at_open() -> None:
    store = CountingStore(MemoryStore())
    make(store)
    store.requests.clear()
    array = zarr.open_array(store, mode="r+", zarr_format=3)
    assert store.requests == [("get", "zarr.json")]
    _ = array.attrs.asdict(), array.shape, array.info
    assert store.requests == [("get", "zarr.json")]


@pytest.mark.parametrize(("kind", "limit"), [("memory", 58), ("local", 58)])
def test_opening_an_array_again(kind: str, limit: int, tmp_path: Any) -> None:
    store = MemoryStore() if kind == "memory" else LocalStore(tmp_path)
    make(store)
    zarr.open_array(store, mode="r+")
    assert count_frames(lambda: zarr.open_array(store, mode="r+")) <= limit


@pytest.mark.parametrize(("known", "limit"), [(True, 80), (False, 110)])
def test_opening_an_array_for_the_first_time(known: bool, limit: int, tmp_path: Any) -> None:
    """A document of other bytes than all before; of a known kind, it has shape, chunks and attributes of its own."""
    store = LocalStore(tmp_path)
    zarr.create_array(store, name="known", shape=(40, 40), chunks=(10, 10), dtype="f4")
    zarr.create_array(store, name="new", shape=(50, 60), chunks=(7, 5), dtype="f4", attributes={"a": 1})
    zarr.open_array(store, path="known", mode="r+")
    if not known:
        known_documents().clear()
    assert count_frames(lambda: zarr.open_array(store, path="new", mode="r+")) <= limit


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_one_member_of_a_group(kind: str, tmp_path: Any) -> None:
    group = zarr.open_group(MemoryStore() if kind == "memory" else LocalStore(tmp_path), mode="w")
    group.create_array("x", shape=(40, 40), chunks=(10, 10), dtype="f4")
    group["x"]
    assert count_frames(lambda: group["x"]) <= 60


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_making_an_array_of_a_known_kind(kind: str, tmp_path: Any) -> None:
    group = zarr.open_group(MemoryStore() if kind == "memory" else LocalStore(tmp_path), mode="w")
    options: dict[str, Any] = {"shape": (40, 40), "chunks": (10, 10), "dtype": "f4"}
    group.create_array("first", **options)
    assert count_frames(lambda: group.create_array("second", **options)) <= 100


def test_making_an_array_at_a_path(tmp_path: Any) -> None:
    options: dict[str, Any] = {"shape": (40, 40), "chunks": (10, 10), "dtype": "f4"}
    zarr.create_array(str(tmp_path / "first"), **options)
    assert count_frames(lambda: zarr.create_array(str(tmp_path / "second"), **options)) <= 100


def test_making_an_array_anew_where_nothing_is(tmp_path: Any) -> None:
    options: dict[str, Any] = {"shape": (40, 40), "chunks": (10, 10), "dtype": "f4", "overwrite": True}
    zarr.create_array(str(tmp_path / "first"), **options)
    # A few frames more where the folder lies deeper.
    assert count_frames(lambda: zarr.create_array(str(tmp_path / "second"), **options)) <= 144


@pytest.mark.parametrize(("kind", "limit"), [("memory", 125), ("local", 124)])
def test_appending_rows(kind: str, limit: int, tmp_path: Any) -> None:
    store = MemoryStore() if kind == "memory" else LocalStore(tmp_path)
    array = zarr.create_array(store, shape=(0, 10), chunks=(1, 10), dtype="f4", compressors=None)
    rows = np.ones((1, 10), "f4")
    array.append(rows)
    assert count_frames(lambda: array.append(rows)) <= limit


@pytest.mark.parametrize(("kind", "limit"), [("memory", 98), ("local", 101)])
def test_changing_an_attribute(kind: str, limit: int, tmp_path: Any) -> None:
    group = zarr.open_group(MemoryStore() if kind == "memory" else LocalStore(tmp_path), mode="w")
    array = group.create_array("x", shape=(40, 40), chunks=(10, 10), dtype="f4")
    array.attrs["a"] = 1
    assert count_frames(lambda: array.attrs.__setitem__("a", 2)) <= limit


@pytest.mark.parametrize(("kind", "limit"), [("memory", 122), ("local", 125)])
def test_growing_where_no_chunk_is_stored(kind: str, limit: int, tmp_path: Any) -> None:
    group = zarr.open_group(MemoryStore() if kind == "memory" else LocalStore(tmp_path), mode="w")
    array = group.create_array("x", shape=(40, 40), chunks=(10, 10), dtype="f4")
    array.resize((50, 40))
    assert count_frames(lambda: array.resize((60, 40))) <= limit


@pytest.mark.parametrize(("kind", "limit"), [("memory", 125), ("local", 129)])
def test_growing_by_one_chunk_of_many(kind: str, limit: int, tmp_path: Any) -> None:
    group = zarr.open_group(MemoryStore() if kind == "memory" else LocalStore(tmp_path), mode="w")
    array = group.create_array("x", shape=(170, 10), chunks=(10, 10), dtype="f4")
    array.resize((180, 10))
    assert count_frames(lambda: array.resize((190, 10))) <= limit


def test_one_member_costs_few_frames(tmp_path: Any) -> None:
    group = zarr.open_group(LocalStore(tmp_path), mode="w")
    for number in range(20):
        group.create_array(f"a{number}", shape=(4,), chunks=(2,), dtype="int32")
    list(group.arrays())
    assert count_frames(lambda: list(group.arrays())) <= 20 * 65 + 60


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_removals_in_a_transaction_are_not_compared_with_each_other(kind: str, tmp_path: Any) -> None:
    def frames(count: int) -> int:
        store = MemoryStore() if kind == "memory" else LocalStore(tmp_path / str(count))
        nodes = {f"g{number}": GroupMetadata() for number in range(count)}
        dict(zarr.create_hierarchy(store=store, nodes={"": GroupMetadata(), **nodes}))

        def remove() -> None:
            with zarr.transaction(store) as tx:
                for name in nodes:
                    del tx.group()[name]

        return count_frames(remove, room="zarr")

    frames(1)
    assert frames(200) < 4.4 * frames(50)
