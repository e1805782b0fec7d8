"""Cases of the table of formats for whole hierarchies: an array ``a`` in each layout, made on disk and opened again.

Layouts that are only read here are made by hand, of the bytes that their specifications name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

VALUES = np.arange(24, dtype="int32").reshape(6, 4)
SECTION = "Layouts of hierarchies"


class Layout(NamedTuple):
    """One question.

    Attributes
    ----------
    name
        Of its row.
    make
        Puts the hierarchy in a folder, and returns what to open there: a path or a URL.
    by_us
        True if this library writes it.
    """

    name: str
    make: Callable[[Path], str]
    by_us: bool


def made(place: str, consolidate: bool = False, **options: Any) -> str:
    """A hierarchy by this library's own calls."""
    import zarr

    root = zarr.open_group(place, mode="w", **options)
    root.create_array("a", data=VALUES, chunks=(4, 2))
    root.store.close()
    if consolidate:
        zarr.consolidate_metadata(place)
    return place


def draft(folder: Path, suffix: str) -> str:
    """A hierarchy of a draft of format 3."""
    from zarr import draft3

    root = draft3.create(str(folder / "h"), metadata_key_suffix=suffix)
    root.create_array("a", data=VALUES, chunks=(4, 2), compressors={"name": "gzip", "configuration": {"level": 1}})
    return str(folder / "h")


def n5(folder: Path) -> str:
    """An N5 container: blocks are big-endian, with the first axis fastest, behind a header."""
    place = folder / "h.n5" / "a"
    attributes = {"dimensions": [4, 6], "blockSize": [2, 4], "dataType": "int32", "compression": {"type": "raw"}}
    for row in range(2):
        for column in range(2):
            block = VALUES[4 * row : 4 * row + 4, 2 * column : 2 * column + 2]
            file = place / str(column) / str(row)
            file.parent.mkdir(parents=True, exist_ok=True)
            header = [0, 2, 0, block.shape[1], 0, block.shape[0]]
            file.write_bytes(np.array(header, dtype=">u2").tobytes() + block.astype(">i4").tobytes())
    (place.parent / "attributes.json").write_text(json.dumps({"n5": "2.0.0"}))
    (place / "attributes.json").write_text(json.dumps(attributes))
    return str(folder / "h.n5")


def references(folder: Path) -> dict[str, Any]:
    """The references of kerchunk to one file with all elements."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.bin").write_bytes(VALUES.tobytes())
    document = {
        "zarr_format": 2, "shape": [6, 4], "chunks": [3, 4], "dtype": "<i4", "compressor": None, "fill_value": 0,
        "order": "C", "filters": None,
    }  # fmt: skip
    return {".zgroup": {"zarr_format": 2}, "a/.zarray": document}


def kerchunk_json(folder: Path) -> str:
    """References in JSON."""
    texts = {key: json.dumps(value) for key, value in references(folder).items()}
    chunks = {f"a/{i}.0": [str(folder / "data.bin"), 48 * i, 48] for i in range(2)}
    (folder / "refs.json").write_text(json.dumps({"version": 1, "refs": {**texts, **chunks}}))
    return str(folder / "refs.json")


def kerchunk_parquet(folder: Path) -> str:
    """References in parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / "refs.parq"
    (place / "a").mkdir(parents=True)
    (place / ".zmetadata").write_text(json.dumps({"metadata": references(folder), "record_size": 2}))
    path, none = str(folder / "data.bin"), pa.nulls(2, pa.binary())
    rows = {"path": [path, path], "offset": [0, 48], "size": [48, 48], "raw": none}
    pq.write_table(pa.table(rows), place / "a" / "refs.0.parq")
    return str(place)


def zipped(folder: Path, **options: Any) -> str:
    """A zip archive."""
    folder.mkdir(parents=True, exist_ok=True)
    return made(str(folder / "h.zip"), **options)


LAYOUTS = [
    Layout("format 3", lambda folder: made(str(folder / "h")), True),
    Layout("format 3, consolidated", lambda folder: made(str(folder / "h"), True), True),
    Layout("format 3 in a zip archive", zipped, True),
    Layout("URL of ZEP 8 into a zip archive", lambda folder: f"file://{zipped(folder)}|zip:", True),
    Layout("format 2", lambda folder: made(str(folder / "h"), zarr_format=2), True),
    Layout("format 2, consolidated", lambda folder: made(str(folder / "h"), True, zarr_format=2), True),
    Layout("format 2 in a zip archive", lambda folder: zipped(folder, zarr_format=2), True),
    Layout("draft of format 3, 2019 (written by `zarr.draft3`)", lambda folder: draft(folder, ""), True),
    Layout("draft of format 3, 2020 (written by `zarr.draft3`)", lambda folder: draft(folder, ".json"), True),
    Layout("N5", n5, False),
    Layout("kerchunk references, JSON", kerchunk_json, False),
    Layout("kerchunk references, parquet", kerchunk_parquet, False),
]


def own_answers(layout: Layout, folder: Path) -> dict[str, bool]:
    """Try a layout with this library: ``read``, ``write``, ``native``."""
    import zarr

    array: Any = zarr.open_group(layout.make(folder), mode="r")["a"]
    good = bool((array[...] == VALUES).all()) and bool((array[1:5:3, 2] == VALUES[1:5:3, 2]).all())
    native = array._handle.layout.program is not None and array._handle.bulk is not None
    array.store.close()
    return {"read": good, "write": good and layout.by_us, "native": good and native}
