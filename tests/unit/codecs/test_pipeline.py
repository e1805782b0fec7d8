"""The codec pipelines by their public contract."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numpy as np
import pytest

import zarr
from tests.unit.codecs.specs import buffer, chunk_spec, nd_buffer, random_array
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.pipeline import BatchedCodecPipeline, FusedCodecPipeline
from zarr.registry import get_pipeline_class, register_pipeline
from zarr.settings import config

PIPELINES = [BatchedCodecPipeline, FusedCodecPipeline]
CHAINS: list[list[Any]] = [
    [BytesCodec()],
    [TransposeCodec(order=(1, 0)), BytesCodec(), ZstdCodec(), Crc32cCodec()],
    [ShardingCodec(chunk_shape=(2, 3))],
]


class Key:
    """One key of a dict, as byte getter and setter of both kinds."""

    def __init__(self, values: dict[Any, bytes], key: Any) -> None:
        self.values, self.key = values, key

    def get_sync(self, prototype: Any = None, byte_range: Any = None) -> Any:
        data = self.values.get(self.key)
        if data is None:
            return None
        if byte_range is not None and hasattr(byte_range, "suffix"):
            data = data[-byte_range.suffix :]
        elif byte_range is not None:
            data = data[byte_range.start : byte_range.end]
        return buffer(data)

    def set_sync(self, value: Any) -> None:
        self.values[self.key] = value.to_bytes()

    def delete_sync(self) -> None:
        self.values.pop(self.key, None)

    async def get(self, prototype: Any, byte_range: Any = None) -> Any:
        return self.get_sync(prototype, byte_range)

    async def set(self, value: Any) -> None:
        self.set_sync(value)

    async def delete(self) -> None:
        self.delete_sync()


@pytest.mark.parametrize(
    ("cls", "way"),
    [(cls, way) for cls in PIPELINES for way in ("async", "sync") if (cls, way) != (BatchedCodecPipeline, "sync")],
)
@pytest.mark.parametrize("codecs", CHAINS, ids=lambda codecs: type(codecs[0]).__name__)
def test_read_and_write(cls: Any, codecs: list[Any], way: str) -> None:
    spec = chunk_spec("int32", (4, 6), fill=5)
    pipeline = cls.from_codecs(codecs).evolve_from_array_spec(spec)
    values: dict[Any, bytes] = {}
    whole = (slice(None), slice(None))

    def write(batch: Any, value: Any) -> None:
        if way == "sync":
            pipeline.write_sync(batch, value)
        else:
            asyncio.run(pipeline.write(batch, value))

    def read(batch: Any, out: Any) -> Any:
        return pipeline.read_sync(batch, out) if way == "sync" else asyncio.run(pipeline.read(batch, out))

    array = random_array("int32", (4, 12), 1)
    write(
        [(Key(values, i), spec, whole, (slice(None), slice(6 * i, 6 * i + 6)), True) for i in range(2)],
        nd_buffer(array),
    )
    assert set(values) == {0, 1}
    part = (slice(1, 3), slice(0, 6, 2))
    write([(Key(values, 0), spec, part, (), False)], nd_buffer(np.array(9, dtype="i4")))
    array[1:3, 0:6:2] = 9
    out = nd_buffer(np.zeros((4, 18), dtype="i4"))
    batch = [(Key(values, i), spec, whole, (slice(None), slice(6 * i, 6 * i + 6)), True) for i in range(3)]
    assert [result["status"] for result in read(batch, out)] == ["present", "present", "missing"]
    assert np.array_equal(out.as_numpy_array(), np.concatenate([array, np.full((4, 6), 5)], axis=1))
    write([(Key(values, 1), spec, whole, (), True)], nd_buffer(np.array(5, dtype="i4")))
    assert set(values) == {0}


class NothingOfZeros(BytesCodec):
    """A codec that stores nothing for chunks of zeros."""

    def _encode_sync(self, chunk_data: Any, chunk_spec: Any) -> Any:
        return super()._encode_sync(chunk_data, chunk_spec) if chunk_data.as_numpy_array().any() else None

    async def _encode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        return self._encode_sync(chunk_data, chunk_spec)


@pytest.mark.parametrize("way", ["async", "sync"])
def test_a_codec_may_say_that_nothing_is_to_be_stored(way: str) -> None:
    spec = chunk_spec("int32", (4,), fill=5)
    pipeline = FusedCodecPipeline.from_codecs([NothingOfZeros()]).evolve_from_array_spec(spec)
    values: dict[Any, bytes] = {0: b"before"}
    batch = [(Key(values, 0), spec, (slice(None),), (slice(None),), True)]
    zeros = nd_buffer(np.zeros(4, dtype="i4"))
    if way == "sync":
        pipeline.write_sync(batch, zeros)
    else:
        asyncio.run(pipeline.write(batch, zeros))
    assert values == {}


@pytest.mark.parametrize("cls", PIPELINES)
def test_dropped_axes(cls: Any) -> None:
    spec = chunk_spec("int32", (4, 6))
    pipeline = cls.from_codecs([BytesCodec()])
    values: dict[Any, bytes] = {}
    selection = (slice(2, 3), slice(None))
    row = np.arange(6, dtype="i4")
    asyncio.run(
        pipeline.write([(Key(values, 0), spec, selection, (slice(None),), False)], nd_buffer(row), drop_axes=(0,))
    )
    out = nd_buffer(np.zeros(6, dtype="i4"))
    asyncio.run(pipeline.read([(Key(values, 0), spec, selection, (slice(None),), False)], out, drop_axes=(0,)))
    assert np.array_equal(out.as_numpy_array(), row)


@pytest.mark.parametrize("cls", PIPELINES)
@pytest.mark.parametrize("codecs", CHAINS, ids=lambda codecs: type(codecs[0]).__name__)
def test_batches(cls: Any, codecs: list[Any]) -> None:
    spec = chunk_spec("int32", (4, 6))
    pipeline = pickle.loads(pickle.dumps(cls.from_codecs(codecs)))
    array = random_array("int32", (4, 6), 2)
    encoded = list(asyncio.run(pipeline.encode([(nd_buffer(array), spec), (None, spec)])))
    assert encoded[1] is None
    assert encoded[0].to_bytes() == CodecChain.build(codecs, spec).encode(array).to_bytes()
    decoded = list(asyncio.run(pipeline.decode([(encoded[0], spec), (None, spec)])))
    assert decoded[1] is None
    assert np.array_equal(decoded[0].as_numpy_array(), array)
    assert list(pipeline) == codecs
    assert (
        pipeline.supports_partial_decode
        == pipeline.supports_partial_encode
        == (len(codecs) == 1 and codecs != CHAINS[0])
    )


@pytest.mark.parametrize("cls", PIPELINES)
@pytest.mark.parametrize(
    ("codecs", "error", "match"),
    [
        ([ZstdCodec(), BytesCodec()], TypeError, "must be preceded by an ArrayArrayCodec"),
        ([ZstdCodec()], ValueError, "Required ArrayBytesCodec was not found"),
        ([], ValueError, "Required ArrayBytesCodec was not found"),
        ([BytesCodec(), BytesCodec()], ValueError, "two instances of ArrayBytesCodec"),
        ([BytesCodec(), TransposeCodec(order=(1, 0))], TypeError, "must be preceded by another ArrayArrayCodec"),
        ([3], TypeError, "Expected a codec"),
    ],
)
def test_impossible_orders(cls: Any, codecs: list[Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        cls.from_codecs(codecs)


def test_encoded_size() -> None:
    pipeline = BatchedCodecPipeline.from_codecs([BytesCodec(), Crc32cCodec()])
    assert pipeline.compute_encoded_size(96, chunk_spec()) == 100


@pytest.mark.parametrize("name", ["BatchedCodecPipeline", "FusedCodecPipeline"])
def test_the_configured_names_lead_here(name: str) -> None:
    with config.set({"codec_pipeline.path": f"zarr.core.codec_pipeline.{name}"}):
        assert get_pipeline_class().__name__ == name


class Recording(BatchedCodecPipeline):
    """Remembers what its functions of a batch were given."""

    calls: list[tuple[str, int]] = []

    async def read_batch(self, batch_info: Any, out: Any, drop_axes: Any = ()) -> Any:
        batch = list(batch_info)
        self.calls.append(("read", len(batch)))
        return await super().read_batch(batch, out, drop_axes)

    async def write_batch(self, batch_info: Any, value: Any, drop_axes: Any = ()) -> None:
        batch = list(batch_info)
        self.calls.append(("write", len(batch)))
        await super().write_batch(batch, value, drop_axes)

    async def decode_batch(self, chunk_bytes_and_specs: Any) -> Any:
        items = list(chunk_bytes_and_specs)
        self.calls.append(("decode", len(items)))
        return await super().decode_batch(items)

    async def encode_batch(self, chunk_arrays_and_specs: Any) -> Any:
        items = list(chunk_arrays_and_specs)
        self.calls.append(("encode", len(items)))
        return await super().encode_batch(items)


def test_functions_of_a_batch_that_a_subclass_defines_are_called() -> None:
    register_pipeline(Recording)
    name = f"{Recording.__module__}.{Recording.__qualname__}"
    with config.set({"codec_pipeline.path": name, "codec_pipeline.batch_size": 3}):
        array = zarr.create_array({}, shape=(8,), chunks=(2,), dtype="i4", compressors=ZstdCodec())
        Recording.calls.clear()
        array[:] = np.arange(8)
        assert sorted(Recording.calls) == [
            ("decode", 1), ("decode", 3), ("encode", 1), ("encode", 3), ("write", 1), ("write", 3),
        ]  # fmt: skip
        Recording.calls.clear()
        assert array[:].tolist() == list(range(8))
        assert sorted(Recording.calls) == [("decode", 1), ("decode", 3), ("read", 1), ("read", 3)]
        array[3] = 30
        assert array[2:5].tolist() == [2, 30, 4]


def test_a_batch_of_parts_of_shards_is_decoded_and_encoded() -> None:
    async def call() -> list[Any]:
        spec = chunk_spec("int32", (4, 6))
        pipeline = BatchedCodecPipeline.from_codecs([ShardingCodec(chunk_shape=(2, 3))]).evolve_from_array_spec(spec)
        key = Key({}, "a")
        part = (slice(0, 2), slice(3, 6))
        await pipeline.encode_partial_batch([(key, nd_buffer(np.full((2, 3), 7, "i4")), part, spec)])
        whole = (slice(0, 4), slice(0, 6))
        parts = await pipeline.decode_partial_batch([(key, part, spec), (key, whole, spec), (Key({}, "b"), part, spec)])
        return [None if part is None else part.as_numpy_array() for part in parts]

    inner, whole, absent = asyncio.run(call())
    assert np.all(inner == 7)
    assert absent is None
    assert whole.sum() == 7 * 6


def test_a_pipeline_stays_with_the_arrays_that_were_opened_with_it() -> None:
    register_pipeline(Recording)
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, shape=(4,), chunks=(2,), dtype="i4")[:] = range(4)
    with config.set({"codec_pipeline.path": f"{Recording.__module__}.{Recording.__qualname__}"}):
        array = zarr.open_array(store)
    Recording.calls.clear()
    assert array[:].tolist() == [0, 1, 2, 3]
    assert array.oindex[[3]].tolist() == [3]
    array[:2] = 7
    assert {name for name, _ in Recording.calls} == {"read", "decode", "write", "encode"}
    assert type(array.async_array.codec_pipeline) is Recording
    Recording.calls.clear()
    assert zarr.open_array(store)[:].tolist() == [7, 7, 2, 3]
    assert Recording.calls == []
