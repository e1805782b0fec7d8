"""Codecs of documents: what the format forbids is refused, and chains of thousands of codecs are."""

from __future__ import annotations

import json
import time
from typing import Any

import numcodecs
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec
from zarr.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.storage import MemoryStore

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
CRC = {"name": "crc32c"}
TURN = {"name": "transpose", "configuration": {"order": [1, 0]}}


def document(**members: Any) -> dict[str, Any]:
    return {
        "zarr_format": 3, "node_type": "array", "shape": [2, 3], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [LITTLE], "attributes": {}, **members,
    }  # fmt: skip


def shards(codecs: Any = (LITTLE,), index_codecs: Any = (LITTLE, CRC)) -> dict[str, Any]:
    inner = {"chunk_shape": [1, 3], "codecs": list(codecs), "index_codecs": list(index_codecs)}
    return {"name": "sharding_indexed", "configuration": inner}


def opened(name: str, content: dict[str, Any]) -> Any:
    return zarr.open_array(MemoryStore({name: Buffer.from_bytes(json.dumps(content).encode())}), mode="r")


@pytest.mark.parametrize("codecs", [
    [GZIP, LITTLE], [CRC, LITTLE], [GZIP, TURN, LITTLE], [TURN, GZIP, LITTLE], [LITTLE, TURN], [GZIP, shards()],
    [shards([GZIP, LITTLE])], [shards([LITTLE], [CRC, LITTLE])],
])  # fmt: skip
def test_codecs_stand_in_the_order_of_their_kinds(codecs: list[Any]) -> None:
    with pytest.raises(TypeError, match="Invalid codec order"):
        ArrayV3Metadata.from_dict(document(codecs=codecs))
    with pytest.raises(TypeError, match="Invalid codec order"):
        opened("zarr.json", document(codecs=codecs))


def nested(depth: int) -> dict[str, Any]:
    codec = shards()
    for _ in range(depth):
        codec = shards([codec])
    return codec


@pytest.mark.clock
@pytest.mark.parametrize("codecs", [
    [LITTLE] + [CRC] * 100_000, [TURN] * 257 + [LITTLE], [shards([LITTLE] + [CRC] * 256)],
    [shards([LITTLE], [LITTLE] + [CRC] * 256)], [nested(150)], [shards([shards([LITTLE] + [CRC] * 254)])],
])  # fmt: skip
def test_chains_are_of_a_length_that_somebody_may_have_meant(codecs: list[Any]) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="a chain has at most 256 codecs"):
        opened("zarr.json", document(codecs=codecs))
    assert time.process_time() - began < 5


def test_as_many_codecs_as_are_allowed() -> None:
    assert opened("zarr.json", document(codecs=[LITTLE] + [CRC] * 255))[...].tolist() == [[0] * 3] * 2
    assert opened("zarr.json", document(codecs=[shards([LITTLE] + [CRC] * 252)]))[...].tolist() == [[0] * 3] * 2


def test_filters_of_format_2_are_counted_too() -> None:
    content = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": None, "fill_value": 0,
        "order": "C", "filters": [{"id": "crc32"}] * 257,
    }  # fmt: skip
    with pytest.raises(ValueError, match="a chain has at most 256 filters"):
        opened(".zarray", content)
    assert ArrayV2Metadata.from_dict({**content, "filters": [{"id": "crc32"}] * 256}).filters


def test_what_cannot_be_read_again_is_not_made() -> None:
    with pytest.raises(ValueError, match="at most 256 codecs"):
        zarr.create_array({}, shape=4, dtype="i4", compressors=[Crc32cCodec()] * 300)
    with pytest.raises(ValueError, match="at most 256 filters"):
        zarr.create_array({}, shape=4, dtype="i4", filters=[numcodecs.CRC32()] * 300, zarr_format=2)
    with pytest.raises(ValueError, match="at most 256 codecs"):
        ShardingCodec(chunk_shape=(1,), codecs=[BytesCodec(), *[GzipCodec()] * 300])
    with pytest.raises(TypeError, match="Invalid codec order"):
        zarr.create(shape=4, dtype="i4", codecs=[GzipCodec(), BytesCodec()])


@pytest.mark.parametrize("letter", ["C", "F"])
def test_an_order_of_axes_is_a_list(letter: str) -> None:
    turn = {"name": "transpose", "configuration": {"order": letter}}
    for codecs in ([turn, LITTLE], [shards([turn, LITTLE])]):
        with pytest.raises(TypeError, match="The order lists the axes"):
            opened("zarr.json", document(codecs=codecs))
    with pytest.raises(TypeError, match="Expected an iterable of integers"):
        TransposeCodec(order=letter)  # type: ignore[arg-type]


def blosc(shuffle: str | None, **more: Any) -> dict[str, Any]:
    settings = {"cname": "lz4", "clevel": 5, "blocksize": 0, **more}
    return {"name": "blosc", "configuration": settings if shuffle is None else {**settings, "shuffle": shuffle}}


@pytest.mark.parametrize("shuffle", ["shuffle", "bitshuffle"])
def test_blosc_of_a_document_knows_what_it_shuffles(shuffle: str) -> None:
    plain = [LITTLE, blosc(shuffle)]
    for codecs in (plain, [shards(plain)], [LITTLE, blosc(shuffle, typesize=None)]):
        with pytest.raises(ValueError, match=r"needs a 'typesize'.*'codecs' of 'zarr.json'"):
            opened("zarr.json", document(codecs=codecs))
    assert opened("zarr.json", document(codecs=[LITTLE, blosc(shuffle, typesize=4)]))[...].sum() == 0
    assert opened("zarr.json", document(codecs=[LITTLE, blosc("noshuffle")]))[...].sum() == 0


@pytest.mark.parametrize("compressor", [BloscCodec(shuffle="shuffle"), blosc("shuffle"), BloscCodec()])
def test_blosc_of_a_program_learns_it_from_the_array(compressor: Any) -> None:
    store = MemoryStore()
    zarr.create_array(store, shape=6, dtype="i4", compressors=compressor)[:] = 7
    stored = json.loads(store.get_sync("zarr.json").to_bytes())  # type: ignore[union-attr]
    assert stored["codecs"][1]["configuration"]["typesize"] == 4
    assert (zarr.open_array(store)[:] == 7).all()  # type: ignore[operator]


RECORD = {"name": "struct", "configuration": {"fields": [
    {"name": "a", "data_type": "int32"},
    {"name": "b", "data_type": {"name": "struct", "configuration": {"fields": [{"name": "c", "data_type": "int8"}]}}},
]}}  # fmt: skip


@pytest.mark.parametrize("fill", [{}, {"a": 1}, {"b": {"c": 1}}, {"a": 1, "b": {}}])
def test_a_fill_value_has_every_field(fill: Any) -> None:
    with pytest.raises(ValueError, match=r"has no value for the fields \['[abc]'.*'fill_value' of 'zarr.json'"):
        opened("zarr.json", document(data_type=RECORD, fill_value=fill))


def test_a_whole_fill_value() -> None:
    array = opened("zarr.json", document(data_type=RECORD, fill_value={"a": 1, "b": {"c": 2}}))
    assert array[0, 0].tolist() == (1, (2,))
    made = zarr.create_array({}, shape=2, dtype=[("a", "i4"), ("b", "f8")], fill_value={"a": 1})
    assert zarr.open_array(made.store)[:].tolist() == [(1, 0.0)] * 2  # type: ignore[union-attr]
