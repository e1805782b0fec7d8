"""Transactions over every kind of store: seen inside, not outside, applied whole, dropped on an error."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from tests.compat.order_of_requests import NotingStore
from zarr.abc.store import RangeByteRequest
from zarr.buffer.cpu import Buffer
from zarr.errors import ReadOnlyError, TransactionConflictError
from zarr.storage import LocalStore, LoggingStore, MemoryStore, SQLiteStore, ZipStore
from zarr.storage.keys import JOURNAL_FOLDER

KINDS = ["memory", "local", "zip", "sqlite", "lmdb", "wrapped", "fsspec"]


def make_store(kind: str, folder: Path) -> Any:
    if kind == "memory":
        return MemoryStore()
    if kind == "local":
        return LocalStore(folder / "data.zarr")
    if kind == "zip":
        return ZipStore(folder / "data.zip", mode="w")
    if kind == "sqlite":
        return SQLiteStore(folder / "data.sqlite")
    if kind == "wrapped":
        return LoggingStore(LocalStore(folder / "data.zarr"), log_level="ERROR")
    if kind == "fsspec":
        pytest.importorskip("fsspec")
        return zarr.storage.FsspecStore.from_url(f"memory://{folder.name}")
    pytest.importorskip("lmdb")
    return zarr.storage.LMDBStore(folder / "data.lmdb", map_size=1 << 24)


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = make_store(request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture
def arrays(store: Any) -> tuple[Any, Any]:
    x = zarr.create_array(store, name="x", data=np.arange(10), chunks=(4,))
    y = zarr.create_array(store, name="y", data=np.arange(6), chunks=(4,))
    return x, y


def read(store: Any, name: str) -> list[int]:
    values: list[int] = np.asarray(zarr.open_array(store, path=name, mode="r")[...]).tolist()
    return values


def test_changes_are_seen_inside_and_after(store: Any, arrays: Any) -> None:
    with zarr.transaction(store) as tx:
        root = tx.group()
        root["x"][2:5] = 7
        root["x"].append(np.array([50, 51, 52]))
        root["y"].resize((2,))
        root["y"].attrs["unit"] = "m"
        root.create_array("new/z", data=np.ones(3, int))
        assert root["x"][:5].tolist() == [0, 1, 7, 7, 7]
        assert root["x"].shape == (13,)
        assert sorted(root.keys()) == ["new", "x", "y"]
        assert read(store, "x") == list(range(10))
        assert read(store, "y") == list(range(6))
        assert sorted(zarr.open_group(store, mode="r").keys()) == ["x", "y"]
    assert read(store, "x") == [0, 1, 7, 7, 7, 5, 6, 7, 8, 9, 50, 51, 52]
    assert read(store, "y") == [0, 1]
    assert read(store, "new/z") == [1, 1, 1]
    assert zarr.open_array(store, path="y").attrs.asdict() == {"unit": "m"}


def test_nothing_stays_of_an_error(store: Any, arrays: Any) -> None:
    before = read(store, "x"), read(store, "y")
    with pytest.raises(KeyError), zarr.transaction(store) as tx:
        tx.group()["x"][:] = 0
        del tx.group()["y"]
        raise KeyError("stop")
    assert (read(store, "x"), read(store, "y")) == before


def test_deleted_and_made_anew(store: Any, arrays: Any) -> None:
    with zarr.transaction(store) as tx:
        zarr.create_array(tx, name="x", data=np.arange(3, dtype="i1"), chunks=(2,), overwrite=True)
        del tx.group()["y"]
        assert "y" not in tx.group()
        assert read(tx, "x") == [0, 1, 2]
    assert read(store, "x") == [0, 1, 2]
    assert "y" not in zarr.open_group(store, mode="r")


def test_everything_made_anew(store: Any, arrays: Any) -> None:
    with zarr.transaction(store) as tx:
        zarr.open_group(tx, mode="w").create_array("only", data=np.arange(2))
    assert sorted(zarr.open_group(store, mode="r").keys()) == ["only"]
    assert read(store, "only") == [0, 1]


def test_a_conflict_stores_nothing(store: Any, arrays: Any) -> None:
    x, y = arrays
    with pytest.raises(TransactionConflictError, match="x/c/0"), zarr.transaction(store) as tx:
        tx.group()["x"][1] = 100
        tx.group()["y"][:] = 100
        x[0] = 9
    assert x[:2].tolist() == [9, 1]
    assert y[0] == 0


@pytest.mark.parametrize("written", [slice(0, 1), slice(0, 8)], ids=["part", "whole shard"])
def test_a_part_of_a_shard_that_was_read_counts(store: Any, written: slice) -> None:
    x = zarr.create_array(store, name="x", shape=(8,), chunks=(2,), shards=(8,), dtype="i4")
    x[:] = 1
    with pytest.raises(TransactionConflictError, match="x/c/0"), zarr.transaction(store) as tx:
        inside = tx.group()["x"]
        before = inside[0]  # the index and one inner chunk are read, not the shard
        x[0] = 5
        inside[written] = before + 1
    assert x[:2].tolist() == [5, 1]


def test_a_part_of_a_shard_that_stays_is_no_conflict(store: Any) -> None:
    x = zarr.create_array(store, name="x", shape=(16,), chunks=(2,), shards=(8,), dtype="i4")
    x[:] = 1
    with zarr.transaction(store) as tx:
        inside = tx.group()["x"]
        inside[0] += 1
        inside[8] = inside[0] + inside[1]  # what is read of the first shard now was written
        x[15]
    assert read(store, "x") == [2, *[1] * 7, 3, *[1] * 7]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("change", ["a chunk", "a new chunk", "a new node", "an attribute"])
def test_what_is_moved_is_not_changed_meanwhile(store: Any, zarr_format: Any, change: str) -> None:
    group = zarr.create_group(store, path="g", zarr_format=zarr_format)
    x = group.create_array("x", shape=(6,), chunks=(2,), dtype="i4")
    x[:2] = 1
    with pytest.raises(TransactionConflictError), zarr.transaction(store) as tx:
        tx.group().move("g", "h")
        if change == "an attribute":
            x.attrs["k"] = 1
        elif change == "a new node":
            group.create_array("y", shape=(1,), dtype="i4")
        else:
            x[0 if change == "a chunk" else 4] = 9
    assert sorted(zarr.open_group(store, mode="r").keys()) == ["g"]
    with zarr.transaction(store) as tx:
        tx.group().move("g", "h")
    assert zarr.open_group(store, mode="r")["h/x"][:].sum() == {"a chunk": 10, "a new chunk": 11}.get(change, 2)


@pytest.mark.parametrize("part", [None, RangeByteRequest(0, 1)])
def test_threads_that_read_two_values_of_a_key_conflict(part: Any) -> None:
    slow, go_on = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def get_sync(self, key: str, **options: Any) -> Any:
            value = super().get_sync(key, **options)
            if threading.current_thread() is reader and not slow.is_set():
                slow.set()
                go_on.wait(10)
            return value

    store = Slow()
    store.set_sync("k", Buffer.from_bytes(b"old"))
    tx = zarr.transaction(store)
    reader = threading.Thread(target=lambda: tx.get_sync("k", byte_range=part))
    reader.start()
    slow.wait(10)
    store.set_sync("k", Buffer.from_bytes(b"new"))
    tx.get_sync("k")
    go_on.set()
    reader.join()
    tx.set_sync("k", Buffer.from_bytes(b"from old"))
    with pytest.raises(TransactionConflictError):
        tx.commit()


def test_a_changed_document_is_a_conflict(store: Any, arrays: Any) -> None:
    x, _ = arrays
    with pytest.raises(TransactionConflictError, match=r"zarr\.json"), zarr.transaction(store) as tx:
        tx.group()["x"][8:] = 100
        x.resize((4,))
    assert read(store, "x") == [0, 1, 2, 3]


def test_a_key_that_is_deleted_and_put_is_no_conflict(store: Any) -> None:
    zarr.create_array(store, name="x", data=np.zeros(2, int))
    with zarr.transaction(store) as tx:
        tx.delete_sync("x/zarr.json")
        tx.group().create_array("x", data=np.ones(2, int))
    assert read(store, "x") == [1, 1]


def test_of_two_creators_one_wins(store: Any) -> None:
    zarr.create_group(store)
    first, second = zarr.transaction(store), zarr.transaction(store)
    first.group().create_array("a", data=np.zeros(2))
    second.group().create_array("a", data=np.ones(2))
    first.commit()
    with pytest.raises(TransactionConflictError):
        second.commit()
    assert read(store, "a") == [0, 0]


def test_it_is_over_after_the_end(store: Any, arrays: Any) -> None:
    with zarr.transaction(store) as tx:
        inside = tx.group()["x"]
    with pytest.raises(ValueError, match=r"read-only.* ended transaction"):
        inside[:] = 3
    with pytest.raises(ReadOnlyError, match="it has ended: begin another"):
        tx.group()
    with pytest.raises(ReadOnlyError):
        tx.commit()


LATE: dict[str, Callable[[Any], Any]] = {
    "set": lambda tx: tx.set_sync("late", Buffer.from_bytes(b"1")),
    "put": lambda tx: tx.put_if_absent_sync("late", Buffer.from_bytes(b"1")),
    "many": lambda tx: tx.bulk_access().set_many([("late", b"1")]),
    "delete": lambda tx: tx.delete_sync("k"),
    "clear": lambda tx: tx.delete_dir_sync(""),
    "view": lambda tx: tx.with_read_only(False).set_sync("late", Buffer.from_bytes(b"1")),
}


@pytest.mark.parametrize("change", LATE.values(), ids=LATE)
def test_what_comes_while_it_is_stored_is_refused(change: Callable[[Any], Any]) -> None:
    class Late(MemoryStore):
        def apply_sync(self, changes: Any) -> None:
            with pytest.raises(ReadOnlyError):
                change(tx)
            super().apply_sync(changes)

    store = Late()
    with zarr.transaction(store) as tx:
        tx.set_sync("k", Buffer.from_bytes(b"0"))
    with pytest.raises(ReadOnlyError):
        change(tx)
    assert list(store.list_sync()) == ["k"]


def test_a_reader_at_the_end_finds_no_hole() -> None:
    class Ending(MemoryStore):
        def get_many_sync(self, keys: Any, *args: Any) -> Any:
            found = super().get_many_sync(keys, *args)
            tx.rollback()
            return found

    store = Ending()
    store.set_sync("below", Buffer.from_bytes(b"0"))
    tx = zarr.transaction(store)
    tx.set_sync("kept", Buffer.from_bytes(b"1"))
    access = tx.bulk_access()
    assert access is not None
    assert access.get_many is not None
    assert [bytes(value) for value in access.get_many(["kept", "below"])] == [b"1", b"0"]


def test_asynchronously(store: Any, arrays: Any) -> None:
    async def work() -> None:
        async with zarr.transaction(store) as tx:
            array = await zarr.api.asynchronous.open_array(store=tx, path="x")
            await array.setitem(slice(0, 2), 5)
            assert (await array.getitem(slice(0, 3))).tolist() == [5, 5, 2]
        with pytest.raises(KeyError):
            async with zarr.transaction(store) as tx:
                await tx.delete("x/zarr.json")
                raise KeyError

    asyncio.run(work())
    assert read(store, "x")[:3] == [5, 5, 2]


def test_a_cancelled_commit_is_over_when_the_task_is() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def apply_sync(self, changes: Any) -> None:
            begun.set()
            go_on.wait(10)
            super().apply_sync(changes)

    store = Slow()

    async def work() -> None:
        async with zarr.transaction(store) as tx:
            await tx.set("k", Buffer.from_bytes(b"1"))

    async def cancel() -> list[str]:
        task = asyncio.create_task(work())
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        asyncio.get_running_loop().call_later(0.1, go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        return list(store.list_sync())

    assert asyncio.run(cancel()) == ["k"]


def test_a_read_only_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadOnlyError):
        zarr.transaction(LocalStore(tmp_path, read_only=True))


def test_threads_that_try_again_lose_nothing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "data.zarr")
    zarr.create_array(store, name="n", data=np.zeros(1, int))
    zarr.create_array(store, name="m", data=np.zeros(1, int))

    def work() -> None:
        for _ in range(5):
            while True:
                try:
                    with zarr.transaction(store) as tx:
                        for name in "nm":
                            array = zarr.open_array(tx, path=name)
                            array[0] = array[0] + 1
                    break
                except TransactionConflictError:
                    continue

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (read(store, "n"), read(store, "m")) == ([15], [15])


def test_a_dead_process_s_journal_is_carried_out(tmp_path: Path) -> None:
    root = tmp_path / "data.zarr"
    store = LocalStore(root)
    zarr.create_array(store, name="x", data=np.arange(4))
    pid = os.fork()
    if pid == 0:
        from zarr.storage.local import changes

        changes.carry_out = lambda *_: os._exit(0)
        with zarr.transaction(store) as tx:
            tx.group()["x"][:] = 9
        os._exit(1)
    os.waitpid(pid, 0)
    assert (root / JOURNAL_FOLDER).exists()
    assert JOURNAL_FOLDER not in list(store.list_dir_sync(""))
    assert read(LocalStore(root), "x") == [9, 9, 9, 9]
    assert sorted(name for name in os.listdir(root) if name.startswith(".")) == []


# Against a dictionary

KEYS = st.sampled_from(["a", "a0/b", "c/d", "c/e/f", "c/e/g", "h"])
FOLDERS = st.sampled_from(["", "a0", "c", "c/e"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, st.binary(max_size=3)),
        st.tuples(st.just("delete"), KEYS),
        st.tuples(st.just("delete_dir"), FOLDERS),
    ),
    max_size=8,
)


def change(model: dict[str, bytes], store: Any, steps: list[Any]) -> None:
    for step in steps:
        if step[0] == "set":
            model[step[1]] = step[2]
            store.set_sync(step[1], Buffer.from_bytes(step[2]))
        elif step[0] == "delete":
            model.pop(step[1], None)
            store.delete_sync(step[1])
        else:
            for key in [key for key in model if not step[1] or key.startswith(f"{step[1]}/")]:
                del model[key]
            store.delete_dir_sync(step[1])


def contents(store: Any) -> dict[str, bytes]:
    return {key: store.get_sync(key).to_bytes() for key in store.list_sync()}


def test_a_store_is_asked_for_whole_values_by_get(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores of others often leave `get_partial_values` out, and no plain read or write asks for it."""

    async def left_out(*args: Any) -> Any:
        raise NotImplementedError

    monkeypatch.setattr(NotingStore, "get_partial_values", left_out)
    store = NotingStore()
    zarr.create_array(store, data=np.ones(8, "i4"), chunks=2)
    with zarr.transaction(store) as tx:
        array = zarr.open_array(tx)
        array[1:7] += 1
        array.attrs["a"] = 1
    assert zarr.open_array(store)[:].tolist() == [1, 2, 2, 2, 2, 2, 2, 1]
    assert dict(zarr.open_array(store).attrs) == {"a": 1}


@pytest.mark.parametrize("kind", ["memory", "local", "zip", "sqlite"])
@settings(max_examples=40, deadline=None)
@given(before=STEPS, inside=STEPS)
def test_like_a_dictionary(tmp_path_factory: pytest.TempPathFactory, kind: str, before: Any, inside: Any) -> None:
    store = make_store(kind, tmp_path_factory.mktemp("dict"))
    model: dict[str, bytes] = {}
    change(model, store, before)
    outside = contents(store)
    with zarr.transaction(store) as tx:
        change(model, tx, inside)
        assert contents(tx) == model
        assert contents(store) == outside
        for folder in ("", "a0", "c", "c/e"):
            start = f"{folder}/" if folder else ""
            expected = sorted({key[len(start) :].split("/")[0] for key in model if key.startswith(start)})
            listed = list(tx.list_dir_sync(folder))
            if kind == "local":  # the folder of a value that was deleted stays, and is listed, as without a transaction
                listed = [name for name in listed if name in expected]
            assert listed == expected
        assert all(tx.exists_sync(key) == (key in model) for key in ("a", "a0/b", "c/d", "c/e/f", "h"))
    assert contents(store) == model
    store.close()
