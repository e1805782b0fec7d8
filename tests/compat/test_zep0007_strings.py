"""The strings draft, ZEP 7, statement by statement (zep0007-strings.md).

The draft was never accepted. What it defines is read where a document says so, and written by a codec of our own name;
new arrays of strings keep ``vlen-utf8``, which other implementations read.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import ArrowVLenCodec
from zarr.core.buffer.cpu import Buffer
from zarr.errors import ChunkDecodeError
from zarr.storage import MemoryStore

FOX = ["the", "quick", "bröwn", "fox"]


def draft_chunk(items: list[bytes], width: int = 4) -> bytes:
    """Return a chunk by the words of the draft: offsets, zeros to the nearest 64 bytes, data."""
    offsets = np.cumsum([0, *map(len, items)]).astype(f"<i{width}").tobytes()
    start = -(-len(offsets) // 64) * 64
    return offsets + bytes(start - len(offsets)) + b"".join(items)


def document(name: str, shape: list[int], chunks: list[int], **members: Any) -> bytes:
    grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
    return json.dumps(
        {
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": {"name": name}, "chunk_grid": grid,
            "chunk_key_encoding": {"name": "default"}, "fill_value": "", **members,
        }
    ).encode()  # fmt: skip


def opened(files: dict[str, bytes]) -> Any:
    return zarr.open_array(MemoryStore({key: Buffer.from_bytes(raw) for key, raw in files.items()}))


def created(items: list[Any], dtype: str, **options: Any) -> tuple[MemoryStore, Any]:
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=(len(items),), chunks=(max(len(items), 1),), dtype=dtype, compressors=None,
        serializer=ArrowVLenCodec(**options), config={"write_empty_chunks": True},
    )  # fmt: skip
    array[:] = np.array(items, dtype=object)
    return store, array


@pytest.mark.parametrize("members", [{}, {"codecs": []}, {"codecs": [{"name": "gzip", "configuration": {"level": 1}}]}])
def test_s1_the_data_type_alone_says_the_layout(members: dict[str, Any]) -> None:
    import gzip

    raw = draft_chunk([item.encode() for item in FOX])
    raw = gzip.compress(raw) if members.get("codecs") else raw
    array = opened({"zarr.json": document("string", [4], [4], **members), "c/0": raw})
    assert array[:].tolist() == FOX
    binary = opened({"zarr.json": document("binary", [4], [4], **members), "c/0": raw})
    assert binary[:].tolist() == [item.encode() for item in FOX]
    binary[0] = b"a"
    assert binary[:].tolist()[:2] == [b"a", b"quick"]


def test_s1_a_changed_document_says_what_the_draft_leaves_out() -> None:
    array = opened({"zarr.json": document("string", [4], [4]), "c/0": draft_chunk([b"a", b"b", b"", b"c"])})
    array.attrs["title"] = "letters"
    again = zarr.open_array(array.store)
    assert again[:].tolist() == ["a", "b", "", "c"]
    stored = json.loads(array.store._store_dict["zarr.json"].to_bytes())
    assert stored["codecs"] == [{"name": "zarr_core.arrow-vlen", "configuration": {"offset": "int32"}}]


def test_s1_strings_with_another_codec_are_not_read_as_the_draft_has_them() -> None:
    array = opened({"zarr.json": document("string", [4], [4], codecs=["vlen-utf8"])})
    assert type(array.metadata.codecs[0]).__name__ == "VLenUTF8Codec"
    with pytest.raises(ValueError, match="ArrayBytesCodec"):
        opened({"zarr.json": document("int8", [4], [4], codecs=[], fill_value=0)})


def test_s2_offsets_zeros_data() -> None:
    store, _ = created(FOX, "string")
    assert store._store_dict["c/0"].to_bytes() == draft_chunk([item.encode() for item in FOX])
    many = [f"{i}" for i in range(15)]
    store, _ = created(many, "string")  # sixteen offsets fill 64 bytes: there is no padding
    assert store._store_dict["c/0"].to_bytes()[64:] == "".join(many).encode()


def test_s3_offsets_are_signed_and_count_bytes() -> None:
    store, array = created(["é", "日本", ""], "string")
    raw = store._store_dict["c/0"].to_bytes()
    assert np.frombuffer(raw, "<i4", 4).tolist() == [0, 2, 8, 8]
    assert array[:].tolist() == ["é", "日本", ""]
    store._store_dict["c/0"] = Buffer.from_bytes(np.array([0, -2, 8, 8], "<i4").tobytes() + raw[16:])
    with pytest.raises(ChunkDecodeError, match="offset 1 of 4 is -2"):
        array[:]


@pytest.mark.parametrize("name", ["large_string", "LargeString", "large_binary", "LargeBinary"])
def test_s4_the_large_forms_have_offsets_of_64_bits(name: str) -> None:
    array = opened({"zarr.json": document(name, [3], [3]), "c/0": draft_chunk([b"a", b"", b"bc"], 8)})
    got = array[:].tolist()
    assert got == ([b"a", b"", b"bc"] if "inary" in name else ["a", "", "bc"])
    assert array.metadata.codecs == (ArrowVLenCodec(offset="int64"),)


def test_s4_written_with_offsets_of_64_bits() -> None:
    store, _ = created([b"a", b"", b"bc"], "variable_length_bytes", offset="int64")
    assert store._store_dict["c/0"].to_bytes() == draft_chunk([b"a", b"", b"bc"], 8)


@pytest.mark.parametrize("count", [1, 14, 15, 16, 17, 100])
def test_s5_the_data_begin_at_a_multiple_of_64_bytes(count: int) -> None:
    items = [b"%d" % i for i in range(count)]
    store, _ = created(items, "variable_length_bytes")
    raw = store._store_dict["c/0"].to_bytes()
    start = -(-4 * (count + 1) // 64) * 64
    assert raw[4 * (count + 1) : start] == bytes(start - 4 * (count + 1))
    assert raw[start:] == b"".join(items)


def test_s5_arrow_takes_the_chunk_as_it_is() -> None:
    pytest.importorskip("pyarrow")
    store, array = created(FOX, "string")
    _, offsets, data = array.to_arrow().buffers()
    address = store._store_dict["c/0"].as_numpy_array().ctypes.data
    assert (offsets.address, data.address) == (address, address + 64)


def test_s5_awkward_takes_the_chunk_as_it_is() -> None:
    pytest.importorskip("awkward")
    store, array = created(FOX, "string")
    got = array.to_awkward()
    assert got.to_list() == FOX
    assert got.layout.content.data.ctypes.data == store._store_dict["c/0"].as_numpy_array().ctypes.data + 64


@pytest.mark.parametrize("offset", ["int32", "int64"])
@pytest.mark.parametrize(("dtype", "items"), [("string", ["a", "é", ""]), ("bytes", [b"a", b"", b"bc"])])
def test_s5_every_form_is_taken_as_it_is(dtype: str, items: list[Any], offset: str) -> None:
    pa = pytest.importorskip("pyarrow")
    ak = pytest.importorskip("awkward")
    store, array = created(items, dtype, offset=offset)
    raw = store._store_dict["c/0"]
    address = raw.as_numpy_array().ctypes.data
    arrow = array.to_arrow()
    kinds = {("string", "int32"): pa.string(), ("string", "int64"): pa.large_string(), ("bytes", "int32"): pa.binary()}
    assert arrow.type == kinds.get((dtype, offset), pa.large_binary())
    assert [buffer.address - address for buffer in arrow.buffers()[1:]] == [0, 64]
    assert arrow.to_pylist() == items
    as_the_draft_has_it = pa.Array.from_buffers(
        arrow.type, len(items), [None, pa.py_buffer(raw.to_bytes()[:64]), pa.py_buffer(raw.to_bytes()[64:])]
    )
    assert arrow == as_the_draft_has_it
    ragged = array.to_awkward()
    kind, part = ("string", "char") if dtype == "string" else ("bytestring", "byte")
    assert (ragged.layout.parameters["__array__"], ragged.layout.content.parameters["__array__"]) == (kind, part)
    assert ragged.layout.content.data.ctypes.data == address + 64
    assert ak.to_list(ragged) == items


def test_the_example_for_users() -> None:
    group = zarr.group()
    group.create_array("string_array", data=["the", "quick", "brown", "fox"])
    assert group["string_array"][:].tolist() == ["the", "quick", "brown", "fox"]


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [0, 1, 2, 4], [1, 1, 2, 3], [0, 1, 2**31 - 1, 3]])
def test_offsets_that_go_back_or_beyond_are_refused(offsets: list[int]) -> None:
    raw = np.array(offsets, "<i4").tobytes().ljust(64, b"\0") + b"abc"
    array = opened({"zarr.json": document("string", [3], [3]), "c/0": raw})
    with pytest.raises(ChunkDecodeError, match="offset"):
        array[:]


def test_s6_offsets_are_little_endian() -> None:
    store, _ = created(["a" * 258], "string")
    assert store._store_dict["c/0"].to_bytes()[4:8] == b"\x02\x01\0\0"


def test_s7_nothing_is_one_offset() -> None:
    store, array = created([""], "string")
    assert store._store_dict["c/0"].to_bytes() == bytes(64)
    assert array[:].tolist() == [""]
    empty = opened({"zarr.json": document("string", [0], [1])})
    assert empty[:].tolist() == []


def test_chunks_of_several_dimensions_are_in_c_order() -> None:
    items = [b"a", b"b", b"c", b"d", b"e", b"f"]
    array = opened({"zarr.json": document("string", [2, 3], [2, 3]), "c/0/0": draft_chunk(items)})
    assert array[:].tolist() == [["a", "b", "c"], ["d", "e", "f"]]


@pytest.mark.parametrize("shards", [None, (40,)])
def test_as_a_codec_among_others(shards: Any) -> None:
    values = np.array([f"{i}" * (i % 5) for i in range(103)], dtype=object)
    array = zarr.create_array(
        {}, shape=(103,), chunks=(10,), shards=shards, dtype="string",
        serializer={"name": "zarr_core.arrow-vlen"},
    )  # fmt: skip
    array[:] = values
    array[7:33:3] = "x"
    values[7:33:3] = "x"
    assert array[:].tolist() == values.tolist()


@pytest.mark.parametrize("codecs", [None, [], [{"name": "gzip", "configuration": {"level": 1}}]])
@pytest.mark.parametrize(("name", "width"), [("string", 4), ("LargeString", 8)])
def test_chunks_in_shards_have_the_layout_too(codecs: Any, name: str, width: int) -> None:
    import gzip

    chunks = [draft_chunk([b"a", "é".encode()], width), draft_chunk([b"", b"xyz"], width)]
    chunks = [gzip.compress(raw) for raw in chunks] if codecs else chunks
    places = [0, len(chunks[0]), len(chunks[0]), len(chunks[1])]
    shard = b"".join([*chunks, np.array(places, dtype="<u8").tobytes()])
    index = [{"name": "bytes", "configuration": {"endian": "little"}}]
    sharding: dict[str, Any] = {"chunk_shape": [2], "index_codecs": index}
    sharding |= {} if codecs is None else {"codecs": codecs}
    members = {"codecs": [{"name": "sharding_indexed", "configuration": sharding}]}
    array = opened({"zarr.json": document(name, [4], [4], **members), "c/0": shard})
    assert array[:].tolist() == ["a", "é", "", "xyz"]
    array[1:3] = ["long" * 20, "b"]
    assert zarr.open_array(array.store)[:].tolist() == ["a", "long" * 20, "b", "xyz"]


def test_the_default_is_what_others_read() -> None:
    array = zarr.create_array({}, shape=(3,), dtype="string")
    assert array.metadata.to_dict()["codecs"][0]["name"] == "vlen-utf8"


def test_other_data_types_are_refused() -> None:
    with pytest.raises(ValueError, match="strings and byte strings"):
        zarr.create_array({}, shape=(3,), dtype="int8", serializer=ArrowVLenCodec())
    with pytest.raises(ValueError, match="offset must be one of"):
        ArrowVLenCodec(offset="int16")
