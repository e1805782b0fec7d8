"""Bit packing and bit rounding: the compiled kernels against the plain ones, and against arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr_core import bits as compiled
from zarr_core.reference import bits as reference


@given(st.data())
def test_packing_is_the_same_in_both_and_comes_back(data: st.DataObject) -> None:
    itemsize = data.draw(st.sampled_from([1, 2, 4, 8]))
    first = data.draw(st.integers(0, 8 * itemsize - 1))
    nbits = data.draw(st.integers(1, 8 * itemsize - first))
    count = data.draw(st.integers(0, 40))
    raw = np.frombuffer(data.draw(st.binary(min_size=count * itemsize, max_size=count * itemsize)), dtype=np.uint8)
    packed = compiled.pack_bits(raw, itemsize, first, nbits)
    assert packed.tobytes() == reference.pack_bits(raw, itemsize, first, nbits).tobytes()
    sign = data.draw(st.sampled_from([0, 8 * itemsize]))
    items = compiled.unpack_bits(packed, count, itemsize, first, nbits, sign)
    assert items.tobytes() == reference.unpack_bits(packed, count, itemsize, first, nbits, sign).tobytes()
    mask = ((1 << nbits) - 1) << first
    expected = raw.view(f"<u{itemsize}") & np.array(mask, dtype=f"<u{itemsize}")
    if not sign:
        assert items.view(f"<u{itemsize}").tolist() == expected.tolist()
    assert compiled.pack_bits(items, itemsize, first, nbits).tobytes() == packed.tobytes()


def test_packing_of_booleans_is_that_of_numpy() -> None:
    values = np.random.default_rng(1).integers(0, 2, 100_003).astype(bool)
    assert compiled.pack_bits(values, 1, 0, 1).tobytes() == np.packbits(values, bitorder="little").tobytes()


@given(st.data())
def test_rounding_is_the_same_in_both(data: st.DataObject) -> None:
    itemsize, mantissa = data.draw(st.sampled_from([(1, 0), (2, 0), (4, 0), (8, 0), (2, 10), (2, 7), (4, 23), (8, 52)]))
    keep = data.draw(st.integers(1, 70))
    signed = data.draw(st.booleans())
    raw = np.frombuffer(data.draw(st.binary(min_size=8 * 9, max_size=8 * 9)), dtype=np.uint8)
    got = compiled.round_bits(raw, itemsize, keep, mantissa, signed)
    assert got.tobytes() == reference.round_bits(raw, itemsize, keep, mantissa, signed).tobytes()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(1, 22))
def test_rounded_floats_are_nearest(value: float, keep: int) -> None:
    given_ = np.array([value], dtype="<f4")
    rounded = compiled.round_bits(given_, 4, keep, 23).view("<f4")
    assert not rounded.view("<u4")[0] & ((1 << (23 - keep)) - 1)
    if np.isfinite(rounded[0]) and abs(value) > 1e-30:
        assert abs(float(rounded[0]) - float(given_[0])) <= abs(float(given_[0])) * 2.0 ** -(keep + 1)


def test_special_floats_stay() -> None:
    values = np.array([0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x7FC00001, 0x80000000, 0], dtype="<u4")
    assert compiled.round_bits(values, 4, 1, 23).view("<u4").tolist() == values.tolist()


def test_integers_stay_in_range() -> None:
    everything = np.arange(256, dtype=np.uint8)
    for keep in range(1, 9):
        unsigned = compiled.round_bits(everything, 1, keep, 0).astype(int)
        assert (np.abs(unsigned - everything) <= everything / 2**keep + 1).all()
        signed = compiled.round_bits(everything, 1, keep, 0, True).view(np.int8).astype(int)
        numbers = everything.view(np.int8).astype(int)
        assert (signed[numbers >= 0] >= 0).all()
        assert (signed[numbers < 0] <= 0).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.pack_bits(b"abc", 2, 0, 3),
        lambda m: m.pack_bits(b"ab", 3, 0, 3),
        lambda m: m.pack_bits(b"ab", 1, 5, 4),
        lambda m: m.pack_bits(b"ab", 1, -1, 4),
        lambda m: m.pack_bits(b"ab", 1, 0, 0),
        lambda m: m.pack_bits(np.zeros((4, 4), "u1")[:, ::2], 1, 0, 1),
        lambda m: m.unpack_bits(b"ab", 17, 1, 0, 1),
        lambda m: m.unpack_bits(b"ab", -1, 1, 0, 1),
        lambda m: m.unpack_bits(b"ab", 16, 1, 0, 1, 9),
        lambda m: m.round_bits(b"ab", 2, 0, 0),
        lambda m: m.round_bits(b"abc", 2, 1, 0),
        lambda m: m.round_bits(b"ab", 2, 1, 15),
    ],
)
@pytest.mark.parametrize("module", [compiled, reference], ids=["compiled", "reference"])
def test_wrong_parameters_are_refused(call: object, module: object) -> None:
    with pytest.raises(ValueError, match=r"bits|bytes|itemsize|contiguous|count"):
        call(module)  # type: ignore[operator]
