"""Processes that change one object store with default settings: values are replaced only if they are still those read.

``Process`` stands for a process of its own: it shares the objects, but no lock with others.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, partialmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import methodcaller
from threading import Thread
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.buffer.core import default_buffer_prototype
from zarr.core.sync import sync
from zarr.errors import TransactionConflictError
from zarr.storage import FsspecStore, ObjectStore

stores = pytest.importorskip("obstore.store", reason="obstore is not installed")
NUMBERS = itertools.count()


class Process(ObjectStore[Any]):
    """A store without locks in common with others; it notes its requests."""

    after: tuple[str, Callable[[], Any]] | None = None
    """A key, and what another process does once this one has read it."""

    def __init__(self, memory: Any) -> None:
        super().__init__(memory)
        self._number = 0
        self._process = next(NUMBERS)
        self.asked: list[str] = []

    @property
    def lock_prefix(self) -> str:
        return f"process:{self._process}"

    async def get_versioned(self, key: str, *args: Any, **options: Any) -> Any:
        self.asked.append(f"get {key}")
        found = await super().get_versioned(key, *args, **options)
        await self._let_another_act(key)
        return found

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        self.asked.append(f"get {key}")
        found = await super().get(key, *args, **options)
        await self._let_another_act(key)
        return found

    async def _let_another_act(self, key: str) -> None:
        if self.after is not None and self.after[0] == key:
            call, self.after = self.after[1], None
            await asyncio.to_thread(call)

    async def set(self, key: str, value: Any) -> None:
        self.asked.append(f"set {key}")
        await super().set(key, value)

    async def set_if_version(self, key: str, value: Any, version: Any) -> bool:
        self.asked.append(f"set {key}")
        return await super().set_if_version(key, value, version)

    async def delete(self, key: str) -> None:
        self.asked.append(f"delete {key}")
        await super().delete(key)


@pytest.fixture
def processes() -> list[Process]:
    memory = stores.MemoryStore()
    return [Process(memory) for _ in range(4)]


LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (8, 8)},
    "shards": {"chunks": (4, 4), "shards": (16, 16)},
    "format 2": {"chunks": (8, 8), "zarr_format": 2},
    "edges": {"chunks": (12, 12)},
}


@pytest.mark.parametrize("batch", [False, True], ids=["", "batch"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_chunks(processes: list[Process], layout: str, batch: bool) -> None:
    zarr.create_array(processes[0], shape=(16, 16), dtype="i4", **LAYOUTS[layout])
    arrays = [zarr.open_array(store, mode="r+") for store in processes]

    def write(number: int, value: int) -> None:
        if batch:
            with arrays[number].batch():
                for row in range(number, 16, 4):
                    arrays[number][row] = value
        else:
            arrays[number][number::4] = value

    for turn in range(1, rounds(4, 300) + 1):
        run_together([partial(write, number, turn + number) for number in range(4)])
        np.testing.assert_array_equal(arrays[0][:], (turn + np.arange(16) % 4)[:, None] + np.zeros(16, int))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_that_become_fill_values(processes: list[Process], layout: str) -> None:
    """A chunk or shard is not deleted that another process has changed meanwhile."""
    zarr.create_array(processes[0], shape=(16, 16), dtype="i4", **LAYOUTS[layout])
    arrays = [zarr.open_array(store, mode="r+") for store in processes[:2]]
    for turn in range(1, rounds(5, 100) + 1):
        arrays[0][:8] = turn
        first, second = (array.__setitem__ for array in arrays)
        run_together([partial(first, slice(0, 8), 0), partial(second, slice(8, 16), turn % 3)])
        np.testing.assert_array_equal(arrays[0][:, 0], [0] * 8 + [turn % 3] * 8)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("consolidated", [False, True], ids=["", "consolidated"])
def test_attributes_and_nodes(processes: list[Process], zarr_format: Any, consolidated: bool) -> None:
    many = rounds(3, 25)
    root = zarr.create_group(processes[0], zarr_format=zarr_format)
    root.create_array("a", shape=4, dtype="i4")
    if consolidated:
        zarr.consolidate_metadata(processes[0])

    def work(number: int) -> None:
        group = zarr.open_group(processes[number], mode="r+", use_consolidated=False)
        array = group["a"]
        for i in range(many):
            array.attrs[f"{number}-{i}"] = i
            group.attrs[f"{number}-{i}"] = i
            group.create_array(f"{number}-{i}", shape=1, dtype="i4")

    run_together([partial(work, number) for number in range(4)])
    for use in (False, True) if consolidated else (False,):
        group = zarr.open_group(processes[0], mode="r", use_consolidated=use)
        names = {f"{number}-{i}" for number in range(4) for i in range(many)}
        assert set(group.attrs) == names
        assert set(group["a"].attrs) == names
        assert set(group.keys()) == {*names, "a"}


def test_a_shape_keeps_attributes_of_others(processes: list[Process]) -> None:
    zarr.create_array(processes[0], shape=4, chunks=4, dtype="i4")
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    processes[0].after = "zarr.json", lambda: other.attrs.update(a=1)
    one.resize(8)
    processes[0].after = "zarr.json", lambda: other.attrs.update(b=2)
    one.append(np.arange(4, dtype="i4"))
    found = zarr.open_array(processes[2])
    assert dict(found.attrs) == {"a": 1, "b": 2}
    assert found[...].tolist() == [0] * 8 + [0, 1, 2, 3]


@pytest.mark.parametrize("layout", [{"chunks": 4}, {"chunks": 4, "zarr_format": 2}, {"chunks": 2, "shards": 8}])
@pytest.mark.parametrize("length", [4, 3])
def test_appends(processes: list[Process], layout: dict[str, Any], length: int) -> None:
    """Each append has its elements to itself, whether it begins and ends at the border of a chunk or not."""
    zarr.create_array(processes[0], shape=1, dtype="i4", fill_value=-1, **layout)
    arrays = [zarr.open_array(store, mode="r+") for store in processes]
    turns = rounds(3, 100)

    def append(number: int) -> None:
        for turn in range(turns):
            arrays[number].append(np.full(length, 10 * turn + number, dtype="i4"))

    run_together([partial(append, number) for number in range(4)])
    found = zarr.open_array(processes[0])[1:].reshape(-1, length)
    assert (found == found[:, :1]).all()
    assert sorted(found[:, 0]) == sorted(10 * turn + number for turn in range(turns) for number in range(4))
    for number in range(4):
        own = found[found[:, 0] % 10 == number, 0]
        assert own.tolist() == sorted(own), "the appends of one process keep their order"


def test_an_append_that_another_one_precedes_comes_after_it(processes: list[Process]) -> None:
    zarr.create_array(processes[0], shape=0, chunks=4, dtype="i4")
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    processes[0].after = "zarr.json", lambda: other.append(np.full(6, 7, dtype="i4"))
    assert one.append(np.full(4, 5, dtype="i4")) == (10,)
    assert zarr.open_array(processes[2])[...].tolist() == [7] * 6 + [5] * 4


def in_transactions(store: Any, change: Callable[[Any], Any]) -> None:
    """Make a change in a transaction, again after each conflict."""
    while True:
        try:
            with zarr.transaction(store) as changes:
                change(zarr.open_array(changes, mode="r+"))
            return
        except TransactionConflictError:
            pass


@pytest.mark.parametrize("layout", [{"chunks": 4}, {"chunks": 2, "shards": 8}])
@pytest.mark.parametrize("length", [8, 3])
def test_transactions_that_append(processes: list[Process], layout: dict[str, Any], length: int) -> None:
    """Chunks are stored only by the transaction whose document is: those of the others would stand over its own."""
    zarr.create_array(processes[0], shape=0, dtype="i4", fill_value=-1, **layout)
    turns = rounds(3, 50)

    def append(number: int) -> None:
        for turn in range(turns):
            values = np.full(length, 10 * turn + number, dtype="i4")
            in_transactions(processes[number], methodcaller("append", values))

    run_together([partial(append, number) for number in range(4)])
    found = zarr.open_array(processes[0])[:].reshape(-1, length)
    assert (found == found[:, :1]).all()
    assert sorted(found[:, 0]) == sorted(10 * turn + number for turn in range(turns) for number in range(4))


@pytest.mark.parametrize("layout", ["chunks", "shards"])
def test_transactions_on_parts_of_chunks(processes: list[Process], layout: str) -> None:
    zarr.create_array(processes[0], shape=(16, 16), dtype="i4", **LAYOUTS[layout])
    turns = rounds(3, 50)

    def count(number: int) -> None:
        for turn in range(turns):
            in_transactions(processes[number], methodcaller("__setitem__", (slice(None), number), turn + 1))

    run_together([partial(count, number) for number in range(4)])
    found = zarr.open_array(processes[0])[:]
    assert (found[:, :4] == turns).all()
    assert not found[:, 4:].any()


@pytest.mark.parametrize("key", ["b/zarr.json", "b/c/0"])
def test_a_transaction_that_conflicts_is_taken_back(processes: list[Process], key: str) -> None:
    store = processes[0]
    for name in "ab":
        zarr.create_array(store, name=name, data=np.arange(8), chunks=4, attributes={"n": 0})
    other = zarr.open_group(processes[1])["b"]

    def act() -> None:
        if key.endswith("json"):
            other.attrs["n"] = 2
        else:
            other[1] = 20

    with pytest.raises(TransactionConflictError), zarr.transaction(store) as changes:
        group = changes.group()
        for name in "ab":
            group[name].attrs["m"] = 1
            group[name].append(np.full(6, 9))
            group[name][0] = 10
        created = group.create_array("new", data=np.ones(4))
        assert created.shape == (4,)
        # The first reading is that of the comparison: what happens after it is noticed by the storing alone.
        store.after = key, act
    group = zarr.open_group(processes[2])
    assert (dict(group["a"].attrs), group["a"][:].tolist()) == ({"n": 0}, list(range(8)))
    expected = {"n": 2} if key.endswith("json") else {"n": 0}
    assert (dict(group["b"].attrs), group["b"].shape) == (expected, (8,))
    assert group["b"][:].tolist() == [0, 1 if key.endswith("json") else 20, *range(2, 8)]
    assert sorted(group) == ["a", "b"]
    assert not any(name.startswith("new") for name in sync(_listed(store)))


@pytest.mark.parametrize("layout", [{"chunks": 4}, {"chunks": 2, "shards": 4}, {"chunks": 4, "zarr_format": 2}])
def test_what_is_taken_back_keeps_the_next_append(processes: list[Process], layout: dict[str, Any]) -> None:
    """The chunk of a transaction that conflicted was deleted, when another process had added elements to it."""
    store, zarr_format = processes[0], {"zarr_format": layout.get("zarr_format", 3)}
    group = zarr.create_group(store, **zarr_format)
    options = {name: value for name, value in layout.items() if name != "zarr_format"}
    group.create_array("a", shape=8, dtype="i8", fill_value=-1, **options)[:] = np.arange(8)
    group.create_array("b", data=np.zeros(4, int), chunks=4)
    other, key = zarr.open_group(processes[1]), "a/c/3" if zarr_format["zarr_format"] == 3 else "a/3"

    def conflict() -> None:
        other["b"][1] = 5
        store.after = key, append

    def append() -> None:
        """Append once the document of the transaction is stored, and its chunk is read to be taken back."""
        if other["a"].shape == (14,):
            assert other["a"].append(np.full(2, 7)) == (16,)
        else:
            store.after = key, append

    with pytest.raises(TransactionConflictError), zarr.transaction(store) as changes:
        changes.group()["b"][0] = 1
        changes.group()["a"].append(np.full(6, 9))
        store.after = "b/c/0" if zarr_format["zarr_format"] == 3 else "b/0", conflict
    assert zarr.open_array(processes[2], path="a")[:].tolist()[14:] == [7, 7]


@pytest.mark.parametrize("key", ["zarr.json", "c/0", "c/1", "c/2", "c/3"])
def test_a_transaction_that_fails_is_taken_back(processes: list[Process], key: str, monkeypatch: Any) -> None:
    """What is stored is that before the transaction, so it can be run again: an append was there twice."""
    store = processes[0]
    zarr.create_array(store, data=np.arange(6), chunks=4)

    def change() -> None:
        with zarr.transaction(store) as changes:
            array = zarr.open_array(changes, mode="r+")
            array[0] = 10
            array.append(np.full(8, 5))

    async def failing(self: Process, name: str, *args: Any, of: Any) -> Any:
        if name == key:
            await asyncio.sleep(0.01)  # the others are stored meanwhile
            raise OSError("no connection")
        return await of(self, name, *args)

    for method in ("set", "set_if_match"):
        monkeypatch.setattr(Process, method, partialmethod(failing, of=getattr(Process, method)))
    with pytest.raises(OSError, match="no connection"):
        change()
    monkeypatch.undo()
    assert zarr.open_array(processes[1])[:].tolist() == [0, 1, 2, 3, 4, 5]
    change()
    assert zarr.open_array(processes[1])[:].tolist() == [10, 1, 2, 3, 4, 5, *[5] * 8]


@pytest.mark.parametrize("layout", [{"chunks": 4}, {"chunks": 2, "shards": 4}])
def test_a_transaction_that_appends_beside_an_append(processes: list[Process], layout: dict[str, Any]) -> None:
    """The last chunk of an append may have elements of the next one by the time when it is stored."""
    store = processes[0]
    zarr.create_array(store, data=np.arange(6), **layout)
    other = zarr.open_array(processes[1], mode="r+")

    def after_the_document() -> None:
        store.after = "c/1", lambda: other.append(np.full(4, 7))

    with zarr.transaction(store) as changes:
        zarr.open_array(changes, mode="r+").append(np.full(4, 5))
        # Read once for the comparison of all, and once for its own, when the document is stored.
        store.after = "c/1", after_the_document
    assert zarr.open_array(processes[2])[:].tolist() == [0, 1, 2, 3, 4, 5, *[5] * 4, *[7] * 4]


@pytest.mark.parametrize("layout", ["chunks", "shards"])
@pytest.mark.parametrize("batch", [False, True], ids=["", "batch"])
def test_a_transaction_that_makes_a_chunk_of_fill_values(processes: list[Process], layout: str, batch: bool) -> None:
    """What was compared is not deleted: no service deletes on a condition."""
    store = processes[0]
    zarr.create_array(store, shape=(16, 16), dtype="i4", **LAYOUTS[layout])[:4, :4] = 1
    other = zarr.open_array(processes[1], mode="r+")
    with pytest.raises(TransactionConflictError), zarr.transaction(store) as changes:
        array = zarr.open_array(changes, mode="r+")
        with array.batch() if batch else nullcontext():
            array[:4, :4] = 0
        store.after = "c/0/0", lambda: other.__setitem__((5, 5), 7)
    assert zarr.open_array(processes[2])[0, 0] == 1
    assert zarr.open_array(processes[2])[5, 5] == 7


def test_a_transaction_reads_one_version_of_a_shard(processes: list[Process]) -> None:
    """Inner chunks of one version lie elsewhere in another one: other elements were read, or an error was raised."""
    store, numbers = processes[0], np.arange(64)
    group = zarr.create_group(store)
    for name, values in {"a": numbers, "b": np.where(numbers < 16, 0, numbers + 100)}.items():
        group.create_array(name, data=values, chunks=4, shards=64, compressors=None)
    shard = sync(_get(store, "b/c/0"))
    with zarr.transaction(store) as changes:
        inside = zarr.open_array(changes, path="a")
        store.after = "a/c/0", lambda: asyncio.run(processes[1].set("a/c/0", shard))
        assert inside[20:24].tolist() == [120, 121, 122, 123]
        assert store.after is None
    with pytest.raises(TransactionConflictError), zarr.transaction(store) as changes:
        inside = zarr.open_array(changes, path="a")
        assert inside[20:24].tolist() == [120, 121, 122, 123]
        sync(processes[1].set("a/c/0", sync(_get(store, "a/c/0"))))  # the same again is no change
        assert inside[12:24].tolist() == [0] * 4 + list(range(116, 124))
        inside[20] = 5
        assert inside[20:24].tolist() == [5, 121, 122, 123]
        zarr.open_array(processes[1], path="a", mode="r+")[21] = 6


async def _listed(store: Any) -> list[str]:
    return [key async for key in store.list()]


@pytest.mark.parametrize(
    ("start", "end", "key"),
    [
        (14, 400, "zarr.json"),
        (14, 400, "c/3"),  # chunks are listed; this is the one at the border
        (66, 72, "zarr.json"),
        (66, 72, "c/16"),  # a new chunk is requested by its name
    ],
)
def test_growth_beside_an_append(processes: list[Process], start: int, end: int, key: str) -> None:
    """What another process has appended since the shape was read is not taken for leftovers."""
    zarr.create_array(processes[0], data=np.ones(start, dtype="i4"), chunks=4)
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    processes[0].after = key, lambda: other.append(np.full(3, 7, dtype="i4"))
    one.resize(end)
    assert processes[0].after is None
    assert zarr.open_array(processes[2])[start : start + 4].tolist() == [7, 7, 7, 0]


def test_growth_over_leftovers_beside_an_attribute(processes: list[Process]) -> None:
    """The document is read again before leftovers are removed, and what it then says is kept."""
    zarr.create_array(processes[0], data=np.ones(66, dtype="i4"), chunks=4)
    prototype = default_buffer_prototype()
    document = sync(processes[0].get("zarr.json", prototype))
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    zarr.open_array(processes[3], mode="r+").append(np.full(2, 9, dtype="i4"))
    assert document is not None
    sync(processes[0].set("zarr.json", document))  # an append that was killed before its shape was stored
    processes[0].after = "c/16", lambda: other.attrs.update(a=1)
    one.resize(72)
    found = zarr.open_array(processes[2])
    assert dict(found.attrs) == {"a": 1}
    assert found[66:].tolist() == [0] * 6


@pytest.mark.parametrize("layout", [{"chunks": (1, 8)}, {"chunks": (1, 4), "shards": (2, 8)}], ids=["", "shards"])
def test_many_chunks_at_the_edge_beside_an_append(processes: list[Process], layout: dict[str, Any]) -> None:
    zarr.create_array(processes[0], shape=(64, 5), dtype="i4", **layout)
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    processes[0].after = "c/9/0", lambda: other.append(np.full((64, 2), 7, dtype="i4"), axis=1)
    one[...] = 3
    np.testing.assert_array_equal(zarr.open_array(processes[2])[...], [[3] * 5 + [7] * 2] * 64)


@pytest.mark.parametrize("beside", [False, True], ids=["", "another append"])
def test_an_append_that_fails_is_taken_back(processes: list[Process], beside: bool, monkeypatch: Any) -> None:
    """The array has its old shape and elements again, unless another process has appended meanwhile."""
    zarr.create_array(processes[0], data=np.arange(6, dtype="i4"), chunks=4)
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    plain = Process.set

    async def failing(store: Process, key: str, value: Any) -> None:
        if key == "c/2" and store is processes[0]:
            if beside:
                await asyncio.to_thread(other.append, np.array([8, 9], dtype="i4"))
            raise OSError("no connection")
        await plain(store, key, value)

    monkeypatch.setattr(Process, "set", failing)
    with pytest.raises(OSError, match="no connection"):
        one.append(np.full(8, 5, dtype="i4"))
    monkeypatch.undo()
    found = zarr.open_array(processes[2], mode="r+")
    if beside:
        assert found.shape == one.shape == (16,)
        assert found[:6].tolist() + found[14:].tolist() == [0, 1, 2, 3, 4, 5, 8, 9]
    else:
        assert found.shape == one.shape == (6,)
        found.resize(14)
        assert found[...].tolist() == [0, 1, 2, 3, 4, 5] + [0] * 8


def test_comparisons_take_no_request(processes: list[Process]) -> None:
    store = processes[0]
    array = zarr.create_array(store, name="a", shape=(16, 16), chunks=(8, 8), dtype="i4")
    sharded = zarr.create_array(store, name="s", shape=16, chunks=4, shards=16, dtype="i4")
    array[...] = sharded[...] = 1

    def asked(call: Callable[[], Any]) -> list[str]:
        store.asked.clear()
        call()
        return store.asked

    assert asked(lambda: array.__setitem__((0, 0), 5)) == ["get a/c/0/0", "set a/c/0/0"]
    assert asked(lambda: sharded.__setitem__(0, 5)) == ["get s/c/0", "set s/c/0"]
    assert sorted(asked(lambda: array.attrs.update(a=1))) == ["get a/zarr.json", "get zarr.json", "set a/zarr.json"]
    array[0, 0] = array[8:] = 0
    assert asked(lambda: array.__setitem__((15, 15), 0)) == ["get a/c/1/1"]  # what is not there stays so


def test_a_conflict_is_read_again(processes: list[Process]) -> None:
    zarr.create_array(processes[0], shape=8, chunks=8, dtype="i4")
    one, other = (zarr.open_array(store, mode="r+") for store in processes[:2])
    for values in (1, 2):  # a chunk that is not there yet, one that is
        processes[0].after = "c/0", lambda values=values: other.__setitem__(slice(4, 8), values)
        processes[0].asked.clear()
        one[:4] = values
        read, store = "get c/0", "set c/0"
        assert processes[0].asked == [read, store, read, read, store]  # the second shows that the value has changed
        assert one[...].tolist() == [values] * 8


def test_locking_of_threads_compares_nothing(processes: list[Process]) -> None:
    zarr.create_array(processes[0], shape=8, chunks=8, dtype="i4")
    one = zarr.open_array(processes[0], mode="r+", config={"locking": "thread"})
    other = zarr.open_array(processes[1], mode="r+")
    one[:] = 1
    processes[0].asked.clear()
    processes[0].after = "c/0", lambda: other.__setitem__(slice(4, 8), 9)
    one[:4] = 2
    assert processes[0].asked == ["get c/0", "set c/0"]


def test_values_without_versions_are_replaced_as_before(processes: list[Process], monkeypatch: Any) -> None:
    store = processes[0]
    array = zarr.create_array(store, name="a", shape=16, chunks=8, dtype="i4")
    sharded = zarr.create_array(store, name="s", shape=16, chunks=4, shards=16, dtype="i4")
    array[...] = sharded[...] = 1
    monkeypatch.setattr(Process, "_check_version", lambda *args: None)
    array[3] = sharded[3] = 5
    array.attrs["a"] = 1
    assert array[...].tolist() == sharded[...].tolist() == [1, 1, 1, 5, *[1] * 12]
    assert zarr.open_array(store, path="a").attrs["a"] == 1


class Refusing(BaseHTTPRequestHandler):
    """A service like S3 that knows no conditions."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]
    refusal: tuple[int, bytes]
    refused: list[str]

    def log_message(self, *args: Any) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        dated = {"Last-Modified": "Wed, 01 Jul 2026 00:00:00 GMT", "Content-Length": str(len(body)), **headers}
        for name, value in dated.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        value = self.objects.get(self.path)
        if value is None:
            self._answer(404)
        else:
            self._answer(200, value, ETag=f'"{hash(value)}"')

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "If-Match" in self.headers or "If-None-Match" in self.headers:
            self.refused.append(self.path)
            self._answer(*self.refusal)
            return
        self.objects[self.path] = body
        self._answer(200, ETag=f'"{hash(body)}"')


