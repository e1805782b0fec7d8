"""Hierarchies of N5: blocks made by hand, after its specification."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.codecs.extensions.n5 import xxhash32
from zarr.errors import ChunkDecodeError, GroupNotFoundError, MetadataValidationError, ReadOnlyError
from zarr.storage import MemoryStore, N5Store

if TYPE_CHECKING:
    from collections.abc import Callable

# From the library xxhash, seed 0x9747B28C.
VECTORS_OF_XXHASH = {
    0: 0x8D3B42D8,
    1: 0xBA2ACFB9,
    4: 0x4AE2D183,
    7: 0x27D47276,
    15: 0xF7904B87,
    16: 0x91507297,
    17: 0x568606E1,
    31: 0x4CD00CD0,
    64: 0x7DCA2BF8,
    1000: 0xF939664A,
}
DATA = np.arange(7 * 9 * 4).reshape(7, 9, 4)
CHUNKS = (3, 4, 2)


def lz4_blocks(data: bytes, size: int = 64, *, stored: bool = False) -> bytes:
    """The blocks of Java's LZ4BlockOutputStream."""
    out = b""
    for start in range(0, len(data), size):
        part = data[start : start + size]
        packed = part if stored else bytes(numcodecs.lz4.compress(part))[4:]
        token, checksum = 0x10 if stored else 0x25, xxhash32(part, 0x9747B28C) & 0xFFFFFFF
        out += struct.pack("<8sBIII", b"LZ4Block", token, len(packed), len(part), checksum) + packed
    return out + struct.pack("<8sBIII", b"LZ4Block", 0x15, 0, 0, 0)


COMPRESSIONS: dict[str, tuple[dict[str, Any], Callable[[bytes], bytes]]] = {
    "raw": ({"type": "raw"}, bytes),
    "gzip": ({"type": "gzip", "level": -1}, gzip.compress),
    "zlib": ({"type": "gzip", "useZlib": True, "level": 5}, zlib.compress),
    "bzip2": ({"type": "bzip2", "blockSize": 9}, bz2.compress),
    "xz": ({"type": "xz", "preset": 6}, lzma.compress),
    "lz4": ({"type": "lz4", "blockSize": 65536}, lz4_blocks),
    "lz4 stored": ({"type": "lz4", "blockSize": 65536}, lambda data: lz4_blocks(data, stored=True)),
    "zstd": ({"type": "zstd", "level": 3}, lambda data: bytes(numcodecs.Zstd(3).encode(data))),
    "blosc": (
        {"type": "blosc", "cname": "lz4", "clevel": 6, "shuffle": 1, "blocksize": 0, "nthreads": 1},
        lambda data: bytes(numcodecs.Blosc("lz4", 6, 1).encode(data)),
    ),
}


def block(data: np.ndarray[Any, Any], compress: Callable[[bytes], bytes], mode: int = 0) -> bytes:
    """One block of data in NumPy's order of axes: a header, then big-endian elements."""
    header = struct.pack(f">HH{data.ndim}I", mode, data.ndim, *data.shape[::-1])
    return header + compress(data.astype(data.dtype.newbyteorder(">")).tobytes())


def attributes_of(data: np.ndarray[Any, Any], compression: Any, **more: Any) -> dict[str, Any]:
    sizes = {"dimensions": list(data.shape[::-1]), "blockSize": list(CHUNKS[::-1])}
    return {**sizes, "dataType": data.dtype.name, "compression": compression, **more}


