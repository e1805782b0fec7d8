"""Byte kernels: compiled equals reference, round trips, and blosc's own layout."""

from __future__ import annotations

import importlib
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numcodecs import Blosc, Delta, Shuffle

from zarr_core.reference import shuffle as reference

shuffle: Any = importlib.import_module("zarr_core.shuffle")  # the door has a function of that name
both = pytest.mark.parametrize("module", [shuffle, reference], ids=["compiled", "reference"])
NAMES = ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"]
INVERSE = {"shuffle": "unshuffle", "bitshuffle": "bitunshuffle", "byteswap": "byteswap"}


def random_bytes(n: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(n).integers(0, 256, n, dtype=np.uint8)


@given(st.sampled_from(NAMES), st.integers(1, 40), st.integers(0, 200), st.integers(0, 39))
def test_shuffles(name: str, itemsize: int, count: int, extra: int) -> None:
    data = random_bytes(itemsize * count + extra % itemsize)
    moved = getattr(shuffle, name)(data, itemsize)
    assert np.array_equal(moved, getattr(reference, name)(data, itemsize))
    if name in INVERSE:
        assert np.array_equal(getattr(shuffle, INVERSE[name])(moved, itemsize), data)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16, 24, 255])
def test_large_shuffles(name: str, itemsize: int) -> None:
    """Large enough for whole tiles and for the GIL to be released."""
    data = random_bytes(itemsize * 70_000 // itemsize // 64 * 64 * itemsize // itemsize + 8 * itemsize)
    assert np.array_equal(getattr(shuffle, name)(data, itemsize), getattr(reference, name)(data, itemsize))


@given(st.sampled_from([1, 2, 4, 8]), st.integers(0, 100))
def test_byteswap(width: int, count: int) -> None:
    data = random_bytes(width * count)
    swapped = shuffle.byteswap(data, width)
    assert np.array_equal(swapped, reference.byteswap(data, width))
    assert np.array_equal(swapped, data.view(f"u{width}").byteswap().view(np.uint8))
    shuffle.byteswap(data, width, out=data)
    assert np.array_equal(data, swapped)


@given(st.sampled_from(["i1", "u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8"]), st.integers(0, 100))
def test_delta_integers(dtype: str, count: int) -> None:
    data = random_bytes(np.dtype(dtype).itemsize * count).view(dtype)
    encoded = shuffle.delta_encode(data, dtype)
    assert encoded.dtype == np.dtype(dtype)
    assert encoded.tobytes() == reference.delta_encode(data, dtype).tobytes()
    if count:
        assert encoded.tobytes() == Delta(dtype).encode(data).tobytes()
    assert np.array_equal(shuffle.delta_decode(encoded, dtype), data)
    assert np.array_equal(reference.delta_decode(encoded, dtype), data)


@given(st.sampled_from(["<f4", ">f4", "<f8", ">f8"]), st.integers(0, 50))
def test_delta_floats(dtype: str, count: int) -> None:
    data = np.random.default_rng(count).normal(size=count).astype(dtype)
    encoded = shuffle.delta_encode(data, dtype)
    assert encoded.tobytes() == reference.delta_encode(data, dtype).tobytes()
    decoded = shuffle.delta_decode(encoded, dtype)
    assert decoded.tobytes() == reference.delta_decode(encoded, dtype).tobytes()
    assert np.allclose(decoded, data, atol=1e-4)


def test_delta_in_place() -> None:
    data = np.arange(100, dtype="i4") ** 2
    expected = data.copy()
    assert shuffle.delta_encode(data, "i4", out=data) is data
    assert data.tolist()[:4] == [0, 1, 3, 5]
    shuffle.delta_decode(data, "i4", out=data)
    assert np.array_equal(data, expected)


def test_numcodecs_shuffle_has_the_same_layout() -> None:
    data = random_bytes(800)
    for itemsize in (2, 4, 8):
        assert shuffle.shuffle(data, itemsize).tobytes() == bytes(Shuffle(itemsize).encode(data))


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("count", [800, 801])
@pytest.mark.parametrize("mode", [Blosc.SHUFFLE, Blosc.BITSHUFFLE])
def test_blosc_has_the_same_layout(itemsize: int, count: int, mode: int) -> None:
    """One zlib block of a blosc container, opened by hand."""
    data = np.resize(np.arange(7, dtype=np.uint8), itemsize * count)
    container = Blosc(cname="zlib", clevel=1, shuffle=mode, blocksize=0).encode(data.view(f"V{itemsize}"))
    flags, typesize, nbytes = container[2], container[3], struct.unpack_from("<I", container, 4)[0]
    assert (typesize, nbytes) == (itemsize, data.nbytes)
    block_size = struct.unpack_from("<I", container, 8)[0]
    assert not flags & 2, "compressed"
    plain = b""
    for k in range(-(-nbytes // block_size)):
        at = struct.unpack_from("<I", container, 16 + 4 * k)[0]
        size = min(block_size, nbytes - k * block_size)
        whole = flags & 16 or size != block_size
        block = b""
        for _ in range(1 if whole else typesize):
            (n,) = struct.unpack_from("<I", container, at)
            block += zlib.decompress(container[at + 4 : at + 4 + n])
            at += 4 + n
        if flags & 4:
            block = shuffle.bitunshuffle(block, itemsize).tobytes()
        elif flags & 1:
            block = shuffle.unshuffle(block, itemsize).tobytes()
        plain += block
    assert plain == data.tobytes()


@both
@pytest.mark.parametrize("name", NAMES)
def test_shuffle_guards(module: Any, name: str) -> None:
    function = getattr(module, name)
    for itemsize in (0, -1, 2**40):
        with pytest.raises(ValueError, match=f"itemsize must be between 1 and 65280, got {itemsize}"):
            function(b"abcd", itemsize)
    with pytest.raises(ValueError, match="C-contiguous"):
        function(np.zeros((4, 4), np.uint8)[:, 1], 2)
    with pytest.raises(ValueError, match="out has 3 bytes, expected 4"):
        function(b"abcd", 2, out=np.zeros(3, np.uint8))
    with pytest.raises(TypeError, match="out must be a NumPy array, got bytearray"):
        function(b"abcd", 2, out=bytearray(4))
    for data in ([1, 2], None, "text"):
        with pytest.raises(TypeError):
            function(data, 2)
    assert function(b"", 4).tolist() == []
    out = np.zeros(4, np.uint8)
    assert function(b"abcd", 1, out=out) is out
    assert out.tobytes() == b"abcd" or "bit" in name


def test_out_is_guarded() -> None:
    frozen = np.zeros(4, np.uint8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        shuffle.shuffle(b"abcd", 2, out=frozen)
    with pytest.raises(ValueError, match="out must be C-contiguous"):
        shuffle.shuffle(b"abcd", 2, out=np.zeros(8, np.uint8)[::2])
    data = np.zeros(12, np.uint8)
    for out in (data[:8], data[1:9], data[2:10]):
        with pytest.raises(ValueError, match="overlaps"):
            shuffle.shuffle(data[:8] if out is not data[:8] else data, 2, out=out)
    with pytest.raises(ValueError, match="overlaps"):
        shuffle.byteswap(data[:8], 2, out=data[2:10])
    with pytest.raises(ValueError, match="overlaps"):
        shuffle.delta_encode(data[:8], "i2", out=data[2:10])
    with pytest.raises(TypeError, match="plain bytes"):
        shuffle.shuffle(np.array([None]), 8)
    with pytest.raises(TypeError, match="plain bytes"):
        shuffle.shuffle(data[:8], 1, out=np.array([None]))


@both
def test_width_and_dtype_guards(module: Any) -> None:
    with pytest.raises(ValueError, match="width must be 1, 2, 4 or 8, got 3"):
        module.byteswap(b"abc", 3)
    with pytest.raises(ValueError, match="3 bytes are not a multiple of the width 2"):
        module.byteswap(b"abc", 2)
    for function in (module.delta_encode, module.delta_decode):
        for dtype in ("f2", "c8", "S4", "M8[s]", "?", "O"):
            with pytest.raises(ValueError, match="delta needs integers"):
                function(b"abcdefgh", dtype)
        with pytest.raises(ValueError, match="6 bytes are not a multiple of the item size 4"):
            function(b"abcdef", "i4")
        with pytest.raises(ValueError, match="out has 2 bytes, expected 4"):
            function(b"abcd", "i2", out=np.zeros(1, "i2"))


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 7, 8, 12, 16, 17, 24])
def test_bits_of_many_items_together_and_apart(itemsize: int) -> None:
    """Around the 64 and 256 items that are taken at a time."""
    rng = np.random.default_rng(itemsize)
    for items in (8, 56, 64, 72, 248, 256, 264, 320, 512, 760, 2056):
        raw = rng.integers(0, 256, items * itemsize, dtype="u1").tobytes()
        apart = bytes(shuffle.bitshuffle(raw, itemsize))
        assert apart == bytes(reference.bitshuffle(raw, itemsize))
        assert bytes(shuffle.bitunshuffle(apart, itemsize)) == raw
        assert bytes(shuffle.bitunshuffle(raw, itemsize)) == bytes(reference.bitunshuffle(raw, itemsize))
