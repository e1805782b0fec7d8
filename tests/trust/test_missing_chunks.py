"""A chunk that is not there: fill, an error, or asked for again, for every way of reading."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.errors import ChunkNotFoundError
from zarr.storage import LocalStore, MemoryStore

LATE = 3
"""How many times a chunk is asked for before it is there."""


class LateStore(MemoryStore):
    """Shows one key only after it was asked for some times, as eventually consistent stores do."""

    def __init__(self, late: str, times: int) -> None:
        super().__init__()
        self.late, self.times, self.asked = late, times, 0

    def get_sync(self, key: str, *arguments: Any, **named: Any) -> Any:
        if key == self.late:
            self.asked += 1
            if self.asked <= self.times:
                return None
        return super().get_sync(key, *arguments, **named)


class AsyncLateStore(LateStore):
    """The same with coroutines only."""

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)


READS: dict[str, Callable[[Any], Any]] = {
    "all": lambda array: array[...],
    "one chunk": lambda array: array[4:6],
    "one element": lambda array: np.asarray([array[4]]),
    "orthogonal": lambda array: array.oindex[[0, 4, 7]],
    "many": lambda array: np.concatenate(array.read_many([slice(0, 5), slice(3, 8)])),
    "async": lambda array: asyncio.run(array.async_array.getitem(slice(0, 8))),
}
LAYOUTS: dict[str, dict[str, Any]] = {"chunks": {"chunks": (4,)}, "shards": {"chunks": (2,), "shards": (4,)}}


def make(store: Any, layout: str, **config: Any) -> Any:
    given: dict[str, Any] = {"shape": (8,), "dtype": "i4", "fill_value": 7, "overwrite": True} | LAYOUTS[layout]
    array = zarr.create_array(store, name="a/b", **given)
    array[...] = np.arange(8)
    return zarr.open_array(store, path="a/b", config={"missing_chunk_delay": 0.001} | config)


@pytest.mark.parametrize("store", [LateStore, AsyncLateStore])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("read", READS)
def test_a_late_chunk_is_waited_for(read: str, layout: str, store: Any) -> None:
    late = store("a/b/c/1", LATE)
    array = make(late, layout, missing_chunk_retries=LATE)
    late.asked = 0
    expected = READS[read](make(MemoryStore(), layout))
    assert READS[read](array).tolist() == expected.tolist()
    assert late.asked == LATE + 1 or layout == "shards"


@pytest.mark.parametrize("store", [LateStore, AsyncLateStore])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("read", READS)
def test_a_lost_chunk_is_filled_or_told_in_the_end(read: str, layout: str, store: Any) -> None:
    lost = store("a/b/c/1", 10**9)
    filled = READS[read](make(lost, layout, missing_chunk_retries=2))
    assert 7 in filled.tolist()
    assert 4 not in filled.tolist()
    with pytest.raises(ChunkNotFoundError, match="requested 3 times") as caught:
        READS[read](make(lost, layout, missing_chunk_retries=2, read_missing_chunks=False))
    assert "c/1" in str(caught.value)
    assert "a/b" in str(caught.value)


@pytest.mark.clock
@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_read_in_bulk(layout: str, tmp_path: Path) -> None:
    array = make(LocalStore(tmp_path), layout, missing_chunk_retries=2)
    place = tmp_path / "a/b/c/1"
    raw = place.read_bytes()
    place.unlink()
    assert array[...].tolist() == [0, 1, 2, 3, 7, 7, 7, 7]
    start = time.perf_counter()
    place.write_bytes(raw)
    slow = array.with_config({"missing_chunk_retries": 5, "missing_chunk_delay": 10.0})
    assert slow[...].tolist() == list(range(8))
    assert time.perf_counter() - start < 9  # it has not waited once


def test_the_setting_holds_for_arrays_that_say_nothing() -> None:
    with zarr.config.set({"array.missing_chunk_retries": LATE, "array.missing_chunk_delay": 0.001}):
        late = LateStore("a/c/1", LATE)
        array = zarr.create_array(late, name="a", shape=(8,), chunks=(4,), dtype="i4")
        array[...] = np.arange(8)
        assert zarr.open_array(late, path="a")[...].tolist() == list(range(8))  # type: ignore[union-attr]


@pytest.mark.parametrize("given", [("retries", -1), ("delay", "1"), ("delay", 99)])
def test_what_makes_no_sense_is_refused(given: Any) -> None:
    config: Any = {f"missing_chunk_{given[0]}": given[1]}
    with pytest.raises(ValueError, match="missing_chunk"):
        zarr.create_array({}, shape=(2,), dtype="i1", config=config)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_was_never_stored_keeps_no_array_from_growing(layout: str) -> None:
    array = zarr.create_array(
        {}, shape=(5,), dtype="i4", config={"read_missing_chunks": False, "missing_chunk_retries": 2}, **LAYOUTS[layout]
    )
    array.resize(8)
    array.resize(3)
    array.append([1, 2])
    assert array.shape == (5,)
