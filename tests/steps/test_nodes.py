"""The steps of nodes, run by hand: which requests they make, in which order, and what they say when they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from zarr.buffer.cpu import Buffer
from zarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    MetadataValidationError,
    NodeNotFoundError,
    NodeTypeValidationError,
    ZarrUserWarning,
)
from zarr.metadata import ArrayV2Metadata, ArrayV3Metadata, GroupMetadata
from zarr.steps.nodes import (
    check_mode_steps,
    delete_node_steps,
    ensure_ancestors_steps,
    read_array_steps,
    read_node_steps,
    write_node_steps,
)
from zarr.steps.requests import (
    Delete,
    DeletePrefix,
    Gather,
    Get,
    GetMany,
    Hold,
    List,
    ListDir,
    Put,
    PutIfAbsent,
    Steps,
)
from zarr.storage import MemoryStore, StorePath

Transcript = list[str]

V3_ARRAY = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [10],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {},
}
V2_ARRAY = {
    "zarr_format": 2, "shape": [10], "chunks": [5], "dtype": "<i4", "fill_value": 0, "order": "C", "filters": None,
    "compressor": None,
}  # fmt: skip
GROUP3 = {"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}


def buffer(document: Any) -> Buffer:
    return Buffer.from_bytes(json.dumps(document).encode())


def drive(steps: Steps[Any], data: dict[str, Any], transcript: Transcript | None = None) -> Any:
    """Answer requests from a dictionary of documents; a runner of its own, so that no real one is needed."""
    log: Transcript = [] if transcript is None else transcript
    answers: dict[type, Callable[[Any], Any]] = {
        Get: lambda r: None if r.key not in data else buffer(data[r.key]),
        Put: lambda r: data.__setitem__(r.key, json.loads(r.value.to_bytes())),
        Delete: lambda r: data.pop(r.key, None),
        List: lambda r: [k for k in data if k.startswith(r.prefix)],
        ListDir: lambda r: [k for k in data if k.startswith(r.prefix)],
        Hold: lambda r: None,
    }

    def put_if_absent(request: PutIfAbsent) -> bool:
        if request.key in data:
            return False
        data[request.key] = json.loads(request.value.to_bytes())
        return True

    def delete_prefix(request: DeletePrefix) -> None:
        start = f"{request.prefix}/" if request.prefix else ""
        for key in [key for key in data if key.startswith(start)]:
            del data[key]

    answers[PutIfAbsent] = put_if_absent
    answers[DeletePrefix] = delete_prefix
    try:
        request = next(steps)
        while True:
            if isinstance(request, Gather):
                reply: Any = [drive(child, data, log) for child in request.steps]
            elif isinstance(request, GetMany):
                log.extend(f"Get {key}" for key in request.keys)
                reply = [answers[Get](Get(key)) for key in request.keys]
            else:
                subject = getattr(request, "key", getattr(request, "prefix", ""))
                log.append(f"{type(request).__name__} {subject}".strip())
                reply = answers[type(request)](request)
            request = steps.send(reply)
    except StopIteration as stop:
        return stop.value


class PlainMemoryStore(MemoryStore):
    """Sees to single values, so that nothing is built aside."""

    def set_sync(self, key: str, value: Any) -> None:
        super().set_sync(key, value)


def place(path: str) -> StorePath:
    return StorePath(PlainMemoryStore(), path)


def test_reading_an_array_asks_for_its_documents_only() -> None:
    log: Transcript = []
    metadata = drive(read_array_steps(place("a/b"), 3), {"a/b/zarr.json": V3_ARRAY}, log)
    assert isinstance(metadata, ArrayV3Metadata)
    assert log == ["Get a/b/zarr.json"]
    log.clear()
    found = {"a/.zarray": V2_ARRAY, "a/.zattrs": {"x": 1}}
    metadata = drive(read_array_steps(place("a"), 2), found, log)
    assert isinstance(metadata, ArrayV2Metadata)
    assert metadata.attributes == {"x": 1}
    assert log == ["Get a/.zarray", "Get a/.zattrs"]
    log.clear()
    assert drive(read_array_steps(place("a")), {"a/.zarray": V2_ARRAY}, log).zarr_format == 2
    assert log == ["Get a/zarr.json", "Get a/.zarray", "Get a/.zattrs"]
    assert drive(read_array_steps(place("")), {"zarr.json": V3_ARRAY}).zarr_format == 3


def test_reading_groups_and_whatever_is_there() -> None:
    assert drive(read_node_steps(place("a")), {"a/zarr.json": GROUP3}).attributes == {"a": 1}
    v2 = {"a/.zgroup": {"zarr_format": 2}, "a/.zattrs": {"b": 2}}
    assert drive(read_node_steps(place("a"), 2), v2).attributes == {"b": 2}
    assert isinstance(drive(read_node_steps(place("a")), v2), GroupMetadata)
    assert isinstance(drive(read_node_steps(place("a")), {"a/.zarray": V2_ARRAY}), ArrayV2Metadata)
    assert isinstance(drive(read_node_steps(place("a"), 3), {"a/zarr.json": GROUP3}), GroupMetadata)
    assert isinstance(drive(read_node_steps(place("a"), 3), {"a/zarr.json": V3_ARRAY}), ArrayV3Metadata)


def test_both_formats_side_by_side_warn_and_the_third_wins() -> None:
    both = {"a/zarr.json": V3_ARRAY, "a/.zarray": V2_ARRAY, "a/.zgroup": {"zarr_format": 2}}
    for steps in (read_array_steps(place("a")), read_node_steps(place("a"))):
        with pytest.warns(ZarrUserWarning, match=r"Both zarr.json .* and .zarray"):
            assert drive(steps, dict(both)).zarr_format == 3
    both = {"a/zarr.json": GROUP3, "a/.zgroup": both["a/.zgroup"]}
    with pytest.warns(ZarrUserWarning, match=r"Both zarr.json .* and .zgroup"):
        assert drive(read_node_steps(place("a")), both).zarr_format == 3


def test_what_is_not_there() -> None:
    with pytest.raises(ArrayNotFoundError, match=r"No array found in store PlainMemoryStore.* at path 'a/b'"):
        drive(read_array_steps(place("a/b")), {})
    with pytest.raises(NodeNotFoundError, match="at path 'a'"):
        drive(read_node_steps(place("a"), 3), {"a/.zgroup": {"zarr_format": 2}})
    with pytest.raises(NodeNotFoundError):
        drive(read_node_steps(place("a")), {})
    with pytest.raises(FileNotFoundError):
        drive(read_node_steps(place("a"), 2), {})
    with pytest.raises(NodeTypeValidationError):
        drive(read_array_steps(place("a")), {"a/zarr.json": GROUP3})
    with pytest.raises(MetadataValidationError, match="zarr_format"):
        drive(read_array_steps(place("a"), 3), {"a/zarr.json": {"node_type": "array"}})
    with pytest.raises(ValueError, match="zarr_format"):
        drive(read_array_steps(place("a"), 4), {})  # type: ignore[arg-type]


GROUP = GroupMetadata(zarr_format=3)


def test_a_new_node_appears_last() -> None:
    log: Transcript = []
    data: dict[str, Any] = {}

    def contents() -> Steps[None]:
        yield Put("a/b/c/c/0", buffer([1]))

    drive(write_node_steps(place("a/b/c"), ArrayV3Metadata.from_dict(V3_ARRAY), contents=contents), data, log)
    assert log == [
        "Hold",
        "Get a/b/c/zarr.json",
        "Get zarr.json", "Get a/zarr.json", "Get a/b/zarr.json",
        "PutIfAbsent zarr.json", "PutIfAbsent a/zarr.json", "PutIfAbsent a/b/zarr.json",
        "Put a/b/c/c/0",
        "PutIfAbsent a/b/c/zarr.json",
    ]  # fmt: skip
    assert data["a/b/zarr.json"]["node_type"] == "group"


def test_format_2_writes_attributes_before_the_document() -> None:
    log: Transcript = []
    drive(write_node_steps(place("a/b"), GroupMetadata({"x": 1}, zarr_format=2)), {}, log)
    assert log[-2:] == ["PutIfAbsent a/b/.zattrs", "PutIfAbsent a/b/.zgroup"]
    assert log[:3] == ["Hold", "Get a/b/.zarray", "Get a/b/.zgroup"]
    assert [entry for entry in log if entry.endswith(".zgroup") and entry.startswith("Put")] == [
        "PutIfAbsent .zgroup", "PutIfAbsent a/.zgroup", "PutIfAbsent a/b/.zgroup",
    ]  # fmt: skip


def test_groups_that_are_there_are_left_alone() -> None:
    data: dict[str, Any] = {"zarr.json": {**GROUP3, "attributes": {"mine": 1}}}
    drive(write_node_steps(place("a"), GROUP), data)
    assert data["zarr.json"]["attributes"] == {"mine": 1}


def test_replacing_removes_what_was_below_before_the_new_node_appears() -> None:
    log: Transcript = []
    data = {"zarr.json": GROUP3, "a/zarr.json": V3_ARRAY, "a/c/0": [1], "ab/zarr.json": GROUP3}
    drive(write_node_steps(place("a"), GROUP, overwrite=True), data, log)
    documents = [f"Delete a/{name}" for name in ("zarr.json", ".zarray", ".zgroup")]
    assert log == ["Hold", "Get zarr.json", *documents, "DeletePrefix a", "Put a/zarr.json"]
    assert sorted(data) == ["a/zarr.json", "ab/zarr.json", "zarr.json"]
    assert data["a/zarr.json"]["node_type"] == "group"


def test_what_is_there_is_not_replaced_unasked() -> None:
    with pytest.raises(ContainsArrayError, match=r"An array exists in store PlainMemoryStore.* at path 'a'"):
        drive(write_node_steps(place("a"), GROUP), {"a/zarr.json": V3_ARRAY})
    with pytest.raises(ContainsGroupError, match="A group exists"):
        drive(write_node_steps(place("a"), ArrayV3Metadata.from_dict(V3_ARRAY)), {"a/zarr.json": GROUP3})
    with pytest.raises(ContainsArrayError):
        drive(write_node_steps(place("a"), GroupMetadata(zarr_format=2)), {"a/.zarray": V2_ARRAY})
    data: dict[str, Any] = {"a/zarr.json": V3_ARRAY}
    drive(write_node_steps(place("a"), GroupMetadata(zarr_format=2)), data)
    assert "a/.zgroup" in data, "a node of the other format is no obstacle"


def test_somebody_else_was_faster() -> None:
    data: dict[str, Any] = {}

    def contents() -> Steps[None]:
        data["a/zarr.json"] = GROUP3
        yield Get("x")

    with pytest.raises(ContainsGroupError):
        drive(write_node_steps(place("a"), GROUP, contents=contents), data)
    assert data["a/zarr.json"] == GROUP3


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_nothing_is_made_below_an_array(zarr_format: Any) -> None:
    data: dict[str, Any] = {"a/zarr.json": V3_ARRAY} if zarr_format == 3 else {"a/.zarray": V2_ARRAY}
    before = dict(data)
    with pytest.raises(ValueError, match=r"A parent of .*a/b/c is an array - only groups may have child nodes"):
        drive(write_node_steps(place("a/b/c"), GroupMetadata(zarr_format=zarr_format)), data)
    assert data == before
    with pytest.raises(ValueError, match="only groups"):
        drive(ensure_ancestors_steps(place("a/b"), zarr_format), data)


def test_deleting_and_modes() -> None:
    log: Transcript = []
    drive(delete_node_steps("a/b"), {}, log)
    drive(delete_node_steps(""), {}, log)
    assert log == ["Hold", "DeletePrefix a/b", "Hold", "DeletePrefix"]
    log.clear()
    for mode in ("r", "r+", "a", "w", None):
        drive(check_mode_steps(place("a"), mode), {"a/zarr.json": GROUP3}, log)  # type: ignore[arg-type]
    assert log == []
    drive(check_mode_steps(place("b"), "w-"), {"a/zarr.json": GROUP3})
    with pytest.raises(FileExistsError, match="Cannot create 'a' with mode 'w-'"):
        drive(check_mode_steps(place("a"), "w-"), {"a/zarr.json": GROUP3})


def test_requests_compare_and_print_by_their_fields() -> None:
    assert Get("a") == Get("a")
    assert Get("a") != Get("b")
    assert Get("a") != Delete("a")
    assert repr(Delete("a")) == "Delete(key='a')"
    with pytest.raises(TypeError):
        hash(Get("a"))
