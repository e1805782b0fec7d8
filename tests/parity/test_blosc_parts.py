"""Parts of blosc chunks, decoded without the rest, are what the whole chunk holds there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import BloscCodec
from zarr.codecs.base import chain as chains
from zarr.codecs.base.bound import span_of
from zarr.errors import ChunkDecodeError
from zarr.storage import MemoryStore

CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")


def random_index(rng: np.random.Generator, length: int) -> Any:
    if rng.random() < 0.4:
        return int(rng.integers(-length, length))
    start, stop = sorted(rng.integers(0, length + 1, 2).tolist())
    return slice(start, stop, int(rng.choice([1, 1, 2, 7])))


@pytest.mark.parametrize("cname", CNAMES)
@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
def test_random_selections(cname: Any, shuffle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = CNAMES.index(cname) * 3 + len(shuffle)
    rng = np.random.default_rng(seed)
    taken = [0]
    whole = chains.decode_part

    def counted(*arguments: Any) -> Any:
        found = whole(*arguments)
        taken[0] += found is not None
        return found

    monkeypatch.setattr(chains, "decode_part", counted)
    for dtype in ("u1", "i2", "f4", "f8", "c16"):
        for shape in ((70_000,), (150, 310), (20, 50, 60)):
            data = np.cumsum(rng.integers(0, 3, shape), axis=-1).astype(dtype)
            blocksize = int(rng.choice([0, 4096, 30_000]))
            codec = BloscCodec(cname=cname, shuffle=shuffle, clevel=int(rng.integers(0, 10)), blocksize=blocksize)
            chunks = tuple(-(-length // int(rng.choice([1, 1, 2]))) for length in shape)
            array = zarr.create_array({}, shape=shape, chunks=chunks, dtype=dtype, compressors=codec)
            array[...] = data
            for _ in range(12):
                index = tuple(random_index(rng, length) for length in shape)
                np.testing.assert_array_equal(array[index], data[index])
    assert taken[0] > 50


def test_where_a_selection_lies() -> None:
    rng = np.random.default_rng(5)
    for _ in range(500):
        shape = tuple(rng.integers(1, 9, rng.integers(1, 4)).tolist())
        numbers = np.arange(np.prod(shape)).reshape(shape)
        index = []
        for length in shape:
            part = random_index(rng, length)
            index.append(part % length if isinstance(part, int) else part)
        picked = numbers[tuple(index)]
        span = span_of(tuple(index), shape)
        if picked.size == 0:
            assert span is None
            continue
        assert span is not None
        assert (span[0], span[1], tuple(span[2])) == (picked.min(), picked.max() + 1, picked.shape)


def test_a_damaged_frame_is_named_as_if_it_were_read_whole() -> None:
    store = MemoryStore()
    codec = BloscCodec(cname="lz4", shuffle="shuffle")
    array = zarr.create_array(store, shape=(50_000,), chunks=(50_000,), dtype="f4", compressors=codec)
    array[...] = np.arange(50_000)
    raw = store.get_sync("c/0")
    assert raw is not None
    sound = raw.to_bytes()
    damaged = {
        "cut": sound[: len(sound) // 2],
        "short": sound[:7],
        "other size": sound[:4] + (100_000).to_bytes(4, "little") + sound[8:],
        "blocks": sound[:16] + b"\xff" * 40 + sound[56:],
    }
    for name, value in damaged.items():
        store.set_sync("c/0", zarr.buffer.cpu.Buffer.from_bytes(value))
        with pytest.raises(ChunkDecodeError) as caught:
            array[7]
        assert "c/0" in str(caught.value) or caught.value.key == "c/0", name
