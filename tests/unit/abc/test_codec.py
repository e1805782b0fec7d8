from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from zarr.abc.codec import (
    ArrayArrayCodec,
    ArrayBytesCodec,
    ArrayBytesCodecPartialDecodeMixin,
    ArrayBytesCodecPartialEncodeMixin,
    BytesBytesCodec,
    CodecPipeline,
    SupportsSyncCodec,
)
from zarr.abc.metadata import Metadata
from zarr.abc.numcodec import _is_numcodec, _is_numcodec_cls
from zarr.buffer import Buffer, cpu, default_buffer_prototype
from zarr.chunks.spec import ArraySpec, parse_array_config
from zarr.dtype import UInt8

SPEC = ArraySpec((4,), UInt8(), 0, parse_array_config(None), default_buffer_prototype())


@dataclass(frozen=True)
class Reverse(BytesBytesCodec):
    """Written with coroutines, as older codecs are."""

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        await asyncio.sleep(0)
        return chunk_spec.prototype.buffer.from_bytes(chunk_data.to_bytes()[::-1])

    async def _encode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        return await self._decode_single(chunk_data, chunk_spec)


@dataclass(frozen=True)
class Plain(BytesBytesCodec):
    """Written with plain functions."""

    offset: int = 1

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return chunk_spec.prototype.buffer.from_bytes(bytes((b - self.offset) % 256 for b in chunk_data.to_bytes()))

    def _encode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        return chunk_spec.prototype.buffer.from_bytes(bytes((b + self.offset) % 256 for b in chunk_data.to_bytes()))


@pytest.mark.parametrize("codec", [Reverse(), Plain()])
@pytest.mark.parametrize("count", [0, 1, 3, 200])
async def test_batches_keep_their_order_and_their_gaps(codec: BytesBytesCodec, count: int) -> None:
    chunks = [None if n % 3 == 1 else cpu.Buffer.from_bytes(bytes([n % 256, 7])) for n in range(count)]
    encoded = list(await codec.encode([(chunk, SPEC) for chunk in chunks]))
    decoded = list(await codec.decode([(chunk, SPEC) for chunk in encoded]))
    assert [chunk and chunk.to_bytes() for chunk in decoded] == [chunk and chunk.to_bytes() for chunk in chunks]
    assert [chunk is None for chunk in encoded] == [chunk is None for chunk in chunks]


def test_which_codecs_have_plain_functions() -> None:
    assert isinstance(Plain(), SupportsSyncCodec)
    assert not isinstance(Reverse(), SupportsSyncCodec)


async def test_defaults() -> None:
    codec = ArrayArrayCodec()
    assert codec.bind(SPEC) is None
    assert codec.resolve_metadata(SPEC) is SPEC
    assert codec.evolve_from_array_spec(SPEC) is codec
    assert codec.is_fixed_size is False
    codec.validate(shape=(4,), dtype=UInt8(), chunk_grid=None)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="ArrayArrayCodec"):
        codec.compute_encoded_size(4, SPEC)
    with pytest.raises(NotImplementedError, match="neither _decode_sync nor _decode_single"):
        await codec.decode([(None, SPEC), (object(), SPEC)])  # type: ignore[list-item]
    with pytest.raises(NotImplementedError, match=r"does not implement CodecPipeline.from_array_metadata_and_store"):
        CodecPipeline.from_array_metadata_and_store(None, None)  # type: ignore[arg-type]


def test_codecs_are_values() -> None:
    assert Plain(offset=2) == Plain(offset=2) != Plain()
    assert hash(Plain()) == hash(Plain())
    assert repr(Plain()) == "Plain(offset=1)"
    assert Plain.from_dict({"offset": 5}) == Plain(offset=5)
    assert Plain(offset=5).to_dict() == {"offset": 5}


def test_metadata_of_metadata() -> None:
    @dataclass(frozen=True)
    class Outer(Metadata):
        inner: Plain
        many: tuple[Plain, ...]
        text: str = "abc"

    assert Outer(Plain(), (Plain(), Plain(offset=3))).to_dict() == {
        "inner": {"offset": 1},
        "many": ({"offset": 1}, {"offset": 3}),
        "text": "abc",
    }


async def test_partial_access_calls_once_per_chunk() -> None:
    class Parts(ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodecPartialEncodeMixin, ArrayBytesCodec):
        written: list[Any] = []

        async def _decode_partial_single(self, byte_getter: Any, selection: Any, chunk_spec: Any) -> Any:
            return byte_getter + selection

        async def _encode_partial_single(
            self, byte_setter: Any, chunk_array: Any, selection: Any, chunk_spec: Any
        ) -> None:
            self.written.append((byte_setter, chunk_array, selection))

    codec: Any = Parts()
    assert list(await codec.decode_partial([(1, 10, SPEC), (2, 20, SPEC)])) == [11, 22]
    await codec.encode_partial([(1, "a", 10, SPEC), (2, "b", 20, SPEC)])
    assert codec.written == [(1, "a", 10), (2, "b", 20)]


def test_what_is_a_numcodecs_codec() -> None:
    class Like:
        codec_id = "like"

        def encode(self, buf: Any) -> Any: ...

        def decode(self, buf: Any, out: Any = None) -> Any: ...

        def get_config(self) -> Any: ...

        @classmethod
        def from_config(cls, config: Any) -> Any: ...

    assert _is_numcodec(Like())
    assert not _is_numcodec(Like)
    assert _is_numcodec_cls(Like)
    assert not _is_numcodec(5)
