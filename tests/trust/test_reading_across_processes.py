"""Readers of a shard that another process replaces: parts of one value, of the old one or of the new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import SHARED_KINDS, make_store, rounds, run_processes
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.buffer import default_buffer_prototype

ROWS = 64


def _open(kind: str, folder: str) -> Any:
    return zarr.open_array(make_store(kind, folder), mode="r+")


def _work(number: int, barrier: Any, kind: str, folder: str) -> None:
    array = _open(kind, folder)
    random = np.random.default_rng(number)
    barrier.wait()
    for turn in range(rounds(50, 3000)):
        if number == 0:  # chunks of other lengths, at other places
            array[...] = random.integers(0, 1 << (turn * 13 % 50 + 1), (ROWS, 16))
        else:
            row = int(random.integers(ROWS - 8))
            found = array[row : row + 8, 3:5]  # an error where index and chunks are of two values
            assert found.shape == (8, 2)


@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_shards_that_another_process_replaces(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, shape=(ROWS, 16), chunks=(1, 4), shards=(ROWS, 16), dtype="i8")[...] = 1
    store.close()
    run_processes(3, "spawn", _work, kind, str(tmp_path))


@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_a_value_that_is_open_stays_what_it_is(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    make = default_buffer_prototype().buffer.from_bytes
    store.set_sync("a/b", make(b"0123456789"))
    with store.open_value_sync("a/b") as read:
        assert read(SuffixByteRequest(2)) == b"89"
        if kind == "local":
            store.set_sync("a/b", make(b"abc"))
        assert read(RangeByteRequest(2, 5)) == b"234"
        assert read(RangeByteRequest(8, 15)) == b"89"
        assert read(RangeByteRequest(0, 1)) == b"0"
    with store.open_value_sync("a/c") as read:
        assert read is None
    store.close()
