"""Names of the JSON forms of data types, for annotations here and in other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.typed_dicts import DTypeConfig_V2, NamedConfig, NamedRequiredConfig
from zarr.typed_dicts import DTypeName_V2 as DTypeName_V2
from zarr.typed_dicts import DTypeSpec_V2 as DTypeSpec_V2
from zarr.typed_dicts import DTypeSpec_V3 as DTypeSpec_V3
from zarr.types import JSON

ZDTypeLike: TypeAlias = npt.DTypeLike | ZDType[TBaseDType, TBaseScalar] | Mapping[str, JSON] | str

StructuredName_V2: TypeAlias = Sequence[Any]

_Code: TypeAlias = DTypeConfig_V2[str, None]

# Names of the JSON forms of single data types, for annotations in other libraries.
DateTime64JSON_V2: TypeAlias = _Code
DateTime64JSON_V3: TypeAlias = NamedRequiredConfig[Literal["numpy.datetime64"], Mapping[str, object]]
TimeDelta64JSON_V2: TypeAlias = _Code
TimeDelta64JSON_V3: TypeAlias = NamedRequiredConfig[Literal["numpy.timedelta64"], Mapping[str, object]]
FixedLengthUTF32JSON_V2: TypeAlias = _Code
FixedLengthUTF32JSON_V3: TypeAlias = NamedConfig[Literal["fixed_length_utf32"], Mapping[str, object]]
NullterminatedBytesJSON_V2: TypeAlias = _Code
NullTerminatedBytesJSON_V3: TypeAlias = NamedConfig[Literal["null_terminated_bytes"], Mapping[str, object]]
RawBytesJSON_V2: TypeAlias = _Code
RawBytesJSON_V3: TypeAlias = NamedConfig[Literal["raw_bytes"], Mapping[str, object]]
StructuredJSON_V2: TypeAlias = DTypeConfig_V2[StructuredName_V2, None]
StructuredJSON_V3: TypeAlias = NamedConfig[Literal["structured"], Mapping[str, object]]
StructJSON_V3: TypeAlias = NamedConfig[Literal["struct"], Mapping[str, object]]
VariableLengthBytesJSON_V2: TypeAlias = DTypeConfig_V2[Literal["|O"], Literal["vlen-bytes"]]
VariableLengthUTF8JSON_V2: TypeAlias = DTypeConfig_V2[Literal["|O"], Literal["vlen-utf8"]]
