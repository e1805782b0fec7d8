"""Codecs of other libraries: plain functions, coroutines, or their own way to bind."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.unit.codecs.specs import buffer, chunk_spec, nd_buffer, random_array, same
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarr.codecs.base.bound import FunctionCodec
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.numcodecs import Delta


@dataclass(frozen=True)
class Negate(ArrayArrayCodec):
    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": "negate"}

    def _encode_sync(self, chunk: Any, spec: Any) -> Any:
        return nd_buffer(-chunk.as_numpy_array())

    _decode_sync = _encode_sync

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length


@dataclass(frozen=True)
class Text(ArrayBytesCodec):
    def to_dict(self) -> dict[str, Any]:
        return {"name": "text"}

    async def _encode_single(self, chunk: Any, spec: Any) -> Any:
        await asyncio.sleep(0)
        return buffer(",".join(map(str, chunk.as_numpy_array().ravel().tolist())).encode())

    async def _decode_single(self, data: Any, spec: Any) -> Any:
        await asyncio.sleep(0)
        return nd_buffer(np.array(data.to_bytes().split(b","), dtype="i4").reshape(spec.shape))


@dataclass(frozen=True)
class Xor(BytesBytesCodec):
    drop: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"name": "xor"}

    def _encode_sync(self, data: Any, spec: Any) -> Any:
        return None if self.drop else buffer(data.as_numpy_array() ^ 255)

    def _decode_sync(self, data: Any, spec: Any) -> Any:
        return buffer(data.as_numpy_array() ^ 255)


@dataclass(frozen=True)
class Twice(ArrayArrayCodec):
    def bind(self, spec: Any) -> Any:
        return FunctionCodec("twice", spec, lambda data: data // 2, lambda data: data * 2)


ARRAY = random_array("int32", (4, 6), 1) & 0xFFFF


def test_plain_functions() -> None:
    chain = CodecChain.build([Negate(), BytesCodec(), Xor()], chunk_spec())
    assert not chain.asynchronous
    assert chain.program is None
    stored = chain.encode(ARRAY)
    assert stored.to_bytes() == bytes(np.frombuffer((-ARRAY).astype("<i4").tobytes(), dtype="u1") ^ 255)
    assert same(chain.decode(stored), ARRAY)
    assert asyncio.run(chain.decode_async(stored)).tolist() == ARRAY.tolist()


def test_coroutines() -> None:
    chain = CodecChain.build([Negate(), Text(), GzipCodec()], chunk_spec())
    assert chain.asynchronous
    with pytest.raises(RuntimeError, match=r"'text' .* coroutines only"):
        chain.encode(ARRAY)
    stored = asyncio.run(chain.encode_async(ARRAY))
    assert same(asyncio.run(chain.decode_async(stored)), ARRAY)


def test_coroutines_inside_shards() -> None:
    chain = CodecChain.build([ShardingCodec(chunk_shape=(2, 3), codecs=[Text(), Crc32cCodec()])], chunk_spec())
    assert chain.asynchronous
    assert chain.shard is not None
    assert chain.shard.chain.asynchronous
    stored = asyncio.run(chain.encode_async(ARRAY))
    assert same(asyncio.run(chain.decode_async(stored)), ARRAY)


def test_own_bound_codec() -> None:
    chain = CodecChain.build([Twice(), BytesCodec(), ZstdCodec()], chunk_spec())
    assert chain.program is None
    assert same(chain.decode(chain.encode(ARRAY)), ARRAY)


def test_nothing_to_store_is_an_error_where_a_chunk_is_needed() -> None:
    chain = CodecChain.build([BytesCodec(), Xor(drop=True)], chunk_spec())
    with pytest.raises(ValueError, match="nothing"):
        chain.encode(ARRAY)
    assert asyncio.run(chain.encode_stages_async(ARRAY)) is None


def test_errors_name_the_codec() -> None:
    chain = CodecChain.build([Text()], chunk_spec())
    with pytest.raises(ValueError, match=r"invalid literal|could not convert") as caught:
        asyncio.run(chain.decode_async(buffer(b"a,b")))
    assert any("decoding with codec 'text'" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    "codecs", [[TransposeCodec(order=(1, 0)), Delta(dtype="<i4"), BytesCodec(), ZstdCodec(), Crc32cCodec()]]
)
def test_public_methods_of_each_codec(codecs: list[Any]) -> None:
    """Chunk by chunk and in batches, codec by codec, as an outside pipeline drives them."""

    async def there_and_back() -> None:
        spec = chunk_spec()
        specs, data, one = [], [nd_buffer(ARRAY), None, nd_buffer(ARRAY)], nd_buffer(ARRAY)
        for codec in codecs:
            specs.append(spec)
            data = list(await codec.encode([(chunk, spec) for chunk in data]))
            one = await codec._encode_single(one, spec)
            spec = codec.resolve_metadata(spec)
        assert data[1] is None
        assert data[0].to_bytes() == data[2].to_bytes() == one.to_bytes()
        for codec, before in zip(reversed(codecs), reversed(specs), strict=True):
            data = list(await codec.decode([(chunk, before) for chunk in data]))
        assert data[1] is None
        assert same(data[0].as_numpy_array(), ARRAY)

    asyncio.run(there_and_back())
