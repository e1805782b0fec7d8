"""Batches among threads and other objects of the same array: no update is lost, and no call meets half of one."""

from __future__ import annotations

from typing import Any

import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.storage import MemoryStore

LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (4, 4)},
    "shards": {"chunks": (2, 2), "shards": (4, 4)},
    "format 2": {"chunks": (4, 4), "zarr_format": 2},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_others_wrote_after_a_read_inside_stays(layout: str) -> None:
    """The read brings in the whole chunk; at the end only what was written in the batch is put over the stored one."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=(8, 8), dtype="i4", **LAYOUTS[layout])
    other = zarr.open_array(store, mode="r+")
    other[...] = 1
    with array.batch():
        array[0, 0] = 2
        assert array[0, :2].tolist() == [2, 1]
        other[0, 1] = 3
        array[0, 0] = 4
    assert other[0, :3].tolist() == [4, 3, 1]
    with array.batch():
        array[0, 0] = 5
        assert array[0, :2].tolist() == [5, 3]
        other[...] = 0
    assert other[...].sum() == 5


def test_fields_that_others_wrote_stay() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, shape=8, chunks=4, dtype=[("x", "i4"), ("y", "i4")], zarr_format=2)
    other = zarr.open_array(store, mode="r+")
    with array.batch():
        array.set_basic_selection(0, 1, fields="x")
        other.set_basic_selection(1, 5, fields="y")
    assert array[:2].tolist() == [(1, 0), (0, 5)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_threads_that_open_and_end_batches_of_one_object(layout: str) -> None:
    array = zarr.create_array(MemoryStore(), shape=(16, 16), dtype="i4", **LAYOUTS[layout])

    def work(number: int) -> None:
        for turn in range(1, rounds(40, 400)):
            with array.batch():
                array[number, :] = turn
                array[8 + number, turn % 16] = turn

    def look() -> None:
        for _ in range(rounds(40, 400)):
            first, second = array.read_many([(0, slice(None)), (slice(0, 4), 3)])
            assert len(set(first.tolist())) == 1
            assert second.shape == (4,)
            assert array[0, 3] <= array[0, 3]

    run_together([*(lambda number=number: work(number) for number in range(4)), look])
    last = rounds(40, 400) - 1
    assert (array[:4] == last).all()
