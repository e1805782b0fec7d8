"""The ``vlen-utf8`` and ``vlen-bytes`` codecs: a count, then for each element its length and its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, BoundBase, Bytes, as_bytes, native_dtype
from zarr.codecs.base.described import ArrayBytesMethods


def pack_strings(elements: AnyArray) -> bytes:
    """Return the bytes of a one-dimensional array of strings; None counts as the empty string.

    Raises
    ------
    TypeError
        If an element is no string.

    Examples
    --------
    >>> pack_strings(np.array(["a", None], dtype=object)).hex()
    '02000000010000006100000000'
    """
    if elements.dtype.kind == "O" and any(element is None for element in elements):
        elements = np.array(["" if element is None else element for element in elements], dtype=object)
    return zarr_core.pack_utf8(np.ascontiguousarray(elements))


class BoundVLenBytes(BoundBase):
    """Byte strings, in object arrays, to bytes and back; subclasses pack other elements or in another way."""

    def __init__(self, name: str, spec: ArraySpec) -> None:
        super().__init__(name, spec)
        self._shape = spec.shape
        self._count = prod(spec.shape)
        self._dtype = native_dtype(spec)

    def decode(self, data: Any) -> AnyArray:
        """Return the elements."""
        data = as_bytes(data)
        try:
            elements = self._unpack(data)
        except ValueError as error:
            raise self.damaged(f"{data.size} bytes do not hold {self._count} elements: {error}") from error
        return elements.reshape(self._shape)

    def encode(self, data: AnyArray) -> Bytes:
        """Return the bytes of the elements."""
        # A view of an array of references must be made contiguous before the core reads it.
        return as_bytes(self._pack(np.ascontiguousarray(data).reshape(-1)))

    def _unpack(self, data: Bytes) -> AnyArray:
        return zarr_core.unpack_bytes(data, self._count)

    def _pack(self, elements: AnyArray) -> bytes:
        return zarr_core.pack_bytes(elements.astype(object))


class BoundVLenUTF8(BoundVLenBytes):
    """Strings, in object arrays or numpy's variable-length strings."""

    def _unpack(self, data: Bytes) -> AnyArray:
        kind = self._dtype.kind
        elements = np.empty(self._count, dtype=self._dtype if kind in "OT" else object)
        zarr_core.unpack_utf8(data, self._count, out=elements)
        return elements if kind in "OT" else elements.astype(self._dtype)

    def _pack(self, elements: AnyArray) -> bytes:
        return pack_strings(elements)


@dataclass(frozen=True)
class VLenUTF8Codec(ArrayBytesMethods, ArrayBytesCodec):
    """Store strings of variable length as UTF-8.

    Examples
    --------
    >>> from zarr.codecs import VLenUTF8Codec
    >>> VLenUTF8Codec().to_dict()
    {'name': 'vlen-utf8', 'configuration': {}}
    """

    _name = "vlen-utf8"
    _requires_configuration = False

    def bind(self, spec: ArraySpec) -> BoundVLenBytes:
        """Return the codec bound to chunks of one description."""
        return BoundVLenUTF8("vlen-utf8", spec)


@dataclass(frozen=True)
class VLenBytesCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store byte strings of variable length.

    Examples
    --------
    >>> from zarr.codecs import VLenBytesCodec
    >>> VLenBytesCodec().to_dict()
    {'name': 'vlen-bytes', 'configuration': {}}
    """

    _name = "vlen-bytes"
    _requires_configuration = False

    def bind(self, spec: ArraySpec) -> BoundVLenBytes:
        """Return the codec bound to chunks of one description."""
        return BoundVLenBytes("vlen-bytes", spec)
