"""JSON of scalars and of data types, converted piece by piece.

Needed by data types written outside this library, which import them from here and from ``zarr.core.dtype.common``.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeGuard, cast

import numpy as np

from zarr.dtype import scalars
from zarr.dtype.base import byte_order_of, endianness_mark
from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3
from zarr.dtype.scalars import ENDIANNESS_STR as ENDIANNESS_STR
from zarr.dtype.scalars import SPECIAL_FLOATS, check_dtype_spec_v2, float_from_json, float_to_json
from zarr.dtype.types.times import DATETIME_UNIT as DATETIME_UNIT
from zarr.dtype.types.times import DateTimeUnit as DateTimeUnit
from zarr.types import JSON, DTypeJSON, ZarrFormat
from zarr.types import EndiannessStr as EndiannessStr

IntishFloat = typing.NewType("IntishFloat", float)
IntishStr = typing.NewType("IntishStr", str)
FloatishStr = typing.NewType("FloatishStr", str)
NumpyEndiannessStr: TypeAlias = Literal[">", "<", "="]
NUMPY_ENDIANNESS_STR = (">", "<", "=")
SpecialFloatStrings: TypeAlias = Literal["NaN", "Infinity", "-Infinity"]
SPECIAL_FLOAT_STRINGS: Final = ("NaN", "Infinity", "-Infinity")
JSONFloatV2: TypeAlias = float | SpecialFloatStrings
JSONFloatV3: TypeAlias = float | str
IntLike: TypeAlias = typing.SupportsInt | typing.SupportsIndex | bytes | str
FloatLike: TypeAlias = typing.SupportsIndex | typing.SupportsFloat | bytes | str
ComplexLike: TypeAlias = typing.SupportsFloat | typing.SupportsIndex | typing.SupportsComplex | bytes | str | None

# The dtype of a float by the number of hexadecimal digits of its bits.
_WIDTHS: dict[int, np.dtype[Any]] = {4: np.dtype(np.float16), 8: np.dtype(np.float32), 16: np.dtype(np.float64)}

get_endianness_from_numpy_dtype = byte_order_of
endianness_to_numpy_str = endianness_mark


def float_from_json_v2(data: float | str) -> float:
    """Return the float of a number, or of "NaN", "Infinity" or "-Infinity".

    Examples
    --------
    >>> float_from_json_v2("-Infinity")
    -inf
    """
    return SPECIAL_FLOATS[data] if isinstance(data, str) and data in SPECIAL_FLOATS else float(data)


def float_from_json_v3(data: float | str) -> float:
    """Return the float as `float_from_json_v2` does, or from its bits in hexadecimal.

    Raises
    ------
    ValueError
        The string is none of these.

    Examples
    --------
    >>> float_from_json_v3("0x3ff0000000000000")
    1.0
    """
    if not isinstance(data, str) or data in SPECIAL_FLOATS:
        return float_from_json_v2(data)
    if not data.startswith("0x"):
        raise ValueError(
            f"Invalid float value: {data!r}. Expected a string starting with the hex prefix '0x', or one of 'NaN', "
            "'Infinity', or '-Infinity'."
        )
    if len(data) - 2 not in _WIDTHS:
        raise ValueError(
            f"Invalid hexadecimal float value: {data!r}. Expected the '0x' prefix to be followed by 4, 8, or 16 "
            "numeral characters"
        )
    return float(float_from_json(data, _WIDTHS[len(data) - 2]))


def float_to_json_v2(data: float | np.floating[Any]) -> float | str:
    """Return a number, or "NaN", "Infinity" or "-Infinity".

    Examples
    --------
    >>> float_to_json_v2(float("inf"))
    'Infinity'
    """
    return float_to_json(np.float64(data), keep_bits=False)


float_to_json_v3 = float_to_json_v2


def complex_float_to_json_v2(data: complex | np.complexfloating[Any, Any]) -> tuple[float | str, float | str]:
    """Return the real and the imaginary part as JSON numbers.

    Examples
    --------
    >>> complex_float_to_json_v2(1 + 2j)
    (1.0, 2.0)
    """
    return float_to_json_v2(data.real), float_to_json_v2(data.imag)


complex_float_to_json_v3 = complex_float_to_json_v2


def complex_float_from_json_v2(data: Sequence[float | str]) -> complex:
    """Return the complex number of two parts.

    Examples
    --------
    >>> complex_float_from_json_v2((1, 2))
    (1+2j)
    """
    return complex(float_from_json_v2(data[0]), float_from_json_v2(data[1]))


def complex_float_from_json_v3(data: Sequence[float | str]) -> complex:
    """Return the complex number of two parts, each a number or its bits.

    Examples
    --------
    >>> complex_float_from_json_v3((1, "0x3ff0000000000000"))
    (1+1j)
    """
    return complex(float_from_json_v3(data[0]), float_from_json_v3(data[1]))


def check_json_float_v2(data: JSON) -> TypeGuard[float | str]:
    """Return True for a number or the name of a special one.

    Examples
    --------
    >>> check_json_float_v2("NaN"), check_json_float_v2("1.0")
    (True, False)
    """
    return isinstance(data, float | int) or (isinstance(data, str) and data in SPECIAL_FLOATS)


def check_json_float_v3(data: JSON) -> TypeGuard[float | str]:
    """Return True for a number, the name of a special one, or text that begins with "0x".

    Examples
    --------
    >>> check_json_float_v3("0x7fc00000")
    True
    """
    return check_json_float_v2(data) or (isinstance(data, str) and data.startswith("0x"))


def _is_pair(data: JSON, check: Callable[[JSON], bool]) -> bool:
    return isinstance(data, Sequence) and not isinstance(data, str) and len(data) == 2 and all(map(check, data))


def check_json_complex_float_v2(data: JSON) -> TypeGuard[tuple[float | str, float | str]]:
    """Return True for a pair of floats.

    Examples
    --------
    >>> check_json_complex_float_v2([0.0, "NaN"]), check_json_complex_float_v2([0.0])
    (True, False)
    """
    return _is_pair(data, check_json_float_v2)


def check_json_complex_float_v3(data: JSON) -> TypeGuard[tuple[float | str, float | str]]:
    """Return True for a pair of floats, each a number or its bits.

    Examples
    --------
    >>> check_json_complex_float_v3([0.0, "0x7fc00000"])
    True
    """
    return _is_pair(data, check_json_float_v3)


def check_json_int(data: JSON) -> TypeGuard[int]:
    """Return True for an integer.

    Examples
    --------
    >>> check_json_int(1), check_json_int(1.0)
    (True, False)
    """
    return isinstance(data, int)


def check_json_intish_float(data: JSON) -> TypeGuard[IntishFloat]:
    """Return True for a float without a fraction.

    Examples
    --------
    >>> check_json_intish_float(1.0), check_json_intish_float(1.5)
    (True, False)
    """
    return isinstance(data, float) and data.is_integer()


def _reads_as(data: JSON, number: Callable[[str], object]) -> bool:
    if not isinstance(data, str):
        return False
    try:
        number(data)
    except ValueError:
        return False
    return True


def check_json_intish_str(data: JSON) -> TypeGuard[IntishStr]:
    """Return True for a string that reads as an integer.

    Examples
    --------
    >>> check_json_intish_str("1"), check_json_intish_str("1.5")
    (True, False)
    """
    return _reads_as(data, int)


def check_json_floatish_str(data: JSON) -> TypeGuard[FloatishStr]:
    """Return True for a string that reads as a float.

    Examples
    --------
    >>> check_json_floatish_str("1.5"), check_json_floatish_str("x")
    (True, False)
    """
    return _reads_as(data, float)


def check_json_str(data: JSON) -> TypeGuard[str]:
    """Return True for a string.

    Examples
    --------
    >>> check_json_str("1")
    True
    """
    return isinstance(data, str)


def check_json_bool(data: JSON) -> TypeGuard[bool]:
    """Return True for a bool.

    Examples
    --------
    >>> check_json_bool(True), check_json_bool(1)
    (True, False)
    """
    return isinstance(data, bool)


def endianness_from_numpy_str(endianness: NumpyEndiannessStr) -> EndiannessStr:
    """Return the byte order of a numpy mark.

    Parameters
    ----------
    endianness : ">", "<" or "="

    Returns
    -------
    "little" or "big"

    Raises
    ------
    ValueError
        If it is none of the marks.

    Examples
    --------
    >>> endianness_from_numpy_str(">")
    'big'
    """
    if endianness not in NUMPY_ENDIANNESS_STR:
        raise ValueError(f"Invalid endianness: {endianness!r}. Expected one of {NUMPY_ENDIANNESS_STR}")
    return cast("EndiannessStr", {">": "big", "<": "little", "=": sys.byteorder}[endianness])


def bytes_from_json(data: str, *, zarr_format: ZarrFormat) -> bytes:
    """Return the bytes of a base64 string; the same in both formats.

    Examples
    --------
    >>> bytes_from_json("YWI=", zarr_format=3)
    b'ab'
    """
    return scalars.bytes_from_json(data)


def bytes_to_json(data: bytes, zarr_format: ZarrFormat) -> str:
    """Return bytes as a base64 string; the same in both formats.

    Examples
    --------
    >>> bytes_to_json(b"ab", zarr_format=3)
    'YWI='
    """
    return scalars.bytes_to_json(data)


def unpack_dtype_json(data: DTypeSpec_V2 | DTypeSpec_V3) -> DTypeJSON:
    """Return the JSON form of a data type as a metadata document has it: in format 2 the name alone.

    Parameters
    ----------
    data : str or dict

    Returns
    -------
    str, list or dict

    Examples
    --------
    >>> unpack_dtype_json({"name": "<i4", "object_codec_id": None}), unpack_dtype_json("int32")
    ('<i4', 'int32')
    """
    form: Any = data
    return form["name"] if check_dtype_spec_v2(form) else form  # type: ignore[no-any-return]


def datetime_from_int(data: int, *, unit: DateTimeUnit, scale_factor: int) -> np.datetime64:
    """Return the numpy time of a count.

    Parameters
    ----------
    data : int
        The number of multiples of the unit since the start of 1970.
    unit : str
    scale_factor : int
        The multiple.

    Returns
    -------
    numpy.datetime64

    Examples
    --------
    >>> print(datetime_from_int(3, unit="s", scale_factor=10))
    1970-01-01T00:00:30
    """
    return cast("np.datetime64", np.int64(data).view(f"datetime64[{scale_factor}{unit}]"))


def datetimelike_to_int(data: np.datetime64 | np.timedelta64) -> int:
    """Return the count of a numpy time or duration.

    Examples
    --------
    >>> datetimelike_to_int(np.timedelta64(5, "s"))
    5
    """
    return int(data.view(np.int64))
