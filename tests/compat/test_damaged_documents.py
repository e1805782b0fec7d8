"""Damaged documents raise what zarr-python 3.4.2 raises: programs catch it.

Each row names a document and the class that zarr-python's error has, found by running it; ours is a subclass of it.
"""

from __future__ import annotations

import asyncio
import json
import pickle
from json import JSONDecodeError
from typing import Any

import pytest

import zarr
from zarr.errors import GroupNotFoundError, MetadataValidationError, NodeTypeValidationError, UnknownCodecError
from zarr.storage import MemoryStore

GROUP: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": {}}
ARRAY: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [4],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {},
}
GROUP_2: dict[str, Any] = {"zarr_format": 2}
ARRAY_2: dict[str, Any] = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i4",
    "fill_value": 0,
    "order": "C",
    "filters": None,
    "compressor": None,
}


def text(document: Any) -> bytes:
    return json.dumps(document).encode()


RAW: list[tuple[bytes, type[Exception]]] = [
    (b"", JSONDecodeError),
    (b" \n", JSONDecodeError),
    (text(ARRAY)[:-9], JSONDecodeError),
    (text(GROUP) + b"}", JSONDecodeError),
    (b"hello", JSONDecodeError),
    (b'{"a": "\xff"}', UnicodeDecodeError),
    (b"null", TypeError),
    (b"[]", TypeError),
    (b"[1, 2]", TypeError),
    (b'"abc"', TypeError),
    (b"3", TypeError),
    (b"true", TypeError),
]

CHANGED: list[tuple[str, dict[str, Any], type[Exception]]] = [
    *(
        ("zarr.json", {name: ...}, KeyError)
        for name in ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs")
    ),
    ("zarr.json", {"node_type": ...}, NodeTypeValidationError),
    ("zarr.json", {"node_type": "group"}, NodeTypeValidationError),
    ("zarr.json", {"zarr_format": ...}, ValueError),
    ("zarr.json", {"zarr_format": 4}, ValueError),
    ("zarr.json", {"zarr_format": "3"}, ValueError),
    ("zarr.json", {"extra": 1}, MetadataValidationError),
    ("zarr.json", {"shape": "x"}, TypeError),
    ("zarr.json", {"shape": None}, TypeError),
    ("zarr.json", {"shape": [4.5]}, TypeError),
    ("zarr.json", {"shape": [-1]}, ValueError),
    ("zarr.json", {"data_type": "foo"}, ValueError),
    ("zarr.json", {"data_type": None}, ValueError),
    ("zarr.json", {"chunk_grid": None}, TypeError),
    ("zarr.json", {"chunk_grid": {"name": "x"}}, ValueError),
    ("zarr.json", {"chunk_key_encoding": None}, TypeError),
    ("zarr.json", {"fill_value": "abc"}, TypeError),
    ("zarr.json", {"fill_value": None}, TypeError),
    ("zarr.json", {"fill_value": 2**70}, OverflowError),
    ("zarr.json", {"codecs": None}, TypeError),
    ("zarr.json", {"codecs": []}, ValueError),
    ("zarr.json", {"codecs": [1]}, TypeError),
    ("zarr.json", {"codecs": [{"name": "nope"}]}, UnknownCodecError),
    ("zarr.json", {"attributes": [1]}, TypeError),
    ("zarr.json", {"dimension_names": [1]}, TypeError),
    ("zarr.json", {"dimension_names": ["a", "b"]}, ValueError),
    (".zarray", {"zarr_format": ...}, ValueError),
    (".zarray", {"dtype": ...}, KeyError),
    (".zarray", {"shape": ...}, TypeError),
    (".zarray", {"chunks": ...}, TypeError),
    (".zarray", {"fill_value": ...}, TypeError),
    (".zarray", {"order": ...}, TypeError),
    (".zarray", {"shape": None}, TypeError),
    (".zarray", {"chunks": [2, 2]}, ValueError),
    (".zarray", {"dtype": "foo"}, ValueError),
    (".zarray", {"order": "X"}, ValueError),
    (".zarray", {"filters": "x"}, TypeError),
    (".zarray", {"filters": [{"id": "nope"}]}, UnknownCodecError),
    (".zarray", {"filters": [{}]}, ValueError),
    (".zarray", {"compressor": "x"}, ValueError),
    (".zarray", {"compressor": {"id": "nope"}}, UnknownCodecError),
    (".zarray", {"compressor": {}}, ValueError),
    (".zarray", {"compressor": {"id": "zstd", "foo": 1}}, TypeError),
]

COPIES: list[tuple[str, Any, type[Exception]]] = [
    ("zarr.json", {"kind": "other", "metadata": {}}, ValueError),
    ("zarr.json", {"kind": "inline"}, TypeError),
    ("zarr.json", {"kind": "inline", "metadata": []}, TypeError),
    ("zarr.json", "x", ValueError),
    (".zmetadata", {"zarr_consolidated_format": 1, "metadata": []}, TypeError),
    (".zmetadata", [], TypeError),
    (".zmetadata", None, TypeError),
]


