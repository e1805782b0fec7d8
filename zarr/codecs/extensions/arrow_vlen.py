"""The ``zarr_core.arrow-vlen`` codec: items behind their offsets, the layout of Arrow's strings and byte strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayBytesCodec
from zarr.codecs.base.bound import AnyArray, Bytes
from zarr.codecs.base.described import ArrayBytesMethods, one_of
from zarr.codecs.vlen_utf8 import BoundVLen
from zarr.errors import ChunkEncodeError

if TYPE_CHECKING:
    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import ZDType

NAME: Final = "zarr_core.arrow-vlen"
WIDTHS: Final = {"int32": 4, "int64": 8}
TEXT_IDS: Final = {"vlen-utf8": True, "vlen-bytes": False}
"""The codecs of format 2 that tell the data type: True where its elements are text, False where they are bytes."""


class BoundArrowVLen(BoundVLen):
    """Elements to offsets and bytes and back.

    Attributes
    ----------
    width
        Bytes of an offset.
    text
        Whether the elements are strings.
    """

    def __init__(self, spec: ArraySpec, width: int) -> None:
        super().__init__(NAME, spec)
        self.width = width
        self.text = is_text(spec.dtype)

    def check(self, data: Bytes) -> int:
        """Return where the bytes of the elements begin, once all offsets and characters are known to be good.

        Raises
        ------
        ChunkDecodeError
            When they are not.
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
    """Return whether elements of a variable-length data type are strings; ValueError for any other data type."""
    text = TEXT_IDS.get(getattr(dtype, "object_codec_id", ""))
    if text is None:
        raise ValueError(f"codec {NAME!r} stores strings and byte strings of any length; the array has {dtype}")
    return text


@dataclass(frozen=True)
class ArrowVLenCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store strings or byte strings of any length as Arrow keeps them in memory.

    A chunk of ``n`` elements is ``n + 1`` little-endian signed offsets, zeros up to a multiple of 64 bytes, then the
    bytes of all elements; element ``i`` has the bytes from offset ``i`` to offset ``i + 1``. Offsets count bytes.
    `zarr.Array.to_arrow` hands out such chunks without a copy. Other libraries do not know this codec: new arrays of
    strings have ``vlen-utf8``, which they read, unless this one is asked for.

    Parameters
    ----------
    offset
        ``"int32"``: a chunk has at most 2147483647 bytes of elements. ``"int64"``: the layout of ``large_string`` and
        ``large_binary``.

    Raises
    ------
    ChunkDecodeError
        On reading, for offsets that are negative, falling, or not within the chunk, and for bytes left over: all of
        them are checked before an element is looked at; and for strings that are not UTF-8.
    ChunkEncodeError
        On writing, for more bytes than the offsets can count.

    Notes
    -----
    Source: the draft ZEP 7, "Strings"; https://arrow.apache.org/docs/format/Columnar.html (variable-size binary).

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(3,), dtype="string", serializer=ArrowVLenCodec(), compressors=None)
    >>> array[:] = ["the", "quick", "brüne"]
    >>> array.metadata.codecs
    (ArrowVLenCodec(offset='int32'),)
    """

    _name = NAME
    _requires_configuration = False
    is_fixed_size = False

    offset: Literal["int32", "int64"] = "int32"

    def __init__(self, *, offset: str = "int32") -> None:
        object.__setattr__(self, "offset", one_of(offset, tuple(WIDTHS), "offset", "ArrowVLenCodec"))

    def validate(self, *, dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise ValueError if the elements are neither strings nor byte strings of any length."""
        is_text(dtype)

    def bind(self, spec: ArraySpec) -> BoundArrowVLen:
        """Make the codec ready for chunks of one description."""
        return BoundArrowVLen(spec, WIDTHS[self.offset])
