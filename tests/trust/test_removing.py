"""A group that is removed, replaced or moved while others change nodes below it: no document is left astray."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import threading
import time
from collections import UserDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import KINDS, SHARED_KINDS, make_store, rounds, run_processes, run_together
from zarr.abc.store import Store, SyncStore
from zarr.errors import ArrayNotFoundError, GroupNotFoundError, LockedByCallerError, NodeNotFoundError
from zarr.runners.locks.table import LOCKS
from zarr.storage import LocalStore, MemoryStore, WrapperStore

DOCUMENTS = {"zarr.json", ".zarray", ".zgroup", ".zattrs"}
PROCESS = {"locking": "process"}
# What was there when somebody looked may be gone when he opens or changes it.
GONE = (NodeNotFoundError, KeyError)


def check_whole(store: Any) -> None:
    """Each node that is there has a group above it, up to the root, and each document can be read."""
    nodes = {
        key.rpartition("/")[0]: key for key in store.list_sync() if key.rpartition("/")[2] in DOCUMENTS - {".zattrs"}
    }
    for path in nodes:
        zarr.open(store, path=path, mode="r")
        while path:
            path = path.rpartition("/")[0]
            assert path in nodes, f"{sorted(nodes)}: nothing is at {path!r}"
            assert isinstance(zarr.open(store, path=path, mode="r"), zarr.Group)


def begin(store: Any, zarr_format: Any = 3, **options: Any) -> Any:
    root = zarr.create_group(store, overwrite=True, zarr_format=zarr_format)
    deep = root.create_group("g/s")
    for group in (root["g"], deep):
        group.create_array("a", shape=(2, 2), chunks=(1, 2), dtype="i4", **options)
    return zarr.open_group(store, mode="r+", zarr_format=zarr_format)


def until_gone(stop: threading.Event, action: Callable[[int], Any]) -> None:
    for number in range(10_000):
        if stop.is_set():
            return
        with contextlib.suppress(*GONE):
            action(number)


def changes(root: Any, **config: Any) -> list[Callable[[int], Any]]:
    """What others do below ``g`` with what they have opened before, and anew."""
    deep, array = root["g/s"], zarr.open_array(root.store, path="g/s/a", config=config or None)
    zarr_format = root.metadata.zarr_format
    again = partial(zarr.open_array, root.store, path="g/a", mode="r+", zarr_format=zarr_format, config=config or None)
    return [
        lambda n: deep.attrs.__setitem__(f"{n % 5}", n),
        lambda n: array.append(np.ones((1, 2), "i4")),
        lambda n: again().attrs.update(n=n),
        lambda n: array.resize((n % 4, 2)),
    ]


def bare_group(root: Any) -> Any:
    return zarr.core.group.GroupMetadata(zarr_format=root.metadata.zarr_format)


REMOVALS: dict[str, Callable[[Any], Any]] = {
    "delete": lambda root: root.__delitem__("g"),
    "replace": lambda root: root.create_group("g", overwrite=True),
    "replace by an array": lambda root: root.create_array("g", shape=2, dtype="i4", overwrite=True),
    "move": lambda root: root.move("g", "h"),
    "all": lambda root: zarr.create_group(root.store, overwrite=True, zarr_format=root.metadata.zarr_format),
    "hierarchy": lambda root: list(root.create_hierarchy({"g": bare_group(root)}, overwrite=True)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", REMOVALS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_changes_come_before_a_removal_or_fail(kind: str, way: str, zarr_format: int, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    for turn in range(rounds(3, 40)):
        root = begin(store, zarr_format)
        stop = threading.Event()

        def remove(root: Any = root, turn: int = turn, stop: threading.Event = stop) -> None:
            time.sleep(0.002 * (turn % 3))
            try:
                REMOVALS[way](root)
            finally:
                stop.set()

        run_together([remove, *(partial(until_gone, stop, action) for action in changes(root))])
        check_whole(store)
        found = zarr.open_group(store, mode="r", zarr_format=zarr_format)
        assert sorted(found) == {"delete": [], "all": [], "move": ["h"]}.get(way, ["g"])
        assert way == "move" or list(store.list_prefix_sync("g/s/")) == []
        assert len(LOCKS) == 0
        assert not LOCKS.trees
    store.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_below_is_made_with_its_groups(kind: str, tmp_path: Path) -> None:
    """Somebody makes nodes below a group that somebody else removes again and again."""
    store = make_store(kind, tmp_path)
    root = begin(store)
    stop = threading.Event()

    def make(number: int) -> None:
        for turn in range(rounds(12, 150)):
            path = f"g/s{turn % 3}/{number}-{turn}"
            if number == 0:
                root.create_group(path)
            elif number == 1:
                root.create_array(path, data=np.arange(4), chunks=2)
            else:
                root.create_hierarchy({f"{path}/x/y": bare_group(root)})

    def remove() -> None:
        while not stop.is_set():
            with contextlib.suppress(KeyError):
                del root["g"]
            with contextlib.suppress(KeyError):
                del root["g/s1"]

    makers = [partial(make, number) for number in range(3)]

    def make_all() -> None:
        try:
            run_together(makers)
        finally:
            stop.set()

    run_together([make_all, remove, remove], 120)
    check_whole(store)
    assert len(LOCKS) == 0
    store.close()


class Watched(MemoryStore):
    """Stops a while before a document is stored, or values are removed; notes what happens."""

    def __init__(self, values: Any = None, read_only: bool = False) -> None:
        super().__init__(values, read_only=read_only)
        self.log: list[str] = []
        self.pause: dict[str, threading.Event] = {}
        self.reached = threading.Event()

    def _wait(self, what: str) -> None:
        if what in self.pause:
            self.reached.set()
            assert self.pause[what].wait(60)
        self.log.append(what)

    def set_sync(self, key: str, value: Any) -> None:
        self._wait(f"set {key}")
        super().set_sync(key, value)

    def delete_dir_sync(self, prefix: str) -> None:
        self._wait(f"remove {prefix}")
        super().delete_dir_sync(prefix)


@pytest.fixture
def watched() -> Iterator[Watched]:
    store = Watched()
    begin(store)
    store.log.clear()
    yield store
    assert len(LOCKS) == 0


def test_a_removal_waits_for_a_change_under_way(watched: Watched) -> None:
    group, array = zarr.open_group(watched), zarr.open_array(watched, path="g/s/a")
    gate = watched.pause["set g/s/a/zarr.json"] = threading.Event()
    changing = threading.Thread(target=lambda: array.attrs.update(a=1))
    changing.start()
    assert watched.reached.wait(60)
    removing = threading.Thread(target=lambda: group.__delitem__("g"))
    removing.start()
    time.sleep(0.1)
    # Others go on meanwhile: beside the group, not below it.
    group.create_array("beside", shape=1, dtype="i4")
    opened, refused = zarr.open_group(watched, path="g/s"), []

    def update_late() -> None:
        try:
            opened.attrs["late"] = 1
        except GroupNotFoundError as error:
            refused.append(error)

    waiting = threading.Thread(target=update_late)
    waiting.start()
    time.sleep(0.05)
    assert not [entry for entry in watched.log if entry.startswith("remove")]
    gate.set()
    for thread in (changing, removing, waiting):
        thread.join(60)
        assert not thread.is_alive()
    assert [entry for entry in watched.log if "beside" not in entry] == ["set g/s/a/zarr.json", "remove g"]
    assert len(refused) == 1
    check_whole(watched)


@pytest.mark.parametrize("tasks", [False, True])
def test_a_change_waits_for_a_removal_under_way(watched: Watched, tasks: bool) -> None:
    group, array = zarr.open_group(watched), zarr.open_array(watched, path="g/s/a")
    gate = watched.pause["remove g"] = threading.Event()
    removing = threading.Thread(target=lambda: group.__delitem__("g"))
    removing.start()
    assert watched.reached.wait(60)
    errors: list[Exception] = []

    def change() -> None:
        try:
            if tasks:
                asyncio.run(array.async_array.append(np.ones((1, 2), "i4")))
            else:
                array.append(np.ones((1, 2), "i4"))
        except ArrayNotFoundError as error:
            errors.append(error)

    changing = threading.Thread(target=change)
    changing.start()
    time.sleep(0.1)
    assert changing.is_alive()
    gate.set()
    for thread in (removing, changing):
        thread.join(60)
    assert len(errors) == 1
    assert list(watched.list_sync()) == ["zarr.json"]


def test_a_finalizer_that_removes_what_is_being_changed(watched: Watched) -> None:
    """It cannot wait for the operation that it interrupts: it is refused, and both stay whole."""
    group, array = zarr.open_group(watched), zarr.open_array(watched, path="g/s/a")

    class Removes:
        def __del__(self) -> None:
            with pytest.raises(LockedByCallerError):
                del group["g"]
            refused.append(True)

    def interrupted_set(key: str, value: Any, plain: Any = watched.set_sync) -> None:
        kept.clear()
        plain(key, value)

    refused: list[bool] = []
    kept = [Removes()]
    watched.set_sync = interrupted_set  # type: ignore[method-assign]
    array.attrs["a"] = 1
    del watched.set_sync
    assert refused == [True]
    assert zarr.open_array(watched, path="g/s/a").attrs["a"] == 1
    del group["g"]
    assert list(watched.list_sync()) == ["zarr.json"]


class Slow(WrapperStore[Any]):
    """A store of coroutines."""

    async def set(self, key: str, value: Any) -> None:
        await asyncio.sleep(0.001)
        await self._store.set(key, value)

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        await asyncio.sleep(0.0005)
        return await self._store.get(key, prototype, byte_range)

    async def delete_dir(self, prefix: str) -> None:
        keys = [key async for key in self._store.list_prefix(f"{prefix}/" if prefix else "")]
        for key in keys:
            await asyncio.sleep(0.0005)
            await self._store.delete(key)


@pytest.mark.parametrize("kind", ["memory", "coroutines", "local"])
async def test_tasks(kind: str, tmp_path: Path) -> None:
    inner = MemoryStore() if kind == "coroutines" else make_store(kind, tmp_path)
    store = Slow(inner) if kind == "coroutines" else inner
    for _ in range(rounds(3, 30)):
        await asyncio.to_thread(begin, store)
        root = await zarr.api.asynchronous.open_group(store)
        array = await zarr.api.asynchronous.open_array(store=store, path="g/s/a")
        group = await zarr.api.asynchronous.open_group(store, path="g/s")

        async def change(number: int, array: Any = array, group: Any = group) -> None:
            for i in range(6):
                with contextlib.suppress(NodeNotFoundError):
                    await array.update_attributes({f"{number}": i})
                    await array.append(np.ones((1, 2), "i4"))
                    await group.update_attributes({f"{number}": i})

        async def remove(root: Any = root) -> None:
            await asyncio.sleep(0.01)
            await root.delitem("g")

        await asyncio.wait_for(asyncio.gather(*(change(number) for number in range(3)), remove()), 60)
        assert list(inner.list_sync()) == ["zarr.json"]
    assert len(LOCKS) == 0


def test_who_waits_for_a_removal_can_be_called_off(watched: Watched) -> None:
    group = zarr.open_group(watched)
    gate = watched.pause["remove g"] = threading.Event()
    removing = threading.Thread(target=lambda: group.__delitem__("g"))
    removing.start()
    assert watched.reached.wait(60)

    async def main() -> None:
        inner = await zarr.api.asynchronous.open_array(store=watched, path="g/a")
        task = asyncio.ensure_future(inner.update_attributes({"a": 1}))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    gate.set()
    removing.join(60)
    assert list(watched.list_sync()) == ["zarr.json"]


def test_removals_of_places_in_one_another(tmp_path: Path) -> None:
    """Moves and removals that want the same places in different orders end."""
    store = make_store("memory", tmp_path)
    root = begin(store)

    def work(number: int) -> None:
        for turn in range(rounds(40, 400)):
            with contextlib.suppress(KeyError, zarr.errors.ContainsGroupError, zarr.errors.ContainsArrayError):
                if (turn + number) % 4 == 0:
                    root.move("g", "h")
                elif (turn + number) % 4 == 1:
                    root.move("h", "g")
                elif number % 2:
                    root.create_group("g/s/x", overwrite=True)
                else:
                    root.create_group("h", overwrite=turn % 8 == 0)

    run_together([partial(work, number) for number in range(5)])
    check_whole(store)
    assert len(LOCKS) == 0


# ------------------------------------------------------------------------------------------- among processes


def change_by_process(number: int, barrier: Any, kind: str, folder: str, turns: int, folder_of_locks: str) -> None:
    locking = f"process:{folder_of_locks}" if folder_of_locks else "process"
    with zarr.config.set({"array.locking": locking}):
        store = make_store(kind, folder)
        root = zarr.open_group(store, mode="r+")
        for turn in range(turns):
            barrier.wait(60)
            if number == 0:
                time.sleep(0.003 * (turn % 4))
                list(REMOVALS.values())[turn % 2](root)
            else:
                for i in range(4):
                    with contextlib.suppress(*GONE):
                        array = zarr.open_array(store, path="g/s/a", mode="r+")
                        array.attrs[f"{number}"] = i
                        array.append(np.ones((1, 2), "i4"))
                        zarr.open_group(store, path="g/s", mode="r+").attrs[f"{number}"] = i
                    if i == 2 and number == 1:
                        root.create_group(f"g/new/{turn}")
            barrier.wait(60)
            if number == 0:
                check_whole(store)
                begin(store)
            barrier.wait(60)
        store.close()


@pytest.mark.parametrize(
    ("method", "kind"),
    [*(("fork", kind) for kind in SHARED_KINDS), pytest.param("spawn", "local", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("folder_of_locks", [False, True])
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="files are shared on posix only")
def test_processes(method: str, kind: str, folder_of_locks: bool, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    begin(store)
    store.close()
    locks = str(tmp_path / "locks") if folder_of_locks else ""
    run_processes(3, method, change_by_process, kind, str(tmp_path), rounds(8, 80), locks)


def update_for_ever(number: int, barrier: Any, folder: str) -> None:
    arrays = [zarr.open_array(f"{folder}/data", path=path, mode="r+", config=PROCESS) for path in ("g/a", "g/s/a")]
    barrier.wait(60)
    with contextlib.suppress(ArrayNotFoundError):
        for turn in range(100_000):
            arrays[turn % 2].attrs[f"{number}"] = turn


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="files are shared on posix only")
def test_who_removes_gets_his_turn_and_nothing_is_left(tmp_path: Path) -> None:
    """However many change something below all the time; also no folder that was made for locks only."""
    store = make_store("local", tmp_path)
    root = begin(store)
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    processes = [context.Process(target=update_for_ever, args=(n, barrier, str(tmp_path))) for n in range(3)]
    for process in processes:
        process.start()
    barrier.wait(60)
    time.sleep(0.1)
    with zarr.config.set({"array.locking": "process"}):
        del root["g"]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 3
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["zarr.json"]


@pytest.mark.skipif(os.name == "nt", reason="making a link needs a right")
@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("way", ["plain", "transaction", "overwrite"])
def test_of_a_link_to_a_node_the_link_alone_is_removed(way: str, form: Any, tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "a.zarr", zarr_format=form)
    far = zarr.create_array(tmp_path / "far", data=np.arange(4), zarr_format=form)
    for link, target in {"link": "far"}.items() if way == "overwrite" else {"link": "far", "broken": "nowhere"}.items():
        (tmp_path / "a.zarr" / link).symlink_to(tmp_path / target)
        if way == "plain":
            del group[link]
        elif way == "transaction":
            with zarr.transaction(tmp_path / "a.zarr") as tx:
                del tx.group()[link]
        else:
            group.create_group(link, overwrite=True)
    assert far[:].tolist() == [0, 1, 2, 3]
    left = {path.name: path.is_symlink() for path in (tmp_path / "a.zarr").iterdir()}
    assert not any(left.values())
    assert ("link" in left) == (way == "overwrite")
    assert not [name for name in left if name.endswith(".partial")]


class _Noted(dict[str, Any]):
    """A dictionary that notes what is removed from it."""

    def __init__(self, removed: list[str]) -> None:
        super().__init__()
        self.removed = removed

    def pop(self, key: str, *default: Any) -> Any:
        self.removed.append(key)
        return super().pop(key, *default)


class _NotedMapping(UserDict[str, Any]):
    def __init__(self, removed: list[str]) -> None:
        super().__init__()
        self.removed = removed

    def __delitem__(self, key: str) -> None:
        self.removed.append(key)
        super().__delitem__(key)


class _KeyByKey(MemoryStore):
    """A store that inherits how a folder is removed."""

    delete_dir_sync = SyncStore.delete_dir_sync


class _InCoroutines(WrapperStore[Any]):
    """The same, in coroutines."""

    delete_dir = Store.delete_dir


def _in_fsspec(folder: Path, removed: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    implementations = pytest.importorskip("fsspec.implementations.asyn_wrapper")
    from fsspec.implementations.local import LocalFileSystem

    class Noted(LocalFileSystem):  # type: ignore[misc]
        cachable = False

        def rm(self, path: Any, **options: Any) -> None:
            removed.append(path)
            super().rm(path, **options)

    wrapped = implementations.AsyncFileSystemWrapper(Noted(), asynchronous=True)
    return zarr.storage.FsspecStore(wrapped, path=str(folder))


def _in_obstore(folder: Path, removed: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    stores = pytest.importorskip("obstore.store")
    from zarr.storage.remote import obstore as module

    remove = module._remove

    async def noted(client: Any, paths: list[str]) -> None:
        removed.extend(paths)
        await remove(client, paths)

    monkeypatch.setattr(module, "_remove", noted)
    return zarr.storage.ObjectStore(stores.MemoryStore())


def _in_a_folder(folder: Path, removed: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    class Noted(LocalStore):
        def delete_sync(self, key: str) -> None:
            removed.append(key)
            super().delete_sync(key)

    return Noted(folder)


NOTED: dict[str, Any] = {
    "memory": lambda folder, removed, patch: MemoryStore(_Noted(removed)),
    "mapping": lambda folder, removed, patch: zarr.storage.MappingStore(_NotedMapping(removed)),
    "key by key": lambda folder, removed, patch: _KeyByKey(_Noted(removed)),
    "coroutines": lambda folder, removed, patch: _InCoroutines(MemoryStore(_Noted(removed))),
    "folder": _in_a_folder,
    "fsspec": _in_fsspec,
    "obstore": _in_obstore,
}


@pytest.mark.parametrize("kind", NOTED)
@pytest.mark.parametrize("call", ["delete_dir", "clear"])
def test_documents_are_removed_first(kind: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A removal that is interrupted must not leave an array without its chunks: it would be read as fill values."""
    removed: list[str] = []
    store = NOTED[kind](tmp_path / "x", removed, monkeypatch)
    below = "" if call == "clear" or kind == "folder" else "a/"
    zarr.create_group(store, path=below)
    zarr.create_group(store, path=f"{below}d")
    zarr.create_array(store, name=f"{below}d/e", data=np.ones(4), chunks=(2,))
    removed.clear()
    zarr.core.sync.sync(store.clear() if call == "clear" else store.delete_dir(below.rstrip("/")))
    assert not [key for key in zarr.core.sync.sync(_listed(store)) if key.startswith(below)]
    places = [name.endswith("zarr.json") for name in removed if name.rpartition("/")[2] != "d"]
    assert places == sorted(places, reverse=True)
    assert any(places)
    assert removed[0].endswith(f"{below}zarr.json")


async def _listed(store: Any) -> list[str]:
    return [key async for key in store.list()]
