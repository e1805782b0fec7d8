"""What stores of others are asked to change, and in which order: as zarr-python asks, but for a few listed programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.compat import order_of_requests as programs
from tests.compat.peers import run_peer
from zarr.abc.store import takes_contents_first
from zarr.storage import LocalStore, LoggingStore, MemoryStore, WrapperStore

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "order_of_requests.json").read_text())
PAGE = (Path(__file__).parents[2] / "docs" / "design" / "order_of_requests.md").read_text()
OLD = np.arange(1, 11, dtype="i4")


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_the_order_is_that_of_zarr_python_or_listed(name: str) -> None:
    entry = RECORDED[name]
    assert programs.transcript(name) == entry.get("here", entry["zarr-python"])
    if "here" in entry:
        assert entry["because"] in PAGE
        assert entry["here"] != entry["zarr-python"]


def of_peer(name: str, found: list[str]) -> bool:
    """Whether requests of zarr-python are those that were recorded."""
    entry = RECORDED[name]
    if "parents first" in entry.get("because", ""):  # sent at a time there, and noted in any order
        return sorted(found) == sorted(entry["zarr-python"])
    return bool(found == entry["zarr-python"])


def test_the_recorded_order_is_that_of_zarr_python() -> None:
    other = dict.fromkeys(RECORDED, "not run")
    for _ in range(3):  # on a machine at its limit a program of the peer may end before all is noted
        found = run_peer(Path(programs.__file__))
        assert found.keys() == RECORDED.keys()
        other = {name: found[name] for name in other if not of_peer(name, found[name])}
        if not other:
            break
    assert not other


def test_which_stores_take_contents_first(tmp_path: Path) -> None:
    foreign = programs.NotingStore()
    assert takes_contents_first(LocalStore(tmp_path))
    assert takes_contents_first(LoggingStore(MemoryStore()))
    assert not takes_contents_first(foreign)
    assert not takes_contents_first(LoggingStore(WrapperStore(foreign)))


def a_store_of_others() -> Any:
    return programs.NotingStore()


class NotingMemory(MemoryStore):
    """A store of this library; notes what it is asked to change, and refuses one key."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[str, str]] = []
        self.refused = ""

    def _note(self, verb: str, key: str) -> None:
        self.requests.append((verb, key))
        if key == self.refused:
            raise KeyError(f"no {verb} of {key}")

    def set_sync(self, key: str, value: Any) -> None:
        self._note("set", key)
        super().set_sync(key, value)

    def delete_sync(self, key: str) -> None:
        self._note("delete", key)
        super().delete_sync(key)


STORES = pytest.mark.parametrize("make", [a_store_of_others, NotingMemory])


@STORES
@pytest.mark.parametrize("ndim", [1, 2])
def test_growth_asks_for_no_new_chunk(make: Callable[[], Any], ndim: int) -> None:
    store = make()
    array = zarr.create_array(store, name="x", shape=(6,) * ndim, chunks=(2,) * ndim, dtype="i4")
    array[...] = 1
    store.requests.clear()
    array.resize((600,) * ndim)
    assert store.requests == [("set", "x/zarr.json")]


@STORES
@pytest.mark.parametrize("small", [0, 3, 4, 5, 8])
def test_what_was_cut_off_does_not_come_back(make: Callable[[], Any], small: int) -> None:
    array = zarr.create_array(make(), name="x", data=OLD, chunks=(4,))
    array.resize((small,))
    array.resize((10,))
    np.testing.assert_array_equal(array[:], np.where(np.arange(10) < small, OLD, 0))


@STORES
@pytest.mark.parametrize("refused", ["x/c/0", "x/c/1", "x/c/2", "x/c/3", "x/zarr.json", "zarr.json"])
@pytest.mark.parametrize("change", ["append", "shrink", "grow", "attributes"])
@pytest.mark.parametrize("consolidated", [False, True])
def test_a_change_that_failed_leaves_the_handle_as_the_store_is(
    make: Callable[[], Any], refused: str, change: str, consolidated: bool
) -> None:
    store = make()
    array = zarr.create_array(store, name="x", data=OLD, chunks=(3,))
    if consolidated:
        zarr.consolidate_metadata(store)
    acts: dict[str, Callable[[], object]] = {
        "append": lambda: array.append(OLD[:5]),
        "shrink": lambda: array.resize((2,)),
        "grow": lambda: array.resize((20,)),
        "attributes": lambda: array.attrs.update({"a": 1}),
    }
    store.refused = refused
    try:
        acts[change]()
    except KeyError:
        pass
    store.refused = ""
    stored = zarr.open_array(store, path="x")
    assert array.shape == stored.shape
    assert dict(array.attrs) == dict(stored.attrs)
    np.testing.assert_array_equal(array[:], stored[:])
    if consolidated and refused != "zarr.json":
        listed = zarr.open_consolidated(store)["x"]
        assert listed.shape == stored.shape


def test_format_2_documents_written_by_half_are_taken_up() -> None:
    store = a_store_of_others()
    array = zarr.create_array(store, name="x", data=OLD, chunks=(3,), zarr_format=2)
    store.refused = "x/.zattrs"
    with pytest.raises(KeyError):
        array.resize((30,))
    assert array.shape == zarr.open_array(store, path="x").shape


def test_transactions_put_documents_before_their_chunks() -> None:
    store = a_store_of_others()
    zarr.create_array(store, name="x", data=OLD, chunks=(3,))
    store.requests.clear()
    with zarr.transaction(store) as changes:
        changes.group()["x"].append(OLD)
        changes.group().create_array("y", data=OLD, chunks=(5,))
    order = [key for _, key in store.requests]
    assert order.index("x/zarr.json") < order.index("x/c/4")
    assert order.index("y/zarr.json") < order.index("y/c/0")
    store.requests.clear()
    with zarr.transaction(store) as changes:
        changes.group()["x"].resize((3,))
    order = [key for _, key in store.requests]
    assert order.index("x/c/4") < order.index("x/zarr.json")


@STORES
def test_nodes_move_and_are_copied_in_the_order_of_the_store(make: Callable[[], Any]) -> None:
    store = make()
    root = zarr.create_group(store)
    root.create_array("g/x", data=OLD, chunks=(3,))
    early = takes_contents_first(store)
    store.requests.clear()
    root.move("g", "h")
    order = [key for verb, key in store.requests if verb == "set"]
    assert (order.index("h/x/c/0") < order.index("h/zarr.json")) is early
    np.testing.assert_array_equal(root["h/x"][:], OLD)
    source = MemoryStore()
    zarr.create_array(source, name="x", data=OLD, chunks=(3,))
    store.requests.clear()
    zarr.copy_store(source, store, dest_path="k")
    order = [key for verb, key in store.requests if verb == "set"]
    assert (order.index("k/x/c/0") < order.index("k/x/zarr.json")) is early
    np.testing.assert_array_equal(root["k/x"][:], OLD)
