"""Chunk coordinates to keys and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zarr
from zarr.chunks.key_extensions import (
    DefaultSuffixChunkKeyEncoding,
    FanoutChunkKeyEncoding,
    SuffixChunkKeyEncoding,
)
from zarr.chunks.keys import (
    ChunkKeyEncoding,
    DefaultChunkKeyEncoding,
    V2ChunkKeyEncoding,
    parse_chunk_key_encoding,
)
from zarr.registry import register_chunk_key_encoding

encodings = st.builds(
    lambda cls, separator: cls(separator=separator),
    st.sampled_from([DefaultChunkKeyEncoding, V2ChunkKeyEncoding]),
    st.sampled_from([".", "/"]),
)
coordinates = st.lists(st.integers(0, 2**40), min_size=1, max_size=5).map(tuple)


@given(encodings, coordinates)
def test_round_trip(encoding: ChunkKeyEncoding, coords: tuple[int, ...]) -> None:
    assert encoding.decode_chunk_key(encoding.encode_chunk_key(coords)) == coords
    assert parse_chunk_key_encoding(encoding.to_dict()) == encoding


@given(encodings, coordinates | st.just(()), st.sampled_from(["", "a", "a/b"]))
def test_core_agrees(encoding: ChunkKeyEncoding, coords: tuple[int, ...], path: str) -> None:
    core = encoding.to_core(path)
    assert core is not None
    key = encoding.encode_chunk_key(coords)
    assert core.key(coords) == (f"{path}/{key}" if path else key)


def test_known_keys() -> None:
    assert DefaultChunkKeyEncoding().encode_chunk_key((1, 2)) == "c/1/2"
    assert DefaultChunkKeyEncoding(".").encode_chunk_key((1, 2)) == "c.1.2"
    assert DefaultChunkKeyEncoding().encode_chunk_key(()) == "c"
    assert DefaultChunkKeyEncoding().decode_chunk_key("c") == ()
    assert V2ChunkKeyEncoding().encode_chunk_key((1, 2)) == "1.2"
    assert V2ChunkKeyEncoding("/").encode_chunk_key((1, 2)) == "1/2"
    assert V2ChunkKeyEncoding().encode_chunk_key(()) == "0"


@pytest.mark.parametrize("key", ["", "0", "0/1", "c.0.1", "/c/0", "c/x", "c/0/", "a"])
def test_keys_that_are_none(key: str) -> None:
    with pytest.raises(ValueError, match=r"chunk key|invalid literal"):
        DefaultChunkKeyEncoding().decode_chunk_key(key)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("default", DefaultChunkKeyEncoding("/")),
        ("v2", V2ChunkKeyEncoding(".")),
        ({"name": "default"}, DefaultChunkKeyEncoding("/")),
        ({"name": "v2", "separator": "/"}, V2ChunkKeyEncoding("/")),
        ({"name": "v2", "configuration": {"separator": "/"}}, V2ChunkKeyEncoding("/")),
        ({"name": "default", "configuration": {}, "must_understand": False}, DefaultChunkKeyEncoding("/")),
        (DefaultChunkKeyEncoding("."), DefaultChunkKeyEncoding(".")),
    ],
)
def test_forms(data: Any, expected: ChunkKeyEncoding) -> None:
    encoding = parse_chunk_key_encoding(data)
    assert encoding == expected
    assert hash(encoding) == hash(expected)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ("zigzag", ValueError, "Unknown chunk key encoding.*zigzag"),
        ({"name": "zigzag"}, ValueError, "Unknown chunk key encoding"),
        ({"name": "default", "configuration": {"separator": "x"}}, ValueError, "separator"),
        ({"name": "default", "configuration": {"separator": "/", "x": 1}}, TypeError, "x"),
        ({"name": "default", "configuration": None}, TypeError, "dict"),
        ({}, ValueError, "name"),
        ({"separator": "/"}, ValueError, "name"),
        (5, TypeError, "Expected dict"),
        (None, TypeError, "Expected dict"),
    ],
)
def test_refused(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        parse_chunk_key_encoding(data)


def test_an_encoding_of_a_third_party() -> None:
    @dataclass(frozen=True)
    class Suffixed(ChunkKeyEncoding):
        """Keys with a suffix."""

        name: ClassVar[str] = "test.suffixed"
        suffix: str = ".bin"

        def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
            return "/".join(map(str, chunk_coords)) + self.suffix

    register_chunk_key_encoding("test.suffixed", Suffixed)
    encoding = parse_chunk_key_encoding({"name": "test.suffixed", "configuration": {"suffix": ".x"}})
    assert encoding.encode_chunk_key((1, 2)) == "1/2.x"
    assert encoding.to_dict() == {"name": "test.suffixed", "configuration": {"suffix": ".x"}}
    assert encoding.to_core("") is None
    with pytest.raises(NotImplementedError, match="Suffixed"):
        encoding.decode_chunk_key("1/2.x")


@pytest.mark.parametrize(
    ("coords", "key"), [((), "c"), ((123,), "d0/1/23/c"), ((1234, 5, 67890), "d0/12/34/d1/5/d2/6/78/90/c")]
)
def test_the_examples_of_fanout(coords: tuple[int, ...], key: str) -> None:
    encoding = FanoutChunkKeyEncoding(max_children=101)
    assert encoding.encode_chunk_key(coords) == key
    assert encoding.decode_chunk_key(key) == coords


extended = st.one_of(
    st.builds(FanoutChunkKeyEncoding, st.integers(3, 2000)),
    st.builds(SuffixChunkKeyEncoding, st.sampled_from([".tiff", ".shard.zip", "_0"]), encodings),
    st.builds(DefaultSuffixChunkKeyEncoding, st.sampled_from([".tiff", ""]), st.sampled_from([".", "/"])),
)


@given(extended, coordinates)
def test_round_trip_of_the_extensions(encoding: ChunkKeyEncoding, coords: tuple[int, ...]) -> None:
    key = encoding.encode_chunk_key(coords)
    assert encoding.decode_chunk_key(key) == coords
    assert parse_chunk_key_encoding(encoding.to_dict()) == encoding
    for wrong in (key + "x", key.replace("c", "e"), ""):
        try:
            assert encoding.encode_chunk_key(encoding.decode_chunk_key(wrong)) == wrong
        except ValueError:
            continue


def test_no_folder_of_fanout_holds_more_than_it_may() -> None:
    encoding = FanoutChunkKeyEncoding(max_children=4)
    children: dict[str, set[str]] = {}
    for a in range(30):
        for b in range(11):
            parts = encoding.encode_chunk_key((a, b)).split("/")
            for depth in range(len(parts)):
                children.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    assert max(map(len, children.values())) <= 4


@pytest.mark.parametrize("shards", [None, (4, 6)])
@pytest.mark.parametrize(
    ("encoding", "key"),
    [
        ("fanout", "d0/0/d1/0/c"),
        ({"name": "fanout", "configuration": {"max_children": 4}}, "d0/0/d1/0/c"),
        ({"name": "suffix", "configuration": {"suffix": ".tiff", "base-encoding": {"name": "default"}}}, "c/0/0.tiff"),
        ({"name": "suffix", "configuration": {"suffix": ".shard.zip", "base_encoding": "v2"}}, "0.0.shard.zip"),
        ({"name": "zarrs.default_suffix", "configuration": {"suffix": ".x", "separator": "."}}, "c.0.0.x"),
    ],
)
def test_arrays_with_the_extensions(encoding: Any, key: str, shards: Any) -> None:
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(
        store, shape=(20, 7), chunks=(2, 3), shards=shards, dtype="i4", chunk_key_encoding=encoding
    )
    array[...] = 1 + (values := array[...] + 1)
    assert key in list(store._store_dict)
    again = zarr.open_array(store)
    assert (again[...] == values + 1).all()
    assert again.nchunks_initialized == (30 if shards is None else 40)
    array.resize((5, 7))
    array.resize((20, 7))
    assert again.metadata.chunk_key_encoding == array.metadata.chunk_key_encoding
    assert (zarr.open_array(store)[5:] == 0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "fanout", "configuration": {"max_children": 2}},
        {"name": "fanout", "configuration": {"max_children": True}},
        {"name": "fanout", "configuration": {"children": 7}},
        {"name": "suffix", "configuration": {"suffix": "a/b", "base_encoding": "v2"}},
        {"name": "suffix", "configuration": {"suffix": ".x"}},
        {"name": "suffix"},
        {"name": "zarrs.default_suffix", "configuration": {"suffix": ".x", "separator": "-"}},
    ],
)
def test_malformed_extensions_are_refused(wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        parse_chunk_key_encoding(wrong)
