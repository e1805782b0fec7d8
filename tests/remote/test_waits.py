"""Requests that wait for nothing of each other are under way together: over a network each wait is a round trip."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.storage import MemoryStore, WrapperStore
from zarr.tools import verify
from zarr.tools.contents.nodes import open_node, walk


class Distant(WrapperStore[MemoryStore]):
    """A store whose requests go in rounds: those of a round are all under way before the first of them is answered.

    ``rounds`` has the requests of each round, sorted.
    """

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.rounds: list[list[str]] = []
        self._open = False

    def with_read_only(self, read_only: bool = False) -> Distant:
        other = super().with_read_only(read_only)
        other.rounds = self.rounds
        return other

    async def _wait(self, name: str) -> None:
        if not self._open:
            self._open = True
            self.rounds.append([])
        self.rounds[-1].append(name)
        self.rounds[-1].sort()
        for _ in range(50):  # until nothing else begins
            await asyncio.sleep(0)
        self._open = False
        for _ in range(50):
            await asyncio.sleep(0)

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        await self._wait(f"get {key}")
        return await self._store.get(key, *args, **options)

    async def set(self, key: str, value: Any) -> None:
        await self._wait(f"set {key}")
        await self._store.set(key, value)

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        await self._wait(f"set {key}")
        await self._store.set_if_not_exists(key, value)

    async def delete(self, key: str) -> None:
        await self._wait(f"delete {key}")
        await self._store.delete(key)

    async def delete_dir(self, prefix: str) -> None:
        await self._wait(f"delete {prefix}/")
        await self._store.delete_dir(prefix)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        await self._wait(f"names {prefix.rstrip('/')}/")
        async for name in self._store.list_dir(prefix):
            yield name

    async def getsize(self, key: str) -> int:
        await self._wait(f"size {key}")
        return await self._store.getsize(key)

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        await self._wait(f"list {prefix.rstrip('/')}/")
        async for key in self._store.list_prefix(prefix):
            yield key


def rounds_of(store: Distant, call: Callable[[], Any]) -> list[list[str]]:
    store.rounds.clear()
    call()
    return [*store.rounds]


@pytest.fixture
def store() -> Distant:
    store = Distant(MemoryStore())
    zarr.create_group(store)
    return store


def test_a_creation_waits_twice(store: Distant) -> None:
    group = zarr.open_group(store, mode="r+")
    made = rounds_of(store, lambda: group.create_array("a", shape=4, dtype="i4"))
    assert made == [["get a/zarr.json", "get zarr.json"], ["get zarr.json", "set a/zarr.json"]]
    assert rounds_of(store, lambda: group.create_group("g")) == [
        ["get g/zarr.json", "get zarr.json"], ["get zarr.json", "set g/zarr.json"],
    ]  # fmt: skip


def test_a_creation_that_may_replace_deletes_nothing_where_nothing_is(store: Distant) -> None:
    group = zarr.open_group(store, mode="r+")
    options: dict[str, Any] = {"shape": 4, "dtype": "i4", "overwrite": True}
    first, above = ["get zarr.json", "names a/"], ["get .zmetadata", "get zarr.json", "set a/zarr.json"]
    assert rounds_of(store, lambda: group.create_array("a", **options)) == [first, above]
    again = rounds_of(store, lambda: group.create_array("a", **options))
    assert again == [first, ["delete a/zarr.json"], ["delete a/"], above]


def test_what_is_left_of_a_node_is_removed_before_another_takes_its_place(store: Distant) -> None:
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4")
    array[:] = 1
    store._store.delete_sync("a/zarr.json")
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4", overwrite=True)
    assert ["delete a/"] in store.rounds
    assert not array[:].any()


def test_growth_lists_chunks_while_the_document_is_read(store: Distant) -> None:
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4")
    array[:] = 1
    array[:] = 1
    other = zarr.open_array(store, path="a")
    end = ["get zarr.json", "set a/zarr.json"]
    assert rounds_of(store, lambda: array.resize((40,))) == [["get a/zarr.json", "list a/c/"], end]
    array[:] = 2
    # What this handle takes for leftovers belongs to the array: it has grown through another handle.
    assert rounds_of(store, lambda: other.resize((80,)))[0] == ["get a/zarr.json", "list a/c/"]
    np.testing.assert_array_equal(other[:], [2] * 40 + [0] * 40)


def test_in_format_2_a_change_stores_the_one_document_that_it_concerns(store: Distant) -> None:
    zarr.create_group(store, path="g", zarr_format=2)
    array = zarr.create_array(store, name="g/a", shape=4, chunks=2, dtype="i4", zarr_format=2, attributes={"k": 0})
    read, above = ["get g/a/.zarray", "get g/a/.zattrs"], ["get .zmetadata", "get g/.zmetadata"]
    for value in (1, 2):
        changed = rounds_of(store, partial(array.attrs.update, {"k": value}))
        assert changed == [read, [*above, "set g/a/.zattrs"]]
    grown = rounds_of(store, lambda: array.resize((6,)))
    assert [found for found in grown if "set" in str(found)] == [[*above, "set g/a/.zarray"]]
    group = zarr.open_group(store, path="g", mode="r+")
    assert rounds_of(store, lambda: group.attrs.update({"k": 1}))[1:] == [[*above, "set g/.zattrs"]]
    found = zarr.open_array(store, path="g/a")
    assert (found.shape, found.attrs["k"], zarr.open_group(store, path="g").attrs["k"]) == ((6,), 2, 1)


def test_changes_read_above_while_they_are_stored(store: Distant) -> None:
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4")
    end = ["get zarr.json", "set a/zarr.json"]
    assert rounds_of(store, lambda: array.attrs.update({"k": 1})) == [["get a/zarr.json"], end]
    assert rounds_of(store, lambda: array.resize((6,)))[-1] == end
    group = zarr.create_group(store, path="g")
    changed = rounds_of(store, lambda: group.attrs.update({"k": 1}))
    assert changed[1:] == [["get zarr.json", "set g/zarr.json"]]
    assert rounds_of(store, lambda: array.append(np.arange(2))) == [["get a/zarr.json"], ["set a/c/3"], end]


def test_a_copy_is_read_while_a_node_is_stored(store: Distant) -> None:
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4")
    zarr.consolidate_metadata(store)
    for value in (1, 2):
        assert rounds_of(store, partial(array.attrs.update, {"k": value})) == [
            ["get a/zarr.json"], ["get zarr.json", "set a/zarr.json"], ["set zarr.json"]
        ]  # fmt: skip
        assert zarr.open_consolidated(store)["a"].attrs["k"] == value
    group = zarr.open_group(store, mode="r+")
    assert rounds_of(store, lambda: group.__delitem__("a")) == [
        ["delete a/", "get .zmetadata", "get zarr.json"], ["set zarr.json"]
    ]  # fmt: skip
    assert list(zarr.open_consolidated(store)) == []


def test_with_locks_among_processes_a_copy_is_read_again_under_the_lock(store: Distant) -> None:
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4", config={"locking": "process"})
    zarr.consolidate_metadata(store)
    rounds = rounds_of(store, lambda: array.attrs.update({"k": 1}))
    assert rounds[-2:] == [["get a/zarr.json", "get zarr.json"], ["set zarr.json"]]


@pytest.fixture
def many(store: Distant) -> Distant:
    """A hierarchy of 4 groups with 10 arrays each."""
    for number in range(40):
        zarr.create_array(store, name=f"g{number % 4}/a{number}", data=np.arange(4), chunks=2)
    return store


def test_tools_list_many_groups_together(many: Distant) -> None:
    zarr.create_group(many, path="g1-x/y/z")  # its path comes before those of the members of "g1"
    node = open_node(many)
    found: list[str] = []
    rounds = rounds_of(many, lambda: found.extend(name for name, _ in walk(node)))
    assert found == sorted(found)
    assert len(found) == 1 + 4 + 40 + 3
    assert 0 < len(rounds) <= 8


def test_a_search_for_faults_reads_many_documents_and_chunks_together(many: Distant) -> None:
    report: list[Any] = []
    rounds = rounds_of(many, lambda: report.append(verify(many)))
    assert report[0]
    assert report[0].chunks == 80
    assert 0 < len(rounds) <= 20


def test_the_bytes_of_nodes_are_counted_together(many: Distant) -> None:
    look = pytest.importorskip("zarr._cli.look", reason="the command line needs the extra cli")
    group = zarr.open_group(many, mode="r")
    found: list[Any] = []
    rounds = rounds_of(many, lambda: found.append(look._count(group, None)))
    sizes, groups = found[0]
    assert groups == {"", "g0", "g1", "g2", "g3"}
    assert sizes["g1/a1"] == group["g1/a1"].nbytes_stored()
    assert sizes[""] == sum(map(len, map(many._store.get_sync, many._store.list_sync())))
    assert sizes["g1"] == sum(sizes[name] for name in sizes if name.startswith("g1/")) + len(
        many._store.get_sync("g1/zarr.json")
    )
    assert 0 < len(rounds) <= 6


class Meanwhile(WrapperStore[MemoryStore]):
    """A store in which another thread does something while the document of an array is being stored."""

    call: Callable[[], Any] | None = None

    async def set(self, key: str, value: Any) -> None:
        call, self.call = (self.call, None) if key == "a/zarr.json" else (None, self.call)
        if call is not None:
            for _ in range(50):  # what is read above the array is answered
                await asyncio.sleep(0)
            await asyncio.to_thread(call)
        await self._store.set(key, value)

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        return await self._store.get(key, *args, **options)

    async def delete_dir(self, prefix: str) -> None:
        call, self.call = self.call, None
        for _ in range(50):
            await asyncio.sleep(0)
        if call is not None:
            await asyncio.to_thread(call)
        await self._store.delete_dir(prefix)


def test_a_copy_that_is_made_while_a_node_is_removed_loses_it() -> None:
    store = Meanwhile(MemoryStore())
    group = zarr.create_group(store)
    group.create_array("a", shape=4, dtype="i4")
    store.call = lambda: zarr.consolidate_metadata(store)
    del group["a"]
    assert list(zarr.open_consolidated(store)) == []


@pytest.mark.parametrize("change", ["attribute", "resize", "append", "create"])
def test_a_copy_that_is_made_while_a_change_is_stored_follows_it(change: str) -> None:
    store = Meanwhile(MemoryStore())
    zarr.create_group(store)
    array = zarr.create_array(store, name="a", shape=4, chunks=2, dtype="i4")
    changes: dict[str, Callable[[], Any]] = {
        "attribute": lambda: array.attrs.update({"k": 1}),
        "resize": lambda: array.resize((6,)),
        "append": lambda: array.append(np.arange(2)),
        "create": lambda: zarr.create_array(store, name="a", shape=6, dtype="i4", overwrite=True),
    }
    store.call = lambda: zarr.consolidate_metadata(store)
    changes[change]()
    found = zarr.open_consolidated(store)["a"]
    assert (found.attrs.asdict(), found.shape) == (({"k": 1}, (4,)) if change == "attribute" else ({}, (6,)))
