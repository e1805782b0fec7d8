"""File systems of fsspec: with connections for the store over them, and their requests, with a check of each answer.

The file systems return any bytes that arrive. Here the header ``Content-Range`` must name the requested range, and the
number of bytes must be right. For other file systems, only the number of bytes can be checked.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from zarr.errors import StoreUnavailableError

if TYPE_CHECKING:
    from fsspec.asyn import AsyncFileSystem

_RANGE: Final = re.compile(r"\s*bytes\s+(\d+)-(\d+)/(\d+|\*)\s*")

_KINDS: Final = {
    "fsspec.implementations.http": "http",
    "s3fs.core": "s3",
    "gcsfs.core": "gcs",
    "gcsfs.extended_gcsfs": "gcs",
    "adlfs.spec": "abfs",
}
"""Kinds of file systems, by the module of their reading."""

REPEATED: Final = frozenset({"http", "s3"})
"""The kinds whose requests the store repeats; the clients of others do that."""

Span = tuple[int | None, int | None]
"""First byte and the one after the last, as in fsspec: a negative first one counts from the end."""


def kind_of(fs: Any) -> str:
    """Return the kind of a file system whose requests this library makes: "http", "s3", "gcs", "abfs"; else "".

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        A subclass with its own reading is called as it is.
    """
    module = getattr(type(fs)._cat_file, "__module__", "")
    if "_cat_file" in vars(fs):
        return ""
    kind = _KINDS.get(module, "")
    if kind == "gcs" and not type(fs)._pipe_file.__module__.startswith("gcsfs."):
        return ""  # an upload on a condition goes past the method of a subclass
    return kind


def _bounds(span: Span, size: int) -> tuple[int, int]:
    """Return the range of a span in a value of so many bytes."""
    start, end = span[0] or 0, size if span[1] is None else min(span[1], size)
    return (max(0, size + start) if start < 0 else start), end


def header_of(span: Span) -> str:
    """Return the value of the header ``Range``.

    Examples
    --------
    >>> header_of((-8, None)), header_of((4, None)), header_of((4, 6))
    ('bytes=-8', 'bytes=4-', 'bytes=4-5')
    """
    start, end = span
    if start is not None and start < 0:
        return f"bytes={start}"
    return f"bytes={start or 0}-{'' if end is None else end - 1}"


def check_answer(path: str, span: Span, length: int, content_range: str | None) -> None:
    """Check that an answer has the requested bytes.

    Parameters
    ----------
    path : str
        The path, for the message.
    span : tuple
        The requested range; (None, None) for all.
    length : int
        The number of bytes of the answer.
    content_range : str, optional
        The header ``Content-Range``; None if there is none.

    Raises
    ------
    StoreUnavailableError
        If it has other bytes, or fewer.

    Examples
    --------
    >>> check_answer("a", (0, 10), 10, "bytes 0-9/100")
    >>> check_answer("a", (0, 10), 5, "bytes 0-4/100")
    Traceback (most recent call last):
        ...
    zarr.errors.StoreUnavailableError: a: asked for bytes=0-9, got 5 bytes of 'bytes 0-4/100'
    """
    start, end = span
    found = _RANGE.fullmatch(content_range or "")
    if found is None:
        right = span == (None, None) or (start is not None and length == (-start if start < 0 else (end or 0) - start))
    else:
        first, stop = int(found[1]), int(found[2]) + 1
        if found[3] != "*":
            wanted = _bounds(span, int(found[3]))
        else:
            wanted = (start, stop if end is None else end) if start is not None and start >= 0 else (first, stop)
        right = wanted == (first, stop) and length == stop - first
    if not right:
        asked = "all" if span == (None, None) else header_of(span)
        raise StoreUnavailableError(f"{path}: asked for {asked}, got {length} bytes of {content_range!r}")


async def get_from_web(fs: Any, url: str, span: Span, seconds: float) -> bytes:
    """Return the bytes of a URL.

    Parameters
    ----------
    fs : fsspec.implementations.http.HTTPFileSystem
    url : str
    span : tuple
    seconds : float
        Seconds without any bytes after which the request fails.

    Raises
    ------
    FileNotFoundError
        If there is no such URL.
    StoreUnavailableError
        If other bytes arrive.
    """
    options, whole = web_options(fs, seconds), span == (None, None)
    if not whole:
        options["headers"] = {**options.get("headers", {}), "Range": header_of(span)}
    session = await fs.set_session()
    async with session.get(fs.encode_url(url), **options) as answer:
        if answer.status == 416 and not whole:
            return b""  # the range begins after the end
        fs._raise_not_found_for_status(answer, url)
        data: bytes = await answer.read()
    if answer.status == 200 and not whole:  # the server has no ranges, and sent all
        first, stop = _bounds(span, len(data))
        return data[first:stop]
    check_answer(url, span, len(data), answer.headers.get("Content-Range"))
    return data


def web_options(fs: Any, seconds: float) -> dict[str, Any]:
    """Return the options of a file system for its requests, and the limit on silence, unless the options have one."""
    options = dict(fs.kwargs)
    if "timeout" not in options and "timeout" not in fs.client_kwargs:
        options["timeout"] = timeout_of(seconds)
    return options


@cache
def timeout_of(seconds: float) -> Any:
    """Return a limit for aiohttp: not on the whole request, which may be long, but on the time without any bytes."""
    import aiohttp

    return aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)


async def is_on_web(fs: Any, url: str, seconds: float) -> bool:
    """Return True if there is a URL; raise an error if the server failed, and cannot know."""
    session = await fs.set_session()
    async with session.get(fs.encode_url(url), **web_options(fs, seconds)) as answer:
        if answer.status >= 500 or answer.status in (408, 429):
            answer.raise_for_status()
        return bool(answer.status < 400)


async def get_from_others(fs: Any, path: str, span: Span) -> bytes:
    """Return the bytes of a file of any other file system.

    Raises
    ------
    StoreUnavailableError
        If there are more or fewer bytes than requested.
    """
    start, end = span
    data: bytes = await fs._cat_file(path, start=start, end=end)
    wanted = None if start is None else -start if start < 0 else None if end is None else end - start
    if wanted is None or len(data) == wanted:
        return data
    size = await _size(fs, path) if len(data) < wanted else None
    first, stop = (0, wanted) if size is None else _bounds(span, size)
    if len(data) > wanted or (size is not None and len(data) != max(0, stop - first)):
        raise StoreUnavailableError(f"{path}: asked for {header_of(span)}, got {len(data)} bytes of {size or 'many'}")
    return data


async def _size(fs: Any, path: str) -> int | None:
    """Return the size of a file, if the file system reports it."""
    try:
        size = await fs._size(path)
    except (NotImplementedError, OSError, TypeError, KeyError):
        return None
    return None if size is None else int(size)


# Connections

CONNECTIONS: Final = 256
"""At least the default number of parallel requests (``async.concurrency``), in two loops at once."""


def allow_connections(fs: Any, seconds: float) -> None:
    """Let a file system that is not connected yet open as many connections as there may be parallel requests.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        Those of web servers and of S3 are changed; all others have no such limit.
    seconds : float
        Seconds without any bytes from a web server after which a request fails.
    """
    kind = type(fs).__name__
    if kind == "HTTPFileSystem" and getattr(fs, "_session", None) is None:
        if not fs.client_kwargs and getattr(fs.get_client, "__module__", "") == "fsspec.implementations.http":
            fs.get_client = partial(wide_client, seconds)
    elif kind == "S3FileSystem" and getattr(fs, "_s3", None) is None and isinstance(fs.config_kwargs, dict):
        fs.config_kwargs = {"max_pool_connections": CONNECTIONS, **fs.config_kwargs}


async def wide_client(seconds: float, **options: Any) -> Any:
    """Return a session of aiohttp, as fsspec makes it, with more connections, and a limit on silence.

    Parameters
    ----------
    seconds : float
        Seconds without any bytes after which a request fails.
    **options
        Options of aiohttp.
    """
    import aiohttp

    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    return aiohttp.ClientSession(connector=connector, timeout=timeout_of(seconds), **options)


def has_own_retries(fs: Any) -> bool:
    """Return True if the user has configured the retries of botocore.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        Any file system.
    """
    return "retries" in (getattr(fs, "config_kwargs", None) or {})


def without_retries(fs: Any, seconds: float) -> Any:
    """Return a file system of S3 without retries, otherwise like the given one, which keeps them.

    Parameters
    ----------
    fs : s3fs.S3FileSystem
        The one with retries.
    seconds : float
        Seconds without any bytes after which a request fails.
    """
    made = fs.__dict__.setdefault("_zarr_without_retries", {})
    if seconds not in made:
        other = clone(fs)
        limits = {"read_timeout": seconds, "connect_timeout": seconds, **(other.config_kwargs or {})}
        other.config_kwargs = {**limits, "retries": {"total_max_attempts": 1}}
        other.retries = 1
        made[seconds] = other
    return made[seconds]


def make_async(fs: Any) -> AsyncFileSystem:
    """Return the asynchronous form of a file system, with connections of its own.

    Returns
    -------
    fsspec.asyn.AsyncFileSystem
        The file system itself if it is asynchronous already; a new one with the same options if it can be; else one
        that runs the plain calls in threads.
    """
    if not fs.async_impl:
        from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

        return AsyncFileSystemWrapper(fs, asynchronous=True)
    return fs if fs.asynchronous else clone(fs)


def clone(fs: Any) -> Any:
    """Return a new file system of the same class and options, for another event loop.

    Parameters
    ----------
    fs : fsspec.asyn.AsyncFileSystem
        The file system to copy.
    """
    options = dict(fs.storage_options)
    options.pop("loop", None)
    options.update(asynchronous=True, skip_instance_cache=True)
    return type(fs)(*fs.storage_args, **options)
