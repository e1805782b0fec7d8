"""No method of somebody else's object that may wait is called on an event loop, or while a lock of ours is held.

The ``__repr__`` of a store may take a lock that a request under way holds: on the loop, that request never ends then.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import zarr
from tests.compat.order_of_requests import NotingStore
from zarr.errors import label_of
from zarr.runners.locks.table import LOCKS
from zarr.storage import LoggingStore, MemoryStore, WrapperStore

SECONDS = 120
CALLS: list[str] = []
"""Where a method of the store was called though it must not be."""


def _check(name: str) -> None:
    if asyncio._get_running_loop() is not None:
        CALLS.append(f"{name} on an event loop")
    elif len(LOCKS):
        CALLS.append(f"{name} while a lock is held")


class Shy:
    """Texts and comparisons that take note of where they are asked for."""

    def __repr__(self) -> str:
        _check("__repr__")
        return "shy"

    def __str__(self) -> str:
        _check("__str__")
        return "shy"

    def __eq__(self, other: object) -> bool:
        _check("__eq__")
        return self is other

    def __hash__(self) -> int:
        _check("__hash__")
        return id(self)


class ShyStore(Shy, NotingStore):
    """A store of coroutines; fails as it is told."""

    fails = ""

    def _fail(self, name: str, key: str) -> None:
        if name == self.fails:
            raise OSError(f"no {name} of {key}")

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        self._fail("get of a chunk" if "c/" in key else "get", key)
        return await super().get(key, prototype, byte_range)

    async def set(self, key: str, value: Any) -> None:
        self._fail("set of a chunk" if "c/" in key else "set", key)
        await super().set(key, value)

    async def delete(self, key: str) -> None:
        self._fail("delete", key)
        await super().delete(key)

    async def list_dir(self, prefix: str) -> Any:
        self._fail("list", prefix)
        async for name in super().list_dir(prefix):
            yield name

    async def list_prefix(self, prefix: str) -> Any:
        self._fail("list", prefix)
        async for name in super().list_prefix(prefix):
            yield name


class ShyMemory(Shy, MemoryStore):
    """A store with plain methods, one of this library at heart; fails as it is told."""

    fails = ""

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        if self.fails == ("get of a chunk" if "c/" in key else "get"):
            raise OSError(f"no get of {key}")
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)

    def set_sync(self, key: str, value: Any) -> None:
        if self.fails == ("set of a chunk" if "c/" in key else "set"):
            raise OSError(f"no set of {key}")
        super().set_sync(key, value)

    def delete_sync(self, key: str) -> None:
        if self.fails == "delete":
            raise OSError(f"no delete of {key}")
        super().delete_sync(key)

    def list_prefix_sync(self, prefix: str) -> Any:
        if self.fails == "list":
            raise OSError(f"no list of {prefix}")
        return super().list_prefix_sync(prefix)


class ShyWrapper(WrapperStore[Any]):
    """A wrapper of this library around a store of somebody else's."""

    @property
    def fails(self) -> str:
        return str(self._store.fails)

    @fails.setter
    def fails(self, name: str) -> None:
        self._store.fails = name


DATA = np.arange(1, 301, dtype="i4")


def _array(store: Any) -> Any:
    return zarr.open_array(store, path="g/x", mode="r+")


def _in_transaction(store: Any) -> None:
    with zarr.transaction(store) as changes:
        changes.group()["g/x"].append(DATA)


def _in_batch(store: Any) -> None:
    with _array(store).batch():
        zarr.open_group(store)["g/x"][4:40] = 1


