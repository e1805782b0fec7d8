"""Integers of 1, 2, 4 and 8 bytes, with and without a sign."""

from __future__ import annotations

from typing import Any, ClassVar, SupportsIndex, SupportsInt

import numpy as np

from zarr._records import record
from zarr.dtype.base import HasEndianness, TDType_co, TScalar_co
from zarr.dtype.spec import JSON, ZarrFormat
from zarr.dtype.types.numeric import Numeric


@record(frozen=True, kw_only=True)
class BaseInt(Numeric[TDType_co, TScalar_co]):
    """Integers."""

    def _check_scalar(self, data: object) -> bool:
        # Void scalars and time scalars of numpy have __int__ too, but no meaning as a number.
        if isinstance(data, (complex, np.complexfloating, np.void, np.datetime64, np.timedelta64)):
            return False
        return isinstance(data, (SupportsInt, SupportsIndex, str, bytes))

    def _cast_scalar_unchecked(self, data: Any) -> TScalar_co:
        # Through a Python int: numpy's own conversion between its integer scalars wraps around silently.
        return self._scalar_type()(int(data))  # type: ignore[no-any-return]

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> TScalar_co:
        """Return the scalar of an integer; a float or a string without a fraction counts as one."""
        if isinstance(data, int):
            return self._cast_scalar_unchecked(data)
        if isinstance(data, float) and data.is_integer():
            return self._cast_scalar_unchecked(data)
        if isinstance(data, str):
            try:
                return self._cast_scalar_unchecked(int(data))
            except ValueError:
                pass
        raise TypeError(f"Invalid type: {data}. Expected an integer.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> int:
        """Return the integer."""
        return int(self.cast_scalar(data))


@record(frozen=True, kw_only=True)
class BaseWideInt(BaseInt[TDType_co, TScalar_co], HasEndianness):
    """Integers of several bytes, which come in an order."""


class Int8(BaseInt["np.dtype[np.int8]", np.int8]):
    """Integers from -128 to 127."""

    dtype_cls: ClassVar[Any] = np.dtypes.Int8DType
    _zarr_v3_name: ClassVar[str] = "int8"
    _code: ClassVar[str] = "i1"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = ("|i1",)


class UInt8(BaseInt["np.dtype[np.uint8]", np.uint8]):
    """Integers from 0 to 255."""

    dtype_cls: ClassVar[Any] = np.dtypes.UInt8DType
    _zarr_v3_name: ClassVar[str] = "uint8"
    _code: ClassVar[str] = "u1"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = ("|u1",)


class Int16(BaseWideInt["np.dtype[np.int16]", np.int16]):
    """Integers of 2 bytes."""

    dtype_cls: ClassVar[Any] = np.dtypes.Int16DType
    _zarr_v3_name: ClassVar[str] = "int16"
    _code: ClassVar[str] = "i2"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">i2", "<i2")


class UInt16(BaseWideInt["np.dtype[np.uint16]", np.uint16]):
    """Integers of 2 bytes from 0."""

    dtype_cls: ClassVar[Any] = np.dtypes.UInt16DType
    _zarr_v3_name: ClassVar[str] = "uint16"
    _code: ClassVar[str] = "u2"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">u2", "<u2")


class Int32(BaseWideInt["np.dtype[np.int32]", np.int32]):
    """Integers of 4 bytes.

    Examples
    --------
    >>> Int32(endianness="big").to_json(2)["name"]
    '>i4'
    """

    dtype_cls: ClassVar[Any] = np.dtypes.Int32DType
    _zarr_v3_name: ClassVar[str] = "int32"
    _code: ClassVar[str] = "i4"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">i4", "<i4")


class UInt32(BaseWideInt["np.dtype[np.uint32]", np.uint32]):
    """Integers of 4 bytes from 0."""

    dtype_cls: ClassVar[Any] = np.dtypes.UInt32DType
    _zarr_v3_name: ClassVar[str] = "uint32"
    _code: ClassVar[str] = "u4"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">u4", "<u4")


class Int64(BaseWideInt["np.dtype[np.int64]", np.int64]):
    """Integers of 8 bytes."""

    dtype_cls: ClassVar[Any] = np.dtypes.Int64DType
    _zarr_v3_name: ClassVar[str] = "int64"
    _code: ClassVar[str] = "i8"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">i8", "<i8")


class UInt64(BaseWideInt["np.dtype[np.uint64]", np.uint64]):
    """Integers of 8 bytes from 0."""

    dtype_cls: ClassVar[Any] = np.dtypes.UInt64DType
    _zarr_v3_name: ClassVar[str] = "uint64"
    _code: ClassVar[str] = "u8"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">u8", "<u8")
