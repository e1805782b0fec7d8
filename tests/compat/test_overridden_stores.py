"""Subclasses of the stores, and stores of which a test replaced a method: what was overridden is what is called.

Programs put their own ``get`` or ``set`` over that of a store to count, to delay, to encrypt or to refuse. However many
ways of their own the stores have to move values, such a program sees each of them.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import numpy as np
import pytest

import zarr
from zarr.abc.store import RangeByteRequest, Store, goes_by
from zarr.buffer.core import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.storage import LocalStore, MemoryStore, StorePath, WrapperStore, ZipStore

METHODS = ("get", "set", "delete", "delete_dir", "exists", "list_dir", "list", "list_prefix", "set_if_not_exists")
METHODS += ("getsize", "get_ranges")


def noting(cls: type[Store], name: str, calls: list[str]) -> Any:
    """An override of a method that takes a note and does what it did."""
    plain: Any = getattr(cls, name)
    if not inspect.iscoroutinefunction(plain):

        def note(self: Store, *args: Any, **options: Any) -> Any:
            calls.append(f"{name} {args[0] if args else ''}".strip())
            return plain(self, *args, **options)

        return note

    async def note_coroutine(self: Store, *args: Any, **options: Any) -> Any:
        calls.append(f"{name} {args[0]}")
        return await plain(self, *args, **options)

    return note_coroutine


def build(cls: type[Store], folder: Path) -> Store:
    if issubclass(cls, LocalStore):
        return cls(folder / "data")
    if issubclass(cls, ZipStore):
        return cls(folder / "data.zip", mode="w")
    return cls(MemoryStore()) if issubclass(cls, WrapperStore) else cls()


@pytest.fixture(params=["subclass", "one store"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Store]:
    """Make a store of which methods note their calls: those of a subclass, or those of the one store."""

    def made(cls: type[Store], calls: list[str], *names: str) -> Store:
        over = {name: noting(cls, name, calls) for name in names}
        if request.param == "subclass":
            return build(type(f"Noting{cls.__name__}", (cls,), over), tmp_path)
        store = build(cls, tmp_path)
        for name, function in over.items():
            setattr(store, name, function.__get__(store))
        return store

    return made


def work(store: Store) -> None:
    """What a program does with a store, checked by what it reads."""
    root = zarr.create_group(store)
    values = np.arange(64).reshape(8, 8)
    root.create_array("a", data=values, chunks=(4, 4))
    sharded = root.create_array("s", shape=(8, 8), chunks=(2, 2), shards=(8, 8), dtype="int64")
    sharded[:] = values
    sharded[1:3, 1] = -1
    root.create_group("deep/er/est", attributes={"x": 1})
    root.create_array("a", data=values, chunks=(4, 4), overwrite=True)
    root["a"].attrs["unit"] = "m"
    root["a"].resize((5, 8))
    again = zarr.open_group(store, mode="r+")
    assert sorted(again.keys()) == ["a", "deep", "s"]
    assert np.array_equal(again["a"][:], values[:5])
    assert again["s"][2, 1] == -1
    assert again["a"].nbytes_stored() > 0
    del again["deep"]
    assert "deep" not in again
    zarr.save_array(store, values, path="saved")
    assert np.array_equal(zarr.load(store, path="saved"), values)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("cls", [LocalStore, MemoryStore, ZipStore, WrapperStore])
def test_a_store_works_whichever_method_is_overridden(make: Callable[..., Store], cls: type[Store], name: str) -> None:
    work(make(cls, [], name))


@pytest.mark.parametrize("cls", [LocalStore, MemoryStore, ZipStore, WrapperStore])
def test_reads_writes_and_deletions_are_seen(make: Callable[..., Store], cls: type[Store]) -> None:
    calls: list[str] = []
    store = make(cls, calls, "get", "set", "delete")
    array = zarr.create_array(store, name="a", shape=(4,), chunks=(2,), dtype="int8")
    assert "set a/zarr.json" in calls, "the document of a new array is a value like others"
    array[:] = 1
    assert {"set a/c/0", "set a/c/1"} <= set(calls)
    calls.clear()
    assert array[:].tolist() == [1, 1, 1, 1]
    assert sorted(calls) == ["get a/c/0", "get a/c/1"]
    calls.clear()
    array[2:] = 0
    assert calls == ["delete a/c/1"]
    calls.clear()
    zarr.load(store, path="a")
    assert "get a/c/0" in calls


def test_a_group_that_goes_is_deleted_key_by_key_if_that_is_overridden(make: Callable[..., Store]) -> None:
    calls: list[str] = []
    store = make(MemoryStore, calls, "delete")
    zarr.create_array(store, name="g/a", data=np.ones(2, "int8"), chunks=(2,))
    calls.clear()
    del zarr.open_group(store, mode="r+")["g"]
    assert {"delete g/zarr.json", "delete g/a/zarr.json", "delete g/a/c/0"} <= set(calls)
    assert [key for key in store._store_dict if key.startswith("g/")] == []  # type: ignore[attr-defined]


def test_plain_methods_are_seen_too() -> None:
    seen: list[str] = []

    class Noting(MemoryStore):
        def set_sync(self, key: str, value: Any) -> None:
            seen.append(f"set {key}")
            super().set_sync(key, value)

        def delete_sync(self, key: str) -> None:
            seen.append(f"delete {key}")
            super().delete_sync(key)

    store = Noting()
    root = zarr.create_group(store)
    root.create_group("g")
    del root["g"]
    assert "set g/zarr.json" in seen
    assert "delete g/zarr.json" in seen


def test_what_refuses_to_store_is_asked_for_new_nodes() -> None:
    class Full(MemoryStore):
        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            raise OSError(f"no space for {key}")

    with pytest.raises(OSError, match=r"no space for zarr\.json"):
        zarr.create_group(Full())


def test_ranges_of_a_wrapper_go_by_its_own_reads() -> None:
    calls: list[str] = []

    class Wrapper(WrapperStore[MemoryStore]):
        def get_sync(self, key: str, **options: Any) -> Any:
            calls.append(key)
            return super().get_sync(key, **options)

    inner = MemoryStore()
    asyncio.run(inner.set("k", Buffer.from_bytes(b"0123456789")))
    ranges = [RangeByteRequest(0, 2), RangeByteRequest(4, 6)]
    for store, seen in ((WrapperStore(inner), []), (Wrapper(inner), ["k"])):
        found = store.get_ranges_sync("k", ranges, prototype=default_buffer_prototype())
        values = {index: value.to_bytes() for index, value in found if value is not None}
        assert values == {0: b"01", 1: b"45"}
        assert calls == seen


def test_what_a_store_inherits_from_its_contract_calls_the_simpler_method() -> None:
    class Plain(MemoryStore):
        pass

    assert not goes_by(Plain(), "set", "set_if_not_exists", "put_if_absent")
    assert not goes_by(WrapperStore(MemoryStore()), "delete", "delete_dir")


@pytest.mark.parametrize("cls", [LocalStore, MemoryStore, ZipStore])
def test_a_mock_that_stands_in_for_a_store_is_written_and_read(cls: type[Store], tmp_path: Path) -> None:
    mock: Any = AsyncMock(wraps=build(cls, tmp_path), spec=cls)
    array = zarr.create_array(StorePath(mock), shape=(8,), chunks=(2,), shards=(4,), dtype="int8")
    array[:] = np.arange(8)
    assert array[:].tolist() == list(range(8))
    mock.get.assert_called()
    mock.set.assert_called()


def test_a_change_of_attributes_reads_the_document_once(make: Callable[..., Store]) -> None:
    calls: list[str] = []
    store = make(MemoryStore, calls, "get", "set")
    zarr.create_array(store, name="a", shape=(4,), dtype="int8")
    array = zarr.open_array(store, path="a", mode="r+")
    calls.clear()
    array.attrs.put({"unit": "m"})
    assert calls[0] == "get a/zarr.json"
    assert sorted(calls) == ["get a/zarr.json", "get zarr.json", "set a/zarr.json"]


PARTS = [(1, slice(None), 0), (1, slice(1, 9), 1), (1 << 17, slice(1, 9), 1)]


@pytest.mark.parametrize(("chunk", "selection", "reads"), PARTS)
def test_a_part_of_a_shard_is_written_after_one_read(
    make: Callable[..., Store], chunk: int, selection: slice, reads: int
) -> None:
    """Two reads of a store without versions may be of two values of the shard, however large it is."""
    calls: list[str] = []
    store = make(MemoryStore, calls, "get")
    values = np.repeat(np.arange(10), chunk)
    options: dict[str, Any] = {"chunks": (chunk,), "shards": (10 * chunk,), "compressors": None}
    array = zarr.create_array(store, shape=values.shape, dtype="int64", fill_value=-1, **options)
    array[:] = values
    calls.clear()
    array[selection.start and selection.start * chunk : selection.stop and selection.stop * chunk] = 7
    assert len(calls) == reads
    values.reshape(10, chunk)[selection] = 7
    assert np.array_equal(array[:], values)
