"""Damaged chunks of every codec and container, through whole arrays: the plain way and the bulk way."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass
from typing import Any

import numcodecs
import numcodecs.checksum32
import numpy as np

import zarr
import zarr_core
from tests.core.guard_page import GuardedMemory
from tests.trust.fuzzing.cases import Report
from tests.trust.fuzzing.documents import OBJECT_CODECS, stored_objects
from zarr.buffer.cpu import Buffer
from zarr.codecs import numcodecs as v3
from zarr.codecs import sharding
from zarr.storage import MemoryStore

ROOM = 1 << 16
CNAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
BORDERS = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 127, 128, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63)


@dataclass
class Template:
    """An array whose chunks are to be damaged.

    Attributes
    ----------
    label
        Its codecs, in words.
    store
        Holds the array at ``a/b``.
    array
        The array.
    keys
        Those of its chunks.
    sound
        What it reads as.
    checked
        Whether a checksum covers every stored byte, so that damage never reads as data.
    """

    label: str
    store: MemoryStore
    array: Any
    keys: list[str]
    sound: Any
    checked: bool = False


def sample(dtype: Any, shape: tuple[int, ...]) -> Any:
    """Elements that compress a little."""
    rng = np.random.default_rng(5)
    count = int(np.prod(shape))
    if dtype in (str, "variable_length_bytes"):
        words = ["", "a", "zebra", "\u00e9\u4e2d\U0001f600", "x" * 40]
        picked = [words[int(i)] for i in rng.integers(0, 5, count)]
        flat = np.array(picked if dtype is str else [word.encode() for word in picked], dtype=object)
        return flat.reshape(shape)
    kind = np.dtype(dtype)
    if kind.kind in "biufc":
        return (np.cumsum(rng.integers(0, 3, count)) % 50).astype(kind).reshape(shape)
    if kind.kind in "US":
        return np.array([str(i) for i in rng.integers(0, 99, count)]).astype(kind).reshape(shape)
    return rng.integers(0, 9, count * kind.itemsize).astype("u1").view(kind).reshape(shape)


def template(label: str, checked: bool = False, **settings: Any) -> Template:
    """Create an array with the library and fill it."""
    store = MemoryStore()
    parameters: dict[str, Any] = {"shape": (24, 12), "chunks": (12, 12), "dtype": "<i4", "compressors": None} | settings
    array: Any = zarr.create_array(store, name="a/b", **parameters)
    array[...] = sample(parameters["dtype"], array.shape)
    return opened(label, store, checked)


def opened(label: str, store: MemoryStore, checked: bool = False) -> Template:
    """Take an array that is stored."""
    array: Any = zarr.open_array(store, path="a/b", mode="r")
    documents = ("zarr.json", ".zarray", ".zattrs", ".zgroup")
    keys = [key for key in store._store_dict if key.startswith("a/b/") and not key.endswith(documents)]
    sound = None if label == "2 pickle" else array[...]
    return Template(label, store, array, keys, sound, checked)


def foreign(codec: Any) -> Template:
    """An array of format 2 by an object codec that this library reads and does not choose."""
    stored = stored_objects(codec)
    return opened(f"2 {codec.codec_id}", MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()}))


def format_3() -> list[Template]:
    """Codecs of format 3."""
    crc = zarr.codecs.Crc32cCodec()
    made = [
        template("raw"),
        template("big", serializer=zarr.codecs.BytesCodec(endian="big")),
        template("crc32c", checked=True, compressors=crc),
        template("gzip", compressors=zarr.codecs.GzipCodec()),
        template("zstd", compressors=zarr.codecs.ZstdCodec()),
        template("zstd+checksum", checked=False, compressors=zarr.codecs.ZstdCodec(checksum=True)),
        template("gzip+crc32c", checked=True, compressors=(zarr.codecs.GzipCodec(), crc)),
        template("crc32c+zstd", checked=True, compressors=(crc, zarr.codecs.ZstdCodec())),
        template("transpose", filters=zarr.codecs.TransposeCodec(order=(1, 0)), compressors=zarr.codecs.ZstdCodec()),
        template("bool", dtype="bool"),
        template("times", dtype="M8[ns]", compressors=zarr.codecs.ZstdCodec()),
        template("text", dtype="<U5", compressors=zarr.codecs.ZstdCodec()),
        template("record", dtype=[("a", "<i4"), ("b", "<f8")], compressors=zarr.codecs.ZstdCodec()),
        template("vlen-utf8", dtype=str),
        template("vlen-utf8+zstd", dtype=str, compressors=zarr.codecs.ZstdCodec()),
        template("vlen-utf8+gzip", dtype=str, compressors=zarr.codecs.GzipCodec()),
        template("vlen-bytes", dtype="variable_length_bytes"),
        template("vlen-bytes+blosc", dtype="variable_length_bytes", compressors=zarr.codecs.BloscCodec(typesize=1)),
        template("rectilinear", chunks=([4, 8, 12], [5, 7]), compressors=zarr.codecs.ZstdCodec()),
    ]
    for cname in CNAMES:
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            codec = zarr.codecs.BloscCodec(cname=cname, shuffle=shuffle, clevel=5, typesize=4, blocksize=0)
            made.append(template(f"blosc {cname} {shuffle}", compressors=codec))
    made.append(template("blosc blocks", dtype="<f8", compressors=zarr.codecs.BloscCodec(cname="lz4", blocksize=256)))
    return made


def shards() -> list[Template]:
    """Shards of all kinds."""
    inner = {"chunks": (4, 4), "shards": (12, 12)}
    made = []
    for location in ("start", "end"):
        shape = {"shape": (12, 12), "index_location": location}
        made.append(template(f"shard {location}", chunks=(4, 4), shards=shape))
        zstd = zarr.codecs.ZstdCodec()
        made.append(template(f"shard {location} zstd", chunks=(4, 4), shards=shape, compressors=zstd))
        plain = sharding.ShardingCodec(
            chunk_shape=(4, 4), index_codecs=[zarr.codecs.BytesCodec()], index_location=location  # type: ignore[arg-type]
        )
        made.append(template(f"shard {location} without checksum", serializer=plain))
        nested = sharding.ShardingCodec(chunk_shape=(6, 6), index_location=location, codecs=[  # type: ignore[arg-type]
            sharding.ShardingCodec(chunk_shape=(3, 3), codecs=[zarr.codecs.BytesCodec(), zarr.codecs.GzipCodec()])
        ])  # fmt: skip
        made.append(template(f"shard {location} nested", serializer=nested))
    made.append(template("shard vlen", dtype=str, **inner))
    made.append(template("shard crc32c", compressors=zarr.codecs.Crc32cCodec(), **inner))
    return made


def numcodecs_of_3() -> list[Template]:
    """numcodecs' codecs in format 3."""
    made = [
        template("3 lz4", compressors=v3.LZ4()),
        template("3 zlib", compressors=v3.Zlib()),
        template("3 bz2", compressors=v3.BZ2()),
        template("3 lzma", compressors=v3.LZMA()),
        template("3 shuffle", compressors=(v3.Shuffle(elementsize=4), v3.Zlib())),
        template("3 delta", filters=v3.Delta(dtype="<i4")),
        template("3 delta astype", filters=v3.Delta(dtype="<i4", astype="<i2")),
        template("3 packbits", dtype="bool", filters=v3.PackBits()),
        template("3 astype", filters=v3.AsType(encode_dtype="<i2", decode_dtype="<i4")),
        template("3 scale", dtype="<f8", filters=v3.FixedScaleOffset(offset=0, scale=1, dtype="<f8", astype="<i2")),
        template("3 bitround", dtype="<f4", filters=v3.BitRound(keepbits=4)),
    ]
    for codec in (v3.CRC32(), v3.CRC32C(), v3.Adler32(), v3.Fletcher32(), v3.JenkinsLookup3()):
        strong = codec.codec_name.endswith(("crc32", "crc32c", "jenkins_lookup3"))
        made.append(template(f"3 {codec.codec_name}", checked=strong, compressors=codec))
    return made


