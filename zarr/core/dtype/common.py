"""Mixins and JSON forms of data types; re-exports."""

from __future__ import annotations

from typing import Any

from zarr.core.dtype.npy.common import *
from zarr.dtype import *
from zarr.dtype.base import ScalarTypeValidationError as ScalarTypeValidationError
from zarr.dtype.base import v3_unstable_dtype_warning as v3_unstable_dtype_warning
from zarr.dtype.json_forms import *
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
from zarr.errors import UnstableSpecificationWarning as UnstableSpecificationWarning
from zarr.errors import moved_error
from zarr.typed_dicts import DTypeConfig_V2 as DTypeConfig_V2


def __getattr__(name: str) -> Any:
    return moved_error(__name__, name)
