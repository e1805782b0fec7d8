"""Names, JSON, defaults and refusals of the public classes."""

from __future__ import annotations

import dataclasses
import enum
import pickle
from typing import Any

import numpy as np
import pytest

import zarr
from tests.unit.codecs.specs import chunk_spec
from zarr.chunks import RegularChunkGridMetadata
from zarr.codecs import (
    BloscCname,
    BloscCodec,
    BloscShuffle,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    Endian,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    ShardingCodecIndexLocation,
    TransposeCodec,
    VLenBytesCodec,
    VLenUTF8Codec,
    ZstdCodec,
)
from zarr.codecs import numcodecs as wrapped
from zarr.codecs.base.described import parse_codec, parse_codecs
from zarr.errors import UnknownCodecError

DESCRIPTIONS: list[tuple[Any, dict[str, Any]]] = [
    (BytesCodec(), {"name": "bytes", "configuration": {"endian": "little"}}),
    (BytesCodec(endian=None), {"name": "bytes"}),
    (GzipCodec(), {"name": "gzip", "configuration": {"level": 5}}),
    (ZstdCodec(), {"name": "zstd", "configuration": {"level": 0, "checksum": False}}),
    (Crc32cCodec(), {"name": "crc32c"}),
    (TransposeCodec(order=[1, 0]), {"name": "transpose", "configuration": {"order": (1, 0)}}),
    (VLenUTF8Codec(), {"name": "vlen-utf8", "configuration": {}}),
    (VLenBytesCodec(), {"name": "vlen-bytes", "configuration": {}}),
    (ScaleOffset(), {"name": "scale_offset"}),
    (ScaleOffset(offset=1, scale=2.5), {"name": "scale_offset", "configuration": {"offset": 1, "scale": 2.5}}),
    (CastValue(data_type="int8"), {"name": "cast_value", "configuration": {"data_type": "int8"}}),
    (
        CastValue(data_type="int8", rounding="towards-zero", out_of_range="clamp", scalar_map={"encode": [("NaN", 0)]}),
        {
            "name": "cast_value",
            "configuration": {
                "data_type": "int8", "rounding": "towards-zero", "out_of_range": "clamp",
                "scalar_map": {"encode": [("NaN", 0)]},
            },
        },
    ),
    (
        BloscCodec(),
        {
            "name": "blosc",
            "configuration": {"typesize": 1, "cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "blocksize": 0},
        },
    ),
    (
        ShardingCodec(chunk_shape=(2, 2)),
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": (2, 2),
                "codecs": ({"name": "bytes", "configuration": {"endian": "little"}},),
                "index_codecs": ({"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}),
                "index_location": "end",
            },
        },
    ),
    (wrapped.Delta(dtype="i4"), {"name": "numcodecs.delta", "configuration": {"dtype": "i4"}}),
    (wrapped.Delta(dtype="i4", id="delta"), {"name": "numcodecs.delta", "configuration": {"dtype": "i4"}}),
    (wrapped.Adler32(), {"name": "numcodecs.adler32", "configuration": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("codec", "data"), DESCRIPTIONS, ids=lambda value: type(value).__name__)
def test_json_both_ways(codec: Any, data: dict[str, Any]) -> None:
    assert codec.to_dict() == data
    again = type(codec).from_dict(data)
    assert again.to_dict() == data
    if not isinstance(codec, BloscCodec):
        assert again == codec
        assert hash(again) == hash(codec)
    assert parse_codec(data).to_dict() == data
    assert pickle.loads(pickle.dumps(codec)) == codec


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: BloscCodec(typesize=0), ValueError, "greater than 0. Got 0"),
        (lambda: BloscCodec(typesize=4.0), TypeError, "'typesize'"),  # type: ignore[arg-type]
        (lambda: BloscCodec(cname="foo"), ValueError, "cname must be one of .* Got 'foo'"),  # type: ignore[arg-type]
        (lambda: BloscCodec(shuffle=1), ValueError, "shuffle must be one of .* Got 1"),  # type: ignore[arg-type]
        (lambda: BloscCodec(clevel="1"), TypeError, "'clevel'"),  # type: ignore[arg-type]
        (lambda: BloscCodec(blocksize="1"), TypeError, "'blocksize'"),  # type: ignore[arg-type]
        (lambda: BytesCodec(endian="foo"), ValueError, "endian must be one of"),  # type: ignore[arg-type]
        (lambda: BytesCodec.from_dict({"name": "gzip"}), ValueError, "Expected 'bytes'"),
        (lambda: GzipCodec(level=10), ValueError, "inclusive range"),
        (lambda: GzipCodec(level="1"), TypeError, "'level'"),  # type: ignore[arg-type]
        (lambda: ZstdCodec(level=23), ValueError, "less than or equal to 22. Got 23"),
        (lambda: ZstdCodec(checksum=1), TypeError, "'checksum'"),  # type: ignore[arg-type]
        (lambda: ZstdCodec.from_dict({"name": "zstd"}), ValueError, "'configuration' key"),
        (lambda: TransposeCodec(order="F"), TypeError, "iterable of integers"),  # type: ignore[arg-type]
        (lambda: TransposeCodec(order=1), TypeError, "Expected an iterable"),  # type: ignore[arg-type]
        (lambda: ShardingCodec(chunk_shape=(0,)), ValueError, ">= 1, got 0"),
        (lambda: ShardingCodec(chunk_shape=(2,), index_location="x"), ValueError, "index_location"),  # type: ignore[arg-type]
        (lambda: ShardingCodec(chunk_shape=(2,), subchunk_write_order="x"), ValueError, "subchunk"),  # type: ignore[arg-type]
        (lambda: ShardingCodec(chunk_shape=(2,), index_codecs=[GzipCodec()]), ValueError, "fixed-size"),
        (lambda: ScaleOffset(offset=[1]), TypeError, "number or string, got list"),
        (lambda: CastValue(data_type="foo"), ValueError, "foo"),
        (lambda: CastValue(data_type="string"), ValueError, "Invalid target data type 'string'"),
        (lambda: CastValue(data_type="bool"), ValueError, "Invalid target data type 'bool'"),
        (lambda: wrapped.Delta(dtype="i4", id="x"), ValueError, "does not match delta"),
        (lambda: parse_codec("no-such-codec"), UnknownCodecError, "no-such-codec"),
        (lambda: parse_codec(3), TypeError, "Expected a codec"),  # type: ignore[arg-type]
        (lambda: parse_codecs("bytes"), TypeError, "list of codecs"),
    ],
)
def test_refusals(make: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make()


def test_former_and_short_forms_are_read() -> None:
    assert parse_codec("bytes") == BytesCodec(endian=None)
    assert parse_codec({"name": "endian", "configuration": {"endian": "big"}}) == BytesCodec(endian="big")
    assert parse_codec({"name": "crc32c", "must_understand": True}) == Crc32cCodec()
    assert parse_codec({"name": "numcodecs.adler32"}) == wrapped.Adler32()
    shard = ShardingCodec.from_dict(
        {"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes"], "index_codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}}]}}
    )  # fmt: skip
    assert shard.codecs == (BytesCodec(endian=None),)


@pytest.mark.parametrize("letter", ["C", "F"])
def test_a_former_order_of_transpose_is_refused(letter: str) -> None:
    with pytest.raises(TypeError, match="The order lists the axes"):
        TransposeCodec.from_dict({"name": "transpose", "configuration": {"order": letter}})


def test_deprecated_names_give_strings_and_warn() -> None:
    for cls, name in (
        (BloscCname, "zstd"), (BloscShuffle, "bitshuffle"), (Endian, "big"), (ShardingCodecIndexLocation, "end"),
    ):  # fmt: skip
        with pytest.warns(DeprecationWarning, match=f"{cls.__name__}.{name}"):
            assert getattr(cls, name) == name
        with pytest.raises(AttributeError):
            _ = cls.nothing
        with pytest.raises(TypeError):
            list(cls)  # type: ignore[call-overload]
    assert BloscShuffle.from_int(1) == "shuffle"
    with pytest.raises(ValueError, match="between 0 and 2"):
        BloscShuffle.from_int(5)


@pytest.mark.parametrize(
    ("codec", "name", "typesize", "shuffle"),
    [
        (BloscCodec(), "int64", 8, "shuffle"),
        (BloscCodec(), "uint8", 1, "bitshuffle"),
        (BloscCodec(typesize=2), "int64", 2, "shuffle"),
        (BloscCodec(shuffle="noshuffle"), "int64", 8, "noshuffle"),
        (BloscCodec(), "string", 1, "bitshuffle"),
    ],
)
def test_blosc_learns_from_the_array(codec: BloscCodec, name: str, typesize: int, shuffle: str) -> None:
    evolved = codec.evolve_from_array_spec(chunk_spec(name))
    assert (evolved.typesize, evolved.shuffle) == (typesize, shuffle)
    assert evolved.evolve_from_array_spec(chunk_spec("int16")) == evolved
    assert dataclasses.replace(evolved, clevel=1).clevel == 1


def test_bytes_learns_from_the_array() -> None:
    for name in ("uint8", "S3", "V3", "u1,u1"):
        assert BytesCodec().evolve_from_array_spec(chunk_spec(name)).endian is None
    for name in ("int64", "<U3", "<M8[s]", "i4,u1"):
        assert BytesCodec().evolve_from_array_spec(chunk_spec(name)).endian == "little"
    with pytest.raises(ValueError, match="multi-byte"):
        BytesCodec(endian=None).evolve_from_array_spec(chunk_spec("int64"))
    with pytest.warns(UserWarning, match="Little-endian"):
        assert BytesCodec(endian=None).evolve_from_array_spec(chunk_spec("i4,u1")).endian == "little"


@pytest.mark.parametrize("dtype", ["string", "variable_length_bytes"])
def test_bytes_refuses_elements_of_any_length(dtype: str) -> None:
    """At once, and not at the first write: the array could never hold anything."""
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, name="x", data=[1, 2])
    told = "must be `VLenUTF8Codec`, got `BytesCodec`.*" if dtype == "string" else ""
    with pytest.raises(ValueError, match=f"{told}no fixed size"):
        zarr.create_array(store, name="x", shape=3, dtype=dtype, serializer=BytesCodec(), overwrite=True)
    assert zarr.open_array(store, path="x")[:].tolist() == [1, 2]


