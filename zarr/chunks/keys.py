"""Encodings of chunk coordinates as store keys.

May import `zarr_core` and floor 1. The encodings of the format are in this file; others are found through the registry
under ``zarr.chunk_key_encoding``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NotRequired, Self, TypeAlias, TypedDict

import zarr_core
from zarr._records import field_names, record, set_values
from zarr.abc.metadata import Metadata
from zarr.registry.tables import _chunk_key_encoding_registry, required_class
from zarr.types import JSON, parse_named_configuration

if TYPE_CHECKING:
    from zarr.types import NamedConfig

SeparatorLiteral: TypeAlias = Literal[".", "/"]


class ChunkKeyEncodingParams(TypedDict):
    """A chunk key encoding as a user writes it: a name and perhaps a separator."""

    name: Literal["v2", "default"]
    separator: NotRequired[SeparatorLiteral]


def parse_separator(data: JSON) -> SeparatorLiteral:
    """Check a separator.

    Parameters
    ----------
    data
        ``"."`` or ``"/"``.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> parse_separator("/")
    '/'
    """
    if data == "." or data == "/":
        return data  # type: ignore[return-value]
    raise ValueError(f"Failed to parse input for 'separator': expected Literal['.', '/'], got {data!r}.")


def _join(separator: str, coords: Iterable[int]) -> str:
    return separator.join([str(int(c)) for c in coords])


@record(frozen=True)
class ChunkKeyEncoding(ABC, Metadata):
    """The encoding of chunk coordinates as the part of a key that follows the path of the array.

    A third party inherits from this class, gives its name in ``name``, declares its configuration as dataclass fields,
    and writes ``encode_chunk_key``. If keys are made from the coordinates as by ``default`` or ``v2``, ``to_core`` lets
    the compiled core make them in bulk.

    Examples
    --------
    >>> DefaultChunkKeyEncoding(separator=".").encode_chunk_key((1, 2))
    'c.1.2'
    """

    name: ClassVar[str]

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON form: a name, or an object with a name and perhaps a configuration."""
        _, configuration = parse_named_configuration(data, require_configuration=False)
        return cls(**(configuration or {}))  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON form."""
        configuration = {name: getattr(self, name) for name in field_names(self)}
        return {"name": self.name, "configuration": configuration}

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """Return the coordinates of a key."""
        raise NotImplementedError(f"{type(self).__name__} does not implement decode_chunk_key.")

    @abstractmethod
    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at ``chunk_coords``, relative to the array."""

    def to_core(self, prefix: str) -> zarr_core.KeyFormat | None:
        """Return the key format of the compiled core, or None if it has none for this encoding.

        Parameters
        ----------
        prefix
            The full path of the array in its store.
        """
        return None


@record(frozen=True)
class _Separated(ChunkKeyEncoding):
    """Keys that are coordinates joined by a separator."""

    separator: SeparatorLiteral

    def __post_init__(self) -> None:
        parse_separator(self.separator)

    def to_core(self, prefix: str) -> zarr_core.KeyFormat | None:
        """Return the key format of the compiled core."""
        return zarr_core.KeyFormat(prefix, self.separator, self.name)


