"""Array documents in the form of the strings draft, ZEP 7: the data type alone says how elements become bytes.

There is no array-to-bytes codec in such a document: a chunk of ``string`` or ``binary`` elements is offsets of 32 bits
and data, one of the large forms has offsets of 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.codecs.arrow_vlen import ArrowVLenCodec

LARGE_NAMES: Final = frozenset(("large_string", "large_binary", "LargeString", "LargeBinary"))
NAMES: Final = LARGE_NAMES | {"string", "binary"}


def _name_of(document: Mapping[str, Any]) -> object:
    data_type = document.get("data_type")
    return data_type.get("name") if isinstance(data_type, Mapping) else data_type


def with_codecs_member(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document of strings that has no ``codecs`` with none of them; any other as it is.

    Examples
    --------
    >>> with_codecs_member({"data_type": {"name": "string"}})["codecs"]
    []
    """
    if "codecs" in document:
        return document
    name = _name_of(document)
    return {**document, "codecs": []} if isinstance(name, str) and name in NAMES else document


def add_string_codec(codecs: tuple[Codec, ...], document: Mapping[str, Any]) -> tuple[Codec, ...]:
    """Return the codecs of a document of strings with the one that its data type implies, where it names none.

    Examples
    --------
    >>> add_string_codec((), {"data_type": "string"})
    (ArrowVLenCodec(offset='int32'),)
    """
    name = _name_of(document)
    if not isinstance(name, str) or name not in NAMES or any(isinstance(codec, ArrayBytesCodec) for codec in codecs):
        return codecs
    serializer = ArrowVLenCodec(offset="int64" if name in LARGE_NAMES else "int32")
    place = next((i for i, codec in enumerate(codecs) if isinstance(codec, BytesBytesCodec)), len(codecs))
    return (*codecs[:place], serializer, *codecs[place:])
