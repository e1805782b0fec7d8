"""Documents that are read in pieces say what they say when they are read as a whole; damaged ones fail alike."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import zarr
from zarr.errors import MetadataValidationError
from zarr.metadata import copies
from zarr.metadata.copies import Piece, load_with_copy
from zarr.metadata.documents import load_document
from zarr.metadata.group import ConsolidatedMetadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.storage import MemoryStore

ARRAY: dict[str, Any] = {
    "shape": [10], "data_type": "float32", "fill_value": 0.0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {},
    "zarr_format": 3, "node_type": "array", "storage_transformers": [],
}  # fmt: skip
GROUP: dict[str, Any] = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
NAMES = ["a", "b", "g", "g/a", "ü", "a b", 'q"uote', "back\\slash", "metadata", "\x7f", "", "x" * 80]
ATTRIBUTES: list[Any] = [
    {}, {"text": '}\n      },\n      "a": {'}, {"n": 1.5}, {"deep": [[[{"x": None}]]]}, {"metadata": {}},
    {"consolidated_metadata": {"metadata": {"a": {"zarr_format": 3}}}}, {"ü\u2028": "\ud800"}, {"big": "x" * 9000},
]  # fmt: skip


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "SMALL_BYTES", 0)


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its pieces as what they say."""
    holder = document.get("consolidated_metadata")
    if isinstance(holder, dict) and isinstance(holder.get("metadata"), dict):
        for name, piece in holder["metadata"].items():
            if type(piece) is Piece:
                holder["metadata"][name] = json.loads(b"{" + piece.key + b"}")
    return document


def some_document(rng: random.Random) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name in rng.choices(NAMES, k=rng.randrange(6)):
        members[name] = {**rng.choice([ARRAY, ARRAY, GROUP]), "attributes": rng.choice(ATTRIBUTES)}
        if rng.random() < 0.1:
            members[name] = rng.choice([{}, [], 1, "text", None, {"zarr_format": 3}])
    copy = {"kind": "inline", "must_understand": False, "metadata": members}
    parts = list({**GROUP, "attributes": rng.choice(ATTRIBUTES), "consolidated_metadata": copy}.items())
    rng.shuffle(parts)
    return dict(parts)


def text_of(document: dict[str, Any], rng: random.Random) -> bytes:
    text = json.dumps(document, indent=rng.choice([2, 2, 2, 1, 4, "\t", 0, None]), ensure_ascii=rng.random() < 0.8)
    return text.encode("utf-8", "surrogatepass")


def outcome(load: Any, raw: bytes) -> Any:
    try:
        return json.dumps(whole(load(raw, "zarr.json")))
    except MetadataValidationError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(300))
def test_pieces_say_what_the_whole_says(seed: int) -> None:
    rng = random.Random(seed)
    raw = text_of(some_document(rng), rng)
    assert outcome(load_with_copy, raw) == outcome(load_document, raw)
    for _ in range(20):
        at, size = rng.randrange(len(raw)), rng.choice([0, 1, 1, 3, 200])
        marks = [b"", b"}", b"{", b'"', b",", b"\n", b"\\", b" ", b"\xff", b"\n      },\n"]
        put = rng.choice([*marks, raw[at : at + 500]])
        damaged = raw[:at] + put + raw[at + size :]
        assert outcome(load_with_copy, damaged) == outcome(load_document, damaged)


def test_usual_documents_are_read_in_pieces_and_known_the_second_time() -> None:
    document = {**GROUP, "consolidated_metadata": {"kind": "inline", "metadata": {"a": ARRAY, "g": GROUP, "b": ARRAY}}}
    raw = json.dumps(document, indent=2).encode()
    copy = ConsolidatedMetadata.from_dict(load_with_copy(raw, "zarr.json")["consolidated_metadata"])
    assert list(copy.metadata) == ["a", "g", "b"]
    again = load_with_copy(raw, "zarr.json")["consolidated_metadata"]
    assert [type(piece) for piece in again["metadata"].values()] == [Piece] * 3
    assert again["metadata"]["a"].members is not None
    assert ConsolidatedMetadata.from_dict(again) == copy
    assert copy.metadata["a"] == ArrayV3Metadata.from_dict(ARRAY)


def test_attributes_of_known_pieces_are_the_callers_own() -> None:
    store = MemoryStore()
    group = zarr.open_group(store, mode="w")
    for name in "abc":
        group.create_array(name, shape=(4,), chunks=(2,), dtype="i4", attributes={"list": [1]})
    with pytest.warns(zarr.errors.ZarrUserWarning):
        zarr.consolidate_metadata(store)
    first = zarr.open_consolidated(store)
    first["a"].attrs["list"].append(2)
    assert zarr.open_consolidated(store)["b"].attrs["list"] == [1]
    assert first["b"].attrs["list"] == [1]


def test_a_member_that_cannot_be_read_is_kept_as_it_is() -> None:
    broken = {**ARRAY, "shape": "wide"}
    raw = json.dumps({**GROUP, "consolidated_metadata": {"kind": "inline", "metadata": {"a": broken}}}, indent=2)
    copy = ConsolidatedMetadata.from_dict(load_with_copy(raw.encode(), "zarr.json")["consolidated_metadata"])
    assert copy.unreadable["a"][0] == broken
    assert copy.to_documents() == {"a": broken}
