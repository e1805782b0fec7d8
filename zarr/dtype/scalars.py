"""The JSON forms of data types and of their scalars: names, special floats and bit patterns, bytes as base64."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

import numpy as np

from zarr._lazy import base64, binascii
from zarr.types import JSON as JSON
from zarr.types import DTypeJSON as DTypeJSON
from zarr.types import EndiannessStr as EndiannessStr
from zarr.types import ZarrFormat as ZarrFormat

if TYPE_CHECKING:
    from zarr.typed_dicts import DTypeName_V2, DTypeSpec_V2, DTypeSpec_V3
    from zarr.types import DTypeConfig_V2


ENDIANNESS_STR: Final = "little", "big"
# Filters of format 2 that turn objects into bytes; the first filter of an object array is one of these.
OBJECT_CODEC_IDS: Final = (
    "vlen-utf8",
    "vlen-bytes",
    "vlen-array",
    "pickle",
    "json2",
    "json",
    "msgpack2",
    "msgpack",
    "categorize",
    "base64",
)
ObjectCodecID: TypeAlias = str


def is_sequence(data: object) -> TypeGuard[Sequence[Any]]:
    """Return True if an object is a sequence, but neither text nor bytes.

    Examples
    --------
    >>> is_sequence([1]), is_sequence("a")
    (True, False)
    """
    return isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray))


def check_dtype_name_v2(data: object) -> TypeGuard[DTypeName_V2]:
    """Return True if an object looks like the ``dtype`` of format 2: a string, or a list of fields.

    Examples
    --------
    >>> check_dtype_name_v2("<i4"), check_dtype_name_v2([["a", "<i4"]]), check_dtype_name_v2(4)
    (True, True, False)
    """
    if isinstance(data, str):
        return True
    return isinstance(data, Sequence) and all(
        isinstance(field, Sequence)
        and not isinstance(field, str)
        and len(field) in (2, 3)
        and isinstance(field[0], str)
        and check_dtype_name_v2(field[1])
        for field in data
    )


def check_dtype_spec_v2(data: object) -> TypeGuard[DTypeSpec_V2]:
    """Return True if an object is a name of format 2 together with the id of an object codec, or None.

    Parameters
    ----------
    data : object
        The object.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.dtype import check_dtype_spec_v2
    >>> check_dtype_spec_v2({"name": "|O", "object_codec_id": "vlen-utf8"})
    True
    """
    return (
        isinstance(data, Mapping)
        and set(data) == {"name", "object_codec_id"}
        and check_dtype_name_v2(data["name"])
        and (data["object_codec_id"] is None or isinstance(data["object_codec_id"], str))
    )


def object_codec_of(data: object) -> str | None:
    """Return the codec in the JSON form of objects in format 2; None for any other data type.

    Examples
    --------
    >>> object_codec_of({"name": "|O", "object_codec_id": "pickle"})
    'pickle'
    """
    return data["object_codec_id"] if check_dtype_spec_v2(data) and data["name"] == "|O" else None


def check_dtype_spec_no_object_codec_v2(data: object) -> TypeGuard[DTypeConfig_V2[DTypeName_V2, None]]:
    """Return True if an object is a name of format 2 without an object codec.

    Parameters
    ----------
    data : object
        The object.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.dtype import check_dtype_spec_no_object_codec_v2
    >>> check_dtype_spec_no_object_codec_v2({"name": "|O", "object_codec_id": "vlen-utf8"})
    False
    """
    return check_dtype_spec_v2(data) and data["object_codec_id"] is None


def check_dtype_spec_v3(data: object) -> TypeGuard[DTypeSpec_V3]:
    """Return True if an object is a name, or a name with a configuration.

    Examples
    --------
    >>> check_dtype_spec_v3("int8"), check_dtype_spec_v3({"configuration": {}})
    (True, False)
    """
    if isinstance(data, str):
        return True
    return (
        isinstance(data, Mapping)
        and isinstance(data.get("name"), str)
        and isinstance(data.get("configuration", {}), Mapping)
    )


def split_dtype_spec_v3(data: object) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the configuration (empty if there is none) of a ``data_type`` of format 3.

    Returns
    -------
    None if the object is no ``data_type``.

    Examples
    --------
    >>> split_dtype_spec_v3("int8"), split_dtype_spec_v3({"name": "int8"})
    (('int8', {}), ('int8', {}))
    """
    if not check_dtype_spec_v3(data):
        return None
    if isinstance(data, str):
        return data, {}
    return data["name"], data.get("configuration", {})


_HEX = r"0x[0-9a-fA-F]+"
_SMALL: Final = 2**11
SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def float_from_json(data: object, dtype: np.dtype[Any]) -> Any:
    """Return the float scalar of a JSON value.

    A number is rounded once, half to even. A string is "NaN", "Infinity", "-Infinity", or "0x" and the bits of the
    number in hexadecimal, most significant first; every bit is kept, also the signalling bit of a NaN.

    Parameters
    ----------
    data
        The JSON value.
    dtype
        The dtype of the scalar.

    Raises
    ------
    TypeError
        If the JSON value is no number.
    ValueError
        If the bit pattern has the wrong length.

    Examples
    --------
    >>> float_from_json("0x7fc00000", np.dtype("float32"))
    np.float32(nan)
    """
    if (type(data) is float or type(data) is int) and -_SMALL <= data <= _SMALL and dtype.itemsize > 1:
        return dtype.type(data)  # rounded once, and far from an overflow
    if isinstance(data, str):
        if data.startswith("0x"):
            return _float_from_bits(data, dtype)
        try:
            return dtype.type(SPECIAL_FLOATS[data] if data in SPECIAL_FLOATS else float(data))
        except ValueError:
            raise not_a_float(data) from None
    if isinstance(data, (int, np.integer)):
        return _round_int(int(data), dtype)
    if isinstance(data, (float, np.floating)):
        with np.errstate(over="ignore"):
            return dtype.type(data)
    raise not_a_float(data)


