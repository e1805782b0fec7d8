"""Kept shard indexes: the same values with and without them, within their bytes, by threads, and after changes."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zarr_core import grid, keys, planners, program, shard_index
from zarr_core.index_cache import IndexCache
from zarr_core.shard_groups import ShardGroups
from zarr_core.shard_reading import ShardReadJob

NCHUNKS = 64
ITEMS = 4
KEYS = keys.KeyFormat("x", "/", "default")
SETTLED = 0.15
"""Seconds after which the index of a file is kept."""


def shard_bytes(version: int, form: tuple[str, bool], holes: bool = True) -> bytes:
    """Chunk i holds numbers of its own; where it stands depends on the version, the size of all does not."""
    location, checksum = form
    fmt = shard_index.IndexFormat(location, checksum)
    size, start = 8 * ITEMS, fmt.nbytes(NCHUNKS) if location == "start" else 0
    body = bytearray(size * NCHUNKS)
    pairs = np.full((NCHUNKS, 2), 2**64 - 1, np.uint64)
    for i in range(NCHUNKS):
        at = (i * 7 + version) % NCHUNKS * size
        body[at : at + size] = (np.arange(ITEMS) + 1000.0 * i + 10**6 * version).astype("<f8").tobytes()
        if not (holes and i % 5 == 4):
            pairs[i] = (start + at, size)
    index = shard_index.build_index(pairs, fmt)
    return index + bytes(body) if location == "start" else bytes(body) + index


def put(folder: Path, shard: int, data: bytes) -> Path:
    """A shard as our writes put it there: another file under the same name."""
    path = folder / KEYS.key((shard,))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    partial.replace(path)
    return path


def read(folder: Path, selection: slice, form: tuple[str, bool], indexes: Any, shards: int = 1) -> np.ndarray[Any, Any]:
    axis = grid.RegularAxis(NCHUNKS * ITEMS * shards, ITEMS)
    plan = planners.plan_basic(grid.Grid([axis]), (selection,))
    out = np.zeros(plan.shape)
    fmt = shard_index.IndexFormat(*form)
    chain, groups = program.Program(8, 0, None, []), ShardGroups(plan, [NCHUNKS])
    job = ShardReadJob(plan, groups, chain, out, np.array(-1.0), fmt, indexes=indexes)
    job.from_files(str(folder), KEYS)
    assert job.failed.tolist() == []
    return out


def expected(version: int, selection: slice, holes: bool = True) -> np.ndarray[Any, Any]:
    chunks = np.arange(NCHUNKS)
    whole = np.arange(ITEMS) + 1000.0 * chunks[:, None] + 10**6 * version
    if holes:
        whole[chunks % 5 == 4] = -1.0
    result: np.ndarray[Any, Any] = whole.reshape(-1)[selection]
    return result


FORMS = [("end", True), ("start", True), ("end", False), ("start", False)]
ONE = slice(9, 10)


@pytest.mark.parametrize("form", FORMS)
def test_values_are_the_same_with_and_without(tmp_path: Path, form: tuple[str, bool]) -> None:
    shards, cache, rng = 5, IndexCache(1 << 20), np.random.default_rng(1)
    for shard in range(shards - 1):  # the last one is not stored
        put(tmp_path, shard, shard_bytes(shard, form))
    time.sleep(SETTLED)
    for _ in range(400):
        start = int(rng.integers(0, NCHUNKS * ITEMS * shards))
        selection = slice(start, start + int(rng.choice([1, 3, 40, 700])), int(rng.choice([1, 1, 5])))
        kept = read(tmp_path, selection, form, cache, shards)
        np.testing.assert_array_equal(kept, read(tmp_path, selection, form, None, shards))
    hits, _, count, nbytes = cache.info()
    assert hits > 200
    assert (count, nbytes) == (shards - 1, (shards - 1) * shard_index.IndexFormat(*form).nbytes(NCHUNKS))


def test_what_is_young_is_not_kept(tmp_path: Path) -> None:
    cache = IndexCache(1 << 20)
    put(tmp_path, 0, shard_bytes(0, FORMS[0]))
    read(tmp_path, ONE, FORMS[0], cache)
    assert cache.info()[2] == 0
    time.sleep(SETTLED)
    read(tmp_path, ONE, FORMS[0], cache)
    assert cache.info()[2] == 1


def test_reads_of_most_of_a_shard_are_not_kept(tmp_path: Path) -> None:
    cache = IndexCache(1 << 20)
    put(tmp_path, 0, shard_bytes(0, FORMS[0]))
    time.sleep(SETTLED)
    read(tmp_path, slice(0, NCHUNKS * ITEMS), FORMS[0], cache)
    assert cache.info()[2:] == (0, 0)


def test_one_file_by_two_forms(tmp_path: Path) -> None:
    """An index of the same place, once with a checksum that another array takes for a part of a chunk."""
    cache = IndexCache(1 << 20)
    put(tmp_path, 0, shard_bytes(0, ("start", True)))
    time.sleep(SETTLED)
    for _ in range(3):
        for form in (("start", True), ("start", False)):
            np.testing.assert_array_equal(read(tmp_path, ONE, form, cache), expected(0, ONE))


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_changed_in_place_under_the_same_size_and_time(tmp_path: Path, form: tuple[str, bool]) -> None:
    cache = IndexCache(1 << 20)
    path = put(tmp_path, 0, shard_bytes(0, form))
    was = path.stat()
    for version in range(1, 4):
        time.sleep(SETTLED)
        read(tmp_path, ONE, form, cache)
        hits = cache.info()[0]
        read(tmp_path, ONE, form, cache)
        assert cache.info()[0] == hits + 1
        with path.open("r+b") as file:
            file.write(shard_bytes(version, form))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert (path.stat().st_ino, path.stat().st_size) == (was.st_ino, was.st_size)
        for selection in (ONE, slice(20, 60)):
            np.testing.assert_array_equal(read(tmp_path, selection, form, cache), expected(version, selection))


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    cache, form = IndexCache(1 << 20), ("start", True)
    path = put(tmp_path, 0, shard_bytes(0, form))
    time.sleep(SETTLED)
    read(tmp_path, ONE, form, cache)
    os.truncate(path, path.stat().st_size - 8 * ITEMS - 1)  # the last chunk is a hole
    with pytest.raises(AssertionError):
        read(tmp_path, slice(0, NCHUNKS * ITEMS), form, cache)


def test_no_more_bytes_than_there_may_be(tmp_path: Path) -> None:
    """Four threads, and room for few of the indexes."""
    shards, nbytes = 40, shard_index.IndexFormat(*FORMS[0]).nbytes(NCHUNKS)
    cache = IndexCache(6 * nbytes)
    for shard in range(shards):
        put(tmp_path, shard, shard_bytes(shard, FORMS[0], holes=False))
    time.sleep(SETTLED)

    def look(seed: int) -> bool:
        for at in np.random.default_rng(seed).integers(0, shards * NCHUNKS, 300).tolist():
            shard, chunk = divmod(at, NCHUNKS)
            found = read(tmp_path, slice(at * ITEMS, at * ITEMS + 1), FORMS[0], cache, shards)
            assert found.tolist() == [1000.0 * chunk + 10**6 * shard]
            assert cache.info()[3] <= cache.capacity
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(look, range(8)))
    assert 1 <= cache.info()[2] <= 6
    cache.clear()
    assert cache.info() == (0, 0, 0, 0)


def test_an_index_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    put(tmp_path, 0, shard_bytes(0, FORMS[0]))
    time.sleep(SETTLED)
    for capacity in (0, 2000):
        cache = IndexCache(capacity)
        np.testing.assert_array_equal(read(tmp_path, ONE, FORMS[0], cache), expected(0, ONE))
        assert cache.info()[2] == 0
    with pytest.raises(ValueError, match="capacity must not be negative, got -1"):
        IndexCache(-1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_in_forked_children(tmp_path: Path) -> None:
    """Threads are amid looks into the cache when the process is forked: none of them is there to end its look."""
    shards, nbytes = 40, shard_index.IndexFormat(*FORMS[0]).nbytes(NCHUNKS)
    cache, over = IndexCache(6 * nbytes), threading.Event()  # where others have to go, a look takes long
    for shard in range(shards):
        put(tmp_path, shard, shard_bytes(shard, FORMS[0], holes=False))
    time.sleep(SETTLED)

    def look(seed: int) -> None:
        rng = np.random.default_rng(seed)
        while not over.is_set():
            at = int(rng.integers(0, shards)) * NCHUNKS * ITEMS
            read(tmp_path, slice(at, at + 1), FORMS[0], cache, shards)

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    try:
        ended = [os.waitpid(in_child(cache, tmp_path, shards), 0)[1] for _ in range(60)]
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert ended == [0] * 60


def in_child(cache: IndexCache, folder: Path, shards: int) -> int:
    """A child that ends well if it reads right, and by an index that is kept; its number."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            cache.after_fork()
            found = [read(folder, ONE, FORMS[0], cache, shards).tolist() for _ in range(2)]
            hits = cache.info()[0]
            read(folder, ONE, FORMS[0], cache, shards)
            kept = cache.info()[0] == hits + 1
            code = 0 if kept and found == [expected(0, ONE, holes=False).tolist()] * 2 else 2
        finally:
            os._exit(code)
    return number