def service_of(port: int, client: str) -> Any:
    """A store of a service of one bucket on this machine."""
    if client == "s3fs":
        pytest.importorskip("s3fs", reason="s3fs is not installed")
        endpoint = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
        keys = {"key": "nobody", "secret": "nothing", "client_kwargs": endpoint, "skip_instance_cache": True}
        return FsspecStore.from_url("s3://bucket", storage_options=keys)
    options = {"endpoint": f"http://127.0.0.1:{port}", "skip_signature": "true", "region": "r"}
    return ObjectStore(stores.S3Store("bucket", **options, client_options={"allow_http": True}))


@pytest.mark.parametrize("client", ["obstore", "s3fs"])
@pytest.mark.parametrize("refusal", [(501, b""), (400, b"<Error><Code>InvalidArgument</Code></Error>")], ids=str)
def test_a_service_without_conditions_is_used_without_them(
    refusal: Any, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    handler = type("Handler", (Refusing,), {"objects": {}, "refused": [], "refusal": refusal})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        store: Any = service_of(server.server_port, client)
        with caplog.at_level(logging.WARNING, "zarr.store"):
            array = zarr.create_array(store, shape=8, chunks=8, dtype="i4")
            array[:4] = 1
            array[4:6] = 2
            array.attrs["a"] = 1
            with zarr.transaction(store) as changes:
                zarr.open_array(changes)[6] = 3
                zarr.open_array(changes).append([4])
        assert zarr.open_array(store)[...].tolist() == [1, 1, 1, 1, 2, 2, 3, 0, 4]
        assert dict(zarr.open_array(store).attrs) == {"a": 1}
        refusals = [record for record in caplog.records if "conditional requests" in record.message]
        assert len(refusals) == 1
        value = default_buffer_prototype().buffer.from_bytes(b"1")
        with pytest.raises(NotImplementedError, match="on a condition"):
            sync(store.set_if_match("zarr.json", value, sync(_get(store, "zarr.json"))))
        server.shutdown()


@pytest.mark.parametrize("client", ["obstore", "s3fs"])
def test_a_service_without_conditions_is_asked_for_absence_once(client: str) -> None:
    handler = type("Handler", (Refusing,), {"objects": {}, "refused": [], "refusal": (501, b"")})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        store: Any = service_of(server.server_port, client)
        one, other = (default_buffer_prototype().buffer.from_bytes(text) for text in (b"one", b"other"))

        async def create() -> None:
            for key in ("a", "b", "c"):
                assert await store.put_if_absent(key, one)
                assert not await store.put_if_absent(key, other)

        sync(create())
        assert set(handler.objects.values()) == {b"one"}
        assert handler.refused == ["/bucket/a"]
        server.shutdown()


def test_a_request_that_is_bad_for_another_reason_is_not_sent_without_its_condition() -> None:
    refusal = (400, b"<Error><Code>RequestTimeout</Code>")
    handler = type("Handler", (Refusing,), {"objects": {}, "refused": [], "refusal": refusal})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        store = service_of(server.server_port, "obstore")
        value = default_buffer_prototype().buffer.from_bytes(b"1")
        with pytest.raises(Exception, match="RequestTimeout"):
            asyncio.run(store.set_if_version("a", value, None))
        assert handler.objects == {}
        server.shutdown()


async def _get(store: ObjectStore[Any], key: str) -> Any:
    return await store.get(key, default_buffer_prototype())


@pytest.mark.parametrize("locking", ["auto", "process", "thread"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_whole_chunks_of_fill_values(processes: list[Process], locking: str, layout: str) -> None:
    array = zarr.create_array(processes[0], shape=(16, 16), dtype="i4", config={"locking": locking}, **LAYOUTS[layout])
    array[...] = 5
    array[:8] = 0
    np.testing.assert_array_equal(zarr.open_array(processes[1])[:, 0], [0] * 8 + [5] * 8)
    array[...] = 0
    assert not zarr.open_array(processes[1])[...].any()
    if layout != "edges":  # what a chunk has beyond the array is compared, and what is compared is not deleted
        assert zarr.open_array(processes[1]).nchunks_initialized == 0


def test_a_store_that_refuses_again_and_again_is_an_error(processes: list[Process], monkeypatch: Any) -> None:
    array = zarr.create_array(processes[0], shape=8, chunks=8, dtype="i4")
    array[:] = 1

    async def refuse(*args: Any) -> bool:
        return False

    monkeypatch.setattr(Process, "_put_compared", refuse)
    monkeypatch.setattr("zarr.runners.asynchronous.CONFLICT_SECONDS", 0.001)
    for call in (lambda: array.__setitem__(0, 2), lambda: array.attrs.update(a=1), lambda: array.resize(9)):
        with pytest.raises(zarr.errors.StoreUnavailableError, match="refused 20 times to replace"):
            call()


def test_set_if_match_compares_values_of_any_size(processes: list[Process], monkeypatch: Any) -> None:
    monkeypatch.setattr("zarr.storage.remote.retries._COMPARED", 3)
    one, other = processes[:2]
    values = [default_buffer_prototype().buffer.from_bytes(text) for text in (b"first", b"second", b"third")]
    asyncio.run(one.set("k", values[0]))
    one.after = "k", lambda: asyncio.run(other.set("k", values[1]))
    assert not asyncio.run(one.set_if_match("k", values[2], values[0]))
    assert asyncio.run(_get(one, "k")).to_bytes() == b"second"
