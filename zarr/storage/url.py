"""Taking store URLs apart."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from urllib.parse import urlsplit


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

    Examples
    --------
    >>> parse_store_url("s3://bucket/a/b").path
    'a/b'
    >>> parse_store_url("/data/a.zarr").scheme
    ''
    """
    if sys.platform == "win32" and url[1:2] == ":" and url[:1].isalpha():
        return ParsedStoreUrl(scheme="", name=None, path=url, raw=url)
    parts = urlsplit(url)
    name = parts.netloc or None
    path = parts.path.lstrip("/") if name is not None or parts.scheme == "memory" else parts.path
    return ParsedStoreUrl(scheme=parts.scheme, name=name, path=path, raw=url)


def is_uri(text: str) -> bool:
    """Whether a string names a store by a scheme, and not by a path (Windows drive letters are no schemes)."""
    head, separator, _ = text.partition("://")
    return (bool(separator) and len(head) > 1) or "::" in text
