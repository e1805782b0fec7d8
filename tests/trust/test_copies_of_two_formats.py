"""Consolidated copies where nodes of both formats come and go: they are what a fresh consolidation would store."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.buffer.core import default_buffer_prototype
from zarr.groups.members import remove_copy_steps
from zarr.metadata.group import GroupMetadata
from zarr.runners.choose import runner_for
from zarr.storage import MemoryStore
from zarr.storage.path import StorePath

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")

PATHS = ["a", "b", "a/x", "a/y", "b/x", "a/x/d"]
FORMATS: tuple[Any, ...] = (2, 3)


def copies(store: Any) -> dict[int, Any]:
    """Return what the copies of the root list, by format."""
    found: dict[int, Any] = {}
    for zarr_format, key in ((2, ".zmetadata"), (3, "zarr.json")):
        raw = store.get_sync(key)
        document = {} if raw is None else json.loads(raw.to_bytes())
        if zarr_format == 3:
            document = document.get("consolidated_metadata", {})
        if "metadata" in document:
            found[zarr_format] = document["metadata"]
    return found


def true_copies(store: Any) -> None:
    """Hold the copies against fresh ones."""
    fresh = MemoryStore()
    for key in store.list_sync():
        fresh.set_sync(key, default_buffer_prototype().buffer.from_bytes(store.get_sync(key).to_bytes()))
    stored = copies(store)
    for zarr_format in stored:
        zarr.consolidate_metadata(fresh, zarr_format=zarr_format)  # type: ignore[arg-type]
    assert stored == copies(fresh)


def consolidated(*formats: Any) -> MemoryStore:
    store = MemoryStore()
    for zarr_format in formats:
        zarr.create_group(store, zarr_format=zarr_format)
        zarr.consolidate_metadata(store, zarr_format=zarr_format)
    return store


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_node_of_the_other_format_takes_the_place_of_a_listed_one(zarr_format: Any) -> None:
    store = consolidated(zarr_format)
    zarr.create_array(store, name="a/x", shape=2, dtype="i4", zarr_format=zarr_format)
    true_copies(store)
    zarr.create_group(store, path="a", zarr_format=5 - zarr_format, overwrite=True)
    true_copies(store)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_node_in_both_formats_is_moved(zarr_format: Any) -> None:
    store = consolidated(2, 3)
    zarr.create_array(store, name="a", shape=2, dtype="i4", zarr_format=2)
    zarr.create_array(store, name="a/x", shape=2, dtype="i4", zarr_format=3)
    zarr.open_group(store, zarr_format=zarr_format, mode="r+").move("a", "c/d")
    true_copies(store)
    assert set(copies(store)[3]) == {"c", "c/d", "c/d/x"}
    assert set(copies(store)[2]) >= {"c/.zgroup", "c/d/.zarray"}


def test_nothing_is_moved_onto_a_node_of_the_other_format() -> None:
    store = consolidated(2, 3)
    zarr.create_array(store, name="a", shape=2, dtype="i4", zarr_format=2)
    zarr.create_array(store, name="b", shape=2, dtype="i4", zarr_format=3)
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.open_group(store, zarr_format=3, mode="r+").move("b", "a")
    true_copies(store)


def test_a_hierarchy_replaces_a_group_with_an_implicit_one_below() -> None:
    store = consolidated(3)
    zarr.create_group(store, path="a/x/d")
    made = dict(
        zarr.create_hierarchy(store=store, nodes={"a": GroupMetadata(), "a/x/d": GroupMetadata()}, overwrite=True)
    )
    assert set(made) == {"a", "a/x", "a/x/d"}
    true_copies(store)


class Unreadable:
    shape, ndim, size, dtype = (2,), 1, 2, np.dtype("i4")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no data")

    __getitem__ = __array__


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_creation_that_fails_within_a_transaction(zarr_format: Any) -> None:
    store = consolidated(zarr_format)
    zarr.create_array(store, name="a", shape=2, dtype="i4", zarr_format=zarr_format)
    with zarr.transaction(store) as tx:
        for path in ("a", "b/c"):
            with pytest.raises(RuntimeError, match="no data"):
                zarr.create_array(tx, name=path, data=Unreadable(), zarr_format=zarr_format, overwrite=True)  # type: ignore[arg-type]
    true_copies(store)


def test_an_edit_that_fails_within_a_transaction_is_made_later(monkeypatch: pytest.MonkeyPatch) -> None:
    store = consolidated(3)
    with zarr.transaction(store) as tx:
        group = tx.group()
        group.create_group("a")
        with monkeypatch.context() as broken:
            broken.setattr("zarr.steps.consolidated.find_copy", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                list(group)
        assert list(group) == ["a"]
        group.create_group("b")
    true_copies(store)
    assert list(copies(store)[3]) == ["a", "b"]


def step(chance: random.Random) -> Callable[[Any], Any]:
    """Return a change of one node, in one format."""
    zarr_format, path, other = chance.choice(FORMATS), chance.choice(PATHS), chance.choice(PATHS)
    kept: dict[str, Any] = {"zarr_format": zarr_format, "attributes": {"n": chance.random()}}
    kept["overwrite"] = chance.random() < 0.6
    match chance.randrange(7):
        case 0 | 1:
            return lambda store: zarr.create_array(store, name=path, shape=2, dtype="i4", **kept)
        case 2 | 3:
            return lambda store: zarr.create_group(store, path=path, **kept)
        case 4:
            return lambda store: zarr.open_group(store, mode="r+", zarr_format=zarr_format).__delitem__(path)
        case 5:
            return lambda store: zarr.open_group(store, mode="r+", zarr_format=zarr_format).move(path, other)
    return lambda store: zarr.open(store, path=path, mode="r+", zarr_format=zarr_format).attrs.put({"n": 1})


REFUSED = zarr.errors.BaseZarrError, KeyError, FileNotFoundError, ValueError


@pytest.mark.parametrize("formats", [(2,), (3,), (2, 3)])
@pytest.mark.parametrize("together", [1, 4], ids=["apart", "transactions"])
def test_random_changes(formats: tuple[Any, ...], together: int) -> None:
    for seed in range(rounds(25, 1000)):
        chance = random.Random(seed)
        store = consolidated(*formats)
        for _ in range(10):
            with zarr.transaction(store) if together > 1 else contextlib.nullcontext(store) as changed:
                for _ in range(together):
                    with contextlib.suppress(*REFUSED):
                        step(chance)(changed)
            true_copies(store)


def test_copies_that_are_removed_and_groups_that_are_replaced_meanwhile() -> None:
    def work(store: Any, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(15):
            with contextlib.suppress(*REFUSED):
                match chance.randrange(5):
                    case 0:
                        zarr.consolidate_metadata(store)
                    case 1:
                        runner_for(store).run(remove_copy_steps(StorePath(store)))
                    case 2:
                        zarr.create_group(store, zarr_format=chance.choice(FORMATS), overwrite=True)
                    case _:
                        step(chance)(store)

    for seed in range(rounds(6, 100)):
        store = consolidated(*FORMATS)
        run_together([partial(work, store, 10 * seed + number) for number in range(4)])
        true_copies(store)
