"""The index of a shard as an object, against arrays that wrote the shard."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import zarr
from zarr.buffer import default_buffer_prototype
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec
from zarr.core.shards import ShardIndex, ShardReader
from zarr.errors import ChunkDecodeError
from zarr.storage import MemoryStore


@pytest.mark.parametrize("index_location", ["start", "end"])
def test_the_chunks_of_a_written_shard(index_location: str) -> None:
    """Raw inner chunks are found where the index says; those that were not written are missing."""
    store = MemoryStore()
    codec = ShardingCodec(
        chunk_shape=(2, 2),
        codecs=[BytesCodec()],
        index_codecs=[BytesCodec(), Crc32cCodec()],
        index_location=index_location,
    )
    array = zarr.create_array(
        store, shape=(4, 6), chunks=(4, 6), dtype="u2", serializer=codec, compressors=None, fill_value=0
    )
    data = np.arange(1, 25, dtype="u2").reshape(4, 6)
    data[2:, 4:] = 0
    array[:] = data
    shard = asyncio.run(store.get("c/0/0", default_buffer_prototype()))
    assert shard is not None
    reader = asyncio.run(ShardReader.from_bytes(shard, codec, (2, 3)))
    assert len(reader) == 6
    for (row, column), value in reader.to_dict_vectorized().items():
        expected = data[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        if (row, column) == (1, 2):
            assert value is None
        else:
            assert value is not None
            assert value.to_bytes() == expected.tobytes()
    with pytest.raises(KeyError):
        reader[1, 2]
    with pytest.raises(ChunkDecodeError):
        asyncio.run(ShardReader.from_bytes(shard[1:-1], codec, (2, 3)))


@pytest.mark.parametrize("counts", [(), (3,), (2, 3)])
def test_places_one_by_one_and_at_once(counts: tuple[int, ...]) -> None:
    index = ShardIndex.create_empty(counts)
    assert index.is_all_empty()
    places = list(np.ndindex(counts))
    index.set_chunk_slice(places[-1], slice(7, 9))
    assert index.get_full_chunk_map().sum() == 1
    rows = np.array(places, dtype=np.int64).reshape(len(places), len(counts))
    starts, ends, valid = index.get_chunk_slices_vectorized(rows)
    found = [(int(a), int(b)) if c else None for a, b, c in zip(starts, ends, valid, strict=True)]
    assert found == [index.get_chunk_slice(place) for place in places]
    index.set_chunk_slice(places[-1], None)
    assert index.is_all_empty()
