"""Floats of 2, 4 and 8 bytes, and pairs of them as complex numbers."""

from __future__ import annotations

import math
from typing import Any, ClassVar, SupportsComplex, SupportsFloat, SupportsIndex

import numpy as np

from zarr._records import record
from zarr.dtype.base import HasEndianness, TDType_co, TScalar_co, is_sequence, native_dtype, wrong_scalar
from zarr.dtype.scalars import float_from_json, float_to_json, not_a_float
from zarr.dtype.spec import JSON, ZarrFormat
from zarr.dtype.types.numeric import Numeric

_NOT_NUMBERS = (np.void, np.datetime64, np.timedelta64)


@record(frozen=True, kw_only=True)
class BaseFloat(Numeric[TDType_co, TScalar_co], HasEndianness):
    """Floats."""

    def _check_scalar(self, data: object) -> bool:
        if isinstance(data, (complex, np.complexfloating, *_NOT_NUMBERS)):
            return False
        if isinstance(data, (str, bytes)):
            try:
                float(data)
            except ValueError:
                return False
            return True
        return isinstance(data, (SupportsFloat, SupportsIndex))

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> TScalar_co:
        """Return the scalar of a number, "NaN", "Infinity", "-Infinity", or the bits as "0x..."."""
        return float_from_json(data, native_dtype(self._code))  # type: ignore[no-any-return]

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> float | str:
        """Return the number, or a string for what JSON has no number for."""
        return float_to_json(self.cast_scalar(data), keep_bits=zarr_format == 3)


class Float16(BaseFloat["np.dtype[np.float16]", np.float16]):
    """Floats of 2 bytes."""

    dtype_cls: ClassVar[Any] = np.dtypes.Float16DType
    _zarr_v3_name: ClassVar[str] = "float16"
    _code: ClassVar[str] = "f2"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">f2", "<f2")


class Float32(BaseFloat["np.dtype[np.float32]", np.float32]):
    """Floats of 4 bytes.

    Examples
    --------
    >>> Float32().to_json_scalar(float("nan"), zarr_format=3)
    'NaN'
    """

    dtype_cls: ClassVar[Any] = np.dtypes.Float32DType
    _zarr_v3_name: ClassVar[str] = "float32"
    _code: ClassVar[str] = "f4"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">f4", "<f4")


class Float64(BaseFloat["np.dtype[np.float64]", np.float64]):
    """Floats of 8 bytes."""

    dtype_cls: ClassVar[Any] = np.dtypes.Float64DType
    _zarr_v3_name: ClassVar[str] = "float64"
    _code: ClassVar[str] = "f8"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">f8", "<f8")


def with_plain_nans(number: complex) -> complex:
    """Return a number of Python with the usual NaN in place of any: arithmetic leaves signs in it that nobody meant.

    Examples
    --------
    >>> with_plain_nans(float("inf") * 1j)
    (nan+infj)
    """
    real, imag = (math.nan if part != part else part for part in (number.real, number.imag))
    return complex(real, imag)


@record(frozen=True, kw_only=True)
class BaseComplex(Numeric[TDType_co, TScalar_co], HasEndianness):
    """Complex numbers: the real part, then the imaginary part."""

    _part_code: ClassVar[str]

    def _check_scalar(self, data: object) -> bool:
        if isinstance(data, _NOT_NUMBERS):
            return False
        return isinstance(data, (SupportsComplex, SupportsFloat, SupportsIndex, str))

    def _cast_scalar_unchecked(self, data: Any) -> TScalar_co:
        try:
            number = data if isinstance(data, np.generic) else with_plain_nans(complex(data))
            return self._scalar_type()(number)  # type: ignore[no-any-return]
        except TypeError:
            raise wrong_scalar(self, data) from None

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> TScalar_co:
        """Return the scalar of a pair of floats in any form that a float has; a lone number is a real part."""
        pair = [data, 0] if isinstance(data, (int, float)) else data
        if not is_sequence(pair) or len(pair) != 2:
            raise not_a_float(data)
        part = native_dtype(self._part_code)
        # Assembled from bytes: arithmetic would not keep the bits of a NaN.
        bits = b"".join(float_from_json(item, part).tobytes() for item in pair)
        return np.frombuffer(bits, dtype=self._code)[0]  # type: ignore[no-any-return]

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> tuple[float | str, float | str]:
        """Return the two parts, each as a float goes to JSON."""
        scalar: Any = self.cast_scalar(data)
        keep_bits = zarr_format == 3
        return float_to_json(scalar.real, keep_bits=keep_bits), float_to_json(scalar.imag, keep_bits=keep_bits)


class Complex64(BaseComplex["np.dtype[np.complex64]", np.complex64]):
    """Complex numbers of two floats of 4 bytes.

    Examples
    --------
    >>> Complex64().to_json_scalar(1 + 2j, zarr_format=3)
    (1.0, 2.0)
    """

    dtype_cls: ClassVar[Any] = np.dtypes.Complex64DType
    _zarr_v3_name: ClassVar[str] = "complex64"
    _zarr_v3_aliases: ClassVar[tuple[str, ...]] = ("complex_float32",)
    _code: ClassVar[str] = "c8"
    _part_code: ClassVar[str] = "f4"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">c8", "<c8")


class Complex128(BaseComplex["np.dtype[np.complex128]", np.complex128]):
    """Complex numbers of two floats of 8 bytes."""

    dtype_cls: ClassVar[Any] = np.dtypes.Complex128DType
    _zarr_v3_name: ClassVar[str] = "complex128"
    _zarr_v3_aliases: ClassVar[tuple[str, ...]] = ("complex_float64",)
    _code: ClassVar[str] = "c16"
    _part_code: ClassVar[str] = "f8"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">c16", "<c16")
