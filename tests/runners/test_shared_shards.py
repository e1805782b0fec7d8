"""One huge shard keeps several threads busy, wherever it is written to; many shards are a thread's each."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from zarr.storage import LocalStore, MemoryStore, ZipStore
from zarr.testing.store import LatencyStore

SIDE = 2048
VALUE = np.random.default_rng(0).integers(0, 1000, (SIDE, SIDE)).astype("f4")


def watching(seen: dict[str, set[int]]) -> type[Any]:
    """A job that notes which threads are at it."""

    class Watched(zarr_core.ShardWriteJob):
        def share(self, parts: int | None = None) -> None:
            seen["shared"] = {1}
            super().share(parts)

        def prepare(self, first: int, count: int) -> None:
            seen.setdefault("threads", set()).add(threading.get_ident())
            super().prepare(first, count)

        def to_files(self, root: str, keys: zarr_core.KeyFormat, fsync: bool = False) -> None:
            seen.setdefault("threads", set()).add(threading.get_ident())
            super().to_files(root, keys, fsync)

    return Watched


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    monkeypatch.setattr("zarr.runners.bulk.max_workers", lambda: 3)
    monkeypatch.setattr("zarr_core.ShardWriteJob", watching(found))
    return found


def make_store(kind: str, path: Path) -> Any:
    if kind == "zip":
        return ZipStore(path / "a.zip", mode="w")
    if kind == "local":
        return LocalStore(path)
    return MemoryStore() if kind == "memory" else LatencyStore(MemoryStore(), set_latency=0.001)


@pytest.mark.parametrize("kind", ["local", "memory", "zip", "coroutines"])
@pytest.mark.parametrize("location", ["start", "end"])
def test_one_shard(kind: str, location: Any, tmp_path: Path, seen: dict[str, set[int]]) -> None:
    codec = zarr.codecs.ShardingCodec(
        chunk_shape=(64, 64), codecs=[zarr.codecs.BytesCodec(), zarr.codecs.ZstdCodec(level=1)], index_location=location
    )
    stored = []
    for threads in (3, 1):
        seen.clear()
        store = make_store(kind, tmp_path / str(threads))
        array = zarr.create_array(
            store, shape=VALUE.shape, chunks=VALUE.shape, dtype="f4", serializer=codec, compressors=None
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("zarr.runners.bulk.max_workers", lambda threads=threads: threads)
            array[...] = VALUE
        assert ("shared" in seen) == (threads > 1)
        if threads > 1:
            assert 1 <= len(seen["threads"]) <= 3
        np.testing.assert_array_equal(array[...], VALUE)
        stored.append(zarr.core.sync.sync(store.get("c/0/0", zarr.core.buffer.default_buffer_prototype())).to_bytes())
        store.close()
    assert stored[0] == stored[1]


def test_many_shards_are_not_shared(tmp_path: Path, seen: dict[str, set[int]]) -> None:
    array = zarr.create_array(tmp_path, shape=VALUE.shape, chunks=(64, 64), shards=(512, 512), dtype="f4")
    array[...] = VALUE
    assert "shared" not in seen
    np.testing.assert_array_equal(array[...], VALUE)
