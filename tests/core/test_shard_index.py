"""Shard indexes and the joining of ranges: compiled and plain, and what must be refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.guard_page import GuardedMemory
from zarr_core import shard_index
from zarr_core.reference import shard_index as plain

MEMORY = GuardedMemory()
FORMATS = st.tuples(st.sampled_from(["start", "end"]), st.booleans())
PAIRS = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=20)
SIDES = pytest.mark.parametrize("side", [shard_index, plain])


@given(PAIRS, FORMATS)
def test_both_sides_write_and_read_the_same(pairs: list[tuple[int, int]], form: tuple[str, bool]) -> None:
    ours, theirs = shard_index.IndexFormat(*form), plain.IndexFormat(*form)
    array = np.array(pairs, np.uint64).reshape(-1, 2)
    raw = shard_index.build_index(array, ours)
    assert raw == plain.build_index(array, theirs)
    assert len(raw) == ours.nbytes(len(pairs)) == theirs.nbytes(len(pairs))
    np.testing.assert_array_equal(shard_index.parse_index(MEMORY.hold(raw), len(pairs), ours), array)
    np.testing.assert_array_equal(plain.parse_index(raw, len(pairs), theirs), array)


@SIDES
@given(PAIRS.filter(len), st.data())
def test_a_flipped_bit_is_found(side: Any, pairs: list[tuple[int, int]], draw: st.DataObject) -> None:
    form = side.IndexFormat("end", True)
    raw = bytearray(side.build_index(np.array(pairs, np.uint64), form))
    raw[draw.draw(st.integers(0, len(raw) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    with pytest.raises(ValueError, match="checksum"):
        side.parse_index(bytes(raw), len(pairs), form)


@SIDES
def test_guards(side: Any) -> None:
    form = side.IndexFormat("end", True)
    with pytest.raises(ValueError, match="middle"):
        side.IndexFormat("middle", True)
    with pytest.raises(ValueError, match="36 bytes, got 35"):
        side.parse_index(bytes(35), 2, form)
    with pytest.raises(ValueError, match="negative"):
        side.parse_index(b"", -1, form)
    with pytest.raises(ValueError, match="shape"):
        side.build_index(np.zeros((2, 3), np.uint64), form)


@SIDES
def test_formats_are_values(side: Any) -> None:
    form = side.IndexFormat("start", False)
    assert pickle.loads(pickle.dumps(form)) == form
    assert hash(form) == hash(side.IndexFormat("start", False))
    assert form != side.IndexFormat("start", True)
    assert form != "start"
