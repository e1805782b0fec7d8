"""Bytes: of fixed length, with and without trailing zeros, and of variable length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from zarr.dtype import base, scalars
from zarr.dtype.base import HasItemSize, HasLength, HasObjectCodec, LibraryType, TBaseDType, TDType_co, TScalar_co
from zarr.types import JSON, DTypeJSON, ZarrFormat

if TYPE_CHECKING:
    from zarr.dtype.json_forms import DTypeSpec_V3

_RAW_BITS = re.compile(r"r([0-9]+)")


@dataclass(frozen=True, kw_only=True)
class _FixedLengthBytes(LibraryType[TDType_co, TScalar_co], HasLength, HasItemSize):
    """The base of the two kinds of bytes of fixed length."""

    _letter: ClassVar[str]
    _is_specified = False

    @classmethod
    def _of_native(cls, dtype: Any) -> Self:
        return cls(length=dtype.itemsize)

    def _v3_json(self) -> DTypeSpec_V3:
        return {"name": self._zarr_v3_name, "configuration": {"length_bytes": self.length}}

    def to_native_dtype(self) -> TDType_co:
        """Return the numpy dtype."""
        return base.native_dtype(f"|{self._letter}{self.length}")  # type: ignore[no-any-return]

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if scalars.check_dtype_spec_no_object_codec_v2(data) and isinstance(data["name"], str):
            found = re.fullmatch(rf"[|<>]{cls._letter}([0-9]+)", data["name"])
            if found:
                return cls(length=int(found[1]))
        raise base.wrong_json(cls, data, f"a string like '|{cls._letter}4'")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = scalars.split_dtype_spec_v3(data)
        if spec is not None and spec[0] == cls._zarr_v3_name and set(spec[1]) == {"length_bytes"}:
            length = spec[1]["length_bytes"]
            if isinstance(length, int):
                return cls(length=length)
        raise base.wrong_json(cls, data, f"an object with the name {cls._zarr_v3_name!r} and the 'length_bytes'")

    def _json_bytes(self, data: JSON, zarr_format: ZarrFormat) -> bytes:
        """Return the bytes of a JSON value; in format 2, 0 or null (in old files) is no bytes."""
        if base.is_unset_fill(data, zarr_format):
            return b""
        raw = scalars.bytes_from_json(data)
        if len(raw) > self.length and zarr_format == 3:
            raise ValueError(f"The scalar {data!r} has {len(raw)} bytes, more than the {self.length} of {self}.")
        return raw[: self.length]

    def default_scalar(self) -> TScalar_co:
        """Return zeros."""
        return self._cast_scalar_unchecked(b"")


@dataclass(frozen=True, kw_only=True)
class NullTerminatedBytes(_FixedLengthBytes["np.dtype[np.bytes_]", np.bytes_]):
    """At most ``length`` bytes; trailing zeros do not count.

    Parameters
    ----------
    length
        The number of characters or bytes of an element.

    Examples
    --------
    >>> from zarr.dtype import NullTerminatedBytes
    >>> NullTerminatedBytes(length=4).to_json(2)["name"]
    '|S4'
    """

    dtype_cls: ClassVar[Any] = np.dtypes.BytesDType
    _zarr_v3_name: ClassVar[str] = "null_terminated_bytes"
    _letter: ClassVar[str] = "S"

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (bytes, str, int))

    def _cast_scalar_unchecked(self, data: Any) -> np.bytes_:
        raw = bytes(data) if isinstance(data, bytes) else str(data).encode("ascii")
        return np.bytes_(raw[: self.length])

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.bytes_:
        """Return the scalar of a base64 string, or of a list of integers from 0 to 255."""
        return np.bytes_(self._json_bytes(data, zarr_format))

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> str:
        """Return the bytes as a base64 string."""
        return scalars.bytes_to_json(bytes(self.cast_scalar(data)))


@dataclass(frozen=True, kw_only=True)
class RawBytes(_FixedLengthBytes["np.dtype[np.void]", np.void]):
    """Exactly ``length`` bytes without a known meaning.

    Parameters
    ----------
    length
        The number of characters or bytes of an element.

    Examples
    --------
    >>> from zarr.dtype import RawBytes
    >>> RawBytes(length=4).to_native_dtype()
    dtype('V4')
    """

    dtype_cls: ClassVar[Any] = np.dtypes.VoidDType
    _zarr_v3_name: ClassVar[str] = "raw_bytes"
    _letter: ClassVar[str] = "V"

    @classmethod
    def _check_native_dtype(cls, dtype: TBaseDType) -> bool:
        return type(dtype) is cls.dtype_cls and dtype.fields is None and dtype.subdtype is None

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (bytes, bytearray, np.void))

    def _cast_scalar_unchecked(self, data: Any) -> np.void:
        raw = data.tobytes() if isinstance(data, np.void) else bytes(data)
        return np.void(raw[: self.length].ljust(self.length, b"\0"))

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.void:
        """Return the scalar of a base64 string, or of a list of integers from 0 to 255.

        Raises
        ------
        ValueError
            In format 3, if the number of bytes is another one.
        """
        raw = self._json_bytes(data, zarr_format)
        if len(raw) != self.length and zarr_format == 3:
            raise ValueError(f"The scalar {data!r} has {len(raw)} bytes; {self} needs {self.length}.")
        return self._cast_scalar_unchecked(raw)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the bytes as a base64 string."""
        return scalars.bytes_to_json(self.cast_scalar(data).tobytes())


