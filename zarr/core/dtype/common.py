"""What data types have in common."""

from __future__ import annotations

from zarr.dtype.base import (
    HasEndianness,
    HasItemSize,
    HasLength,
    HasObjectCodec,
    ScalarTypeValidationError,
    v3_unstable_dtype_warning,
)
from zarr.dtype.spec import (
    ENDIANNESS_STR,
    DTypeSpec_V2,
    DTypeSpec_V3,
    EndiannessStr,
    check_dtype_name_v2,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
    check_dtype_spec_v3,
)
from zarr.errors import DataTypeValidationError, UnstableSpecificationWarning
from zarr.types import DTypeConfig_V2, DTypeJSON

__all__ = [
    "DTypeConfig_V2",
    "DTypeJSON",
    "DTypeSpec_V2",
    "DTypeSpec_V3",
    "DataTypeValidationError",
    "ENDIANNESS_STR",
    "EndiannessStr",
    "HasEndianness",
    "HasItemSize",
    "HasLength",
    "HasObjectCodec",
    "ScalarTypeValidationError",
    "UnstableSpecificationWarning",
    "check_dtype_name_v2",
    "check_dtype_spec_no_object_codec_v2",
    "check_dtype_spec_v2",
    "check_dtype_spec_v3",
    "v3_unstable_dtype_warning",
]