def not_a_float(data: object) -> TypeError:
    """Return the error for a JSON value that is no float.

    Examples
    --------
    >>> not_a_float("x")
    TypeError('Invalid type: x. Expected a float or a special string encoding of a float.')
    """
    return TypeError(f"Invalid type: {data}. Expected a float or a special string encoding of a float.")


def pair_of_floats(data: object) -> Sequence[Any]:
    """Return the real and the imaginary part of a complex number in JSON; a single number is real.

    Examples
    --------
    >>> pair_of_floats(2.5)
    [2.5, 0]
    """
    pair = [data, 0] if isinstance(data, (int, float)) else data
    if not is_sequence(pair) or len(pair) != 2:
        raise not_a_float(data)
    return pair


def _float_from_bits(data: str, dtype: np.dtype[Any]) -> Any:
    digits = 2 * dtype.itemsize
    if not re.fullmatch(_HEX, data) or len(data) != digits + 2:
        raise ValueError(
            f"Invalid hexadecimal float value: {data!r}. Expected the '0x' prefix to be followed by {digits} "
            f"hexadecimal digits, the bits of a {dtype.name}"
        )
    bits = bytes.fromhex(data[2:])
    # In the byte order of the machine, because swapping uses arithmetic that quiets a signalling NaN.
    return np.frombuffer(bits[::-1] if sys.byteorder == "little" else bits, dtype=dtype.newbyteorder("="))[0]


def _round_int(value: int, dtype: np.dtype[Any]) -> Any:
    """Round an integer to a float once. A conversion by a Python float would round large ones twice."""
    with np.errstate(over="ignore"):
        try:
            guess = dtype.type(float(value))
        except OverflowError:
            return dtype.type(math.copysign(math.inf, value))
        if -(2**53) <= value <= 2**53 or dtype.itemsize == 8 or not np.isfinite(guess):
            return guess
        near = [np.nextafter(guess, dtype.type(end)) for end in (-math.inf, math.inf)]
        bits = np.dtype(f"u{dtype.itemsize}")
        return min(
            (guess, *(number for number in near if np.isfinite(number))),
            key=lambda number: (abs(int(number) - value), int(number.view(bits)) & 1),
        )


def float_to_json(value: Any, *, keep_bits: bool) -> float | str:
    """Return the JSON value of a float scalar.

    Parameters
    ----------
    value
        A numpy scalar.
    keep_bits
        If True, an unusual NaN is written as its bits; if False, every NaN is "NaN".

    Examples
    --------
    >>> float_to_json(np.float32("-inf"), keep_bits=True)
    '-Infinity'
    """
    if np.isnan(value):
        raw: bytes = value.tobytes()
        if keep_bits and raw != value.dtype.type(np.nan).tobytes():
            # A numpy scalar always has the byte order of the machine.
            return "0x" + (raw[::-1] if sys.byteorder == "little" else raw).hex()
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def bytes_from_json(data: object) -> bytes:
    """Return the bytes of a JSON value: a base64 string, or a list of integers from 0 to 255.

    Raises
    ------
    TypeError
        If the JSON value is neither.
    ValueError
        If the string is not base64, or an integer is out of range.

    Examples
    --------
    >>> bytes_from_json("YWI="), bytes_from_json([97, 98])
    (b'ab', b'ab')
    """
    if isinstance(data, str):
        # Strictly: skipped characters would change the value. Lines may be folded, and netCDF-C writes NULs unencoded
        # if there are no other characters.
        if not data.strip("\0"):
            return b""
        return base64.b64decode("".join(data.split()), validate=True)
    if is_sequence(data):
        if not all(isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= 255 for item in data):
            raise ValueError(f"Invalid bytes: {data}. Expected integers from 0 to 255.")
        return bytes(data)
    raise TypeError(f"Invalid type: {data}. Expected a base64-encoded string or a list of integers from 0 to 255.")


def bytes_to_json(data: bytes) -> str:
    """Return bytes as a base64 string.

    Examples
    --------
    >>> bytes_to_json(b"ab")
    'YWI='
    """
    return binascii.b2a_base64(data, newline=False).decode("ascii")


# The number of used bits of each byte. Types that are not here use all.
USED_BITS: Final[dict[str, int]] = {
    "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
}  # fmt: skip


def is_small(dtype: np.dtype[Any]) -> bool:
    """Return True if a dtype is one of those of ``ml_dtypes``.

    Examples
    --------
    >>> is_small(np.dtype("V2"))
    False
    """
    return dtype.type.__module__ == "ml_dtypes"


def used_bits(dtype: np.dtype[Any]) -> int:
    """Return the number of used low bits of each byte of an element; 8 unless elements are narrower than a byte.

    Examples
    --------
    >>> used_bits(np.dtype("u1"))
    8
    """
    if dtype.fields is not None and dtype.names == ("real", "imag"):
        dtype = dtype.fields["real"][0]
    return USED_BITS.get(dtype.name, 8) if is_small(dtype) else 8


def drop_unused_bits(raw: np.ndarray[Any, np.dtype[np.uint8]], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return the bytes of elements with unused bits cleared, as ``ml_dtypes`` itself leaves them.

    Parameters
    ----------
    raw
        One-dimensional ``uint8`` array.
    dtype
        The data type of the elements.

    Examples
    --------
    >>> drop_unused_bits(np.array([255], dtype="u1"), np.dtype("u1"))
    array([255], dtype=uint8)
    """
    bits = used_bits(dtype)
    return raw if bits == 8 else raw & np.uint8(2**bits - 1)

