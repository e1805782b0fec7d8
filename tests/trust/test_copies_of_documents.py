"""Consolidated copies while several threads change the same node: they keep every update that the node has."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import obstore.store
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.storage import LocalStore, MemoryStore, ObjectStore, SQLiteStore

STORES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda path: MemoryStore(),
    "local": LocalStore,
    "sqlite": lambda path: SQLiteStore(path / "a.sqlite"),
    "object": lambda path: ObjectStore(obstore.store.MemoryStore()),
}


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_updates_by_threads_are_all_in_the_copy(kind: str, zarr_format: Any, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    zarr.create_group(store, zarr_format=zarr_format).create_array("x", shape=(4,), chunks=(2,), dtype="i4")
    zarr.consolidate_metadata(store)
    arrays: list[Any] = [zarr.open_array(store, path="x") for _ in range(4)]

    def work(number: int) -> None:
        for turn in range(15):
            arrays[number].update_attributes({f"{number}-{turn}": turn})
            arrays[number].append([turn])

    for _ in range(3):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        node, copied = zarr.open_array(store, path="x"), zarr.open_group(store, use_consolidated=True)["x"]
        assert len(node.attrs) == 60
        assert dict(copied.attrs) == dict(node.attrs)
        assert copied.shape == node.shape
    store.close()


def true_copy(store: Any) -> None:
    """Hold what the copy lists against the nodes themselves."""
    nodes = {path: dict(node.attrs) for path, node in zarr.open_group(store, use_consolidated=False).members(None)}
    copied = {path: dict(node.attrs) for path, node in zarr.open_group(store, use_consolidated=True).members(None)}
    assert copied == nodes


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_nodes_that_come_and_go_are_in_the_copy_as_they_are(kind: str, zarr_format: Any, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    zarr.create_group(store, zarr_format=zarr_format)
    zarr.consolidate_metadata(store)
    others = zarr.errors.BaseZarrError, KeyError, FileNotFoundError

    def work(number: int) -> None:
        group = zarr.open_group(store, mode="r+")
        for turn in range(12):
            path = "abc"[(turn + number) % 3]
            with contextlib.suppress(*others):
                match (turn * 7 + number) % 4:
                    case 0:
                        del group[path]
                    case 1:
                        group.create_group(path, attributes={"by": [number, turn]}, overwrite=True)
                    case 2:
                        group.create_array(path, shape=2, dtype="i4", attributes={"by": [number, turn]}, overwrite=True)
                    case 3:
                        group.create_group(path).attrs["by"] = [number, turn]

    for _ in range(rounds(3, 30)):
        run_together([lambda number=number: work(number) for number in range(4)])
        true_copy(store)
    store.close()


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_nodes_that_are_made_while_a_copy_is_made_are_in_it(zarr_format: Any) -> None:
    for _ in range(rounds(6, 60)):
        make_nodes_and_a_copy(zarr_format)


def make_nodes_and_a_copy(zarr_format: Any) -> None:
    store = MemoryStore()
    group = zarr.create_group(store, zarr_format=zarr_format)
    for number in range(20):
        group.create_group(f"before-{number}")
    made = [lambda number=number: group.create_group(f"g{number}").attrs.put({"k": 1}) for number in range(6)]
    run_together([*made, lambda: zarr.consolidate_metadata(store)])
    true_copy(store)


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
def test_what_changes_between_the_reading_and_the_storing_of_a_copy_is_in_it() -> None:
    class Store(MemoryStore):
        meanwhile: Any = None

        def set_sync(self, key: str, value: Any) -> None:
            if key == "zarr.json" and self.meanwhile is not None:
                meanwhile, self.meanwhile = self.meanwhile, None
                run_together([meanwhile])
            super().set_sync(key, value)

    store = Store()
    group = zarr.create_group(store).create_group("a", attributes={"k": 1})
    store.meanwhile = lambda: group.create_group("b")
    zarr.consolidate_metadata(store)
    true_copy(store)
