"""The ``cast_value`` codec: elements in another data type, converted by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from typing_extensions import TypedDict

import zarr_core
from zarr.abc.codec import ArrayArrayCodec
from zarr.chunks import ChunkGridMetadata
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, FunctionCodec, native_dtype, replace_spec
from zarr.codecs.base.described import ArrayArrayMethods, representable
from zarr.dtype import get_data_type_from_json
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.types import JSON

RoundingMode: TypeAlias = Literal[
    "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
]
OutOfRangeMode: TypeAlias = Literal["clamp", "wrap"]


def cast_values(
    array: AnyArray,
    target: np.dtype[Any],
    rounding: RoundingMode = "nearest-even",
    out_of_range: OutOfRangeMode | None = None,
    scalar_map: Mapping[Any, Any] | None = None,
) -> AnyArray:
    """Return numbers in another data type.

    Parameters
    ----------
    array
        Integers of up to 64 bits, or floating-point numbers of 16, 32 or 64 bits.
    target
        A data type of the same kinds.
    rounding
        The rounding of values between two representable ones.
    out_of_range
        The treatment of values beyond the target's range: the nearest end (infinity, for floating-point targets), or
        for integers the remainder; None raises an error.
    scalar_map
        Values that are replaced by given values; a NaN stands for every NaN.

    Raises
    ------
    ValueError
        If a value is out of range, or is NaN or infinite and the target has integers.

    Examples
    --------
    >>> cast_values(np.array([1.5, 300.0]), np.dtype("u1"), out_of_range="clamp")
    array([  2, 255], dtype=uint8)
    """
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    native = target.newbyteorder("=")
    mapped = _find_mapped(array, scalar_map or {})
    plain = array
    if mapped:
        plain = array.copy()
        for mask, _ in mapped:
            plain[mask] = 0
    result = zarr_core.cast_numbers(plain, native, rounding, out_of_range)
    for mask, value in mapped:
        result[mask] = value
    return result.astype(target, copy=False)


def _find_mapped(array: AnyArray, scalar_map: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the places of each mapped value; of two entries for one value the first counts."""
    found: list[tuple[Any, Any]] = []
    free = np.ones(array.shape, dtype=bool)
    for source, value in scalar_map.items():
        is_nan = isinstance(source, (float, np.floating)) and source != source
        if is_nan and array.dtype.kind != "f":
            continue
        mask = (np.isnan(array) if is_nan else array == source) & free
        if np.any(mask):
            free &= ~mask
            found.append((mask, value))
    return found


MapEntry: TypeAlias = str | float | int

