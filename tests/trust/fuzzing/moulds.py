"""Arrays of every codec and container, whose chunks are to be damaged."""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from typing import Any

import numcodecs
import numcodecs.checksum32
import numpy as np

import zarr
from tests.trust.fuzzing.documents import OBJECT_CODECS, stored_objects
from zarr.buffer.cpu import Buffer
from zarr.codecs import numcodecs as v3
from zarr.codecs import sharding
from zarr.codecs.extensions.bits import BitRoundCodec, PackBitsCodec
from zarr.codecs.extensions.conditional import ConditionalCodec
from zarr.codecs.extensions.n5 import N5DefaultCodec
from zarr.codecs.extensions.reshape import ReshapeCodec
from zarr.codecs.extensions.zfp import ZfpCodec
from zarr.codecs.transpose import TransposeCodec
from zarr.registry.codecs import get_numcodec
from zarr.storage import MemoryStore

SMALL = ("bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int4", "uint2", "complex_bfloat16")
CNAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")


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
    kind = zarr.dtype.parse_dtype(dtype, zarr_format=3).to_native_dtype() if dtype in SMALL else np.dtype(dtype)
    if kind.kind not in "biufcUSV" or dtype in SMALL:
        return rng.integers(0, 2, count).astype(kind).reshape(shape)
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
    sound = None if label.startswith("2 pickle") else array[...]
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
            chunk_shape=(4, 4),
            index_codecs=[zarr.codecs.BytesCodec()],
            index_location=location,  # type: ignore[arg-type]
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


def registered() -> list[Template]:
    """Codecs of the registry of extensions."""
    zstd, crc = zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()
    reverse, big = TransposeCodec(order=(1, 0)), zarr.codecs.BytesCodec(endian="big")
    made = [
        template("packbits", dtype="bool", serializer=PackBitsCodec()),
        template("packbits padded", dtype="u1", serializer=PackBitsCodec(padding_encoding="first_byte", last_bit=5)),
        template("bitround", dtype="<f4", filters=BitRoundCodec(keepbits=5), compressors=zstd),
        template("reshape", filters=ReshapeCodec(shape=[[0, 1]]), compressors=zarr.codecs.GzipCodec()),
        template("conditional", compressors=ConditionalCodec(codecs=[zstd, crc])),
        template("conditional+gzip", compressors=(ConditionalCodec(codecs=[zstd]), zarr.codecs.GzipCodec())),
        template("n5_default", serializer=N5DefaultCodec(codecs=[reverse, big])),
        template("n5_default zlib", dtype="<i2", serializer=N5DefaultCodec(codecs=[reverse, big, v3.Zlib()])),
        template("n5_default crc32c", serializer=N5DefaultCodec(codecs=[reverse, big, crc])),
        template("cast_value", dtype="<f8", filters=zarr.codecs.CastValue(data_type="int16"), compressors=zstd),
        template("scale_offset", dtype="<f8", filters=zarr.codecs.ScaleOffset(offset=1, scale=2), compressors=zstd),
        template("gzip+zstd", compressors=(zarr.codecs.GzipCodec(), zstd)),
        template("gzip+blosc+lz4", compressors=(zarr.codecs.GzipCodec(), zarr.codecs.BloscCodec(), v3.LZ4())),
        template("vlen-utf8 gzip+zstd", dtype=str, compressors=(zarr.codecs.GzipCodec(), zstd)),
        template("raw bits", dtype="V5", compressors=zstd),
        template("complex", dtype="c8", compressors=zarr.codecs.BloscCodec(cname="zstd")),
    ]
    return made + with_zfp() + with_pcodec() + small()


def with_zfp() -> list[Template]:
    """zfp in both of its forms, where its package is here."""
    try:
        import zfpy  # noqa: F401
    except ImportError:
        return []
    numcodec = get_numcodec({"id": "zfpy", "mode": 4, "tolerance": 0.1})
    return [
        template("zfp reversible", dtype="<f4", serializer=ZfpCodec(mode="reversible")),
        template("zfp fixed_rate", dtype="<f8", serializer=ZfpCodec(mode="fixed_rate", rate=8.0)),
        template("zfp fixed_accuracy", dtype="<i4", serializer=ZfpCodec(mode="reversible")),
        template("3 zfpy", dtype="<f4", serializer=v3.ZFPY(mode=4, tolerance=0.1)),
        template("2 zfpy", dtype="<f4", zarr_format=2, compressors=numcodec),
    ]


def with_pcodec() -> list[Template]:
    """pcodec, where its package is here."""
    try:
        return [
            template("3 pcodec", serializer=v3.PCodec()),
            template("2 pcodec", dtype="<f8", zarr_format=2, compressors=get_numcodec({"id": "pcodec"})),
        ]
    except (ImportError, ValueError):
        return []


def small() -> list[Template]:
    """Numbers of few bits, where their package is here."""
    if importlib.util.find_spec("ml_dtypes") is None:
        return []
    zstd = zarr.codecs.ZstdCodec()
    made = [template(f"small {name}", dtype=name, compressors=zstd) for name in SMALL]
    return made + [template(f"packbits {name}", dtype=name, serializer=PackBitsCodec()) for name in ("int4", "uint2")]


def variable() -> list[Template]:
    """Elements of any length by further codecs of numcodecs, in format 2."""
    made = []
    labels = ["ab", "cd", ""]
    for compressor in (None, numcodecs.Zlib(), numcodecs.Blosc()):
        name = "" if compressor is None else f" {compressor.codec_id}"
        made.append(variable_length(f"2 categorize{name}", numcodecs.Categorize(labels, dtype="O"), compressor))
        made.append(variable_length(f"2 vlen-bytes{name}", numcodecs.VLenBytes(), compressor))
        made.append(variable_length(f"2 vlen-array{name}", numcodecs.VLenArray("<i4"), compressor))
    zipped = numcodecs.Zlib()
    return made + [variable_length(f"2 {codec.codec_id} zlib", codec, zipped) for codec in OBJECT_CODECS]


def variable_length(label: str, codec: Any, compressor: Any) -> Template:
    """An array of format 2 as another writer would store it."""
    stored = stored_objects(codec, compressor)
    return opened(label, MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()}))


def templates() -> list[Template]:
    """One array for each codec and container."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*format_3(), *shards(), *numcodecs_of_3(), *format_2(), *registered(), *variable()]
