"""Numbers that NumPy itself does not have: bfloat16, floats of 4, 6 and 8 bits, integers of 2 and 4 bits, and complex.

In memory they are the types of the package ``ml_dtypes`` (the extra ``zarr[ml-dtypes]``); an element of fewer than 8
bits takes one byte. Their names, their scalars in JSON and their bytes are those of the registry of Zarr extensions:
https://github.com/zarr-developers/zarr-extensions/tree/main/data-types
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, Self

import numpy as np

from zarr.dtype import base, scalars
from zarr.dtype.base import HasEndianness, HasItemSize, TBaseDType, ZDType
from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3
from zarr.errors import DataTypeValidationError
from zarr.types import JSON, DTypeJSON, ZarrFormat

_INTEGERS: Final = ("int2", "int4", "uint2", "uint4")
_FLOATS: Final = (
    "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3fn",
    "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
# Types with a common name that is not registered.
_UNREGISTERED: Final = ("float8_e4m3fn",)
# Types with other names in ml_dtypes; the parts of the others are the fields of a structured dtype.
_PAIRS: Final[dict[str, tuple[str, str]]] = {
    "complex_bfloat16": ("bcomplex32", "bfloat16"),
    "complex_float16": ("complex32", "float16"),
}
_COMPLEX: Final = (*_PAIRS, *(f"complex_{name}" for name in _FLOATS if name not in ("bfloat16", *_UNREGISTERED)))


@cache
def _scalar_type(name: str) -> Any:
    """Return the class of the scalars of a type of ``ml_dtypes``, or of numpy's half."""
    if name == "float16":
        return np.float16
    try:
        import ml_dtypes
    except ImportError as error:
        raise DataTypeValidationError(
            f"The data type {name!r} needs the package ml_dtypes, which is not installed: pip install 'zarr[ml-dtypes]'"
        ) from error
    if not hasattr(ml_dtypes, name):
        raise DataTypeValidationError(
            f"The installed ml_dtypes {ml_dtypes.__version__} has no type {name!r}: pip install --upgrade ml_dtypes"
        ) from AttributeError(name)
    return getattr(ml_dtypes, name)


@cache
def _native(name: str, mark: Any = "=") -> Any:
    """Return the numpy dtype of a name, in a byte order."""
    if name not in _COMPLEX:
        return np.dtype(_scalar_type(name)).newbyteorder(mark)
    if name in _PAIRS:
        return np.dtype(_scalar_type(_PAIRS[name][0])).newbyteorder(mark)
    part = _native(name.removeprefix("complex_"))
    return np.dtype([("real", part), ("imag", part)])


def missing_message(name: object) -> str | None:
    """Return the package to install for a type that is known by name only; None for other names.

    Examples
    --------
    >>> missing_message("int3") is None
    True
    """
    if not isinstance(name, str) or name not in (*_INTEGERS, *_FLOATS, *_COMPLEX):
        return None
    try:
        _native(name)
    except DataTypeValidationError as error:
        return str(error)
    return None


