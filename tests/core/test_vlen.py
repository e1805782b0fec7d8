"""Packed strings: compiled and plain, every kind of array, and malformed chunks before a guard page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numcodecs.vlen import VLenBytes, VLenUTF8

from tests.core.guard_page import GuardedMemory
from zarr_core import vlen
from zarr_core.reference import vlen as plain

MEMORY = GuardedMemory()
STRING = np.dtypes.StringDType()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TEXTS = st.lists(TEXT, max_size=30)
ITEMS = st.lists(st.binary(max_size=40), max_size=30)
SIDES = pytest.mark.parametrize("side", [vlen, plain])


def objects(items: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@given(TEXTS)
def test_strings_there_and_back(items: list[str]) -> None:
    packed = vlen.pack_utf8(objects(items))
    assert packed == plain.pack_utf8(objects(items)) == bytes(VLenUTF8().encode(objects(items)))
    assert packed == vlen.pack_utf8(np.array(items, dtype=STRING))
    assert vlen.unpack_utf8(MEMORY.hold(packed), len(items)).tolist() == items
    for out in (objects([7] * len(items)), np.array(["before"] * len(items), dtype=STRING)):
        assert vlen.unpack_utf8(MEMORY.hold(packed), len(items), out) is out
        assert out.tolist() == items


@given(st.lists(TEXT.map(lambda text: text.rstrip("\0")), min_size=1, max_size=30), st.sampled_from("<>"))
def test_fixed_width_text(items: list[str], order: str) -> None:
    array = np.array(items, dtype="U40").astype(f"{order}U40")
    assert vlen.pack_utf8(array) == plain.pack_utf8(array) == plain.pack_utf8(objects(items))


@given(ITEMS)
def test_byte_strings_there_and_back(items: list[bytes]) -> None:
    packed = vlen.pack_bytes(objects(items))
    assert packed == plain.pack_bytes(objects(items)) == bytes(VLenBytes().encode(objects(items)))
    assert vlen.unpack_bytes(MEMORY.hold(packed), len(items)).tolist() == items


@SIDES
def test_all_kinds_of_bytes(side: Any) -> None:
    packed = side.pack_bytes(objects([b"a", bytearray(b"bc"), memoryview(b"d"), None, 0]))
    assert side.unpack_bytes(packed, 5).tolist() == [b"a", b"bc", b"d", b"", b""]
    assert side.pack_bytes(np.array([b"a", b"bc"])) == side.pack_bytes(objects([b"a", b"bc"]))


@SIDES
def test_arrays_are_packed_in_c_order(side: Any) -> None:
    for dtype in (object, STRING, "U2"):
        array = np.array([["a", "b", "c"], ["d", "e", "f"]], dtype=dtype)
        assert side.unpack_utf8(side.pack_utf8(array[:, ::2]), 4).tolist() == ["a", "c", "d", "f"]
        assert side.unpack_utf8(side.pack_utf8(array.T), 6).tolist() == ["a", "d", "b", "e", "c", "f"]


@SIDES
def test_outputs_of_any_shape(side: Any) -> None:
    packed = side.pack_utf8(objects(["a", "bb", "c", "d"]))
    for dtype in (object, STRING):
        out = np.empty((2, 2), dtype=dtype)
        assert side.unpack_utf8(packed, 4, out).tolist() == [["a", "bb"], ["c", "d"]]


@SIDES
def test_nothing_counts_as_empty(side: Any) -> None:
    assert side.unpack_utf8(side.pack_utf8(objects([None, 0, "x", False])), 4).tolist() == ["", "", "x", ""]


def test_long_strings_and_many_of_them() -> None:
    items = ["é" * n for n in (0, 7, 15, 16, 255, 256, 100_000)] * 200
    array = np.array(items, dtype=STRING)
    packed = vlen.pack_utf8(array)
    out = np.empty(len(items), dtype=STRING)
    assert vlen.unpack_utf8(packed, len(items), out).tolist() == items


# --- malformed chunks


@SIDES
@pytest.mark.parametrize(
    ("raw", "count", "message"),
    [
        (b"", 0, "4-byte item count"),
        (b"\1\0\0", 1, "4-byte item count"),
        (b"\2\0\0\0" + bytes(8), 1, "holds 2 items, 1 were expected"),
        (b"\1\0\0\0\5\0\0\0abcd", 1, "item 0 of 1 has 5 bytes, but only 4 are left"),
        (b"\1\0\0\0\xff\xff\xff\xff", 1, "item 0 of 1 has 4294967295 bytes, but only 0 are left"),
        (b"\2\0\0\0\4\0\0\0abcd", 2, "ends inside the length of item 1"),
        (b"\0\0\0\0", -1, "negative"),
    ],
)
def test_malformed(side: Any, raw: bytes, count: int, message: str) -> None:
    for unpack, dtype in ((side.unpack_utf8, object), (side.unpack_utf8, STRING), (side.unpack_bytes, object)):
        with pytest.raises(ValueError, match=message):
            unpack(MEMORY.hold(raw), count, np.empty(max(count, 0), dtype=dtype))


BAD_TEXT = [
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xc0\x80",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xf0\x80\x80\x80",
    b"a\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"abcdefgh\xc3",
]


@SIDES
@pytest.mark.parametrize("text", BAD_TEXT)
def test_bad_utf8(side: Any, text: bytes) -> None:
    packed = side.pack_bytes(objects([b"ok", text]))
    for dtype in (object, STRING):
        with pytest.raises(ValueError):
            side.unpack_utf8(MEMORY.hold(packed), 2, np.empty(2, dtype=dtype))


@given(st.binary(max_size=40))
def test_validity_agrees_with_python(text: bytes) -> None:
    packed = vlen.pack_bytes(objects([text]))
    out = np.empty(1, dtype=STRING)
    try:
        expected = text.decode("utf-8")
    except UnicodeDecodeError:
        with pytest.raises(ValueError, match="UTF-8"):
            vlen.unpack_utf8(packed, 1, out)
    else:
        assert vlen.unpack_utf8(packed, 1, out)[0] == expected


@given(TEXTS, st.data())
@settings(max_examples=300)
def test_damage_is_refused_alike(items: list[str], draw: st.DataObject) -> None:
    packed = bytearray(vlen.pack_utf8(objects(items)))
    del packed[draw.draw(st.integers(0, len(packed))) :]
    if packed:
        packed[draw.draw(st.integers(0, len(packed) - 1))] = draw.draw(st.integers(0, 255))
    results = []
    for side, dtype in ((vlen, object), (vlen, STRING), (plain, object)):
        try:
            results.append(side.unpack_utf8(MEMORY.hold(packed), len(items), np.empty(len(items), dtype)).tolist())
        except ValueError:
            results.append(None)
    assert results[0] == results[1] == results[2]


# --- guards


@SIDES
def test_guards(side: Any) -> None:
    packed = side.pack_utf8(objects(["a", "b"]))
    for out in (np.empty(3, object), np.empty(4, object)[::2]):
        with pytest.raises(ValueError, match="C-contiguous with 2 items"):
            side.unpack_utf8(packed, 2, out)
    with pytest.raises(TypeError, match="int64"):
        side.unpack_utf8(packed, 2, np.empty(2, np.int64))
    with pytest.raises(TypeError, match="StringDType"):
        side.unpack_bytes(packed, 2, np.empty(2, STRING))
    with pytest.raises(TypeError, match="list"):
        side.unpack_utf8(packed, 2, [None, None])
    read_only = np.empty(2, object)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        side.unpack_utf8(packed, 2, read_only)


@SIDES
def test_what_cannot_be_packed(side: Any) -> None:
    for pack in (side.pack_utf8, side.pack_bytes):
        with pytest.raises(TypeError, match="NumPy array"):
            pack(["a"])
        with pytest.raises(TypeError, match="int64"):
            pack(np.zeros(2, np.int64))
        with pytest.raises(TypeError, match="expected"):
            pack(objects([3.5]))
    with pytest.raises(TypeError, match="expected str, got bytes"):
        side.pack_utf8(objects([b"a"]))
    with pytest.raises(TypeError, match="expected bytes, got str"):
        side.pack_bytes(objects(["a"]))
    with pytest.raises(ValueError):
        side.pack_utf8(objects(["\ud800"]))
    with pytest.raises(ValueError):
        side.pack_utf8(np.array(["\ud800"]))


@SIDES
def test_missing_strings_are_not_written_as_something_else(side: Any) -> None:
    array = np.array(["a", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan))
    with pytest.raises(TypeError, match="expected str"):
        side.pack_utf8(array)
