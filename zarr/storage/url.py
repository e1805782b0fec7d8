"""Parse store URLs, and open URL pipelines (ZEP 8): ``file:///x.zip|zip:inner|zarr3:array``."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from zarr._lazy import instance_of, load_extra, loaded_class
from zarr.abc.store import Store
from zarr.defaults import STORES
from zarr.errors import BaseZarrError, StoreUrlError
from zarr.registry import store_class
from zarr.storage.keys import check_local_path, join, normalize_path
from zarr.types import AccessModeLiteral

ADAPTERS: Final = ("zip", "zarr", "zarr2", "zarr3", "n5", "icechunk")
FORMATS: Final[dict[str, Literal[2, 3] | None]] = {"zarr": None, "zarr2": 2, "zarr3": 3}
_PART = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)


@dataclass(frozen=True)
class ParsedStoreUrl:
    """A store URL in its parts.

    ``scheme`` is empty for a plain path; ``name`` is the part after ``//`` (a host, a bucket, a store's name), or None.
    """

    scheme: str
    name: str | None
    path: str
    raw: str


def parse_store_url(url: str) -> ParsedStoreUrl:
    """Split a store URL into its parts.

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
"""The errors of foreign file systems about URLs and paths that they cannot interpret."""


@contextlib.contextmanager
def naming_url(url: str) -> Iterator[None]:
    """Turn the errors of foreign code about a URL that it cannot open into an error that names the URL.

    Errors of the system, of missing packages and of this library stay the same.

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
        damaged = (loaded_class("zipfile", "BadZipFile"), loaded_class("tarfile", "TarError"))
        if not isinstance(error, (MISTAKES, damaged)):
            raise
        raise StoreUrlError(f"the URL {url!r} cannot be opened: {type(error).__name__}: {error}") from error


def is_uri(text: str) -> bool:
    """Return True if a string names a store by a scheme, and not by a path (Windows drive letters are no schemes)."""
    head, separator, _ = text.partition("://")
    return (bool(separator) and len(head) > 1) or "::" in text


class Part(NamedTuple):
    """One adapter of a pipeline, its path (percent-decoded), and its place in the URL."""

    adapter: str
    path: str
    position: int


def is_pipeline(url: object) -> bool:
    """Return True if a string is a pipeline: an adapter and a colon follow a bar. File names hardly ever look so.

    Examples
    --------
    >>> is_pipeline("file:///x.zip|zip:"), is_pipeline("a|b")
    (True, False)
    """
    if not (isinstance(url, str) and "|" in url and all(map(_PART.fullmatch, url.split("|")[1:]))):
        return False
    return "://" in url or not os.path.exists(url)


def parse_pipeline(url: str) -> tuple[str, list[Part]]:
    """Split a pipeline into the URL at its beginning, and its adapters.

    Raises
    ------
    StoreUrlError
        If an adapter is unknown, or follows that of an array; the message has its place in the URL.

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
    """Return the format that a pipeline names by ``zarr2:`` or ``zarr3:``, or the given format.

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


def filesystem_of(url: str, options: dict[str, Any] | None) -> tuple[Any, str]:
    """Return the file system of fsspec for a URL, and the path in it.

    Raises
    ------
    ModuleNotFoundError
        If fsspec, or a package that the file system needs, is not installed.
    """
    found: tuple[Any, str] = load_extra("fsspec", "remote", f"the URL {url!r}").core.url_to_fs(url, **(options or {}))
    return found


def is_managed_store(store: object) -> bool:
    """Return True if a store is a named store in memory."""
    return instance_of(store, STORES["ManagedMemoryStore"][0], "ManagedMemoryStore")


def from_root(store: Any) -> tuple[Store, str]:
    """Return a named store in memory from its root, and the path of its URL; any other store unchanged."""
    if not is_managed_store(store):
        return store, ""
    return type(store)(store.name, read_only=store.read_only), store.path


# ---------------------------------------------------------------------------------------------- pipelines

_ZIP_MODES: Final[dict[str | None, Any]] = {None: "r", "r": "r", "r+": "a", "a": "a", "w": "w", "w-": "x"}
"""Modes of zip files in a pipeline; without a mode they are read, like all pipelines."""


def open_pipeline(
    url: str, mode: AccessModeLiteral | None, storage_options: dict[str, Any] | None, resolve: Callable[..., Store]
) -> tuple[Store, str]:
    """Open the store of a pipeline.

    Parameters
    ----------
    url : str
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
        Options for the URL at the beginning.
    resolve : callable
        Makes a store from a URL.

    Returns
    -------
    (Store, str)
        The store, and the path in it.

    Raises
    ------
    StoreUrlError
        If the URL is malformed.
    FileNotFoundError
        If an archive does not exist.
    """
    base, parts = parse_pipeline(url)
    opened = Opened(base, mode, storage_options, resolve)
    for part in parts:
        try:
            with naming_url(url):
                getattr(opened, "zarr" if part.adapter in FORMATS else part.adapter)(part.path)
        except (ValueError, FileNotFoundError) as error:
            error.add_note(f"while opening {part.adapter!r}, at position {part.position} of the URL {url!r}")
            raise
    return opened.from_base(), opened.path


class Opened:
    """The store, and the path in it, after some parts of a pipeline; empty at its beginning.

    Each adapter is a method, which receives the path after the colon.
    """

    def __init__(
        self, url: str, mode: AccessModeLiteral | None, options: dict[str, Any] | None, resolve: Callable[..., Store]
    ) -> None:
        self.url, self.mode, self.options, self.resolve = url, mode, options, resolve
        self.store: Store | None = None
        self.path = ""

    def from_base(self) -> Store:
        """Return the open store, or open the URL at the beginning."""
        if self.store is None:
            local = self.local_path()
            if local is not None:
                self.store = self.resolve(local, mode=self.mode)
            else:
                store = self.resolve(self.url, mode=self.mode, storage_options=self.options)
                self.store, self.path = from_root(store)
        return self.store

    def local_path(self) -> str | None:
        """Return the path of a file on this computer, percent-decoded for URLs; None for other URLs."""
        if self.store is None and self.url.startswith("file:"):
            return unquote(self.url.removeprefix("file:").removeprefix("//")) or "."
        return None if self.store is not None or "://" in self.url or "::" in self.url else self.url

    def zarr(self, path: str) -> None:
        """Go to a node of format 2 or 3."""
        self.from_base()
        self.path = join(self.path, normalize_path(path))

    def n5(self, path: str) -> None:
        """Show the open place as a hierarchy of N5."""
        self.store, self.path = store_class("N5Store")(self.from_base(), self.path), normalize_path(path)

    def zip(self, path: str) -> None:
        """Open a zip file: in a folder of this computer, at a URL, or in the open store."""
        local = self.local_path()
        if local is not None:
            check_local_path(local)
            if self.mode in (None, "r", "r+") and not os.path.isfile(local):
                raise FileNotFoundError(f"there is no zip file {local!r}")
            if os.path.isdir(local):
                raise StoreUrlError(f"{local!r} is a folder, not a zip file; name it without 'zip:'")
            self.store = store_class("ZipStore")(local, mode=_ZIP_MODES[self.mode])
        else:
            self.store = store_class("ZipStore")(self._archive())
        self.path = normalize_path(path)

    def _archive(self) -> Any:
        """Return a file object of an archive in a store or at a URL."""
        named = self.url.startswith("memory:") and is_managed_store(self.resolve(self.url))
        if self.store is None and not named:
            fs, path = filesystem_of(self.url, self.options)
            return fs.open(path, "rb")
        store = self.from_base()
        get = getattr(store, "get_sync", None)
        if get is None:
            raise StoreUrlError(f"an archive in {store} cannot be opened: the store has coroutines only")
        value = get(self.path)
        if value is None:
            raise FileNotFoundError(f"there is no archive {self.path!r} in {store}")
        return io.BytesIO(value.to_bytes())

    def icechunk(self, path: str) -> None:
        """Open a repository of icechunk, at a version: ``@branch.<name>``, ``@tag.<name>`` or ``@<snapshot>``."""
        try:
            import icechunk
        except ImportError as error:
            raise ModuleNotFoundError(
                "icechunk is needed for 'icechunk:', and is not installed: pip install icechunk", name="icechunk"
            ) from error
        if self.store is not None:
            raise StoreUrlError("'icechunk:' opens a folder or a bucket, not what is in an archive")
        local, parsed = self.local_path(), parse_store_url(self.url)
        if local is not None:
            storage = icechunk.local_filesystem_storage(os.path.abspath(local))
        elif parsed.scheme == "s3":
            options = self.options or {}
            storage = icechunk.s3_storage(bucket=parsed.name, prefix=parsed.path, from_env=True, **options)
        else:
            raise StoreUrlError(f"'icechunk:' is known of folders and of s3://, not of {parsed.scheme}://")
        text, _, path = path.partition("/") if path.startswith("@") else ("", "", path)
        kind, _, name = text.removeprefix("@").partition(".")
        version = {kind: name} if kind in ("branch", "tag") and name else {"snapshot_id": text.removeprefix("@")}
        session = icechunk.Repository.open(storage).readonly_session(**(version if text[1:] else {"branch": "main"}))
        self.store, self.path = session.store, normalize_path(path)
