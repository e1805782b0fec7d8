"""Damaged metadata documents of both formats."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numcodecs
import numpy as np

import zarr
from tests.trust.fuzzing.cases import Report
from zarr.buffer.cpu import Buffer
from zarr.codecs import numcodecs as v3_numcodecs
from zarr.storage import MemoryStore

MOST_BYTES = 1 << 20
"""Arrays larger than this are read in one place only."""

DTYPES_3: tuple[Any, ...] = (
    "bool", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[ns]", "m8[s]", "U4", "S4", "V6", str,
    "variable_length_bytes",
    np.dtype([("a", "i4"), ("b", "f8")]), ">i4", np.dtype([("a", "i4"), ("b", [("c", "f4"), ("d", "S3")])]),
)  # fmt: skip
DTYPES_2 = tuple(dtype for dtype in DTYPES_3 if dtype != "variable_length_bytes")

CODECS_3: tuple[dict[str, Any], ...] = (
    {"compressors": None},
    {"compressors": zarr.codecs.ZstdCodec(level=3, checksum=True)},
    {"compressors": zarr.codecs.GzipCodec(level=1)},
    {"compressors": zarr.codecs.BloscCodec(cname="lz4", clevel=3, shuffle="bitshuffle")},
    {"compressors": (zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec())},
    {"filters": zarr.codecs.TransposeCodec(order=(1, 0))},
    {"shards": (4, 4)},
    {"shards": {"shape": (4, 4), "index_location": "start"}},
    {"chunk_key_encoding": {"name": "v2", "separator": "."}},
    {"chunk_key_encoding": {"name": "default", "separator": "."}},
    {"dimension_names": ("x", None)},
    {"compressors": v3_numcodecs.LZ4()},
    {"compressors": v3_numcodecs.BZ2()},
    {"filters": v3_numcodecs.Delta(dtype="<f8"), "dtype": "f8"},
    {"filters": v3_numcodecs.FixedScaleOffset(scale=2, offset=1, dtype="<f8", astype="<i4"), "dtype": "f8"},
    {"filters": v3_numcodecs.PackBits(), "dtype": "bool"},
)

FILTERS_2: tuple[dict[str, Any], ...] = (
    {"compressors": numcodecs.Blosc()},
    {"compressors": numcodecs.Zlib(), "filters": [numcodecs.Delta("i4")], "dtype": "i4"},
    {"compressors": numcodecs.LZ4(), "order": "F"},
    {"compressors": None, "filters": [numcodecs.Shuffle(4)]},
    {"compressors": numcodecs.BZ2()},
    {"compressors": numcodecs.LZMA()},
    {"compressors": numcodecs.Zstd(), "filters": [numcodecs.Fletcher32()]},
    {"filters": [numcodecs.VLenUTF8()], "dtype": str, "compressors": None},
    {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
)

NASTY: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 4, 2**31, 2**32, 2**62, 2**63, 2**64, 2**70, -(2**63), 10**400, 1.5, -0.0, 1e308,
    float("nan"), float("inf"), float("-inf"), "", "a", "NaN", "Infinity", "0x7fc00000", "0x", "0xzz", "AA==", "=",
    "\0", "../../x", "/etc", "\u202e", "\x1b[31m", "<script>",
    "int32", "<i4", "|S0", "<U2147483647", "<M8[ns]", "<M8[x]",
    "|V0", "|O", "r8", "r7", "r0", "bytes", "zstd", "sharding_indexed", "vlen-utf8", "numcodecs.lz4", "os.system",
    "builtins:eval", [], [[]], [None], [0], [1, 2, 3], [2**62, 2**62], [-1], [[1, 2], [3, 4]], {}, {"name": "bytes"},
    {"name": None}, {"name": "zstd", "configuration": None}, {"name": "zstd", "configuration": {"level": "x"}},
    {"name": "regular", "configuration": {"chunk_shape": [0]}}, {"must_understand": False}, {"must_understand": True},
    {"id": "zlib"}, {"id": None}, {"id": "blosc", "cname": "x"}, {"": {}}, [{"name": "bytes"}] * 3, "x" * 5000,
    list(range(5000)), [["f", "<i4"]], [["f", "<i4", [2**40]]], [["f", "<i4"], ["f", "<i4"]],
    {"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "codecs": [], "index_codecs": []}},
)  # fmt: skip


def stored_documents(**settings: Any) -> dict[str, bytes]:
    """Create a small array with the library and return what it wrote, chunks and all."""
    store = MemoryStore()
    rank = settings.pop("rank", 2)
    parameters: dict[str, Any] = {"shape": (6,) * rank, "chunks": (2,) * rank, "dtype": "i4", "name": "a/b"} | settings
    array: Any = zarr.create_array(store, attributes={"unit": "m", "list": [1, {"x": None}]}, **parameters)
    if array.dtype.kind in "biufc":
        array[...] = 1
    return {key: store._store_dict[key].to_bytes() for key in store._store_dict}


OBJECT_CODECS: tuple[Any, ...] = (numcodecs.JSON(), numcodecs.MsgPack(), numcodecs.Pickle())


def stored_objects(codec: Any, compressor: Any = None) -> dict[str, bytes]:
    """An array of objects of format 2 as another writer would store it, by an object codec that we do not choose."""
    stored = stored_documents(dtype=str, zarr_format=2, compressors=None, chunks=(6, 6))
    document = json.loads(stored["a/b/.zarray"])
    document["filters"] = [codec.get_config()]
    document["compressor"] = None if compressor is None else compressor.get_config()
    items: list[Any] = ["ab", "cd", ""] * 12
    if codec.codec_id == "vlen-bytes":
        items = [item.encode() for item in items]
    elif codec.codec_id == "vlen-array":
        items = [np.arange(len(item), dtype="<i4") for item in items]
    values = np.empty(len(items), dtype=object)
    values[:] = items
    raw = codec.encode(values)
    stored["a/b/.zarray"] = json.dumps(document).encode()
    stored["a/b/0.0"] = bytes(raw if compressor is None else compressor.encode(raw))
    return stored


def hierarchy(zarr_format: Any) -> dict[str, bytes]:
    """A consolidated hierarchy."""
    store = MemoryStore()
    root = zarr.create_group(store, path="a/b", zarr_format=zarr_format, attributes={"title": "x"})
    root.create_group("g/h", attributes={"n": 1})
    root.create_array("g/x", shape=(4,), chunks=(2,), dtype="f4")
    root.create_array("y", shape=(4, 4), chunks=(2, 4), dtype="i2")
    zarr.consolidate_metadata(store, path="a/b")
    return {key: store._store_dict[key].to_bytes() for key in store._store_dict}


def seeds() -> list[dict[str, bytes]]:
    """Sound documents of all kinds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [stored_documents(dtype=dtype) for dtype in DTYPES_3]
        found += [stored_documents(**settings) for settings in CODECS_3]
        found += [stored_documents(chunks=([2, 4], [1, 2, 3]), dtype="f4")]
        found += [stored_documents(rank=rank) for rank in (0, 1, 3)]
        found += [stored_documents(dtype=dtype, zarr_format=2) for dtype in DTYPES_2]
        found += [stored_documents(zarr_format=2, **settings) for settings in FILTERS_2]
        found += [stored_objects(codec) for codec in OBJECT_CODECS]
        return found + [hierarchy(2), hierarchy(3)] * 4


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values in a document."""
    yield above
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, (*above, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, (*above, index))


def at(value: Any, place: tuple[Any, ...]) -> Any:
    """The value at a path."""
    for step in place:
        value = value[step]
    return value


class Mutator:
    """Damages documents, the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seeds = seeds()

    def nasty(self) -> Any:
        """A value that does not belong where it will be put."""
        pick = self.random.random()
        if pick < 0.7:
            return copy.deepcopy(self.random.choice(NASTY))
        if pick < 0.8:
            return self.random.getrandbits(self.random.choice([3, 8, 33, 65])) - self.random.choice([0, 2**31])
        other = json.loads(self.random.choice(self._metadata(self.random.choice(self.seeds)))[1])
        return at(other, self.random.choice(list(places(other))))

    @staticmethod
    def _metadata(stored: dict[str, bytes]) -> list[tuple[str, bytes]]:
        names = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
        return [(key, raw) for key, raw in stored.items() if key.endswith(names)]

    def change(self, document: Any) -> Any:
        """Change one place of a document."""
        spots = list(places(document))
        place = self.random.choice(spots)
        if not place:
            return self.nasty()
        parent, last = at(document, place[:-1]), place[-1]
        kind = self.random.randrange(10)
        if kind == 0:
            del parent[last]
        elif kind == 1 and isinstance(parent, dict):
            names = [f"{last}x", "", "name", "must_understand", str(last).upper()]
            parent[self.random.choice(names)] = parent.pop(last)
        elif kind == 2:
            parent[last] = [parent[last]]
        elif kind == 3:
            parent[last] = at(document, self.random.choice(spots[:1] + spots)) if len(spots) < 200 else {}
            return copy.deepcopy(json.loads(json.dumps(document))) if not _circular(document) else self.nasty()
        elif kind == 4 and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        elif kind == 5 and isinstance(parent[last], int):
            parent[last] = parent[last] + self.random.choice([-1, 1, 2**31, 2**62, 2**64])
        else:
            parent[last] = self.nasty()
        return document

    def damage_text(self, raw: bytes) -> bytes:
        """Damage a document as bytes."""
        kind, rnd = self.random.randrange(9), self.random
        spot = rnd.randrange(len(raw) + 1)
        if kind == 0:
            return raw[:spot]
        if kind == 1:
            return b"\xef\xbb\xbf" + raw
        if kind == 2:
            added = rnd.choice([b"\xff", b"\x80\x80", b"\0", b"\xed\xa0\x80", b'"', b"{", b"]"])
            return raw[:spot] + added + raw[spot:]
        if kind == 3:
            depth = rnd.choice([600, 2_000, 100_000])
            return raw.replace(b": ", b": " + b"[" * depth + b"1" + b"]" * depth + b', "x": ', 1)
        if kind == 4:
            return raw.replace(b": ", b": " + rnd.choice([b"NaN", b"1e999", b"-Infinity", b"9" * 5000]) + b', "x": ', 1)
        if kind == 5:  # a second member of the same name
            return raw.replace(b"{", b'{"shape": [3], "zarr_format": 3, "node_type": "group", "codecs": 1, ', 1)
        if kind == 6:
            return raw.decode().encode(rnd.choice(["utf-16", "utf-32", "cp037"]))
        if kind == 7:
            return rnd.randbytes(rnd.randrange(40))
        flipped = bytearray(raw)
        for _ in range(rnd.randrange(1, 4)):
            flipped[rnd.randrange(len(flipped))] ^= 1 << rnd.randrange(8)
        return bytes(flipped)

    def case(self) -> dict[str, bytes]:
        """A hierarchy with one damaged document."""
        stored = dict(self.random.choice(self.seeds))
        key, raw = self.random.choice(self._metadata(stored))
        if self.random.random() < 0.25:
            stored[key] = self.damage_text(raw)
        else:
            document = json.loads(raw)
            for _ in range(self.random.choice([1, 1, 1, 2, 3])):
                document = self.change(document)
            stored[key] = json.dumps(document).encode()
        return stored


