"""The ``scale_offset`` codec: ``(x - offset) * scale`` in the arithmetic of the array's data type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr.abc.codec import ArrayArrayCodec
from zarr.chunks import ChunkGridMetadata
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, FunctionCodec, native_dtype, replace_spec
from zarr.codecs.base.described import ArrayArrayMethods, representable
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.types import JSON


@dataclass(frozen=True)
class ScaleOffset(ArrayArrayMethods, ArrayArrayCodec):
    """Store ``(x - offset) * scale``; reading gives ``x / scale + offset``.

    All arithmetic uses the array's data type. If an integer type cannot hold a result, or a division leaves a
    remainder, an error is raised; nothing wraps around.

    Parameters
    ----------
    offset, scale
        Numbers, or strings in the form of a fill value (``"NaN"``, ``"0x3f800000"``).

    Examples
    --------
    >>> from zarr.codecs import ScaleOffset
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
        """Raise an error if the array's type cannot hold the parameters.

        Raises
        ------
        ValueError
            If the type is no integer or floating-point type, or cannot hold the offset or the scale.
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
            If the type cannot hold the transformed fill value.
        """
        offset, scale = self._scalars(chunk_spec.dtype)
        fill = np.asarray(chunk_spec.fill_value, dtype=native_dtype(chunk_spec))
        with np.errstate(over="ignore", invalid="ignore"):
            encoded = encode_values(fill.reshape(1), offset, scale)
        return replace_spec(chunk_spec, fill_value=encoded[0])

    def bind(self, spec: ArraySpec) -> FunctionCodec:
        """Return the codec bound to chunks of one description."""
        offset, scale = self._scalars(spec.dtype)
        return FunctionCodec(
            "scale_offset",
            self.resolve_metadata(spec),
            lambda data: decode_values(data, offset, scale, scale_repr=self.scale),
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
        If an integer type cannot hold a result.

    Examples
    --------
    >>> encode_values(np.array([6, 7], dtype="u1"), np.uint8(6), np.uint8(2))
    array([0, 2], dtype=uint8)
    """
    if array.dtype.kind == "f":
        return _of_same_dtype((array - offset) * scale, array.dtype)
    wide, low, high = _wide(array, abs(int(offset)), abs(int(scale)))
    return _narrow((wide - int(offset)) * int(scale), array.dtype, low, high)


def decode_values(array: AnyArray, offset: Any, scale: Any, *, scale_repr: object = None) -> AnyArray:
    """Return ``array / scale + offset`` in the array's data type; errors name ``scale_repr`` or else the scale.

    Raises
    ------
    ValueError
        If an integer division leaves a remainder, or an integer type cannot hold a result.

    Examples
    --------
    >>> decode_values(np.array([0, 2], dtype="u1"), np.uint8(6), np.uint8(2))
    array([6, 7], dtype=uint8)
    """
    if array.dtype.kind == "f":
        return _of_same_dtype(array / scale + offset, array.dtype)
    fits = _decode_fits_natively(array.dtype, int(offset), int(scale))
    wide, low, high = (array, 0, 0) if fits else _wide(array, abs(int(offset)), 1)
    quotient = wide // int(scale)
    if np.any(quotient * int(scale) != wide):
        raise ValueError(
            f"scale_offset decode produced a non-zero remainder when dividing by scale={scale_repr or scale}; "
            f"result is not exactly representable in dtype {array.dtype}."
        )
    values = quotient + int(offset)
    return values.astype(array.dtype, copy=False) if fits else _narrow(values, array.dtype, low, high)


def _of_same_dtype(values: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    if values.dtype != dtype.newbyteorder("="):
        raise ValueError(f"scale_offset changed dtype from {dtype} to {values.dtype}: give offset and scale in {dtype}")
    return values.astype(dtype, copy=False)


def _decode_fits_natively(dtype: np.dtype[Any], offset: int, scale: int) -> bool:
    """Return True if each value that decodes from an integer type fits into it, so that no wider type is needed."""
    info = np.iinfo(dtype)
    ends = sorted((int(info.min) // scale, int(info.max) // scale))
    return bool(info.min <= ends[0] + offset and ends[1] + offset <= info.max)


_encode, _decode = encode_values, decode_values  # as programs for zarr-python import them


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