def blocks_of(
    data: np.ndarray[Any, Any], path: str, compress: Callable[[bytes], bytes] = bytes, *, padded: bool = False
) -> dict[str, bytes]:
    found = {}
    for index in np.ndindex(*(-(-n // c) for n, c in zip(data.shape, CHUNKS, strict=True))):
        part = data[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, CHUNKS, strict=True))]
        if padded:
            part = np.pad(part, [(0, c - n) for n, c in zip(part.shape, CHUNKS, strict=True)], constant_values=99)
        found["/".join([path, *map(str, index[::-1])])] = block(part, compress)
    return found


def store_of(values: dict[str, Any]) -> MemoryStore:
    raw = {key: value if isinstance(value, bytes) else json.dumps(value).encode() for key, value in values.items()}
    return MemoryStore({key: Buffer.from_bytes(value) for key, value in raw.items()})


def container(data: np.ndarray[Any, Any], compression: Any, blocks: dict[str, bytes]) -> MemoryStore:
    return store_of(
        {
            "attributes.json": {"n5": "4.0.0", "name": "a"},
            "s/0/attributes.json": attributes_of(data, compression, resolution=[1, 2, 3]),
            **blocks,
        }
    )


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_compressions_and_blocks_at_the_edge(name: str, padded: bool) -> None:
    compression, compress = COMPRESSIONS[name]
    data = DATA.astype("u2")
    store = container(data, compression, blocks_of(data, "s/0", compress, padded=padded))
    array = zarr.open_array(store, path="s/0", mode="r")
    assert (array.shape, array.chunks, array.dtype) == (data.shape, CHUNKS, data.dtype)
    np.testing.assert_array_equal(array[:], data)
    np.testing.assert_array_equal(array[2:5, ::2, 1], data[2:5, ::2, 1])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_data_types(dtype: str) -> None:
    data = DATA.astype(dtype)
    store = container(data, {"type": "raw"}, blocks_of(data, "s/0"))
    np.testing.assert_array_equal(zarr.open_array(store, path="s/0", mode="r")[:], data)


def test_a_block_that_is_not_there_is_zero() -> None:
    data = DATA.astype("i4")
    blocks = blocks_of(data, "s/0")
    del blocks["s/0/1/2/0"]  # N5's order: the last axis of NumPy first
    array = zarr.open_array(container(data, {"type": "raw"}, blocks), path="s/0", mode="r")
    wanted = data.copy()
    wanted[0:3, 8:12, 2:4] = 0
    np.testing.assert_array_equal(array[:], wanted)
    assert array.nchunks_initialized == array.nchunks - 1


def test_folders_are_groups() -> None:
    data = DATA.astype("i4")
    store = container(data, {"type": "raw"}, blocks_of(data, "s/0"))
    root = zarr.open(store)
    assert isinstance(root, zarr.Group)
    assert root.read_only
    assert [(name, type(node).__name__) for name, node in root.members(max_depth=None)] == [
        ("s", "Group"),
        ("s/0", "Array"),
    ]
    assert root.attrs.asdict() == {"name": "a"}
    assert root["s/0"].attrs.asdict() == {"resolution": [1, 2, 3]}
    with pytest.raises(GroupNotFoundError):
        zarr.open_group(store, path="new", mode="a")
    with pytest.raises(ReadOnlyError):
        root.create_group("new")
    assert list(zarr.open_group(N5Store(store, "s"), mode="r")) == ["0"]
    for zarr_format in (2, 3):
        for opening in (zarr.open, zarr.open_group, zarr.open_array):
            with pytest.raises(FileNotFoundError):
                opening(store, mode="r", zarr_format=zarr_format)


def test_old_spelling_of_the_compression() -> None:
    data = DATA.astype("i4")
    attributes = attributes_of(data, None)
    del attributes["compression"]
    values = {"attributes.json": {**attributes, "compressionType": "gzip"}, **blocks_of(data, "s", gzip.compress)}
    store = store_of({key.removeprefix("s/"): value for key, value in values.items()})
    np.testing.assert_array_equal(zarr.open_array(store, mode="r")[:], data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataType": "string"}, "dataType 'string'"),
        ({"compression": {"type": "jpeg"}}, "compression 'jpeg'"),
        ({"blockSize": [2, 2]}, "blockSize of 2"),
        ({"dimensions": [4, -1, 3]}, "dimensions"),
        ({"compression": 7}, "compression"),
    ],
)
def test_what_is_not_known_is_named(change: dict[str, Any], message: str) -> None:
    store = store_of({"attributes.json": {**attributes_of(DATA, {"type": "raw"}), **change}})
    with pytest.raises(MetadataValidationError, match=message):
        zarr.open_array(store, mode="r")


