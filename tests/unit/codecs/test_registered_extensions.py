"""Codecs of the registry of Zarr extensions: packbits, bitround, reshape, conditional, n5_default, zfp."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zarr
from zarr.buffer import cpu
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarr.codecs.extensions.bits import BitRoundCodec, PackBitsCodec
from zarr.codecs.extensions.conditional import ConditionalCodec
from zarr.codecs.extensions.n5 import N5DefaultCodec
from zarr.codecs.extensions.reshape import ReshapeCodec, reshaped
from zarr.codecs.extensions.zfp import ZfpCodec, demote, promote
from zarr.dtype import parse_dtype
from zarr.dtype.scalars import used_bits
from zarr.errors import UnknownCodecError


def made(values: np.ndarray[Any, Any], dtype: Any = None, **how: Any) -> zarr.Array:
    how.setdefault("compressors", None)
    array = zarr.create_array({}, shape=values.shape, dtype=values.dtype if dtype is None else dtype, **how)
    array[...] = values
    return array


def put(array: zarr.Array, key: str, raw: bytes) -> None:
    array.store_path.store.set_sync(key, cpu.Buffer.from_bytes(raw))  # type: ignore[attr-defined]


def stored(array: zarr.Array, key: str) -> bytes:
    found = array.store_path.store.get_sync(key)  # type: ignore[attr-defined]
    return bytes(found.to_bytes())


def codec_json(array: zarr.Array) -> list[Any]:
    return list(json.loads(stored(array, "zarr.json"))["codecs"])


# packbits


def test_booleans_take_a_bit_each() -> None:
    values = np.array([1, 0, 1, 1, 0, 0, 0, 0, 1, 1], dtype=bool)
    for padding, expected in [("none", b"\x0d\x03"), ("first_byte", b"\x06\x0d\x03"), ("last_byte", b"\x0d\x03\x06")]:
        array = made(values, chunks=(10,), serializer=PackBitsCodec(padding_encoding=padding))
        assert stored(array, "c/0") == expected
        assert (zarr.open_array(array.store)[...] == values).all()
    put(array, "c/0", b"\x0d\x03\x05")
    with pytest.raises(zarr.errors.ChunkDecodeError, match="padding"):
        array[...]
    put(array, "c/0", b"\x0d\x03")
    with pytest.raises(zarr.errors.ChunkDecodeError, match="2 bytes where 3"):
        array[...]


@pytest.mark.parametrize(
    "name",
    ["int2", "uint4", "float4_e2m1fn", "float6_e3m2fn", "complex_float6_e2m3fn", "bfloat16", "complex_bfloat16",
     "float8_e5m2", "complex_float4_e2m1fn"],
)  # fmt: skip
def test_narrow_elements_take_their_bits(name: str) -> None:
    pytest.importorskip("ml_dtypes")
    dtype = parse_dtype(name, zarr_format=3).to_native_dtype()
    raw = np.random.default_rng(3).integers(0, 256, 21 * dtype.itemsize, dtype=np.uint8)
    bits = used_bits(dtype)
    values = (raw & np.uint8(2**bits - 1)).view(dtype).reshape(3, 7)
    array = made(values, name, chunks=(2, 7), serializer=PackBitsCodec())
    assert array[...].tobytes() == values.tobytes()
    assert len(stored(array, "c/0/0")) == (14 * bits * dtype.itemsize + 7) // 8


@given(st.data())
def test_a_range_of_bits_is_kept(data: st.DataObject) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(["u1", "i1", "<u2", ">i2", "<i4", ">u4", "<i8", "u8"])))
    bits = 8 * dtype.itemsize
    first = data.draw(st.integers(0, bits - 1))
    last = data.draw(st.integers(first, bits - 1))
    low, high = (0, 2 ** (last + 1) - 1) if dtype.kind == "u" else (-(2**last), 2**last - 1)
    numbers = data.draw(st.lists(st.integers(low, high).map(lambda n: n >> first << first), min_size=5, max_size=5))
    values = np.array(numbers, dtype=dtype)
    array = made(values, chunks=(5,), serializer=PackBitsCodec(first_bit=first, last_bit=last))
    assert array[...].tolist() == values.tolist()


def test_packbits_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(ValueError, match="no numbers"):
        zarr.create_array({}, shape=(1,), dtype="S3", serializer=PackBitsCodec())
    with pytest.raises(ValueError, match="do not lie"):
        zarr.create_array({}, shape=(1,), dtype="u1", serializer=PackBitsCodec(last_bit=8))
    with pytest.raises(ValueError, match="keeps no bits"):
        PackBitsCodec(first_bit=3, last_bit=2)
    with pytest.raises(ValueError, match="padding_encoding"):
        PackBitsCodec(padding_encoding="start_byte")


# bitround


@pytest.mark.parametrize("dtype", ["f2", "<f4", ">f4", "f8", "c8", "c16"])
def test_floats_are_rounded_as_numcodecs_does(dtype: str) -> None:
    from numcodecs import BitRound

    values = np.random.default_rng(2).normal(size=30).astype(dtype)
    array = made(values, chunks=(30,), filters=BitRoundCodec(keepbits=5))
    width = values.dtype.itemsize // (2 if "c" in dtype else 1)
    parts = values.astype(values.dtype.newbyteorder("=")).view(f"f{width}")
    expected = np.frombuffer(BitRound(keepbits=5).encode(parts), dtype=parts.dtype)
    assert array[...].astype(values.dtype.newbyteorder("=")).tobytes() == expected.tobytes()


def test_integers_are_rounded_from_their_first_bit_on() -> None:
    values = np.array([0, 1, 5, 100, 255, 1000], dtype="u2")
    array = made(values, filters=BitRoundCodec(keepbits=2))
    assert array[...].tolist() == [0, 1, 4, 96, 256, 1024]


def test_bitround_refuses_what_has_no_bits_to_round() -> None:
    with pytest.raises(ValueError, match="keepbits"):
        BitRoundCodec(keepbits=0)
    with pytest.raises(ValueError, match="rounds"):
        zarr.create_array({}, shape=(1,), dtype="bool", filters=BitRoundCodec(keepbits=1))


# reshape


def test_shapes_follow_their_rules() -> None:
    assert reshaped((100, 50, 64, 3), ((0, 1), (2,), 3)) == (5000, 64, 3)
    assert reshaped((4, 6), (2, -1, 3)) == (2, 4, 3)
    assert reshaped((), (1,)) == (1,)
    for shape, target in [((4, 6), (5, -1)), ((4, 6), (5,)), ((4, 6), ((1,), 4)), ((4, 6), ((0,), (2,)))]:
        with pytest.raises(ValueError, match="reshape"):
            reshaped(shape, target)
    for wrong in [[-1, -1], [0], [[1], [0]], [[1, 0]], ["a"], [True], [1.5]]:
        with pytest.raises(ValueError, match="reshape"):
            ReshapeCodec(shape=wrong)


@pytest.mark.parametrize("target", [[[0, 1]], [-1], [2, -1], [[0], [1]], [6, 2, 2]])
def test_reshaped_chunks_come_back(target: Any) -> None:
    values = np.arange(7 * 9, dtype="i4").reshape(7, 9)
    array = made(values, chunks=(4, 6), filters=[ReshapeCodec(shape=target)])
    assert (zarr.open_array(array.store)[...] == values).all()
    assert (array[2:6, 1::3] == values[2:6, 1::3]).all()
    assert codec_json(array)[0] == {"name": "reshape", "configuration": {"shape": target}}


def test_a_transpose_and_a_reshape_may_follow_each_other() -> None:
    values = np.arange(24, dtype="i2").reshape(2, 3, 4)
    filters = [TransposeCodec(order=(2, 0, 1)), ReshapeCodec(shape=[[0, 1], [2]])]
    array = made(values, chunks=(2, 3, 4), filters=filters)
    assert np.frombuffer(stored(array, "c/0/0/0"), "<i2").tolist() == values.transpose(2, 0, 1).reshape(-1).tolist()
    assert (array[...] == values).all()


# conditional


def test_codecs_are_applied_where_they_pay() -> None:
    codec = ConditionalCodec(codecs=[ZstdCodec(), Crc32cCodec()])
    noise = np.random.default_rng(1).integers(0, 256, 512, dtype=np.uint8)
    values = np.concatenate([np.zeros(512, dtype=np.uint8) + 7, noise])
    array = made(values, chunks=(512,), compressors=codec)
    assert stored(array, "c/0")[0] == 0b11
    assert stored(array, "c/1")[0] == 0b10
    assert len(stored(array, "c/1")) == 512 + 1 + 4
    assert (zarr.open_array(array.store)[...] == values).all()
    damaged = bytearray(stored(array, "c/1"))
    damaged[20] ^= 1
    put(array, "c/1", bytes(damaged))
    with pytest.raises(ValueError, match="crc32c"):
        array[...]
    put(array, "c/1", b"\x04" + bytes(512))
    with pytest.raises(zarr.errors.ChunkDecodeError, match="beyond"):
        array[...]
    put(array, "c/1", b"")
    with pytest.raises(zarr.errors.ChunkDecodeError, match="header"):
        array[...]
    put(array, "c/1", b"\x00" + noise.tobytes())
    assert (array[...] == values).all()


def test_conditional_holds_bytes_codecs_only() -> None:
    with pytest.raises(TypeError, match="bytes-to-bytes"):
        ConditionalCodec(codecs=[BytesCodec()])
    with pytest.raises(ValueError, match="header_bits"):
        ConditionalCodec(codecs=[ZstdCodec()], header_bits=12)
    assert ConditionalCodec(codecs=[GzipCodec()] * 9).header_bits == 16


# n5_default


def n5_codec(ndim: int, *more: Any) -> N5DefaultCodec:
    order = tuple(reversed(range(ndim)))
    return N5DefaultCodec(codecs=[TransposeCodec(order=order), BytesCodec(endian="big"), *more])


def test_blocks_are_those_of_n5() -> None:
    values = np.arange(6, dtype="u2").reshape(2, 3)
    array = made(values, chunks=(2, 3), serializer=n5_codec(2))
    expected = b"\0\0\0\2\0\0\0\2\0\0\0\3" + values.T.astype(">u2").tobytes()
    assert stored(array, "c/0/0") == expected
    assert (array[...] == values).all()


def test_cut_and_padded_blocks_are_read_alike() -> None:
    values = np.arange(35, dtype="i4").reshape(5, 7)
    array = made(values, chunks=(4, 4), serializer=n5_codec(2, GzipCodec()))
    import gzip

    corner = values[4:, 4:]
    raw = gzip.compress(corner.T.astype(">i4").tobytes())
    put(array, "c/1/1", b"\0\0\0\2\0\0\0\1\0\0\0\3" + raw)
    assert (array[...] == values).all()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\0", "no header"),
        (b"\0\1\0\2\0\0\0\2\0\0\0\3" + bytes(12), "mode 1"),
        (b"\0\0\0\3\0\0\0\2\0\0\0\3" + bytes(12), "3 dimensions"),
        (b"\0\0\0\2\xff\xff\xff\xff\xff\xff\xff\xff" + bytes(12), "too large"),
        (b"\0\0\0\2\0\0\0\2\0\0\0\4" + bytes(12), "12 bytes where 16"),
    ],
)
def test_damaged_blocks_are_refused(raw: bytes, message: str) -> None:
    array = made(np.arange(6, dtype="u2").reshape(2, 3), chunks=(2, 3), serializer=n5_codec(2))
    put(array, "c/0/0", raw)
    with pytest.raises(zarr.errors.ChunkDecodeError, match=message):
        array[...]


def test_n5_default_refuses_other_codecs() -> None:
    for codecs in [[BytesCodec(endian="big")], [TransposeCodec(order=(0,)), BytesCodec(), ZstdCodec(), ZstdCodec()]]:
        with pytest.raises(ValueError, match="n5_default"):
            N5DefaultCodec(codecs=codecs)
    wrong_order = N5DefaultCodec(codecs=[TransposeCodec(order=(0, 1)), BytesCodec(endian="big")])
    little = N5DefaultCodec(codecs=[TransposeCodec(order=(1, 0)), BytesCodec(endian="little")])
    for codec, dtype in [(wrong_order, "i4"), (little, "i4"), (n5_codec(2), "c8")]:
        with pytest.raises(ValueError, match="n5_default"):
            zarr.create_array({}, shape=(2, 2), dtype=dtype, serializer=codec)


# zfp


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", ">i4", "i8", "f2", "<f4", ">f8", "M8[s]"])
@pytest.mark.parametrize("shape", [(), (5,), (5, 7), (3, 4, 5), (2, 3, 4, 5)])
def test_reversible_zfp_keeps_every_bit(dtype: str, shape: tuple[int, ...]) -> None:
    pytest.importorskip("zfpy")
    values = np.random.default_rng(4).integers(0, 100, shape).astype(dtype)
    array = made(values, chunks=shape, serializer=ZfpCodec(mode="reversible"))
    assert array[...].tolist() == values.tolist()


def test_lossy_zfp_stays_within_its_tolerance() -> None:
    pytest.importorskip("zfpy")
    values = np.random.default_rng(4).normal(size=(30, 20))
    array = made(values, chunks=(16, 16), serializer=ZfpCodec(mode="fixed_accuracy", tolerance=0.05))
    assert 0 < np.abs(array[...] - values).max() <= 0.05
    rate = made(values, chunks=(16, 16), serializer=ZfpCodec(mode="fixed_rate", rate=16))
    assert len(stored(rate, "c/0/0")) == 16 * 16 * 2
    made(values, chunks=(16, 16), serializer=ZfpCodec(mode="fixed_precision", precision=20))[...]


def test_damaged_zfp_streams_do_no_harm() -> None:
    pytest.importorskip("zfpy")
    values = np.random.default_rng(4).normal(size=(8, 8))
    array = made(values, chunks=(8, 8), serializer=ZfpCodec())
    whole = stored(array, "c/0/0")
    for raw in (whole[:5], whole[:100], bytes(300), b"\xff" * 300):
        put(array, "c/0/0", raw)
        assert array[...].shape == (8, 8)  # a stream without a checksum: other numbers, but no crash
    for raw in (b"", bytes(10**6)):
        put(array, "c/0/0", raw)
        with pytest.raises(zarr.errors.ChunkDecodeError, match="no stream"):
            array[...]


@given(st.sampled_from(["i1", "u1", "i2", "u2"]), st.data())
def test_narrow_integers_survive_promotion(dtype: str, data: st.DataObject) -> None:
    info = np.iinfo(dtype)
    values = np.array(data.draw(st.lists(st.integers(int(info.min), int(info.max)), max_size=9)), dtype=dtype)
    assert demote(promote(values), np.dtype(dtype)).tolist() == values.tolist()


def test_zfp_expert_mode_is_kept_in_metadata_and_refused_for_chunks() -> None:
    numbers = {"mode": "expert", "minbits": 1, "maxbits": 4096, "maxprec": 64, "minexp": -1074}
    codec = ZfpCodec.from_dict({"name": "zfp", "configuration": numbers})
    assert codec.to_dict() == {"name": "zfp", "configuration": numbers}
    array = zarr.create_array({}, shape=(4,), dtype="f8", serializer=codec)
    assert array.shape == (4,)
    with pytest.raises(UnknownCodecError, match=r"mode 'expert' .*not supported.*'reversible', 'fixed_accuracy'"):
        array[:] = 1


def test_zfp_refuses_unknown_parameters() -> None:
    for wrong in [{"mode": "fast"}, {"mode": "fixed_rate"}, {"tolerance": 1}, {"mode": "fixed_rate", "rate": -1}]:
        with pytest.raises(ValueError, match="zfp"):
            ZfpCodec(**wrong)
    with pytest.raises(ValueError, match="'expert' with"):
        ZfpCodec.from_dict({"name": "zfp", "configuration": {"mode": "expert", "minbits": 1}})
    with pytest.raises(ValueError, match="zfp"):
        zarr.create_array({}, shape=(1,), dtype="u8", serializer=ZfpCodec())


# codecs of inner chunks


@pytest.mark.parametrize("inner", [(4, 7), (12, 40), (3, 20, 1)])
def test_shards_in_shards_must_divide_them(inner: tuple[int, ...]) -> None:
    store: dict[str, Any] = {}
    nested = ShardingCodec(chunk_shape=(6, 20), codecs=(ShardingCodec(chunk_shape=inner),))
    with pytest.raises(ValueError, match=r"not divisible|same number of dimensions"):
        zarr.create_array(store, shape=(6, 20), dtype="i4", chunks=(6, 20), serializer=nested)
    assert not store


def test_codecs_of_inner_chunks_are_checked_at_creation() -> None:
    nested = ShardingCodec(chunk_shape=(3, 4), codecs=(TransposeCodec(order=(1, 0)), ShardingCodec(chunk_shape=(4, 3))))
    assert zarr.create_array({}, shape=(6, 8), chunks=(6, 8), dtype="i4", serializer=nested)[...].sum() == 0
    with pytest.raises(ValueError, match="bitround"):
        inner = ShardingCodec(chunk_shape=(3, 4), codecs=(BitRoundCodec(keepbits=3), BytesCodec()))
        zarr.create_array({}, shape=(6, 8), chunks=(6, 8), dtype="bool", serializer=inner)
