"""From JSON to codecs: objects with a name and perhaps a configuration, or bare names."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.notices import warn
from zarr.registry import get_codec_class
from zarr.types import parse_named_configuration

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
INNER_CODECS: Final = ("codecs", "index_codecs", "mask_codecs", "data_codecs")


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
    inner = (entry for name in INNER_CODECS for entry in getattr(codec, name, None) or ())
    return 1 + sum(map(_count, inner))


# Names under which a codec was stored by earlier versions, and the name it has now.
FORMER_NAMES = {"endian": "bytes"}


def configuration_of(data: Any, name: str, *, required: bool = True) -> dict[str, Any]:
    """Return the configuration of a codec's JSON, which is an object or, without a configuration, a bare name.

    Parameters
    ----------
    data
        The JSON.
    name
        The name that the codec must have.
    required
        Whether there must be a configuration.

    Raises
    ------
    TypeError, ValueError
        When the JSON is no such object, has another name, or lacks the configuration.

    Examples
    --------
    >>> configuration_of({"name": "gzip", "configuration": {"level": 1}}, "gzip")
    {'level': 1}
    """
    given = data if isinstance(data, str) else data.get("name") if isinstance(data, dict) else None
    expected = given if isinstance(given, str) and FORMER_NAMES.get(given) == name else name
    _, configuration = parse_named_configuration(data, expected, require_configuration=required)
    return dict(configuration) if isinstance(configuration, Mapping) else {}


def parse_field_int(data: JSON, field: str) -> int:
    """Return an int; the field's name goes into the message when it is none.

    Raises
    ------
    TypeError
        When it is no int.

    Examples
    --------
    >>> parse_field_int(3, "level")
    3
    """
    if isinstance(data, int) and not isinstance(data, bool):
        return data
    raise TypeError(f"Failed to parse input for {field!r}: expected int, got {data!r}.")


class DeprecatedStrEnumMeta(type):
    """Metaclass of classes whose attributes are strings that one should write out instead."""

    _members: ClassVar[dict[str, str]]

    def __getattr__(cls, name: str) -> str:
        members: dict[str, str] = type.__getattribute__(cls, "__dict__").get("_members", {})
        if name not in members:
            raise AttributeError(name)
        warn(
            f"{cls.__name__}.{name} is deprecated; pass the string {members[name]!r} instead.",
            DeprecationWarning,
        )
        return members[name]


def one_of(value: Any, allowed: tuple[str, ...], field: str, owner: str) -> str:
    """Return a string that must be one of a few; an enumeration member stands for its value.

    Raises
    ------
    ValueError
        When it is none of them.

    Examples
    --------
    >>> one_of("little", ("little", "big"), "endian", "BytesCodec")
    'little'
    """
    if isinstance(value, enum.Enum):
        warn(
            f"Passing an enum to {owner} for {field!r} is deprecated; pass the string {value.value!r} instead.",
            DeprecationWarning,
        )
    value = getattr(value, "value", value)
    if isinstance(value, str) and value in allowed:
        return value
    raise ValueError(f"{field} must be one of {list(allowed)}. Got {value!r}.")
