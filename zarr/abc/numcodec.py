"""The contract of a numcodecs codec, without importing numcodecs."""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeGuard

_METHODS = ("encode", "decode", "get_config", "from_config")


class Numcodec(Protocol):
    """A codec of format 2: a ``codec_id``, a configuration, and functions of buffers."""

    codec_id: str

    def encode(self, buf: Any) -> Any:
        """Encode the bytes, or the array, of an object with the buffer protocol."""
        ...

    def decode(self, buf: Any, out: Any | None = None) -> Any:
        """Decode a buffer, into ``out`` if that is given."""
        ...

    def get_config(self) -> Any:
        """Return the configuration, with the codec's id under ``id``."""
        ...

    @classmethod
    def from_config(cls, config: Any) -> Self:
        """Return a codec from a configuration."""
        ...


def _has_methods(obj: object) -> bool:
    return isinstance(getattr(obj, "codec_id", None), str) and all(
        callable(getattr(obj, name, None)) for name in _METHODS
    )


def _is_numcodec(obj: object) -> TypeGuard[Numcodec]:
    """Return True if an object behaves like a numcodecs codec.

    An ``isinstance`` test against a protocol would accept more and be slower, and numcodecs need not be imported.
    """
    return not isinstance(obj, type) and _has_methods(obj)


def _is_numcodec_cls(obj: object) -> TypeGuard[type[Numcodec]]:
    """Return True if an object is a class of numcodecs codecs."""
    return isinstance(obj, type) and _has_methods(obj)


def is_of_numcodecs(codec: object) -> bool:
    """Return True if numcodecs itself brings the class of a codec.

    Examples
    --------
    >>> import numcodecs
    >>> is_of_numcodecs(numcodecs.Zlib()), is_of_numcodecs(object())
    (True, False)
    """
    return type(codec).__module__.partition(".")[0] == "numcodecs"
