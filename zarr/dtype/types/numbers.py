"""The numbers of NumPy: booleans, integers, floats and complex numbers, of each width and byte order."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar, Self, SupportsComplex, SupportsFloat, SupportsIndex, SupportsInt

import numpy as np

from zarr._records import record
from zarr.dtype import base, scalars
from zarr.dtype.base import HasEndianness, HasItemSize, LibraryType, TBaseDType, TDType_co, TScalar_co
from zarr.types import JSON, DTypeJSON, EndiannessStr, ZarrFormat


@record(frozen=True, kw_only=True)
class Numeric(LibraryType[TDType_co, TScalar_co], HasItemSize):
    """Numbers with a letter and a width in NumPy, such as ``i4``; their name in format 3 is that of the class.

    Attributes
    ----------
    _code
        The letter and the width.
    _zarr_v2_names
        The names in format 2: one for a single byte, else one for each byte order, big-endian first; made from the
        code.
    _zarr_v3_aliases
        Other names that are accepted when format 3 is read.
    """

    _code: ClassVar[str]
    _zarr_v2_names: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_code" in vars(cls):
            dtype = base.native_dtype(cls._code)
            cls.dtype_cls = type(dtype)
            cls._zarr_v3_name = cls.__name__.lower()
            cls._zarr_v2_names = tuple([mark + cls._code for mark in ("|" if dtype.itemsize == 1 else "><")])

    @classmethod
    def _of_native(cls, dtype: Any) -> Self:
        return cls._make(base.byte_order_of(dtype))

    @classmethod
    def _make(cls, endianness: EndiannessStr) -> Self:
        return cls() if len(cls._zarr_v2_names) == 1 else cls(endianness=endianness)  # type: ignore[call-arg]

    @classmethod
    def _check_native_dtype(cls, dtype: TBaseDType) -> bool:
        return type(base.canonical(dtype)) is cls.dtype_cls

    def to_native_dtype(self) -> TDType_co:
        """Return the numpy dtype, with the byte order."""
        order: EndiannessStr = getattr(self, "endianness", "little")
        return base.native_dtype(("<" if order == "little" else base.endianness_mark(order)) + self._code)  # type: ignore[no-any-return]

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if scalars.check_dtype_spec_no_object_codec_v2(data) and isinstance(data["name"], str):
            name = data["name"]
            if len(cls._zarr_v2_names) == 1 and name[:1] in "|<>" and name[1:] == cls._code:
                return cls._make("little")
            if name in cls._zarr_v2_names:
                return cls._make("big" if name[0] == ">" else "little")
        raise base.wrong_json(cls, data, f"one of the strings {cls._zarr_v2_names}.")

    def _v2_name(self) -> str:
        declared = self._zarr_v2_names
        return declared[0] if len(declared) == 1 else str(self.to_native_dtype().str)

    def default_scalar(self) -> TScalar_co:
        """Return zero."""
        return self._scalar_type()(0)  # type: ignore[no-any-return]

    def _cast_scalar_unchecked(self, data: Any) -> TScalar_co:
        return self._scalar_type()(data)  # type: ignore[no-any-return]

    @classmethod
    def _scalar_type(cls) -> Any:
        return base.native_dtype(cls._code).type


@record(frozen=True, kw_only=True)
class Bool(Numeric["np.dtype[np.bool_]", np.bool_]):
    """True and false.

    Examples
    --------
    >>> from zarr.dtype import Bool
    >>> Bool().to_json(3)
    'bool'
    """

    _zarr_v2_name: ClassVar[str] = "|b1"
    _code: ClassVar[str] = "b1"

    def _check_scalar(self, data: object) -> bool:
        return data is None or isinstance(data, (str, bytes, int, float, complex, np.generic))

    def cast_scalar(self, data: object) -> np.bool_:
        """Return the truth value of an object."""
        if self._check_scalar(data) or (isinstance(data, np.ndarray) and data.ndim == 0):
            return np.bool_(bool(data))
        raise base.wrong_scalar(self, data)

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.bool_:
        """Return the scalar of true, false, or a number; null counts as false."""
        if data is None or isinstance(data, (bool, int, float)):
            return np.bool_(bool(data))
        raise TypeError(f"Invalid type: {data}. Expected a boolean.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> bool:
        """Return the truth value."""
        return bool(self.cast_scalar(data))


@record(frozen=True, kw_only=True)
class BaseInt(Numeric[TDType_co, TScalar_co]):
    """Integers."""

    def _check_scalar(self, data: object) -> bool:
        # Void scalars and time scalars of numpy have __int__ too, but are no numbers.
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
    """Integers of several bytes, which have a byte order."""


class Int8(BaseInt["np.dtype[np.int8]", np.int8]):
    """Integers from -128 to 127.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Int8().to_native_dtype().itemsize
    1
    """

    _code: ClassVar[str] = "i1"


class UInt8(BaseInt["np.dtype[np.uint8]", np.uint8]):
    """Integers from 0 to 255.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.UInt8().to_native_dtype().itemsize
    1
    """

    _code: ClassVar[str] = "u1"


class Int16(BaseWideInt["np.dtype[np.int16]", np.int16]):
    """Integers of 2 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Int16().to_native_dtype().itemsize
    2
    """

    _code: ClassVar[str] = "i2"


class UInt16(BaseWideInt["np.dtype[np.uint16]", np.uint16]):
    """Integers of 2 bytes from 0.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.UInt16().to_native_dtype().itemsize
    2
    """

    _code: ClassVar[str] = "u2"


class Int32(BaseWideInt["np.dtype[np.int32]", np.int32]):
    """Integers of 4 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> from zarr.dtype import Int32
    >>> Int32(endianness="big").to_json(2)["name"]
    '>i4'
    """

    _code: ClassVar[str] = "i4"


class UInt32(BaseWideInt["np.dtype[np.uint32]", np.uint32]):
    """Integers of 4 bytes from 0.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.UInt32().to_native_dtype().itemsize
    4
    """

    _code: ClassVar[str] = "u4"


class Int64(BaseWideInt["np.dtype[np.int64]", np.int64]):
    """Integers of 8 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Int64().to_native_dtype().itemsize
    8
    """

    _code: ClassVar[str] = "i8"


class UInt64(BaseWideInt["np.dtype[np.uint64]", np.uint64]):
    """Integers of 8 bytes from 0.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.UInt64().to_native_dtype().itemsize
    8
    """

    _code: ClassVar[str] = "u8"


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
        return scalars.float_from_json(data, base.native_dtype(self._code))  # type: ignore[no-any-return]

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> float | str:
        """Return the number, or a string for values that are no numbers in JSON."""
        return scalars.float_to_json(self.cast_scalar(data), keep_bits=zarr_format == 3)


class Float16(BaseFloat["np.dtype[np.float16]", np.float16]):
    """Floats of 2 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Float16().to_native_dtype().itemsize
    2
    """

    _code: ClassVar[str] = "f2"


class Float32(BaseFloat["np.dtype[np.float32]", np.float32]):
    """Floats of 4 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> from zarr.dtype import Float32
    >>> Float32().to_json_scalar(float("nan"), zarr_format=3)
    'NaN'
    """

    _code: ClassVar[str] = "f4"


class Float64(BaseFloat["np.dtype[np.float64]", np.float64]):
    """Floats of 8 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Float64().to_native_dtype().itemsize
    8
    """

    _code: ClassVar[str] = "f8"


def with_plain_nans(number: complex) -> complex:
    """Return a number of Python with the usual NaN in place of any: arithmetic leaves accidental signs in NaN.

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
            raise base.wrong_scalar(self, data) from None

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> TScalar_co:
        """Return the scalar of a pair of floats in any form that a float has; a lone number is a real part."""
        pair = scalars.pair_of_floats(data)
        part = base.native_dtype(self._part_code)
        # Assembled from bytes: arithmetic would not keep the bits of a NaN.
        bits = b"".join(scalars.float_from_json(item, part).tobytes() for item in pair)
        return np.frombuffer(bits, dtype=self._code)[0]  # type: ignore[no-any-return]

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> tuple[float | str, float | str]:
        """Return the two parts, each as a float goes to JSON."""
        scalar: Any = self.cast_scalar(data)
        write = partial(scalars.float_to_json, keep_bits=zarr_format == 3)
        return write(scalar.real), write(scalar.imag)


class Complex64(BaseComplex["np.dtype[np.complex64]", np.complex64]):
    """Complex numbers of two floats of 4 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> from zarr.dtype import Complex64
    >>> Complex64().to_json_scalar(1 + 2j, zarr_format=3)
    (1.0, 2.0)
    """

    _zarr_v3_aliases: ClassVar[tuple[str, ...]] = ("complex_float32",)
    _code: ClassVar[str] = "c8"
    _part_code: ClassVar[str] = "f4"


class Complex128(BaseComplex["np.dtype[np.complex128]", np.complex128]):
    """Complex numbers of two floats of 8 bytes.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Complex128().to_native_dtype().itemsize
    16
    """

    _zarr_v3_aliases: ClassVar[tuple[str, ...]] = ("complex_float64",)
    _code: ClassVar[str] = "c16"
    _part_code: ClassVar[str] = "f8"