@dataclass(frozen=True, kw_only=True)
class _Named(ZDType[Any, Any], HasItemSize):
    """A family of types that differ by name."""

    name: str
    _members: ClassVar[tuple[str, ...]]
    # Those with a byte order.
    _ordered: ClassVar[Collection[str]] = ()

    def __post_init__(self) -> None:
        if self.name not in self._members:
            raise ValueError(f"name must be one of {self._members}, got {self.name!r}")

    @classmethod
    def _make(cls, name: str, endianness: str = "little") -> Self:
        return cls(name=name, endianness=endianness) if name in cls._ordered else cls(name=name)  # type: ignore[call-arg]

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of one of the dtypes of ``ml_dtypes``."""
        pairs = {native: name for name, (native, _) in _PAIRS.items()}
        name = pairs.get(dtype.name, dtype.name)
        if scalars.is_small(dtype) and name in cls._members:
            return cls._make(name, base.byte_order_of(dtype))
        raise DataTypeValidationError(f"Invalid data type: {dtype}. Expected one of {cls._members}")

    @classmethod
    def _check_native_dtype(cls, dtype: TBaseDType) -> bool:
        return scalars.is_small(dtype)

    def to_native_dtype(self) -> Any:
        """Return the numpy dtype."""
        return _native(self.name, base.endianness_mark(getattr(self, "endianness", "little")))

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        name = data.get("name") if isinstance(data, dict) and data.get("object_codec_id") is None else None
        if name in cls._members:
            _native(name)
            return cls._make(name)
        raise base.wrong_json(cls, data, f"one of the strings {cls._members}")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = scalars.split_dtype_spec_v3(data)
        if spec is not None and spec[0] in cls._members and not spec[1]:
            _native(spec[0])
            return cls._make(spec[0])
        raise base.wrong_json(cls, data, f"one of the strings {cls._members}")

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return the name."""
        base.check_zarr_format(zarr_format)
        if zarr_format == 2:
            return {"name": self.name, "object_codec_id": None}
        if self.name in _UNREGISTERED:
            base.v3_unstable_dtype_warning(self)
        return self.name

    def _check_scalar(self, data: object) -> bool:
        try:
            return self.cast_scalar(data) is not None
        except (TypeError, ValueError, OverflowError):
            return False

    def default_scalar(self) -> Any:
        """Return zero; NaN for ``float8_e8m0fnu``, which has no zero."""
        return _scalar_type(self.name)(0)


