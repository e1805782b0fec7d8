"""Data types: what they are in numpy and in array metadata, and their scalars in JSON. One file a family.

May import the floor below: ``zarr.errors``, ``zarr.types``, ``zarr.registry``.
Read ``base.py`` first, then ``types/numbers.py`` for the simplest family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr._lazy import lazy_door
from zarr.errors import moved_error

if TYPE_CHECKING:
    from zarr.dtype.base import HasEndianness as HasEndianness
    from zarr.dtype.base import HasItemSize as HasItemSize
    from zarr.dtype.base import HasLength as HasLength
    from zarr.dtype.base import HasObjectCodec as HasObjectCodec
    from zarr.dtype.base import TBaseDType as TBaseDType
    from zarr.dtype.base import TBaseScalar as TBaseScalar
    from zarr.dtype.base import ZDType as ZDType
    from zarr.dtype.json_forms import DateTime64JSON_V2 as DateTime64JSON_V2
    from zarr.dtype.json_forms import DateTime64JSON_V3 as DateTime64JSON_V3
    from zarr.dtype.json_forms import DTypeSpec_V2 as DTypeSpec_V2
    from zarr.dtype.json_forms import DTypeSpec_V3 as DTypeSpec_V3
    from zarr.dtype.json_forms import FixedLengthUTF32JSON_V2 as FixedLengthUTF32JSON_V2
    from zarr.dtype.json_forms import FixedLengthUTF32JSON_V3 as FixedLengthUTF32JSON_V3
    from zarr.dtype.json_forms import NullterminatedBytesJSON_V2 as NullterminatedBytesJSON_V2
    from zarr.dtype.json_forms import NullTerminatedBytesJSON_V3 as NullTerminatedBytesJSON_V3
    from zarr.dtype.json_forms import RawBytesJSON_V2 as RawBytesJSON_V2
    from zarr.dtype.json_forms import RawBytesJSON_V3 as RawBytesJSON_V3
    from zarr.dtype.json_forms import StructJSON_V3 as StructJSON_V3
    from zarr.dtype.json_forms import StructuredJSON_V2 as StructuredJSON_V2
    from zarr.dtype.json_forms import StructuredJSON_V3 as StructuredJSON_V3
    from zarr.dtype.json_forms import TimeDelta64JSON_V2 as TimeDelta64JSON_V2
    from zarr.dtype.json_forms import TimeDelta64JSON_V3 as TimeDelta64JSON_V3
    from zarr.dtype.json_forms import VariableLengthBytesJSON_V2 as VariableLengthBytesJSON_V2
    from zarr.dtype.json_forms import VariableLengthUTF8JSON_V2 as VariableLengthUTF8JSON_V2
    from zarr.dtype.json_forms import ZDTypeLike as ZDTypeLike
    from zarr.dtype.registry import VLEN_UTF8_ALIAS as VLEN_UTF8_ALIAS
    from zarr.dtype.registry import DataTypeRegistry as DataTypeRegistry
    from zarr.dtype.registry import data_type_registry as data_type_registry
    from zarr.dtype.registry import get_data_type_from_json as get_data_type_from_json
    from zarr.dtype.registry import get_data_type_from_native_dtype as get_data_type_from_native_dtype
    from zarr.dtype.registry import parse_data_type as parse_data_type
    from zarr.dtype.registry import parse_dtype as parse_dtype
    from zarr.dtype.scalars import check_dtype_spec_no_object_codec_v2 as check_dtype_spec_no_object_codec_v2
    from zarr.dtype.scalars import check_dtype_spec_v2 as check_dtype_spec_v2
    from zarr.dtype.types.binary import NullTerminatedBytes as NullTerminatedBytes
    from zarr.dtype.types.binary import RawBits as RawBits
    from zarr.dtype.types.binary import RawBytes as RawBytes
    from zarr.dtype.types.binary import VariableLengthBytes as VariableLengthBytes
    from zarr.dtype.types.nullable import Nullable as Nullable
    from zarr.dtype.types.numbers import Bool as Bool
    from zarr.dtype.types.numbers import Complex64 as Complex64
    from zarr.dtype.types.numbers import Complex128 as Complex128
    from zarr.dtype.types.numbers import Float16 as Float16
    from zarr.dtype.types.numbers import Float32 as Float32
    from zarr.dtype.types.numbers import Float64 as Float64
    from zarr.dtype.types.numbers import Int8 as Int8
    from zarr.dtype.types.numbers import Int16 as Int16
    from zarr.dtype.types.numbers import Int32 as Int32
    from zarr.dtype.types.numbers import Int64 as Int64
    from zarr.dtype.types.numbers import UInt8 as UInt8
    from zarr.dtype.types.numbers import UInt16 as UInt16
    from zarr.dtype.types.numbers import UInt32 as UInt32
    from zarr.dtype.types.numbers import UInt64 as UInt64
    from zarr.dtype.types.small import SmallComplex as SmallComplex
    from zarr.dtype.types.small import SmallFloat as SmallFloat
    from zarr.dtype.types.small import SmallInt as SmallInt
    from zarr.dtype.types.structured import Struct as Struct
    from zarr.dtype.types.structured import Structured as Structured
    from zarr.dtype.types.structured import SubArray as SubArray
    from zarr.dtype.types.text import FixedLengthUTF32 as FixedLengthUTF32
    from zarr.dtype.types.text import PythonObject as PythonObject
    from zarr.dtype.types.text import VariableLengthUTF8 as VariableLengthUTF8
    from zarr.dtype.types.times import DateTime64 as DateTime64
    from zarr.dtype.types.times import TimeDelta64 as TimeDelta64

# Loaded when asked for: an array has one data type.
_find, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.dtype.base": "HasEndianness HasItemSize HasLength HasObjectCodec TBaseDType TBaseScalar ZDType",
        "zarr.dtype.types.binary": "NullTerminatedBytes RawBits RawBytes VariableLengthBytes",
        "zarr.dtype.types.numbers": (
            "Bool Complex128 Complex64 Float16 Float32 Float64 Int16 Int32 Int64 Int8 UInt16 UInt32 UInt64 UInt8"
        ),
        "zarr.dtype.json_forms": (
            "DTypeSpec_V2 DTypeSpec_V3 DateTime64JSON_V2 DateTime64JSON_V3 FixedLengthUTF32JSON_V2 "
            "FixedLengthUTF32JSON_V3 NullTerminatedBytesJSON_V3 NullterminatedBytesJSON_V2 RawBytesJSON_V2 "
            "RawBytesJSON_V3 StructJSON_V3 StructuredJSON_V2 StructuredJSON_V3 TimeDelta64JSON_V2 "
            "TimeDelta64JSON_V3 VariableLengthBytesJSON_V2 VariableLengthUTF8JSON_V2 ZDTypeLike"
        ),
        "zarr.dtype.types.nullable": "Nullable",
        "zarr.dtype.types.text": "PythonObject FixedLengthUTF32 VariableLengthUTF8",
        "zarr.dtype.registry": (
            "DataTypeRegistry VLEN_UTF8_ALIAS data_type_registry get_data_type_from_json "
            "get_data_type_from_native_dtype parse_data_type parse_dtype"
        ),
        "zarr.dtype.types.small": "SmallComplex SmallFloat SmallInt",
        "zarr.dtype.scalars": "check_dtype_spec_no_object_codec_v2 check_dtype_spec_v2",
        "zarr.dtype.types.structured": "Struct Structured SubArray",
        "zarr.dtype.types.times": "DateTime64 TimeDelta64",
    },
)


def __getattr__(name: str) -> Any:
    try:
        return _find(name)
    except AttributeError:
        return moved_error(__name__, name)
