"""The requests of a client: keys in paths, ranges, conditions. A malformed request gets a status of 4xx."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from zarr.errors import KeyNotAllowedError
from zarr.storage.keys import RESERVED_NAMES, check_object_key, is_partial

LONGEST_PATH: Final = 8192
"""Maximum number of bytes of a path; no file system and no object store has longer keys."""

_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_HIDDEN: Final = re.compile(rb"(?i)%2f|%5c|%00")
_RANGE: Final = re.compile(r"(\d{0,19})-(\d{0,19})")
_TAG: Final = re.compile(r'(?:W/)?"([^"]*)"')


class RefusedError(Exception):
    """A refused request, with the status of the answer and its text."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or {}


def parse_key(raw_path: bytes, root_path: str = "") -> str:
    """Return the key for the path of a URL; a path that ends with a slash, or is empty, names a folder.

    Parameters
    ----------
    raw_path : bytes
        The path as it was sent, percent-encoded.
    root_path : str
        The path below which the application lies in its server.

    Raises
    ------
    RefusedError
        If the path is no key: it has ``..``, empty parts, hidden slashes or control characters, or is too long.

    Examples
    --------
    >>> parse_key(b"/a/c/0"), parse_key(b"/a%20b/"), parse_key(b"/")
    ('a/c/0', 'a b/', '')
    >>> parse_key(b"/a/%2e%2e/b")
    Traceback (most recent call last):
    ...
    zarr.serving.requests.RefusedError: the path '/a/%2e%2e/b' names no key
    """
    shown = ascii(raw_path[:200].decode("latin-1"))
    if len(raw_path) > LONGEST_PATH:
        raise RefusedError(414, f"the path is longer than {LONGEST_PATH} bytes")
    path = raw_path.removeprefix(quote(root_path).encode())
    refused = RefusedError(400, f"the path {shown} names no key")
    if path[:1] != b"/" or _BAD_ESCAPE.search(path) or _HIDDEN.search(path):
        raise refused
    try:
        key = unquote_to_bytes(path[1:]).decode()
        if key:
            check_object_key(key.removesuffix("/"))
    except (KeyNotAllowedError, UnicodeDecodeError):
        raise refused from None
    parts = key.split("/")
    if not RESERVED_NAMES.isdisjoint(parts) or is_partial(parts[-1]):
        raise RefusedError(404, f"there is no key {key!a}")
    return key


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the begin and the end of the range in a header; None for the whole value.

    Parameters
    ----------
    header : str or None
        For several ranges, and for other units than bytes, the answer is the whole value, as the protocol allows.
    size : int
        The number of bytes of the value.

    Raises
    ------
    RefusedError
        If the range is malformed, or begins after the end of the value.

    Examples
    --------
    >>> parse_range("bytes=2-5", 10), parse_range("bytes=-3", 10), parse_range("bytes=8-99", 10), parse_range(None, 10)
    ((2, 6), (7, 10), (8, 10), None)
    """
    unit, _, text = (header or "").partition("=")
    if unit.strip().lower() != "bytes":
        return None
    found = [_RANGE.fullmatch(part.strip()) for part in text.split(",")]
    bounds = [bounds_of(part[1], part[2], size) for part in found if part is not None]
    if None in found or not any(start < stop for start, stop in bounds):
        raise RefusedError(416, f"no such range of {size} bytes", {"content-range": f"bytes */{size}"})
    return bounds[0] if len(bounds) == 1 else None


def bounds_of(first: str, last: str, size: int) -> tuple[int, int]:
    """Return the begin and the end of one range; an empty one if the value has no such bytes.

    Examples
    --------
    >>> bounds_of("0", "", 10), bounds_of("5", "2", 10), bounds_of("", "", 10)
    ((0, 10), (0, 0), (0, 0))
    """
    if not first:
        return (max(0, size - int(last)), size) if last else (0, 0)
    stop = min(size, int(last) + 1) if last else size
    return (int(first), stop) if int(first) < stop else (0, 0)


def names_tag(header: str | None, tag: str | None) -> bool:
    """Return True if a list of entity tags (``If-None-Match``) has a tag, or is ``*``.

    Examples
    --------
    >>> names_tag('"a", W/"b"', "b"), names_tag("*", "b"), names_tag('"a"', "b"), names_tag(None, "b")
    (True, True, False, False)
    """
    if header is None or tag is None:
        return False
    return header.strip() == "*" or tag in _TAG.findall(header)


def takes_gzip(header: str | None) -> bool:
    """Return True if ``Accept-Encoding`` allows gzip.

    Examples
    --------
    >>> takes_gzip("br, gzip"), takes_gzip("gzip;q=0"), takes_gzip(None)
    (True, False, False)
    """
    for part in (header or "").lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", quality)
    return False
