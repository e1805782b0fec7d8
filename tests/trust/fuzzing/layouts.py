"""Damaged hierarchies of other layouts: N5, the draft of 2020, kerchunk's references in JSON and in parquet files.

Everything is only read, out of the memory of this process.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import zarr
from tests.trust.fuzzing.cases import Report
from tests.trust.fuzzing.documents import Mutator as DocumentMutator
from tests.trust.fuzzing.documents import stored_documents, use_array, use_group
from tests.trust.fuzzing.payloads import Mutator as PayloadMutator
from zarr.buffer.cpu import Buffer
from zarr.storage import MemoryStore, ReferenceStore
from zarr.storage.references.parquet import ParquetTable

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:  # the layout is then left out
    pa = pq = None

Stored = dict[str, bytes]
DATA = np.arange(16, dtype="<i4").reshape(4, 4)


def n5() -> Stored:
    """A container with a group and two datasets, one compressed."""
    found = {"attributes.json": json.dumps({"n5": "4.0.0", "title": "x"}).encode()}
    kinds: dict[str, tuple[Any, Callable[[bytes], bytes]]] = {
        "raw": ({"type": "raw"}, bytes),
        "gzip": ({"type": "gzip", "level": 1}, lambda raw: gzip.compress(raw, 1)),
    }
    for name, (compression, compress) in kinds.items():
        document = {"dimensions": [4, 4], "blockSize": [2, 2], "dataType": "int32", "compression": compression}
        found[f"a/{name}/attributes.json"] = json.dumps(document | {"unit": "m"}).encode()
        for i, j in np.ndindex(2, 2):
            part = DATA[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].astype(">i4").tobytes()
            found[f"a/{name}/{j}/{i}"] = struct.pack(">HH2I", 0, 2, 2, 2) + compress(part)
    return found


def draft3() -> Stored:
    """A hierarchy of the draft of 2020."""
    store = MemoryStore()
    array: Any = zarr.draft3.create(store).create_array("a/raw", shape=(4, 4), chunks=(2, 2), dtype="<i4")
    array[...] = DATA
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


def references() -> Stored:
    """References to values that stand in the table itself, and a generator."""
    stored = stored_documents(zarr_format=2, compressors=None)
    table: dict[str, Any] = {key: raw.decode("latin-1") for key, raw in stored.items() if ".z" in key}
    table |= {key: "base64:AAAAAAAAAAAAAAAAAAAAAA==" for key in stored if ".z" not in key}
    generator = {"key": "a/c/{{i}}", "url": "{{u}}x_{{i}}", "offset": "{{(i + 1) * 4}}", "length": "4"}
    document = {
        "version": 1, "templates": {"u": "memory://nowhere/", "f": "{{c}}"}, "refs": table,
        "gen": [generator | {"dimensions": {"i": {"stop": 3}}}],
    }  # fmt: skip
    return {"table": json.dumps(document).encode()}


COLUMNS: dict[str, list[Any]] = {
    "path": ["memory://nowhere/x", None, None, "memory://nowhere/x"],
    "offset": [0, 0, 0, 16],
    "size": [16, 0, 0, 16],
    "raw": [bytes(16), b"\1" * 16, b"\2" * 16, b"\3" * 16],
}


def write_table(columns: dict[str, Any], **options: Any) -> bytes:
    """A file of parquet."""
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


def parquet() -> Stored:
    """References in parquet files, to values that stand in the files themselves; behind those, to nothing."""
    stored = stored_documents(zarr_format=2, compressors=None)
    documents = {key: json.loads(raw) for key, raw in stored.items() if ".z" in key}
    table = {".zmetadata": json.dumps({"metadata": documents, "record_size": 4}).encode()}
    for record in range(6):
        options: dict[str, Any] = {"compression": ("snappy", "zstd", "none")[record % 3]}
        table[f"a/b/refs.{record}.parq"] = write_table(COLUMNS, use_dictionary=record % 2 == 0, **options)
    return table


VALUES: list[Any] = [
    None, -1, 0, 2**62, -(2**63), 1.5, float("nan"), float("inf"), True, "", "x", "a\0b", "../x", b"\xff", b"", [], [1],
    {"a": 1}, "memory://nowhere/x",
]  # fmt: skip


def odd_table(pick: random.Random) -> bytes:
    """A sound file of parquet whose columns are not those of references."""
    nrows = pick.choice([0, 1, 3, 4, 4, 4, 5, 100_000])
    columns = {name: (values * nrows)[:nrows] for name, values in COLUMNS.items()}
    for _ in range(pick.choice([1, 1, 2])):
        name, kind = pick.choice([*COLUMNS, "other"]), pick.randrange(3)
        if kind == 0:
            columns.pop(name, None)
        elif kind == 1 or name not in COLUMNS:
            columns[name] = [pick.choice(VALUES)] * nrows
        else:
            columns[name] = [pick.choice(COLUMNS[name]) for _ in range(nrows)]
    return write_table(columns)


def use_parquet(stored: Stored, path: str) -> Any:
    """Open references in parquet files, list them, and read the array that they describe."""

    def read(name: str) -> bytes:
        if name not in stored:
            raise FileNotFoundError(name)
        return stored[name]

    store = ReferenceStore(ParquetTable(read, "table.parq"))
    list(store.list_sync())
    list(store.list_prefix_sync("a/"))
    list(store.list_dir_sync(path))
    return use_array(zarr.open_array(store, path=path, mode="r"))


def use_store(stored: Stored, path: str) -> Any:
    """Read all that is at a path."""
    store = MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()})
    node = zarr.open(store, path=path, mode="r")
    return use_group(node) if isinstance(node, zarr.Group) else use_array(node)


def use_references(stored: Stored, path: str) -> Any:
    """Open a table of references, list it, and read the array that it describes."""
    store = ReferenceStore(json.loads(stored["table"]))
    list(store.list_sync())
    return use_array(zarr.open_array(store, path="a/b", mode="r"))


LAYOUTS: dict[str, tuple[Callable[[], Stored], Callable[[Stored, str], Any], tuple[str, ...]]] = {
    "n5": (n5, use_store, ("a/raw", "a/gzip", "a")),
    "draft3": (draft3, use_store, ("a/raw", "a")),
    "references": (references, use_references, ("a/b",)),
    **({} if pa is None else {"parquet": (parquet, use_parquet, ("a/b",))}),
}


def damaged(stored: Stored, documents: DocumentMutator, payloads: PayloadMutator, pick: random.Random) -> Stored:
    """The same values with one of them damaged."""
    key = pick.choice(sorted(stored))
    raw = stored[key]
    if raw[:4] == b"PAR1" and pick.random() < 0.5:
        return stored | {key: odd_table(pick)}
    if raw[:1] != b"{":
        return stored | {key: payloads.damage(raw, stored[pick.choice(sorted(stored))])}
    if key != "table" and pick.random() < 0.2:
        return stored | {key: documents.damage_text(raw)}
    document = json.loads(raw)
    for _ in range(pick.choice([1, 1, 2])):
        document = documents.change(document)
    return stored | {key: json.dumps(document).encode()}


def run(count: int, seed: int, report: Report) -> None:
    """Try some damaged hierarchies."""
    documents, payloads, pick = DocumentMutator(seed), PayloadMutator(seed), random.Random(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        sound = {name: make() for name, (make, _, _) in LAYOUTS.items()}
        for number in range(count):
            name = list(LAYOUTS)[number % len(LAYOUTS)]
            _, use, paths = LAYOUTS[name]
            stored, path = damaged(sound[name], documents, payloads, pick), pick.choice(paths)
            report.attempt(f"layout {seed}:{number} {name}", lambda s=stored, u=use, p=path: u(s, p))  # type: ignore[misc]
