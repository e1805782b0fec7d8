"""Shards as whole chunks: nested, in longer chains, with any index."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from tests.unit.codecs.specs import buffer, chunk_spec, nd_buffer, random_array, same
from zarr.codecs import (
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    VLenUTF8Codec,
    ZstdCodec,
)
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.shard_level import EMPTY
from zarr.errors import ChunkDecodeError
from zarr.storage import LocalStore, MemoryStore

INDEX_CODECS: list[list[Any]] = [
    [BytesCodec()],
    [BytesCodec(), Crc32cCodec()],
    [BytesCodec(endian="big")],
    [BytesCodec(endian="big"), Crc32cCodec(), Crc32cCodec()],
    [TransposeCodec(order=(2, 0, 1)), BytesCodec(), Crc32cCodec()],
]
ORDERS = ["morton", "unordered", "lexicographic", "colexicographic"]


class Place:
    """A byte getter and setter over one value, which counts the bytes that it gave."""

    def __init__(self, data: bytes | None = None) -> None:
        self.data = data
        self.read = 0

    async def get(self, prototype: Any, byte_range: Any = None) -> Any:
        if self.data is None:
            return None
        data = self.data
        if byte_range is not None and hasattr(byte_range, "suffix"):
            data = data[-byte_range.suffix :]
        elif byte_range is not None:
            data = data[byte_range.start : byte_range.end]
        self.read += len(data)
        return buffer(data)

    async def set(self, value: Any) -> None:
        self.data = value.to_bytes()

    async def delete(self) -> None:
        self.data = None


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(["uint8", "int32", ">f8", "<U3", "string"]),
    index_codecs=st.sampled_from(INDEX_CODECS),
    location=st.sampled_from(["start", "end"]),
    order=st.sampled_from(ORDERS),
    keep=st.booleans(),
    seed=st.integers(0, 99),
)
def test_round_trip(name: str, index_codecs: Any, location: Any, order: Any, keep: bool, seed: int) -> None:
    inner: list[Any] = [VLenUTF8Codec()] if name == "string" else [BytesCodec(), ZstdCodec()]
    codec = ShardingCodec(
        chunk_shape=(2, 3), codecs=inner, index_codecs=index_codecs, index_location=location, subchunk_write_order=order
    )
    spec = chunk_spec(name, (6, 9), write_empty_chunks=keep)
    chain = CodecChain.build([codec], spec)
    array = random_array(name, (6, 9), seed)
    array[2:4, 3:6] = spec.fill_value
    stored = chain.encode(array)
    assert same(chain.decode(stored), array)
    assert chain.shard is not None
    index = chain.shard.parse_index(stored[: chain.shard.index_nbytes()] if location == "start" else
                                    stored[len(stored) - chain.shard.index_nbytes() :])  # fmt: skip
    assert index.shape == (9, 2)
    assert bool(index[4, 0] == EMPTY) is not keep
    assert chain.shard.build_index(index) == (
        stored.to_bytes()[: chain.shard.index_nbytes()] if location == "start"
        else stored.to_bytes()[-chain.shard.index_nbytes() :]
    )  # fmt: skip
    places = chain.shard.order_of_writing()
    offsets = [int(index[place, 0]) for place in places if index[place, 0] != EMPTY]
    assert offsets == sorted(offsets)


class Async(MemoryStore):
    """A store that is asked by its coroutines, chunk by chunk."""

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        return await super().get(key, *args, **options)


PLACES: dict[str, list[tuple[int, int]]] = {
    "morton": [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)],
    "lexicographic": [(i, j) for i in range(3) for j in range(2)],
    "colexicographic": [(i, j) for j in range(2) for i in range(3)],
}


@pytest.mark.parametrize("order", PLACES)
@pytest.mark.parametrize("kind", [MemoryStore, LocalStore, Async])
def test_inner_chunks_lie_in_the_order_of_the_codec(order: Any, kind: Any, tmp_path: Path) -> None:
    store = kind(tmp_path) if kind is LocalStore else kind()
    codec = ShardingCodec(chunk_shape=(2, 2), subchunk_write_order=order)
    array = zarr.create_array(store, shape=(6, 4), chunks=(6, 4), dtype="u1", serializer=codec, compressors=None)
    for selection, value in ((..., np.arange(1, 25).reshape(6, 4)), ((slice(3, 6), 3), 7), ((0, 0), 9)):
        array[selection] = value
        index = codec.index_of(buffer(bytes(store.get_sync("c/0/0").to_bytes())), (3, 2))
        assert sorted(np.ndindex(3, 2), key=lambda place: int(index[place][0])) == PLACES[order]
    assert array[:].sum() == 300 - sum((16, 20, 24)) + 21 - 1 + 9


def test_nested_and_surrounded() -> None:
    inner = ShardingCodec(chunk_shape=(2, 1), codecs=[BytesCodec(endian="big"), GzipCodec()])
    outer = ShardingCodec(chunk_shape=(4, 3), codecs=[TransposeCodec(order=(0, 1)), inner])
    chains: list[list[Any]] = [[outer], [TransposeCodec(order=(1, 0)), outer], [outer, ZstdCodec(), Crc32cCodec()]]
    for codecs in chains:
        shape = (12, 8) if isinstance(codecs[0], TransposeCodec) else (8, 12)
        spec = chunk_spec("int32", shape)
        chain = CodecChain.build(codecs, spec)
        array = random_array("int32", shape, 4)
        array[:4] = 0
        assert same(chain.decode(chain.encode(array)), array)
        assert (chain.shard is not None) == (codecs == [outer])
        assert chain.program is None
    level = CodecChain.build([outer], chunk_spec("int32", (8, 12))).shard
    assert level is not None
    assert level.chunk_shape == (4, 3)
    assert level.chunks_per_shard == (2, 4)


def test_index_format_is_native_where_it_can_be() -> None:
    spec = chunk_spec("int32", (4, 6))
    formats = [
        ShardingCodec(chunk_shape=(2, 3), index_codecs=codecs).level_for(spec).index_format for codecs in INDEX_CODECS
    ]
    assert [found is not None for found in formats] == [True, True, False, False, False]


def test_inner_chunks_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="not divisible"):
        CodecChain.build([ShardingCodec(chunk_shape=(3, 3))], chunk_spec("int32", (4, 6)))
    chain = CodecChain.build(
        [TransposeCodec(order=(1, 0)), ShardingCodec(chunk_shape=(6, 1))], chunk_spec("int32", (4, 6))
    )
    array = random_array("int32", (4, 6), 1)
    assert same(chain.decode(chain.encode(array)), array)


def test_damaged_indexes_are_named() -> None:
    spec = chunk_spec("int32", (4, 6))
    chain = CodecChain.build([ShardingCodec(chunk_shape=(2, 3), index_codecs=[BytesCodec()])], spec)
    stored = bytearray(chain.encode(random_array("int32", (4, 6), 1)).to_bytes())
    stored[-64:-56] = (10**15).to_bytes(8, "little")
    with pytest.raises(ChunkDecodeError, match=r"inner chunk 0 .* 1000000000000000"):
        chain.decode(buffer(stored))
    with pytest.raises(ChunkDecodeError, match="too short to hold its index"):
        chain.decode(buffer(bytes(20)))
    checked = CodecChain.build([ShardingCodec(chunk_shape=(2, 3))], spec)
    stored = bytearray(checked.encode(random_array("int32", (4, 6), 1)).to_bytes())
    stored[-10] ^= 1
    with pytest.raises(ChunkDecodeError, match="index"):
        checked.decode(buffer(stored))


SELECTIONS: list[Any] = [
    (slice(0, 2), slice(0, 3)),
    (slice(1, 7, 3), slice(2, 11)),
    (3, slice(None)),
    (slice(None), 5),
    (slice(None), slice(None)),
    (np.array([1, 5, 5]), slice(2, 4)),
    np.ix_(np.array([0, 7]), np.array([3, 3, 11])),
    (np.array([0, 7, 2]), np.array([3, 3, 11])),
    (slice(0, 2), np.array([0, 1]), np.array([1, 1]))[:2],
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_partial_decode(selection: Any) -> None:
    codec = ShardingCodec(chunk_shape=(2, 3), codecs=[BytesCodec(), ZstdCodec()])
    spec = chunk_spec("int32", (8, 12))
    array = random_array("int32", (8, 12), 3)
    array[:2, :6] = 0
    place = Place(CodecChain.build([codec], spec).encode(array).to_bytes())
    part = asyncio.run(codec._decode_partial_single(place, selection, spec))  # type: ignore[arg-type]
    assert part is not None
    assert np.array_equal(part.as_numpy_array(), array[selection])
    assert asyncio.run(codec._decode_partial_single(Place(), selection, spec)) is None  # type: ignore[arg-type]


def test_partial_decode_reads_little() -> None:
    codec = ShardingCodec(chunk_shape=(10, 10))
    spec = chunk_spec("int32", (100, 100))
    place = Place(CodecChain.build([codec], spec).encode(np.ones((100, 100), dtype="i4")).to_bytes())
    asyncio.run(codec._decode_partial_single(place, (slice(0, 5), slice(0, 5)), spec))  # type: ignore[arg-type]
    assert place.read == 400 + 16 * 100 + 4


@pytest.mark.parametrize("selection", SELECTIONS[:5], ids=str)
def test_partial_encode(selection: Any) -> None:
    codec = ShardingCodec(chunk_shape=(2, 3))
    spec = chunk_spec("int32", (8, 12))
    expected = np.zeros((8, 12), dtype="i4")
    place = Place()
    for number in (7, 8):
        expected[selection] = number
        value = nd_buffer(expected[selection])
        asyncio.run(codec._encode_partial_single(place, value, selection, spec))  # type: ignore[arg-type]
    assert place.data is not None
    assert np.array_equal(CodecChain.build([codec], spec).decode(buffer(place.data)), expected)
    zeros = nd_buffer(np.zeros((8, 12), dtype="i4"))
    asyncio.run(codec._encode_partial_single(place, zeros, (slice(None), slice(None)), spec))  # type: ignore[arg-type]
    assert place.data is None
