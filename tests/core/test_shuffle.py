"""The kernels of shuffle and delta, through the codecs that use them: compiled equals reference, and numcodecs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numcodecs import Blosc, Delta, Shuffle

from zarr_core import decoders
from zarr_core.reference import decoders as plain
from zarr_core.reference import shuffle as reference

ITEM_SIZES = [1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 255]


def random_bytes(n: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(n).integers(0, 256, n, dtype=np.uint8)


@given(st.integers(1, 40), st.integers(0, 200))
def test_shuffle(itemsize: int, count: int) -> None:
    data = random_bytes(itemsize * count)
    moved = decoders.encode("shuffle", data, elementsize=itemsize)
    assert moved == plain.encode("shuffle", data, elementsize=itemsize)
    for side in (decoders, plain):
        assert bytes(side.decode("shuffle", moved, elementsize=itemsize)) == data.tobytes()  # type: ignore[attr-defined]


@pytest.mark.parametrize("itemsize", ITEM_SIZES)
def test_large_shuffles(itemsize: int) -> None:
    """Enough for whole tiles, and for the GIL to be released."""
    data = random_bytes(itemsize * (70_000 // itemsize // 64 * 64 + 8))
    moved = decoders.encode("shuffle", data, elementsize=itemsize)
    assert moved == reference.shuffle(data, itemsize).tobytes()
    assert bytes(decoders.decode("shuffle", moved, elementsize=itemsize)) == data.tobytes()


def test_numcodecs_shuffle_has_the_same_layout() -> None:
    data = random_bytes(800)
    for itemsize in (2, 4, 8):
        assert decoders.encode("shuffle", data, elementsize=itemsize) == bytes(Shuffle(itemsize).encode(data))


@pytest.mark.parametrize("itemsize", ITEM_SIZES)
@pytest.mark.parametrize("mode", [Blosc.SHUFFLE, Blosc.BITSHUFFLE])
def test_blosc_has_the_same_layout(itemsize: int, mode: int) -> None:
    """Around the 64 and 256 items that the kernels of bits take at a time."""
    codec = Blosc(cname="zstd", clevel=1, shuffle=mode)
    for items in (8, 56, 64, 71, 72, 248, 256, 264, 320, 512, 760, 2056, 20_000):
        few = np.random.default_rng(items).integers(0, 4, itemsize * items, dtype=np.uint8)
        stored = bytes(codec.encode(few.view(f"V{itemsize}")))
        assert bytes(decoders.decode("blosc", stored)) == few.tobytes()
        ours = decoders.encode("blosc", few, cname="zstd", clevel=1, shuffle=mode, typesize=itemsize)
        assert bytes(codec.decode(ours)) == few.tobytes()


@given(st.integers(1, 40), st.integers(0, 200), st.integers(0, 39))
def test_reference_undoes_itself(itemsize: int, count: int, extra: int) -> None:
    data = random_bytes(itemsize * count + extra % itemsize)
    for there, back in ((reference.shuffle, reference.unshuffle), (reference.bitshuffle, reference.bitunshuffle)):
        assert np.array_equal(back(there(data, itemsize), itemsize), data)


@given(st.sampled_from(["i1", "u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8"]), st.integers(0, 100))
def test_delta_of_integers(dtype: str, count: int) -> None:
    data = random_bytes(np.dtype(dtype).itemsize * count).view(dtype)
    assert np.array_equal(reference.delta_decode(reference.delta_encode(data, dtype), dtype), data)
    if np.dtype(dtype).isnative:
        encoded = decoders.encode("delta", data, dtype=dtype)
        assert encoded == reference.delta_encode(data, dtype).tobytes()
        assert encoded == (Delta(dtype).encode(data).tobytes() if count else b"")
        assert bytes(decoders.decode("delta", encoded, dtype=dtype)) == data.tobytes()


@given(st.sampled_from(["<f4", "<f8"]), st.integers(0, 50))
def test_delta_of_floats(dtype: str, count: int) -> None:
    data = np.random.default_rng(count).normal(size=count).astype(dtype)
    encoded = decoders.encode("delta", data, dtype=dtype)
    assert encoded == reference.delta_encode(data, dtype).tobytes()
    decoded = bytes(decoders.decode("delta", encoded, dtype=dtype))
    assert decoded == reference.delta_decode(np.frombuffer(encoded, dtype), dtype).tobytes()
    assert np.allclose(np.frombuffer(decoded, dtype), data, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f2", "c8", "S4", "M8[s]", "?", "O"])
def test_delta_of_others_is_refused(dtype: str) -> None:
    for side in (decoders, plain):
        with pytest.raises(ValueError, match="delta"):
            side.encode("delta", b"abcdefgh", dtype=dtype)  # type: ignore[attr-defined]
