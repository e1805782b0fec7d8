"""Finding the members of a group."""

from __future__ import annotations

import pytest

import zarr
from zarr.abc.store import Store
from zarr.buffer import default_buffer_prototype
from zarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    ZarrUserWarning,
)
from zarr.storage import MemoryStore

from .counting import CountingStore


@pytest.fixture
def filled(root: zarr.Group) -> zarr.Group:
    root.create_array("x", shape=(4,), dtype="int8")
    root.create_array("a/b/y", shape=(2, 3), dtype="float32")
    root.create_group("a/empty")
    return root


def put(store: Store, key: str, data: bytes) -> None:
    zarr.core.sync.sync(store.set(key, default_buffer_prototype().buffer.from_bytes(data)))


def test_members_are_listed_level_by_level_and_by_name(filled: zarr.Group) -> None:
    assert [name for name, _ in filled.members()] == ["a", "x"]
    assert [name for name, _ in filled.members(max_depth=1)] == ["a", "a/b", "a/empty", "x"]
    assert [name for name, _ in filled.members(max_depth=None)] == ["a", "a/b", "a/b/y", "a/empty", "x"]
    with pytest.raises(ValueError, match="max_depth"):
        filled.members(max_depth=-1)


def test_members_know_who_they_are(filled: zarr.Group) -> None:
    members = dict(filled.members(max_depth=None))
    assert isinstance(members["a/b"], zarr.Group)
    assert members["a/b"].path == "a/b"
    assert members["a/b/y"].shape == (2, 3)
    assert members["a/b/y"].name == "/a/b/y"
    assert members["a/b/y"].basename == "y"


def test_kinds_are_told_apart(filled: zarr.Group) -> None:
    assert list(filled) == list(filled.keys()) == ["a", "x"]
    assert list(filled.group_keys()) == [name for name, _ in filled.groups()] == ["a"]
    assert list(filled.array_keys()) == [name for name, _ in filled.arrays()] == ["x"]
    assert [group.path for group in filled.group_values()] == ["a"]
    assert [array.path for array in filled.array_values()] == ["x"]
    assert len(filled) == filled.nmembers() == 2
    assert filled.nmembers(max_depth=None) == 5


def test_look_up_by_path(filled: zarr.Group) -> None:
    assert filled["a/b/y"].shape == filled["a"]["b"]["y"].shape == filled["/a/b/y"].shape
    assert filled[""] == filled
    assert "a/b" in filled
    assert "a/c" not in filled
    assert filled.get("a/c", "nothing") == "nothing"
    with pytest.raises(KeyError, match="a/c"):
        filled["a/c"]
    with pytest.raises(ValueError, match=r"\.\."):
        filled[".."]


def test_look_up_by_kind(filled: zarr.Group) -> None:
    assert filled.get_array("a/b/y").shape == (2, 3)
    assert filled.get_group("a/b").path == "a/b"
    with pytest.raises(ArrayNotFoundError, match="nothing"):
        filled.get_array("nothing")
    with pytest.raises(GroupNotFoundError, match="nothing"):
        filled.get_group("nothing")
    with pytest.raises(ContainsGroupError):
        filled.get_array("a")
    with pytest.raises(ContainsArrayError):
        filled.get_group("x")


def test_what_is_no_node_is_left_out_with_one_notice(filled: zarr.Group) -> None:
    put(filled.store, "stray/readme.txt", b"hello")
    with pytest.warns(ZarrUserWarning, match="stray") as notices:
        assert [*filled.keys()] == ["a", "x"]
    assert len(notices) == 1


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"zarr_format": 3, "node_type": "array"}', b"\xff"])
def test_a_member_that_cannot_be_read_hides_no_other(damage: bytes) -> None:
    root = zarr.group(MemoryStore())
    root.create_array("good", shape=(4,), dtype="int8")
    put(root.store, "bad/zarr.json", damage)
    with pytest.warns(ZarrUserWarning, match="bad.*cannot be read") as notices:
        assert [name for name, _ in root.members()] == ["good"]
    assert len(notices) == 1
    assert "bad" in root
    with pytest.raises((ValueError, KeyError, TypeError)):
        root["bad"]


def test_listing_many_arrays_reads_one_document_each() -> None:
    root = zarr.group(MemoryStore())
    for i in range(50):
        root.create_array(f"a{i:02}", shape=(4,), dtype="int8")
    store = CountingStore(root.store._store_dict)
    group = zarr.Group(zarr.AsyncGroup(root.metadata, zarr.storage.StorePath(store)))
    assert len(group) == 50
    assert store.listed == [""]
    assert sorted(store.read) == [f"a{i:02}/zarr.json" for i in range(50)]
