"""Cases of the table of formats: one array document for each codec, data type, grid, key encoding and spelling.

A case is a document (``zarr.json`` or ``.zarray``) and a formula for the values. It names no library, so that every
library can be asked the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SHAPE, CHUNKS = [6, 4], [4, 2]
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
INDEX = [BYTES, {"name": "crc32c"}]


class Case(NamedTuple):
    """One question.

    Attributes
    ----------
    section, name
        Where its row stands.
    document
        The members of the array document.
    """

    section: str
    name: str
    document: dict[str, Any]

    @property
    def folder(self) -> str:
        """A name for a folder."""
        return "".join(c if c.isalnum() or c in "._-" else f"_{ord(c):x}" for c in f"{self.section}-{self.name}")

    @property
    def file(self) -> str:
        """The name of the document."""
        return ".zarray" if self.document["zarr_format"] == 2 else "zarr.json"


def named(name: str, **configuration: Any) -> dict[str, Any]:
    """The long form of an extension."""
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


def v3(**members: Any) -> dict[str, Any]:
    """A document of format 3 with some members changed; None leaves a member out."""
    document = {
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "int32",
        "chunk_grid": named("regular", chunk_shape=CHUNKS), "chunk_key_encoding": named("default", separator="/"),
        "fill_value": 0, "codecs": [BYTES], "attributes": {}, **members,
    }  # fmt: skip
    return {key: value for key, value in document.items() if value is not None}


def v2(**members: Any) -> dict[str, Any]:
    """A document of format 2 with some members changed."""
    return {
        "zarr_format": 2, "shape": SHAPE, "chunks": CHUNKS, "dtype": "<i4", "compressor": None, "fill_value": 0,
        "order": "C", "filters": None, "dimension_separator": ".", **members,
    }  # fmt: skip


def sharding(codecs: list[Any] | None = None, **configuration: Any) -> dict[str, Any]:
    """A shard of four chunks."""
    parts = {"chunk_shape": [2, 1], "codecs": codecs or [BYTES], "index_codecs": INDEX, **configuration}
    return named("sharding_indexed", **parts)


def optional(name: str, values: Any, codecs: list[Any]) -> dict[str, Any]:
    """Elements that may be missing."""
    inner = values if isinstance(values, dict) else {"name": values, "configuration": {}}
    parts = {"mask_codecs": [{"name": "packbits"}], "data_codecs": codecs}
    codec = {"name": name, "configuration": parts}
    return v3(data_type={"name": name, "configuration": inner}, codecs=[codec]) | {"fill_value": None}


CODECS: dict[str, dict[str, Any]] = {
    "bytes": v3(),
    "bytes (big-endian)": v3(codecs=[named("bytes", endian="big")]),
    "transpose": v3(codecs=[named("transpose", order=[1, 0]), BYTES]),
    "gzip": v3(codecs=[BYTES, named("gzip", level=1)]),
    "zstd": v3(codecs=[BYTES, named("zstd", level=1, checksum=False)]),
    "blosc": v3(codecs=[BYTES, named("blosc", cname="lz4", clevel=5, shuffle="shuffle", typesize=4, blocksize=0)]),
    "blosc (snappy)": v3(
        shape=[60, 40], chunk_grid=named("regular", chunk_shape=[40, 20]),  # what is small is stored as it is
        codecs=[BYTES, named("blosc", cname="snappy", clevel=5, shuffle="shuffle", typesize=4, blocksize=0)],
    ),
    "crc32c": v3(codecs=[BYTES, {"name": "crc32c"}]),
    "sharding_indexed": v3(codecs=[sharding()]),
    "sharding_indexed (index first)": v3(codecs=[sharding(index_location="start")]),
    "sharding_indexed (nested)": v3(codecs=[sharding([sharding(chunk_shape=[1, 1])])]),
    "sharding_indexed (after transpose)": v3(
        codecs=[named("transpose", order=[1, 0]), sharding(chunk_shape=[1, 2])],
    ),
    "vlen-utf8": v3(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}]),
    "vlen-bytes": v3(data_type="bytes", fill_value="", codecs=[{"name": "vlen-bytes"}]),
    "zarr_core.arrow-vlen": v3(
        data_type="string", fill_value="", codecs=[named("zarr_core.arrow-vlen", offset="int32")]
    ),
    "bitround": v3(data_type="float32", fill_value=0.0, codecs=[named("bitround", keepbits=10), BYTES]),
    "packbits": v3(data_type="bool", fill_value=False, codecs=[named("packbits", padding_encoding="first_byte")]),
    "cast_value": v3(
        data_type="float64", fill_value=0.0, codecs=[named("cast_value", data_type="int16"), BYTES]
    ),
    "scale_offset": v3(data_type="float64", fill_value=0.0, codecs=[named("scale_offset", offset=1, scale=2), BYTES]),
    "reshape": v3(chunk_grid=named("regular", chunk_shape=[3, 2]), codecs=[named("reshape", shape=[-1]), BYTES]),
    "zarrs.squeeze": v3(chunk_grid=named("regular", chunk_shape=[1, 2]), codecs=[named("zarrs.squeeze"), BYTES]),
    "conditional": v3(codecs=[BYTES, named("conditional", codecs=[named("gzip", level=1)])]),
    "n5_default": v3(
        chunk_key_encoding=named("v2", separator="/"),
        codecs=[named("n5_default", codecs=[named("transpose", order=[1, 0]), named("bytes", endian="big")])],
    ),
    "pcodec": v3(data_type="float64", fill_value=0.0, codecs=[named("pcodec", level=8)]),
    "zfp": v3(data_type="float32", fill_value=0.0, codecs=[named("zfp", mode="reversible")]),
}  # fmt: skip

LIKE_NUMCODECS: dict[str, tuple[str, dict[str, Any]]] = {
    "adler32": ("b", {}), "crc32": ("b", {}), "crc32c": ("b", {}), "fletcher32": ("b", {}),
    "jenkins_lookup3": ("b", {}), "bz2": ("b", {"level": 1}), "gzip": ("b", {"level": 1}),
    "lz4": ("b", {"acceleration": 1}), "zlib": ("b", {"level": 1}), "zstd": ("b", {"level": 1}),
    "lzma": ("b", {"format": 1, "check": -1, "preset": None, "filters": None}),
    "blosc": ("b", {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}), "shuffle": ("b", {"elementsize": 4}),
    "delta": ("i", {"dtype": "<i4"}), "astype": ("f", {"encode_dtype": "<f4", "decode_dtype": "<f8"}),
    "bitround": ("f", {"keepbits": 10}), "quantize": ("f", {"digits": 2, "dtype": "<f8"}),
    "fixedscaleoffset": ("f", {"offset": 1, "scale": 2, "dtype": "<f8", "astype": "<i4"}), "packbits": ("t", {}),
    "zfpy": ("s", {"mode": 4, "tolerance": 0.01, "rate": -1, "precision": -1}), "pcodec": ("s", {"level": 8}),
}  # fmt: skip


def numcodecs_3(name: str) -> dict[str, Any]:
    """A document of format 3 with a codec of numcodecs."""
    kind, configuration = LIKE_NUMCODECS[name]
    codec = named(f"numcodecs.{name}", **configuration) | {"configuration": configuration}
    if kind == "b":
        return v3(codecs=[BYTES, codec])
    if kind == "i":
        return v3(codecs=[codec, BYTES])
    if kind == "t":
        return v3(data_type="bool", fill_value=False, codecs=[codec, {"name": "bytes"}])
    serializer = [codec] if kind == "s" else [codec, BYTES]
    return v3(data_type="float64", fill_value=0.0, codecs=serializer)


def numcodecs_2(name: str) -> dict[str, Any]:
    """A document of format 2 with a codec of numcodecs."""
    kind, configuration = LIKE_NUMCODECS[name]
    codec = {"id": name, **configuration}
    if kind == "b":
        return v2(compressor=codec)
    dtype, fill = {"i": ("<i4", 0), "t": ("|b1", False)}.get(kind, ("<f8", 0.0))
    return v2(dtype=dtype, fill_value=fill, **({"compressor": codec} if kind == "s" else {"filters": [codec]}))


OBJECT_CODECS: dict[str, dict[str, Any]] = {
    "vlen-utf8": {"id": "vlen-utf8"}, "vlen-bytes": {"id": "vlen-bytes"},
    "vlen-array": {"id": "vlen-array", "dtype": "<i4"},
    "json2": {"id": "json2", "encoding": "utf-8", "strict": True, "allow_nan": True, "check_circular": True,
              "ensure_ascii": True, "indent": None, "separators": [",", ":"], "skipkeys": False, "sort_keys": True},
    "msgpack2": {"id": "msgpack2", "raw": False, "use_bin_type": True, "use_single_float": False},
    "categorize": {"id": "categorize", "dtype": "|O", "astype": "|u1", "labels": ["é0", "é1", "é2"]},
}  # fmt: skip

NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
SMALL = [
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
]  # fmt: skip


def data_types() -> dict[str, dict[str, Any]]:
    """One document for each data type of format 3."""
    rows = {"bool": v3(data_type="bool", fill_value=False), **{name: v3(data_type=name) for name in NUMBERS}}
    rows |= {name: v3(data_type=name, fill_value=0.0) for name in ("float16", "float32", "float64")}
    rows |= {name: v3(data_type=name, fill_value=[0.0, 0.0]) for name in ("complex64", "complex128")}
    rows["r16"] = v3(data_type="r16", fill_value=[0, 0])
    rows |= {name: v3(data_type=name) for name in ("int2", "int4", "uint2", "uint4")}
    rows |= {name: v3(data_type=name, fill_value=1.0 if "e8m0" in name else 0.0) for name in SMALL}
    rows |= {
        f"complex_{name}": v3(data_type=f"complex_{name}", fill_value=[1.0, 1.0] if "e8m0" in name else [0.0, 0.0])
        for name in ("float16", "float32", "float64", *SMALL)
    }
    rows["string"] = v3(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}])
    for name in ("bytes", "variable_length_bytes", "binary"):
        rows[name] = v3(data_type=name, fill_value="", codecs=[{"name": "vlen-bytes"}])
    for name in ("datetime64", "timedelta64"):
        rows[f"numpy.{name}"] = v3(data_type=named(f"numpy.{name}", unit="s", scale_factor=1), fill_value=0)
    rows["fixed_length_utf32"] = v3(data_type=named("fixed_length_utf32", length_bytes=16), fill_value="")
    rows["null_terminated_bytes"] = v3(data_type=named("null_terminated_bytes", length_bytes=4), fill_value="")
    rows["raw_bytes"] = v3(data_type=named("raw_bytes", length_bytes=2), fill_value="AAA=")
    for name in ("zarrs.optional", "optional"):
        rows[name] = optional(name, "int32", [BYTES])
    rows["zarrs.optional (string)"] = optional("zarrs.optional", "string", [{"name": "vlen-utf8"}])
    inner = optional("zarrs.optional", "int32", [BYTES])
    rows["zarrs.optional (nested)"] = optional("zarrs.optional", inner["data_type"], inner["codecs"])
    fields = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float32"}]
    rows["struct"] = v3(data_type=named("struct", fields=fields), fill_value={"a": 0, "b": 0.0})
    rows["structured"] = v3(
        data_type=named("structured", fields=[["a", "int16"], ["b", "float32"]]), fill_value="AAAAAAAA"
    )
    return rows


V2_TYPES = [
    "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16", ">i4", ">f8",
    "|S4", "<U4", ">U4", "|V2", "<M8[s]", "<m8[s]", "<M8[25us]",
]  # fmt: skip


def data_types_2() -> dict[str, dict[str, Any]]:
    """One document for each data type of format 2."""
    rows = {name: v2(dtype=name, fill_value=None) for name in V2_TYPES}
    rows["structured"] = v2(dtype=[["a", "<i2"], ["b", "<f4"]], fill_value=None)
    rows["structured, nested"] = v2(dtype=[["a", [["x", "<i2"]]], ["b", "<f4"]], fill_value=None)
    rows["structured, with a subarray"] = v2(dtype=[["a", "<i2"], ["z", "<f4", [2, 2]]], fill_value=None)
    rows["string type, fill value 0"] = v2(dtype="|S4", fill_value=0)
    objects = {name: v2(dtype="|O", fill_value=None, filters=[codec]) for name, codec in OBJECT_CODECS.items()}
    return rows | {f"|O with {name}": document for name, document in objects.items()}


RECTILINEAR = named("rectilinear", kind="inline", chunk_shapes=[[4, 2], [[2, 2]]])
FORMS: dict[str, dict[str, Any]] = {
    'codecs by name: ["bytes"]': v3(data_type="uint8", codecs=["bytes"]),
    'key encoding by name: "default"': v3(chunk_key_encoding="default"),
    'data type as an object: {"name": "int32"}': v3(data_type={"name": "int32"}),
    "codec `endian`": v3(codecs=[named("endian", endian="little")]),
    "`numcodecs.*` without configuration": v3(codecs=[BYTES, {"name": "numcodecs.adler32"}]),
    "strings of ZEP 7, without a codec": v3(data_type={"name": "string"}, fill_value="", codecs=[]),
    "strings of ZEP 7, in a shard": v3(
        data_type={"name": "string"}, fill_value="", codecs=[sharding([named("zstd", level=1, checksum=False)])],
    ),
    "must_understand in a codec": v3(codecs=[{**BYTES, "must_understand": True}]),
    "fill value as a bit pattern": v3(data_type="float32", fill_value="0x7fc00001"),
}


def all_cases() -> list[Case]:
    """All cases, in the order of the table."""
    sections: dict[str, dict[str, dict[str, Any]]] = {
        "Codecs of format 3": CODECS | {f"numcodecs.{name}": numcodecs_3(name) for name in LIKE_NUMCODECS},
        "Data types of format 3": data_types(),
        "Chunk grids": {"regular": v3(), "rectilinear": v3(chunk_grid=RECTILINEAR)},
        "Chunk key encodings": {
            'default "/"': v3(), 'default "."': v3(chunk_key_encoding=named("default", separator=".")),
            'v2 "."': v3(chunk_key_encoding=named("v2", separator=".")),
            'v2 "/"': v3(chunk_key_encoding=named("v2", separator="/")),
            "fanout": v3(chunk_key_encoding="fanout"),
            "suffix": v3(chunk_key_encoding=named("suffix", suffix=".x", base_encoding={"name": "default"})),
            "zarrs.default_suffix": v3(chunk_key_encoding=named("zarrs.default_suffix", suffix=".x")),
            'format 2 "."': v2(), 'format 2 "/"': v2(dimension_separator="/"),
            "format 2, not said": {k: v for k, v in v2().items() if k != "dimension_separator"},
            "format 2, null": v2(dimension_separator=None),
        },
        "Spellings of format 3": FORMS,
        "Codecs of format 2": {name: numcodecs_2(name) for name in LIKE_NUMCODECS} | {"order F": v2(order="F")},
        "Data types of format 2": data_types_2(),
    }  # fmt: skip
    return [Case(section, name, document) for section, rows in sections.items() for name, document in rows.items()]


def varied(case: Case, seed: int) -> Case | None:
    """The same question about an array of another shape and other chunks; None where the codecs know the shape."""
    grid = case.document.get("chunk_grid", {"name": "regular"})
    if grid["name"] != "regular" or any(name in str(case.document) for name in ("transpose", "sharding", "reshape")):
        return None
    random = np.random.default_rng(seed)
    shape = random.integers(1, 9, size=random.integers(1, 4)).tolist()
    chunks = [int(random.integers(1, length + 2)) for length in shape]
    changed: dict[str, Any] = {"shape": shape, "chunks": chunks}
    if "chunk_grid" in case.document:
        changed = {"shape": shape, "chunk_grid": named("regular", chunk_shape=chunks)}
    return case._replace(document={**case.document, **changed})


def values_for(dtype: np.dtype[Any], case: Case) -> np.ndarray[Any, Any]:
    """The values of a case: the same formula everywhere, none of them the fill value throughout a chunk."""
    if "optional" in str(case.document.get("data_type")):
        plain = case._replace(document={**case.document, "data_type": "string"})
        missing = np.arange(int(np.prod(case.document["shape"]))) % 5 == 1
        return np.ma.MaskedArray(values_for(dtype, plain), missing.reshape(case.document["shape"]))
    shape = case.document["shape"]
    numbers = np.arange(int(np.prod(shape)))
    if dtype.kind in "OT":
        flat = np.empty(numbers.size, dtype=object)
        flat[:] = [object_for(case, int(n) % 3) for n in numbers]
        return flat.reshape(shape)
    if dtype.kind in "US":
        return np.array([f"{n % 7}" for n in numbers]).astype(dtype).reshape(shape)
    if dtype.names is not None or (dtype.kind == "V" and dtype.type is np.void):
        return np.frombuffer((numbers.size * dtype.itemsize) * b"\1", dtype).reshape(shape)
    if dtype.kind in "mM":
        return numbers.astype("i8").view(dtype.newbyteorder("=")).astype(dtype).reshape(shape)
    if case.section == "Random" and dtype.type.__module__ == "numpy":
        varied = varied_numbers(numbers, dtype).reshape(shape)
        # What adds an offset of 0 makes 0.0 of -0.0.
        return varied + dtype.type(0) if "scale_offset" in str(case.document) else varied
    ones = numbers % 2 + ("e8m0" in case.name)
    return ones.astype(dtype).reshape(shape)


def varied_numbers(numbers: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Numbers that use the width of a type; some are special, and a run of them is zero."""
    mixed = (numbers * 37 + 11) % 251
    mixed[numbers.size // 3 : numbers.size // 2] = 0
    if dtype.kind == "b":
        return mixed % 3 == 0
    if dtype.kind in "iu":
        return (mixed.astype("u8") * np.uint64(0x0123_4567_89AB_CDEF)).astype(dtype)
    values = mixed / 4 - 20 if dtype.kind == "f" else mixed - 1j * mixed[::-1]
    values[5::50], values[6::50] = np.inf, -0.0
    return values.astype(dtype)


def object_for(case: Case, number: int) -> Any:
    """One element of an array of objects."""
    codecs = str(case.document.get("filters")) + str(case.document.get("data_type"))
    if "vlen-array" in codecs:
        return np.arange(number, dtype="<i4")
    return f"{number}".encode() if "bytes" in codecs or "binary" in codecs else f"é{number}"


def same(got: Any, expected: np.ndarray[Any, Any]) -> bool:
    """Return True if the values read are those of the formula, bit for bit where elements have bits of their own."""
    if isinstance(expected, np.ma.MaskedArray):
        missing = [np.ma.getmaskarray(array) for array in (got, expected)]
        return bool((missing[0] == missing[1]).all()) and got.tolist() == expected.tolist()
    got = np.asarray(got)
    if got.shape != expected.shape:
        return False
    if expected.dtype.kind in "O":
        pairs = zip(got.reshape(-1).tolist(), expected.reshape(-1).tolist(), strict=True)
        return all(np.array_equal(one, other) for one, other in pairs)
    native = expected.dtype.newbyteorder("=")
    return got.dtype.itemsize == native.itemsize and bool(
        got.astype(got.dtype.newbyteorder("=")).tobytes() == expected.astype(native).tobytes()
    )
