"""Chunk coordinates to keys and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr.chunk_keys import (
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
