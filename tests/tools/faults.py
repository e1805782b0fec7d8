"""Faults to plant: each spoils a sound hierarchy (see ``places.fill``) in one way, and tells what is to be found.

A plant returns the kind of the fault and its key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tools.places import chunk_key, delete, edit, get, keys, put

Plant = Callable[[Any, int], tuple[str, str]]


def node_document(zarr_format: int, path: str, kind: str = "array") -> str:
    name = "zarr.json" if zarr_format == 3 else f".z{kind}"
    return f"{path}/{name}" if path else name


def copy_key(zarr_format: int) -> str:
    return "zarr.json" if zarr_format == 3 else ".zmetadata"


# ---------------------------------------------------------------------------------------------- documents


def not_json(store: Any, form: int) -> tuple[str, str]:
    put(store, node_document(form, "a"), b"{")
    return "document-unreadable", node_document(form, "a")


def empty_document(store: Any, form: int) -> tuple[str, str]:
    put(store, node_document(form, "g/b"), b"")
    return "document-unreadable", node_document(form, "g/b")


def not_utf8(store: Any, form: int) -> tuple[str, str]:
    put(store, node_document(form, "t"), b'{"\xff": 1}')
    return "document-unreadable", node_document(form, "t")


def list_document(store: Any, form: int) -> tuple[str, str]:
    put(store, node_document(form, "g", "group"), b"[]")
    return "document-unreadable", node_document(form, "g", "group")


def deep_document(store: Any, form: int) -> tuple[str, str]:
    put(store, node_document(form, "a"), b'{"a":' * 2000 + b"1" + b"}" * 2000)
    return "document-unreadable", node_document(form, "a")


def wrong_format(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "a"), lambda document: document.update(zarr_format=5 - form))
    return "document-invalid", node_document(form, "a")


def no_shape(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "a"), lambda document: document.pop("shape"))
    return "document-invalid", node_document(form, "a")


def negative_shape(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "a"), lambda document: document.update(shape=[-6, 4]))
    return "document-invalid", node_document(form, "a")


def other_rank(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "a"), lambda document: document.update(shape=[6, 4, 2]))
    return "document-invalid", node_document(form, "a")


def unknown_type(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "a"), lambda d: d.update({"dtype" if form == 2 else "data_type": "float7"}))
    return "document-invalid", node_document(form, "a")


def wrong_fill(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "a"), lambda document: document.update(fill_value={"x": 1}))
    return "document-invalid", node_document(form, "a")


def wrong_separator(store: Any, form: int) -> tuple[str, str]:
    encoding = {"name": "default", "configuration": {"separator": "-"}}
    change = {"dimension_separator": "-"} if form == 2 else {"chunk_key_encoding": encoding}
    edit(store, node_document(form, "a"), lambda document: document.update(change))
    return "document-invalid", node_document(form, "a")


def unknown_codec(store: Any, form: int) -> tuple[str, str]:
    def change(document: dict[str, Any]) -> None:
        if form == 2:
            document["compressor"] = {"id": "of-nobody"}
        else:
            document["codecs"].append({"name": "of-nobody", "configuration": {}})

    edit(store, node_document(form, "g/b"), change)
    return "codec-unknown", node_document(form, "g/b")


def unnamed_codec(store: Any, form: int) -> tuple[str, str]:
    def change(document: dict[str, Any]) -> None:
        if form == 2:
            document["compressor"] = {"level": 1}
        else:
            document["codecs"].append({"configuration": {}})

    edit(store, node_document(form, "g/b"), change)
    return "document-invalid", node_document(form, "g/b")


def names_of_other_rank(store: Any, form: int) -> tuple[str, str]:
    edit(store, "a/zarr.json", lambda document: document.update(dimension_names=["x"]))
    return "document-invalid", "a/zarr.json"


def unknown_member(store: Any, form: int) -> tuple[str, str]:
    edit(store, "a/zarr.json", lambda document: document.update(secret={"name": "x"}))
    return "document-invalid", "a/zarr.json"


def no_node_type(store: Any, form: int) -> tuple[str, str]:
    edit(store, "g/zarr.json", lambda document: document.pop("node_type"))
    return "document-invalid", "g/zarr.json"


def no_format(store: Any, form: int) -> tuple[str, str]:
    edit(store, "g/zarr.json", lambda document: document.pop("zarr_format"))
    return "document-nonconforming", "g/zarr.json"


def attributes_of_the_other_format(store: Any, form: int) -> tuple[str, str]:
    put(store, "a/.zattrs", {"x": 1})
    return "key-stray", "a/.zattrs"


def copy_of_the_other_format(store: Any, form: int) -> tuple[str, str]:
    put(store, "g/.zmetadata", b"{")
    return "key-stray", "g/.zmetadata"


def impossible_codecs(store: Any, form: int) -> tuple[str, str]:
    edit(store, "g/b/zarr.json", lambda document: document["codecs"].reverse())
    return "document-invalid", "g/b/zarr.json"


def inner_chunks_do_not_fit(store: Any, form: int) -> tuple[str, str]:
    edit(store, "s/zarr.json", lambda d: d["codecs"][0]["configuration"].update(chunk_shape=[3, 3]))
    return "document-invalid", "s/zarr.json"


def boolean_length(store: Any, form: int) -> tuple[str, str]:
    lengths = {"name": "regular", "configuration": {"chunk_shape": [True, 4]}}
    edit(store, "a/zarr.json", lambda document: document.update(shape=[1, 4], chunk_grid=lengths))
    return "document-nonconforming", "a/zarr.json"


def damaged_attributes(store: Any, form: int) -> tuple[str, str]:
    put(store, "a/.zattrs", b"{]")
    return "document-unreadable", "a/.zattrs"


def attributes_alone(store: Any, form: int) -> tuple[str, str]:
    put(store, "lost/.zattrs", {"x": 1})
    return "document-missing", "lost/.zattrs"


def missing_array(store: Any, form: int) -> tuple[str, str]:
    delete(store, node_document(form, "a"))
    return "document-missing", "a/.zattrs" if form == 2 else "a/zarr.json"


def missing_group(store: Any, form: int) -> tuple[str, str]:
    delete(store, node_document(form, "g", "group"))
    return "document-missing", "g/.zattrs" if form == 2 else "g/zarr.json"


def two_formats(store: Any, form: int) -> tuple[str, str]:
    if form == 2:
        put(store, "g/zarr.json", {"zarr_format": 3, "node_type": "group"})
    else:
        put(store, "g/.zgroup", {"zarr_format": 2})
    return "two-formats", "g/.zgroup"


def array_and_group(store: Any, form: int) -> tuple[str, str]:
    put(store, "a/.zgroup", {"zarr_format": 2})
    return "array-and-group", "a/.zarray"


def node_below_array(store: Any, form: int) -> tuple[str, str]:
    group: dict[str, Any] = {"zarr_format": form} | ({"node_type": "group"} if form == 3 else {})
    put(store, node_document(form, "a/below", "group"), group)
    return "node-below-array", node_document(form, "a/below", "group")


def parent_missing(store: Any, form: int) -> tuple[str, str]:
    group: dict[str, Any] = {"zarr_format": form} | ({"node_type": "group"} if form == 3 else {})
    put(store, node_document(form, "h/i", "group"), group)
    return "parent-missing", node_document(form, "h", "group")


def other_format_below(store: Any, form: int) -> tuple[str, str]:
    group = {"zarr_format": 3, "node_type": "group"} if form == 2 else {"zarr_format": 2}
    put(store, node_document(5 - form, "g/other", "group"), group)
    return "format-mismatch", node_document(5 - form, "g/other", "group")


# ------------------------------------------------------------------------------------------------- copies


def copy_of_old_attributes(store: Any, form: int) -> tuple[str, str]:
    if form == 3:
        edit(store, "a/zarr.json", lambda document: document.update(attributes={"new": 1}))
    else:
        put(store, "a/.zattrs", {"new": 1})
    return "copy-stale", copy_key(form)


def copy_of_old_shape(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "t"), lambda document: document.update(shape=[6]))
    return "copy-stale", copy_key(form)


def copy_lacks_node(store: Any, form: int) -> tuple[str, str]:
    group: dict[str, Any] = {"zarr_format": form} | ({"node_type": "group"} if form == 3 else {})
    put(store, node_document(form, "new", "group"), group)
    return "copy-stale", copy_key(form)


def copy_has_gone_node(store: Any, form: int) -> tuple[str, str]:
    for key in keys(store):
        if key.startswith("t/"):
            delete(store, key)
    return "copy-stale", copy_key(form)


def copy_is_no_object(store: Any, form: int) -> tuple[str, str]:
    change: dict[str, Any] = {"consolidated_metadata": [1]} if form == 3 else {"metadata": 5}
    edit(store, copy_key(form), lambda document: document.update(change))
    return "copy-unreadable", copy_key(form)


def copy_of_damage(store: Any, form: int) -> tuple[str, str]:
    def change(document: dict[str, Any]) -> None:
        holder = document["consolidated_metadata"] if form == 3 else document
        holder["metadata"]["a" if form == 3 else "a/.zarray"] = {"zarr_format": form, "shape": 5}

    edit(store, copy_key(form), change)
    return "copy-stale", copy_key(form)


def copy_cut_off(store: Any, form: int) -> tuple[str, str]:
    put(store, ".zmetadata", get(store, ".zmetadata")[:100])
    return "copy-unreadable", ".zmetadata"


def copy_of_other_version(store: Any, form: int) -> tuple[str, str]:
    edit(store, ".zmetadata", lambda document: document.update(zarr_consolidated_format=2))
    return "copy-unreadable", ".zmetadata"


# ------------------------------------------------------------------------------------------------- chunks


def truncated_plain(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "a", 1, 1)
    put(store, key, get(store, key)[:-1])
    return "chunk-truncated", key


def too_long_plain(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "a", 0, 1)
    put(store, key, get(store, key) + b"\0")
    return "chunk-too-long", key


def empty_chunk(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "g/b", 0)
    put(store, key, b"")
    return "chunk-truncated", key


def truncated_compressed(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "g/b", 1)
    put(store, key, get(store, key)[:-5])
    return "chunk-undecodable", key


def garbage_compressed(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "g/b", 2)
    put(store, key, bytes(range(200)))
    return "chunk-undecodable", key


def huge_compressed(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "g/b", 2)
    put(store, key, bytes(17 << 20))
    return "chunk-too-long", key


def broken_text(store: Any, form: int) -> tuple[str, str]:
    key = chunk_key(form, "t", 1)
    put(store, key, b"\xff" * 30)
    return "chunk-undecodable", key


def other_chunk(store: Any, form: int) -> tuple[str, str]:
    put(store, chunk_key(form, "g/b", 0), get(store, chunk_key(form, "a", 0, 0)))
    return "chunk-undecodable", chunk_key(form, "g/b", 0)


def outside_grid(store: Any, form: int) -> tuple[str, str]:
    put(store, chunk_key(form, "a", 3, 0), get(store, chunk_key(form, "a", 0, 0)))
    return "chunk-outside-grid", chunk_key(form, "a", 3, 0)


def outside_grid_after_shrinking(store: Any, form: int) -> tuple[str, str]:
    edit(store, node_document(form, "g/b"), lambda document: document.update(shape=[8]))
    return "chunk-outside-grid", chunk_key(form, "g/b", 2)


def misplaced_separator(store: Any, form: int) -> tuple[str, str]:
    key = "a/2/1" if form == 2 else "a/c.2.1"
    put(store, key, get(store, chunk_key(form, "a", 2, 1)))
    delete(store, chunk_key(form, "a", 2, 1))
    return "key-misplaced", key


def misplaced_encoding(store: Any, form: int) -> tuple[str, str]:
    put(store, chunk_key(5 - form, "a", 2, 1), get(store, chunk_key(form, "a", 2, 1)))
    return "key-misplaced", chunk_key(5 - form, "a", 2, 1)


def stray_in_array(store: Any, form: int) -> tuple[str, str]:
    put(store, "a/notes.txt", b"x")
    return "key-stray", "a/notes.txt"


def stray_in_group(store: Any, form: int) -> tuple[str, str]:
    put(store, "g/deep/er/thing", b"x")
    return "key-stray", "g/deep/er/thing"


def stray_in_root(store: Any, form: int) -> tuple[str, str]:
    put(store, "README.md", b"x")
    return "key-stray", "README.md"


def stray_of_other_rank(store: Any, form: int) -> tuple[str, str]:
    put(store, chunk_key(form, "a", 9, 0, 0), b"x")
    return "key-stray", chunk_key(form, "a", 9, 0, 0)


def stray_leading_zero(store: Any, form: int) -> tuple[str, str]:
    key = "a/00.1" if form == 2 else "a/c/00/1"
    put(store, key, b"x")
    return "key-stray", key


# ------------------------------------------------------------------------------------ checksums and shards


def wrong_checksum(store: Any, form: int) -> tuple[str, str]:
    data = bytearray(get(store, "c/c/1"))
    data[3] ^= 1
    put(store, "c/c/1", bytes(data))
    return "chunk-checksum", "c/c/1"


def short_shard(store: Any, form: int) -> tuple[str, str]:
    put(store, "s/c/0/0", get(store, "s/c/0/0")[:20])
    return "shard-index", "s/c/0/0"


def flipped_index(store: Any, form: int) -> tuple[str, str]:
    data = bytearray(get(store, "s/c/0/1"))
    data[-10] ^= 1
    put(store, "s/c/0/1", bytes(data))
    return "shard-index", "s/c/0/1"


def with_index(store: Any, key: str, change: Callable[[Any], Any]) -> None:
    """Give a shard another index, with the right checksum."""
    import google_crc32c

    data = get(store, key)
    rows = np.frombuffer(data[-68:-4], dtype="<u8").reshape(4, 2).copy()
    change(rows)
    index = rows.tobytes()
    put(store, key, data[:-68] + index + google_crc32c.value(index).to_bytes(4, "little"))


def range_outside(store: Any, form: int) -> tuple[str, str]:
    with_index(store, "s/c/1/1", lambda rows: rows.__setitem__((2, 0), 1 << 40))
    return "shard-range-outside", "s/c/1/1"


def range_overflows(store: Any, form: int) -> tuple[str, str]:
    with_index(store, "s/c/1/1", lambda rows: rows.__setitem__((1, 1), 2**64 - 3))
    return "shard-range-outside", "s/c/1/1"


def range_in_index(store: Any, form: int) -> tuple[str, str]:
    with_index(store, "s/c/1/0", lambda rows: rows.__setitem__((3, 0), rows[3, 0] + 4))
    return "shard-range-outside", "s/c/1/0"


def overlap(store: Any, form: int) -> tuple[str, str]:
    def change(rows: Any) -> None:
        rows[np.argmax(rows[:, 0]), 0] -= 2

    with_index(store, "s/c/1/0", change)
    return "shard-overlap", "s/c/1/0"


def same_place_twice(store: Any, form: int) -> tuple[str, str]:
    with_index(store, "s/c/0/0", lambda rows: rows.__setitem__(1, rows[0]))
    return "shard-overlap", "s/c/0/0"


def half_empty(store: Any, form: int) -> tuple[str, str]:
    with_index(store, "s/c/0/0", lambda rows: rows.__setitem__((1, 0), 2**64 - 1))
    return "shard-index", "s/c/0/0"


def short_inner_chunk(store: Any, form: int) -> tuple[str, str]:
    with_index(store, "s/c/0/1", lambda rows: rows.__setitem__((0, 1), 7))
    return "chunk-truncated", "s/c/0/1"


def shard_outside_grid(store: Any, form: int) -> tuple[str, str]:
    put(store, "s/c/2/0", get(store, "s/c/0/0"))
    return "chunk-outside-grid", "s/c/2/0"


BOTH: list[Plant] = [
    not_json, empty_document, not_utf8, list_document, deep_document, wrong_format, no_shape, negative_shape,
    other_rank, unknown_type, wrong_fill, wrong_separator, unknown_codec, unnamed_codec, missing_array, missing_group,
    two_formats,
    node_below_array, parent_missing, other_format_below, copy_of_old_attributes, copy_of_old_shape, copy_lacks_node,
    copy_has_gone_node, copy_is_no_object, copy_of_damage, truncated_plain, too_long_plain, empty_chunk,
    truncated_compressed, garbage_compressed, huge_compressed, broken_text, other_chunk, outside_grid,
    outside_grid_after_shrinking, misplaced_separator, misplaced_encoding, stray_in_array, stray_in_group,
    stray_in_root, stray_of_other_rank, stray_leading_zero,
]  # fmt: skip
ONLY_2: list[Plant] = [damaged_attributes, attributes_alone, array_and_group, copy_cut_off, copy_of_other_version]
ONLY_3: list[Plant] = [
    names_of_other_rank, unknown_member, no_node_type, no_format, attributes_of_the_other_format,
    copy_of_the_other_format, impossible_codecs, inner_chunks_do_not_fit, boolean_length,
    wrong_checksum, short_shard, flipped_index, range_outside, range_overflows, range_in_index, overlap,
    same_place_twice, half_empty, short_inner_chunk, shard_outside_grid,
]  # fmt: skip
CASES = [(plant, form) for form, plants in ((2, BOTH + ONLY_2), (3, BOTH + ONLY_3)) for plant in plants]