SYNC: dict[str, Callable[[Any], object]] = {
    "open group": lambda s: zarr.open_group(s, mode="r"),
    "open anything": lambda s: zarr.open(s, path="g/x"),
    "open what is not there": lambda s: zarr.open_array(s, path="no"),
    "open an array as a group": lambda s: zarr.open_group(s, path="g/x", mode="r"),
    "open a group as an array": lambda s: zarr.open_array(s, path="g", mode="r"),
    "open a damaged node": lambda s: zarr.open_array(s, path="bad"),
    "open below an array": lambda s: zarr.create_group(s, path="g/x/y"),
    "open for writing what is read only": lambda s: zarr.open_array(s.with_read_only(True), path="g/x", mode="w"),
    "write to what is read only": lambda s: zarr.open_array(s.with_read_only(True), path="g/x").__setitem__(0, 1),
    "members": lambda s: list(zarr.open_group(s).members(max_depth=None)),
    "tree": lambda s: zarr.open_group(s).tree(),
    "info": lambda s: _array(s).info_complete(),
    "read": lambda s: _array(s)[:],
    "read a part": lambda s: _array(s)[3:5],
    "read points": lambda s: _array(s).vindex[[1, 250, 7]],
    "read shards": lambda s: zarr.open_array(s, path="g/s")[5:200],
    "write": lambda s: _array(s).__setitem__(slice(None), DATA),
    "write a part": lambda s: _array(s).__setitem__(slice(1, 4), 9),
    "write shards": lambda s: zarr.open_array(s, path="g/s").__setitem__(slice(5, 250), 9),
    "append": lambda s: _array(s).append(DATA),
    "grow": lambda s: _array(s).resize((900,)),
    "shrink": lambda s: _array(s).resize((17,)),
    "attributes": lambda s: _array(s).attrs.update({"a": 1}),
    "attributes of a group": lambda s: zarr.open_group(s, path="g").attrs.update({"a": 1}),
    "create": lambda s: zarr.create_array(s, name="a/b", shape=(4,), dtype="i4"),
    "create again": lambda s: zarr.create_array(s, name="g/x", shape=(4,), dtype="i4"),
    "create with data": lambda s: zarr.create_array(s, name="b", data=DATA, chunks=(10,), overwrite=True),
    "create a group again": lambda s: zarr.create_group(s, path="g"),
    "require": lambda s: zarr.open_group(s).require_array("g/x", shape=(3,), dtype="f8"),
    "require a group": lambda s: zarr.open_group(s).require_group("g/x"),
    "hierarchy": lambda s: dict(zarr.create_hierarchy(store=s, nodes={"g": zarr.core.group.GroupMetadata()})),
    "delete": lambda s: zarr.open_group(s).__delitem__("g"),
    "move": lambda s: zarr.open_group(s).move("g", "h"),
    "move to what is there": lambda s: zarr.open_group(s).move("g", "h/x"),
    "copy": lambda s: zarr.copy(_array(s), zarr.open_group(s), name="copy"),
    "from array": lambda s: zarr.from_array(s, data=_array(s), name="from"),
    "save": lambda s: zarr.save(s, DATA, path="saved"),
    "consolidate": zarr.consolidate_metadata,
    "use a copy": lambda s: zarr.open_consolidated(s)["g/x"][:],
    "transaction": _in_transaction,
    "batch": _in_batch,
    "copy of a handle": lambda s: pickle.loads(pickle.dumps(_array(MemoryStore(dict(getattr(s, "values", {})))))),
    "lock without a place": lambda s: zarr.open_array(s, path="g/x", config={"locking": "process"}).__setitem__(0, 1),
}


async def _async_array(store: Any) -> Any:
    return await zarr.api.asynchronous.open_array(store=store, path="g/x", mode="r+")


async def _members(store: Any) -> None:
    group = await zarr.api.asynchronous.open_group(store=store)
    async for _ in group.members(max_depth=None):
        pass


ASYNC: dict[str, Callable[[Any], Any]] = {
    "open what is not there": lambda s: zarr.api.asynchronous.open_array(store=s, path="no"),
    "open an array as a group": lambda s: zarr.api.asynchronous.open_group(store=s, path="g/x", mode="r"),
    "open a damaged node": lambda s: zarr.api.asynchronous.open_array(store=s, path="bad"),
    "create again": lambda s: zarr.api.asynchronous.create_array(s, name="g/x", shape=(4,), dtype="i4"),
    "create": lambda s: zarr.api.asynchronous.create_array(s, name="a/b", data=DATA, chunks=(9,)),
    "members": _members,
    "consolidate": zarr.api.asynchronous.consolidate_metadata,
}


