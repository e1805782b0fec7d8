"""True and false, one byte each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarr._records import record
from zarr.dtype.base import HasItemSize, TBaseDType, ZDType, check_zarr_format, wrong_dtype, wrong_json, wrong_scalar
from zarr.dtype.spec import JSON, DTypeJSON, ZarrFormat, check_dtype_spec_no_object_codec_v2, split_dtype_spec_v3

if TYPE_CHECKING:
    from typing import Self

    from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3


@record(frozen=True, kw_only=True)
class Bool(ZDType["np.dtype[np.bool_]", np.bool_], HasItemSize):
    """True and false.

    Examples
    --------
    >>> Bool().to_json(3)
    'bool'
    """

    dtype_cls: ClassVar[Any] = np.dtypes.BoolDType
    _zarr_v3_name: ClassVar[str] = "bool"
    _zarr_v2_name: ClassVar[str] = "|b1"

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of numpy's bool."""
        if cls._check_native_dtype(dtype):
            return cls()
        raise wrong_dtype(cls, dtype)

    def to_native_dtype(self) -> np.dtype[np.bool_]:
        """Return numpy's bool."""
        return np.dtype(np.bool_)

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        # A byte has no byte order; marks of one occur in old files all the same.
        if check_dtype_spec_no_object_codec_v2(data) and data["name"] in ("|b1", "<b1", ">b1"):
            return cls()
        raise wrong_json(cls, data, "the string '|b1'")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        if split_dtype_spec_v3(data) == ("bool", {}):
            return cls()
        raise wrong_json(cls, data, "the string 'bool'")

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return ``"bool"``, or ``"|b1"`` in format 2."""
        check_zarr_format(zarr_format)
        return {"name": "|b1", "object_codec_id": None} if zarr_format == 2 else "bool"

    def _check_scalar(self, data: object) -> bool:
        return data is None or isinstance(data, (str, bytes, int, float, complex, np.generic))

    def cast_scalar(self, data: object) -> np.bool_:
        """Return the truth value of an object."""
        if self._check_scalar(data) or (isinstance(data, np.ndarray) and data.ndim == 0):
            return np.bool_(bool(data))
        raise wrong_scalar(self, data)

    def default_scalar(self) -> np.bool_:
        """Return false."""
        return np.False_

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.bool_:
        """Return the scalar of true, false, or a number; null counts as false."""
        if data is None or isinstance(data, (bool, int, float)):
            return np.bool_(bool(data))
        raise TypeError(f"Invalid type: {data}. Expected a boolean.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> bool:
        """Return the truth value."""
        return bool(self.cast_scalar(data))

    @property
    def item_size(self) -> int:
        """One byte."""
        return 1
