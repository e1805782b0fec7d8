"""What we write is, byte for byte, what zarr-python writes: see ``data/make_documents.py``.

Copies in ``zarr.json`` say the same with a line for each node; the setting ``json_indent`` can ask for the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import zarr
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
    with zarr.config.set({"json_indent": "  " if case == "consolidated v3" else 2}):
        buffers = metadata.to_buffer_dict(default_buffer_prototype())
    written = {key: raw.to_bytes().decode() for key, raw in buffers.items()}
    expected = dict(CASES[case])
    if ".zmetadata" in expected:
        # zarr-python also puts an empty copy into each group, which the format forbids and nothing needs.
        document = json.loads(expected[".zmetadata"])
        for part in document["metadata"].values():
            part.pop("consolidated_metadata", None)
        expected[".zmetadata"] = json.dumps(document)
    assert written == expected


def test_a_copy_has_a_line_for_each_node() -> None:
    metadata = parse(CASES["consolidated v3"])
    text = metadata.to_buffer_dict(default_buffer_prototype())["zarr.json"].to_bytes().decode()
    document = json.loads(CASES["consolidated v3"]["zarr.json"])
    assert json.loads(text) == document
    nodes = document["consolidated_metadata"]["metadata"]
    lines = [f"      {json.dumps(name)}: {json.dumps(node)}" for name, node in nodes.items()]
    assert ",\n".join(lines) in text
    with zarr.config.set({"json_indent": 4}):
        text = metadata.to_buffer_dict(default_buffer_prototype())["zarr.json"].to_bytes().decode()
    assert text == json.dumps(document, indent=4)


@pytest.mark.parametrize("case", CASES)
def test_dict_round_trip(case: str) -> None:
    metadata = parse(CASES[case])
    again = type(metadata).from_dict(metadata.to_dict())
    if "NaN" not in str(CASES[case].get("zarr.json")) + str(CASES[case].get(".zattrs")):
        assert again == metadata
    assert again.to_dict().keys() == metadata.to_dict().keys()
    assert repr(again) == repr(metadata)
