"""Documents with random parameters: what one library writes by them, the others must read.

A case is what ``docs/formats_cases.py`` calls one: a document, of which the values follow by a formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NUMBERS = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip
SMALL = ["bfloat16", "float8_e5m2", "float8_e4m3fnuz", "int2", "int4", "float4_e2m1fn"]
UNSIGNED = ["uint2", "uint4", "complex_float16", "complex_bfloat16", "r24"]
OTHERS = ["string", "bytes", "numpy.datetime64", "numpy.timedelta64", "fixed_length_utf32", "struct"]
FLOATS = {
    "float16": [0.0, -0.0, 1.5, "NaN", "Infinity", "-Infinity", "0x7e01"],
    "float32": [0.0, -0.0, 0.1, "NaN", "Infinity", "-Infinity", "0x7fc00001"],
    "float64": [0.0, -0.0, 0.1, "NaN", "Infinity", "-Infinity", "0x7ff8000000000001"],
}
ALL_BITS = {"float32": 23, "float64": 52, "int8": 8, "uint16": 16}
WIDER = {"int8": ["int16", "float32"], "uint16": ["int64", "float64"], "float32": ["float64"]}


class Draws:
    """A document of format 3, and what was drawn for it."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.used: set[str] = set()

    def pick(self, *items: Any) -> Any:
        """One of some things."""
        return items[int(self.random.integers(len(items)))]

    def chance(self, share: float) -> bool:
        """Yes, that often."""
        return bool(self.random.random() < share)

    def named(self, name: str, **configuration: Any) -> dict[str, Any]:
        """An extension, noted as used."""
        self.used.add(name)
        return {"name": name, "configuration": configuration} if configuration else {"name": name}

    # ---------------------------------------------------------------------------------------- data types

    def data_type(self) -> tuple[Any, Any, int]:
        """A data type, a fill value and the size of an item."""
        name = self.pick(*NUMBERS, *NUMBERS, *NUMBERS, *SMALL, *UNSIGNED, *OTHERS)
        self.used.add(f"type {name}")
        if name in SMALL:
            return name, 1 if name in ("int2", "int4") else 1.0, 2 if name == "bfloat16" else 1
        if name in UNSIGNED:
            fill = [1, 2, 3] if name == "r24" else 1 if name[0] == "u" else [self.pick(0.0, 1.5), -1.0]
            return name, fill, {"r24": 3}.get(name, 1 if name[0] == "u" else 4)
        if name in OTHERS:
            return self.other_type(name)
        size = np.dtype(name).itemsize
        if name == "bool":
            return name, self.chance(0.5), size
        if name in FLOATS:
            return name, self.pick(*FLOATS[name]), size
        if name.startswith("complex"):
            parts = FLOATS["float32" if name == "complex64" else "float64"]
            return name, [self.pick(*parts), self.pick(*parts)], size
        info = np.iinfo(name)
        return name, int(self.pick(0, info.min, info.max, 1)), size

    def other_type(self, name: str) -> tuple[Any, Any, int]:
        """One that is no number."""
        if name in ("string", "bytes"):
            return name, "" if name == "bytes" else self.pick("", "é"), 0
        if name == "fixed_length_utf32":
            return {"name": name, "configuration": {"length_bytes": 16}}, self.pick("", "é"), 16
        if name == "struct":
            fields = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float32"}]
            return {"name": name, "configuration": {"fields": fields}}, {"a": 7, "b": 0.5}, 6
        unit = {"unit": self.pick("s", "ns", "D", "us"), "scale_factor": int(self.pick(1, 10))}
        return {"name": name, "configuration": unit}, self.pick(0, -(2**63), 5), 8

    # ---------------------------------------------------------------------------------------- codecs

    def compressors(self, size: int) -> list[dict[str, Any]]:
        """None, one or two codecs of bytes."""
        return [self.compressor(size) for _ in range(int(self.pick(0, 1, 1, 1, 2)))]

    def compressor(self, size: int) -> dict[str, Any]:
        """A codec of bytes."""
        name = self.pick("gzip", "zstd", "blosc", "blosc", "blosc", "crc32c")
        if name == "gzip":
            return self.named(name, level=int(self.random.integers(0, 10)))
        if name == "zstd":
            return self.named(name, level=int(self.random.integers(-5, 20)), checksum=self.chance(0.5))
        if name == "crc32c":
            return self.named(name)
        return self.named(
            name, cname=self.pick("lz4", "lz4hc", "blosclz", "zstd", "zlib"), clevel=int(self.random.integers(0, 10)),
            shuffle=self.pick("noshuffle", "shuffle", "bitshuffle"), typesize=int(self.pick(max(size, 1), 1, 3, 4, 16)),
            blocksize=int(self.pick(0, 0, 64, 256, 4096)),
        )  # fmt: skip

    def serializer(self, dtype: Any, size: int) -> dict[str, Any]:
        """The codec that makes bytes of elements."""
        if dtype in ("string", "bytes"):
            return self.named({"string": "vlen-utf8", "bytes": "vlen-bytes"}[dtype])
        if dtype in ("bool", "uint8", "int16", "uint32", "int64") and self.chance(0.15):
            padding = self.pick("none", "first_byte", "last_byte")
            whole = dtype != "bool" and padding != "none"
            self.used.add("packbits, padded whole bytes" if whole else "packbits of bits")
            return self.named("packbits", padding_encoding=padding)
        order = self.pick("little", "little", "big")
        self.used.add(f"{order}-endian complex" if str(dtype).startswith("complex") else f"{order}-endian")
        return self.named("bytes", endian=order)

    def chain(self, dtype: Any, size: int, shape: list[int], depth: int) -> tuple[list[Any], list[int]]:
        """Codecs of a chunk of at least some shape, and the shape: shards are whole multiples of their chunks."""
        if depth and self.chance(0.4):
            inner, inner_shape = self.chain(dtype, size, [1 + n // 2 for n in shape], depth - 1)
            order = self.pick("little", "big")
            index = [self.named("bytes", endian=order)] + ([self.named("crc32c")] if self.chance(0.7) else [])
            sharding = self.named(
                "sharding_indexed", chunk_shape=inner_shape, codecs=inner, index_codecs=index,
                index_location=self.pick("start", "end"),
            )  # fmt: skip
            return [sharding], [n * int(self.random.integers(1, 4)) for n in inner_shape]
        codecs = [self.serializer(dtype, size), *self.compressors(size)]
        if len(shape) > 1 and self.chance(0.3):
            codecs.insert(0, self.named("transpose", order=self.random.permutation(len(shape)).tolist()))
        return [*self.computed(dtype), *codecs], shape

    def computed(self, dtype: Any) -> list[dict[str, Any]]:
        """Codecs that change values, by parameters that lose nothing: what they leave is compared in another test."""
        codecs = []
        if isinstance(dtype, str) and dtype in FLOATS and self.chance(0.15):
            codecs.append(self.named("scale_offset", scale=float(self.pick(2, 0.5))))
        if isinstance(dtype, str) and dtype in ALL_BITS and self.chance(0.1):
            codecs.append(self.named("bitround", keepbits=ALL_BITS[dtype]))
        if isinstance(dtype, str) and dtype in WIDER and self.chance(0.15):
            codecs.append(self.named("cast_value", data_type=self.pick(*WIDER[dtype])))
        if self.chance(0.1):
            codecs.append(self.named("reshape", shape=[-1]))
        return codecs

    # ---------------------------------------------------------------------------------------- the rest

    def rectilinear(self, shape: list[int]) -> dict[str, Any]:
        """A grid of chunks of several lengths."""
        axes: list[Any] = []
        for length in shape:
            edges: list[Any] = []
            while (left := length - sum(n * count for n, count in edges)) > 0:
                n = int(self.random.integers(1, left + 2))
                edges.append([n, int(self.pick(1, 1, max(1, left // n)))])
            axes.append(edges if self.chance(0.7) else int(self.random.integers(1, length + 2)))
        return self.named("rectilinear", kind="inline", chunk_shapes=axes)

    def document(self) -> dict[str, Any]:
        """An array document."""
        dtype, fill, size = self.data_type()
        shape = self.random.integers(1, 10, int(self.random.integers(1, 5))).tolist()
        chunks = [int(self.random.integers(1, n + 2)) for n in shape]
        if self.chance(0.15):
            codecs, _ = self.chain(dtype, size, chunks, 0)
            grid = self.rectilinear(shape)
        else:
            codecs, chunks = self.chain(dtype, size, chunks, 2)
            grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
        keys = {"name": self.pick("default", "v2"), "configuration": {"separator": self.pick("/", ".")}}
        return {
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": dtype, "chunk_grid": grid,
            "chunk_key_encoding": keys, "fill_value": fill, "codecs": codecs, "attributes": {},
        }  # fmt: skip

    def document_2(self) -> dict[str, Any]:
        """An array document of format 2."""
        dtype = self.pick("|b1", "|i1", "|u1", "<i2", ">u4", "<i8", "<f2", ">f4", "<f8", "<c8", "<M8[s]", "|S3", "<U2")
        size, ndim = np.dtype(dtype).itemsize, int(self.random.integers(1, 5))
        shape = self.random.integers(1, 10, ndim).tolist()
        filters = [{"id": "shuffle", "elementsize": int(self.pick(size, 2, 4))}] if self.chance(0.2) else None
        if filters is None and dtype[1] in "iu" and self.chance(0.2):
            filters = [{"id": "delta", "dtype": dtype}]
        self.used |= {dtype, *(each["id"] for each in filters or ())}
        return {
            "zarr_format": 2, "shape": shape, "chunks": [int(self.random.integers(1, n + 2)) for n in shape],
            "dtype": dtype, "compressor": self.compressor_2(size), "filters": filters, "fill_value": None,
            "order": self.noted(self.pick("C", "F")), "dimension_separator": self.pick(".", "/"),
        }  # fmt: skip

    def noted(self, item: str) -> str:
        """Something, noted as used."""
        self.used.add(item)
        return item

    def compressor_2(self, size: int) -> dict[str, Any] | None:
        """A compressor of format 2, or none."""
        name = self.pick(None, "zlib", "gzip", "bz2", "zstd", "lz4", "blosc", "blosc", "lzma")
        level = int(self.pick(1, 5, 9))
        self.used.add(str(name))
        if name == "blosc":
            return {
                "id": name, "cname": self.pick("lz4", "lz4hc", "blosclz", "zstd", "zlib"), "clevel": level,
                "shuffle": int(self.pick(0, 1, 2, -1)), "blocksize": int(self.pick(0, 64, 4096)),
            }  # fmt: skip
        if name == "lz4":
            return {"id": name, "acceleration": level}
        if name == "lzma":
            return {"id": name, "format": 1, "check": -1, "preset": level, "filters": None}
        return None if name is None else {"id": name, "level": level}


_COMPUTED = {"bitround", "cast_value", "reshape"}
_NARROW = {f"type {name}" for name in SMALL}
_UNSIGNED = {f"type {name}" for name in UNSIGNED}
_OTHERS = {f"type {name}" for name in OTHERS}
_TIMES = {"type numpy.datetime64", "type numpy.timedelta64"}
_TEXT_2 = {"<M8[s]", "|S3", "<U2"}
BEYOND: dict[str, set[str]] = {
    "zarr-python": {"packbits", *_COMPUTED, *_NARROW, *_UNSIGNED},
    "tensorstore": {
        "packbits", "rectilinear", "shuffle", "delta", "lz4", "lzma", "scale_offset", *_COMPUTED, *_TEXT_2, *_UNSIGNED,
        *_OTHERS,
    },
    "zarrs": {
        "packbits, padded whole bytes", "big-endian complex", "lz4", "lzma", "delta", "F", "<c8", ">u4", ">f4",
        "scale_offset", "bitround", "cast_value", *_TEXT_2, *(_OTHERS - _TIMES),
        *(name for name in _NARROW if "float8" in name or "float4" in name),
    },
}  # fmt: skip
"""What a library does not offer."""


def random_case(cases: Any, seed: int) -> tuple[Any, set[str]]:
    """A case of ``docs/formats_cases.py``, and what it uses."""
    draws = Draws(seed)
    document = draws.document_2() if draws.chance(0.2) else draws.document()
    return cases.Case("Random", f"{seed}", document), draws.used
