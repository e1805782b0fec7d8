"""Shards that are replaced while they are read: an index that was kept is never used for another shard.

All versions of the shard have the same size and, on purpose, the same time of modification; the chunks lie in another
order in each, so that the index of one leads to a wrong chunk in any other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from tests.core.test_index_cache import ITEMS, NCHUNKS, shard_bytes
from zarr.runners.caches import file_indexes

READS = 10_000
VERSIONS = 12
FORM = ("end", True)
MTIME_NS = 1_600_000_000_123_456_789
pytestmark = pytest.mark.skipif(
    zarr_core.IMPLEMENTATION != "compiled" or os.name == "nt", reason="indexes are kept by the compiled core, of files"
)


def replace_shard(folder: str, version: int) -> None:
    """The shard of a version, whose number is told before and after."""
    partial = Path(folder, "next")
    partial.write_bytes(shard_bytes(version, FORM, holes=False))
    os.utime(partial, ns=(MTIME_NS, MTIME_NS))
    tell(folder, "begun", version)
    Path(folder, "a", "c").mkdir(exist_ok=True)
    os.replace(partial, Path(folder, "a", "c", "0"))
    tell(folder, "done", version)


def replace_all(folder: str) -> None:
    """One version after another; some while none has become old enough for its index to be kept."""
    for version in range(1, VERSIONS):
        time.sleep(0.16 if version % 3 else 0.002)
        replace_shard(folder, version)


def tell(folder: str, name: str, version: int) -> None:
    partial = Path(folder, name + ".partial")
    partial.write_text(str(version))
    partial.replace(Path(folder, name))


def told(folder: str, name: str) -> int:
    return int(Path(folder, name).read_text())


def make_array(folder: Path) -> Any:
    size = NCHUNKS * ITEMS
    zarr.create_array(
        str(folder / "a"), shape=(size,), shards=(size,), chunks=(ITEMS,), dtype="<f8", compressors=None, fill_value=-1
    )
    replace_shard(str(folder), 0)
    return zarr.open_array(str(folder / "a"), mode="r")


def read_chunk(folder: Path, array: Any, chunk: int) -> int:
    """The version of the shard that one inner chunk was read from, all of it and at its place."""
    least = told(str(folder), "done")
    values = array[chunk * ITEMS : (chunk + 1) * ITEMS] - 1000.0 * chunk
    version = int(values[0]) // 10**6
    np.testing.assert_array_equal(values, np.arange(ITEMS) + 10**6 * version)
    assert least <= version <= told(str(folder), "begun")
    return version


def read_all(folder: Path, over: Callable[[], bool]) -> None:
    array, rng, reads = zarr.open_array(str(folder / "a"), mode="r"), np.random.default_rng(0), 0
    before = file_indexes().info()[0]
    while reads < READS or not over():
        read_chunk(folder, array, int(rng.integers(0, NCHUNKS)))
        reads += 1
    while_replaced = file_indexes().info()[0]
    time.sleep(0.12)  # the last version is old enough now
    assert {read_chunk(folder, array, chunk) for chunk in range(NCHUNKS)} == {VERSIONS - 1}
    assert while_replaced > before
    assert file_indexes().info()[0] >= while_replaced + NCHUNKS - 1


@pytest.mark.slow
def test_a_thread_replaces_the_shard(tmp_path: Path) -> None:
    make_array(tmp_path)
    thread = threading.Thread(target=replace_all, args=(str(tmp_path),))
    thread.start()
    try:
        read_all(tmp_path, lambda: not thread.is_alive())
    finally:
        thread.join()


@pytest.mark.slow
def test_a_process_replaces_the_shard(tmp_path: Path) -> None:
    make_array(tmp_path)
    code = f"from tests.trust.test_shard_indexes import replace_all; replace_all({str(tmp_path)!r})"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        read_all(tmp_path, lambda: process.poll() is not None)
    assert process.returncode == 0


def test_what_we_write_is_what_we_read(tmp_path: Path) -> None:
    """Writes of ours between reads, of parts and of the whole, through another array object."""
    array, rng = make_array(tmp_path), np.random.default_rng(3)
    writer, wanted = zarr.open_array(str(tmp_path / "a"), mode="r+"), array[:]
    for turn in range(60):
        if turn % 20 == 10:
            time.sleep(0.12)
        for start in rng.integers(0, NCHUNKS * ITEMS, 20).tolist():
            np.testing.assert_array_equal(array[start : start + 5], wanted[start : start + 5])
        start, count = int(rng.integers(0, NCHUNKS * ITEMS)), int(rng.choice([1, 10, 10_000]))
        writer[start : start + count] = wanted[start : start + count] = turn
    np.testing.assert_array_equal(array[:], wanted)
