"""Who looks while a node is replaced finds the old one or the new, whole; what others made meanwhile stays."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import KINDS, make_store, rounds, run_together
from zarr.abc.stores.changes import Changes
from zarr.buffer.cpu import Buffer
from zarr.storage import ManagedMemoryStore, MemoryStore
from zarr.storage.local.folders import remove_replaced

ALL = [*KINDS, "managed"]


def store_of(kind: str, folder: Path) -> Any:
    return ManagedMemoryStore(path="below") if kind == "managed" else make_store(kind, folder)


@pytest.mark.parametrize("kind", ALL)
def test_a_node_that_is_replaced_is_never_absent_or_mixed(kind: str, tmp_path: Path) -> None:
    store = store_of(kind, tmp_path)
    zarr.create_group(store)
    done = threading.Event()
    wholes = []
    for size in (6, 3):
        zarr.create_array(store, name="x", data=np.full(size, size), chunks=1, overwrite=True)
        wholes.append(sorted(store.list_prefix_sync("x/")))

    def replace() -> None:
        try:
            for turn in range(rounds(30, 400)):
                size = 3 if turn % 2 else 6
                zarr.create_array(store, name="x", data=np.full(size, size), chunks=1, overwrite=True)
        finally:
            done.set()

    def look() -> None:
        while not done.is_set():
            assert len(zarr.open_array(store, path="x", mode="r").shape) == 1
            if kind != "local":  # a folder is listed name by name
                assert sorted(store.list_prefix_sync("x/")) in wholes

    run_together([replace, look, look])
    store.close()


@pytest.mark.parametrize("kind", ALL)
def test_groups_above_that_others_made_meanwhile_stay(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array is made below a group that is not there yet; before it is published, somebody makes that group."""
    store = store_of(kind, tmp_path)
    zarr.create_group(store)
    plain = type(store).stage_sync
    asked = []

    def stage_late(self: Any, path: str, **options: Any) -> Any:
        stage = plain(self, path, **options)
        if not asked:
            asked.append(path)
            publish = stage.publish

            def publish_late() -> None:
                zarr.create_group(store, path="g", attributes={"mine": 1})
                publish()

            stage.publish = publish_late
        return stage

    monkeypatch.setattr(type(store), "stage_sync", stage_late)
    zarr.create_array(store, name="g/h/x", data=np.arange(4), chunks=2)
    monkeypatch.undo()
    assert asked == ["g"]
    assert dict(zarr.open_group(store, path="g", mode="r").attrs) == {"mine": 1}
    assert zarr.open_array(store, path="g/h/x", mode="r")[:].tolist() == [0, 1, 2, 3]
    store.close()


def test_changes_of_a_memory_store_are_one_step() -> None:
    """Also for those who only ask for keys: no name is seen that has no value."""
    store = MemoryStore()
    states = [{f"a/{number}": Buffer.from_bytes(b"1") for number in range(start, start + 50)} for start in (0, 25)]
    done = threading.Event()

    def change() -> None:
        try:
            for turn in range(rounds(300, 5000)):
                store.apply_sync(Changes(["a"], states[turn % 2]))
        finally:
            done.set()

    def look() -> None:
        while not done.is_set():
            assert len(list(store.list_sync())) in (0, 50)
            assert store.get_sync("a/30") is not None or not list(store.list_sync())

    store.apply_sync(Changes(["a"], states[0]))
    run_together([change, look, look])


def test_what_was_replaced_goes_while_somebody_still_adds_to_it(tmp_path: Path) -> None:
    """Who had found the old folder before it was replaced may be about to store a document in it."""
    old, over = tmp_path / "old", threading.Event()
    (old / "a" / "c").mkdir(parents=True)

    def add() -> None:
        number = 0
        while not over.is_set():
            number += 1
            with contextlib.suppress(OSError):
                (old / "a" / f"{number}").write_text("late")

    for _ in range(20):
        (old / "a" / "c").mkdir(parents=True, exist_ok=True)
        over.clear()
        writers = [threading.Thread(target=add) for _ in range(2)]
        stop = threading.Timer(0.01, over.set)
        for thread in (*writers, stop):
            thread.start()
        try:
            remove_replaced(str(old))
            assert not old.exists()
        finally:
            over.set()
            for thread in (*writers, stop):
                thread.join()


FINDERS: dict[str, Callable[[Any], Any]] = {
    "open_group": lambda store: zarr.open_group(store, path="x", mode="a"),
    "group": lambda store: zarr.group(store, path="x"),
    "open_array": lambda store: zarr.open_array(store, path="x", mode="a", shape=(2,), dtype="i4"),
    "open": lambda store: zarr.open(store, path="x", mode="a", shape=(2,), dtype="i4"),
    "require_group": lambda store: zarr.open_group(store, mode="a").require_group("x"),
    "require_groups": lambda store: zarr.open_group(store, mode="a").require_groups("x", "y/x")[0],
    "require_array": lambda store: zarr.open_group(store, mode="a").require_array("x", shape=(2,), dtype="i4"),
    "require_dataset": lambda store: zarr.open_group(store, mode="a").require_dataset("x", shape=(2,), dtype="i4"),
}


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_who_makes_what_is_not_there_gets_what_another_made(kind: str, find: str, tmp_path: Path) -> None:
    """Mode "a" and its kind ask for a node, whoever makes it: none of several who do so at once is refused."""
    for turn in range(5):
        store = make_store(kind, tmp_path / str(turn))
        found: list[Any] = []

        def look(store: Any = store, found: list[Any] = found) -> None:
            found.append(FINDERS[find](store).path)

        run_together([look] * 4)
        assert found == ["x"] * 4
        store.close()
