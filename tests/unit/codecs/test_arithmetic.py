"""``scale_offset`` and ``cast_value`` against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.codecs.specs import chunk_spec, nd_buffer, random_array, same
from zarr.codecs import BytesCodec, CastValue, ScaleOffset
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.cast_value import cast_values
from zarr.codecs.scale_offset import decode_values, encode_values

INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64"]
ROUNDINGS = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"]


def round_exactly(value: Fraction, rounding: str) -> int:
    """The integer that a value rounds to."""
    low = math.floor(value)
    rest = value - low
    if rest == 0:
        return low
    if rounding == "towards-negative":
        return low
    if rounding == "towards-positive":
        return low + 1
    if rounding == "towards-zero":
        return low if value > 0 else low + 1
    if rest != Fraction(1, 2):
        return low if rest < Fraction(1, 2) else low + 1
    if rounding == "nearest-even":
        return low if low % 2 == 0 else low + 1
    return low + 1 if value > 0 else low


def to_float_exactly(value: Fraction, target: np.dtype[Any], rounding: str) -> float:
    """The floating-point number that a value rounds to, infinite beyond the range."""
    info = np.finfo(target)
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value))) if abs(value) > Fraction(1, 10**300) else -1022
    while Fraction(2) ** exponent > abs(value):
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= abs(value):
        exponent += 1
    exponent = max(exponent, int(info.minexp))
    unit = Fraction(2) ** (exponent - int(info.nmant))
    rounded = round_exactly(value / unit, rounding) * unit
    return (math.inf if rounded > 0 else -math.inf) if abs(rounded) > Fraction(float(info.max)) else float(rounded)


def numbers(name: str) -> st.SearchStrategy[Any]:
    dtype = np.dtype(name)
    if dtype.kind == "f":
        bits = dtype.itemsize * 8
        near = st.integers(-70000, 70000).map(lambda n: n / 4)
        values = st.floats(width=bits, allow_nan=False, allow_infinity=False) | near  # type: ignore[arg-type]
        edges = st.sampled_from([2.0**31, 2.0**63, 2.0**64, -(2.0**63), 65519.9, 65520.0, 3.4028235677973366e38, 1e39])
        return (values | edges).map(lambda x: float(np.asarray(x).astype(dtype))).filter(math.isfinite)
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    powers = st.integers(0, dtype.itemsize * 8 - 1).flatmap(
        lambda bit: st.integers(-3, 3).map(lambda d: max(low, min(high, (1 << bit) + d)))
    )
    return st.integers(low, high) | powers


@pytest.mark.filterwarnings("ignore:overflow")
@settings(max_examples=1500, deadline=None)
@given(
    source=st.sampled_from(INTS + FLOATS), target=st.sampled_from(INTS + FLOATS), rounding=st.sampled_from(ROUNDINGS),
    mode=st.sampled_from([None, "clamp", "wrap"]), data=st.data(),
)  # fmt: skip
def test_casts_are_exact(source: str, target: str, rounding: Any, mode: Any, data: st.DataObject) -> None:
    value = data.draw(numbers(source))
    array = np.array([value], dtype=source)
    exact = Fraction(float(array[0])) if np.dtype(source).kind == "f" else Fraction(int(array[0]))
    dtype = np.dtype(target)
    expected: Any
    if dtype.kind == "f":
        expected = to_float_exactly(exact, dtype, rounding)
        outside = math.isinf(expected)
        if mode == "wrap":
            mode = None
    else:
        whole, info = round_exactly(exact, rounding), np.iinfo(dtype)
        expected = whole
        outside = not int(info.min) <= whole <= int(info.max)
        if mode == "clamp":
            expected = min(max(whole, int(info.min)), int(info.max))
        elif mode == "wrap":
            expected = (whole - int(info.min)) % (1 << dtype.itemsize * 8) + int(info.min)
    if outside and mode is None:
        with pytest.raises(ValueError, match="out of range"):
            cast_values(array, dtype, rounding, mode)
        return
    result = cast_values(array, dtype, rounding, mode)
    assert result.dtype == dtype
    assert (float(result[0]) if dtype.kind == "f" else int(result[0])) == expected


def test_casts_keep_infinities_nans_and_signs() -> None:
    special = np.array([np.nan, np.inf, -np.inf, -0.0])
    for rounding in ROUNDINGS:
        result = cast_values(special, np.dtype("f4"), rounding)  # type: ignore[arg-type]
        assert np.isnan(result[0])
        assert result[1:3].tolist() == [np.inf, -np.inf]
        assert math.copysign(1, result[3]) == -1
    for value in (np.nan, np.inf):
        for mode in (None, "clamp", "wrap"):
            with pytest.raises(ValueError, match="scalar_map"):
                cast_values(np.array([value]), np.dtype("i1"), out_of_range=mode)  # type: ignore[arg-type]


def test_scalar_map_goes_before_the_cast() -> None:
    array = np.array([np.nan, np.inf, 1.5, 300.0])
    mapping = {math.nan: 7, math.inf: 8, 300.0: 9}
    assert cast_values(array, np.dtype("u1"), scalar_map=mapping).tolist() == [7, 8, 2, 9]
    assert np.isnan(cast_values(np.array([1, 2]), np.dtype("f4"), scalar_map={2: np.nan})[1])


def test_cast_value_codec() -> None:
    codec = CastValue(
        data_type="uint8", rounding="towards-zero", out_of_range="clamp",
        scalar_map={"encode": [("NaN", 255), ("+Infinity", 254)], "decode": [(255, "NaN")]},
    )  # fmt: skip
    for name in ("float64", ">f8"):
        spec = chunk_spec(name, (2, 2), fill=np.nan)
        codec.validate(shape=(2, 2), dtype=spec.dtype, chunk_grid=None)  # type: ignore[arg-type]
        assert codec.resolve_metadata(spec).fill_value == 255
        chain = CodecChain.build([codec, BytesCodec()], spec)
        array = np.array([[1.7, np.nan], [400, np.inf]], dtype=name)
        stored = chain.encode(array)
        assert list(stored.to_bytes()) == [1, 255, 255, 254]
        decoded = chain.decode(stored)
        assert decoded.dtype == np.dtype(name)
        np.testing.assert_array_equal(decoded, [[1, np.nan], [np.nan, 254]])
        assert chain.encoded_size() == 4
    assert codec.compute_encoded_size(80, spec) == 10
    for bad in ({"encode": [("NaN", 300)]}, {"decode": [(255.5, 0)]}):
        with pytest.raises(ValueError, match="not representable"):
            CastValue(data_type="uint8", scalar_map=bad).validate(  # type: ignore[arg-type]
                shape=(2,),
                dtype=spec.dtype,
                chunk_grid=None,  # type: ignore[arg-type]
            )
    with pytest.raises(ValueError, match="only valid for integer"):
        CastValue(data_type="float32", out_of_range="wrap").validate(
            shape=(2,),
            dtype=spec.dtype,
            chunk_grid=None,  # type: ignore[arg-type]
        )
    with pytest.raises(ValueError, match="source dtype bool"):
        CastValue(data_type="float32").validate(
            shape=(2,),
            dtype=chunk_spec("bool").dtype,
            chunk_grid=None,  # type: ignore[arg-type]
        )


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(INTS), data=st.data())
def test_scale_offset_of_integers_is_exact(name: str, data: st.DataObject) -> None:
    dtype = np.dtype(name)
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    some = st.integers(low, high) | st.integers(max(low, -9), 9)
    value, offset, scale = data.draw(some), data.draw(some), data.draw(some.filter(lambda n: n != 0))
    expected = (value - offset) * scale
    array = np.array([value], dtype=dtype)
    if low <= expected <= high:
        encoded = encode_values(array, dtype.type(offset), dtype.type(scale))
        assert encoded.dtype == dtype
        assert int(encoded[0]) == expected
        assert same(decode_values(encoded, dtype.type(offset), dtype.type(scale)), array)
    else:
        with pytest.raises(ValueError, match="outside the range"):
            encode_values(array, dtype.type(offset), dtype.type(scale))
    if value % scale == 0 and low <= value // scale + offset <= high:
        decoded = decode_values(array, dtype.type(offset), dtype.type(scale))
        assert int(decoded[0]) == value // scale + offset
    else:
        with pytest.raises(ValueError, match=r"remainder|outside the range"):
            decode_values(array, dtype.type(offset), dtype.type(scale))


@pytest.mark.parametrize("name", ["float32", ">f8", "float16"])
def test_scale_offset_of_floats_stays_in_the_type(name: str) -> None:
    spec = chunk_spec(name, (4, 6), fill=2)
    codec = ScaleOffset(offset=0.5, scale=4)
    array = random_array(name, (4, 6), 1)
    chain = CodecChain.build([codec, BytesCodec()], spec)
    stored = np.frombuffer(chain.encode(array).to_bytes(), dtype=np.dtype(name).newbyteorder("<")).reshape(4, 6)
    native = array.astype(array.dtype.newbyteorder("="))
    np.testing.assert_array_equal(stored, (native - native.dtype.type(0.5)) * native.dtype.type(4))
    assert chain.decode(chain.encode(array)).dtype == np.dtype(name)
    assert codec.resolve_metadata(spec).fill_value == 6


@pytest.mark.parametrize(
    ("codec", "name", "match"),
    [
        (ScaleOffset(offset=1.5), "int64", "offset value 1.5 is not representable in dtype int64"),
        (ScaleOffset(scale=0), "int64", "non-zero"),
        (ScaleOffset(scale="a"), "int64", "scale value 'a'"),
        (ScaleOffset(scale=300), "uint8", "scale value 300"),
        (ScaleOffset(scale=3), "bool", "only supports integer"),
        (ScaleOffset(scale="NaN"), "int64", "'NaN'"),
        (ScaleOffset(scale=2), "complex64", "only supports integer"),
    ],
)
def test_scale_offset_refusals(codec: ScaleOffset, name: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        codec.validate(shape=(1,), dtype=chunk_spec(name, fill=None).dtype, chunk_grid=None)  # type: ignore[arg-type]


def test_scale_offset_takes_the_forms_of_fill_values() -> None:
    spec = chunk_spec("float32", (1,))
    ScaleOffset(scale="NaN").validate(shape=(1,), dtype=spec.dtype, chunk_grid=None)  # type: ignore[arg-type]
    codec = ScaleOffset(scale="0x3f800000", offset=1)
    assert codec._encode_sync(nd_buffer(np.array([3], dtype="f4")), spec).as_numpy_array().tolist() == [2]
    with pytest.raises(ValueError, match="outside the range"):
        ScaleOffset(scale=2, offset=6).resolve_metadata(chunk_spec("uint8", fill=5))
