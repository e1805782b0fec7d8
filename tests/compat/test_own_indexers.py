"""Programs read through indexers, also of their own (anndata, annbatch): ``AsyncArray._get_selection``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.core.indexing import (
    BasicIndexer,
    BlockIndexer,
    ChunkProjection,
    CoordinateIndexer,
    Indexer,
    MaskIndexer,
    OrthogonalIndexer,
)
from zarr.storage import MemoryStore

DATA = np.arange(11 * 6, dtype="i4").reshape(11, 6)
GRIDS: dict[str, dict[str, Any]] = {
    "v2": {"chunks": (3, 4), "zarr_format": 2},
    "v3": {"chunks": (3, 4)},
    "order F": {"chunks": (3, 4), "config": {"order": "F"}},
    "sharded": {"chunks": (2, 2), "shards": (4, 4)},
    "rectilinear": {"chunks": ((3, 3, 5), (2, 4))},
}


class CountedStore(MemoryStore):
    read: list[str]

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        self.read.append(key)
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)


@pytest.fixture(params=GRIDS)
def array(request: pytest.FixtureRequest) -> Iterator[zarr.Array[Any]]:
    store = CountedStore()
    store.read = []
    with zarr.config.set({"array.rectilinear_chunks": True}):
        made = zarr.create_array(store, shape=DATA.shape, dtype="i4", fill_value=-1, **GRIDS[request.param])
        made[:] = DATA
        yield made


def read(array: zarr.Array[Any], indexer: Any, **options: Any) -> Any:
    prototype = default_buffer_prototype()
    return asyncio.run(array.async_array._get_selection(indexer, prototype=prototype, **options))


MASK = DATA % 5 == 2
POINTS = (np.array([10, 0, 3, 3]), np.array([5, 0, 1, 1]))


@pytest.mark.parametrize(
    ("kind", "selection", "expected"),
    [
        (BasicIndexer, (slice(2, 9), slice(1, 5)), DATA[2:9, 1:5]),
        (BasicIndexer, (slice(None, None, 3), 4), DATA[::3, 4]),
        (BasicIndexer, (3, 4), DATA[3, 4]),
        (BasicIndexer, ..., DATA),
        (BasicIndexer, (slice(4, 4), slice(None)), DATA[4:4]),
        (OrthogonalIndexer, (np.array([9, 1, 4]), slice(1, 6)), DATA[[9, 1, 4], 1:6]),
        (OrthogonalIndexer, (np.array([9, 1, 4]), np.array([5, 0])), DATA[np.ix_([9, 1, 4], [5, 0])]),
        (OrthogonalIndexer, (DATA[:, 0] % 12 == 0, 2), DATA[DATA[:, 0] % 12 == 0, 2]),
        (CoordinateIndexer, POINTS, DATA[POINTS]),
        (MaskIndexer, (MASK,), DATA[MASK]),
    ],
)
def test_an_indexer_reads_what_its_selection_reads(
    array: zarr.Array[Any], kind: Any, selection: Any, expected: Any
) -> None:
    indexer = kind(selection, shape=array.shape, chunk_grid=array._chunk_grid)
    found = read(array, indexer)
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)
    if np.ndim(expected):
        for dtype in ("i4", "f8"):
            out = np.zeros(np.shape(expected), dtype=dtype)
            assert read(array, indexer, out=default_buffer_prototype().nd_buffer.from_numpy_array(out)) is not None
            np.testing.assert_array_equal(out, expected)


def test_blocks(array: zarr.Array[Any]) -> None:
    indexer = BlockIndexer((1, 0), shape=array.shape, chunk_grid=array._chunk_grid)
    np.testing.assert_array_equal(read(array, indexer), array.blocks[1, 0])


class Ranges(Indexer):
    """Ranges of rows, one after the other."""

    def __init__(self, array: zarr.Array[Any], rows: list[slice], drop: bool = False) -> None:
        columns = slice(2, 3) if drop else slice(None)
        self.parts = [BasicIndexer((run, columns), array.shape, array._chunk_grid) for run in rows]
        shape = (sum(part.shape[0] for part in self.parts), *self.parts[0].shape[1:])
        self.shape = shape[:1] if drop else shape
        self.drop_axes = (1,) if drop else ()

    def __iter__(self) -> Iterator[ChunkProjection]:
        start = 0
        for part in self.parts:
            for coords, within, place, whole in part:
                rows = slice(start + place[0].start, start + place[0].stop)
                yield ChunkProjection(coords, within, rows if self.drop_axes else (rows, *place[1:]), whole)
            start += part.shape[0]


def test_ranges_of_rows_are_read_as_one_operation(array: zarr.Array[Any]) -> None:
    store = array.store
    assert isinstance(store, CountedStore)
    rows = [slice(8, 11), slice(0, 2), slice(1, 2)]
    expected = np.concatenate([DATA[run] for run in rows])
    store.read.clear()
    np.testing.assert_array_equal(read(array, Ranges(array, rows)), expected)
    if "shards" not in str(array.metadata) and array.shards is None:
        assert len(store.read) == len(set(store.read)), "a chunk of two ranges is fetched once"
    np.testing.assert_array_equal(read(array, Ranges(array, rows, drop=True)), expected[:, 2])


def test_fields_of_records() -> None:
    records = np.array([(i, i / 2, -i) for i in range(7)], dtype=[("a", "i4"), ("b", "f8"), ("c", "i2")])
    array = zarr.create_array({}, data=records, chunks=(3,), zarr_format=2)
    indexer = BasicIndexer(slice(2, 6), shape=array.shape, chunk_grid=array._chunk_grid)
    np.testing.assert_array_equal(read(array, indexer, fields="b"), records["b"][2:6])
    found = read(array, indexer, fields=["c", "a"])
    assert found.dtype.names == ("c", "a")
    np.testing.assert_array_equal(found["a"], records["a"][2:6])
    with pytest.raises(IndexError, match="field not found"):
        read(array, indexer, fields="x")
