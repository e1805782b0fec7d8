"""Scalars in JSON, checked and converted one by one, as those who write data types outside the library do it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NewType, TypeGuard

import numpy as np

from zarr.dtype.scalars import float_from_json, float_to_json
from zarr.types import JSON

IntishFloat = NewType("IntishFloat", float)
IntishStr = NewType("IntishStr", str)
FloatishStr = NewType("FloatishStr", str)

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# How many hexadecimal digits the bits of a float have, and its dtype.
_WIDTHS: dict[int, np.dtype[Any]] = {4: np.dtype(np.float16), 8: np.dtype(np.float32), 16: np.dtype(np.float64)}


def float_from_json_v2(data: float | str) -> float:
    """The float of a number, or of "NaN", "Infinity" or "-Infinity".

    Examples
    --------
    >>> float_from_json_v2("-Infinity")
    -inf
    """
    return _SPECIAL[data] if isinstance(data, str) and data in _SPECIAL else float(data)


def float_from_json_v3(data: float | str) -> float:
    """The same; besides, the float of its bits in hexadecimal.

    Raises
    ------
    ValueError
        The string is none of these.

    Examples
    --------
    >>> float_from_json_v3("0x3ff0000000000000")
    1.0
    """
    if not isinstance(data, str) or data in _SPECIAL:
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
    """A number, or "NaN", "Infinity" or "-Infinity".

    Examples
    --------
    >>> float_to_json_v2(float("inf"))
    'Infinity'
    """
    return float_to_json(np.float64(data), keep_bits=False)


float_to_json_v3 = float_to_json_v2


def complex_float_to_json_v2(data: complex | np.complexfloating[Any, Any]) -> tuple[float | str, float | str]:
    """The real and the imaginary part as JSON numbers.

    Examples
    --------
    >>> complex_float_to_json_v2(1 + 2j)
    (1.0, 2.0)
    """
    return float_to_json_v2(data.real), float_to_json_v2(data.imag)


complex_float_to_json_v3 = complex_float_to_json_v2


def complex_float_from_json_v2(data: Sequence[float | str]) -> complex:
    """The complex number of its two parts.

    Examples
    --------
    >>> complex_float_from_json_v2((1, 2))
    (1+2j)
    """
    return complex(float_from_json_v2(data[0]), float_from_json_v2(data[1]))


def complex_float_from_json_v3(data: Sequence[float | str]) -> complex:
    """The complex number of its two parts, which may be given by their bits.

    Examples
    --------
    >>> complex_float_from_json_v3((1, "0x3ff0000000000000"))
    (1+1j)
    """
    return complex(float_from_json_v3(data[0]), float_from_json_v3(data[1]))


def check_json_float_v2(data: JSON) -> TypeGuard[float | str]:
    """Whether something is a number or the name of a special one.

    Examples
    --------
    >>> check_json_float_v2("NaN"), check_json_float_v2("1.0")
    (True, False)
    """
    return isinstance(data, float | int) or (isinstance(data, str) and data in _SPECIAL)


def check_json_float_v3(data: JSON) -> TypeGuard[float | str]:
    """The same; besides, whether it begins like a float in hexadecimal.

    Examples
    --------
    >>> check_json_float_v3("0x7fc00000")
    True
    """
    return check_json_float_v2(data) or (isinstance(data, str) and data.startswith("0x"))


def _is_pair(data: JSON, check: Callable[[JSON], bool]) -> bool:
    return isinstance(data, Sequence) and not isinstance(data, str) and len(data) == 2 and all(map(check, data))


def check_json_complex_float_v2(data: JSON) -> TypeGuard[tuple[float | str, float | str]]:
    """Whether something is a pair of floats.

    Examples
    --------
    >>> check_json_complex_float_v2([0.0, "NaN"]), check_json_complex_float_v2([0.0])
    (True, False)
    """
    return _is_pair(data, check_json_float_v2)


def check_json_complex_float_v3(data: JSON) -> TypeGuard[tuple[float | str, float | str]]:
    """Whether something is a pair of floats, which may be given by their bits.

    Examples
    --------
    >>> check_json_complex_float_v3([0.0, "0x7fc00000"])
    True
    """
    return _is_pair(data, check_json_float_v3)


def check_json_int(data: JSON) -> TypeGuard[int]:
    """Whether something is an integer.

    Examples
    --------
    >>> check_json_int(1), check_json_int(1.0)
    (True, False)
    """
    return isinstance(data, int)


def check_json_intish_float(data: JSON) -> TypeGuard[IntishFloat]:
    """Whether something is a float without a fraction.

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
    """Whether something is a string that reads as an integer.

    Examples
    --------
    >>> check_json_intish_str("1"), check_json_intish_str("1.5")
    (True, False)
    """
    return _reads_as(data, int)


def check_json_floatish_str(data: JSON) -> TypeGuard[FloatishStr]:
    """Whether something is a string that reads as a float.

    Examples
    --------
    >>> check_json_floatish_str("1.5"), check_json_floatish_str("x")
    (True, False)
    """
    return _reads_as(data, float)


def check_json_str(data: JSON) -> TypeGuard[str]:
    """Whether something is a string.

    Examples
    --------
    >>> check_json_str("1")
    True
    """
    return isinstance(data, str)


def check_json_bool(data: JSON) -> TypeGuard[bool]:
    """Whether something is a bool.

    Examples
    --------
    >>> check_json_bool(True), check_json_bool(1)
    (True, False)
    """
    return isinstance(data, bool)
