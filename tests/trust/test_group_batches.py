"""Batches of groups: what is taken again, changed, replaced or moved inside loses nothing, among threads neither."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.storage import LocalStore, MemoryStore

TAKING: dict[str, Callable[[Any], Any]] = {
    "getitem": lambda group: group["x"],
    "get": lambda group: group.get("x"),
    "arrays": lambda group: list(group.arrays()),
    "array_values": lambda group: list(group.array_values()),
    "members": lambda group: list(group.members()),
    "require_array": lambda group: group.require_array("x", shape=4, dtype="i4"),
}


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns a thousand times more often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def make_group(store: Any, zarr_format: Any = 3, consolidated: bool = False, **how: Any) -> Any:
    group = zarr.create_group(store, zarr_format=zarr_format)
    group.create_array("x", **{"shape": 4, "chunks": 4, "dtype": "i4", **how})
    return zarr.consolidate_metadata(store, zarr_format=zarr_format) if consolidated else group


def stored(store: Any, name: str = "x") -> Any:
    return zarr.open_array(store, path=name, mode="r")[...].tolist()


# ----------------------------------------------------------------------------------------------- taken again


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("taking", TAKING)
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("by_other", [False, True])
def test_taken_again_after_attributes_changed(
    taking: str, zarr_format: int, consolidated: bool, by_other: bool
) -> None:
    store = MemoryStore()
    group = make_group(store, zarr_format, consolidated)
    with group.batch():
        array = group["x"]
        array[:] = [1, 2, 3, 4]
        (zarr.open_array(store, path="x", mode="r+") if by_other else array).attrs["unit"] = "m"
        TAKING[taking](group)
        array[0] = 5
        assert group["x"][:].tolist() == [5, 2, 3, 4]
    assert stored(store) == [5, 2, 3, 4]


def test_taken_again_after_another_process_set_attributes(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "data.zarr")
    group = make_group(store)
    program = "import sys, zarr; zarr.open_array(sys.argv[1], path='x', mode='r+').attrs['unit'] = 'm'"
    with group.batch():
        group["x"][:] = [1, 2, 3, 4]
        subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(store.root)], check=True)
        assert group["x"].attrs["unit"] == "m"
    assert stored(store) == [1, 2, 3, 4]


def test_taken_again_by_the_asynchronous_face() -> None:
    store = MemoryStore()

    async def run() -> None:
        group = await zarr.AsyncGroup.from_store(store)
        await group.create_array("x", shape=4, chunks=4, dtype="i4")
        async with group.batch():
            array = await group.getitem("x")
            await array.setitem(slice(None), [1, 2, 3, 4])
            await array.update_attributes({"unit": "m"})
            again = await group.getitem("x")
            await again.setitem(0, 5)
            assert [name async for name, _ in group.members()] == ["x"]

    asyncio.run(run())
    assert stored(store) == [5, 2, 3, 4]


def test_a_transaction_inside() -> None:
    store = MemoryStore()
    group = make_group(store)
    with group.batch():
        group["x"][:2] = [1, 2]
        with zarr.transaction(store) as inside:
            other = zarr.open_array(inside, path="x", mode="r+")
            other.attrs["unit"], other[3] = "m", 9
        assert group["x"].attrs["unit"] == "m"
    assert stored(store) == [1, 2, 0, 9]


# ----------------------------------------------------------------------------------------------- other shapes


@pytest.mark.parametrize("shards", [None, (8,)])
@pytest.mark.parametrize("limit", [1, 2**20])
def test_objects_that_know_another_shape(shards: Any, limit: int) -> None:
    """The shape of one object decides neither where what another one wrote is stored, nor what it covers."""
    store = MemoryStore()
    group = make_group(store, shape=3, shards=shards)
    with group.batch(max_bytes=limit):
        old, new = group["x"], group["x"]
        new.append([9])
        new.resize(8)
        zarr.open_array(store, path="x", mode="r+")[5:] = 7
        new[4] = 5
        old[:] = 1
        assert old[:].tolist() == [1, 1, 1]
        assert new[:].tolist() == [1, 1, 1, 9, 5, 7, 7, 7]
    assert stored(store) == [1, 1, 1, 9, 5, 7, 7, 7]


def test_objects_that_know_other_varying_chunks() -> None:
    store = MemoryStore()
    group = make_group(store, shape=10, chunks=[[3, 7]])
    with group.batch():
        old = group["x"]
        old[:] = 1
        new = group["x"]
        new.resize(11)
        new.resize(13)
        new[9:] = 2
        old[0] = 3
        assert group["x"][:].tolist() == [3] + [1] * 8 + [2] * 4
        new.resize(5)
        new[4] = 4
        new.append([6])
    assert stored(store) == [3, 1, 1, 1, 4, 6]


# ----------------------------------------------------------------------------------------------- removed, moved


def test_what_is_replaced_takes_along_what_was_pending() -> None:
    store = MemoryStore()
    group = make_group(store)
    with group.batch():
        for how in ({"dtype": "i4"}, {"dtype": "f8"}, {"dtype": "f8", "chunks": 2}, {"dtype": "i4", "chunks": 1}):
            group["x"][:] = 1
            new = group.create_array("x", shape=4, overwrite=True, **how)
            assert new[:].tolist() == [0, 0, 0, 0]
            new[1] = 2
    assert stored(store) == [0, 2, 0, 0]


def test_what_is_removed_does_not_come_back() -> None:
    store = MemoryStore()
    group = make_group(store)
    with group.batch():
        group["x"][:] = 1
        del group["x"]
    assert [key for key in store._store_dict if key.startswith("x")] == []


def test_what_is_moved_keeps_what_was_pending() -> None:
    store = MemoryStore()
    group = make_group(store)
    group.create_array("deep/y", shape=2, dtype="i4")
    with group.batch():
        group["x"][:] = 1
        group["deep"]["y"][:] = 2
        group.move("x", "z")
        group.move("deep", "deeper")
        group["z"][0] = 3
    assert stored(store, "z") == [3, 1, 1, 1]
    assert stored(store, "deeper/y") == [2, 2]
    assert [key for key in store._store_dict if key.startswith(("x", "deep/"))] == []


# ----------------------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("layout", [{"chunks": 8}, {"chunks": 2, "shards": (8,)}])
def test_threads_that_take_one_array_at_once(hurried: None, layout: dict[str, Any]) -> None:
    for _ in range(rounds(30, 400)):
        store = MemoryStore()
        group = make_group(store, shape=8, **layout)
        with group.batch():
            run_together([lambda i=i, g=group: g["x"].__setitem__(i, i + 1) for i in range(8)])  # type: ignore[misc]
        assert stored(store) == list(range(1, 9))


def test_threads_that_write_while_the_batch_ends(hurried: None) -> None:
    """Also below groups that were taken inside, and never behind what they wrote before."""
    for _ in range(rounds(20, 200)):
        store = MemoryStore()
        group = make_group(store, shape=8, chunks=8)
        group.create_array("deep/x", shape=8, chunks=8, dtype="i4")
        started = threading.Barrier(5)

        def write(i: int, owner: Any, started: Any = started) -> None:
            for turn in range(1, 20):
                owner["x"][i] = turn
                if turn == 3:
                    started.wait()

        with group.batch():
            owners = [group, group["deep"], group, group["deep"]]
            threads = [threading.Thread(target=write, args=(i, owner)) for i, owner in enumerate(owners)]
            for thread in threads:
                thread.start()
            started.wait()
        for thread in threads:
            thread.join()
        assert stored(store) == [19, 0, 19, 0, 0, 0, 0, 0]
        assert stored(store, "deep/x") == [0, 19, 0, 19, 0, 0, 0, 0]


def test_the_bytes_of_all_threads_are_counted(hurried: None) -> None:
    group = zarr.create_group(MemoryStore())
    for i in range(8):
        group.create_array(f"x{i}", shape=64, chunks=8, dtype="i4")

    def write(i: int) -> None:
        array = group[f"x{i}"]
        for at in range(64):
            array[at] = at

    with group.batch():
        run_together([lambda i=i: write(i) for i in range(8)])  # type: ignore[misc]
        opened = group._handle.batch
        pending = [p.nbytes for batch in opened.batches.values() for p in batch.chunks.values()]
        assert opened.budget.nbytes == sum(pending) > 0
    assert opened.budget.nbytes == 0


def test_an_array_that_is_taken_often_is_not_kept_as_often() -> None:
    group = make_group(MemoryStore())
    with group.batch():
        for i in range(100):
            group["x"][i % 4] = i
        kept = [known() for known in group._handle.batch.handles]
        assert sum(handle is not None for handle in kept) < 10
    assert stored(group.store) == [96, 97, 98, 99]


# ----------------------------------------------------------------------------------------------- random programs


class Program:
    """Random changes of arrays below a group, inside of a batch, and what they should come to."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.store = MemoryStore()
        self.format = self.random.choice([2, 3])
        self.group: Any = zarr.create_group(self.store, zarr_format=self.format)
        self.expected: dict[str, np.ndarray[Any, Any]] = {}
        self.taken: dict[str, list[Any]] = {}
        for name in "ab":
            self.create(name)

    def create(self, name: str) -> None:
        n = self.random.randint(0, 12)
        how: dict[str, Any] = {"chunks": self.random.randint(1, 5)}
        if self.format == 3 and self.random.random() < 0.3:
            how["shards"] = (how["chunks"] * 2,)
        elif self.format == 3 and n > 2 and self.random.random() < 0.4:
            how["chunks"] = [[2, n - 2]]
        dtype = self.random.choice(["i4", "f8"])
        array = self.group.create_array(name, shape=n, dtype=dtype, overwrite=True, fill_value=-1, **how)
        self.expected[name] = np.full(n, -1, dtype)
        self.taken[name] = [array]

    def take(self, name: str) -> None:
        self.taken[name].append(self.group[name])

    def write(self, name: str) -> None:
        array, expected = self.random.choice(self.taken[name]), self.expected[name]
        n = min(len(expected), array.shape[0])
        start = self.random.randint(0, n)
        stop = self.random.randint(start, n)
        array[start:stop] = expected[start:stop] = self.random.randint(0, 99)

    def read(self, name: str) -> None:
        array, expected = self.random.choice(self.taken[name]), self.expected[name]
        n = min(len(expected), array.shape[0])
        np.testing.assert_array_equal(array[:n], expected[:n])

    def resize(self, name: str) -> None:
        n, expected = self.random.randint(0, 14), self.expected[name]
        array = self.group[name]
        array.resize(n)
        self.expected[name] = np.concatenate([expected[:n], np.full(max(0, n - len(expected)), -1, expected.dtype)])
        self.taken[name] = [array]

    def append(self, name: str) -> None:
        array, more = self.group[name], np.full(self.random.randint(0, 3), self.random.randint(0, 99))
        array.append(more)
        self.expected[name] = np.concatenate([self.expected[name], more.astype(self.expected[name].dtype)])
        self.taken[name].append(array)

    def annotate(self, name: str) -> None:
        place = {"path": name, "mode": "r+", "zarr_format": self.format}
        array = self.group[name] if self.random.random() < 0.5 else zarr.open_array(self.store, **place)
        array.attrs["n"] = self.random.randint(0, 99)

    def move(self, name: str) -> None:
        other = name + "a"
        self.group.move(name, other)
        self.expected[other] = self.expected.pop(name)
        del self.taken[name]
        self.taken[other] = [self.group[other]]

    def run(self, steps: int) -> None:
        actions = [self.take, self.write, self.write, self.write, self.read, self.append, self.annotate, self.annotate]
        rare = [self.resize, self.create, self.move]
        while steps > 0:
            with self.group.batch(max_bytes=self.random.choice([200, 2**20])):
                # Only what is taken inside is part of the batch.
                self.taken = {name: [self.group[name]] for name in self.expected}
                for _ in range(self.random.randint(1, 20)):
                    name = self.random.choice(list(self.expected))
                    self.random.choice(rare if self.random.random() < 0.1 else actions)(name)
                    steps -= 1
            for name, expected in self.expected.items():
                found = zarr.open_array(self.store, path=name, mode="r", zarr_format=self.format)
                np.testing.assert_array_equal(found[...], expected)


@pytest.mark.parametrize("seed", range(rounds(60, 3000)))
def test_random_programs(seed: int) -> None:
    Program(seed).run(60)
