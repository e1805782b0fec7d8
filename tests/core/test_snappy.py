"""Blosc frames of snappy streams: made and read by our own code, since blosc is mostly built without."""

from __future__ import annotations

from typing import Any

import numcodecs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr.storage import MemoryStore
from zarr_core import decoders
from zarr_core.reference import decoders as plain
from zarr_core.reference import snappy

PARAMS = st.fixed_dictionaries(
    {
        "cname": st.just("snappy"), "clevel": st.integers(0, 9), "shuffle": st.integers(-1, 2),
        "typesize": st.sampled_from((1, 2, 3, 4, 8, 16, 300)), "blocksize": st.sampled_from((0, 0, 100, 1024)),
    }
)  # fmt: skip


def some_bytes(seed: int, n: int) -> bytes:
    """What repeats, in several ways, or does not."""
    random = np.random.default_rng(seed)
    values = random.integers(0, int(random.choice([2, 5, 256])), n).astype("u1")
    return np.repeat(values, int(random.choice([1, 1, 9, 200])))[:n].tobytes()


def framed(stream: bytes, n: int) -> bytes:
    """A frame of one block that holds one stream, and is not shuffled."""
    sizes = (n, n, 24 + len(stream), 20, len(stream))
    return bytes([2, 1, 2 << 5 | 16, 1]) + b"".join(size.to_bytes(4, "little") for size in sizes) + stream


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6000) | st.sampled_from((65535, 65536, 65537, 200_000)), PARAMS)
def test_there_and_back_by_both(seed: int, n: int, params: dict[str, Any]) -> None:
    data = some_bytes(seed, n)
    ours, twins = decoders.encode("blosc", data, **params), plain.encode("blosc", data, **params)
    for frame in (ours, twins):
        assert bytes(decoders.decode("blosc", frame, n)) == bytes(plain.decode("blosc", frame, n)) == data
    if not ours[2] & 2:  # one that is stored as it came is of no kind
        assert ours[2] >> 5 == 2
        assert len(ours) < n + 16


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1), st.integers(200, 50_000))
def test_streams_are_those_of_others(seed: int, n: int) -> None:
    pa = pytest.importorskip("pyarrow")
    data = some_bytes(seed, n)
    stream = pa.compress(data, codec="snappy", asbytes=True)
    assert snappy.decode_stream(stream) == data
    if len(stream) != n:  # which would mean that it is stored as it is
        assert bytes(decoders.decode("blosc", framed(stream, n), n)) == data
    frame = decoders.encode("blosc", data, cname="snappy", shuffle=0, typesize=1, blocksize=n)
    size = int.from_bytes(frame[20:24], "little")
    if not frame[2] & 2 and size != n:
        assert pa.decompress(frame[24:], decompressed_size=n, codec="snappy", asbytes=True) == data


def test_a_stream_by_hand() -> None:
    stream = b"\x17\x14hello B\x06\x00"  # six bytes as they are, and 17 more from six before
    assert bytes(decoders.decode("blosc", framed(stream, 23), 23)) == b"hello hello hello hello"


@pytest.mark.parametrize(
    "stream",
    [b"", b"\x17", b"\x17\x14hello", b"\x17\x14hello B\x07\x00", b"\x17\x14hello B\x00\x00", b"\x17\x14hello B\x06",
     b"\x18\x14hello B\x06\x00", b"\x16\x14hello B\x06\x00", b"\xff\xff\xff\xff\xff\xff", b"\x05\xfc\xff\xff\xff\xff"],
)  # fmt: skip
def test_damaged_streams_are_refused(stream: bytes) -> None:
    for twin in (decoders, plain):
        with pytest.raises(ValueError, match="blosc"):
            twin.decode("blosc", framed(stream, 23), 23)


def test_damage_is_found_by_both() -> None:
    random = np.random.default_rng(0)
    for seed in range(300):
        data = some_bytes(seed, 3000)
        frame = bytearray(decoders.encode("blosc", data, cname="snappy", typesize=int(random.choice([1, 4]))))
        if frame[2] & 2:
            continue
        for _ in range(2):
            frame[int(random.integers(0, len(frame)))] ^= 1 << int(random.integers(0, 8))
        outcomes = []
        for twin in (decoders, plain):
            try:
                outcomes.append(bytes(twin.decode("blosc", bytes(frame), 3000)))
            except ValueError:
                outcomes.append(b"damaged")
        assert frame[2] >> 5 != 2 or frame[2] & 2 or outcomes[0] == outcomes[1], seed


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["<i4", ">f8", "|u1"])
def test_arrays(zarr_format: Any, dtype: str) -> None:
    data = np.arange(4000).reshape(40, 100).astype(dtype)
    codec: Any = numcodecs.Blosc("snappy", 5, 1) if zarr_format == 2 else zarr.codecs.BloscCodec(cname="snappy")
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=(40, 100), chunks=(7, 90), dtype=dtype, compressors=codec, zarr_format=zarr_format
    )
    array[...] = data
    array[3:9, 5:95:2] = data[3:9, 5:95:2] = 7
    again = zarr.open_array(store)
    np.testing.assert_array_equal(again[...], data)
    assert again[5, 77] == data[5, 77]
    key = "0.0" if zarr_format == 2 else "c/0/0"
    raw = store._store_dict[key].to_bytes()
    assert raw[2] >> 5 == 2
    assert len(raw) < 7 * 90 * data.dtype.itemsize
