"""Documents that implementations disagree about: which open, as what, and which are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::zarr.errors.ZarrUserWarning")

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
V3: dict[str, Any] = {
    "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "codecs": [BYTES],
}  # fmt: skip
V2: dict[str, Any] = {
    "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": None, "fill_value": 0, "order": "C",
    "filters": None,
}  # fmt: skip
CHUNK = np.arange(2, dtype="<i4").tobytes()
SQUARE = {"shape": [2, 2], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}}}


def store_of(values: dict[str, Any]) -> dict[str, Buffer]:
    raw = {key: value if isinstance(value, bytes) else json.dumps(value).encode() for key, value in values.items()}
    return {key: Buffer.from_bytes(value) for key, value in raw.items()}


def read(document: dict[str, Any], key: str, chunk: bytes) -> list[Any]:
    name = "zarr.json" if document["zarr_format"] == 3 else ".zarray"
    array = zarr.open_array(store_of({name: document, key: chunk}), mode="r")
    found: list[Any] = np.asarray(array[...]).tolist()
    return found


@pytest.mark.parametrize(
    ("change", "key", "chunk", "wanted"),
    [
        # Names alone, in the place of objects.
        ({"data_type": "uint8", "codecs": ["bytes"]}, "c/0", b"\1\2", [1, 2, 0, 0]),
        ({"chunk_key_encoding": "default"}, "c/0", CHUNK, [0, 1, 0, 0]),
        ({"chunk_key_encoding": "v2"}, "0", CHUNK, [0, 1, 0, 0]),
        ({"chunk_key_encoding": {"name": "v2"}}, "0", CHUNK, [0, 1, 0, 0]),
        ({"data_type": {"name": "int32"}}, "c/0", CHUNK, [0, 1, 0, 0]),
        ({"data_type": {"name": "int32", "configuration": {}}}, "c/0", CHUNK, [0, 1, 0, 0]),
        # Names of old data.
        ({"codecs": [{"name": "endian", "configuration": {"endian": "little"}}]}, "c/0", CHUNK, [0, 1, 0, 0]),
        ({"data_type": "binary", "fill_value": "", "codecs": ["vlen-bytes"]}, "x", b"", [b""] * 4),
        ({"data_type": "variable_length_bytes", "fill_value": "", "codecs": ["vlen-bytes"]}, "x", b"", [b""] * 4),
        ({"codecs": [BYTES, {"name": "numcodecs.adler32"}]}, "x", b"", [0] * 4),
        # What must not be understood, and what is told of it in objects.
        ({"codecs": [{**BYTES, "must_understand": True}]}, "c/0", CHUNK, [0, 1, 0, 0]),
        ({"codecs": [{**BYTES, "must_understand": False}]}, "c/0", CHUNK, [0, 1, 0, 0]),
        ({"more": {"must_understand": False, "x": 1}}, "c/0", CHUNK, [0, 1, 0, 0]),
        ({"storage_transformers": []}, "c/0", CHUNK, [0, 1, 0, 0]),
        # Fill values.
        ({"data_type": "bytes", "fill_value": [1, 2], "codecs": ["vlen-bytes"]}, "x", b"", [b"\1\2"] * 4),
        ({"data_type": "bytes", "fill_value": "AQI=", "codecs": ["vlen-bytes"]}, "x", b"", [b"\1\2"] * 4),
        ({"data_type": "r16", "fill_value": [1, 2]}, "c/0", b"abcd", [b"ab", b"cd", b"\1\2", b"\1\2"]),
    ],
)
def test_documents_of_format_3_that_open(change: dict[str, Any], key: str, chunk: bytes, wanted: list[Any]) -> None:
    assert read({**V3, **change}, key, chunk) == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"codecs": ["bytes"]},  # no byte order, and more than one byte
        {"codecs": [BYTES, {"name": "example.none", "must_understand": False}]},
        {"chunk_grid": {"name": "example.none", "must_understand": False}},
        {"data_type": {"name": "example.none", "must_understand": False}},
        {"more": {"x": 1}},
        {"more": "x"},
        {"more": None},
        {"storage_transformers": [{"name": "example.none"}]},
        {"fill_value": None},
        {"fill_value": 1.5},
        {"fill_value": 2**31},
        {"data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}}, "fill_value": ""},
        {"data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}, "fill_value": "abc"},
        {"chunk_key_encoding": {"name": "example.none"}},
    ],
)
def test_documents_of_format_3_that_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        read({**V3, **change}, "c/0", CHUNK)


@pytest.mark.parametrize(
    ("change", "key", "chunk", "wanted"),
    [
        ({"dimension_separator": None}, "0", CHUNK, [0, 1, 0, 0]),
        ({"dimension_separator": "/"}, "0", CHUNK, [0, 1, 0, 0]),
        ({"filters": []}, "0", CHUNK, [0, 1, 0, 0]),
        ({"fill_value": [-1]}, "0", CHUNK, [0, 1, -1, -1]),
        ({"fill_value": None}, "0", CHUNK, [0, 1, 0, 0]),
        ({"_NCZARR_ARRAY": {"dimrefs": ["/x"]}, "_nczarr_array": {}}, "0", CHUNK, [0, 1, 0, 0]),
        ({"dtype": "<u1"}, "0", b"\1\2", [1, 2, 0, 0]),
        ({"dtype": ">b1", "fill_value": False}, "0", b"\0\1", [False, True, False, False]),
        ({"dtype": "|S2", "fill_value": 0}, "0", b"aabb", [b"aa", b"bb", b"", b""]),
        ({"dtype": "<U1", "fill_value": 0}, "0", "ab".encode("utf-32-le"), ["a", "b", "", ""]),
        ({"dtype": "|V2", "fill_value": 0}, "0", b"aabb", [b"aa", b"bb", b"\0\0", b"\0\0"]),
    ],
)
def test_documents_of_format_2_that_open(change: dict[str, Any], key: str, chunk: bytes, wanted: list[Any]) -> None:
    assert read({**V2, **change}, key, chunk) == wanted


def test_the_grid_of_the_proposal_before_rectilinear() -> None:
    grid = {"name": "rectangular", "configuration": {"chunk_shape": [[1, 3]]}}
    with zarr.config.set({"array.rectilinear_chunks": True}):
        array = zarr.open_array(store_of({"zarr.json": {**V3, "chunk_grid": grid}, "c/1": 3 * CHUNK[4:]}), mode="r")
        document: Any = array.metadata.to_dict()
    assert np.asarray(array[...]).tolist() == [0, 1, 1, 1]
    assert document["chunk_grid"]["name"] == "rectilinear"
    assert document["chunk_grid"]["configuration"]["chunk_shapes"] in ([[1, 3]], ([1, 3],))


def test_a_transpose_before_a_shard_whose_parts_fit_only_after_it() -> None:
    data = np.arange(24, dtype="i4").reshape(4, 6)
    index = [BYTES, "crc32c"]
    inside = {"chunk_shape": [3, 4], "codecs": [BYTES], "index_codecs": index}
    shard = {"name": "sharding_indexed", "configuration": inside}
    document = {
        **V3, "shape": [4, 6], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
        "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, shard],
    }  # fmt: skip
    array = zarr.open_array(store_of({"zarr.json": document}), mode="r+")
    array[...] = data
    array[1, 2:5] = data[1, 2:5] = -1
    np.testing.assert_array_equal(array[...], data)
    np.testing.assert_array_equal(array[1:3, 2:5], data[1:3, 2:5])


def test_copies_of_documents_with_strangers_in_them() -> None:
    strange = {**V2, "dtype": "<q9"}
    metadata = {".zgroup": {"zarr_format": 2}, "x/.zarray": V2, "y/.zarray": strange, "z/unexpected/.zattrs": {"a": 1}}
    copy = {"zarr_consolidated_format": 1, "metadata": metadata}
    group = zarr.open_group(store_of({".zgroup": {"zarr_format": 2}, ".zmetadata": copy}), mode="r")
    assert group["x"].shape == (4,)
    assert "z/unexpected" not in group
    with pytest.raises(ValueError, match="q9"):
        list(group)


@pytest.mark.parametrize("name", ["..", "...", "zarr.json", ".zarray", "a/../b"])
def test_names_that_no_node_can_have(name: str) -> None:
    with pytest.raises(ValueError, match=r"segments|periods|document"):
        zarr.group({}).create_group(name)


def test_names_are_not_normalized() -> None:
    root = zarr.group({})
    root.create_group("\u00e9")
    root.create_group("e\u0301")
    assert len(root) == 2
