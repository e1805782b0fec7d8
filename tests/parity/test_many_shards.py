"""Many selections of sharded arrays read as one operation: with the cache and without, in bulk and chunk by chunk."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import BloscCodec
from zarr.errors import ChunkDecodeError
from zarr.storage import LocalStore, MemoryStore

from .test_bulk import without_bulk

CHUNKS, SHARDS, SHAPE = (6, 5), (24, 20), (70, 58)


def make_store(kind: str, folder: Path) -> Any:
    return LocalStore(folder) if kind == "local" else MemoryStore()


def random_window(rng: np.random.Generator) -> Any:
    window: list[Any] = []
    for length in SHAPE:
        kind = rng.integers(0, 4)
        start, stop = sorted(rng.integers(0, length + 1, 2).tolist())
        if kind == 0:
            window.append(int(rng.integers(-length, length)))
        elif kind == 1:
            window.append(np.sort(rng.choice(length, 4, replace=False)).tolist())
        else:
            window.append(slice(start, stop, int(rng.choice([1, 1, 3]))))
    return tuple(window)


@pytest.mark.parametrize("kind", ["local", "memory", "plain"])
@pytest.mark.parametrize("cache", [0, 1 << 20])
@pytest.mark.parametrize("dtype", ["<f4", ">i2", "u1"])
def test_windows_of_shards(kind: str, cache: int, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(kind) + cache + len(dtype))
    store = make_store(kind, tmp_path)
    store = without_bulk(store) if kind == "plain" else store
    array = zarr.create_array(
        store, shape=SHAPE, chunks=CHUNKS, shards=SHARDS, dtype=dtype, fill_value=7, config={"chunk_cache_bytes": cache}
    )
    expected = np.full(SHAPE, 7, dtype)
    for _ in range(30):
        y, x = int(rng.integers(0, SHAPE[0])), int(rng.integers(0, SHAPE[1]))
        part = np.s_[y : y + int(rng.integers(1, 20)), x : x + int(rng.integers(1, 20))]
        expected[part] = rng.integers(0, 100, expected[part].shape)
        array[part] = expected[part]
        windows = [random_window(rng) for _ in range(8)]
        for window, got in zip(windows, array.read_many(windows), strict=True):
            np.testing.assert_array_equal(got, array.oindex[window])
        plain = [tuple(w if isinstance(w, slice) else slice(None) for w in window) for window in windows]
        for window, got in zip(plain, array.read_many(plain), strict=True):
            np.testing.assert_array_equal(got, expected[window])


@pytest.mark.parametrize("kind", ["local", "memory"])
def test_what_is_missing_or_damaged(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    options: dict[str, Any] = {"shape": SHAPE, "chunks": CHUNKS, "shards": SHARDS, "dtype": "i4"}
    array = zarr.create_array(store, **options, compressors=BloscCodec(), config={"read_missing_chunks": False})
    array[...] = np.arange(math.prod(SHAPE)).reshape(SHAPE)
    whole = array[...]
    windows = [np.s_[0:30, 3:9], np.s_[20:50, :], np.s_[5, 7], np.s_[26:28, 21:24]]
    for got, window in zip(array.read_many(windows), windows, strict=True):
        np.testing.assert_array_equal(got, whole[window])
    raw = store.get_sync("c/1/1").to_bytes()
    store.set_sync("c/1/1", zarr.buffer.cpu.Buffer.from_bytes(b"\xff" * (len(raw) // 2) + raw[len(raw) // 2 :]))
    with pytest.raises(ChunkDecodeError, match="c/1/1"):
        array.read_many(windows)
    store.delete_sync("c/1/1")
    with pytest.raises(zarr.errors.ChunkNotFoundError, match="c/1/1"):
        array.read_many(windows)
