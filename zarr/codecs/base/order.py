"""The order of codecs in a chain: filters, one serializer, compressors; this module refuses any other order."""

from __future__ import annotations

from collections.abc import Iterable

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec

SortedCodecs = tuple[tuple[ArrayArrayCodec, ...], ArrayBytesCodec, tuple[BytesBytesCodec, ...]]


def sort_codecs(codecs: Iterable[Codec]) -> SortedCodecs:
    """Return the codecs by kind, in the given order, which must be the order of kinds.

    Raises
    ------
    TypeError
        If a codec stands before one that must precede it, or is no codec.
    ValueError
        If there is not exactly one array-to-bytes codec.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec, ZstdCodec
    >>> sort_codecs([BytesCodec(), ZstdCodec()])[0]
    ()
    """
    arrays: list[ArrayArrayCodec] = []
    serializer: ArrayBytesCodec | None = None
    bytes_: list[BytesBytesCodec] = []
    previous: Codec | None = None
    for codec in codecs:
        if isinstance(codec, ArrayArrayCodec):
            if serializer is not None or bytes_:
                raise TypeError(_misplaced("ArrayArrayCodec", codec, "another ArrayArrayCodec", previous))
            arrays.append(codec)
        elif isinstance(codec, ArrayBytesCodec):
            if bytes_:
                raise TypeError(_misplaced("ArrayBytes codec", codec, "an ArrayArrayCodec", previous))
            if serializer is not None:
                raise ValueError(
                    f"Got two instances of ArrayBytesCodec: {serializer} and {codec}. "
                    "Only one array-to-bytes codec is allowed."
                )
            serializer = codec
        elif isinstance(codec, BytesBytesCodec):
            if serializer is None and arrays:
                raise TypeError(_misplaced("BytesBytesCodec", codec, "an ArrayBytesCodec", previous))
            bytes_.append(codec)
        else:
            raise TypeError(f"Expected a codec, got {codec!r}.")
        previous = codec
    if serializer is None:
        raise ValueError("Required ArrayBytesCodec was not found.")
    return tuple(arrays), serializer, tuple(bytes_)


def _misplaced(kind: str, codec: object, wanted: str, previous: object) -> str:
    return f"Invalid codec order. {kind} {codec} must be preceded by {wanted}. Got {type(previous)} instead."
