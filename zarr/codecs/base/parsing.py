"""From JSON to codecs: objects with a name and perhaps a configuration, or bare names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.registry import get_codec_class

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.types import JSON


def parse_codec(data: Codec | Mapping[str, JSON] | str) -> Codec:
    """Return a codec of its JSON; a codec is returned as it is.

    Raises
    ------
    TypeError
        When it is neither a codec nor an object nor a name.
    UnknownCodecError
        When no codec has that name.

    Examples
    --------
    >>> parse_codec("crc32c")
    Crc32cCodec()
    """
    if isinstance(data, (ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec)):
        return data
    if isinstance(data, str):
        data = {"name": data}
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise TypeError(f"Expected a codec, its name, or an object with a name; got {data!r}.")
    # What a reader must understand it does once the codec is known, so the mark has no further meaning.
    known = {key: value for key, value in data.items() if key != "must_understand"}
    return get_codec_class(cast("str", data["name"])).from_dict(known)


def parse_codecs(data: Iterable[Any]) -> tuple[Codec, ...]:
    """Return codecs of a list of JSON.

    Raises
    ------
    TypeError
        When it is no list, or an entry is no codec.
    ValueError
        When there are more codecs than any chain has.

    Examples
    --------
    >>> parse_codecs(["bytes", {"name": "crc32c"}])
    (BytesCodec(endian=None), Crc32cCodec())
    """
    if isinstance(data, (str, Mapping)) or not isinstance(data, Iterable):
        raise TypeError(f"Expected a list of codecs, got {data!r}.")
    codecs = tuple([parse_codec(entry) for entry in limited(data)])
    check_count(sum(map(_count, codecs)))
    return codecs


# Each codec costs time at every open and at every chunk; a document with more of them is no honest one.
MOST_CODECS: Final = 256
_INNER: Final = ("codecs", "index_codecs", "mask_codecs", "data_codecs")


def check_count(count: int, what: str = "codecs") -> None:
    """Refuse a chain of more codecs than any array has.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> check_count(256)
    """
    if count > MOST_CODECS:
        raise ValueError(f"a chain has at most {MOST_CODECS} {what}, those inside of others included; got {count}")


def limited(entries: Iterable[Any], what: str = "codecs") -> list[Any]:
    """Return a list of no more entries than a chain has codecs.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> limited(("bytes", "crc32c"))
    ['bytes', 'crc32c']
    """
    found = list(entries)
    check_count(len(found), what)
    return found


def _count(codec: Any) -> int:
    """Return how many codecs a codec is, with those that it holds."""
    inner = (entry for name in _INNER for entry in getattr(codec, name, None) or ())
    return 1 + sum(map(_count, inner))
