"""Bombs behind further codecs, and behind payloads that say how large they are: refused before they take memory."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
import zarr_core
from tests.trust.fuzzing.moulds import Template, template, variable_length
from tests.trust.test_memory import BOMB_MIB, LINUX, MIB, VARIABLE_NBYTES, allowance, peak_of
from zarr.buffer.cpu import Buffer
from zarr.codecs import numcodecs as v3
from zarr.codecs.extensions.conditional import ConditionalCodec
from zarr.codecs.extensions.n5 import N5DefaultCodec

ZEROS = b"".join(
    [(packer := zlib.compressobj(9)).compress(bytes(MIB)), *(packer.compress(bytes(MIB)) for _ in range(BOMB_MIB - 1))]
) + bytes(packer.flush())
MEMBER = zlib.compress(bytes(MIB), 9, 31)
GZIP_MEMBERS = MEMBER * (96 * MIB // len(MEMBER))
"""96 MiB of sound gzip, which is many times that of zeros."""


def packed(name: str, raw: bytes) -> bytes:
    return bytes(zarr_core.encode(name, raw))


def msgpack_start(count: int) -> bytes:
    """A list of so many small integers, for ever."""
    return b"\xdc" + struct.pack(">H", count)


def chain(dtype: Any, *compressors: Any) -> Template:
    return template(f"3 {dtype} {len(compressors)}", dtype=dtype, compressors=compressors)


def objects(codec: Any) -> Template:
    return variable_length(f"2 {codec.codec_id}", codec, numcodecs.Zlib())


GZIP, ZSTD = zarr.codecs.GzipCodec(), zarr.codecs.ZstdCodec()
LABELS = numcodecs.Categorize(["ab", "cd", ""], dtype="O")
N5 = [zarr.codecs.TransposeCodec(order=(1, 0)), zarr.codecs.BytesCodec(endian="big"), v3.Zlib()]
BOMBS: dict[str, tuple[Callable[[], Template], Callable[[], bytes]]] = {
    "zeros in gzip in zstd": (lambda: chain("i4", GZIP, ZSTD), lambda: packed("zstd", bytes(BOMB_MIB * MIB))),
    "gzip in zstd": (lambda: chain("i4", GZIP, ZSTD), lambda: packed("zstd", GZIP_MEMBERS)),
    "text: zeros in gzip in zstd": (lambda: chain(str, GZIP, ZSTD), lambda: packed("zstd", bytes(BOMB_MIB * MIB))),
    "text: gzip in zstd": (lambda: chain(str, GZIP, ZSTD), lambda: packed("zstd", GZIP_MEMBERS)),
    "text: gzip in zstd in crc32c": (
        lambda: chain(str, GZIP, ZSTD, zarr.codecs.Crc32cCodec()),
        lambda: packed("crc32c", packed("zstd", GZIP_MEMBERS)),
    ),
    "text: zeros in blosc in gzip": (
        lambda: chain(str, zarr.codecs.BloscCodec(typesize=1), v3.Zlib()),
        lambda: ZEROS,
    ),
    "text: zeros in bz2 in zlib": (lambda: chain(str, v3.BZ2(), v3.Zlib()), lambda: ZEROS),
    "bz2 in lz4": (lambda: chain("i4", v3.BZ2(), v3.LZ4()), lambda: packed("lz4", bytes(BOMB_MIB * MIB))),
    "shards in zstd": (
        lambda: template("shards", serializer=zarr.codecs.ShardingCodec(chunk_shape=(4, 4)), compressors=ZSTD),
        lambda: packed("zstd", bytes(BOMB_MIB * MIB)),
    ),
    "conditional": (lambda: chain(str, ConditionalCodec(codecs=[v3.Zlib()])), lambda: b"\x01" + ZEROS),
    "n5_default": (
        lambda: template("n5", serializer=N5DefaultCodec(codecs=N5)),
        lambda: struct.pack(">HHII", 0, 2, 8 << 10, 8 << 10) + ZEROS,
    ),
    "json2": (lambda: objects(numcodecs.JSON()), lambda: ZEROS),
    "json2, a list": (
        lambda: objects(numcodecs.JSON()),
        lambda: zlib.compress(b"[" + b"0," * (96 * MIB), 9),
    ),
    "json2, spaces": (lambda: objects(numcodecs.JSON()), lambda: zlib.compress(b"[" + b" " * (96 * MIB), 9)),
    "json2, a shape": (
        lambda: objects(numcodecs.JSON()),
        lambda: zlib.compress(json.dumps(["a", "|O", [1 << 28]]).encode()),
    ),
    "json2, a type": (
        lambda: objects(numcodecs.JSON()),
        lambda: zlib.compress(json.dumps([*["a"] * 36, "|S9999999", [36]]).encode()),
    ),
    "msgpack2": (lambda: objects(numcodecs.MsgPack()), lambda: ZEROS),
    "msgpack2, a list": (
        lambda: objects(numcodecs.MsgPack()),
        lambda: zlib.compress(msgpack_start(38) + bytes(96 * MIB), 9),
    ),
    "pickle": (lambda: objects(numcodecs.Pickle()), lambda: ZEROS),
    "vlen-array": (lambda: objects(numcodecs.VLenArray("<i4")), lambda: ZEROS),
    "vlen-array, a number": (
        lambda: variable_length("2 vlen-array", numcodecs.VLenArray("<i4"), None),
        lambda: struct.pack("<I", (1 << 32) - 1) + bytes(40),
    ),
    "categorize": (lambda: objects(LABELS), lambda: ZEROS),
    "base64": (
        lambda: template("2 base64", zarr_format=2, filters=[numcodecs.Base64()], compressors=numcodecs.Zlib()),
        lambda: zlib.compress(b"A" * (BOMB_MIB * MIB), 9),
    ),
}


@LINUX
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_behind_a_codec_takes_no_memory(name: str) -> None:
    make, load = BOMBS[name]
    mould, bomb = make(), load()
    limit = 32 + 2 * len(bomb) / MIB + (allowance(len(bomb)) if mould.array.dtype.kind in "OT" else 0)
    mould.store._store_dict[mould.keys[0]] = Buffer.from_bytes(bomb)
    with zarr.config.set({"array.variable_chunk_bytes": VARIABLE_NBYTES}):
        raised, grown = peak_of(lambda: mould.array[...])
    assert raised == ("PickleCodecDisabledError" if name == "pickle" else "ChunkDecodeError"), raised
    assert grown <= limit, (grown, limit)


def nested(values: Any) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


OBJECTS: dict[str, tuple[Any, Any]] = {
    "json2": (numcodecs.JSON(), nested([{"a": [1, None]}, "x" * 70_000, 1.5, []])),
    "msgpack2": (numcodecs.MsgPack(), nested([{"a": [1, None]}, "x" * 70_000, 1.5, []])),
    "vlen-array": (numcodecs.VLenArray("<i4"), nested([np.arange(n, dtype="<i4") for n in (0, 3, 100_000, 1)])),
    "categorize": (numcodecs.Categorize(["a", "b"], dtype="O"), nested(["a", "b", "", "a"])),
}


@pytest.mark.parametrize("compressors", [(), (numcodecs.Zlib(),), (numcodecs.Zlib(), numcodecs.BZ2())])
@pytest.mark.parametrize("name", OBJECTS)
def test_sound_objects_are_read(name: str, compressors: Any) -> None:
    """What is checked before it is believed is read as numcodecs reads it."""
    codec, values = OBJECTS[name]
    raw = codec.encode(values)
    expected = codec.decode(raw)
    for compressor in compressors:
        raw = compressor.encode(raw)
    store = zarr.storage.MemoryStore()
    document = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "order": "C", "fill_value": None,
        "filters": [codec.get_config(), *(compressor.get_config() for compressor in compressors)], "compressor": None,
    }  # fmt: skip
    store._store_dict["a/.zarray"] = Buffer.from_bytes(json.dumps(document).encode())
    store._store_dict["a/0"] = Buffer.from_bytes(bytes(raw))
    read: Any = zarr.open_array(store, path="a", mode="r")[...]
    assert repr(read.tolist()) == repr(expected.tolist())


@pytest.mark.parametrize("dtype", ["f4", "bool", "i1", "U3"])
@pytest.mark.parametrize("codec", [numcodecs.JSON(), numcodecs.MsgPack()], ids=lambda codec: codec.codec_id)
def test_numbers_as_text_are_read(codec: Any, dtype: Any) -> None:
    """Text may be many times as long as the numbers that it stands for."""
    array = zarr.create_array(
        {}, shape=(30_000,), chunks=(30_000,), dtype=dtype, zarr_format=2, filters=[codec], compressors=numcodecs.Zlib()
    )
    values = np.linspace(0, 1, 30_000).astype("f4").astype(dtype)
    array[...] = values
    assert np.array_equal(array[...], values)  # type: ignore[arg-type]
