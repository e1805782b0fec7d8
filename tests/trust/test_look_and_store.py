"""Where something is looked for, and stored if it is not there: threads that do so at once all find the same."""

from __future__ import annotations

import gc
import itertools
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.arrays.io.batch import Budget
from zarr.buffer.cpu import Buffer
from zarr.dtype.registry import DataTypeRegistry
from zarr.groups.batch import GroupBatch
from zarr.registry.codecs import _choose_codec
from zarr.registry.tables import Registry
from zarr.runners.locks.table import LockTable
from zarr.storage import MemoryStore


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns a thousand times more often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Plugin:
    """A class that an entry point names."""

    _zarr_v3_name = "plugin"


class SlowPoint:
    """An entry point whose module takes its time: another thread looks for the class meanwhile, and so does itself."""

    name, value, group = "plugin", "plugin:Plugin", "zarr.codecs"

    def __init__(self, look: Any) -> None:
        self.look = look
        self.found: list[Any] = []
        self.loads = 0

    def load(self) -> type[Plugin]:
        self.loads += 1
        if self.loads == 1:
            self.look()
            other = threading.Thread(target=lambda: self.found.append(self.look()))
            other.start()
            other.join(30)
        return Plugin


def test_a_plugin_that_another_thread_is_loading_is_found() -> None:
    registry: Registry[Any] = Registry()

    def look() -> Any:
        registry.lazy_load(use_entrypoint_name=True)
        return registry.find("plugin")

    point: Any = SlowPoint(look)
    registry.lazy_load_list.append(point)
    assert look() is Plugin
    assert point.found == [Plugin]
    assert registry.lazy_load_list == []
    assert point.loads == 2


def test_a_data_type_that_another_thread_is_loading_is_found() -> None:
    registry = DataTypeRegistry()

    def look() -> Any:
        try:
            return registry.get("plugin")
        except KeyError:
            return None

    point: Any = SlowPoint(look)
    registry._lazy_load_list.append(point)
    assert look() is Plugin
    assert point.found == [Plugin]


class Registering(dict[str, Any]):
    """Built-in implementations: a look for one lets another thread register a class."""

    registry: Any = None

    def __contains__(self, name: object) -> bool:
        self.registry.setdefault("late", Plugin)
        return super().__contains__(name)


def test_a_codec_that_is_registered_while_one_is_chosen() -> None:
    registry: Registry[Any] = Registry()
    registry["plugin"] = registry["other"] = Plugin
    registry.builtins = names = Registering()
    names.registry = registry
    assert _choose_codec("plugin", registry, None) is Plugin
    assert "late" in registry


class Looked(type):
    """A class of data types: a look at its names lets another thread register one."""

    registry: Any = None

    @property
    def _zarr_v2_names(cls) -> tuple[str, ...]:
        Looked.registry.contents.setdefault("late", Plugin)
        return ("looked",)


def test_a_data_type_that_is_registered_while_one_is_looked_for() -> None:
    Looked.registry = registry = DataTypeRegistry()
    registry.contents.update(a=Looked("A", (), {}), b=Looked("B", (), {}))
    found = registry._first_choices({"name": "looked", "object_codec_id": None}, 2)
    assert [cls.__name__ for cls in found] == ["A", "B"]
    assert "late" in registry.contents


class Cycle:
    """Garbage that only the collector finds; its finalizer acts, as another thread may while the collector runs."""

    def __init__(self, act: Any) -> None:
        self.me, self.act = self, act

    def __del__(self) -> None:
        self.act()


def held_names(number: int) -> tuple[Any, Any]:
    table = LockTable()
    table.queues.update({str(name): [1] for name in range(number)})
    return table.queues, lambda: table.is_held_by(2, bool)


def batches_of_a_group(number: int) -> tuple[Any, Any]:
    batch = GroupBatch(Budget(1))
    batch.batches.update({str(name): batch for name in range(number)})  # type: ignore[misc]
    return batch.batches, lambda: next(batch.flush_steps("none"))


def classes_of_a_codec(number: int) -> tuple[Any, Any]:
    registry: Registry[Any] = Registry()
    registry.update({str(name): Plugin for name in range(number)})
    return registry, lambda: _choose_codec("plugin", registry, None)


@pytest.mark.parametrize("made", [held_names, batches_of_a_group, classes_of_a_codec])
def test_what_the_collector_changes_amid_a_look(made: Any) -> None:
    table, look = made(1000)
    before, numbers = gc.get_threshold(), itertools.count()
    gc.collect()
    gc.set_threshold(50)
    try:
        for _ in range(20):
            Cycle(lambda: table.setdefault(f"late {next(numbers)}", table["1"]))
            look()
    finally:
        gc.set_threshold(*before)


def test_setdefault_replaces_nothing_that_another_thread_has_made(hurried: None) -> None:
    for _ in range(rounds(40, 400)):
        group = zarr.create_group(MemoryStore())
        run_together([lambda i=i, g=group: g.setdefault("x", [0] * 4).__setitem__(i, 1) for i in range(4)])  # type: ignore[misc]
        assert group["x"][:].tolist() == [1, 1, 1, 1]


def test_what_a_transaction_removes_never_shows_what_is_stored(hurried: None) -> None:
    store = MemoryStore()
    for key in ("a/x", "b/x"):
        store.set_sync(key, Buffer.from_bytes(b"old"))
    new = Buffer.from_bytes(b"new")
    for _ in range(rounds(150, 3000)):
        inside = zarr.transaction(store)
        inside.set_sync("a/x", new)
        inside.delete_dir_sync("b/below")
        inside.delete_dir_sync("b")
        ended = threading.Event()

        def change(inside: Any = inside, ended: Any = ended) -> None:
            inside.delete_dir_sync("a")
            for _ in range(20):
                inside.set_sync("a/x", new)
                inside.delete_dir_sync("a")
            inside.delete_dir_sync("")
            ended.set()

        def look(inside: Any = inside, ended: Any = ended) -> None:
            while not ended.is_set():
                value = inside.get_sync("a/x")
                assert value is None or value.to_bytes() == b"new"
                assert inside.get_sync("b/x") is None
                assert inside.exists_sync("b/x") is False

        run_together([change, look, look])
