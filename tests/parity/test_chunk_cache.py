"""Reads through the cache of decoded chunks give what numpy gives, whoever wrote in between, and by whatever way."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.experimental import chunk_cache
from zarr.runners.caches import ChunkCache
from zarr.storage import LocalStore, MemoryStore, WrapperStore
from zarr.storage.local import files

CACHED: Any = {"chunk_cache_bytes": 1 << 20}
TICK_NS = 12_000_000  # more than a step of the clock of any file system that these tests run on


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(files, "SETTLED_NS", TICK_NS)
    chunk_cache.clear()
    yield
    chunk_cache.clear()


def let_time_pass(store: Any) -> None:
    """Wait until all files of a local store are older than any tick of the clock."""
    if isinstance(store, LocalStore):
        time.sleep(1.1e-9 * TICK_NS)


def make_store(kind: str, path: Path) -> Any:
    return MemoryStore() if kind == "memory" else LocalStore(path)


def handles_of(store: Any) -> list[Any]:
    """Several arrays over the same chunks: cached and not, opened by their own stores."""
    other = LocalStore(store.root) if isinstance(store, LocalStore) else MemoryStore(store._store_dict)
    return [
        zarr.open_array(store, config=CACHED),
        zarr.open_array(other, config=CACHED),
        zarr.open_array(store, config={"chunk_cache_bytes": 300}),
        zarr.open_array(other),
    ]


def random_selection(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    parts: list[Any] = []
    for length in shape:
        start, stop = sorted(int(number) for number in random.integers(0, length + 1, 2))
        parts.append(int(random.integers(0, length)) if random.random() < 0.4 else slice(start, stop))
    return tuple(parts)


@pytest.mark.parametrize("kind", ["memory", "local"])
@pytest.mark.parametrize("shards", [None, (8, 12)])
@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_reads_and_writes(kind: str, shards: Any, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    store = make_store(kind, tmp_path)
    dtype = ["int32", "float64", "<U4"][seed % 3]
    zarr.create_array(store, shape=(16, 24), chunks=(4, 6), shards=shards, dtype=dtype)
    expected = np.zeros((16, 24), dtype=dtype)
    handles = handles_of(store)
    for _ in range(120):
        array = handles[random.integers(len(handles))]
        if random.random() < 0.2:
            let_time_pass(store)
        selection = random_selection(random, expected.shape)
        if random.random() < 0.35:
            value = random.integers(0, 3, expected[selection].shape).astype(dtype)
            array[selection] = value
            expected[selection] = value
        else:
            np.testing.assert_array_equal(array[selection], expected[selection])
            mask = random.random(expected.shape[0]) < 0.3
            np.testing.assert_array_equal(array.oindex[mask, 3], expected[mask, 3])
    assert chunk_cache.info().hits > 0


@pytest.mark.parametrize("kind", ["memory", "local"])
@pytest.mark.parametrize("shards", [None, (8,)])
def test_resize_delete_and_overwrite_are_seen(kind: str, shards: Any, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)

    def make(value: int, dtype: str = "int32") -> Any:
        zarr.create_array(store, data=np.full(16, value, dtype), chunks=(4,), shards=shards, overwrite=True)
        let_time_pass(store)
        return zarr.open_array(store, config=CACHED)

    array = make(1)
    assert array[5] == array[5] == 1
    assert chunk_cache.info().hits >= 1
    array.resize(2)
    array.resize(16)
    assert array[5] == 0
    array = make(2)
    assert array[5] == 2
    assert make(3, "float32")[5] == 3.0
    array = make(4)
    assert array[9] == 4
    store.delete_sync("c/2" if shards is None else "c/1")
    assert array[9] == 0


@pytest.mark.parametrize("kind", ["memory", "local"])
@pytest.mark.parametrize("shards", [None, (8, 8)])
def test_a_second_look_reads_no_chunk(kind: str, shards: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(kind, tmp_path)
    data = np.arange(256, dtype="int32").reshape(16, 16)
    zarr.create_array(store, data=data, chunks=(4, 4), shards=shards)
    let_time_pass(store)
    array = zarr.open_array(store, config=CACHED)
    array[1:7, 2]
    before = chunk_cache.info()
    assert before.chunks == 2
    assert before.nbytes == 2 * 64
    np.testing.assert_array_equal(array[1:7, 2], data[1:7, 2])
    after = chunk_cache.info()
    assert (after.hits, after.misses) == (before.hits + 2, before.misses)
    array.async_array  # noqa: B018 - both faces hold one handle
    chunk_cache.clear()
    assert chunk_cache.info() == (0, 0, 0, 0)


def test_a_file_that_was_just_written_is_not_kept(tmp_path: Path) -> None:
    array = zarr.create_array(LocalStore(tmp_path), data=np.arange(8), chunks=(4,), config=CACHED)
    for value in range(50):
        array[1] = value
        assert array[1] == value
        assert array[0:2].tolist() == [0, value]


def test_a_file_that_was_changed_in_place_and_given_its_old_time_is_read_anew(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    array = zarr.create_array(store, data=np.arange(8, dtype="u1"), chunks=(8,), compressors=None, config=CACHED)
    let_time_pass(store)
    assert array[1] == array[1] == 1
    assert chunk_cache.info().hits == 1
    path = tmp_path / "c" / "0"
    before = path.stat()
    with path.open("r+b") as file:
        file.write(bytes(8))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_ino == before.st_ino
    assert array[1] == 0


def test_stores_that_cannot_tell_are_read_each_time() -> None:
    class Watching(WrapperStore[Any]):
        gets = 0

        def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
            type(self).gets += 1
            return self._store.get_sync(key, prototype=prototype, byte_range=byte_range)

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    class Mine(MemoryStore):
        def get_sync(self, key: str, **options: Any) -> Any:
            return super().get_sync(key, **options)

    for store in (Watching(MemoryStore()), Mine()):
        array = zarr.create_array(store, data=np.arange(8), chunks=(4,), config=CACHED)
        assert array[1] == array[1] == 1
    assert Watching.gets >= 2
    assert chunk_cache.info().chunks == 0


def test_strings_count_with_their_characters() -> None:
    data = np.array(["x" * 1000, "y"], dtype=np.dtypes.StringDType())
    array = zarr.create_array(MemoryStore(), data=data, chunks=(2,), config={"chunk_cache_bytes": 500})
    assert array[1] == array[1] == "y"
    assert chunk_cache.info().chunks == 0
    array = array.with_config(CACHED)
    assert array[1] == array[1] == "y"
    assert chunk_cache.info().hits == 1


def test_the_limit_holds_and_the_last_used_stay() -> None:
    cache = ChunkCache()
    chunk = np.zeros(10, dtype="u1")
    for place in range(5):
        cache.keep(("s", 0), place, (), chunk, 30)
        cache.find(("s", 0), 0, (), (10,))
        assert cache.info().nbytes <= 30
    assert cache.find(("s", 0), 0, (), (10,)) is chunk
    assert cache.find(("s", 0), 1, (), (10,)) is None
    cache.keep(("s", 0), 9, (), np.zeros(31, dtype="u1"), 30)
    assert cache.info().nbytes <= 30


def test_threads_read_and_write_at_once(tmp_path: Path) -> None:
    store = MemoryStore()
    array = zarr.create_array(store, data=np.zeros(64, dtype="int64"), chunks=(4,), config=CACHED)
    errors: list[str] = []

    def work(place: int) -> None:
        for value in range(150):
            array[place] = value
            if array[place] != value:
                errors.append(f"element {place} lost {value}")

    threads = [threading.Thread(target=work, args=(place,)) for place in (0, 1, 2, 63)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_a_cache_of_its_own() -> None:
    array = zarr.create_array(MemoryStore(), data=np.arange(8), chunks=(4,), config=CACHED)
    assert array[1] == 1
    with chunk_cache._lock:  # as another thread might, at the moment of the fork
        child = os.fork()
        if not child:
            os._exit(0 if array[1] == 1 and chunk_cache.info().chunks == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_setting_and_its_limits() -> None:
    with zarr.config.set({"array.chunk_cache_bytes": 1000}):
        array = zarr.create_array({}, shape=4, dtype="i4")
    assert array.config.chunk_cache_bytes == 1000
    with pytest.raises(ValueError, match="chunk_cache_bytes"):
        zarr.create_array({}, shape=4, dtype="i4", config={"chunk_cache_bytes": -1})
