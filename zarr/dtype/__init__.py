"""Data types: their forms in NumPy and in array metadata, and their scalars in JSON. One file for each family.

May import the floor below: ``zarr.errors``, ``zarr.types``, ``zarr.registry``.
Read ``base.py`` first, then ``types/numbers.py`` for the simplest family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr._lazy import lazy_door
from zarr.errors import moved_error

if TYPE_CHECKING:
    from zarr.dtype.base import *  # noqa: F403
    from zarr.dtype.json_forms import *  # noqa: F403
    from zarr.dtype.registry import *  # noqa: F403
    from zarr.dtype.scalars import *  # noqa: F403
    from zarr.dtype.types.binary import *  # noqa: F403
    from zarr.dtype.types.nullable import *  # noqa: F403
    from zarr.dtype.types.numbers import *  # noqa: F403
    from zarr.dtype.types.small import *  # noqa: F403
    from zarr.dtype.types.structured import *  # noqa: F403
    from zarr.dtype.types.text import *  # noqa: F403
    from zarr.dtype.types.times import *  # noqa: F403

# Loaded at the first use: an array has one data type.
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