@dataclass(frozen=True, kw_only=True)
class SmallInt(_Named):
    """Integers of 2 or 4 bits.

    Parameters
    ----------
    name
        ``"int2"``, ``"int4"``, ``"uint2"`` or ``"uint4"``.

    Examples
    --------
    >>> from zarr.dtype import SmallInt
    >>> SmallInt(name="int4").to_json(3)
    'int4'
    """

    _members: ClassVar[tuple[str, ...]] = _INTEGERS

    def cast_scalar(self, data: object) -> Any:
        """Make a scalar of a number.

        Raises
        ------
        OverflowError
            If the number is out of range.
        """
        if isinstance(data, (complex, np.complexfloating, np.void)) and not isinstance(data, _scalar_type(self.name)):
            raise base.wrong_scalar(self, data)
        try:
            number = int(data)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise base.wrong_scalar(self, data) from None
        bits = scalars.USED_BITS[self.name]
        low, high = (0, 2**bits - 1) if self.name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not low <= number <= high:
            raise OverflowError(f"{number} is out of the range of {self.name}, {low} to {high}")
        return _scalar_type(self.name)(number)

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> Any:
        """Return the scalar of an integer."""
        if isinstance(data, int) and not isinstance(data, bool):
            return self.cast_scalar(data)
        raise TypeError(f"Invalid type: {data}. Expected an integer.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> int:
        """Return the integer."""
        return int(self.cast_scalar(data))


def _checked(scalar: Any, given: float, name: str) -> Any:
    """Return a float that was made from another one, unless the type has no such value."""
    made = float(scalar)
    if math.isnan(made) != math.isnan(given) or (math.isinf(given) and made != given):
        raise ValueError(f"{name} has no representation of {given}.")
    return scalar


def _small_float(data: JSON, name: str) -> Any:
    """Return the float of a JSON value, in a type that may have no infinity, no NaN, no zero and no sign."""
    scalar = scalars.float_from_json(data, _native(name))
    if isinstance(data, str) and data.startswith("0x"):
        return scalar
    return _checked(scalar, float(data), name)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class SmallFloat(_Named, HasEndianness):
    """bfloat16, and floats of 4, 6 and 8 bits.

    Parameters
    ----------
    name
        A registered name, such as ``"bfloat16"`` or ``"float8_e5m2"``.
    endianness
        The byte order of ``"bfloat16"`` in memory.

    Examples
    --------
    >>> from zarr.dtype import SmallFloat
    >>> SmallFloat(name="bfloat16").to_json(3)
    'bfloat16'
    """

    _members: ClassVar[tuple[str, ...]] = _FLOATS
    _ordered: ClassVar[Collection[str]] = ("bfloat16",)

    def cast_scalar(self, data: object) -> Any:
        """Make a scalar of a number, rounding to the nearest.

        Raises
        ------
        ValueError
            If the type has no such value: no NaN, no infinity, no zero.
        """
        kind = _scalar_type(self.name)
        if isinstance(data, kind):
            return data
        try:
            given = float(data)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise base.wrong_scalar(self, data) from None
        return _checked(kind(given), given, self.name)

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> Any:
        """Return the scalar of a number, "NaN", "Infinity", "-Infinity", or the bits as "0x...".

        Raises
        ------
        ValueError
            If the type has no such value.
        """
        return _small_float(data, self.name)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> float | str:
        """Return the number, or a string for values that are no numbers in JSON."""
        return scalars.float_to_json(self.cast_scalar(data), keep_bits=zarr_format == 3)


@dataclass(frozen=True, kw_only=True)
class SmallComplex(_Named, HasEndianness):
    """Complex numbers whose parts are halves, bfloat16, or floats of 4, 6 or 8 bits: the real part comes first.

    If numpy and ``ml_dtypes`` have no complex type, an element has the fields ``real`` and ``imag``.

    Parameters
    ----------
    name
        A registered name, such as ``"complex_float16"`` or ``"complex_float8_e5m2"``.
    endianness
        The byte order in memory of parts of 2 bytes.

    Examples
    --------
    >>> from zarr.dtype import SmallComplex
    >>> SmallComplex(name="complex_float16").to_json(3)
    'complex_float16'
    """

    _members: ClassVar[tuple[str, ...]] = _COMPLEX
    _ordered: ClassVar[Collection[str]] = _PAIRS

    @property
    def _part(self) -> str:
        return self.name.removeprefix("complex_")

    def _of_parts(self, real: Any, imag: Any) -> Any:
        # Assembled from bytes: arithmetic would not keep the bits of a NaN.
        part = _native(self._part)
        raw = b"".join(np.asarray(number, dtype=part).tobytes() for number in (real, imag))
        return np.frombuffer(raw, dtype=np.uint8).view(_native(self.name))[0]

    def _parts(self, data: Any) -> tuple[Any, Any]:
        raw = np.asarray(data, dtype=_native(self.name)).reshape(1)
        real, imag = raw.view(np.uint8).view(_native(self._part))
        return real, imag

    def cast_scalar(self, data: object) -> Any:
        """Make a scalar of a number, or of a scalar with the two parts."""
        if getattr(data, "dtype", None) == _native(self.name):
            return self._of_parts(*self._parts(data))
        try:
            number = complex(data)  # type: ignore[call-overload]
        except (TypeError, ValueError):
            raise base.wrong_scalar(self, data) from None
        part = _scalar_type(self._part)
        return self._of_parts(*(_checked(part(side), side, self.name) for side in (number.real, number.imag)))

    def default_scalar(self) -> Any:
        """Return zero; NaN if the parts have no zero."""
        zero = _scalar_type(self._part)(0)
        return self._of_parts(zero, zero)

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> Any:
        """Return the scalar of a pair of floats in any form that a float has; a lone number is a real part."""
        return self._of_parts(*(_small_float(item, self._part) for item in scalars.pair_of_floats(data)))

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> tuple[float | str, float | str]:
        """Return the two parts, each as a float goes to JSON."""
        real, imag = self._parts(self.cast_scalar(data))
        keep_bits = zarr_format == 3
        return scalars.float_to_json(real, keep_bits=keep_bits), scalars.float_to_json(imag, keep_bits=keep_bits)
