"""Threads and tasks that work on the same array lose nothing."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import make_store, rounds, run_together
from zarr.buffer.cpu import Buffer
from zarr.errors import ContainsArrayError
from zarr.storage import MemoryStore

KINDS = ["local", "memory"]
STORES = ["local", "memory", "zip", "sqlite"]


def opened(array: Any, count: int) -> list[Any]:
    """The array, and others of the same store."""
    return [array, *(zarr.open_array(array.store, mode="r+") for _ in range(count - 1))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [None, (16, 16)])
def test_partial_writes_keep_every_update(kind: str, shards: Any, tmp_path: Path) -> None:
    def write(row: int, handle: Any) -> None:
        handle[row * 2, :] = row + 1
        handle[row * 2 + 1, ::3] = row + 1

    expected = np.zeros((16, 16), "i4")
    for row in range(8):
        expected[row * 2, :] = row + 1
        expected[row * 2 + 1, ::3] = row + 1
    for number in range(rounds(5, 100)):
        store = make_store(kind, tmp_path / str(number))
        array = zarr.create_array(store, shape=(16, 16), chunks=(8, 8), shards=shards, dtype="i4")
        run_together([partial(write, row, handle) for row, handle in enumerate(opened(array, 8))])
        np.testing.assert_array_equal(array[...], expected)


@pytest.mark.parametrize("kind", KINDS)
def test_resizes_and_appends(kind: str, tmp_path: Path) -> None:
    """Resizes along one axis and appends along the other: neither undoes the other, and no row is lost."""

    def append(handle: Any, number: int) -> None:
        width = handle.shape[1]
        while True:
            try:
                handle.append(np.full((1, width), number + 1, "i4"))
            except ValueError:  # the other axis was resized in between
                width = zarr.open_array(handle.store, mode="r").shape[1]
                continue
            return

    for turn in range(rounds(4, 100)):
        array = zarr.create_array(make_store(kind, tmp_path / str(turn)), shape=(0, 4), chunks=(3, 4), dtype="i4")
        first, second, third, fourth = opened(array, 4)
        run_together(
            [
                partial(append, first, 0),
                partial(append, second, 1),
                partial(append, third, 2),
                lambda handle=fourth: handle.update_attributes({"a": 1}),
            ]
        )
        run_together([partial(handle.resize, (3, 5 + n)) for n, handle in enumerate(opened(array, 3))])
        found = zarr.open_array(array.store, mode="r")
        assert found.shape[0] == 3
        assert found.shape[1] in (5, 6, 7)
        assert sorted(found[:, 0].tolist()) == [1, 2, 3]
        assert found.attrs["a"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_attribute_updates_all_stay(kind: str, tmp_path: Path) -> None:
    def update(handle: Any, number: int) -> None:
        for i in range(3):
            handle.attrs[f"{number}-{i}"] = i

    for turn in range(rounds(2, 50)):
        group = zarr.create_group(make_store(kind, tmp_path / str(turn)))
        array = group.create_array("a", shape=1, dtype="i4")
        handles = [group, array, zarr.open_group(group.store), zarr.open_array(group.store, path="a")]
        run_together([partial(update, handle, number) for number, handle in enumerate(handles)])
        assert len(zarr.open_group(group.store, mode="r").attrs) == 6
        assert len(zarr.open_array(group.store, path="a", mode="r").attrs) == 6


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("with_data", [False, True])
def test_one_creator_wins(kind: str, with_data: bool, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_group(store)

    def create(number: int, turn: int, won: list[int]) -> None:
        how: dict[str, Any] = {"data": np.full(8, number)} if with_data else {"shape": 8, "dtype": "i8"}
        try:
            zarr.create_array(store, name=f"{turn}", chunks=2, attributes={"by": number}, **how)
        except ContainsArrayError:
            return
        won.append(number)

    for turn in range(rounds(5, 60)):
        won: list[int] = []
        run_together([partial(create, number, turn, won) for number in range(4)])
        assert len(won) == 1
        array = zarr.open_array(store, path=f"{turn}", mode="r")
        assert array.attrs["by"] == won[0]
        assert array[:].tolist() == [won[0] if with_data else 0] * 8
    store.close()


@pytest.mark.parametrize("kind", STORES)
async def test_one_creator_among_tasks_wins(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)

    async def create(number: int, turn: int) -> int:
        try:
            await zarr.api.asynchronous.create_array(
                store=store, name=f"{turn}", data=np.full(8, number), chunks=2, attributes={"by": number}
            )
        except ContainsArrayError:
            return 0
        return 1

    for turn in range(rounds(5, 60)):
        assert sum(await asyncio.gather(*(create(number, turn) for number in range(4)))) == 1
        array = zarr.open_array(store, path=f"{turn}", mode="r")
        assert set(array[:].tolist()) == {array.attrs["by"]}
    store.close()


# --------------------------------------------------------------------------------------------- appends

APPENDS = rounds(40, 100)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("objects", [1, 10])
def test_appends_by_threads_all_stay(kind: str, objects: int, tmp_path: Path) -> None:
    for turn in range(rounds(1, 5)):
        store = make_store(kind, tmp_path / str(turn))
        handles = opened(zarr.create_array(store, shape=(0, 4), chunks=(3, 4), dtype="i4"), objects)

        def append(number: int, handles: list[Any] = handles) -> None:
            for i in range(number, APPENDS, 10):
                handles[i % objects].append(np.full((1, 4), i, "i4"))

        run_together([partial(append, number) for number in range(10)])
        rows = zarr.open_array(store, mode="r")[...]
        assert sorted(rows[:, 0].tolist()) == list(range(APPENDS))
        assert (rows == rows[:, :1]).all()
        store.close()


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("objects", [1, 10])
async def test_appends_by_tasks_all_stay(kind: str, objects: int, tmp_path: Path) -> None:
    for turn in range(rounds(1, 5)):
        store = make_store(kind, tmp_path / str(turn))
        handles = [a.async_array for a in opened(zarr.create_array(store, shape=0, chunks=3, dtype="i4"), objects)]
        await asyncio.gather(*(handles[i % objects].append(np.array([i], "i4")) for i in range(APPENDS)))
        assert sorted(zarr.open_array(store, mode="r")[:].tolist()) == list(range(APPENDS))
        store.close()


@pytest.mark.parametrize("objects", [1, 10])
def test_appends_by_threads_with_loops_of_their_own_all_stay(objects: int, tmp_path: Path) -> None:
    store = make_store("local", tmp_path)
    handles = [a.async_array for a in opened(zarr.create_array(store, shape=0, chunks=3, dtype="i4"), objects)]

    async def append(number: int) -> None:
        await asyncio.gather(*(handles[i % objects].append(np.array([i])) for i in range(number, APPENDS, 10)))

    run_together([lambda n=n: asyncio.run(append(n)) for n in range(10)])
    assert sorted(zarr.open_array(store, mode="r")[:].tolist()) == list(range(APPENDS))


@pytest.mark.parametrize("objects", [1, 10])
def test_two_appends_by_each_of_fifty_threads(objects: int) -> None:
    handles = opened(zarr.create_array(MemoryStore(), shape=0, chunks=7, dtype="i4"), objects)

    def append(number: int) -> None:
        for i in (number, number + 50):
            handles[i % objects].append([i])

    run_together([partial(append, number) for number in range(50)])
    assert sorted(zarr.open_array(handles[0].store, mode="r")[:].tolist()) == list(range(100))


class Between(dict[str, Any]):
    """A dictionary that lets another thread act as soon as a value was read."""

    act: Any = None

    def __getitem__(self, key: str) -> Any:
        found, act, self.act = super().__getitem__(key), self.act, None
        if act is not None:
            act()
        return found


def test_parts_of_one_value_in_memory_all_stay() -> None:
    def replace(place: int) -> None:
        asyncio.run(store.set("k", Buffer.from_bytes(b"1"), byte_range=(place, place + 1)))

    def begin() -> None:
        other.start()
        other.join(0.3)  # it waits for its turn

    values = Between(k=Buffer.from_bytes(b"000"))
    store, other = MemoryStore(values), threading.Thread(target=replace, args=(2,))
    values.act = begin
    replace(0)
    other.join(60)
    assert store["k"] == b"101"


# --------------------------------------------------------------------------------------------- opening


class OpenedSlowly(MemoryStore):
    """A store that waits while it is opened."""

    async def _open(self) -> None:
        await asyncio.sleep(0.01)
        await super()._open()


async def test_tasks_that_meet_a_store_first_open_it_once() -> None:
    store = OpenedSlowly()
    await asyncio.gather(store._ensure_open(), store.exists("a"), store.exists("b"))
    assert store._is_open
    with pytest.raises(ValueError, match="already open"):
        await store._open()


@pytest.mark.parametrize("kind", STORES)
def test_threads_that_meet_a_store_first_open_it_once(kind: str, tmp_path: Path) -> None:
    for turn in range(rounds(20, 200)):
        store = make_store(kind, tmp_path / str(turn))
        run_together([lambda store=store: asyncio.run(store.exists("a")) for _ in range(4)])
        assert store._is_open
        store.close()
