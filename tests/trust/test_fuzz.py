"""A short, always equal run of the fuzzers; `ci/fuzz.sh` is the long one. Cases once found are tests of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import zarr
from tests.trust.fuzzing import documents, layouts, payloads
from tests.trust.fuzzing.cases import DOCUMENTED, Report, text_of
from zarr.buffer.cpu import Buffer
from zarr.storage import MemoryStore, ReferenceStore

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "tests" / "data" / "documents"
REFERENCES = ROOT / "tests" / "data" / "references"


def test_damaged_documents() -> None:
    report = Report()
    documents.run(600, 1, report)
    assert report.breaches == []
    assert report.refused > 100


def test_damaged_payloads() -> None:
    report = Report()
    payloads.run(1500, 1, report)
    assert report.breaches == []
    assert report.refused > 1000


def test_damaged_layouts() -> None:
    report = Report()
    layouts.run(600, 1, report)
    assert report.breaches == []
    assert report.refused > 200


def test_every_codec_is_among_them() -> None:
    labels = " ".join(mould.label for mould in payloads.templates())
    for name in (
        "blosclz", "lz4", "lz4hc", "zlib", "zstd", "bitshuffle", "gzip", "bz2", "lzma", "crc32c", "delta", "vlen-utf8",
        "vlen-bytes", "json2", "msgpack2", "pickle", "shard start", "shard end", "nested", "without checksum",
    ):  # fmt: skip
        assert name in labels


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="MALLOC_PERTURB_ belongs to glibc")
def test_no_byte_is_read_that_nobody_wrote(tmp_path: Path) -> None:
    logs = []
    for pattern in ("85", "170"):
        log = tmp_path / pattern
        command = [sys.executable, "-m", "tests.trust.fuzzing", "payloads", "--count", "1500", "--log", str(log)]
        settings = {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": pattern, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, check=True, cwd=ROOT, env=os.environ | settings, capture_output=True)
        logs.append(log.read_text(encoding="utf-8"))
    assert logs[0] == logs[1]


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.json")), ids=lambda path: path.stem)
def test_documents_once_found(path: Path) -> None:
    """Each holds the documents and (as hexadecimal) chunks of a store, and what the error must say."""
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    stored = {key: text.encode() for key, text in case["documents"].items()}
    stored |= {key: bytes.fromhex(text) for key, text in case.get("chunks", {}).items()}
    store = MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()})
    with pytest.raises(DOCUMENTED) as caught:
        node = zarr.open(store, path="a/b", mode="r")
        documents.use_array(node)
    for part in case["says"]:
        assert part in text_of(caught.value)


@pytest.mark.parametrize("path", sorted(REFERENCES.glob("*.json")), ids=lambda path: path.stem)
def test_references_once_found(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(DOCUMENTED) as caught:
        list(ReferenceStore(case["table"]).list_sync())
    for part in case["says"]:
        assert part in text_of(caught.value)
