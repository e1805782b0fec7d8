"""The errors of damaged chunks: which classes catch them, and the words that programs look for in a wrong checksum."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarr.codecs.numcodecs import CRC32C, LZ4
from zarr.errors import ChunkDecodeError

DATA = np.arange(60, dtype="i4").reshape(6, 10)
MISMATCH = "Stored and computed checksum do not match"


def damaged(changed: int, **parameters: Any) -> tuple[zarr.Array, str]:
    """An array of one chunk or shard with one byte changed, and the key of that chunk."""
    store: dict[str, Any] = {}
    array = zarr.create_array(store, data=DATA, **parameters)
    (key,) = [name for name in store if "zarr" not in name and not name.startswith(".")]
    raw = bytearray(store[key].to_bytes())
    raw[changed] ^= 0xFF
    store[key] = Buffer.from_bytes(bytes(raw))
    return array, key


def error_of(array: zarr.Array, way: str, kind: type[Exception]) -> Any:
    with pytest.raises(kind) as caught:
        if way == "sync":
            array[...]
        else:
            asyncio.run(array.async_array.getitem(...))
    return caught.value


COMPRESSORS = {
    "zstd": {"compressors": ZstdCodec()},
    "gzip": {"compressors": GzipCodec()},
    "blosc": {"compressors": BloscCodec()},
    "lz4": {"compressors": LZ4()},
    "format 2, zstd": {"compressors": numcodecs.Zstd(), "zarr_format": 2},
    "format 2, blosc": {"compressors": numcodecs.Blosc(), "zarr_format": 2},
    "inner zstd": {"chunks": (3, 5), "shards": (6, 10), "compressors": ZstdCodec()},
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("kind", [ValueError, RuntimeError])
@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_damaged_chunk_is_both_kinds_of_error(name: str, kind: type[Exception], way: str) -> None:
    array, key = damaged(3 if "lz4" in name else 0, **{"chunks": (6, 10), **COMPRESSORS[name]})
    error = error_of(array, way, kind)
    assert isinstance(error, ChunkDecodeError)
    assert error.key == key
    assert key in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert isinstance(again, kind)


CRC, ONE = Crc32cCodec(), {"chunks": (6, 10)}
CHECKSUMS: dict[str, tuple[int, dict[str, Any]]] = {
    "alone": (0, {**ONE, "compressors": CRC}),
    "after zstd": (5, {**ONE, "compressors": [ZstdCodec(), CRC]}),
    "after a filter": (0, {**ONE, "filters": TransposeCodec(order=(1, 0)), "compressors": CRC}),
    "of numcodecs": (0, {**ONE, "compressors": CRC32C()}),
    "format 2": (0, {**ONE, "filters": [numcodecs.checksum32.CRC32C()], "compressors": None, "zarr_format": 2}),
    "inner chunk": (0, {"chunks": (3, 5), "shards": (6, 10), "compressors": CRC}),
    "index at the end": (-8, {"chunks": (3, 5), "shards": (6, 10)}),
    "index of other codecs": (
        -8,
        {
            **ONE,
            "serializer": ShardingCodec(chunk_shape=(3, 5), index_codecs=[BytesCodec(endian="big"), CRC]),
            "compressors": None,
        },
    ),
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_wrong_checksum_is_told_in_the_words_that_programs_look_for(name: str, way: str) -> None:
    changed, parameters = CHECKSUMS[name]
    array, key = damaged(changed, **parameters)
    message = str(error_of(array, way, ChunkDecodeError))
    assert message.count(MISMATCH) == 1
    assert f"chunk {key!r}" in message


def test_bytes_too_few_for_a_checksum_are_no_mismatch() -> None:
    array, key = damaged(0, **ONE, compressors=CRC)
    array.store._store_dict[key] = Buffer.from_bytes(b"ab")  # type: ignore[attr-defined]
    assert MISMATCH not in str(error_of(array, "sync", ChunkDecodeError))
