"""Chunk key encodings beyond the specification: ``fanout``, ``suffix``, and the form of the latter in zarrs.

May import floor 1 and ``keys.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from zarr.chunks.keys import ChunkKeyEncoding, DefaultChunkKeyEncoding, SeparatorLiteral, parse_chunk_key_encoding
from zarr.types import JSON, parse_named_configuration

# A folder contains the children of a digit, and beside them the mark of the next dimension, or the chunk.
_LEAST_CHILDREN: Final = 3


@dataclass(frozen=True)
class FanoutChunkKeyEncoding(ChunkKeyEncoding):
    """Keys like ``d0/12/34/d1/5/c``: coordinates as digits, so that no folder has more than ``max_children`` entries.

    Parameters
    ----------
    max_children
        Maximum number of entries of a folder, at least 3; coordinates are written to the base of one less.

    Raises
    ------
    ValueError
        If the number is smaller.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/pull/31

    Examples
    --------
    >>> FanoutChunkKeyEncoding(max_children=101).encode_chunk_key((1234, 5, 67890))
    'd0/12/34/d1/5/d2/6/78/90/c'
    """

    name: ClassVar[str] = "fanout"
    max_children: int = 1001

    def __post_init__(self) -> None:
        given: Any = self.max_children
        if not isinstance(given, int) or isinstance(given, bool) or given < _LEAST_CHILDREN:
            raise ValueError(f"fanout: max_children must be a whole number from {_LEAST_CHILDREN} on, got {given!r}")

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at ``chunk_coords``."""
        parts: list[str] = []
        for axis, coordinate in enumerate(chunk_coords):
            parts += [f"d{axis}", *self._digits(int(coordinate))]
        return "/".join([*parts, "c"])

    def _digits(self, number: int) -> list[str]:
        digits = [str(number % (base := self.max_children - 1))]
        while number := number // base:
            digits.append(str(number % base))
        return digits[::-1]

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """Return the coordinates of a key.

        Raises
        ------
        ValueError
            If it is no key of this encoding.
        """
        *parts, last = chunk_key.split("/")
        coords: list[int] = []
        for part in parts:
            if part == f"d{len(coords)}":
                coords.append(0)
            elif coords and part.isdecimal():
                coords[-1] = coords[-1] * (self.max_children - 1) + int(part)
            else:
                raise ValueError(f"Invalid chunk key for fanout encoding: {chunk_key!r}")
        if last != "c" or self.encode_chunk_key(tuple(coords)) != chunk_key:
            raise ValueError(f"Invalid chunk key for fanout encoding: {chunk_key!r}")
        return tuple(coords)


class _Suffixed(ChunkKeyEncoding):
    """Keys of another encoding with a suffix."""

    suffix: str

    def __post_init__(self) -> None:
        given: Any = self.suffix
        if not isinstance(given, str) or "/" in given or "\0" in given:
            raise ValueError(f"{self.name}: suffix must be text without '/', such as '.tiff', got {given!r}")

    @property
    @abstractmethod
    def _base(self) -> ChunkKeyEncoding:
        """The encoding of the keys without the suffix."""

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at ``chunk_coords``."""
        return self._base.encode_chunk_key(chunk_coords) + self.suffix

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """Return the coordinates of a key.

        Raises
        ------
        ValueError
            If the key ends otherwise.
        """
        if not chunk_key.endswith(self.suffix):
            raise ValueError(f"Invalid chunk key for {self.name} encoding: {chunk_key!r} lacks {self.suffix!r}")
        return self._base.decode_chunk_key(chunk_key[: len(chunk_key) - len(self.suffix)])


@dataclass(frozen=True)
class SuffixChunkKeyEncoding(_Suffixed):
    """Keys like ``c/0/1.tiff``: those of another encoding, and a suffix for other programs.

    Parameters
    ----------
    suffix
        The end of each key.
    base_encoding
        The encoding of the rest, in any form of a chunk key encoding.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/pull/28

    Examples
    --------
    >>> SuffixChunkKeyEncoding(suffix=".tiff", base_encoding="default").encode_chunk_key((1, 2))
    'c/1/2.tiff'
    """

    name: ClassVar[str] = "suffix"
    suffix: str
    base_encoding: ChunkKeyEncoding

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "base_encoding", parse_chunk_key_encoding(self.base_encoding))

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON form. The examples of the draft also have ``base-encoding``."""
        _, given = parse_named_configuration(data, require_configuration=True)
        configuration: Any = given
        return cls(**{key.replace("-", "_"): value for key, value in configuration.items()})

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON form."""
        configuration: dict[str, JSON] = {"suffix": self.suffix, "base_encoding": self.base_encoding.to_dict()}
        return {"name": self.name, "configuration": configuration}

    @property
    def _base(self) -> ChunkKeyEncoding:
        return self.base_encoding


@dataclass(frozen=True)
class DefaultSuffixChunkKeyEncoding(_Suffixed):
    """Keys like ``c/0/1.tiff`` under their name in zarrs.

    Parameters
    ----------
    suffix
        The end of each key.
    separator
        ``"/"`` or ``"."``.

    Examples
    --------
    >>> DefaultSuffixChunkKeyEncoding(suffix=".tiff").encode_chunk_key((1, 2))
    'c/1/2.tiff'
    """

    name: ClassVar[str] = "zarrs.default_suffix"
    suffix: str
    separator: SeparatorLiteral = "/"

    def __post_init__(self) -> None:
        super().__post_init__()
        DefaultChunkKeyEncoding(self.separator)

    @property
    def _base(self) -> ChunkKeyEncoding:
        return DefaultChunkKeyEncoding(self.separator)
