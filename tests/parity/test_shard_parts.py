"""A few large shards are read in parts by several threads: as the plain path reads them."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from zarr.storage import LocalStore, MemoryStore

from .test_bulk import without_bulk

needs_core = pytest.mark.skipif(
    os.environ.get("ZARR_CORE_IMPL") == "reference", reason="the reference core reads shards whole"
)
SHAPE, SHARDS, CHUNKS = (2200, 1100), (2048, 2048), (64, 128)


def make(store: Any) -> Any:
    """Two shards of inner chunks of 32 KiB, some of them not stored."""
    array = zarr.create_array(store, name="a", shape=SHAPE, chunks=CHUNKS, shards=SHARDS, dtype="f4", fill_value=-1)
    values = np.random.default_rng(0).integers(0, 50, SHAPE).astype("f4")
    values[64:128, :] = -1
    array[...] = values
    return array


def key_path(root: Path) -> Path:
    return root / "a" / "c" / "0" / "0"


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return LocalStore(tmp_path) if request.param == "local" else MemoryStore()


@needs_core
def test_a_job_of_few_large_shards_has_parts(tmp_path: Path) -> None:
    array = make(LocalStore(tmp_path))
    layout = array._handle.layout
    plan = zarr_core.plan_basic(layout.grid, ...)
    groups = zarr_core.ShardGroups(plan, layout.starts)
    out = np.empty(SHAPE, "f4")
    job = zarr_core.ShardReadJob(plan, groups, layout.program, out, layout.fill, layout.shard.index_format)
    assert job.parts > 1
    threads = [threading.Thread(target=job.from_files, args=(str(tmp_path), layout.keys)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(job.failed) == 0
    assert len(job.missing) == 9  # inner chunks that hold nothing but fill
    np.testing.assert_array_equal(out, array[...])


@pytest.mark.parametrize(
    "selection",
    [np.s_[...], np.s_[5:1000, 3:], np.s_[::7, ::3], np.s_[2060:, :], np.s_[:, 1000:1001], np.s_[70:100, :]],
)
def test_selections_are_those_of_the_plain_path(store: Any, selection: Any) -> None:
    array = make(store)
    slow = zarr.open_array(without_bulk(store), path="a", mode="r")
    np.testing.assert_array_equal(array[selection], slow[selection])


def test_a_shard_that_is_not_there_reads_as_fill(tmp_path: Path) -> None:
    array = make(LocalStore(tmp_path))
    key_path(tmp_path).unlink()
    values = array[...]
    assert (values[:2048] == -1).all()
    assert (values[2048:] != -1).all()


@pytest.mark.parametrize("damage", ["index", "chunk", "short"])
def test_damage_is_told(tmp_path: Path, damage: str) -> None:
    array = make(LocalStore(tmp_path))
    raw = bytearray(key_path(tmp_path).read_bytes())
    if damage == "index":
        raw[-10] ^= 1
    elif damage == "chunk":
        raw[:2000] = bytes(2000)
    else:
        del raw[: len(raw) - 100]
    key_path(tmp_path).write_bytes(bytes(raw))
    with pytest.raises(ValueError, match=r"c/0/0|shard") as caught:
        array[...]
    assert any("c/0/0" in note for note in caught.value.__notes__)