@record(frozen=True)
class DefaultChunkKeyEncoding(_Separated):
    """Keys like ``c/0/1``: the letter c, then the coordinates.

    Parameters
    ----------
    separator
        ``"/"`` or ``"."``.

    Raises
    ------
    ValueError
        For any other separator.

    Examples
    --------
    >>> DefaultChunkKeyEncoding().encode_chunk_key((0, 1))
    'c/0/1'
    """

    name: ClassVar[Literal["default"]] = "default"
    separator: SeparatorLiteral = "/"

    def __init__(self, separator: SeparatorLiteral = "/") -> None:
        set_values(self, separator=separator)
        self.__post_init__()

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """Return the coordinates of a key."""
        if chunk_key == "c":
            return ()
        start, *coords = chunk_key.split(self.separator)
        if start != "c" or not coords:
            raise ValueError(f"Invalid chunk key for default encoding: {chunk_key!r}")
        return tuple([int(c) for c in coords])

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at ``chunk_coords``."""
        return "c" + self.separator + _join(self.separator, chunk_coords) if len(chunk_coords) else "c"


@record(frozen=True)
class V2ChunkKeyEncoding(_Separated):
    """Keys like ``0.1``: the coordinates alone, as format 2 writes them.

    Parameters
    ----------
    separator
        ``"."`` or ``"/"``.

    Raises
    ------
    ValueError
        For any other separator.

    Examples
    --------
    >>> V2ChunkKeyEncoding().encode_chunk_key((0, 1))
    '0.1'
    """

    name: ClassVar[Literal["v2"]] = "v2"
    separator: SeparatorLiteral = "."

    def __init__(self, separator: SeparatorLiteral = ".") -> None:
        set_values(self, separator=separator)
        self.__post_init__()

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """Return the coordinates of a key; for ``"0"``, those of a 1-d array."""
        return tuple([int(c) for c in chunk_key.split(self.separator)])

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at ``chunk_coords``."""
        return _join(self.separator, chunk_coords) or "0"


ChunkKeyEncodingLike: TypeAlias = (
    "Mapping[str, JSON] | ChunkKeyEncodingParams | ChunkKeyEncoding | NamedConfig[str, Any] | str"
)

# Nearly every document has one of these, and encodings never change.
_USUAL: dict[str, ChunkKeyEncoding] = {
    str(encoding.to_dict()): encoding
    for encoding in (
        DefaultChunkKeyEncoding("/"),
        DefaultChunkKeyEncoding("."),
        V2ChunkKeyEncoding("."),
        V2ChunkKeyEncoding("/"),
    )
}


def register_chunk_key_encoding(key: str, cls: type) -> None:
    """Add a chunk key encoding under its name in array metadata.

    Parameters
    ----------
    key : str
        The name in metadata documents.
    cls : type
        The class of the encoding.

    Examples
    --------
    >>> from zarr.registry import register_chunk_key_encoding
    >>> register_chunk_key_encoding("example.keys", dict)
    """
    _chunk_key_encoding_registry.register(cls, key)


def get_chunk_key_encoding_class(key: str) -> type[ChunkKeyEncoding]:
    """Return the chunk key encoding of a name.

    Parameters
    ----------
    key : str
        The name in metadata documents.

    Returns
    -------
    type

    Raises
    ------
    KeyError
        If there is none.

    Examples
    --------
    >>> from zarr.registry import get_chunk_key_encoding_class
    >>> get_chunk_key_encoding_class("v2").__name__
    'V2ChunkKeyEncoding'
    """
    message = f"Chunk key encoding '{key}' not found in registered chunk key encodings"
    return required_class(_chunk_key_encoding_registry, key, message)


def parse_chunk_key_encoding(data: ChunkKeyEncodingLike) -> ChunkKeyEncoding:
    """Read the ``chunk_key_encoding`` member of an array document, or the parameter of a user.

    Parameters
    ----------
    data
        An encoding (returned unchanged); a name; ``{"name": ..., "configuration": {...}}``; or ``{"name": ...,
        "separator": ...}``.

    Returns
    -------
    ChunkKeyEncoding

    Raises
    ------
    TypeError, ValueError
        If it is malformed, or its name is unknown.

    Examples
    --------
    >>> parse_chunk_key_encoding({"name": "v2", "separator": "/"})
    V2ChunkKeyEncoding(separator='/')
    >>> parse_chunk_key_encoding("default")
    DefaultChunkKeyEncoding(separator='/')
    """
    document: Any = data
    if type(document) is dict:
        usual = _USUAL.get(str(document))
        if usual is not None:
            return usual
    elif isinstance(document, ChunkKeyEncoding):
        return document
    if isinstance(document, Mapping) and "separator" in document and "name" in document:
        document = {"name": document["name"], "configuration": {"separator": document["separator"]}}
    name, _ = parse_named_configuration(document, require_configuration=False)
    try:
        cls = get_chunk_key_encoding_class(name)
    except KeyError as error:
        raise ValueError(f"Unknown chunk key encoding: {error.args[0] if error.args else name!r}") from error
    return cls.from_dict(document)
