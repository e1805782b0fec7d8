"""Parsed indexes that are kept: no reader meets an old inner chunk with a new index, whoever replaces the shard."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.compat.peers import peer_python
from zarr.arrays.io import shard_read
from zarr.codecs.base.shard_level import ShardLevel
from zarr.runners.caches import TABLES, file_indexes
from zarr.storage import FsspecStore, MemoryStore, ObjectStore, SQLiteStore, ZipStore

NCHUNKS, ITEMS, VERSIONS = 64, 50, 25


def content(version: int) -> Any:
    """The elements of one version: chunks differ in how well they compress, so their places differ, too."""
    noise = np.random.default_rng(version).integers(0, 1000, (NCHUNKS, ITEMS))
    noise[np.random.default_rng(version + 1000).random(NCHUNKS) < 0.5] = 1
    return (noise + 1000 * version).ravel().astype("i4")


def store_of(kind: str, folder: Path) -> Any:
    if kind == "memory":
        return MemoryStore()
    if kind == "zip":
        return ZipStore(folder / "a.zip", mode="w")
    if kind == "fsspec":
        pytest.importorskip("fsspec")
        return FsspecStore.from_url(f"memory://{folder}")
    if kind == "obstore":
        return ObjectStore(pytest.importorskip("obstore.store").MemoryStore())
    return SQLiteStore(folder / "a.db")


def make(store: Any) -> Any:
    size = NCHUNKS * ITEMS
    array = zarr.create_array(store, shape=(size,), chunks=(ITEMS,), shards=(size,), dtype="i4")
    array[:] = content(0)
    return array


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_read, "MIN_KEPT_CHUNKS", 1)
    TABLES.reset()


def check_reads(array: Any, over: Any) -> int:
    """Read inner chunks until the writer has ended: each is, as a whole, one of some version; return how many hits."""
    places = np.random.default_rng(5)
    wanted = np.array([content(version).reshape(NCHUNKS, ITEMS) for version in range(VERSIONS)])
    reads, last = 0, 0
    while reads < 200 or not over():
        place = int(places.integers(NCHUNKS))
        found = array[place * ITEMS : (place + 1) * ITEMS]
        version = int(found[0]) // 1000
        assert version >= last
        np.testing.assert_array_equal(found, wanted[version, place])
        last, reads = version, reads + 1
    np.testing.assert_array_equal(array[:ITEMS], wanted[-1, 0])
    return reads


@pytest.mark.parametrize("cache", [0, 64 << 20])
@pytest.mark.parametrize("kind", ["memory", "zip", "sqlite", "fsspec", "obstore"])
def test_a_thread_replaces_the_shard(kind: str, cache: int, tmp_path: Path) -> None:
    store = store_of(kind, tmp_path)
    make(store)
    reader, writer = zarr.open_array(store, mode="r"), zarr.open_array(store, mode="r+")

    def replace() -> None:
        for version in range(1, VERSIONS):
            writer[:] = content(version)

    thread = threading.Thread(target=replace)
    with zarr.config.set({"array.index_cache_bytes": cache}):
        thread.start()
        check_reads(reader, lambda: not thread.is_alive())
        thread.join()
        assert len(TABLES._entries) == (cache > 0 and kind != "fsspec")  # that file system knows no versions
    store.close()


def test_a_process_replaces_the_shard(tmp_path: Path) -> None:
    store = store_of("sqlite", tmp_path)
    make(store)
    reader = zarr.open_array(store, mode="r")
    code = (
        "from tests.trust.test_index_tables import *\n"
        f"array = zarr.open_array(SQLiteStore({str(tmp_path / 'a.db')!r}), mode='r+')\n"
        "for version in range(1, VERSIONS): array[:] = content(version)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2]) as process:
        check_reads(reader, lambda: process.poll() is not None)
    assert process.returncode == 0
    assert len(TABLES._entries) == 1
    store.close()


WRITER = """
import sys
import numpy as np
import zarr
array = zarr.open_array(sys.argv[1], mode="r+")
for values in np.load(sys.argv[2]):
    array[:] = values
"""


@pytest.mark.parametrize("cache", [0, 64 << 20])
def test_zarr_python_replaces_the_shard(cache: int, tmp_path: Path) -> None:
    make(tmp_path / "a.zarr")
    np.save(tmp_path / "versions.npy", [content(version) for version in range(1, VERSIONS)])
    command = [peer_python(), "-W", "ignore", "-c", WRITER, str(tmp_path / "a.zarr"), str(tmp_path / "versions.npy")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ZARR"))}
    reader = zarr.open_array(tmp_path / "a.zarr", mode="r")
    writing = subprocess.Popen(command, env=environment, cwd=tmp_path)  # not where our own zarr lies
    with zarr.config.set({"array.index_cache_bytes": cache}), writing as process:
        check_reads(reader, lambda: process.poll() is not None)
    assert process.returncode == 0


@pytest.mark.parametrize("kind", ["memory", "zip", "sqlite"])
def test_the_index_is_parsed_once(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(kind, tmp_path)
    make(store)
    reader = zarr.open_array(store, mode="r")
    parsed: list[int] = []
    plain = ShardLevel.parse_index
    monkeypatch.setattr(ShardLevel, "parse_index", lambda *a: (parsed.append(1), plain(*a))[1])
    for place in range(NCHUNKS):
        assert reader[place * ITEMS] == content(0)[place * ITEMS]
    assert len(parsed) == 1
    zarr.open_array(store, mode="r+")[3] = 7  # a part of the shard
    assert [reader[3], reader[4]] == [7, content(0)[4]]
    assert len(parsed) > 1
    store.close()


def test_the_setting_bounds_both_caches(tmp_path: Path) -> None:
    with zarr.config.set({"array.index_cache_bytes": NCHUNKS * 16}):
        stores = [MemoryStore() for _ in range(3)]
        for store in stores:
            make(store)
            assert zarr.open_array(store, mode="r")[1] == content(0)[1]
        assert len(TABLES._entries) == 1
        capacity = file_indexes()
    with zarr.config.set({"array.index_cache_bytes": 0}):
        TABLES.reset()
        assert zarr.open_array(stores[0], mode="r")[1] == content(0)[1]
        assert len(TABLES._entries) == 0
        assert file_indexes() is not capacity
