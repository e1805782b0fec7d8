"""Open groups know for which version of consolidated metadata they have a copy, and read it anew if that is unknown."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

import zarr
from zarr.groups.members import members_steps
from zarr.runners.choose import runner_for
from zarr.storage import LocalStore, LoggingStore, MemoryStore

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")


def consolidated(store: Any) -> zarr.Group:
    zarr.create_group(store).create_group("a").create_group("x")
    return zarr.consolidate_metadata(store)


def test_a_pickle_that_is_older_than_the_copy(tmp_path: Any) -> None:
    group = consolidated(LocalStore(tmp_path))
    pickles = pickle.dumps(group), pickle.dumps(group["a"])
    group.create_group("a/y")
    group.create_group("b")
    top, below = map(pickle.loads, pickles)
    assert set(top) == {"a", "b"}
    assert set(below) == {"x", "y"}


def test_a_record_that_is_older_than_the_copy() -> None:
    group = consolidated(MemoryStore())
    (record,) = runner_for(group.store).run(members_steps(group._handle))
    group.create_group("a/y")
    assert set(zarr.Group.from_handle(record.handle())) == {"x", "y"}


def test_metadata_that_another_thread_has_set_in_between() -> None:
    group = consolidated(MemoryStore())
    handle, old = group._handle, group._handle.metadata
    group.create_group("b")
    assert set(group) == {"a", "b"}
    handle.metadata = dataclasses.replace(old, attributes={"k": 1})  # made of older metadata, and set after ``read``
    assert set(group) == {"a", "b"}


def test_nothing_is_read_again_without_a_change() -> None:
    log = LoggingStore(MemoryStore())
    consolidated(log)
    group = zarr.open_group(log)
    reads = log.counter["get"] + log.counter["get_sync"]
    for _, below in group.members():
        assert list(below) == ["x"]  # type: ignore[arg-type]
    assert list(group["a/x"]) == []  # type: ignore[arg-type]
    group.attrs["k"] = 1
    after = log.counter["get"] + log.counter["get_sync"]
    assert list(group["a"]) == ["x"]  # type: ignore[arg-type]
    assert log.counter["get"] + log.counter["get_sync"] == after
    assert after <= reads + 3


def test_a_group_with_a_copy_below_one_without_is_read_once() -> None:
    log = LoggingStore(MemoryStore())
    zarr.create_group(log).create_group("a").create_group("x")
    zarr.consolidate_metadata(log, path="a")
    below: Any = zarr.open_group(log)["a"]
    reads = log.counter["get"] + log.counter["get_sync"]
    assert list(below) == ["x"]
    assert log.counter["get"] + log.counter["get_sync"] == reads
