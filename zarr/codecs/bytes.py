"""The ``bytes`` codec: the elements of a chunk one after the other, in a given byte order."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

import numpy as np

from zarr._lazy import instance_of
from zarr._records import record
from zarr.abc.codec import ArrayBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import (
    AnyArray,
    BoundBase,
    Bytes,
    NativeForm,
    as_bytes,
    check_size,
    is_variable,
    native_dtype,
)
from zarr.codecs.base.described import ArrayBytesMethods, DeprecatedStrEnumMeta, configuration_of, one_of
from zarr.dtype.scalars import drop_unused_bits, is_small, used_bits
from zarr.errors import ChunkEncodeError
from zarr.notices import warn_once
from zarr.types import JSON

EndianLiteral: TypeAlias = Literal["little", "big"]
ENDIAN: Final = ("little", "big")


class Endian(metaclass=DeprecatedStrEnumMeta):
    """Deprecated names of the byte orders; give the strings instead.

    Examples
    --------
    >>> from zarr.codecs import Endian
    >>> Endian.little
    'little'
    """

    _members: ClassVar[dict[str, str]] = {"little": "little", "big": "big"}


def has_byte_order(dtype: np.dtype[Any]) -> bool:
    """Return True if the bytes of an element can be stored in more than one order.

    Examples
    --------
    >>> has_byte_order(np.dtype("i4")), has_byte_order(np.dtype("S4")), has_byte_order(np.dtype("u1,i2"))
    (True, False, True)
    """
    if dtype.subdtype is not None:
        return has_byte_order(dtype.subdtype[0])
    if dtype.fields is not None:
        return any(has_byte_order(entry[0]) for entry in dtype.fields.values())
    return dtype.byteorder != "|" and dtype.itemsize > 1 and not (dtype.hasobject or dtype.kind == "T")


def swap_width(dtype: np.dtype[Any], stored: np.dtype[Any]) -> int | None:
    """Return the width of the groups to reverse between two dtypes that differ in byte order only.

    Returns
    -------
    0 if there is nothing to reverse; None if a single width is not enough, as with fields.

    Examples
    --------
    >>> swap_width(np.dtype("<c16"), np.dtype(">c16"))
    8
    """
    if dtype == stored:
        return 0
    if is_small(dtype):
        return 2 if dtype.itemsize == 2 else None  # numpy would reverse all bytes of a pair
    width = {"c": dtype.itemsize // 2, "U": 4}.get(dtype.kind, dtype.itemsize if dtype.kind in "iufmM" else 0)
    return width if width in (2, 4, 8) else None


def _no_fixed_size(dtype: np.dtype[Any]) -> str:
    text = "For string dtype, ArrayBytesCodec must be `VLenUTF8Codec`, got `BytesCodec`: " if dtype.kind == "T" else ""
    return (
        f"{text}codec 'bytes' cannot store elements of {dtype}, which have no fixed size; "
        "variable-length elements need a codec such as 'vlen-utf8' or 'vlen-bytes'"
    )


class BoundBytes(BoundBase):
    """Turn elements into bytes and back.

    Encoding a contiguous chunk with the stored byte order returns a view of its memory: copy the bytes to keep them.
    Decoding likewise returns a view of the stored bytes if no byte changes its place.
    """

    def __init__(self, spec: ArraySpec, endian: EndianLiteral | None) -> None:
        super().__init__("bytes", spec)
        self._shape = spec.shape
        self._dtype = native_dtype(spec)
        order = {"little": "<", "big": ">", None: "="}[endian]
        self._stored = self._dtype if endian is None else self._dtype.newbyteorder(order)  # type: ignore[arg-type]
        self._nbytes = prod(spec.shape) * self._dtype.itemsize
        self._swaps = self._stored != self._dtype
        self._has_unused_bits = used_bits(self._dtype) < 8

    def decode(self, data: Bytes) -> AnyArray:
        """Return the bytes as an array."""
        check_size("bytes", data.size, self._nbytes)
        if self._nbytes == 0:
            return np.zeros(self._shape, dtype=self._dtype)
        if self._has_unused_bits:
            data = drop_unused_bits(data, self._dtype)
        if self._swaps and is_small(self._dtype):
            data = data.reshape(-1, 2)[:, ::-1].reshape(-1)  # numpy would reverse all bytes of a pair
            return data.view(self._dtype).reshape(self._shape)
        array: AnyArray = data.view(self._stored).reshape(self._shape)
        return array.astype(self._dtype) if self._swaps else array

    def encode(self, data: AnyArray) -> Bytes:
        """Return an array as bytes."""
        if is_variable(data.dtype):
            raise ChunkEncodeError(_no_fixed_size(data.dtype), codec="bytes")
        if self._swaps and is_small(self._dtype):
            return as_bytes(np.asarray(data, dtype=self._dtype)).reshape(-1, 2)[:, ::-1].reshape(-1)
        return as_bytes(np.asarray(data, dtype=self._stored))

    def encoded_size(self, nbytes: int) -> int:
        """Return the same size."""
        return nbytes

    def extend(self, form: NativeForm) -> NativeForm | None:
        """Return the native form with this byte order."""
        width = swap_width(self._dtype, self._stored)
        if (
            width is None
            or self._has_unused_bits
            or is_variable(self._dtype)
            or self._dtype.itemsize == 0
            or (width and form.stages)
        ):
            return None
        return NativeForm(self._dtype.itemsize, width, form.order, form.stages)


@record(frozen=True)
class BytesCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store the elements one after the other.

    Parameters
    ----------
    endian
        The byte order; None for elements without one.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec
    >>> BytesCodec(endian="big").to_dict()
    {'name': 'bytes', 'configuration': {'endian': 'big'}}
    """

    _name = "bytes"
    _omits_empty = True
    is_fixed_size = True

    endian: EndianLiteral | None

    def __init__(self, *, endian: Endian | EndianLiteral | None = "little") -> None:
        named = None if endian is None else one_of(endian, ENDIAN, "endian", "BytesCodec")
        object.__setattr__(self, "endian", named)

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec of a JSON object; ``endian`` is a former name of the codec."""
        configuration = configuration_of(data, "bytes", required=False)
        configuration.setdefault("endian", None)
        return cls(**configuration)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a codec without byte order for elements that have none.

        Raises
        ------
        ValueError
            If the elements have a byte order and the codec has none; if they have no fixed size, or may be missing.
        """
        dtype: np.dtype[Any] = array_spec.dtype.to_native_dtype()
        if dtype.fields is not None and instance_of(array_spec.dtype, "zarr.dtype.types.nullable", "Nullable"):
            raise ValueError(
                f"codec 'bytes' cannot store elements that may be missing, of {array_spec.dtype}: the codec 'optional' "
                "does, and holds this one for the values (data_codecs)"
            )
        if not has_byte_order(dtype):
            if is_variable(dtype):
                raise ValueError(_no_fixed_size(dtype))
            return self if self.endian is None else type(self)(endian=None)
        if self.endian is not None:
            return self
        if dtype.fields is None:
            raise ValueError("The `endian` configuration needs to be specified for multi-byte data types.")
        warn_once(
            "Missing 'endian' for structured dtype in the 'bytes' codec. Little-endian is assumed, as in old files.",
            UserWarning,
        )
        return type(self)(endian="little")

    def bind(self, spec: ArraySpec) -> BoundBytes:
        """Return the codec bound to chunks of one description."""
        return BoundBytes(spec, self.endian)
