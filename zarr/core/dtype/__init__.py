"""Data types."""

from __future__ import annotations

from typing import Any, TypeAlias

from zarr._lazy import submodule
from zarr.dtype import (
    VLEN_UTF8_ALIAS,
    Bool,
    Complex64,
    Complex128,
    DataTypeRegistry,
    DateTime64,
    DateTime64JSON_V2,
    DateTime64JSON_V3,
    DTypeSpec_V2,
    DTypeSpec_V3,
    FixedLengthUTF32,
    FixedLengthUTF32JSON_V2,
    FixedLengthUTF32JSON_V3,
    Float16,
    Float32,
    Float64,
    HasEndianness,
    HasItemSize,
    HasLength,
    HasObjectCodec,
    Int8,
    Int16,
    Int32,
    Int64,
    NullTerminatedBytes,
    NullterminatedBytesJSON_V2,
    NullTerminatedBytesJSON_V3,
    PythonObject,
    RawBits,
    RawBytes,
    RawBytesJSON_V2,
    RawBytesJSON_V3,
    Struct,
    StructJSON_V3,
    Structured,
    StructuredJSON_V2,
    StructuredJSON_V3,
    SubArray,
    TBaseDType,
    TBaseScalar,
    TimeDelta64,
    TimeDelta64JSON_V2,
    TimeDelta64JSON_V3,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    VariableLengthBytes,
    VariableLengthBytesJSON_V2,
    VariableLengthUTF8,
    VariableLengthUTF8JSON_V2,
    ZDType,
    ZDTypeLike,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
    data_type_registry,
    get_data_type_from_json,
    get_data_type_from_native_dtype,
    parse_data_type,
    parse_dtype,
)
from zarr.errors import moved_error

AnyDType: TypeAlias = (
    Bool
    | Int8
    | Int16
    | Int32
    | Int64
    | UInt8
    | UInt16
    | UInt32
    | UInt64
    | Float16
    | Float32
    | Float64
    | Complex64
    | Complex128
    | FixedLengthUTF32
    | VariableLengthUTF8
    | RawBytes
    | NullTerminatedBytes
    | VariableLengthBytes
    | Struct
    | DateTime64
    | TimeDelta64
)


def __getattr__(name: str) -> Any:
    if name in ("common", "npy", "registry", "wrapper"):
        return submodule(__name__, name)
    return moved_error(__name__, name)


__all__ = [
    "AnyDType",
    "Bool",
    "Complex128",
    "Complex64",
    "DTypeSpec_V2",
    "DTypeSpec_V3",
    "DataTypeRegistry",
    "DateTime64",
    "DateTime64JSON_V2",
    "DateTime64JSON_V3",
    "FixedLengthUTF32",
    "FixedLengthUTF32JSON_V2",
    "FixedLengthUTF32JSON_V3",
    "Float16",
    "Float32",
    "Float64",
    "HasEndianness",
    "HasItemSize",
    "HasLength",
    "HasObjectCodec",
    "Int16",
    "Int32",
    "Int64",
    "Int8",
    "NullTerminatedBytes",
    "NullTerminatedBytesJSON_V3",
    "NullterminatedBytesJSON_V2",
    "PythonObject",
    "RawBits",
    "RawBytes",
    "RawBytesJSON_V2",
    "RawBytesJSON_V3",
    "Struct",
    "StructJSON_V3",
    "Structured",
    "StructuredJSON_V2",
    "StructuredJSON_V3",
    "SubArray",
    "TBaseDType",
    "TBaseScalar",
    "TimeDelta64",
    "TimeDelta64JSON_V2",
    "TimeDelta64JSON_V3",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt8",
    "VLEN_UTF8_ALIAS",
    "VariableLengthBytes",
    "VariableLengthBytesJSON_V2",
    "VariableLengthUTF8",
    "VariableLengthUTF8JSON_V2",
    "ZDType",
    "ZDTypeLike",
    "check_dtype_spec_no_object_codec_v2",
    "check_dtype_spec_v2",
    "data_type_registry",
    "get_data_type_from_json",
    "get_data_type_from_native_dtype",
    "parse_data_type",
    "parse_dtype",
]
