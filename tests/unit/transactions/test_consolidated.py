"""Consolidated metadata in transactions: one edit for many changes, and never an old copy for a reader inside."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import zarr
from tests.trust.together import run_together
from zarr import transactions
from zarr.errors import ReadOnlyError, TransactionConflictError
from zarr.metadata.copies import CopyText
from zarr.steps.consolidated import NotedNodes
from zarr.storage import LocalStore, LoggingStore, MemoryStore, SQLiteStore
from zarr.storage.wrappers import overlay

NODE: dict[str, Any] = {"shape": (2,), "chunks": (2,), "dtype": "i4"}


def make_store(kind: str, folder: Path) -> Any:
    if kind == "memory":
        return MemoryStore()
    return LocalStore(folder / "x.zarr") if kind == "local" else SQLiteStore(folder / "x.sqlite")


def consolidated(store: Any, zarr_format: Any = 3) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(store, zarr_format=zarr_format)


def listed(store: Any, use_consolidated: bool) -> dict[str, Any]:
    """Return all nodes below the root, by the copy or by a listing."""
    root = zarr.open_group(store, mode="r", use_consolidated=use_consolidated)
    return {
        name: (type(node).__name__, node.attrs.asdict(), getattr(node, "shape", None))
        for name, node in root.members(max_depth=None)
    }


@pytest.fixture
def edits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many members each edit changed."""
    found: list[int] = []
    original = CopyText.edited

    def edited(self: CopyText, changes: Any) -> CopyText:
        found.append(len(changes))
        return original(self, changes)

    monkeypatch.setattr(CopyText, "edited", edited)
    return found


def test_many_changes_are_one_edit(edits: list[int]) -> None:
    store = MemoryStore()
    zarr.create_group(store).create_group("g")
    consolidated(store)
    with zarr.transaction(store) as tx:
        root = tx.group(use_consolidated=False)
        for number in range(20):
            root.create_array(f"g/x{number}", **NODE).attrs["n"] = number
        assert edits == []
    assert edits == [20]
    assert listed(store, True) == listed(store, False)
    assert len(listed(store, True)) == 21


@pytest.mark.parametrize("wrap", [False, True])
def test_a_reader_inside_sees_the_changes(wrap: bool) -> None:
    store = MemoryStore()
    zarr.create_group(store)
    consolidated(store)
    with zarr.transaction(store) as tx:
        place: Any = LoggingStore(tx, log_level="ERROR") if wrap else tx
        before = zarr.open_group(place, mode="r+")
        zarr.create_array(tx, name="a/x", **NODE)
        assert before["a/x"].shape == (2,)
        zarr.create_array(tx, name="a/y", **NODE)
        assert sorted(before["a"].array_keys()) == ["x", "y"]
        del before["a/x"]
        assert sorted(listed(place, True)) == sorted(listed(place, False)) == ["a", "a/y"]
        assert zarr.open(place, mode="r").metadata.consolidated_metadata.flattened_metadata.keys() == {"a", "a/y"}
    assert sorted(listed(store, True)) == ["a", "a/y"]