CAST_VALUE_INT_DTYPES: Final = frozenset(
    ("int2", "int4", "int8", "int16", "int32", "int64", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
)
CAST_VALUE_FLOAT_DTYPES: Final = frozenset(
    (
        "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
        "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16", "float16", "float32",
        "float64",
    )
)  # fmt: skip
PERMITTED_DATA_TYPE_NAMES: Final = CAST_VALUE_INT_DTYPES | CAST_VALUE_FLOAT_DTYPES
# The kinds of numbers in the arithmetic of ``casting``; numpy has no other simple numbers.
_CODES: Final = frozenset("bhilqBHILQefd")


class ScalarMap(TypedDict, total=False):
    """Values that are mapped to given values, for each direction."""

    encode: Mapping[MapEntry, MapEntry]
    decode: Mapping[MapEntry, MapEntry]


class ScalarMapJSON(TypedDict, total=False):
    """The same in JSON, as lists of pairs."""

    encode: Iterable[tuple[MapEntry, MapEntry]]
    decode: Iterable[tuple[MapEntry, MapEntry]]


def parse_scalar_map(obj: ScalarMapJSON | ScalarMap) -> ScalarMap:
    """Return a scalar map, from lists of pairs or from mappings.

    Examples
    --------
    >>> parse_scalar_map({"encode": [["NaN", 0]]})
    {'encode': {'NaN': 0}}
    """
    result: ScalarMap = {}
    if "encode" in obj:
        result["encode"] = dict(obj["encode"])
    if "decode" in obj:
        result["decode"] = dict(obj["decode"])
    return result


@dataclass(frozen=True)
class CastValue(ArrayArrayMethods, ArrayArrayCodec):
    """Store elements in another data type, converted by value.

    Parameters
    ----------
    data_type
        The data type to store: integers or floating-point numbers.
    rounding
        The rounding of values between two representable ones.
    out_of_range
        For values beyond the range: ``"clamp"`` or, for integers, ``"wrap"``; None raises an error.
    scalar_map
        Values that are replaced by given values, for each direction, as pairs or a mapping.

    Examples
    --------
    >>> from zarr.codecs import CastValue
    >>> CastValue(data_type="int8", out_of_range="clamp").to_dict()["configuration"]
    {'data_type': 'int8', 'out_of_range': 'clamp'}
    """

    _name = "cast_value"
    is_fixed_size = True

    dtype: ZDType[TBaseDType, TBaseScalar]
    rounding: RoundingMode
    out_of_range: OutOfRangeMode | None
    scalar_map: ScalarMap | None

    def __init__(
        self,
        *,
        data_type: str | ZDType[TBaseDType, TBaseScalar],
        rounding: RoundingMode = "nearest-even",
        out_of_range: OutOfRangeMode | None = None,
        scalar_map: ScalarMapJSON | ScalarMap | None = None,
    ) -> None:
        dtype = _parse_target(data_type)
        if rounding not in _ROUNDINGS:
            raise ValueError(f"rounding must be one of {list(_ROUNDINGS)}. Got {rounding!r}.")
        if out_of_range not in (None, "clamp", "wrap"):
            raise ValueError(f"out_of_range must be 'clamp', 'wrap' or None. Got {out_of_range!r}.")
        put = object.__setattr__
        put(self, "dtype", dtype)
        put(self, "rounding", rounding)
        put(self, "out_of_range", out_of_range)
        put(self, "scalar_map", None if scalar_map is None else parse_scalar_map(scalar_map))

    def __hash__(self) -> int:
        return hash((self.dtype, self.rounding, self.out_of_range, repr(self.scalar_map)))

    def _configuration(self) -> dict[str, JSON]:
        configuration: dict[str, Any] = {"data_type": self.dtype.to_json(zarr_format=3)}
        if self.rounding != "nearest-even":
            configuration["rounding"] = self.rounding
        if self.out_of_range is not None:
            configuration["out_of_range"] = self.out_of_range
        if self.scalar_map is not None:
            maps: dict[str, Any] = dict(self.scalar_map)
            configuration["scalar_map"] = {direction: list(pairs.items()) for direction, pairs in maps.items()}
        return configuration

    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise an error if the codec does not fit the array.

        Raises
        ------
        ValueError
            If the array has no plain numbers, wraps into floating-point numbers, or a mapped value does not exist in
            its data type.
        """
        _check_numeric(dtype, f"Got source dtype {dtype.to_native_dtype()}.")
        if self.out_of_range == "wrap" and self.dtype.to_native_dtype().kind == "f":
            raise ValueError(
                "out_of_range='wrap' is only valid for integer target types. "
                f"Got target dtype {self.dtype.to_native_dtype()}."
            )
        self._scalar_map("encode", dtype, self.dtype)
        self._scalar_map("decode", self.dtype, dtype)

    def _scalar_map(
        self, direction: str, source: ZDType[Any, Any], target: ZDType[Any, Any]
    ) -> dict[np.generic, np.generic]:
        """Return one direction of the map as scalars of the two data types."""
        entries: Mapping[Any, Any] = (self.scalar_map or {}).get(direction, {})  # type: ignore[assignment]
        scalars = {}
        for pair in entries.items():
            key, value = ("Infinity" if entry == "+Infinity" else entry for entry in pair)
            scalar = representable(source, key, f"scalar_map {direction} key")
            scalars[scalar] = representable(target, value, f"scalar_map {direction} value")
        return scalars

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description in the other data type, with the fill value cast like the elements.

        Raises
        ------
        ValueError
            If the fill value cannot be cast.
        """
        target = self.dtype.to_native_dtype()
        fill = chunk_spec.fill_value
        if fill is not None:
            array = np.asarray(fill, dtype=native_dtype(chunk_spec)).reshape(1)
            mapping = self._scalar_map("encode", chunk_spec.dtype, self.dtype)
            fill = cast_values(array, target, self.rounding, self.out_of_range, mapping)[0]
        return replace_spec(chunk_spec, dtype=self.dtype, fill_value=fill)

    def bind(self, spec: ArraySpec) -> FunctionCodec:
        """Return the codec bound to chunks of one description."""
        source, target = native_dtype(spec), self.dtype.to_native_dtype()
        _check_numeric(spec.dtype, f"Got source dtype {source}.")
        encoding = self._scalar_map("encode", spec.dtype, self.dtype)
        decoding = self._scalar_map("decode", self.dtype, spec.dtype)
        return FunctionCodec(
            "cast_value",
            self.resolve_metadata(spec),
            lambda data: cast_values(data, source, self.rounding, self.out_of_range, decoding),
            lambda data: cast_values(data, target, self.rounding, self.out_of_range, encoding),
        )

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the size in the other data type."""
        if chunk_spec.dtype.to_native_dtype().char not in _CODES:
            raise ValueError(
                "The cast_value codec knows the sizes of fixed-size integer and floating-point data types only. "
                f"Got {chunk_spec.dtype}."
            )
        source = native_dtype(chunk_spec).itemsize
        return input_byte_length // source * self.dtype.to_native_dtype().itemsize


_ROUNDINGS: Final = ("nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away")


def _parse_target(data: Any) -> ZDType[Any, Any]:
    dtype: ZDType[Any, Any] = get_data_type_from_json(data, zarr_format=3) if isinstance(data, (str, Mapping)) else data
    try:
        _check_numeric(dtype, "")
    except ValueError as error:
        name = dtype.to_json(zarr_format=3)
        raise ValueError(
            f"Invalid target data type {name!r}. cast_value codec only supports integer and floating-point data types. "
            f"Got {dtype}."
        ) from error
    return dtype


def _check_numeric(dtype: ZDType[Any, Any], got: str) -> None:
    if dtype.to_native_dtype().char not in _CODES:
        raise ValueError(f"The cast_value codec only supports integer and floating-point data types. {got}")
