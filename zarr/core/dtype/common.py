"""Mixins and JSON forms of data types; re-exports."""

from __future__ import annotations

from typing import Any

from zarr.compat.version3.json_values import (
    SPECIAL_FLOAT_STRINGS,
    JSONFloatV2,
    JSONFloatV3,
    SpecialFloatStrings,
    unpack_dtype_json,
)
from zarr.dtype.base import (
    HasEndianness,
    HasItemSize,
    HasLength,
    HasObjectCodec,
    ScalarTypeValidationError,
    v3_unstable_dtype_warning,
)
from zarr.dtype.json_forms import (
    DTypeName_V2,
    DTypeSpec_V2,
    DTypeSpec_V3,
    StructuredName_V2,
)
from zarr.dtype.scalars import (
    ENDIANNESS_STR,
    OBJECT_CODEC_IDS,
    EndiannessStr,
    ObjectCodecID,
    check_dtype_name_v2,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
    check_dtype_spec_v3,
)
from zarr.errors import UnstableSpecificationWarning, moved_error
from zarr.types import DTypeConfig_V2, DTypeJSON


def __getattr__(name: str) -> Any:
    return moved_error(__name__, name)


__all__ = [
    "DTypeConfig_V2", "DTypeJSON", "DTypeName_V2", "DTypeSpec_V2", "DTypeSpec_V3", "ENDIANNESS_STR", "EndiannessStr",
    "HasEndianness", "HasItemSize", "HasLength", "HasObjectCodec", "JSONFloatV2", "JSONFloatV3", "OBJECT_CODEC_IDS",
    "ObjectCodecID", "SPECIAL_FLOAT_STRINGS", "ScalarTypeValidationError", "SpecialFloatStrings", "StructuredName_V2",
    "UnstableSpecificationWarning", "check_dtype_name_v2", "check_dtype_spec_no_object_codec_v2", "check_dtype_spec_v2",
    "check_dtype_spec_v3", "unpack_dtype_json", "v3_unstable_dtype_warning",
]
