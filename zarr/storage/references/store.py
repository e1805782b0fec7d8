"""A store whose values are bytes of other files, by a table of references (kerchunk)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zarr.abc.store import SyncStore
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import BrokenReferenceError, MetadataValidationError, ReadOnlyError
from zarr.storage.keys import check_key, check_local_path, check_prefix, child_names, only_keys
from zarr.storage.ranges import bounds_of
from zarr.storage.references.parquet import ParquetTable
from zarr.storage.references.tables import Reference, Span, parse_reference, parse_table
from zarr.storage.url import naming_url

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype

REMOTE: Final = frozenset(("http", "https", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "memory", "oci"))
"""Schemes of URLs that a table may name, wherever it lies: they cannot lead to files of this computer."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?://)?")


class ReferenceStore(SyncStore):
    """Keys that stand for bytes of other files, for reading.

    Parameters
    ----------
    references : mapping of str
        For each key a text (``base64:…`` or as it is), an object, ``[url]`` or ``[url, offset, length]``; or a whole
        document of version 1, with templates and generators.
    folder : str, optional
        The folder or URL in which relative paths begin; without one they are refused.
    allow_outside : bool
        Whether references may name absolute paths of this computer, paths that lead out of the folder, and URLs of any
        scheme. A table from somebody else could read any file with them.
    storage_options : dict, optional
        For fsspec, where references name URLs.

    Raises
    ------
    MetadataValidationError
        If the document is malformed.

    Notes
    -----
    https://fsspec.github.io/kerchunk/spec.html

    Examples
    --------
    >>> store = ReferenceStore({"a/.zarray": "{}", "a/0": "base64:AAE="})
    >>> store.get_sync("a/0").to_bytes()
    b'\\x00\\x01'
    """

    blocking = True
    supports_writes: bool = False
    supports_deletes: bool = False
    supports_listing: bool = True

    def __init__(
        self,
        references: Mapping[str, Any],
        *,
        folder: str | None = None,
        allow_outside: bool = False,
        storage_options: dict[str, Any] | None = None,
        name: str = "references",
    ) -> None:
        super().__init__(read_only=True)
        self._table = references if isinstance(references, ParquetTable) else parse_table(references, name)
        self._folder = _absolute_folder(folder, allow_outside)
        self._allow_outside = allow_outside
        self._options = storage_options or {}
        self._name = name

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], *, allow_outside: bool = False, storage_options: dict[str, Any] | None = None
    ) -> ReferenceStore:
        """Read a table: a JSON file, or a folder of parquet files; by its path or its URL.

        Parameters
        ----------
        path : str or PathLike
        allow_outside, storage_options
            See the class.

        Raises
        ------
        FileNotFoundError
            If there is none.
        MetadataValidationError
            If it is malformed.
        """
        text = os.fspath(path)
        check_local_path(text)
        scheme = _scheme_of(text)
        local = scheme in ("", "file")
        text = text.removeprefix("file:").removeprefix("//") if scheme == "file" else text
        is_json = text.lower().endswith(".json")
        folder = text.rpartition("/")[0] or ("/" if text.startswith("/") else ".") if is_json else text.rstrip("/")
        folder = os.path.abspath(folder) if local else folder
        options = storage_options or {}

        read = partial(_read_in, folder, None if local else options)
        table: Mapping[str, Any]
        if is_json:
            raw = read(text.rpartition("/")[2])
            try:
                table = json.loads(raw)
            except (ValueError, RecursionError) as error:
                raise MetadataValidationError(f"{text!r} is not valid JSON: {error}") from error
        else:
            table = ParquetTable(read, text)
        # Files named in a table of parquet lie beside its folder.
        beside = folder if is_json else folder.rpartition("/")[0]
        return cls(table, folder=beside, allow_outside=allow_outside, storage_options=storage_options, name=text)

    def with_read_only(self, read_only: bool = False) -> ReferenceStore:
        """Return the same store; it cannot be written to.

        Raises
        ------
        ReadOnlyError
            If it shall be written to.
        """
        if not read_only:
            raise ReadOnlyError(f"{self} is read only")
        return self

    def __str__(self) -> str:
        return f"reference://{self._name}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReferenceStore) and (self._table is other._table or self._table == other._table)

    __hash__ = None  # type: ignore[assignment]

    # Reading

    def _reference(self, key: str) -> Reference | None:
        check_key(key)
        try:
            value = self._table[key]
        except KeyError:
            return None
        return parse_reference(key, value)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key.

        Raises
        ------
        BrokenReferenceError
            If the file is not there, is too short, or may not be read.
        """
        found = self._reference(key)
        if found is None:
            return None
        if isinstance(found, Span):
            data = self._read(key, found, byte_range)
        else:
            start, stop = (0, len(found)) if byte_range is None else bounds_of(byte_range, len(found))
            data = found[start:stop]
        return (prototype or default_buffer_prototype()).buffer.from_bytes(data)

    def exists_sync(self, key: str) -> bool:
        """Whether the key is in the table."""
        check_key(key)
        return key in self._table

    def getsize_sync(self, key: str) -> int:
        """How many bytes the key holds; FileNotFoundError where there is no such key."""
        found = self._reference(key)
        if found is None:
            raise FileNotFoundError(key)
        if not isinstance(found, Span):
            return len(found)
        return self._size(key, found)

    def list_sync(self) -> Iterable[str]:
        """All keys."""
        return only_keys(self._table)

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """All keys that begin with the prefix."""
        check_prefix(prefix)
        if isinstance(self._table, ParquetTable):
            return only_keys(self._table.under(prefix))
        return [key for key in self.list_sync() if key.startswith(prefix)]

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """The names directly under the prefix."""
        check_prefix(prefix)
        if isinstance(self._table, ParquetTable):
            return self._table.names_under(prefix)
        return child_names(list(self.list_sync()), prefix)

    def _read(self, key: str, span: Span, byte_range: ByteRequest | None) -> bytes:
        place, local = self._place(key, span.url)
        start, stop = span.offset, None if span.length is None else span.offset + span.length
        try:
            if byte_range is not None:
                size = self._size(key, span) if span.length is None else span.length
                first, last = bounds_of(byte_range, size)
                start, stop = span.offset + first, span.offset + last
            if start == stop:
                return b""
            data = _read_file(place, start, stop) if local else _read_url(place, self._options, start, stop)
        except BrokenReferenceError:
            raise
        except OSError as error:
            raise BrokenReferenceError(f"{self}: {key!r} is in {place!r}, which cannot be read: {error}") from error
        if stop is not None and len(data) != stop - start:
            raise BrokenReferenceError(
                f"{self}: {key!r} is bytes {start} to {stop} of {place!r}, which has only {len(data)} of them"
            )
        return data

    def _size(self, key: str, span: Span) -> int:
        if span.length is not None:
            return span.length
        place, local = self._place(key, span.url)
        try:
            return os.path.getsize(place) if local else _size_of_url(place, self._options)
        except OSError as error:
            raise BrokenReferenceError(f"{self}: {key!r} is in {place!r}, which cannot be read: {error}") from error

    def _place(self, key: str, url: str) -> tuple[str, bool]:
        """The path or URL of a file, and whether it is a path of this computer."""
        scheme = _scheme_of(url) if "::" not in url else "::"
        if scheme not in ("", "file"):
            if scheme not in REMOTE and not self._allow_outside:
                raise self._outside(key, url, f"the scheme {scheme!r}")
            return url, False
        path = url.removeprefix("file:").removeprefix("//") if scheme else url
        check_local_path(path)
        folder = self._folder
        if folder is not None and _scheme_of(folder):
            if os.path.isabs(path) or scheme or ".." in path.replace("\\", "/").split("/"):
                if self._allow_outside and os.path.isabs(path):
                    return path, True
                raise self._outside(key, url, "a path out of the folder of the table")
            return f"{folder}/{path}", False
        if self._allow_outside:
            return os.path.join(folder or "", path), True
        if folder is None:
            raise self._outside(key, url, "a path of this computer that begins in no folder of the table's")
        whole, top = os.path.realpath(os.path.join(folder, path)), os.path.realpath(folder)
        if not Path(whole).is_relative_to(top):
            raise self._outside(key, url, "a path out of the folder of the table")
        return whole, True

    def _outside(self, key: str, url: str, what: str) -> BrokenReferenceError:
        return BrokenReferenceError(
            f"{self}: the reference of {key!r} to {url!r} is refused: {what}. If the table is to be trusted, open it "
            "with allow_outside=True"
        )

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Refuse."""
        self._check_writable()

    def delete_sync(self, key: str) -> None:
        """Refuse."""
        self._check_writable()


