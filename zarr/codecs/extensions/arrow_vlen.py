"""The ``zarr_core.arrow-vlen`` codec: items after their offsets, the layout of Arrow's strings and byte strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, Bytes
from zarr.codecs.base.described import ArrayBytesMethods, one_of
from zarr.codecs.vlen_utf8 import BoundVLenBytes
from zarr.dtype.base import ZDType
from zarr.errors import ChunkEncodeError

NAME: Final = "zarr_core.arrow-vlen"
WIDTHS: Final = {"int32": 4, "int64": 8}
TEXT_IDS: Final = {"vlen-utf8": True, "vlen-bytes": False}
"""Codecs of format 2 that determine the data type: True if its elements are strings, False if they are bytes."""


class BoundArrowVLen(BoundVLenBytes):
    """Turn elements into offsets and bytes, and back.

    Attributes
    ----------
    width
        Bytes of an offset.
    text
        True if the elements are strings.
    """

    def __init__(self, spec: ArraySpec, width: int) -> None:
        super().__init__(NAME, spec)
        self.width = width
        self.text = is_text(spec.dtype)

    def check(self, data: Bytes) -> int:
        """Return the begin of the bytes of the elements, after a check of all offsets and characters.

        Raises
        ------
        ChunkDecodeError
            If they are not valid.
        """
        try:
            return zarr_core.check_arrow(data, self._count, self.width, self.text)
        except ValueError as error:
            raise self.damaged(str(error)) from error

    def encode(self, data: AnyArray) -> Bytes:
        """Return the bytes of the elements."""
        try:
            return super().encode(data)
        except ValueError as error:
            raise ChunkEncodeError(f"codec {NAME!r}: {error}", codec=NAME) from error

    def _unpack(self, data: Bytes) -> AnyArray:
        kind = self._dtype.kind
        elements = np.empty(self._count, dtype=self._dtype if kind in "OT" else object)
        zarr_core.unpack_arrow(data, self._count, self.width, self.text, elements)
        return elements

    def _pack(self, elements: AnyArray) -> bytes:
        return zarr_core.pack_arrow(elements, self.width, self.text)


def is_text(dtype: Any) -> bool:
    """Return True if elements of a variable-length data type are strings; raise ValueError for any other data type."""
    text = TEXT_IDS.get(getattr(dtype, "object_codec_id", ""))
    if text is None:
        raise ValueError(f"codec {NAME!r} stores strings and byte strings of any length; the array has {dtype}")
    return text


@dataclass(frozen=True)
class ArrowVLenCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store strings or byte strings of variable length as Arrow keeps them in memory.

    A chunk of ``n`` elements is ``n + 1`` little-endian signed offsets, zeros up to a multiple of 64 bytes, then the
    bytes of all elements; element ``i`` has the bytes from offset ``i`` to offset ``i + 1``. Offsets count bytes.
    `zarr.Array.to_arrow` returns these chunks without a copy. Other libraries do not have this codec: new arrays of
    strings use ``vlen-utf8``, which they read, unless this codec is given.

    Parameters
    ----------
    offset
        ``"int32"``: a chunk has at most 2147483647 bytes of elements. ``"int64"``: the layout of ``large_string`` and
        ``large_binary``.

    Raises
    ------
    ChunkDecodeError
        If offsets are negative, decreasing, or not within the chunk, if there are bytes left over (all of this is
        checked before an element is decoded), or if strings are not UTF-8.
    ChunkEncodeError
        If there are more bytes than the offsets can count.

    Notes
    -----
    Source: the draft ZEP 7, "Strings"; https://arrow.apache.org/docs/format/Columnar.html (variable-size binary).

    Examples
    --------
    >>> from zarr.codecs import ArrowVLenCodec
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(3,), dtype="string", serializer=ArrowVLenCodec(), compressors=None)
    >>> array[:] = ["the", "quick", "brüne"]
    >>> array.metadata.codecs
    (ArrowVLenCodec(offset='int32'),)
    """

    _name = NAME
    _requires_configuration = False

    offset: Literal["int32", "int64"] = "int32"

    def __init__(self, *, offset: str = "int32") -> None:
        object.__setattr__(self, "offset", one_of(offset, tuple(WIDTHS), "offset", "ArrowVLenCodec"))

    def validate(self, *, dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise ValueError if the elements are neither strings nor byte strings of variable length."""
        is_text(dtype)

    def bind(self, spec: ArraySpec) -> BoundArrowVLen:
        """Return the codec bound to chunks of one description."""
        return BoundArrowVLen(spec, WIDTHS[self.offset])
