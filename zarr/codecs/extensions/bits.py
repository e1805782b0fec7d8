"""Codecs of bits: ``packbits`` stores elements of a few bits without gaps, ``bitround`` rounds numbers.

Rounded numbers compress better. Both count bits from the least significant one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import (
    AnyArray,
    BoundBase,
    Bytes,
    FunctionCodec,
    as_bytes,
    check_size,
    native_dtype,
)
from zarr.codecs.base.described import ArrayArrayMethods, ArrayBytesMethods, one_of, parse_field_int
from zarr.dtype.base import ZDType
from zarr.dtype.scalars import is_small, used_bits

PADDING_ENCODING = ("none", "first_byte", "last_byte")


@dataclass(frozen=True)
class _Component:
    """The numbers that elements consist of: bytes in memory, bits, and True if the highest bit is a sign."""

    itemsize: int
    nbits: int
    per_element: int
    has_sign: bool


def _component_of(dtype: np.dtype[Any]) -> _Component:
    if dtype.kind == "b":
        return _Component(1, 1, 1, False)
    if is_small(dtype):
        wide = dtype.name.startswith(("bfloat16", "bcomplex", "complex"))
        parts = 2 if "complex" in dtype.name else 1
        return _Component(2 if wide else 1, 16 if wide else used_bits(dtype), parts, dtype.name.startswith("int"))
    if dtype.names == ("real", "imag"):
        return _Component(1, used_bits(dtype), 2, False)
    if dtype.kind == "c":
        return _Component(dtype.itemsize // 2, 4 * dtype.itemsize, 2, False)
    if dtype.kind in "iufmM":
        return _Component(dtype.itemsize, 8 * dtype.itemsize, 1, dtype.kind in "imM")
    raise ValueError(f"codec 'packbits' cannot store elements of {dtype}, which are no numbers of a fixed size")


def _reversed_groups(items: Bytes, width: int) -> Bytes:
    return np.ascontiguousarray(items.reshape(-1, width)[:, ::-1]).reshape(-1)


class BoundPackBits(BoundBase):
    """Turn elements into consecutive bits, and back."""

    def __init__(self, spec: ArraySpec, codec: PackBitsCodec) -> None:
        super().__init__("packbits", spec)
        self._shape = spec.shape
        self._dtype = native_dtype(spec)
        self._part = _component_of(self._dtype)
        self._first, self._nbits = codec._bits_of(self._part)
        self._count = prod(spec.shape) * self._part.per_element
        self._padding = codec.padding_encoding
        self._npacked = (self._count * self._nbits + 7) // 8
        self._unused = np.array([-self._count * self._nbits % 8], dtype=np.uint8)
        self._swaps = self._part.itemsize > 1 and self._dtype.newbyteorder("<") != self._dtype

    def decode(self, data: Bytes) -> AnyArray:
        """Return the elements."""
        check_size("packbits", data.size, self.encoded_size(0))
        if self._padding != "none":
            first = self._padding == "first_byte"
            if data[0 if first else -1] != self._unused[0]:
                said, must = data[0 if first else -1], self._unused[0]
                raise self.damaged(f"the chunk states {said} bits of padding where {must} are needed")
            data = data[1:] if first else data[:-1]
        part = self._part
        sign = part.nbits if part.has_sign else 0
        items = zarr_core.unpack_bits(
            np.ascontiguousarray(data), self._count, part.itemsize, self._first, self._nbits, sign
        )
        return self._little(items).view(self._dtype).reshape(self._shape)

    def encode(self, data: AnyArray) -> Bytes:
        """Return the bits."""
        items = self._little(as_bytes(np.asarray(data, dtype=self._dtype)))
        packed: Bytes = zarr_core.pack_bits(items, self._part.itemsize, self._first, self._nbits)
        if self._padding == "none":
            return packed
        return np.concatenate([self._unused, packed] if self._padding == "first_byte" else [packed, self._unused])

    def encoded_size(self, nbytes: int) -> int:
        """Return the size, which is the same for all chunks of a shape."""
        return self._npacked + (self._padding != "none")

    def _little(self, items: Bytes) -> Bytes:
        """Return components in little-endian order if they are big-endian, and the other way round."""
        return _reversed_groups(items, self._part.itemsize) if self._swaps else items


@dataclass(frozen=True)
class PackBitsCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store only the used bits of the elements: one of a boolean, four of an ``int4``, any range of a wider type.

    Parameters
    ----------
    padding_encoding
        The place of a byte with the number of padding bits: ``"none"``, ``"first_byte"``, ``"last_byte"``.
    first_bit, last_bit
        The range of bits to keep, from the least significant one; both are included; None is the whole element.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(20,), dtype=bool, serializer=PackBitsCodec(), compressors=None)
    >>> array[::3] = True
    >>> array.nbytes_stored() - len(array.store["zarr.json"])  # doctest: +SKIP
    3
    """

    _name = "packbits"
    _requires_configuration = False
    is_fixed_size = True

    padding_encoding: Literal["none", "first_byte", "last_byte"] = "none"
    first_bit: int | None = None
    last_bit: int | None = None

    def __init__(
        self, *, padding_encoding: str = "none", first_bit: int | None = None, last_bit: int | None = None
    ) -> None:
        put = object.__setattr__
        put(self, "padding_encoding", one_of(padding_encoding, PADDING_ENCODING, "padding_encoding", "PackBitsCodec"))
        put(self, "first_bit", None if first_bit is None else parse_field_int(first_bit, "first_bit"))
        put(self, "last_bit", None if last_bit is None else parse_field_int(last_bit, "last_bit"))
        if (self.first_bit or 0) < 0 or (self.last_bit is not None and self.last_bit < (self.first_bit or 0)):
            raise ValueError(f"packbits keeps no bits from first_bit {first_bit} to last_bit {last_bit}")

    def _bits_of(self, part: _Component) -> tuple[int, int]:
        """Return the first bit and the number of bits, for components of a kind."""
        first = self.first_bit or 0
        last = part.nbits - 1 if self.last_bit is None else self.last_bit
        if not first <= last < part.nbits:
            raise ValueError(f"packbits: bits {first} to {last} do not lie in an element of {part.nbits} bits")
        return first, last - first + 1

    def validate(self, *, dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise ValueError if the elements are no numbers of a fixed size, or are narrower than the range of bits."""
        self._bits_of(_component_of(dtype.to_native_dtype()))

    def bind(self, spec: ArraySpec) -> BoundPackBits:
        """Return the codec bound to chunks of one description."""
        return BoundPackBits(spec, self)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the size of a packed chunk."""
        return self.bind(chunk_spec).encoded_size(input_byte_length)


# Width of the components in bytes, and the bits of their mantissa; 0 for integers.
_FLOATS = {"f2": (2, 10), "f4": (4, 23), "f8": (8, 52), "c8": (4, 23), "c16": (8, 52)}
_SMALL = {"bfloat16": (2, 7), "bcomplex32": (2, 7), "complex32": (2, 10)}


def _layout_of(dtype: np.dtype[Any]) -> tuple[int, int]:
    found = _SMALL.get(dtype.name) if is_small(dtype) else _FLOATS.get(f"{dtype.kind}{dtype.itemsize}")
    if found is None and not is_small(dtype) and dtype.kind in "iumM":
        found = (dtype.itemsize, 0)
    if found is None:
        raise ValueError(f"codec 'bitround' rounds integers, times, floats and complex numbers, not {dtype}")
    return found


def round_elements(array: AnyArray, keepbits: int) -> AnyArray:
    """Return an array with its elements rounded, half to even.

    Parameters
    ----------
    array
        Integers, times, floats or complex numbers.
    keepbits
        The number of bits of the mantissa to keep, or of an integer from its most significant set bit on.

    Examples
    --------
    >>> round_elements(np.array([1.1, 3.3]), 3)
    array([1.125, 3.25 ])
    """
    width, mantissa = _layout_of(array.dtype)
    raw = as_bytes(array)
    swaps = width > 1 and array.dtype.newbyteorder("<") != array.dtype
    if swaps:
        raw = _reversed_groups(raw, width)
    rounded = zarr_core.round_bits(raw, width, keepbits, mantissa, array.dtype.kind in "imM")
    if swaps:
        rounded = _reversed_groups(rounded, width)
    return rounded.view(array.dtype).reshape(array.shape)


@dataclass(frozen=True)
class BitRoundCodec(ArrayArrayMethods, ArrayArrayCodec):
    """Round numbers to some significant bits when they are written; reading changes nothing.

    NaN stays NaN; an integer that rounding would take out of the range of its type is rounded down.

    Parameters
    ----------
    keepbits
        The number of bits to keep, at least 1: of the mantissa of a float, or of an integer from its most significant
        set bit on.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/bitround

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(2,), dtype="f4", filters=BitRoundCodec(keepbits=3))
    >>> array[:] = [1.1, 3.3]
    >>> array[:].tolist()
    [1.125, 3.25]
    """

    _name = "bitround"
    is_fixed_size = True

    keepbits: int

    def __init__(self, *, keepbits: int) -> None:
        parsed = parse_field_int(keepbits, "keepbits")
        if parsed < 1:
            raise ValueError(f"keepbits must be at least 1, got {parsed}")
        object.__setattr__(self, "keepbits", parsed)

    def validate(self, *, dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise ValueError if the elements are no numbers that can be rounded."""
        _layout_of(dtype.to_native_dtype())

    def bind(self, spec: ArraySpec) -> FunctionCodec:
        """Return the codec bound to chunks of one description."""
        _layout_of(native_dtype(spec))
        return FunctionCodec("bitround", spec, lambda data: data, lambda data: round_elements(data, self.keepbits))