@pytest.mark.parametrize(
    "damaged",
    [
        b"\0",
        block(DATA[:3, :4, :2].astype("i4"), bytes, mode=2),
        block(DATA[:3, :4, 0].astype("i4"), bytes),
        block(DATA[:3, :4, :2].astype("i4"), bytes)[:-5],
    ],
)
def test_damaged_blocks_are_refused(damaged: bytes) -> None:
    store = container(DATA.astype("i4"), {"type": "raw"}, {"s/0/0/0/0": damaged})
    with pytest.raises((ChunkDecodeError, ValueError)):
        zarr.open_array(store, path="s/0", mode="r")[:]


@pytest.mark.parametrize("at", [0, 8, 9, 13, 17, 24])
def test_damaged_blocks_of_lz4_are_refused(at: int) -> None:
    data = DATA.astype("i4")
    good = block(data[:3, :4, :2], lz4_blocks)
    start = 16 + at
    damaged = good[:start] + bytes([good[start] ^ 0xFF]) + good[start + 1 :]
    for value in (damaged, good[:-25], good[:60]):
        store = container(data, {"type": "lz4"}, {"s/0/0/0/0": value})
        with pytest.raises((ChunkDecodeError, ValueError)):
            zarr.open_array(store, path="s/0", mode="r")[:3, :4, :2]


def test_a_hierarchy_of_format_3_beside_attributes_of_n5_is_one_of_format_3() -> None:
    store: dict[str, Any] = {}
    zarr.create_array(store, data=np.arange(4), chunks=2)
    store["attributes.json"] = Buffer.from_bytes(json.dumps(attributes_of(DATA, {"type": "raw"})).encode())
    assert zarr.open_array(store, mode="r").shape == (4,)


@pytest.mark.parametrize("size", VECTORS_OF_XXHASH)
def test_xxhash32(size: int) -> None:
    data = bytes(range(256)) * 4
    assert xxhash32(data[:size], 0x9747B28C) == VECTORS_OF_XXHASH[size]


class Choosy(MemoryStore):
    """A store that knows the keys of formats 2 and 3 only, and says so."""

    broken = False

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        if self.broken or key.rpartition("/")[2] == "attributes.json":
            raise KeyError(f"invalid key {key}")
        return await super().get(key, prototype, byte_range)


def test_a_store_that_refuses_the_keys_of_other_layouts_holds_none() -> None:
    with pytest.raises(zarr.errors.NodeNotFoundError):
        zarr.open(Choosy(), mode="r")
    with pytest.raises(zarr.errors.GroupNotFoundError):
        zarr.open_group(Choosy(), path="a", mode="r")
    assert dict(zarr.group(Choosy()).attrs) == {}
    assert zarr.open(Choosy(), mode="a", shape=(3,)).shape == (3,)
    broken = Choosy()
    broken.broken = True
    with pytest.raises(KeyError, match="invalid key"):
        zarr.group(broken)


@pytest.mark.clock
def test_blocks_said_to_be_huge_take_no_time() -> None:
    """Of a block that is cut at the edge of its array, only what is stored is written."""
    data = DATA.astype("i4")
    document = attributes_of(data, {"type": "raw"}) | {"blockSize": [4, 9, 2**24]}
    store = store_of(
        {"attributes.json": {"n5": "4.0.0"}, "s/0/attributes.json": document, "s/0/0/0/0": block(data, bytes)}
    )
    start = time.process_time()
    np.testing.assert_array_equal(zarr.open_array(store, path="s/0", mode="r")[:], data)
    assert time.process_time() - start < 2
