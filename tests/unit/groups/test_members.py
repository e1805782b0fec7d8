"""Finding the members of a group."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import zarr
from zarr.abc.store import Store
from zarr.buffer import default_buffer_prototype
from zarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    NodeTypeValidationError,
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


def damaged(damage: bytes, copied: bool) -> zarr.Group:
    """A group with a member whose document is damaged, or that of its copy in the group's own document."""
    root = zarr.group(MemoryStore())
    root.create_array("good", shape=(4,), dtype="int8")
    if copied:
        copy = {"kind": "inline", "must_understand": False, "metadata": {"bad": json.loads(damage)}}
        document = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": copy}
        put(root.store, "zarr.json", json.dumps(document).encode())
    else:
        put(root.store, "bad/zarr.json", damage)
    return zarr.open_group(root.store, mode="r+")


LISTINGS: list[Callable[[zarr.Group], Any]] = [
    lambda group: group.members(),
    lambda group: group.nmembers(),
    len,
    lambda group: list(group.keys()),
    list,
    lambda group: list(group.arrays()),
    lambda group: list(group.array_keys()),
    lambda group: list(group.array_values()),
    lambda group: list(group.groups()),
    lambda group: list(group.group_keys()),
    lambda group: group.tree(),
    lambda group: group.info_complete(),
    lambda group: "bad" in group,
    lambda group: group["bad"],
    lambda group: group.get("bad"),
]


@pytest.mark.parametrize("listing", LISTINGS, ids=[str(number) for number in range(len(LISTINGS))])
@pytest.mark.parametrize(
    ("damage", "copied", "error"),
    [
        (b"{", False, json.JSONDecodeError),
        (b"[]", False, TypeError),
        (b"[]", True, TypeError),
        (b'{"a": "\xff"}', False, UnicodeDecodeError),
        (b'{"zarr_format": 3, "node_type": "thing"}', False, NodeTypeValidationError),
        (b'{"zarr_format": 3, "node_type": "thing"}', True, ValueError),
    ],
)
def test_all_agree_about_a_member_that_cannot_be_read(
    listing: Callable[[zarr.Group], Any], damage: bytes, copied: bool, error: type[Exception]
) -> None:
    group = damaged(damage, copied)
    for _ in range(2):
        with pytest.raises(error):
            listing(group)
    if not copied:
        assert group["good"].shape == (4,)
        del group["bad"]
        assert list(group) == ["good"]


@pytest.mark.parametrize("copied", [False, True])
def test_a_document_that_lacks_members_makes_no_node_and_is_told(copied: bool) -> None:
    group = damaged(b'{"zarr_format": 3, "node_type": "array"}', copied)
    absent: list[tuple[Callable[[], Any], Any]] = [
        (lambda: list(group), [] if copied else ["good"]),
        (lambda: len(group), 0 if copied else 1),
        (lambda: "bad" in group, False),
        (lambda: group.get("bad"), None),
    ]
    for call, expected in absent:
        with pytest.warns(ZarrUserWarning, match="bad cannot be read.*missing"):
            assert call() == expected
    with pytest.raises(KeyError, match="missing"):
        group["bad"]


def test_a_damaged_member_of_a_copy_is_an_error_where_it_is_listed() -> None:
    store = MemoryStore()
    root = zarr.group(store)
    root.create_array("a/b/x", shape=(4,), dtype="int8")
    root.create_array("a/y", shape=(4,), dtype="int8")
    zarr.consolidate_metadata(store)
    document = json.loads(store._store_dict["zarr.json"].to_bytes())
    document["consolidated_metadata"]["metadata"]["a/b/x"]["data_type"] = "int9"
    put(store, "zarr.json", json.dumps(document).encode())
    group = zarr.open_group(store)
    assert list(group) == ["a"]
    assert list(group["a"]) == ["b", "y"]
    for call in (lambda: group.members(None), lambda: group["a"].members(None), lambda: list(group["a/b"])):
        with pytest.raises(ValueError, match="int9"):
            call()
    for there in (lambda: "a/b/x" in group, lambda: "b/x" in group["a"], lambda: group["a/b/x"]):
        with pytest.raises(ValueError, match="int9"):
            there()


def test_listing_many_arrays_reads_one_document_each() -> None:
    root = zarr.group(MemoryStore())
    for i in range(50):
        root.create_array(f"a{i:02}", shape=(4,), dtype="int8")
    store = CountingStore(root.store._store_dict)
    group = zarr.Group(zarr.AsyncGroup(root.metadata, zarr.storage.StorePath(store)))
    assert len(group) == 50
    assert store.listed == [""]
    assert sorted(store.read) == [f"a{i:02}/zarr.json" for i in range(50)]
