"""Points in time and spans of time, counted in a unit."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, get_args

import numpy as np

from zarr.dtype import base, scalars
from zarr.dtype.base import HasEndianness, HasItemSize, LibraryType, TDType_co, TScalar_co
from zarr.dtype.json_forms import DTypeSpec_V3
from zarr.types import JSON, DTypeJSON, EndiannessStr, ZarrFormat

DateTimeUnit: TypeAlias = Literal[
    "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic"
]
DATETIME_UNIT: Final[tuple[str, ...]] = get_args(DateTimeUnit)
_NOT_A_TIME: Final = -(2**63)


@dataclass(frozen=True, kw_only=True)
class TimeDTypeBase(LibraryType[TDType_co, TScalar_co], HasEndianness, HasItemSize):
    """Integers of 8 bytes that count ``scale_factor`` units; the smallest one means "not a time".

    Parameters
    ----------
    endianness
        The byte order.
    scale_factor
        Number of units of one count.
    unit
        The unit, in the spelling of NumPy.
    """

    _letter: ClassVar[str]

    endianness: EndiannessStr = "little"
    scale_factor: int = 1
    unit: DateTimeUnit = "generic"

    def __post_init__(self) -> None:
        if self.scale_factor < 1:
            raise ValueError(f"scale_factor must be > 0, got {self.scale_factor}.")
        if self.scale_factor >= 2**31:
            raise ValueError(f"scale_factor must be < 2147483648, got {self.scale_factor}.")
        if self.unit not in DATETIME_UNIT:
            raise ValueError(f"unit must be one of {DATETIME_UNIT}, got {self.unit!r}.")
        if self.unit == "μs":
            object.__setattr__(self, "unit", "us")

    def to_native_dtype(self) -> TDType_co:
        """Return the numpy dtype."""
        return base.native_dtype(self._v2_name())  # type: ignore[no-any-return]

    @classmethod
    def _of_native(cls, dtype: Any) -> Self:
        unit, scale_factor = np.datetime_data(dtype)
        return cls(endianness=base.byte_order_of(dtype), scale_factor=scale_factor, unit=unit)  # type: ignore[arg-type]

    def _v3_json(self) -> DTypeSpec_V3:
        return {
            "name": self._zarr_v3_name,
            "configuration": {"unit": self.unit, "scale_factor": self.scale_factor},
        }

    def _v2_name(self) -> str:
        if self.unit == "generic" and self.scale_factor == 1:
            return f"{base.endianness_mark(self.endianness)}{self._letter}8"
        count = "" if self.scale_factor == 1 else str(self.scale_factor)
        return f"{base.endianness_mark(self.endianness)}{self._letter}8[{count}{self.unit}]"

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if scalars.check_dtype_spec_no_object_codec_v2(data) and isinstance(data["name"], str):
            found = re.fullmatch(rf"([<>]){cls._letter}8(?:\[([0-9]*)([A-Za-zμ]+)\])?", data["name"])
            if found:
                return cls(
                    endianness="big" if found[1] == ">" else "little",
                    scale_factor=int(found[2] or 1),
                    unit=found[3] or "generic",  # type: ignore[arg-type]
                )
        raise base.wrong_json(cls, data, f"a string like '<{cls._letter}8[s]'")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = scalars.split_dtype_spec_v3(data)
        if spec is not None and spec[0] == cls._zarr_v3_name and set(spec[1]) == {"unit", "scale_factor"}:
            return cls(unit=spec[1]["unit"], scale_factor=spec[1]["scale_factor"])
        expected = f"an object with the name {cls._zarr_v3_name!r}, the 'unit' and the 'scale_factor'"
        raise base.wrong_json(cls, data, expected)

    def _from_count(self, count: int) -> TScalar_co:
        # A view of the integer: numpy's constructors treat units "generic" and multiples each in their own way.
        return np.array([count], dtype=np.int64).view(base.native_dtype(self._v2_name().replace(">", "<")))[0]  # type: ignore[no-any-return]

    def _check_scalar(self, data: object) -> bool:
        raise NotImplementedError(type(self).__name__)

    def cast_scalar(self, data: object) -> TScalar_co:
        """Make a time from a count, a string in ISO 8601, a time of NumPy or of the standard library, or None."""
        if not self._check_scalar(data) or isinstance(data, bool):
            raise base.wrong_scalar(self, data)
        # Without numpy, which warns if there is no unit; and all threads share the filters of warnings.
        if data is None or (isinstance(data, (np.datetime64, np.timedelta64)) and np.isnat(data)):
            return self._from_count(_NOT_A_TIME)
        if isinstance(data, str) and data.lower() in ("", "nat"):
            return self._from_count(_NOT_A_TIME)
        if isinstance(data, (int, np.integer)) and not isinstance(data, np.timedelta64):
            return self._from_count(int(data))
        dtype = base.native_dtype(self._v2_name().replace(">", "<"))
        return np.array([data]).astype(dtype)[0]  # type: ignore[no-any-return]

    def default_scalar(self) -> TScalar_co:
        """Return "not a time"."""
        return self._from_count(_NOT_A_TIME)

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> TScalar_co:
        """Return the scalar of a count, or of "NaT"."""
        if data == "NaT":
            return self._from_count(_NOT_A_TIME)
        if isinstance(data, int):
            return self._from_count(data)
        if isinstance(data, float) and data.is_integer():
            return self._from_count(int(data))
        raise TypeError(f"Invalid type: {data}. Expected an integer.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> int:
        """Return the count."""
        scalar: Any = self.cast_scalar(data)
        return int(scalar.view(np.int64))


@dataclass(frozen=True, kw_only=True)
class DateTime64(TimeDTypeBase["np.dtype[np.datetime64]", np.datetime64]):
    """Points in time, counted from the start of 1970.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.
    scale_factor : int
        Number of units of one step. Default: 1.
    unit : str
        The unit of time: ``"s"``, ``"ns"``, ``"D"`` and others, as in NumPy.

    Examples
    --------
    >>> from zarr.dtype import DateTime64
    >>> DateTime64(unit="s").to_native_dtype()
    dtype('<M8[s]')
    """

    dtype_cls: ClassVar[Any] = np.dtypes.DateTime64DType
    _zarr_v3_name: ClassVar[str] = "numpy.datetime64"
    _letter: ClassVar[str] = "M"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">M8", "<M8")

    def _check_scalar(self, data: object) -> bool:
        if isinstance(data, np.timedelta64):  # a subclass of numpy's integers
            return False
        return data is None or isinstance(data, (str, int, np.integer, np.datetime64, datetime.date))


@dataclass(frozen=True, kw_only=True)
class TimeDelta64(TimeDTypeBase["np.dtype[np.timedelta64]", np.timedelta64]):
    """Spans of time.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.
    scale_factor : int
        Number of units of one step. Default: 1.
    unit : str
        The unit of time: ``"s"``, ``"ns"``, ``"D"`` and others, as in NumPy.

    Examples
    --------
    >>> from zarr.dtype import TimeDelta64
    >>> TimeDelta64(unit="us", scale_factor=10).to_json(2)["name"]
    '<m8[10us]'
    """

    dtype_cls: ClassVar[Any] = np.dtypes.TimeDelta64DType
    _zarr_v3_name: ClassVar[str] = "numpy.timedelta64"
    _letter: ClassVar[str] = "m"
    _zarr_v2_names: ClassVar[tuple[str, ...]] = (">m8", "<m8")

    def _check_scalar(self, data: object) -> bool:
        return data is None or isinstance(data, (str, int, np.integer, np.timedelta64, datetime.timedelta))