def _scheme_of(text: str) -> str:
    match = _SCHEME.match(text)
    return match[1].lower() if match is not None and (match[0].endswith("//") or match[1].lower() == "file") else ""


def _absolute_folder(folder: str | None, allow_outside: bool) -> str | None:
    """Return the folder that relative paths begin in, by a name that holds in any working directory."""
    if folder is None:
        return os.getcwd() if allow_outside else None
    return folder if _scheme_of(folder) else os.path.join(os.getcwd(), folder)


def _read_in(folder: str, options: dict[str, Any] | None, name: str) -> bytes:
    """Read a file of a folder of this computer, or, with options for fsspec, of one that a URL names."""
    place = f"{folder}/{name}"
    return _read_file(place) if options is None else _read_url(place, options)


def _read_file(path: str, start: int = 0, stop: int | None = None) -> bytes:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read() if stop is None else file.read(stop - start)


def _filesystem(url: str, options: dict[str, Any]) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ModuleNotFoundError(
            f"fsspec is needed to read {url!r}, and is not installed: pip install 'zarr[remote]'", name="fsspec"
        ) from error
    with naming_url(url):
        fs, path = url_to_fs(url, **options)
    return fs, path


def _read_url(url: str, options: dict[str, Any], start: int = 0, stop: int | None = None) -> bytes:
    fs, path = _filesystem(url, options)
    with naming_url(url):
        data: bytes = fs.cat_file(path, start=start, end=stop)
    return data


def _size_of_url(url: str, options: dict[str, Any]) -> int:
    fs, path = _filesystem(url, options)
    with naming_url(url):
        return int(fs.size(path))
