"""Many nodes at once."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import zarr
from zarr.core.group import ConsolidatedMetadata, GroupMetadata, ImplicitGroupMarker
from zarr.core.sync_group import create_nodes, create_rooted_hierarchy, get_node
from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.storage import MemoryStore


@pytest.fixture
def group(zarr_format: int) -> GroupMetadata:
    return GroupMetadata(attributes={"k": 1}, zarr_format=zarr_format)  # type: ignore[arg-type]


@pytest.fixture
def array(zarr_format: int) -> Any:
    return zarr.create_array({}, shape=(3,), dtype="int8", zarr_format=zarr_format).metadata  # type: ignore[arg-type]


def test_groups_between_are_made(store: zarr.abc.store.Store, group: GroupMetadata, array: Any) -> None:
    made = dict(zarr.create_hierarchy(store=store, nodes={"a/b": group, "/a/c/": array}))
    assert list(made) == ["", "a", "a/b", "a/c"]
    assert made["a/b"].attrs.asdict() == {"k": 1}
    assert made["a"].attrs.asdict() == {}
    assert made["a/c"].shape == (3,)
    root = zarr.open_group(store, mode="r")
    assert [name for name, _ in root.members(max_depth=None)] == ["a", "a/b", "a/c"]


def test_it_is_made_although_nobody_looks(group: GroupMetadata) -> None:
    store = MemoryStore()
    zarr.create_hierarchy(store=store, nodes={"a": group})
    assert "a" in zarr.open_group(store)


def test_nothing_is_made_of_nothing() -> None:
    store = MemoryStore()
    assert dict(zarr.create_hierarchy(store=store, nodes={})) == {}
    assert store._store_dict == {}


def test_what_is_there_stays(store: zarr.abc.store.Store, group: GroupMetadata, array: Any) -> None:
    zarr.create_group(store, path="a", zarr_format=group.zarr_format).create_group("deep")
    before = {name for name, _ in zarr.open_group(store).members(max_depth=None)}
    with pytest.raises(ContainsGroupError):
        zarr.create_hierarchy(store=store, nodes={"b": group, "a": array})
    assert {name for name, _ in zarr.open_group(store).members(max_depth=None)} == before
    made = dict(zarr.create_hierarchy(store=store, nodes={"a": array}, overwrite=True))
    assert list(made) == ["a"]
    assert [name for name, _ in zarr.open_group(store).members(max_depth=None)] == ["a"]
    with pytest.raises(ContainsArrayError):
        zarr.create_hierarchy(store=store, nodes={"a/b": group})


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_group_that_must_only_be_there_stays(group: GroupMetadata, zarr_format: int, overwrite: bool) -> None:
    """Also where its marker is given: all of the hierarchy was removed for one at the root, with overwrite."""
    store = MemoryStore()
    dict(zarr.create_hierarchy(store=store, nodes={"": group, "a": group, "other": group}))
    marker = ImplicitGroupMarker(zarr_format=zarr_format)  # type: ignore[arg-type]
    nodes = {"": marker, "a": marker, "a/b": group, "new": marker}
    assert list(zarr.create_hierarchy(store=store, nodes=nodes, overwrite=overwrite)) == [
        (path, zarr.open_group(store, path=path)) for path in ("new", "a/b")
    ]
    assert dict(zarr.create_hierarchy(store=store, nodes={"a": marker, "new": marker}, overwrite=overwrite)) == {}
    root = zarr.open_group(store)
    assert [path for path, _ in root.members(max_depth=None)] == ["a", "a/b", "new", "other"]
    assert root.attrs.asdict() == root["a"].attrs.asdict() == {"k": 1}
    assert root["new"].metadata == GroupMetadata(zarr_format=zarr_format)  # type: ignore[arg-type]


def test_nothing_is_removed_for_a_node_that_cannot_be_made(group: GroupMetadata, array: Any, zarr_format: int) -> None:
    store = MemoryStore()
    zarr.create_array(store, name="a", shape=(2,), chunks=(1,), dtype="i1", zarr_format=zarr_format)[:] = 1  # type: ignore[arg-type]
    before = dict(store._store_dict)
    if zarr_format == 3:
        bad = zarr.create_array({}, shape=(30,), chunks=[[10, 20]], dtype="i4").metadata
    else:
        bad = dataclasses.replace(array)
        object.__setattr__(bad, "filters", (object(),))
    for nodes in ({"a": group, "b": bad}, {"b": bad, "a": group}, {"a": bad}):
        with zarr.config.set({"array.rectilinear_chunks": False}), pytest.raises((AttributeError, ValueError)):
            zarr.create_hierarchy(store=store, nodes=nodes, overwrite=True)
        assert store._store_dict == before


def test_nodes_that_make_no_hierarchy(group: GroupMetadata, array: Any, zarr_format: int) -> None:
    store = MemoryStore()
    other = GroupMetadata(zarr_format=5 - zarr_format)  # type: ignore[arg-type]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"a": array, "a/b": group}, "not a Zarr group"),
        ({"a": group, "b": other}, "both Zarr v2 and Zarr v3"),
        ({"a": group, "/a": group}, "the value '/a' collides with 'a'"),
        ({"../a": group}, r"\.\."),
    ]
    for nodes, message in wrong:
        with pytest.raises(ValueError, match=message):
            zarr.create_hierarchy(store=store, nodes=nodes)
    with pytest.raises(TypeError, match="dict"):
        zarr.create_hierarchy(store=store, nodes={"a": {}})  # type: ignore[dict-item]
    assert store._store_dict == {}


def test_below_a_group(root: zarr.Group, group: GroupMetadata, array: Any) -> None:
    base = root.create_group("base")
    made = dict(base.create_hierarchy({"x": group, "x/y": array}))
    assert list(made) == ["x", "x/y"]
    assert made["x/y"].path == "base/x/y"
    with pytest.raises(ValueError, match="root node"):
        base.create_hierarchy({"": group})


def test_a_copy_that_comes_along_is_kept_and_true(group: GroupMetadata, array: Any, zarr_format: int) -> None:
    store = MemoryStore()
    carrying = dataclasses.replace(group, consolidated_metadata=ConsolidatedMetadata({"gone": group}))
    nodes = {"a": carrying, "a/b": group, "a/b/x": array, "c": group}
    made = dict(zarr.create_hierarchy(store=store, nodes=nodes))
    for found in (made["a"], zarr.open_group(store, path="a", use_consolidated=True)):
        assert sorted(found.metadata.consolidated_metadata.flattened_metadata) == ["b", "b/x"]
    assert made["c"].metadata.consolidated_metadata is None
    empty = dataclasses.replace(group, consolidated_metadata=ConsolidatedMetadata({}))
    alone = dict(zarr.create_hierarchy(store=store, nodes={"d": empty}))["d"]
    assert alone.metadata.consolidated_metadata == ConsolidatedMetadata({})
    assert zarr.open_group(store, path="d", use_consolidated=True).metadata.consolidated_metadata is not None


def test_single_nodes_keep_what_a_copy_lists(group: GroupMetadata, array: Any) -> None:
    store = MemoryStore()
    carrying = dataclasses.replace(group, consolidated_metadata=ConsolidatedMetadata({"x": array}))
    dict(create_nodes(store=store, nodes={"a/x": array}))
    made = dict(create_nodes(store=store, nodes={"a": carrying, "a/y": array}))["a"]
    for found in (made, zarr.open_group(store, path="a", use_consolidated=True)):
        assert sorted(found.metadata.consolidated_metadata.metadata) == ["x", "y"]


def test_a_root_among_the_nodes(group: GroupMetadata, array: Any) -> None:
    root = create_rooted_hierarchy(store=MemoryStore(), nodes={"r": group, "r/a": array})
    assert root.path == "r"
    assert list(root) == ["a"]
    alone = create_rooted_hierarchy(store=MemoryStore(), nodes={"x": array})
    assert alone.shape == (3,)
    for nodes in ({"r/a": group, "r/b": array}, {"r": group, "a": array}, {}):
        with pytest.raises(ValueError, match="root node"):
            create_rooted_hierarchy(store=MemoryStore(), nodes=nodes)


def test_single_nodes(group: GroupMetadata, array: Any, zarr_format: int) -> None:
    store = MemoryStore()
    assert [path for path, _ in create_nodes(store=store, nodes={"a": group, "a/x": array})] == ["a", "a/x"]
    assert get_node(store, "a", zarr_format).attrs.asdict() == {"k": 1}  # type: ignore[arg-type]
    assert get_node(store, "a/x", zarr_format).shape == (3,)  # type: ignore[arg-type, union-attr]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        get_node(store, "nowhere", zarr_format)  # type: ignore[arg-type]
