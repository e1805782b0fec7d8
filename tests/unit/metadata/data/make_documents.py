"""Write ``documents.json``: the documents that zarr-python stores for many kinds of node.

Run with an interpreter that has zarr-python 3.4: ``python make_documents.py > documents.json``.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numcodecs
import numpy as np

import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
CASES: dict[str, dict[str, str]] = {}


def stored(store: dict[str, Any]) -> dict[str, str]:
    return {key: store[key].to_bytes().decode() for key in sorted(store)}


def array(case: str, **parameters: Any) -> None:
    store: dict[str, Any] = {}
    parameters.setdefault("shape", (10, 20))
    parameters.setdefault("dtype", "int32")
    parameters.setdefault("chunks", (5, 7)[: len(parameters["shape"])])
    zarr.create_array(store, **parameters)
    CASES[case] = stored(store)


NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 >i4 >f8 >c16"
)
for name in NAMES.split():
    for zarr_format in (2, 3):
        fill = True if name == "bool" else 3
        array(f"{name} v{zarr_format}", dtype=name, zarr_format=zarr_format, fill_value=fill)
        array(f"{name} v{zarr_format} default fill", dtype=name, zarr_format=zarr_format)
for value in ("nan", "inf", "-inf", "-0.0", "0.1", "1e300", "5e-324", "1e16", "123456789.125"):
    for zarr_format in (2, 3):
        array(f"float {value} v{zarr_format}", dtype="f8", fill_value=float(value), zarr_format=zarr_format)
        array(
            f"complex {value} v{zarr_format}",
            dtype="c16",
            fill_value=complex(float(value), -1.5),
            zarr_format=zarr_format,
        )
for value in (-(2**63), 2**63 - 1, 0):
    array(f"int64 {value}", dtype="i8", fill_value=value)
OTHERS: dict[str, tuple[Any, Any]] = {
    "U5": ("U5", "añb"),
    ">U3": (">U3", ""),
    "S5": ("S5", b"a\x01b"),
    "V4": ("V4", b"abcd"),
    "M8[ns]": ("M8[ns]", np.datetime64("NaT")),
    "M8[25us]": ("M8[25us]", 0),
    "m8[s]": ("m8[s]", 5),
    "struct": ([("a", "<i4"), ("b", ">f8"), ("c", "S3")], np.zeros((), "<i4,>f8,S3")[()].item()),
    "string": (str, "x"),
}
for label, (dtype, fill) in OTHERS.items():
    for zarr_format in (2, 3):
        try:
            array(f"{label} v{zarr_format}", dtype=dtype, fill_value=fill, zarr_format=zarr_format)
        except Exception as error:
            print(label, zarr_format, error, file=sys.stderr)
for label, codec in {
    "none": None,
    "zstd": ZstdCodec(level=3, checksum=True),
    "gzip": GzipCodec(level=1),
    "blosc": BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle"),
    "crc": Crc32cCodec(),
    "two": [GzipCodec(level=1), Crc32cCodec()],
}.items():
    array(f"compressor {label}", compressors=codec)
array("transpose", filters=[TransposeCodec(order=(1, 0))], serializer=BytesCodec(endian="big"))
array("shards", shape=(40, 40), chunks=(5, 5), shards=(20, 10))
array("shards at the start", shape=(40, 40), chunks=(5, 5), shards={"shape": (20, 10), "index_location": "start"})
array(
    "nested shards",
    shape=(40,),
    chunks=(20,),
    serializer=ShardingCodec(chunk_shape=(10,), codecs=[ShardingCodec(chunk_shape=(5,))]),
    compressors=None,
)
with zarr.config.set({"array.rectilinear_chunks": True}):
    array("rectilinear", chunks=((3, 3, 4), 5))
    array("rectilinear shards", shape=(40, 40), chunks=(5, 5), shards=((20, 20), 10))
array("scalar", shape=(), chunks=())
array("scalar v2", shape=(), chunks=(), zarr_format=2)
array("empty axis", shape=(0, 5), chunks=(1, 5))
array("dimension names", dimension_names=("x", None))
array("no dimension names", dimension_names=(None, None))
for separator in (".", "/"):
    for name in ("default", "v2"):
        array(f"keys {name}{separator}", chunk_key_encoding={"name": name, "separator": separator})
    array(f"v2 {separator}", zarr_format=2, chunk_key_encoding={"name": "v2", "separator": separator})
ATTRIBUTES = {
    "text": 'añ☃\n"',
    "numbers": [1, -2, 0.1, 1e300, float("nan"), float("inf"), 10**30, True, None],
    "nested": {"b": {"a": [[], {}, [1]]}, "empty": {}},
    "zz": 1,
    "aa": 2,
}
array("attributes", attributes=ATTRIBUTES)
array("attributes v2", attributes=ATTRIBUTES, zarr_format=2)
array("order F v2", zarr_format=2, order="F")
for label, codec in {
    "none": None,
    "zstd": numcodecs.Zstd(level=2),
    "zstd checksum": numcodecs.Zstd(level=2, checksum=True),
    "blosc": numcodecs.Blosc(cname="zstd", clevel=1, shuffle=2),
    "gzip": numcodecs.GZip(),
    "zlib": numcodecs.Zlib(),
    "lz4": numcodecs.LZ4(),
    "bz2": numcodecs.BZ2(),
    "lzma": numcodecs.LZMA(),
}.items():
    array(f"compressor {label} v2", zarr_format=2, compressors=codec)
array("filters v2", zarr_format=2, filters=[numcodecs.Delta("<i4"), numcodecs.Zstd()])
for zarr_format in (2, 3):
    store: dict[str, Any] = {}
    root = zarr.create_group(store, zarr_format=zarr_format, attributes=ATTRIBUTES)
    CASES[f"group v{zarr_format}"] = stored(store)
    for name in ("b", "a"):
        member = root.create_group(name, attributes={"name": name})
        for below in ("z", "y"):
            member.create_array(below, shape=(2,), dtype="f8", attributes={"k": 1}, fill_value=np.nan)
    root.create_array("c", shape=(2,), dtype="i4")
    zarr.consolidate_metadata(store)
    names = ("zarr.json",) if zarr_format == 3 else (".zgroup", ".zattrs", ".zmetadata")
    CASES[f"consolidated v{zarr_format}"] = {key: value for key, value in stored(store).items() if key in names}
print(json.dumps(CASES, indent=1))
