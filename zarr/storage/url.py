"""Taking store URLs apart."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from zarr._lazy import LazyModule
from zarr.errors import BaseZarrError, StoreUrlError

if TYPE_CHECKING:
    import tarfile
    import zipfile
else:
    tarfile = LazyModule("tarfile")
    zipfile = LazyModule("zipfile")

ADAPTERS: Final = ("zip", "zarr", "zarr2", "zarr3", "n5", "icechunk")
FORMATS: Final[dict[str, Literal[2, 3] | None]] = {"zarr": None, "zarr2": 2, "zarr3": 3}
_PART = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)


@dataclass(frozen=True)
class ParsedStoreUrl:
    """A store URL in its parts.

    ``scheme`` is empty for a plain path; ``name`` is what follows ``//`` (a host, a bucket, a store's name), or None.
    """

    scheme: str
    name: str | None
    path: str
    raw: str


def parse_store_url(url: str) -> ParsedStoreUrl:
    """Take a store URL apart.

    Parameters
    ----------
    url : str

    Returns
    -------
    ParsedStoreUrl

    Raises
    ------
    StoreUrlError
        If it is malformed.

    Examples
    --------
    >>> parse_store_url("s3://bucket/a/b").path
    'a/b'
    >>> parse_store_url("/data/a.zarr").scheme
    ''
    """
    if sys.platform == "win32" and url[1:2] == ":" and url[:1].isalpha():
        return ParsedStoreUrl(scheme="", name=None, path=url, raw=url)
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise StoreUrlError(f"the URL {url!r} is malformed: {error}") from error
    name = parts.netloc or None
    path = parts.path.lstrip("/") if name is not None or parts.scheme == "memory" else parts.path
    return ParsedStoreUrl(scheme=parts.scheme, name=name, path=path, raw=url)


MISTAKES: Final = (ValueError, TypeError, LookupError, AttributeError, AssertionError, NotImplementedError)
"""What file systems of others raise of URLs, and of paths in them, that make no sense to them."""


@contextlib.contextmanager
def naming_url(url: str) -> Iterator[None]:
    """Within it, what somebody else's code makes of a URL that it cannot open becomes an error that names the URL.

    Errors of the system, of missing packages and of this library stay what they are.

    Raises
    ------
    StoreUrlError

    Examples
    --------
    >>> with naming_url("reference://"):
    ...     raise KeyError("fo")
    Traceback (most recent call last):
    ...
    zarr.errors.StoreUrlError: the URL 'reference://' cannot be opened: KeyError: 'fo'
    """
    try:
        yield
    except (BaseZarrError, OSError, ImportError):
        raise
    except Exception as error:
        if not isinstance(error, (*MISTAKES, zipfile.BadZipFile, tarfile.TarError)):
            raise
        raise StoreUrlError(f"the URL {url!r} cannot be opened: {type(error).__name__}: {error}") from error


def is_uri(text: str) -> bool:
    """Return whether a string names a store by a scheme, and not by a path (Windows drive letters are no schemes)."""
    head, separator, _ = text.partition("://")
    return (bool(separator) and len(head) > 1) or "::" in text


class Part(NamedTuple):
    """One adapter of a pipeline, its path (percent-encoding undone), and where in the URL it begins."""

    adapter: str
    path: str
    position: int


def is_pipeline(url: object) -> bool:
    """Return whether a string is a pipeline: an adapter and a colon follow a bar. Names of files hardly ever look so.

    Examples
    --------
    >>> is_pipeline("file:///x.zip|zip:"), is_pipeline("a|b")
    (True, False)
    """
    return isinstance(url, str) and "|" in url and all(map(_PART.fullmatch, url.split("|")[1:])) and not _is_file(url)


def _is_file(url: str) -> bool:
    return "://" not in url and os.path.exists(url)


def parse_pipeline(url: str) -> tuple[str, list[Part]]:
    """Take a pipeline apart: the URL at its beginning, and its adapters.

    Raises
    ------
    StoreUrlError
        If there is an adapter that is not known, or one after that of an array; the message says where in the URL.

    Examples
    --------
    >>> parse_pipeline("file:///x.zip|zip:a%7Cb|zarr3:")[1]
    [Part(adapter='zip', path='a|b', position=14), Part(adapter='zarr3', path='', position=24)]
    """
    base, *rest = url.split("|")
    parts: list[Part] = []
    position = len(base) + 1
    for text in rest:
        match = _PART.fullmatch(text)
        if match is None or match[1] not in ADAPTERS:
            raise StoreUrlError(
                f"{text!r}, at position {position} of the URL {url!r}, is no adapter; known are "
                f"{', '.join(f'{name}:' for name in ADAPTERS)}"
            )
        if parts and (parts[-1].adapter in FORMATS or parts[-1].adapter == "n5"):
            raise StoreUrlError(
                f"nothing can follow {parts[-1].adapter!r}, but {text!r} does, at position {position} of the URL "
                f"{url!r}"
            )
        parts.append(Part(match[1], unquote(match[2]), position))
        position += len(text) + 1
    return base, parts


def format_of_url(url: object, given: Any) -> Any:
    """Return the format that a pipeline names with ``zarr2:`` or ``zarr3:``, or the one that was given.

    Raises
    ------
    StoreUrlError
        If they contradict each other.
    """
    if type(url) is not str or "|" not in url or not is_pipeline(url):
        return given
    named = FORMATS.get(parse_pipeline(url)[1][-1].adapter)
    if named is not None and given is not None and named != given:
        raise StoreUrlError(f"zarr_format={given} contradicts the URL {url!r}, which names format {named}")
    return given if named is None else named