def test_a_large_document_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many nodes made in a group with consolidated metadata cost what they cost in a small group."""
    monkeypatch.setattr(overlay, "_LARGE_BYTES", 100)

    class Counting(MemoryStore):
        read = 0

        def get_sync(self, key: str, **options: Any) -> Any:
            self.read += key == "zarr.json"
            return super().get_sync(key, **options)

    store = Counting()
    zarr.open_group(store, mode="w").create_array("first", **NODE)
    consolidated(store)

    def reads(count: int, name: str) -> int:
        before = store.read
        with zarr.transaction(store) as tx:
            group = zarr.open_group(tx, mode="r+")
            for number in range(count):
                group.create_array(f"{name}{number}", **NODE)
        return store.read - before

    assert reads(20, "a") == reads(1, "b") == reads(20, "c")
    assert listed(store, True).keys() == listed(store, False).keys()


def test_a_large_document_that_changes_meanwhile_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay, "_LARGE_BYTES", 100)
    store = MemoryStore()
    zarr.open_group(store, mode="w").create_array("first", **NODE)
    consolidated(store)
    with pytest.raises(TransactionConflictError, match=r"zarr\.json"), zarr.transaction(store) as tx:
        group = zarr.open_group(tx, mode="r+")
        group.create_array("a", **NODE)
        zarr.open_group(store, mode="r+").create_array("b", **NODE)
        group.create_array("c", **NODE)
    assert listed(store, True).keys() == listed(store, False).keys() == {"first", "b"}


def test_a_rollback_leaves_the_copy() -> None:
    store = MemoryStore()
    zarr.create_group(store)
    consolidated(store)
    with pytest.raises(RuntimeError), zarr.transaction(store) as tx:
        zarr.create_array(tx, name="a/x", **NODE)
        raise RuntimeError
    assert listed(store, True) == listed(store, False) == {}


def change(root: Any, names: list[str], rng: random.Random) -> None:
    """Make one random change below a group."""
    name = rng.choice(names)
    match rng.randrange(5):
        case 0:
            root.create_array(name, overwrite=True, **NODE)
        case 1:
            root.create_group(name, overwrite=rng.random() < 0.5)
        case 2:
            del root[name]
        case 3:
            root[name].attrs["n"] = rng.randrange(100)
        case 4:
            sorted(root.members(max_depth=None), key=lambda each: str(each[0]))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", ["memory", "local", "sqlite"])
def test_random_changes_leave_the_copy_of_a_listing(kind: str, zarr_format: Any, tmp_path: Path) -> None:
    store, rng = make_store(kind, tmp_path), random.Random(7)
    zarr.create_group(store, zarr_format=zarr_format)
    consolidated(store, zarr_format)
    names = ["a", "b", "a/x", "a/y", "b/x", "a/x/z"]
    for _ in range(12):
        with zarr.transaction(store) as tx:
            root = zarr.open_group(tx, mode="r+", zarr_format=zarr_format)
            for _ in range(rng.randrange(1, 12)):
                try:
                    change(root, names, rng)
                except (KeyError, ValueError, zarr.errors.ContainsGroupError):
                    continue  # it is not there, or a parent is an array
        assert listed(store, True) == listed(store, False)


@pytest.fixture
def many_switches() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("many_switches")
def test_no_noted_change_is_lost_among_threads() -> None:
    noted, count, threads = NotedNodes(list), 500, 8
    taken: list[dict[str, Any]] = []

    def note(number: int) -> None:
        for i in range(count):
            noted.add({f"{number}/{i}": {"zarr.json"}, "all": {f"{number}.{i}"}})
            taken.append(noted.taken())

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(note, range(threads)))
    found = {(path, name) for nodes in taken for path, (names, _) in nodes.items() for name in names}
    assert len(found) == 2 * count * threads


@pytest.mark.usefixtures("many_switches")
@pytest.mark.parametrize("kind", ["memory", "local"])
def test_each_thread_finds_what_it_created(kind: str, tmp_path: Path) -> None:
    store, threads = make_store(kind, tmp_path), 6
    zarr.create_group(store)
    consolidated(store)
    with zarr.transaction(store) as tx, ThreadPoolExecutor(threads) as pool:

        def create(number: int) -> None:
            for i in range(6):
                name = f"{number}/{i}"
                zarr.open_group(tx, mode="r+").create_array(name, **NODE)
                assert zarr.open_group(tx, mode="r", use_consolidated=True)[name].shape == (2,)

        list(pool.map(create, range(threads)))
        assert len(listed(tx, True)) == threads * 7
    assert listed(store, True) == listed(store, False)


def test_a_node_that_another_thread_creates_at_the_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consolidated metadata is changed before all is stored: it would lack the node."""
    store = MemoryStore()
    zarr.create_group(store)
    consolidated(store)
    settle, refused = transactions.settle, []

    def create() -> None:
        with pytest.raises(ReadOnlyError):
            zarr.create_array(tx, name="late", **NODE)
        refused.append(True)

    def settle_and_let_create(changed: Any) -> None:
        settle(changed)
        run_together([create])

    with zarr.transaction(store) as tx:
        zarr.create_array(tx, name="a", **NODE)
        monkeypatch.setattr(transactions, "settle", settle_and_let_create)
    assert refused
    assert listed(store, True) == listed(store, False)