@dataclass(frozen=True, kw_only=True)
class RawBits(RawBytes):
    """Exactly ``length`` bytes without a known meaning, under the name of the core specification: ``r<bits>``.

    Parameters
    ----------
    length
        The number of characters or bytes of an element.

    Examples
    --------
    >>> from zarr.dtype import RawBits
    >>> RawBits(length=2).to_json(3), RawBits(length=2).to_json_scalar(b"ab", zarr_format=3)
    ('r16', [97, 98])
    """

    _zarr_v3_name: ClassVar[str] = "r*"
    _is_specified = True

    def _v3_json(self) -> DTypeSpec_V3:
        return f"r{8 * self.length}"

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = scalars.split_dtype_spec_v3(data)
        found = _RAW_BITS.fullmatch(spec[0]) if spec is not None and not spec[1] else None
        if not found:
            raise base.wrong_json(cls, data, "a string like 'r16'")
        bits = int(found[1])
        if bits == 0 or bits % 8:
            raise ValueError(f"The number of bits of {data!r} must be a positive multiple of 8.")
        return cls(length=bits // 8)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the bytes as a list of integers, or as a base64 string in format 2."""
        raw = self.cast_scalar(data).tobytes()
        return list(raw) if zarr_format == 3 else scalars.bytes_to_json(raw)


@dataclass(frozen=True, kw_only=True)
class VariableLengthBytes(LibraryType[Any, bytes], HasObjectCodec):
    """Bytes of variable length; Python objects in memory.

    Examples
    --------
    >>> from zarr.dtype import VariableLengthBytes
    >>> VariableLengthBytes.from_json("bytes", zarr_format=3)
    VariableLengthBytes()
    """

    dtype_cls: ClassVar[Any] = np.dtypes.ObjectDType
    _zarr_v3_name: ClassVar[str] = "variable_length_bytes"
    object_codec_id: ClassVar[str] = "vlen-bytes"
    _zarr_v3_aliases = ("bytes", "binary", "large_binary", "LargeBinary")
    _is_specified = False

    def _v2_name(self) -> str:
        return "|O"

    def to_native_dtype(self) -> Any:
        """Return numpy's object dtype."""
        return np.dtype("O")

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if scalars.object_codec_of(data) == cls.object_codec_id:
            return cls()
        raise base.wrong_json(cls, data, "the string '|O' with the object codec 'vlen-bytes'")

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (bytes, bytearray, str, int))

    def cast_scalar(self, data: object) -> bytes:
        """Convert an object to bytes; an integer is a number of zeros, as in Python."""
        if isinstance(data, str):
            return data.encode()
        if isinstance(data, (bytes, bytearray, int)):
            return bytes(data)
        raise base.wrong_scalar(self, data)

    def default_scalar(self) -> bytes:
        """Return empty bytes."""
        return b""

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> bytes:
        """Return the scalar of a base64 string, or of a list of integers; 0 or null in format 2 is no bytes."""
        if base.is_unset_fill(data, zarr_format):
            return b""
        return scalars.bytes_from_json(data)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> str:
        """Return the bytes as a base64 string."""
        return scalars.bytes_to_json(self.cast_scalar(data))