def format_2() -> list[Template]:
    """Format 2."""
    made = [template(f"2 blosc {cname}", zarr_format=2, compressors=numcodecs.Blosc(cname)) for cname in CNAMES]
    for codec in (
        numcodecs.Zstd(), numcodecs.Zlib(), numcodecs.GZip(), numcodecs.LZ4(), numcodecs.BZ2(), numcodecs.LZMA(),
    ):  # fmt: skip
        made.append(template(f"2 {codec.codec_id}", zarr_format=2, compressors=codec))
        filters = [numcodecs.Delta("<i4"), numcodecs.Shuffle(4)]
        made.append(template(f"2 delta {codec.codec_id}", zarr_format=2, filters=filters, compressors=codec, order="F"))
    made.append(template("2 fletcher32", zarr_format=2, filters=[numcodecs.Fletcher32()]))
    made.append(template("2 crc32", zarr_format=2, filters=[numcodecs.checksum32.CRC32()], checked=True))
    made.append(template("2 base64", zarr_format=2, filters=[numcodecs.Base64()]))
    made.append(template("2 vlen-utf8", zarr_format=2, dtype=str))
    made.append(template("2 vlen-utf8 zstd", zarr_format=2, dtype=str, compressors=numcodecs.Zstd()))
    return made + [foreign(codec) for codec in OBJECT_CODECS]


