"""A store over an uncompressed tar archive: each value is the contents of one file."""

from __future__ import annotations

import os
import tarfile
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.errors import BrokenReferenceError, StoreDamagedError
from zarr.storage.keys import check_local_path, is_key
from zarr.storage.references.store import ReferenceStore, Span
from zarr.storage.url import filesystem_of, is_uri, naming_url


class TarStore(ReferenceStore):
    """The files of a tar archive, for reading; nothing is unpacked, and a range of a value is read alone.

    Links, and files with holes (``--sparse``), are listed and cannot be read. Pack with ``tar --hard-dereference
    --dereference -cf data.tar -C folder .``

    Parameters
    ----------
    path : str or PathLike
        A path, or a URL of fsspec. A compressed archive is refused.
    storage_options : dict, optional
        Options of fsspec if the path is a URL.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    StoreDamagedError
        If it is no tar archive, or is compressed or cut off.

    Examples
    --------
    >>> from zarr.storage import TarStore
    >>> import io, os, tarfile, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "data.tar")
    >>> with tarfile.open(path, "w") as archive:
    ...     member = tarfile.TarInfo("a/0")
    ...     member.size = 5
    ...     archive.addfile(member, io.BytesIO(b"value"))
    >>> TarStore(path).get_sync("a/0").to_bytes()
    b'value'
    """

    def __init__(self, path: str | os.PathLike[str], *, storage_options: dict[str, Any] | None = None) -> None:
        text = os.fspath(path)
        check_local_path(text)
        self._remote = is_uri(text)
        self.path = text if self._remote else os.path.abspath(text)
        self._stamp = self._stamp_now()
        members = _members(self.path, (storage_options or {}) if self._remote else None)
        # All references lead to the archive, which the caller has named.
        super().__init__(members, allow_outside=True, storage_options=storage_options, name=text)

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], *, allow_outside: bool = False, storage_options: dict[str, Any] | None = None
    ) -> TarStore:
        """Open an archive by its path or its URL; ``allow_outside`` has no effect."""
        text = os.fspath(path)
        return cls(text.removeprefix("file:").removeprefix("//"), storage_options=storage_options)

    def __str__(self) -> str:
        return f"tar://{self.path}"

    def _stamp_now(self) -> tuple[int, ...] | None:
        """Return a stamp that differs after the archive was replaced or changed; None for URLs, which have no stamp."""
        if self._remote:
            return None
        found = os.stat(self.path)
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _read(self, key: str, span: Span, byte_range: ByteRequest | None) -> bytes:
        if not span.url:
            raise BrokenReferenceError(f"{self}: {key!r} is a link or has holes: pack with --dereference, not --sparse")
        data = super()._read(key, span, byte_range)
        if self._stamp_now() != self._stamp:  # the place of the value belongs to the opened file
            raise BrokenReferenceError(f"{self} was changed after it was opened: open it again")
        return data


def _opened(path: str, options: dict[str, Any] | None) -> Any:
    """Open a file of this machine, or, with options for fsspec, the file of a URL."""
    if options is None:
        return open(path, "rb")
    fs, place = filesystem_of(path, options)
    return fs.open(place, "rb")


def _members(path: str, options: dict[str, Any] | None) -> dict[str, Any]:
    """Return the place of each file in an archive; of two members with one name the last counts, as in unpacking."""
    table: dict[str, Any] = {}
    with naming_url(path), _opened(path, options) as file:
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for member in archive:
                    if member.size < 0:  # the next header would lie before this one, and again
                        raise tarfile.ReadError(f"{member.name!r} has the size {member.size}")
                    name, plain = member.name.removeprefix("./"), member.isreg() and not member.issparse()
                    if is_key(name) and not member.isdir():
                        table[name] = [path if plain else "", member.offset_data, member.size]
                file.seek(archive.offset)  # tarfile stops at damage as it does at the end, which is a block of zeros
                if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
                    raise tarfile.ReadError(f"there is no header at byte {archive.offset}, and no end")
        except tarfile.TarError as error:
            raise StoreDamagedError(f"{path!r} is not a whole, uncompressed tar archive: {error}") from error
    return table
