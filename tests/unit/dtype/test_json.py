"""The JSON forms of every data type, in both formats, and what is read besides what is written."""

from __future__ import annotations

import json
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from zarr.dtype import (
    Bool,
    Complex64,
    Complex128,
    DateTime64,
    FixedLengthUTF32,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    NullTerminatedBytes,
    PythonObject,
    RawBits,
    RawBytes,
    Struct,
    Structured,
    SubArray,
    TimeDelta64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    VariableLengthBytes,
    VariableLengthUTF8,
    ZDType,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
    get_data_type_from_json,
)
from zarr.errors import DataTypeValidationError, UnstableSpecificationWarning

PAIR = (("a", Int8()), ("b", Float32()))
FORMS: list[tuple[ZDType[Any, Any], Any, Any]] = [
    (Bool(), "|b1", "bool"),
    (Int8(), "|i1", "int8"),
    (Int16(), "<i2", "int16"),
    (Int32(), "<i4", "int32"),
    (Int64(), "<i8", "int64"),
    (UInt8(), "|u1", "uint8"),
    (UInt16(), "<u2", "uint16"),
    (UInt32(), "<u4", "uint32"),
    (UInt64(), "<u8", "uint64"),
    (Float16(), "<f2", "float16"),
    (Float32(), "<f4", "float32"),
    (Float64(), "<f8", "float64"),
    (Complex64(), "<c8", "complex64"),
    (Complex128(), "<c16", "complex128"),
    (FixedLengthUTF32(length=3), "<U3", {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}),
    (NullTerminatedBytes(length=3), "|S3", {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}),
    (RawBytes(length=3), "|V3", {"name": "raw_bytes", "configuration": {"length_bytes": 3}}),
    (
        DateTime64(unit="s"),
        "<M8[s]",
        {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}},
    ),
    (
        TimeDelta64(unit="us", scale_factor=25),
        "<m8[25us]",
        {"name": "numpy.timedelta64", "configuration": {"unit": "us", "scale_factor": 25}},
    ),
    (DateTime64(), "<M8", {"name": "numpy.datetime64", "configuration": {"unit": "generic", "scale_factor": 1}}),
    (
        Struct(fields=PAIR),
        [["a", "|i1"], ["b", "<f4"]],
        {
            "name": "struct",
            "configuration": {"fields": [{"name": "a", "data_type": "int8"}, {"name": "b", "data_type": "float32"}]},
        },
    ),
    (
        Struct(fields=(("r", Struct(fields=PAIR)), ("c", Complex64()))),
        [["r", [["a", "|i1"], ["b", "<f4"]]], ["c", "<c8"]],
        {
            "name": "struct",
            "configuration": {
                "fields": [
                    {
                        "name": "r",
                        "data_type": {
                            "name": "struct",
                            "configuration": {
                                "fields": [
                                    {"name": "a", "data_type": "int8"},
                                    {"name": "b", "data_type": "float32"},
                                ]
                            },
                        },
                    },
                    {"name": "c", "data_type": "complex64"},
                ]
            },
        },
    ),
]
IDS = [repr(form[0]) for form in FORMS]


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize(("dtype", "v2", "v3"), FORMS, ids=IDS)
def test_forms(dtype: ZDType[Any, Any], v2: Any, v3: Any) -> None:
    assert dtype.to_json(2) == {"name": v2, "object_codec_id": None}
    assert dtype.to_json(3) == v3
    assert get_data_type_from_json(json.loads(json.dumps(dtype.to_json(2))), zarr_format=2) == dtype
    assert get_data_type_from_json(json.loads(json.dumps(v3)), zarr_format=3) == dtype
    assert type(dtype).from_json(v3, zarr_format=3) == dtype
    with pytest.raises(ValueError, match="zarr_format must be 2 or 3, got 4"):
        dtype.to_json(4)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="zarr_format must be 2 or 3, got 4"):
        type(dtype).from_json(v3, zarr_format=4)  # type: ignore[arg-type]