def templates() -> list[Template]:
    """One array for each codec and container."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*format_3(), *shards(), *numcodecs_of_3(), *format_2()]


class Mutator:
    """Damages stored chunks, the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.signed = False

    def spot(self, size: int) -> int:
        """A place: often in the header or in what stands at the end."""
        pick = self.random.random()
        if pick < 0.4:
            return self.random.randrange(min(size, 32))
        if pick < 0.6:
            return max(0, size - 1 - self.random.randrange(min(size, 40)))
        return self.random.randrange(size)

    def number(self, data: bytearray) -> None:
        """Write another number where one may stand."""
        width = self.random.choice([1, 2, 4, 8])
        at = min(self.spot(len(data)), max(0, len(data) - width))
        if self.random.random() < 0.7:
            at -= at % 4
        old = int.from_bytes(data[at : at + width], "little")
        near = [old + 1, old - 1, old * 2, len(data), len(data) + 1, len(data) - at]
        value = self.random.choice([*BORDERS, *near]) % (1 << 8 * width)
        data[at : at + width] = value.to_bytes(width, self.random.choice(["little", "little", "big"]))

    def once(self, data: bytearray, other: bytes) -> bytearray:
        """Damage some bytes once."""
        kind, rnd = self.random.randrange(9), self.random
        if not data or kind == 0:
            return bytearray(rnd.randbytes(rnd.randrange(60)))
        if kind == 1:
            return data[: rnd.randrange(len(data))]
        if kind == 2:
            return data + rnd.randbytes(rnd.choice([1, 4, 16, 100]))
        if kind == 3:
            at, width = self.spot(len(data)), rnd.choice([1, 4, 20])
            del data[at : at + width]
        elif kind == 4:
            at = self.spot(len(data))
            data[at:at] = data[rnd.randrange(len(data)) :][: rnd.choice([1, 4, 20])]
        elif kind == 5:
            cut = rnd.randrange(len(data))
            return data[:cut] + bytearray(other[cut:])
        elif kind == 6:
            at = self.spot(len(data))
            data[at] ^= 1 << rnd.randrange(8)
        else:
            self.number(data)
        return data

    def damage(self, raw: bytes, other: bytes) -> bytes:
        """Damage some bytes."""
        data = bytearray(raw)
        for _ in range(self.random.choice([1, 1, 2, 4])):
            data = self.once(data, other)
        self.signed = self.random.random() < 0.15 and len(data) > 4
        if self.signed:  # a right checksum behind wrong bytes
            data[-4:] = bytes(zarr_core.encode("crc32c", bytes(data[:-4])))[-4:]
        return bytes(data)


def equal(first: Any, second: Any) -> bool:
    """Whether two results are the same, byte for byte."""
    if first.dtype.hasobject or first.dtype.kind == "T":
        return bool(first.tolist() == second.tolist())
    return bool(first.tobytes() == second.tobytes())


def part_of(result: Any) -> Any:
    """The elements that `read_parts` reads."""
    return result[1:5, 2:9]


def judge(report: Report, label: str, mould: Template, checked: bool, whole: Any, part: Any) -> None:
    """Hold the ways of reading against each other, and against the checksum."""
    if whole is not None and part is not None and not equal(np.asarray(part_of(whole)), np.asarray(part)):
        report.breach(label, f"{mould.label}: the whole array and a part of it read differently")
    if checked and whole is not None and not equal(np.asarray(whole), np.asarray(mould.sound)):
        report.breach(label, f"{mould.label}: damaged data read in spite of the checksum")


def run(count: int, seed: int, report: Report) -> None:
    """Try some damaged chunks."""
    mutator, moulds = Mutator(seed), templates()
    memory = GuardedMemory(ROOM)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(count):
            mould = moulds[number % len(moulds)]
            key = mutator.random.choice(mould.keys[:1])
            other = moulds[mutator.random.randrange(len(moulds))]
            sound = mould.store._store_dict[key]
            stored = mutator.damage(sound.to_bytes(), other.store._store_dict[other.keys[0]].to_bytes())[:ROOM]
            mould.store._store_dict[key] = Buffer.from_array_like(memory.hold(stored))
            label = f"payload {seed}:{number} {mould.label}"
            said = ("a/b", key[len("a/b/") :])
            try:
                whole = report.attempt(label, lambda m=mould: m.array[...], said)  # type: ignore[misc]
                part = report.attempt(label, lambda m=mould: m.array[1:5, 2:9], said)  # type: ignore[misc]
            finally:
                mould.store._store_dict[key] = sound
            report.count -= 1
            judge(report, label, mould, mould.checked and not mutator.signed, whole, part)
