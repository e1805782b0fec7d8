"""Blosc frames that are made with kept memory are the frames that blosc makes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numcodecs.blosc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zarr_core import decoders, program

KINDS = ("counting", "noise", "few", "zeros")


def sample(kind: str, nbytes: int, seed: int) -> bytes:
    """Bytes that compress well, hardly, or not at all."""
    rng = np.random.default_rng(seed)
    if kind == "counting":
        return np.arange(seed, seed + nbytes // 4 + 1, dtype="<u4").tobytes()[:nbytes]
    if kind == "noise":
        return rng.bytes(nbytes)
    return rng.integers(0, 4 if kind == "few" else 1, nbytes, dtype=np.uint8).tobytes()


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """With several threads blosc puts the blocks in the order in which they happen to be done."""
    before, numcodecs.blosc.use_threads = numcodecs.blosc.use_threads, False
    yield
    numcodecs.blosc.use_threads = before


def by_blosc(data: bytes, cname: str, clevel: int, shuffle: int, typesize: int, blocksize: int) -> bytes:
    codec = numcodecs.blosc.Blosc(cname=cname, clevel=clevel, shuffle=shuffle, blocksize=blocksize)
    return bytes(codec.encode(np.frombuffer(data, f"V{typesize}") if len(data) % typesize == 0 else data))


def chain_of(cname: str, clevel: int, shuffle: int, typesize: int, blocksize: int) -> program.Program:
    params = {"cname": cname, "clevel": clevel, "shuffle": shuffle, "typesize": typesize, "blocksize": blocksize}
    return program.Program(1, 0, None, [("blosc", params)])


@settings(max_examples=300)
@given(
    st.sampled_from(("zstd", "zlib")),
    st.integers(0, 9),
    st.sampled_from((0, 1, 2)),
    st.sampled_from((1, 2, 3, 4, 8, 12, 16, 24)),
    st.sampled_from((0, 0, 200, 1024, 4096)),
    st.integers(0, 4000),
    st.lists(st.sampled_from(KINDS), min_size=3, max_size=5),
)
def test_frames_are_those_of_blosc(
    cname: str, clevel: int, shuffle: int, typesize: int, blocksize: int, items: int, kinds: list[str]
) -> None:
    chain = chain_of(cname, clevel, shuffle, typesize, blocksize)
    for seed, kind in enumerate(kinds):
        data = sample(kind, items * typesize, seed)
        frame = chain.encode(data)
        assert frame == by_blosc(data, cname, clevel, shuffle, typesize, blocksize)
        assert bytes(chain.decode(frame, len(data))) == data


@pytest.mark.parametrize("cname", ["zstd", "zlib"])
@pytest.mark.parametrize("clevel", [1, 5])
def test_frames_of_many_blocks(cname: str, clevel: int) -> None:
    for nbytes in (1 << 18, (1 << 20) + 12, 700_001):
        chain = chain_of(cname, clevel, 1, 4 if nbytes % 4 == 0 else 1, 0)
        for seed, kind in enumerate(KINDS):
            data = sample(kind, nbytes, seed)
            frame = chain.encode(data)
            assert frame == by_blosc(data, cname, clevel, 1, 4 if nbytes % 4 == 0 else 1, 0)
            assert numcodecs.blosc.Blosc().decode(frame) == data


def test_chunks_of_changing_sizes_and_kinds_share_a_context() -> None:
    params = {"cname": "zstd", "clevel": 3, "shuffle": 1, "typesize": 4}
    chain = program.Program(4, 0, None, [("blosc", params), ("blosc", {"cname": "zlib", "clevel": 1})])
    for seed in range(200):
        data = sample(KINDS[seed % 4], 4 * (97 * seed % 3001), seed)
        once = decoders.encode("blosc", data, **params)
        assert chain.encode(data) == decoders.encode("blosc", once, cname="zlib", clevel=1)
        assert bytes(chain.decode(chain.encode(data), len(data))) == data


def test_threads_do_not_share_what_they_compress_with() -> None:
    chain = chain_of("zstd", 5, 1, 4, 0)
    data = [sample(kind, 60_000 + 4 * seed, seed) for seed in range(8) for kind in KINDS]
    wanted = [by_blosc(each, "zstd", 5, 1, 4, 0) for each in data]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(chain.encode, data * 4)) == wanted * 4
