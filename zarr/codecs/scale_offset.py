"""The ``scale_offset`` codec: ``(x - offset) * scale`` in the array's own arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr.abc.codec import ArrayArrayCodec
from zarr.codecs.base.bound import AnyArray, FunctionCodec, native_dtype, replace_spec
from zarr.codecs.base.described import ArrayArrayMethods, representable
from zarr.types import JSON

if TYPE_CHECKING:
    from zarr.chunks import ChunkGridMetadata
    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType


@dataclass(frozen=True)
class ScaleOffset(ArrayArrayMethods, ArrayArrayCodec):
    """Store ``(x - offset) * scale``; reading gives ``x / scale + offset``.

    All arithmetic is that of the array's data type. A result that an integer type cannot hold, or a division that
    leaves a remainder, is an error and never wraps around.

    Parameters
    ----------
    offset, scale
        Numbers, or strings in the form of a fill value (``"NaN"``, ``"0x3f800000"``).

    Examples
    --------
    >>> ScaleOffset(offset=5, scale=2).to_dict()
    {'name': 'scale_offset', 'configuration': {'offset': 5, 'scale': 2}}
    """

    _name = "scale_offset"
    _requires_configuration = False
    _omits_empty = True
    is_fixed_size = True

    offset: int | float | str
    scale: int | float | str

    def __init__(self, *, offset: object = 0, scale: object = 1) -> None:
        object.__setattr__(self, "offset", _parse_number(offset, "offset"))
        object.__setattr__(self, "scale", _parse_number(scale, "scale"))

    def _configuration(self) -> dict[str, JSON]:
        given: dict[str, JSON] = {"offset": self.offset, "scale": self.scale}
        return {name: value for name, value in given.items() if value != (name == "scale")}

    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise if the array's type cannot hold the parameters.

        Raises
        ------
        ValueError
            When the type is no integer or floating-point type, or cannot hold the offset or the scale.
        """
        self._scalars(dtype)

    def _scalars(self, dtype: ZDType[Any, Any]) -> tuple[np.generic, np.generic]:
        """Return offset and scale in a data type."""
        if dtype.to_native_dtype().kind not in "iuf":
            raise ValueError(f"scale_offset codec only supports integer and floating-point data types. Got {dtype}.")
        offset = representable(dtype, self.offset, "scale_offset offset value")
        scale = representable(dtype, self.scale, "scale_offset scale value")
        if scale == 0:
            raise ValueError("scale_offset scale must be non-zero.")
        return offset, scale

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the fill value transformed like the elements.

        Raises
        ------
        ValueError
            When the type cannot hold the transformed fill value.
        """
        offset, scale = self._scalars(chunk_spec.dtype)
        fill = np.asarray(chunk_spec.fill_value, dtype=native_dtype(chunk_spec))
        with np.errstate(over="ignore", invalid="ignore"):
            encoded = encode_values(fill.reshape(1), offset, scale)
        return replace_spec(chunk_spec, fill_value=encoded[0])

    def bind(self, spec: ArraySpec) -> FunctionCodec:
        """Make the codec ready for chunks of one description."""
        offset, scale = self._scalars(spec.dtype)
        return FunctionCodec(
            "scale_offset",
            self.resolve_metadata(spec),
            lambda data: decode_values(data, offset, scale),
            lambda data: encode_values(data, offset, scale),
        )


def _parse_number(data: object, field: str) -> int | float | str:
    if isinstance(data, (np.integer, np.floating)):
        data = data.item()
    if not isinstance(data, (int, float, str)):
        raise TypeError(f"{field} must be a number or string, got {type(data).__name__}")
    return data


def encode_values(array: AnyArray, offset: Any, scale: Any) -> AnyArray:
    """Return ``(array - offset) * scale`` in the array's data type.

    Raises
    ------
    ValueError
        When an integer type cannot hold a result.

    Examples
    --------
    >>> encode_values(np.array([6, 7], dtype="u1"), np.uint8(6), np.uint8(2))
    array([0, 2], dtype=uint8)
    """
    if array.dtype.kind == "f":
        encoded: AnyArray = ((array - offset) * scale).astype(array.dtype, copy=False)
        return encoded
    wide, low, high = _wide(array, abs(int(offset)), abs(int(scale)))
    return _narrow((wide - int(offset)) * int(scale), array.dtype, low, high)


def decode_values(array: AnyArray, offset: Any, scale: Any) -> AnyArray:
    """Return ``array / scale + offset`` in the array's data type.

    Raises
    ------
    ValueError
        When an integer division leaves a remainder, or an integer type cannot hold a result.

    Examples
    --------
    >>> decode_values(np.array([0, 2], dtype="u1"), np.uint8(6), np.uint8(2))
    array([6, 7], dtype=uint8)
    """
    if array.dtype.kind == "f":
        decoded: AnyArray = (array / scale + offset).astype(array.dtype, copy=False)
        return decoded
    wide, low, high = _wide(array, abs(int(offset)), 1)
    quotient = wide // int(scale)
    if np.any(quotient * int(scale) != wide):
        raise ValueError(
            f"scale_offset decode produced a non-zero remainder when dividing by scale={int(scale)}; "
            f"result is not exactly representable in dtype {array.dtype}."
        )
    return _narrow(quotient + int(offset), array.dtype, low, high)


def _wide(array: AnyArray, offset: int, scale: int) -> tuple[AnyArray, int, int]:
    """Return integers in a type in which the arithmetic cannot overflow, and the range of their own type."""
    info = np.iinfo(array.dtype)
    low, high = int(info.min), int(info.max)
    largest = (max(-low, high) + offset) * scale
    # Python's integers have no range; they are slow, but only 64-bit arrays and large parameters need them.
    return array.astype(np.int64 if largest < 2**63 else object), low, high


def _narrow(values: AnyArray, dtype: np.dtype[Any], low: int, high: int) -> AnyArray:
    if values.size and (values.min() < low or values.max() > high):
        raise ValueError(f"scale_offset produced a value outside the range of dtype {dtype} [{low}, {high}].")
    return values.astype(dtype)