def _circular(document: Any) -> bool:
    try:
        json.dumps(document)
    except (ValueError, RecursionError):
        return True
    return False


def use_array(array: Any) -> Any:
    """Do with an array what a reader does."""
    repr(array)
    str(array.info)
    array.metadata.to_dict()
    dict(array.attrs)
    if array.size == 0:
        return None
    itemsize = max(array.dtype.itemsize, 1)
    if array.size * itemsize <= MOST_BYTES:
        return array[...]
    return array[tuple(slice(0, 1) for _ in array.shape)]


def use_group(group: Any) -> Any:
    """Do with a group what a reader does."""
    repr(group)
    str(group.info)
    dict(group.attrs)
    group.tree()
    for _, member in group.members(max_depth=None):
        repr(member)
    return None


def use(stored: dict[str, bytes]) -> Any:
    """Open what is at ``a/b`` and use it."""
    store = MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()})
    node = zarr.open(store, path="a/b", mode="r")
    return use_group(node) if isinstance(node, zarr.Group) else use_array(node)


def run(count: int, seed: int, report: Report) -> None:
    """Try some damaged documents."""
    mutator = Mutator(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            stored = mutator.case()
            report.attempt(f"document {seed}:{number}", lambda stored=stored: use(stored), ("a/b",))  # type: ignore[misc]
