"""Text: of fixed length, and of variable length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from zarr.dtype import base, scalars
from zarr.dtype.base import HasEndianness, HasItemSize, HasLength, HasObjectCodec, LibraryType, TBaseDType, ZDType
from zarr.types import JSON, DTypeJSON, ZarrFormat

if TYPE_CHECKING:
    from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3


_V2_NAME = re.compile(r"([<>])U([0-9]+)")
_BYTES_PER_CHARACTER = 4


@dataclass(frozen=True, kw_only=True)
class FixedLengthUTF32(LibraryType["np.dtype[np.str_]", np.str_], HasEndianness, HasLength, HasItemSize):
    """Text of at most ``length`` characters, four bytes each.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.
    length
        The number of characters or bytes of an element.

    Examples
    --------
    >>> from zarr.dtype import FixedLengthUTF32
    >>> FixedLengthUTF32(length=2).to_json(3)
    {'name': 'fixed_length_utf32', 'configuration': {'length_bytes': 8}}
    """

    dtype_cls: ClassVar[Any] = np.dtypes.StrDType
    _zarr_v3_name: ClassVar[str] = "fixed_length_utf32"
    code_point_bytes: ClassVar[int] = _BYTES_PER_CHARACTER

    @classmethod
    def _of_native(cls, dtype: Any) -> Self:
        return cls(length=dtype.itemsize // _BYTES_PER_CHARACTER, endianness=base.byte_order_of(dtype))

    def _v3_json(self) -> DTypeSpec_V3:
        return {"name": self._zarr_v3_name, "configuration": {"length_bytes": self.item_size}}

    def to_native_dtype(self) -> np.dtype[np.str_]:
        """Return numpy's ``U<length>``."""
        return base.native_dtype(f"{base.endianness_mark(self.endianness)}U{self.length}")  # type: ignore[no-any-return]

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if scalars.check_dtype_spec_no_object_codec_v2(data) and isinstance(data["name"], str):
            found = _V2_NAME.fullmatch(data["name"])
            if found:
                return cls(length=int(found[2]), endianness="big" if found[1] == ">" else "little")
        raise base.wrong_json(cls, data, "a string like '<U3'")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = scalars.split_dtype_spec_v3(data)
        if spec is not None and spec[0] == cls._zarr_v3_name and set(spec[1]) == {"length_bytes"}:
            length_bytes = spec[1]["length_bytes"]
            if isinstance(length_bytes, int) and length_bytes % _BYTES_PER_CHARACTER == 0:
                return cls(length=length_bytes // _BYTES_PER_CHARACTER)
            raise ValueError(f"length_bytes must be a multiple of {_BYTES_PER_CHARACTER}, got {length_bytes!r}.")
        raise base.wrong_json(cls, data, "an object with the name 'fixed_length_utf32' and the 'length_bytes'")

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (str, bytes, int, float, np.generic))

    def _cast_scalar_unchecked(self, data: Any) -> np.str_:
        return np.str_((data.decode() if isinstance(data, bytes) else str(data))[: self.length])

    def default_scalar(self) -> np.str_:
        """Return the empty string."""
        return np.str_("")

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.str_:
        """Return the scalar of a string. In format 2, 0 or null (in old files) is the empty string.

        Raises
        ------
        ValueError
            If the string is too long, in format 3.
        """
        if base.is_unset_fill(data, zarr_format):
            return np.str_("")
        if not isinstance(data, str):
            raise TypeError(f"Invalid type: {data}. Expected a string.")
        if len(data) > self.length and zarr_format == 3:
            raise ValueError(f"The string {data!r} has {len(data)} characters, more than the {self.length} of {self}.")
        return np.str_(data[: self.length])

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> str:
        """Return the string."""
        return str(self.cast_scalar(data))


@dataclass(frozen=True, kw_only=True)
class VariableLengthUTF8(LibraryType[Any, str], HasObjectCodec):
    """Text of variable length; NumPy's ``StringDType`` in memory.

    Examples
    --------
    >>> from zarr.dtype import VariableLengthUTF8
    >>> VariableLengthUTF8().to_json(3)
    'string'
    """

    dtype_cls: ClassVar[Any] = np.dtypes.StringDType
    _zarr_v3_name: ClassVar[str] = "string"
    object_codec_id: ClassVar[str] = "vlen-utf8"
    # The large forms of ZEP 7 differ in how chunks are stored, which the codecs decide.
    _zarr_v3_aliases = ("large_string", "LargeString")

    def _v2_name(self) -> str:
        return "|O"

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of numpy's ``StringDType``, which must have no object for missing values."""
        if not cls._check_native_dtype(dtype):
            raise base.wrong_dtype(cls, dtype)
        if hasattr(dtype, "na_object"):
            raise ValueError(
                f"Zarr data type resolution from {dtype} failed. Attempted to resolve a zarr data type from a "
                "`numpy.dtypes.StringDType` with `na_object` set, which is not supported."
            )
        return cls()

    def to_native_dtype(self) -> Any:
        """Return numpy's ``StringDType``."""
        return np.dtypes.StringDType()

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if scalars.object_codec_of(data) == cls.object_codec_id:
            return cls()
        raise base.wrong_json(cls, data, "the string '|O' with the object codec 'vlen-utf8'")

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (str, bytes, int, float, np.generic))

    def _cast_scalar_unchecked(self, data: Any) -> str:
        return data.decode() if isinstance(data, bytes) else str(data)

    def default_scalar(self) -> str:
        """Return the empty string."""
        return ""

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> str:
        """Return the scalar of a string; a number counts as its digits, null in format 2 as the empty string."""
        if data is None and zarr_format == 2:
            return ""
        if isinstance(data, (str, int, float)):
            text = str(data)
            text.encode()  # half of a surrogate pair, which JSON can contain, is no text
            return text
        raise TypeError(f"Invalid type: {data}. Expected a string or number.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> str:
        """Return the string."""
        return self.cast_scalar(data)


@dataclass(frozen=True, kw_only=True)
class PythonObject(ZDType[Any, Any]):
    """Any Python objects. There is no such type in format 3.

    Parameters
    ----------
    object_codec_id
        The id of the filter that turns the objects into bytes and back.

    Examples
    --------
    >>> from zarr.dtype import PythonObject
    >>> PythonObject(object_codec_id="json2").to_json(2)
    {'name': '|O', 'object_codec_id': 'json2'}
    """

    dtype_cls: ClassVar[Any] = np.dtypes.ObjectDType
    _zarr_v3_name: ClassVar[str] = "python_object"

    object_codec_id: str

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Refuse: a NumPy dtype does not determine the object codec."""
        raise base.wrong_dtype(cls, dtype)

    def to_native_dtype(self) -> Any:
        """Return numpy's object dtype."""
        return np.dtype("O")

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        codec = scalars.object_codec_of(data)
        if codec in scalars.OBJECT_CODEC_IDS:
            return cls(object_codec_id=codec)
        raise base.wrong_json(cls, data, f"the string '|O' with one of the object codecs {scalars.OBJECT_CODEC_IDS}")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        raise base.wrong_json(cls, data, "nothing: it exists in format 2 only")

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return ``"|O"`` with the id of the object codec."""
        base.check_zarr_format(zarr_format)
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
