"""Items behind offsets: compiled and plain, every kind of array, and malformed chunks before a guard page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.guard_page import GuardedMemory
from zarr_core import arrow
from zarr_core.reference import arrow as plain

MEMORY = GuardedMemory()
STRING = np.dtypes.StringDType()
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=40)
ITEMS = st.lists(st.binary(max_size=40), max_size=40)
WIDTHS = st.sampled_from([4, 8])
SIDES = pytest.mark.parametrize("side", [arrow, plain])


def objects(items: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def chunk(offsets: list[int], data: bytes, width: int = 4) -> bytes:
    head = np.array(offsets, dtype=f"<i{width}").tobytes()
    return head.ljust(-(-len(head) // 64) * 64, b"\0") + data


@given(TEXTS, WIDTHS)
def test_strings_there_and_back(items: list[str], width: int) -> None:
    packed = arrow.pack_arrow(objects(items), width, True)
    assert packed == plain.pack_arrow(objects(items), width, True)
    assert packed == arrow.pack_arrow(np.array(items, dtype=STRING), width, True)
    raw = [item.encode() for item in items]
    assert packed == chunk(np.cumsum([0, *map(len, raw)]).tolist(), b"".join(raw), width)
    for side in (arrow, plain):
        assert side.unpack_arrow(MEMORY.hold(packed), len(items), width, True).tolist() == items
        for out in (objects([7] * len(items)), np.array(["before"] * len(items), dtype=STRING)):
            assert side.unpack_arrow(MEMORY.hold(packed), len(items), width, True, out) is out
            assert out.tolist() == items
        assert side.check_arrow(MEMORY.hold(packed), len(items), width, True) % 64 == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1), st.sampled_from("<>"))
def test_fixed_width_text(items: list[str], order: str) -> None:
    array = np.array(items, dtype=f"{order}U20")
    assert arrow.pack_arrow(array, 4, True) == plain.pack_arrow(array, 4, True)


@given(ITEMS, WIDTHS)
def test_byte_strings_there_and_back(items: list[bytes], width: int) -> None:
    packed = arrow.pack_arrow(objects(items), width, False)
    assert packed == plain.pack_arrow(objects(items), width, False)
    for side in (arrow, plain):
        assert side.unpack_arrow(MEMORY.hold(packed), len(items), width, False).tolist() == items


@given(ITEMS, WIDTHS)
def test_validity_agrees_item_by_item(items: list[bytes], width: int) -> None:
    packed = arrow.pack_arrow(objects(items), width, False)
    outcomes = []
    for side in (arrow, plain):
        for call in (side.check_arrow, lambda *a, side=side: side.unpack_arrow(*a, np.empty(len(items), dtype=STRING))):
            try:
                call(MEMORY.hold(packed), len(items), width, True)
                outcomes.append(True)
            except ValueError:
                outcomes.append(False)
    assert len(set(outcomes)) == 1


@SIDES
def test_a_character_cut_in_two_is_two_bad_strings(side: Any) -> None:
    raw = chunk([0, 1, 2], "é".encode())
    for dtype in (object, STRING):
        with pytest.raises(ValueError, match=r"item 0|utf-8"):
            side.unpack_arrow(raw, 2, 4, True, np.empty(2, dtype=dtype))
    with pytest.raises(ValueError, match=r"item 0|utf-8"):
        side.check_arrow(raw, 2, 4, True)
    assert side.unpack_arrow(raw, 2, 4, False).tolist() == [b"\xc3", b"\xa9"]


@SIDES
@pytest.mark.parametrize(
    ("raw", "count", "message"),
    [
        (b"", 0, "too few"),
        (bytes(63), 1, "too few"),
        (chunk([0], b""), 16, "too few"),
        (chunk([1, 1], b"a"), 1, "offset 0"),
        (chunk([-1, 1], b"a"), 1, "offset 0"),
        (chunk([0, 2, 1], b"ab"), 2, "offset 2"),
        (chunk([0, 3], b"ab"), 1, "offset 1"),
        (chunk([0, -2147483648], b"ab"), 1, "offset 1"),
        (chunk([0, 2147483647], b"ab"), 1, "offset 1"),
        (chunk([0, 1], b"ab"), 1, "end at byte 1"),
        (chunk([0], b"a"), 0, "end at byte 0"),
        (chunk([0], b""), -1, "negative"),
    ],
)
def test_malformed(side: Any, raw: bytes, count: int, message: str) -> None:
    for call in (side.check_arrow, side.unpack_arrow):
        for text in (True, False):
            with pytest.raises(ValueError, match=message):
                call(MEMORY.hold(raw), count, 4, text)


@given(st.lists(st.integers(-3, 6), min_size=1, max_size=5), st.binary(max_size=5), WIDTHS)
def test_the_two_sides_refuse_the_same(offsets: list[int], data: bytes, width: int) -> None:
    raw, answers = chunk(offsets, data, width), []
    for side in (arrow, plain):
        try:
            answers.append(side.unpack_arrow(MEMORY.hold(raw), len(offsets) - 1, width, False).tolist())
        except ValueError:
            answers.append(None)
    assert answers[0] == answers[1]


@SIDES
def test_doors(side: Any) -> None:
    with pytest.raises(ValueError, match="4 or 8"):
        side.pack_arrow(objects(["a"]), 2, True)
    with pytest.raises(ValueError, match="4 or 8"):
        side.check_arrow(bytes(64), 0, 16, True)
    for array, text in ((np.zeros(2), True), (np.array([b"a"]), True), (np.array(["a"]), False), (objects([3]), True)):
        with pytest.raises(TypeError):
            side.pack_arrow(array, 4, text)
    with pytest.raises(TypeError):
        side.unpack_arrow(chunk([0, 1], b"a"), 1, 4, False, np.empty(1, dtype=STRING))
    with pytest.raises(ValueError, match="out"):
        side.unpack_arrow(chunk([0, 1], b"a"), 1, 4, True, np.empty(2, dtype=object))


def test_a_missing_string_is_refused() -> None:
    array = np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None))
    with pytest.raises(TypeError, match="item 1"):
        arrow.pack_arrow(array, 4, True)
