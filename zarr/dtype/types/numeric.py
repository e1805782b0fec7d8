"""What integers, floats and complex numbers share: the names and the byte order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarr._records import record
from zarr.dtype.base import (
    HasItemSize,
    TBaseDType,
    TDType_co,
    TScalar_co,
    ZDType,
    byte_order_of,
    canonical,
    check_zarr_format,
    endianness_mark,
    native_dtype,
    wrong_dtype,
    wrong_json,
    wrong_scalar,
)
from zarr.dtype.spec import (
    DTypeJSON,
    EndiannessStr,
    ZarrFormat,
    check_dtype_spec_no_object_codec_v2,
    split_dtype_spec_v3,
)

if TYPE_CHECKING:
    from typing import Self

    from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3


@record(frozen=True, kw_only=True)
class Numeric(ZDType[TDType_co, TScalar_co], HasItemSize):
    """Numbers that numpy has under a letter and a width, such as ``i4``.

    Attributes
    ----------
    _code
        The letter and the width.
    _zarr_v2_names
        The names in format 2: one for a single byte, else one per byte order, big-endian first.
    _zarr_v3_aliases
        Other names that are read in format 3.
    """

    _code: ClassVar[str]
    _zarr_v2_names: ClassVar[tuple[str, ...]]
    _zarr_v3_aliases: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _make(cls, endianness: EndiannessStr) -> Self:
        return cls() if len(cls._zarr_v2_names) == 1 else cls(endianness=endianness)  # type: ignore[call-arg]

    @classmethod
    def _check_native_dtype(cls, dtype: TBaseDType) -> bool:
        return type(canonical(dtype)) is cls.dtype_cls

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of a numpy dtype, with its byte order."""
        if cls._check_native_dtype(dtype):
            return cls._make(byte_order_of(dtype))
        raise wrong_dtype(cls, dtype)

    def to_native_dtype(self) -> TDType_co:
        """Return the numpy dtype, with the byte order."""
        mark = endianness_mark(getattr(self, "endianness", "little"))
        return native_dtype(mark + self._code)  # type: ignore[no-any-return]

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if check_dtype_spec_no_object_codec_v2(data) and isinstance(data["name"], str):
            name = data["name"]
            if len(cls._zarr_v2_names) == 1 and name[:1] in "|<>" and name[1:] == cls._code:
                return cls._make("little")
            if name in cls._zarr_v2_names:
                return cls._make("big" if name[0] == ">" else "little")
        raise wrong_json(cls, data, f"one of the strings {cls._zarr_v2_names}.")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = split_dtype_spec_v3(data)
        if spec is not None and spec[0] in (cls._zarr_v3_name, *cls._zarr_v3_aliases) and not spec[1]:
            return cls._make("little")
        raise wrong_json(cls, data, f"the string {cls._zarr_v3_name!r}")

    def _v2_name(self) -> str:
        declared = self._zarr_v2_names
        return declared[0] if len(declared) == 1 else str(self.to_native_dtype().str)

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return the name; in format 3 it says nothing about the byte order, which the ``bytes`` codec has."""
        check_zarr_format(zarr_format)
        if zarr_format == 2:
            return {"name": self._v2_name(), "object_codec_id": None}
        return self._zarr_v3_name

    def default_scalar(self) -> TScalar_co:
        """Return zero."""
        return self._scalar_type()(0)  # type: ignore[no-any-return]

    def cast_scalar(self, data: object) -> TScalar_co:
        """Make a number of this type of another number, or of a string with a number."""
        if self._check_scalar(data):
            return self._cast_scalar_unchecked(data)
        raise wrong_scalar(self, data)

    def _cast_scalar_unchecked(self, data: Any) -> TScalar_co:
        return self._scalar_type()(data)  # type: ignore[no-any-return]

    @classmethod
    def _scalar_type(cls) -> Any:
        return native_dtype(cls._code).type

    @property
    def item_size(self) -> int:
        """The number of bytes of one element."""
        return int(np.dtype(self._code).itemsize)