@pytest.mark.parametrize("order", [(1, 0, 2), (1, 1), (1, 2), (-1, -2)])
def test_transpose_refuses_what_is_no_permutation(order: tuple[int, ...]) -> None:
    spec = chunk_spec()
    with pytest.raises(ValueError, match="order"):
        TransposeCodec(order=order).evolve_from_array_spec(spec)
    with pytest.raises(ValueError, match="order"):
        TransposeCodec(order=order).validate(shape=spec.shape, dtype=spec.dtype, chunk_grid=None)  # type: ignore[arg-type]


def test_encoded_sizes() -> None:
    spec = chunk_spec()
    assert BytesCodec().compute_encoded_size(10, spec) == 10
    assert Crc32cCodec().compute_encoded_size(10, spec) == 14
    assert TransposeCodec(order=(1, 0)).compute_encoded_size(10, spec) == 10
    assert ShardingCodec(chunk_shape=(2, 2)).compute_encoded_size(10, spec) == 10 + 6 * 16 + 4
    assert wrapped.CRC32().compute_encoded_size(10, spec) == 14
    for codec in (GzipCodec(), ZstdCodec(), BloscCodec(), VLenUTF8Codec(), wrapped.LZ4(), wrapped.Shuffle()):
        with pytest.raises(NotImplementedError):
            codec.compute_encoded_size(10, spec)


