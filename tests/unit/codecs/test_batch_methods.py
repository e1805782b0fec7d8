"""Codecs that override ``encode`` and ``decode``, the methods for a batch of chunks: they are what is called."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, VLenUTF8Codec, ZstdCodec
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.numcodecs import Blosc, Delta, Zlib

from .specs import chunk_spec, random_array, same

DATA = random_array("int32", (12, 10), 7) >> 8


class Turned:
    """Notes its calls; turns all bits over after encoding, and before decoding."""

    calls: list[str] = []
    own = False
    """True if no class below has methods for encoding: the other steps are done here, too."""

    def _code(self, chunk: Any, spec: Any) -> Any:
        return chunk

    _uncode = _code

    async def encode(self, chunks_and_specs: Any) -> Any:
        pairs = list(chunks_and_specs)
        self.calls.append("encode")
        if self.own:
            done = [None if chunk is None else self._code(chunk, spec) for chunk, spec in pairs]
        else:
            done = list(await super().encode(pairs))  # type: ignore[misc]
        return [None if chunk is None else turned(chunk, spec) for chunk, (_, spec) in zip(done, pairs, strict=True)]

    async def decode(self, chunks_and_specs: Any) -> Any:
        self.calls.append("decode")
        pairs = [(None if chunk is None else turned(chunk, spec), spec) for chunk, spec in chunks_and_specs]
        if self.own:
            return [None if chunk is None else self._uncode(chunk, spec) for chunk, spec in pairs]
        return await super().decode(pairs)  # type: ignore[misc]


def turned(chunk: Any, spec: Any) -> Any:
    array = ~chunk.as_numpy_array()
    is_array = hasattr(chunk, "as_ndarray_like")
    return (
        spec.prototype.nd_buffer.from_numpy_array(array) if is_array else spec.prototype.buffer.from_bytes(bytes(array))
    )


class Alone(Turned):
    """The base of codecs that have methods for a batch and no others."""

    own = True
    is_fixed_size = True

    @classmethod
    def from_dict(cls, data: Any) -> Any:
        return cls()

    def to_dict(self) -> dict[str, Any]:
        return {"name": "test." + type(self).__name__}

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length


class AloneFilter(Alone, ArrayArrayCodec):
    """From arrays to arrays."""


class AloneSerializer(Alone, ArrayBytesCodec):
    """From arrays to bytes."""

    def _code(self, chunk: Any, spec: Any) -> Any:
        return spec.prototype.buffer.from_bytes(chunk.as_numpy_array().tobytes())

    def _uncode(self, chunk: Any, spec: Any) -> Any:
        array = np.frombuffer(chunk.to_bytes(), spec.dtype.to_native_dtype()).reshape(spec.shape)
        return spec.prototype.nd_buffer.from_numpy_array(array)


class AloneCompressor(Alone, BytesBytesCodec):
    """From bytes to bytes."""


class PlainToo(AloneCompressor):
    """With plain functions beside the methods for a batch, which come first."""

    def _encode_sync(self, chunk: Any, spec: Any) -> Any:
        raise AssertionError("not called")

    _decode_sync = _encode_sync


class OfBytes(Turned, BytesCodec):
    pass


class OfTranspose(Turned, TransposeCodec):
    pass


class OfGzip(Turned, GzipCodec):
    pass


class OfZstd(Turned, ZstdCodec):
    pass


class OfCrc32c(Turned, Crc32cCodec):
    pass


class OfZlib(Turned, Zlib):
    pass


class OfBlosc(Turned, Blosc):
    pass


class OfDelta(Turned, Delta):
    pass


class OfShards(Turned, ShardingCodec):
    pass


class SingleBelow(OfBytes):
    """A class more derived with a method for one chunk, which the methods for a batch call."""

    async def _encode_single(self, chunk: Any, spec: Any) -> Any:
        self.calls.append("single")
        return await super()._encode_single(chunk, spec)


# The parameters of an array, and the same with the codec of the library, where there is one.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "filter": ({"filters": AloneFilter()}, None),
    "serializer": ({"serializer": AloneSerializer()}, {"serializer": BytesCodec()}),
    "compressor": ({"compressors": AloneCompressor()}, {"compressors": None}),
    "compressors": ({"compressors": [AloneCompressor(), ZstdCodec()]}, None),
    "plain too": ({"compressors": PlainToo()}, {"compressors": None}),
    "bytes": ({"serializer": OfBytes()}, {"serializer": BytesCodec()}),
    "single below": ({"serializer": SingleBelow()}, {"serializer": BytesCodec()}),
    "transpose": ({"filters": OfTranspose(order=(1, 0))}, None),
    "gzip": ({"compressors": OfGzip(level=1)}, {"compressors": GzipCodec(level=1)}),
    "zstd": ({"compressors": OfZstd()}, {"compressors": ZstdCodec()}),
    "zstd, checksum": ({"compressors": [OfZstd(), Crc32cCodec()]}, None),
    "crc32c": ({"compressors": OfCrc32c()}, {"compressors": Crc32cCodec()}),
    "zlib": ({"compressors": OfZlib(level=2)}, {"compressors": Zlib(level=2)}),
    "blosc": ({"compressors": OfBlosc()}, {"compressors": Blosc()}),
    "delta": ({"filters": OfDelta(dtype="<i4")}, None),
}


@pytest.fixture(autouse=True)
def calls() -> list[str]:
    Turned.calls.clear()
    return Turned.calls


def new_array(store: Any, parameters: dict[str, Any], shards: Any = None) -> zarr.Array:
    given = {"compressors": None, **parameters}
    return zarr.create_array(store, shape=DATA.shape, dtype="i4", chunks=(3, 5), shards=shards, **given)


def read(array: zarr.Array, selection: Any, way: str) -> Any:
    if way == "sync":
        return array[selection]
    return asyncio.run(array.async_array.getitem(selection))


def write(array: zarr.Array, selection: Any, value: Any, way: str) -> None:
    if way == "sync":
        array[selection] = value
    else:
        asyncio.run(array.async_array.setitem(selection, value))


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("shards", [None, (6, 10)])
@pytest.mark.parametrize("place", ["memory", "files"])
@pytest.mark.parametrize("case", CASES)
def test_the_methods_for_a_batch_are_called(
    case: str, place: str, shards: Any, way: str, tmp_path: Path, calls: list[str]
) -> None:
    array = new_array({} if place == "memory" else tmp_path, CASES[case][0], shards)
    expected = DATA.copy()
    write(array, ..., DATA, way)
    assert calls.count("encode") == 8
    assert calls.count("decode") == 0
    assert same(read(array, ..., way), expected)
    assert calls.count("decode") == 8
    rng = np.random.default_rng(len(case))
    for _ in range(4):
        (top, bottom), (left, right) = np.sort(rng.integers(0, 12, 2)), np.sort(rng.integers(0, 10, 2))
        part, value = np.s_[int(top) : int(bottom) + 1, int(left) : int(right) + 1], int(rng.integers(1, 1000))
        expected[part] = value
        write(array, part, value, way)
        assert (read(array, part, way) == value).all()
    assert same(read(array, ..., way), expected)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("case", [name for name, (_, plain) in CASES.items() if plain is not None])
def test_what_they_return_is_stored(case: str, way: str) -> None:
    given, plain = CASES[case]
    stored: dict[str, Any] = {}
    twin: dict[str, Any] = {}
    for store, parameters in ((stored, given), (twin, plain or {})):
        write(new_array(store, parameters), ..., DATA, way)
    keys = [key for key in twin if key.startswith("c/")]
    assert len(keys) == 8
    for key in keys:
        assert stored[key].to_bytes() == bytes(~twin[key].as_numpy_array())


@pytest.mark.parametrize("case", CASES)
def test_the_core_leaves_them_alone(case: str) -> None:
    array = new_array({}, CASES[case][0])
    chain = CodecChain.build(array.metadata.codecs, chunk_spec(shape=(3, 5)))  # type: ignore[union-attr]
    assert chain.asynchronous
    assert chain.program is None
    assert not chain.in_parts


def test_one_of_both_methods(calls: list[str]) -> None:
    class Encodes(GzipCodec):
        async def encode(self, chunks_and_specs: Any) -> Any:
            calls.append("encode")
            return await super().encode(chunks_and_specs)

    array = new_array({}, {"compressors": Encodes()})
    array[...] = DATA
    assert same(array[...], DATA)
    assert calls == ["encode"] * 8


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("shards", [None, (6, 10)])
def test_a_chunk_for_which_encode_returns_none_is_not_stored(shards: Any, way: str) -> None:
    class Nothing(AloneCompressor):
        async def encode(self, chunks_and_specs: Any) -> Any:
            return (None for _ in chunks_and_specs)

    store: dict[str, Any] = {}
    array = new_array(store, {"compressors": Nothing()}, shards)
    write(array, ..., DATA, way)
    assert not [key for key in store if key.startswith("c/")]
    assert not read(array, ..., way).any()


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize(
    ("index_codecs", "count"),
    [
        ([OfBytes(), AloneCompressor()], 2),
        ([AloneSerializer()], 1),
        ([BytesCodec(endian="big"), AloneCompressor(), Crc32cCodec()], 1),
        # All of these have plain functions, by which zarr-python codes an index.
        ([OfBytes(), Crc32cCodec()], 0),
        ([BytesCodec(), OfCrc32c()], 0),
    ],
)
def test_codecs_of_the_index_of_shards(
    index_codecs: Any, count: int, location: Any, way: str, calls: list[str]
) -> None:
    codec = ShardingCodec(chunk_shape=(3, 5), index_codecs=index_codecs, index_location=location)
    store: dict[str, Any] = {}
    array = zarr.create_array(store, shape=(12, 10), dtype="i4", chunks=(6, 10), serializer=codec, compressors=None)
    write(array, ..., DATA, way)
    assert calls == ["encode"] * (2 * count)
    assert same(read(array, ..., way), DATA)
    assert read(array, (4, 7), way) == DATA[4, 7]
    assert calls.count("decode") >= 2 * count
    assert bool(calls) == bool(count)
    write(array, (slice(2, 5), 3), 11, way)
    assert (read(array, (slice(None), 3), way)[2:5] == 11).all()
    shard = store["c/0/0"]
    assert codec.index_of(shard, (2, 2)).shape == (2, 2, 2)


def test_a_codec_of_shards_is_asked_for_parts_where_it_is_alone(calls: list[str]) -> None:
    array = zarr.create_array({}, data=DATA, chunks=(6, 10), serializer=OfShards(chunk_shape=(3, 5)), compressors=None)
    assert same(array[...], DATA)
    assert calls == []


@pytest.mark.filterwarnings("ignore:Combining a")
def test_a_codec_of_shards_beside_others(calls: list[str]) -> None:
    codec = OfShards(chunk_shape=(3, 5))
    array = zarr.create_array({}, data=DATA, chunks=(6, 10), serializer=codec, compressors=GzipCodec())
    assert same(array[...], DATA)
    assert calls == ["encode"] * 2 + ["decode"] * 2


def test_strings(calls: list[str]) -> None:
    class OfStrings(Turned, VLenUTF8Codec):
        pass

    words = np.array(["a", "", "longer", "ä"], dtype=object)
    array = zarr.create_array({}, shape=(4,), dtype=str, chunks=(2,), serializer=OfStrings(), compressors=None)
    array[...] = words
    assert list(array[...]) == list(words)
    assert calls == ["encode"] * 2 + ["decode"] * 2