def changed(name: str, change: dict[str, Any]) -> bytes:
    document = {**(ARRAY if name == "zarr.json" else ARRAY_2), **change}
    return text({key: value for key, value in document.items() if value is not ...})


def store_of(documents: dict[str, bytes]) -> MemoryStore:
    make = zarr.buffer.default_buffer_prototype().buffer.from_bytes
    return MemoryStore({key: make(raw) for key, raw in documents.items()})


def check_raises(error: type[Exception], call: Any) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, MetadataValidationError | UnknownCodecError)
    assert str(caught.value)


@pytest.mark.parametrize(("raw", "error"), RAW, ids=[repr(raw[:12]) for raw, _ in RAW])
@pytest.mark.parametrize("name", ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"])
def test_what_is_no_document(name: str, raw: bytes, error: type[Exception]) -> None:
    documents = {".zattrs": b"{}", name: raw}
    if name in (".zattrs", ".zmetadata"):
        documents[".zgroup"] = text(GROUP_2)
    openers = [zarr.open, zarr.open_array if name == ".zarray" else zarr.open_group]
    for opener in openers:
        check_raises(error, lambda opener=opener: opener(store_of(documents), mode="r"))
    check_raises(error, lambda: asyncio.run(zarr.api.asynchronous.open(store=store_of(documents), mode="r")))
    if name == ".zmetadata":
        return
    top = GROUP if name == "zarr.json" else GROUP_2
    below = {f"m/{key}": value for key, value in documents.items()}
    group = zarr.open_group(store_of({**below, "zarr.json" if top is GROUP else ".zgroup": text(top)}), mode="r")
    for call in (lambda: group["m"], lambda: "m" in group, lambda: list(group), lambda: group.members(None)):
        check_raises(error, call)


@pytest.mark.parametrize(("name", "change", "error"), CHANGED, ids=[f"{name} {change}" for name, change, _ in CHANGED])
def test_changed_members(name: str, change: dict[str, Any], error: type[Exception]) -> None:
    check_raises(error, lambda: zarr.open_array(store_of({name: changed(name, change)}), mode="r"))


@pytest.mark.parametrize(("name", "copy", "error"), COPIES, ids=[f"{name} {copy}" for name, copy, _ in COPIES])
def test_damaged_copies(name: str, copy: Any, error: type[Exception]) -> None:
    if name == "zarr.json":
        documents = {name: text({**GROUP, "consolidated_metadata": copy})}
    else:
        documents = {".zgroup": text(GROUP_2), name: text(copy)}
    check_raises(error, lambda: zarr.open_group(store_of(documents), mode="r"))


def test_the_errors_say_where_and_can_be_pickled() -> None:
    for raw, error in RAW:
        with pytest.raises(error, match=r"zarr\.json") as caught:
            zarr.open_group(store_of({"zarr.json": raw}), mode="r")
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value)
        assert str(again) == str(caught.value)
    with pytest.raises(JSONDecodeError) as found:
        zarr.open_group(store_of({"zarr.json": b'{"a": }'}), mode="r")
    assert (found.value.pos, found.value.lineno, found.value.doc) == (6, 1, '{"a": }')
    assert type(found.value).__name__ == "JSONDecodeError"  # spatialdata prints and matches the name


@pytest.mark.parametrize("mode", ["r", "r+", "a"])
@pytest.mark.parametrize("opener", [zarr.open, zarr.open_group])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_a_copy_that_lacks_a_parent(mode: Any, opener: Any, zarr_format: Any) -> None:
    """No group is found, and none is made where it was: without the copy all is there."""
    kept = MemoryStore()
    root = zarr.open_group(kept, mode="w", zarr_format=zarr_format)
    root.create_group("images").create_array("0", shape=(4,), dtype="int32")[:] = 7
    zarr.consolidate_metadata(kept)
    name = ".zmetadata" if zarr_format == 2 else "zarr.json"
    document = json.loads(kept._store_dict[name].to_bytes())
    table = (document if zarr_format == 2 else document["consolidated_metadata"])["metadata"]
    del table["images/.zgroup" if zarr_format == 2 else "images"]
    kept._store_dict[name] = zarr.core.buffer.cpu.Buffer.from_bytes(text(document))
    with pytest.raises(GroupNotFoundError, match="list the node 'images/0' but not its parent 'images'"):
        opener(kept, mode=mode)
    whole = zarr.open_group(kept, mode="r", use_consolidated=False)
    assert whole["images/0"][:].tolist() == [7, 7, 7, 7]  # type: ignore[union-attr]
    zarr.consolidate_metadata(kept)
    assert "images/0" in opener(kept, mode=mode)