def _later(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def run(store: Any) -> None:
        await work(await _async_array(store))

    return run


ASYNC |= {
    "read": _later(lambda a: a.getitem(slice(None))),
    "write": _later(lambda a: a.setitem(slice(None), DATA)),
    "write a part": _later(lambda a: a.setitem(slice(2, 5), 4)),
    "append": _later(lambda a: a.append(DATA)),
    "resize": _later(lambda a: a.resize((17,))),
    "grow": _later(lambda a: a.resize((1700,))),
    "attributes": _later(lambda a: a.update_attributes({"a": 1})),
}


def filled(kind: str) -> Any:
    store: Any = ShyMemory() if kind == "plain methods" else ShyStore()
    root = zarr.create_group(store)
    root.create_array("g/x", data=DATA, chunks=(10,))
    root.create_array("g/s", data=DATA, chunks=(10,), shards=(100,))
    root.create_group("bad")
    key = "bad/zarr.json"
    values = store._store_dict if kind == "plain methods" else store.values
    values[key] = type(values[key]).from_bytes(b'{"zarr_format": 3, "node_type": "array"')
    if kind == "wrapped":
        return ShyWrapper(store)
    return store


def in_time(work: Callable[[], object]) -> None:
    """Run something that may fail, in a thread that is given up after a while."""
    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Exception):
                work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "this does not end"


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    CALLS.clear()
    yield
    CALLS.clear()


KINDS = pytest.mark.parametrize("kind", ["coroutines", "plain methods", "wrapped"])
FAULTS = pytest.mark.parametrize("fault", ["", "get", "get of a chunk", "set", "set of a chunk", "delete", "list"])


@KINDS
@FAULTS
@pytest.mark.parametrize("logged", [False, True])
def test_synchronous_calls(kind: str, fault: str, logged: bool, caplog: pytest.LogCaptureFixture) -> None:
    if logged:
        caplog.set_level(logging.DEBUG, "zarr")
    for name, work in SYNC.items():
        store = filled(kind)
        store.fails = fault
        in_time(lambda work=work, store=store: work(store))
        assert CALLS == [], name


@KINDS
@FAULTS
def test_coroutines(kind: str, fault: str) -> None:
    for name, work in ASYNC.items():
        store = filled(kind)
        store.fails = fault

        async def run(work: Any = work, store: Any = store) -> None:
            await asyncio.wait_for(work(store), SECONDS)

        in_time(lambda run=run: asyncio.run(run()))
        assert CALLS == [], name


def test_a_store_whose_text_waits_for_its_requests() -> None:
    """A lock that a request takes and the text, too: the loop must not wait for it."""
    lock = threading.Lock()

    class Locked(NotingStore):
        def __repr__(self) -> str:
            with lock:
                return "locked"

        async def set(self, key: str, value: Any) -> None:
            if "c/" not in key:
                await super().set(key, value)
                return
            acquiring = asyncio.ensure_future(asyncio.to_thread(lock.acquire))
            try:
                await asyncio.shield(acquiring)
            except asyncio.CancelledError:  # the thread acquires it all the same, and nobody would release it
                acquiring.add_done_callback(lambda ended: ended.cancelled() or ended.exception() or lock.release())
                raise
            try:
                await asyncio.sleep(0)
                raise OSError("no")
            finally:
                lock.release()

    store = Locked()
    array = zarr.create_array(store, name="x", shape=(300,), chunks=(10,), dtype="i4")

    def work() -> None:
        for _ in range(200):
            with suppress(OSError):
                array[:] = 1

    in_time(work)


def test_labels() -> None:
    memory, shy = MemoryStore(), ShyStore()
    assert label_of(memory) == repr(memory)
    assert label_of(LoggingStore(memory), str) == str(LoggingStore(memory))
    for store in (shy, ShyMemory(), ShyWrapper(shy), LoggingStore(LoggingStore(shy))):
        assert label_of(store) == object.__repr__(store)
        assert type(store).__name__ in label_of(store)
    with pytest.raises(FileNotFoundError, match="ShyStore object at"):
        zarr.open_array(shy, path="no", mode="r")