@pytest.mark.parametrize(("dtype", "v2", "v3"), FORMS, ids=IDS)
def test_data_types_are_values(dtype: ZDType[Any, Any], v2: Any, v3: Any) -> None:
    again = pickle.loads(pickle.dumps(dtype))
    assert again == dtype
    assert hash(again) == hash(dtype)
    others = [other for other, _, _ in FORMS if other is not dtype]
    assert dtype not in others


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (Int32(endianness="big"), ">i4"),
        (Float64(endianness="big"), ">f8"),
        (Complex64(endianness="big"), ">c8"),
        (FixedLengthUTF32(length=2, endianness="big"), ">U2"),
        (DateTime64(unit="D", endianness="big"), ">M8[D]"),
    ],
)
def test_byte_order_is_part_of_the_name_in_format_2_only(dtype: ZDType[Any, Any], name: str) -> None:
    assert dtype.to_json(2) == {"name": name, "object_codec_id": None}
    assert get_data_type_from_json({"name": name, "object_codec_id": None}, zarr_format=2) == dtype
    assert get_data_type_from_json(dtype.to_json(3), zarr_format=3).endianness == "little"  # type: ignore[attr-defined, arg-type]


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ({"name": "int32"}, Int32()),
        ({"name": "int32", "configuration": {}}, Int32()),
        ({"name": "int32", "must_understand": True}, Int32()),
        ("string", VariableLengthUTF8()),
        ({"name": "string"}, VariableLengthUTF8()),
        ("bytes", VariableLengthBytes()),
        ({"name": "bytes"}, VariableLengthBytes()),
        ("binary", VariableLengthBytes()),
        ("variable_length_bytes", VariableLengthBytes()),
        ("r8", RawBits(length=1)),
        ("r16", RawBits(length=2)),
        ({"name": "r128"}, RawBits(length=16)),
        ({"name": "structured", "configuration": {"fields": [["a", "int8"], ["b", "float32"]]}}, Struct(fields=PAIR)),
        ({"name": "struct", "configuration": {"fields": [["a", {"name": "int8"}]]}}, Struct(fields=(("a", Int8()),))),
        (
            {"name": "numpy.datetime64", "configuration": {"unit": "μs", "scale_factor": 10}},
            DateTime64(unit="us", scale_factor=10),
        ),
    ],
)
def test_other_spellings_of_format_3(data: Any, dtype: ZDType[Any, Any]) -> None:
    assert get_data_type_from_json(data, zarr_format=3) == dtype


@pytest.mark.parametrize(
    "data",
    [
        "|i1",
        "<i4",
        5,
        None,
        {},
        [],
        "r0",
        "r12",
        "r",
        "nope",
        {"name": "nope", "configuration": {}},
        {"name": "int32", "configuration": {"endian": "big"}},
        {"name": 5},
        {"name": "struct", "configuration": {"fields": []}},
        {"name": "struct", "configuration": {}},
        {"name": "struct"},
        {"name": "struct", "configuration": {"fields": [{"name": "a"}]}},
        {"name": "struct", "configuration": {"fields": [["a", "nope"]]}},
        {"name": "struct", "configuration": {"fields": [["a", "int8"], ["a", "int8"]]}},
        {"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}},
        {"name": "fixed_length_utf32", "configuration": {"length_bytes": 0}},
        {"name": "fixed_length_utf32", "configuration": {"length_bytes": "4"}},
        {"name": "fixed_length_utf32"},
        {"name": "raw_bytes", "configuration": {"length_bytes": 0}},
        {"name": "numpy.datetime64", "configuration": {"unit": "xx", "scale_factor": 1}},
        {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}},
        {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 2**31}},
        {"name": "numpy.timedelta64", "configuration": {"unit": "s"}},
    ],
)
def test_what_is_no_data_type_of_format_3(data: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        get_data_type_from_json(data, zarr_format=3)


def v2(name: Any, object_codec_id: str | None = None) -> Any:
    return {"name": name, "object_codec_id": object_codec_id}


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (v2("<i1"), Int8()),
        (v2(">u1"), UInt8()),
        (v2("<b1"), Bool()),
        (v2("<S4"), NullTerminatedBytes(length=4)),
        (v2("<M8[generic]"), DateTime64()),
        (v2("|O", "vlen-utf8"), VariableLengthUTF8()),
        (v2("|O", "vlen-bytes"), VariableLengthBytes()),
        (v2("|O", "json2"), PythonObject(object_codec_id="json2")),
        (v2("|O", "pickle"), PythonObject(object_codec_id="pickle")),
        (v2("|O", "categorize"), PythonObject(object_codec_id="categorize")),
        (
            v2([["z", "<f4", [2, 2]], ["y", "|u1", 3]]),
            Struct(
                fields=(
                    ("z", SubArray(base=Float32(), shape=(2, 2))),
                    ("y", SubArray(base=UInt8(), shape=(3,))),
                )
            ),
        ),
    ],
)
def test_other_spellings_of_format_2(data: Any, dtype: ZDType[Any, Any]) -> None:
    assert get_data_type_from_json(data, zarr_format=2) == dtype


