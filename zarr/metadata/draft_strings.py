"""Array documents in the form of the strings draft, ZEP 7: the data type alone says how elements become bytes.

There is no array-to-bytes codec in such a document: a chunk of ``string`` or ``binary`` elements is offsets of 32 bits
and data, one of the large forms has offsets of 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule
from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.registry import get_codec_class

if TYPE_CHECKING:
    from zarr.codecs.extensions import arrow_vlen
    from zarr.codecs.extensions.arrow_vlen import ArrowVLenCodec
else:
    arrow_vlen = LazyModule("zarr.codecs.extensions.arrow_vlen")


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
    name = _name_of(document)
    if not isinstance(name, str) or name not in NAMES:
        return document
    codecs = document.get("codecs", [])
    if not isinstance(codecs, list):
        return document
    within = [_with_inner_codec(codec, name) for codec in codecs]
    return document if within == codecs and "codecs" in document else {**document, "codecs": within}


def _with_inner_codec(codec: Any, name: str) -> Any:
    """Return the JSON form of a codec; in that of shards the codecs of chunks get the one that is implied."""
    configuration = codec.get("configuration") if isinstance(codec, Mapping) else None
    if not isinstance(configuration, Mapping) or codec.get("name") != "sharding_indexed":
        return codec
    inner = [_with_inner_codec(each, name) for each in configuration.get("codecs", [])]
    kinds = [codec_kind(each) for each in inner]
    if not any(issubclass(kind, ArrayBytesCodec) for kind in kinds):
        place = next((i for i, kind in enumerate(kinds) if issubclass(kind, BytesBytesCodec)), len(inner))
        inner.insert(place, _implied(name).to_dict())
    return {**codec, "configuration": {**configuration, "codecs": inner}}


def codec_kind(codec: Any) -> type:
    """Return the class of the JSON form of a codec; ``object`` where it is none, which parsing tells.

    Examples
    --------
    >>> codec_kind("zstd").__name__
    'ZstdCodec'
    """
    name = codec.get("name") if isinstance(codec, Mapping) else codec
    try:
        return get_codec_class(name) if isinstance(name, str) else object
    except (KeyError, ValueError):
        return object


def _implied(name: str) -> ArrowVLenCodec:
    return arrow_vlen.ArrowVLenCodec(offset="int64" if name in LARGE_NAMES else "int32")


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
    place = next((i for i, codec in enumerate(codecs) if isinstance(codec, BytesBytesCodec)), len(codecs))
    return (*codecs[:place], _implied(name), *codecs[place:])
