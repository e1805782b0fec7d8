"""Bytes: of a fixed number, with and without zeros at the end, and of any number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from zarr.dtype.base import (
    HasItemSize,
    HasLength,
    HasObjectCodec,
    LibraryType,
    TBaseDType,
    TDType_co,
    TScalar_co,
    is_unset_fill,
    native_dtype,
    wrong_json,
    wrong_scalar,
)
from zarr.dtype.scalars import (
    JSON,
    DTypeJSON,
    ZarrFormat,
    bytes_from_json,
    bytes_to_json,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
    split_dtype_spec_v3,
)

if TYPE_CHECKING:
    from zarr.dtype.json_forms import DTypeSpec_V3

_RAW_BITS = re.compile(r"r([0-9]+)")


@dataclass(frozen=True, kw_only=True)
class _FixedLengthBytes(LibraryType[TDType_co, TScalar_co], HasLength, HasItemSize):
    """The base of the two kinds of bytes of a fixed number."""

    _letter: ClassVar[str]
    _is_specified = False

    @classmethod
    def _of_native(cls, dtype: Any) -> Self:
        return cls(length=dtype.itemsize)

    def _v3_json(self) -> DTypeSpec_V3:
        return {"name": self._zarr_v3_name, "configuration": {"length_bytes": self.length}}

    def to_native_dtype(self) -> TDType_co:
        """Return the numpy dtype."""
        return native_dtype(f"|{self._letter}{self.length}")  # type: ignore[no-any-return]

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        if check_dtype_spec_no_object_codec_v2(data) and isinstance(data["name"], str):
            found = re.fullmatch(rf"[|<>]{cls._letter}([0-9]+)", data["name"])
            if found:
                return cls(length=int(found[1]))
        raise wrong_json(cls, data, f"a string like '|{cls._letter}4'")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = split_dtype_spec_v3(data)
        if spec is not None and spec[0] == cls._zarr_v3_name and set(spec[1]) == {"length_bytes"}:
            length = spec[1]["length_bytes"]
            if isinstance(length, int):
                return cls(length=length)
        raise wrong_json(cls, data, f"an object with the name {cls._zarr_v3_name!r} and the 'length_bytes'")

    def _json_bytes(self, data: JSON, zarr_format: ZarrFormat) -> bytes:
        """Return the bytes of a JSON value; in format 2, where old files have it, 0 or null is no bytes."""
        if is_unset_fill(data, zarr_format):
            return b""
        raw = bytes_from_json(data)
        if len(raw) > self.length and zarr_format == 3:
            raise ValueError(f"The scalar {data!r} has {len(raw)} bytes, more than the {self.length} of {self}.")
        return raw[: self.length]

    def default_scalar(self) -> TScalar_co:
        """Return zeros."""
        return self._cast_scalar_unchecked(b"")

    @property
    def item_size(self) -> int:
        """The number of bytes of one element."""
        return self.length


@dataclass(frozen=True, kw_only=True)
class NullTerminatedBytes(_FixedLengthBytes["np.dtype[np.bytes_]", np.bytes_]):
    """At most ``length`` bytes; zeros at the end do not count.

    Examples
    --------
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
        return bytes_to_json(bytes(self.cast_scalar(data)))


@dataclass(frozen=True, kw_only=True)
class RawBytes(_FixedLengthBytes["np.dtype[np.void]", np.void]):
    """Exactly ``length`` bytes of no known meaning.

    Examples
    --------
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
            When the number of bytes is another one, in format 3.
        """
        raw = self._json_bytes(data, zarr_format)
        if len(raw) != self.length and zarr_format == 3:
            raise ValueError(f"The scalar {data!r} has {len(raw)} bytes; {self} needs {self.length}.")
        return self._cast_scalar_unchecked(raw)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the bytes as a base64 string."""
        return bytes_to_json(self.cast_scalar(data).tobytes())


@dataclass(frozen=True, kw_only=True)
class RawBits(RawBytes):
    """Exactly ``length`` bytes of no known meaning, under the name of the core specification: ``r<bits>``.

    Examples
    --------
    >>> RawBits(length=2).to_json(3), RawBits(length=2).to_json_scalar(b"ab", zarr_format=3)
    ('r16', [97, 98])
    """

    _zarr_v3_name: ClassVar[str] = "r*"
    _is_specified = True

    def _v3_json(self) -> DTypeSpec_V3:
        return f"r{8 * self.length}"

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec = split_dtype_spec_v3(data)
        found = _RAW_BITS.fullmatch(spec[0]) if spec is not None and not spec[1] else None
        if not found:
            raise wrong_json(cls, data, "a string like 'r16'")
        bits = int(found[1])
        if bits == 0 or bits % 8:
            raise ValueError(f"The number of bits of {data!r} must be a positive multiple of 8.")
        return cls(length=bits // 8)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the bytes as a list of integers, or as a base64 string in format 2."""
        raw = self.cast_scalar(data).tobytes()
        return list(raw) if zarr_format == 3 else bytes_to_json(raw)


@dataclass(frozen=True, kw_only=True)
class VariableLengthBytes(LibraryType[Any, bytes], HasObjectCodec):
    """Bytes of any number; Python objects in memory.

    Examples
    --------
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
        if check_dtype_spec_v2(data) and data["name"] == "|O" and data["object_codec_id"] == cls.object_codec_id:
            return cls()
        raise wrong_json(cls, data, "the string '|O' with the object codec 'vlen-bytes'")

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (bytes, bytearray, str, int))

    def cast_scalar(self, data: object) -> bytes:
        """Make bytes of an object; an integer is a number of zeros, as in Python."""
        if isinstance(data, str):
            return data.encode()
        if isinstance(data, (bytes, bytearray, int)):
            return bytes(data)
        raise wrong_scalar(self, data)

    def default_scalar(self) -> bytes:
        """Return no bytes."""
        return b""

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> bytes:
        """Return the scalar of a base64 string, or of a list of integers; 0 or null in format 2 is no bytes."""
        if is_unset_fill(data, zarr_format):
            return b""
        return bytes_from_json(data)

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> str:
        """Return the bytes as a base64 string."""
        return bytes_to_json(self.cast_scalar(data))
