"""What each further open array costs in memory: equal arrays share chains, programs and working memory."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import zarr
from zarr.codecs import BytesCodec, ZstdCodec
from zarr.storage import MemoryStore

MOST_BYTES = 4096


@pytest.mark.parametrize("shards", [None, (100,)])
def test_a_used_array_takes_a_few_kilobytes(shards: tuple[int, ...] | None) -> None:
    store = MemoryStore()
    zarr.create_array(store, name="a", shape=(100,), chunks=(10,), shards=shards, dtype="i4")[:] = 1
    kept = [zarr.open_array(store, path="a", mode="r")]
    assert kept[0][5] == 1
    gc.collect()
    tracemalloc.start()
    try:
        kept += [zarr.open_array(store, path="a", mode="r") for _ in range(200)]
        assert all(array[5] == 1 for array in kept)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] / 200
    finally:
        tracemalloc.stop()
    assert taken < MOST_BYTES


def test_chains_are_shared_by_equal_arrays_only() -> None:
    def chain(**options: object) -> object:
        given = {"shape": (8,), "chunks": (4,), "dtype": "f4", "fill_value": 0.0, "compressors": ZstdCodec(), **options}
        return zarr.create_array(MemoryStore(), **given)._handle.layout.chain  # type: ignore[arg-type]

    first = chain()
    assert chain() is first
    assert chain(shape=(80,)) is first
    others = [
        chain(fill_value=-0.0),
        chain(fill_value=float("nan")),
        chain(chunks=(2,)),
        chain(dtype="i4", fill_value=0),
        chain(dtype="f4", serializer=BytesCodec(endian="big")),
        chain(compressors=ZstdCodec(level=9)),
        chain(config={"order": "F"}),
        chain(compressors=None),
    ]
    assert all(other is not first for other in others)
    assert len({id(other) for other in others}) == len(others)


def test_arrays_that_share_a_chain_keep_their_values() -> None:
    store = MemoryStore()
    arrays = [zarr.create_array(store, name=str(n), shape=(40,), chunks=(7,), dtype="i4") for n in range(5)]
    for number, array in enumerate(arrays):
        array[:] = np.arange(40) * number
    for number, array in enumerate(arrays):
        np.testing.assert_array_equal(array[3:], np.arange(3, 40) * number)
