"""Types that numpy has not: names, scalars, bytes, and arrays of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import BytesCodec, ShardingCodec, ZstdCodec
from zarr.dtype import SmallComplex, SmallFloat, SmallInt, get_data_type_from_json, parse_dtype
from zarr.dtype.scalars import used_bits

ml_dtypes = pytest.importorskip("ml_dtypes")

FLOATS = SmallFloat._members
INTEGERS = SmallInt._members
COMPLEX = SmallComplex._members
NAMES = (*INTEGERS, *FLOATS, *COMPLEX)


def all_bytes(name: str, count: int) -> np.ndarray[Any, Any]:
    """Elements of a type from random bytes that are as a writer leaves them: no bit set that does not count."""
    dtype = parse_dtype(name, zarr_format=3).to_native_dtype()
    raw = np.random.default_rng(5).integers(0, 256, count * dtype.itemsize, dtype=np.uint8)
    bits = used_bits(dtype)
    raw &= np.uint8(2**bits - 1)
    return raw.view(dtype)


def test_every_member_is_read_and_written_by_its_name() -> None:
    for name in NAMES:
        dtype = get_data_type_from_json(name, zarr_format=3)
        assert dtype.to_json(3) == name
        assert get_data_type_from_json({"name": name}, zarr_format=3) == dtype
        assert dtype == parse_dtype(name, zarr_format=3)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "complex_bfloat16", "complex_float16"])
def test_a_numpy_dtype_is_recognised(name: str) -> None:
    native = parse_dtype(name, zarr_format=3).to_native_dtype()
    assert parse_dtype(native, zarr_format=3).to_json(3) == name


@pytest.mark.filterwarnings("ignore:The data type")
@pytest.mark.parametrize("name", NAMES)
def test_values_survive_a_round_trip_in_every_layout(name: str) -> None:
    values = all_bytes(name, 6 * 10).reshape(6, 10)
    layouts: list[dict[str, Any]] = [
        {"chunks": (4, 3)},
        {"chunks": (4, 3), "serializer": BytesCodec(endian="big")},
        {"chunks": (4, 4), "shards": (8, 8)},
        {"chunks": (4, 3), "compressors": None},
        {"chunks": (6, 10), "serializer": ShardingCodec(chunk_shape=(3, 5), codecs=[BytesCodec(), ZstdCodec()])},
    ]
    for layout in layouts:
        array = zarr.create_array({}, shape=values.shape, dtype=name, **layout)
        array[...] = values
        assert array.dtype == values.dtype
        assert array[...].tobytes() == values.tobytes()
        assert array[1:5:2, 3:].tobytes() == values[1:5:2, 3:].tobytes()
        assert zarr.open_array(array.store)[2, 3].tobytes() == values[2, 3].tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_fill_values_go_to_json_and_back(name: str) -> None:
    dtype = parse_dtype(name, zarr_format=3)
    for scalar in all_bytes(name, 40):
        written = json.loads(json.dumps(dtype.to_json_scalar(scalar, zarr_format=3)))
        again = dtype.from_json_scalar(written, zarr_format=3)
        if "NaN" not in str(written):
            assert np.asarray(again).tobytes() == np.asarray(scalar).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_absent_chunks_hold_the_fill_value(name: str) -> None:
    one = parse_dtype(name, zarr_format=3).cast_scalar(1 + 1j if name[0] == "c" else 1)
    array = zarr.create_array({}, shape=(4,), chunks=(2,), dtype=name, fill_value=one)
    assert array[...].tobytes() == 4 * np.asarray(one).tobytes()
    array[1:3] = array[...][:2]
    assert array.nchunks_initialized == 0  # filled chunks are not stored


def test_bits_that_do_not_count_are_ignored() -> None:
    array = zarr.create_array({}, shape=(4,), chunks=(4,), dtype="int4", compressors=None)
    array.store_path.store.set_sync("c/0", zarr.buffer.cpu.Buffer.from_bytes(b"\x17\xf8\x0f\x70"))
    assert array[...].astype("i1").tolist() == [7, -8, -1, 0]


def test_what_a_type_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no representation of inf"):
        zarr.create_array({}, shape=(1,), dtype="float8_e4m3fnuz", fill_value="Infinity")
    with pytest.raises(ValueError, match="no representation of nan"):
        SmallFloat(name="float4_e2m1fn").from_json_scalar("NaN", zarr_format=3)
    with pytest.raises(OverflowError, match="-8 to 7"):
        SmallInt(name="int4").cast_scalar(8)
    with pytest.raises(TypeError):
        SmallInt(name="uint2").from_json_scalar(1.5, zarr_format=3)
    with pytest.raises(ValueError, match="one of"):
        SmallFloat(name="float5")


def test_complex_floats_have_a_second_name() -> None:
    assert get_data_type_from_json("complex_float32", zarr_format=3).to_json(3) == "complex64"
    assert get_data_type_from_json("complex_float64", zarr_format=3).to_json(3) == "complex128"


def test_the_bits_of_nan_are_those_of_the_registry() -> None:
    nans = {"bfloat16": "c07f", "float8_e4m3fnuz": "80", "float8_e5m2fnuz": "80", "float8_e8m0fnu": "ff"}
    for name, bits in nans.items():
        assert SmallFloat(name=name).from_json_scalar("NaN", zarr_format=3).tobytes().hex() == bits