@pytest.mark.parametrize(
    "data",
    [
        "<i4",
        v2("i4"),
        v2("=i4"),
        v2("|i4"),
        v2("int32"),
        v2("|U3"),
        v2("|S0"),
        v2("<f16"),
        v2("<M8[xx]"),
        v2("|O"),
        v2("|O", "nope"),
        v2("<i4", "vlen-utf8"),
        v2([]),
        v2([["a", "|O"]]),
        v2([["a", "<f4", [0]]]),
        v2([["a"]]),
    ],
)
def test_what_is_no_data_type_of_format_2(data: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        get_data_type_from_json(data, zarr_format=2)


def test_the_error_in_a_record_names_the_field() -> None:
    with pytest.raises(DataTypeValidationError, match=r"in the field 'inner'.*'nope'"):
        get_data_type_from_json({"name": "struct", "configuration": {"fields": [["inner", "nope"]]}}, zarr_format=3)


@pytest.mark.parametrize("codec", ["vlen-utf8", "vlen-bytes", "json2"])
def test_objects_round_trip_in_format_2(codec: str) -> None:
    dtype = get_data_type_from_json(v2("|O", codec), zarr_format=2)
    assert dtype.to_json(2) == v2("|O", codec)


def test_objects_and_subarrays_have_no_form_in_format_3() -> None:
    with pytest.raises(ValueError, match="Format 3 has no data type for arbitrary Python objects"):
        PythonObject(object_codec_id="json2").to_json(3)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        Struct(fields=(("z", SubArray(base=Float32(), shape=(2, 2))),)).to_json(3)


def test_raw_bits_are_written_as_they_are_specified() -> None:
    assert RawBits(length=3).to_json(3) == "r24"
    assert RawBits(length=3).to_json(2) == v2("|V3")
    assert RawBits(length=3).to_native_dtype() == np.dtype("V3")


def test_variable_length_names() -> None:
    assert VariableLengthUTF8().to_json(3) == "string"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert VariableLengthBytes().to_json(3) == "variable_length_bytes"


def test_legacy_records_are_written_as_they_were() -> None:
    with pytest.warns(UnstableSpecificationWarning, match="Structured"):
        form = Structured(fields=PAIR).to_json(3)
    assert form == {"name": "structured", "configuration": {"fields": [["a", "int8"], ["b", "float32"]]}}


def test_unstable_types_warn() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            RawBytes(length=2).to_json(3)
            NullTerminatedBytes(length=2).to_json(3)
            VariableLengthBytes().to_json(3)
            RawBits(length=2).to_json(3)
            FixedLengthUTF32(length=2).to_json(3)
            Struct(fields=PAIR).to_json(3)
            DateTime64(unit="s").to_json(3)
    assert [warning.category for warning in caught] == [UnstableSpecificationWarning] * 9


def test_unstable_types_are_shown_once_by_default() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            RawBytes(length=2).to_json(3)
            NullTerminatedBytes(length=2).to_json(3)
    assert len(caught) == 2


def test_checks_of_format_2_forms() -> None:
    assert check_dtype_spec_v2(v2("<i4"))
    assert check_dtype_spec_v2(v2([["a", "<i4"]]))
    assert check_dtype_spec_v2(v2("|O", "vlen-utf8"))
    assert not check_dtype_spec_v2("x")
    assert not check_dtype_spec_v2({"name": "<i4"})
    assert check_dtype_spec_no_object_codec_v2(v2("<i4"))
    assert not check_dtype_spec_no_object_codec_v2(v2("|O", "vlen-utf8"))
