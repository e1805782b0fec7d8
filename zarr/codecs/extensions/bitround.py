"""The ``bitround`` codec: numbers rounded to some significant bits, so that they compress better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayArrayCodec
from zarr.codecs.base.bound import AnyArray, FunctionCodec, as_bytes, native_dtype
from zarr.codecs.base.parsing import parse_field_int
from zarr.codecs.base.sync_methods import ArrayArrayMethods
from zarr.dtype.scalars import is_small

if TYPE_CHECKING:

    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import ZDType

# Width in bytes of the components, and how many bits their mantissa has; 0 for integers.
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
        How many bits of the mantissa are kept, or of an integer from its most significant set bit on.

    Examples
    --------
    >>> round_elements(np.array([1.1, 3.3]), 3)
    array([1.125, 3.25 ])
    """
    width, mantissa = _layout_of(array.dtype)
    raw = as_bytes(array)
    swaps = width > 1 and array.dtype.newbyteorder("<") != array.dtype
    if swaps:
        raw = np.ascontiguousarray(raw.reshape(-1, width)[:, ::-1]).reshape(-1)
    rounded = zarr_core.round_bits(raw, width, keepbits, mantissa, array.dtype.kind in "imM")
    if swaps:
        rounded = np.ascontiguousarray(rounded.reshape(-1, width)[:, ::-1]).reshape(-1)
    return rounded.view(array.dtype).reshape(array.shape)


@dataclass(frozen=True)
class BitRoundCodec(ArrayArrayMethods, ArrayArrayCodec):
    """Round numbers to some significant bits when they are written; reading changes nothing.

    NaN stays as it is, and an integer that rounding would take out of the range of its type is rounded down.

    Parameters
    ----------
    keepbits
        How many bits are kept, at least 1: of the mantissa of a float, or of an integer from its most significant set
        bit on.

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
        """Make the codec ready for chunks of one description."""
        _layout_of(native_dtype(spec))
        return FunctionCodec("bitround", spec, lambda data: data, lambda data: round_elements(data, self.keepbits))
