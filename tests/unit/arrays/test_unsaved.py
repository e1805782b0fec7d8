"""Arrays made in memory and saved later: everything works on them before, and nothing is stored until then."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.parity.slow_store import SlowStore
from zarr.arrays import handle
from zarr.arrays.create import unsaved
from zarr.errors import ContainsArrayError
from zarr.storage import LocalStore, MemoryStore, SQLiteStore


@pytest.fixture(params=["memory", "local", "sqlite", "coroutines"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made: dict[str, Any] = {
        "memory": MemoryStore,
        "local": lambda: LocalStore(tmp_path),
        "sqlite": lambda: SQLiteStore(tmp_path / "x.sqlite"),
        "coroutines": lambda: SlowStore(MemoryStore()),
    }
    return made[request.param]()


def keys(store: Any) -> list[str]:
    async def listed() -> list[str]:
        return sorted([key async for key in store.list()])

    return asyncio.run(listed())


@pytest.mark.parametrize("layout", [{"chunks": (4, 3)}, {"chunks": (2, 3), "shards": (4, 6)}, {"zarr_format": 2}])
def test_nothing_is_stored_before_it_is_saved(store: Any, layout: dict[str, Any]) -> None:
    array: Any = zarr.Array(shape=(10, 10), path="foo/bar", dtype="i4", store=store, **layout)
    other = zarr.Array.from_handle(array._handle)
    expected = np.zeros((10, 10), dtype="i4")
    array[2:5, 1:7] = expected[2:5, 1:7] = np.arange(18).reshape(3, 6)
    array.attrs["unit"] = "m"
    array.append(np.ones((2, 10)))
    expected = np.concatenate([expected, np.ones((2, 10), dtype="i4")])
    np.testing.assert_array_equal(array[...], expected)
    if isinstance(store, LocalStore | SQLiteStore):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[...], expected)
    assert (array.path, array.store is store, array.shape, keys(store)) == ("foo/bar", True, (12, 10), [])
    array.save()
    array.save()  # it is saved
    other[0, 0] = expected[0, 0] = 5
    again = zarr.open_array(store, path="foo/bar")
    np.testing.assert_array_equal(again[...], expected)
    assert again.attrs["unit"] == "m"
    array[0, 1] = 6
    assert again[0, 1] == 6 == asyncio.run(array.async_array.getitem((0, 1)))
    assert list(zarr.open_group(store, mode="r")["foo"].array_keys()) == ["bar"]


def test_many_are_saved_together(store: Any) -> None:
    arrays = [zarr.Array(shape=(10, 10), path=f"foo/{name}", dtype="i4", store=store) for name in "abcde"]
    for number, array in enumerate(arrays):
        array[...] = number
    zarr.save_many(arrays)
    found = zarr.open_group(store, path="foo", mode="r")
    assert {name: int(array[3, 3]) for name, array in found.arrays()} == dict(zip("abcde", range(5), strict=True))
    later = zarr.Array(shape=3, path="foo/z", dtype="i1", store=store)
    asyncio.run(zarr.api.asynchronous.save_many([later.async_array]))
    later[0] = 1
    assert "z" in zarr.open_group(store, path="foo", mode="r")


def test_what_is_there_already_stays_unless_told(store: Any) -> None:
    zarr.create_array(store, name="x", data=np.arange(5))
    array = zarr.Array(shape=2, path="x", dtype="i1", store=store, fill_value=7)
    with pytest.raises(ContainsArrayError):
        array.save()
    assert array[:].tolist() == [7, 7]
    assert zarr.open_array(store, path="x")[:].tolist() == [0, 1, 2, 3, 4]
    array.save(overwrite=True)
    assert zarr.open_array(store, path="x")[:].tolist() == [7, 7]
    assert zarr.from_array(store, name="y", data=zarr.Array(shape=2, dtype="i1", fill_value=3))[:].tolist() == [3, 3]


def test_in_a_batch_and_with_another_configuration() -> None:
    store = MemoryStore()
    array = zarr.Array(shape=10, path="x", dtype="i4", chunks=5, store=store)
    view = array.with_config({"write_empty_chunks": True})
    with array.batch():
        array[3] = 4
        array.save()
        assert array[3] == 4
    view[5] = 2
    assert zarr.open_array(store, path="x")[:].tolist() == [0, 0, 0, 4, 0, 2, 0, 0, 0, 0]


def test_what_an_array_is_made_of() -> None:
    with pytest.raises(TypeError, match="missing: dtype"):
        zarr.Array(shape=3)
    with pytest.raises(TypeError, match="missing: shape, dtype"):
        zarr.Array()
    with pytest.raises(TypeError, match="got both"):
        zarr.Array(zarr.zeros(3).async_array, shape=3)
    with pytest.raises(TypeError, match="nonsense"):
        zarr.Array(shape=3, dtype="i1", nonsense=3)
    with pytest.raises(TypeError, match="arrays are saved"):
        zarr.save_many([3])  # type: ignore[list-item]


def test_chunks_that_another_thread_writes_while_it_is_saved() -> None:
    array = zarr.Array(shape=6000, chunks=1, dtype="i4", path="x", store=MemoryStore())
    begun = threading.Event()

    def write() -> None:
        for place in range(6000):
            array[place] = 1
            if place == 3000:
                begun.set()

    thread = threading.Thread(target=write)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        begun.wait(60)
        array.save()
    finally:
        sys.setswitchinterval(before)
        thread.join(60)
    assert zarr.open_array(array.store, path="x", mode="r")[:3000].tolist() == [1] * 3000


def test_a_thread_that_looks_for_its_runner_while_the_array_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    array = zarr.Array(shape=4, dtype="i4", path="x", store=MemoryStore())
    look, saver = unsaved.runner_for, threading.Thread(target=array.save)

    def look_slowly(store: Any) -> Any:
        found = look(store)
        monkeypatch.undo()
        saver.start()
        saver.join(60)
        return found

    monkeypatch.setattr(unsaved, "runner_for", look_slowly)
    monkeypatch.setattr(handle, "runner_for", look_slowly)
    array[0] = 1  # which may be too late
    zarr.Array.from_handle(array._handle)[1] = 2
    assert zarr.open_array(array.store, path="x", mode="r")[1] == 2
