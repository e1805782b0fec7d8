"""Data types; re-exports."""

from __future__ import annotations

from typing import Any, TypeAlias

import zarr.dtype as types
from zarr._lazy import submodule
from zarr.dtype import *
from zarr.errors import moved_error

AnyDType: TypeAlias = (
    types.Bool | types.Int8 | types.Int16 | types.Int32 | types.Int64
    | types.UInt8 | types.UInt16 | types.UInt32 | types.UInt64
    | types.Float16 | types.Float32 | types.Float64 | types.Complex64 | types.Complex128
    | types.FixedLengthUTF32 | types.VariableLengthUTF8
    | types.RawBytes | types.NullTerminatedBytes | types.VariableLengthBytes
    | types.Struct | types.DateTime64 | types.TimeDelta64
)


def __getattr__(name: str) -> Any:
    if name in ("common", "npy", "registry", "wrapper"):
        return submodule(__name__, name)
    return moved_error(__name__, name)
