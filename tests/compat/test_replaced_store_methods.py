"""Tests and tracing tools replace methods of a class of stores: every operation goes through what they put there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from unittest import mock

import numpy as np
import pytest

import zarr
from zarr.abc.store import Store, bulk_access_of, is_synchronous
from zarr.abc.store_patches import CHANGES, replaced_on
from zarr.storage import FsspecStore, LocalStore, LoggingStore, MemoryStore

COROUTINES = ("get", "set", "delete")


@pytest.fixture(params=[MemoryStore, LocalStore])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return LocalStore(tmp_path) if request.param is LocalStore else MemoryStore()


@pytest.fixture
def calls(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that come to coroutines of the class, which are replaced by ones that take notes."""
    found: list[str] = []

    def noting(name: str, plain: Any) -> Any:
        async def note(self: Store, key: str, *args: Any, **options: Any) -> Any:
            found.append(f"{name} {key}")
            return await plain(self, key, *args, **options)

        return note

    for name in COROUTINES:
        monkeypatch.setattr(type(store), name, noting(name, getattr(type(store), name)))
    return found


@pytest.fixture
def array(store: Store) -> zarr.Array[Any]:
    made = zarr.create_array(store, name="a", shape=(6,), chunks=(2,), dtype="int16")
    made[:] = np.arange(6)
    return made


def test_an_array_that_was_open_before(array: zarr.Array[Any], calls: list[str]) -> None:
    array[2:] = 7
    assert sorted(calls) == ["set a/c/1", "set a/c/2"]
    calls.clear()
    assert array[:4].tolist() == [0, 1, 7, 7]
    assert sorted(calls) == ["get a/c/0", "get a/c/1"]
    calls.clear()
    array.resize((2,))
    assert {"delete a/c/1", "delete a/c/2", "set a/zarr.json"} <= set(calls)


def test_nodes_made_and_opened_meanwhile(store: Store, calls: list[str]) -> None:
    group = zarr.create_group(store)
    group.create_array("b", shape=(4,), chunks=(2,), dtype="int8")[:] = 1
    assert {"set b/c/0", "set b/c/1"} <= set(calls)  # new documents are stored by ``set_if_not_exists``
    calls.clear()
    assert zarr.open_array(store, path="b", mode="r")[0] == 1
    assert {"get b/zarr.json", "get b/c/0"} <= set(calls)


def test_the_asynchronous_face(array: zarr.Array[Any], calls: list[str]) -> None:
    assert asyncio.run(array.async_array.getitem(slice(2, 4))).tolist() == [2, 3]
    assert calls == ["get a/c/1"]


def test_what_a_replaced_method_raises_is_raised(array: zarr.Array[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = type(array.store).set

    async def failing(self: Store, key: str, value: Any, *more: Any) -> None:
        if key == "a/zarr.json":
            raise OSError("no space left")
        await plain(self, key, value, *more)

    monkeypatch.setattr(type(array.store), "set", failing)
    with pytest.raises(OSError, match="no space left"):
        array.attrs["x"] = 1
    monkeypatch.undo()
    assert dict(zarr.open_array(array.store, path="a").attrs) == {}


def test_a_plain_method_that_is_replaced(store: Store) -> None:
    with mock.patch.object(type(store), "set_sync", autospec=True, side_effect=type(store).set_sync) as setting:  # type: ignore[attr-defined]
        zarr.create_array(store, name="p", shape=(4,), chunks=(2,), dtype="int8")[:] = 1
    assert {"p/c/0", "p/c/1"} <= {call.args[1] for call in setting.call_args_list}


def test_all_is_as_before_once_the_method_is_back(array: zarr.Array[Any]) -> None:
    cls = type(array.store)
    with mock.patch.object(cls, "get"):
        assert set(replaced_on(cls)) == {"get"}
        assert not is_synchronous(array.store)
        assert bulk_access_of(array.store) is None
    assert not replaced_on(cls)
    assert is_synchronous(array.store)
    assert bulk_access_of(array.store) is not None
    assert array[:].tolist() == list(range(6))


def test_a_method_replaced_on_a_class_above() -> None:
    class Below(MemoryStore):
        pass

    with mock.patch.object(MemoryStore, "get"):
        assert not is_synchronous(Below())
    assert is_synchronous(Below())


def test_a_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    store = LoggingStore(MemoryStore())
    array = zarr.create_array(store, shape=(4,), chunks=(2,), dtype="int8")
    seen: list[str] = []
    plain = LoggingStore.get

    async def note(self: Any, key: str, *args: Any, **options: Any) -> Any:
        seen.append(key)
        return await plain(self, key, *args, **options)

    monkeypatch.setattr(LoggingStore, "get", note)
    assert array[:].tolist() == [0, 0, 0, 0]
    assert seen == ["c/0", "c/1"]


def test_a_class_that_is_filled_after_it_was_made() -> None:
    """As pickling by value does: its methods are its own, and nobody's replacements."""
    filled = type("Filled", (MemoryStore,), {})

    def names(self: Any, prefix: str) -> Iterator[str]:
        return iter(["z"])

    filled.list_dir_sync = names  # type: ignore[attr-defined]
    assert list(filled().list_dir_sync("")) == ["z"]
    assert is_synchronous(filled())


def test_the_documents_of_new_nodes_in_a_store_of_coroutines(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    plain, seen = FsspecStore.set, []
    store = FsspecStore.from_url("memory://replaced", storage_options={"asynchronous": True})

    async def note(self: Any, key: str, value: Any, **options: Any) -> None:
        seen.append(key)
        await plain(self, key, value, **options)

    monkeypatch.setattr(FsspecStore, "set", note)
    zarr.create_array(store, name="a", shape=(2,), chunks=(2,), dtype="int8", overwrite=True)[:] = 1
    assert {"a/zarr.json", "a/c/0"} <= set(seen)


def test_a_method_replaced_on_a_subclass_that_has_all_of_its_own() -> None:
    class Below(MemoryStore):
        async def get(self, *args: Any, **options: Any) -> Any:
            return await super().get(*args, **options)

        def get_sync(self, *args: Any, **options: Any) -> Any:
            return super().get_sync(*args, **options)

    array = zarr.create_array(Below(), shape=(2,), chunks=(2,), dtype="int8", fill_value=3)
    with mock.patch.object(Below, "get", side_effect=KeyError("seen")), pytest.raises(KeyError, match="seen"):
        array[0]
    assert array[0] == 3


def test_what_is_no_method_is_nothing_to_look_at() -> None:
    class Counting(MemoryStore):
        calls = 0

    before = list(CHANGES)
    Counting.calls += 1
    Counting._note = lambda self: None  # type: ignore[attr-defined]
    assert before == CHANGES
    assert not replaced_on(Counting)


def test_a_store_that_follows_a_protocol() -> None:
    """Their classes have a class of their own, and must have one together."""

    @runtime_checkable
    class Named(Protocol):
        def name(self) -> str: ...

    class NamedStore(MemoryStore, Named):
        def name(self) -> str:
            return "x"

    assert isinstance(NamedStore(), Named)
    assert isinstance(NamedStore(), MemoryStore)
    assert not isinstance(MemoryStore(), Named)
    assert not isinstance(object(), NamedStore)
    zarr.create_array(NamedStore(), shape=(2,), dtype="int8")[:] = 1
