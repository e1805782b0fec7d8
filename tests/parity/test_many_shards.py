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


@pytest.mark.parametrize("kind", ["local", "memory", "plain"])
def test_one_selection_is_read_as_many_are(kind: str, tmp_path: Path) -> None:
    """One alone goes another way, which reads less of the index; a second one of the same chunks does not."""
    rng = np.random.default_rng(4)
    store = make_store(kind, tmp_path)
    store = without_bulk(store) if kind == "plain" else store
    array = zarr.create_array(store, shape=SHAPE, chunks=CHUNKS, shards=SHARDS, dtype="i4", fill_value=7)
    expected = np.full(SHAPE, 7, "i4")
    expected[5:60, 9:33] = array[5:60, 9:33] = rng.integers(0, 1000, (55, 24))
    for _ in range(40):
        window = random_window(rng)
        (alone,) = array.read_many([window])
        first, second = array.read_many([window, window])
        wanted = expected[np.ix_(*(np.atleast_1d(np.arange(n)[w]) for n, w in zip(SHAPE, window, strict=True)))]
        for found in (alone, first, second):
            np.testing.assert_array_equal(found, wanted.reshape(found.shape))
        assert type(alone) is type(first)
        assert alone.shape == first.shape


@pytest.mark.parametrize("make", [MemoryStore, "folder"])
@pytest.mark.parametrize("dtype", ["i4", "f8", "U3", "i4,f8", str], ids=str)
def test_single_elements_are_read_as_points(make: Any, dtype: Any, tmp_path: Path) -> None:
    store = tmp_path / "x.zarr" if make == "folder" else make()
    array = zarr.create_array(store, shape=(23, 31), chunks=(3, 2), shards=(12, 8), dtype=dtype)
    values = np.arange(23 * 31).reshape(23, 31).astype(array.dtype)
    array[2:20] = values[2:20]  # some inner chunks and a shard are not stored
    rng = np.random.default_rng(2)
    places = [(int(i), int(j)) for i, j in zip(rng.integers(-23, 23, 40), rng.integers(-31, 31, 40), strict=True)]
    wanted = [*places, *places[:3], (slice(4, 5), 3), (2, slice(30, 31)), (slice(22, None), slice(-1, None))]
    found = array.read_many(wanted)
    whole = array[:]
    for place, element in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(element, whole[place])
        assert np.asarray(element).shape == np.asarray(whole[place]).shape
    out = np.zeros(len(places), dtype=array.dtype)
    array.read_many(places, out=out)
    np.testing.assert_array_equal(out, [whole[place] for place in places])
