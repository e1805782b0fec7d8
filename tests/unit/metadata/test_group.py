"""Groups, and the copies of their members' documents."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr.buffer.core import default_buffer_prototype
from zarr.errors import GroupNotFoundError, MetadataValidationError, NodeTypeValidationError
from zarr.metadata import ArrayV2Metadata, ArrayV3Metadata, ConsolidatedMetadata, GroupMetadata
from zarr.metadata.consolidated import nest_paths
from zarr.metadata.documents import MissingParentError

GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {}}
ARRAY: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [10],
    "data_type": "uint8",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "codecs": [{"name": "bytes"}],
}
ARRAY_V2: dict[str, Any] = {
    "zarr_format": 2,
    "shape": [10],
    "chunks": [5],
    "dtype": "|u1",
    "fill_value": 0,
    "order": "C",
    "filters": None,
    "compressor": None,
}


def copy_of(documents: dict[str, Any]) -> ConsolidatedMetadata:
    return ConsolidatedMetadata.from_stored({"kind": "inline", "must_understand": False, "metadata": documents})


def test_group_documents() -> None:
    group = GroupMetadata({"a": 1}, extra_fields={"x": {"must_understand": False}})
    assert group.to_dict() == {
        "attributes": {"a": 1},
        "zarr_format": 3,
        "node_type": "group",
        "x": {"must_understand": False},
    }
    assert GroupMetadata.from_dict(group.to_dict()) == group
    assert pickle.loads(pickle.dumps(group)) == group
    assert group.node_type == "group"
    assert repr(GroupMetadata()) == (
        "GroupMetadata(attributes={}, zarr_format=3, consolidated_metadata=None, node_type='group', extra_fields={})"
    )


def test_group_of_format_2() -> None:
    group = GroupMetadata.from_dict({"zarr_format": 2, "attributes": {"a": 1}, "_nczarr_group": {}})
    assert group == GroupMetadata({"a": 1}, 2)
    written = group.to_buffer_dict(default_buffer_prototype())
    assert {k: json.loads(v.to_bytes()) for k, v in written.items()} == {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": {"a": 1},
    }
    with pytest.raises(ValueError, match="format 2"):
        GroupMetadata(None, 2, None, {"x": {"must_understand": False}})


@pytest.mark.parametrize(
    "document",
    [{}, {"zarr_format": 3}, {**GROUP, "consolidated_metadata": None}, {**GROUP, "consolidated_metadata": {}}],
)
def test_lenient(document: dict[str, Any]) -> None:
    assert GroupMetadata.from_dict(document) == GroupMetadata()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"zarr_format": 4}, ValueError, "zarr_format"),
        ({"zarr_format": "3"}, ValueError, "zarr_format"),
        ({"node_type": "array"}, NodeTypeValidationError, "node_type"),
        ({"attributes": 5}, TypeError, "'attributes' of 'a/zarr.json'"),
        ({"foo": 1}, ValueError, "foo"),
        ({"foo": {"must_understand": True}}, ValueError, "foo"),
        ({"consolidated_metadata": 5}, TypeError, "consolidated"),
        ({"consolidated_metadata": {"metadata": {}}}, ValueError, "kind='None'"),
        ({"consolidated_metadata": {"kind": "x", "metadata": {}}}, ValueError, "kind='x'"),
        ({"consolidated_metadata": {"kind": "inline", "metadata": 5}}, TypeError, "metadata"),
    ],
)
def test_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        GroupMetadata.from_dict({**GROUP, **changes}, path="a")
    assert isinstance(caught.value, MetadataValidationError)


@given(st.permutations(["g", "g/h", "g/h/a", "b", "g/a"]))
def test_nesting_in_any_order(order: list[str]) -> None:
    documents = {path: ARRAY if path[-1] in "ab" else GROUP for path in order}
    copy = copy_of(documents)
    assert set(copy.metadata) == {"g", "b"}
    group = copy.metadata["g"]
    assert isinstance(group, GroupMetadata)
    assert group.consolidated_metadata is not None
    assert set(group.consolidated_metadata.metadata) == {"h", "a"}
    assert set(copy.flattened_metadata) == set(order)
    assert list(copy.to_dict()["metadata"]) == ["b", "g", "g/a", "g/h", "g/h/a"]  # type: ignore[arg-type]
    assert copy_of(copy.to_documents()) == copy


def test_groups_of_groups_carry_copies() -> None:
    copy = copy_of(
        {"g": {**GROUP, "consolidated_metadata": {"kind": "inline", "metadata": {"stale": ARRAY}}}, "g/a": ARRAY}
    )
    assert set(copy.flattened_metadata) == {"g", "g/a"}
    assert copy.to_documents()["g"]["consolidated_metadata"] == {
        "kind": "inline",
        "must_understand": False,
        "metadata": {},
    }


def test_nodes_below_what_is_no_readable_group_are_kept() -> None:
    copy = copy_of({"x": 5, "x/y": ARRAY, "a": ARRAY, "a/b": ARRAY, "g": GROUP, "g/x": {}, "g/x/y": ARRAY})
    assert set(copy.metadata) == {"x/y", "a", "a/b", "g"}
    assert set(copy.flattened_metadata) == {"x/y", "a", "a/b", "g", "g/x/y"}
    assert copy_of(copy.to_documents()) == copy


@pytest.mark.parametrize("documents", [{"x/y": ARRAY}, {"g": GROUP, "g/x/y": GROUP}, {"g/x": GROUP, "g/x/y": ARRAY}])
def test_a_parent_that_is_not_listed(documents: dict[str, Any]) -> None:
    with pytest.raises(MissingParentError, match=r"but not its parent '(g|g/x|x)'") as caught:
        copy_of(documents)
    # As in zarr-python, where the copy itself raises the one and opening the group the other.
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, GroupNotFoundError)


def test_members_that_cannot_be_read() -> None:
    bad = {"d": 7, "a": {**ARRAY, "data_type": "zigzag"}, "b": 5, "c": {"x": 1}, "d/e": {**ARRAY, "codecs": ["zigzag"]}}
    copy = copy_of({**bad, "ok": ARRAY, "g": GROUP})
    assert set(copy.metadata) == {"ok", "g"}
    assert {path: document for path, (document, _) in copy.unreadable.items()} == bad
    assert all(isinstance(error, ValueError) for _, error in copy.unreadable.values())
    assert "'data_type' of 'a/zarr.json'" in str(copy.unreadable["a"][1])
    # What could not be read is not lost when the group is written again.
    assert copy.to_documents()["a"] == bad["a"]
    group = GroupMetadata(consolidated_metadata=copy)
    written = json.loads(group.to_buffer_dict(default_buffer_prototype())["zarr.json"].to_bytes())
    assert written["consolidated_metadata"]["metadata"]["d/e"] == bad["d/e"]


def test_format_2() -> None:
    document = {
        "zarr_consolidated_format": 1,
        "metadata": {
            ".zgroup": {"zarr_format": 2},
            ".zattrs": {"root": 1},
            "g/a/.zarray": ARRAY_V2,
            "g/a/.zattrs": {"k": 1},
            "g/.zgroup": {"zarr_format": 2, "consolidated_metadata": {"metadata": {}}},
            "g/unexpected/.zattrs": {"k": 2},
            "bad/.zarray": {**ARRAY_V2, "dtype": "zigzag"},
        },
    }
    copy = ConsolidatedMetadata.from_zmetadata(document)
    array = copy.flattened_metadata["g/a"]
    assert isinstance(array, ArrayV2Metadata)
    assert array.attributes == {"k": 1}
    assert set(copy.flattened_metadata) == {"g", "g/a"}
    assert set(copy.unreadable) == {"bad"}
    group = GroupMetadata({"root": 1}, 2, copy)
    written = json.loads(group.to_buffer_dict(default_buffer_prototype())[".zmetadata"].to_bytes())
    assert written["metadata"]["g/.zgroup"] == {"zarr_format": 2}
    assert written["metadata"][".zattrs"] == {"root": 1}
    assert ConsolidatedMetadata.from_zmetadata(written) == copy


@pytest.mark.parametrize("document", [{}, {"metadata": 5}, {"metadata": {}, "zarr_consolidated_format": 2}])
def test_bad_format_2(document: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="zmetadata"):
        ConsolidatedMetadata.from_zmetadata(document)


def test_constructed_by_hand() -> None:
    array = ArrayV3Metadata.from_dict(ARRAY)
    inner = GroupMetadata(consolidated_metadata=ConsolidatedMetadata({"q": array, "b": array}))
    copy = ConsolidatedMetadata({"z": array, "g": inner, "a": array})
    assert list(copy.flattened_metadata) == ["z", "g", "g/q", "g/b", "a"]
    assert list(copy.to_documents()) == ["a", "g", "z", "g/b", "g/q"]
    bare = ConsolidatedMetadata({"g": GroupMetadata(), "h": GroupMetadata(zarr_format=2)})
    assert [node.consolidated_metadata for node in bare.flattened_metadata.values()] == [None, None]
    assert ["consolidated_metadata" in document for document in bare.to_documents().values()] == [False, False]
    assert copy.unreadable == {}
    assert (copy.kind, copy.must_understand) == ("inline", False)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), unique=True), st.data())
def test_every_path_has_one_place(paths: list[str], data: st.DataObject) -> None:
    groups = {path: data.draw(st.booleans()) for path in paths}
    parents = {path[:end] for path in paths for end in range(len(path)) if path[end] == "/"}
    if orphaned := parents - set(paths):
        with pytest.raises(MissingParentError):
            nest_paths(paths, groups)
    members = nest_paths(paths, groups, orphaned)
    placed = [path for table in members.values() for path in table.values()]
    assert sorted(placed) == sorted(paths)
    for above, table in members.items():
        for name, path in table.items():
            assert path == (f"{above}/{name}" if above else name)
