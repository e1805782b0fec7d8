"""Python objects of any kind, as format 2 stores them by an object codec such as ``json2`` or ``pickle``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarr.dtype.base import TBaseDType, ZDType, check_zarr_format, wrong_dtype, wrong_json
from zarr.dtype.spec import JSON, OBJECT_CODEC_IDS, DTypeJSON, ZarrFormat, check_dtype_spec_v2

if TYPE_CHECKING:
    from typing import Self

    from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3


@dataclass(frozen=True, kw_only=True)
class PythonObject(ZDType[Any, Any]):
    """Any Python objects. There is no such type in format 3.

    Parameters
    ----------
    object_codec_id
        The id of the filter that makes bytes of the objects, and objects of the bytes.

    Examples
    --------
    >>> PythonObject(object_codec_id="json2").to_json(2)
    {'name': '|O', 'object_codec_id': 'json2'}
    """

    dtype_cls: ClassVar[Any] = np.dtypes.ObjectDType
    _zarr_v3_name: ClassVar[str] = "python_object"

    object_codec_id: str

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Refuse: a numpy dtype does not say which object codec is meant."""
        raise wrong_dtype(cls, dtype)

    def to_native_dtype(self) -> Any:
        """Return numpy's object dtype."""
        return np.dtype("O")

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if check_dtype_spec_v2(data) and data["name"] == "|O" and data["object_codec_id"] in OBJECT_CODEC_IDS:
            return cls(object_codec_id=data["object_codec_id"])
        raise wrong_json(cls, data, f"the string '|O' with one of the object codecs {OBJECT_CODEC_IDS}")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        raise wrong_json(cls, data, "nothing: it exists in format 2 only")

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return ``"|O"`` with the id of the object codec."""
        check_zarr_format(zarr_format)
        if zarr_format == 3:
            raise ValueError(
                "Format 3 has no data type for arbitrary Python objects. Use 'string' for text, "
                "'variable_length_bytes' for bytes, or zarr_format=2."
            )
        return {"name": "|O", "object_codec_id": self.object_codec_id}

    def _check_scalar(self, data: object) -> bool:
        return True

    def cast_scalar(self, data: object) -> Any:
        """Return the object itself."""
        return data

    def default_scalar(self) -> Any:
        """Return None."""
        return None

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> Any:
        """Return the JSON value itself."""
        return data

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the object itself, which must be a JSON value."""
        if data is None or isinstance(data, (str, int, float, list, dict)):
            return data
        if isinstance(data, np.generic):
            return data.item()  # type: ignore[no-any-return]
        raise TypeError(f"The fill value {data!r} of an object array must be a JSON value.")