def test_sharding_checks_the_grid() -> None:
    spec = chunk_spec()
    grid = RegularChunkGridMetadata(chunk_shape=(4, 6))
    ShardingCodec(chunk_shape=(2, 3)).validate(shape=(4, 6), dtype=spec.dtype, chunk_grid=grid)
    with pytest.raises(ValueError, match=r"edge length 4 in dimension 0 .* size 3"):
        ShardingCodec(chunk_shape=(3, 2)).validate(shape=(4, 6), dtype=spec.dtype, chunk_grid=grid)
    with pytest.raises(ValueError, match="same number of dimensions"):
        ShardingCodec(chunk_shape=(2,)).validate(shape=(4, 6), dtype=spec.dtype, chunk_grid=grid)
    with pytest.raises(TypeError, match="regular and rectilinear"):
        ShardingCodec(chunk_shape=(2, 2)).validate(shape=(4, 6), dtype=spec.dtype, chunk_grid=None)  # type: ignore[arg-type]


def test_numcodecs_learn_from_the_array() -> None:
    spec = chunk_spec("int64")
    assert wrapped.Shuffle().evolve_from_array_spec(spec).codec_config == {"id": "shuffle", "elementsize": 8}
    assert wrapped.Shuffle(elementsize=2).evolve_from_array_spec(spec).codec_config == {
        "id": "shuffle",
        "elementsize": 2,
    }
    scaled = wrapped.FixedScaleOffset(scale=1, offset=0).evolve_from_array_spec(spec)
    assert scaled.to_dict()["configuration"] == {"scale": 1, "offset": 0, "dtype": "int64"}
    assert wrapped.AsType(encode_dtype="i4").evolve_from_array_spec(spec).codec_config["decode_dtype"] == "int64"
    assert wrapped.PackBits().resolve_metadata(chunk_spec("bool")).shape == (4,)
    assert wrapped.AsType(encode_dtype="<i4").resolve_metadata(spec).dtype.to_native_dtype() == np.dtype("<i4")
    with pytest.raises(ValueError, match="bool"):
        wrapped.PackBits().validate(shape=(2,), dtype=spec.dtype, chunk_grid=None)  # type: ignore[arg-type]


def test_all_numcodecs_are_there() -> None:
    names = [name for name in wrapped.__all__ if not name.startswith("_")]
    assert len(names) == 21
    for name in names:
        cls = getattr(wrapped, name)
        assert cls.codec_name.startswith("numcodecs.")
        assert type(parse_codec({"name": cls.codec_name, "configuration": {}})) is cls


def test_members_of_enumerations_are_taken_with_a_notice() -> None:
    class Old(enum.Enum):
        big = "big"
        zstd = "zstd"

    with pytest.warns(DeprecationWarning, match="Passing an enum to BytesCodec"):
        assert BytesCodec(endian=Old.big).endian == "big"  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match="Passing an enum to BloscCodec"):
        assert BloscCodec(cname=Old.zstd, typesize=4).cname == "zstd"  # type: ignore[arg-type]
