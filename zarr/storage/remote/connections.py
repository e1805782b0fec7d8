"""How many connections the file systems of fsspec open: their own limits are for one file at a time, not for chunks.

A limit that the user chose is left alone.
"""

from __future__ import annotations

from typing import Any, Final

CONNECTIONS: Final = 256
"""At least as many as requests may be under way by default (``async.concurrency``), in two loops at once."""


def allow_connections(fs: Any) -> None:
    """Let a file system that is not connected yet open as many connections as requests are under way.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        Those of web servers and of S3 are changed, all others are as wide as needed.
    """
    kind = type(fs).__name__
    if kind == "HTTPFileSystem" and getattr(fs, "_session", None) is None:
        if not fs.client_kwargs and getattr(fs.get_client, "__module__", "") == "fsspec.implementations.http":
            fs.get_client = wide_client
    elif kind == "S3FileSystem" and getattr(fs, "_s3", None) is None and isinstance(fs.config_kwargs, dict):
        fs.config_kwargs = {"max_pool_connections": CONNECTIONS, **fs.config_kwargs}


async def wide_client(**options: Any) -> Any:
    """A session of aiohttp, as fsspec makes it, with more connections."""
    import aiohttp

    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS), **options)
