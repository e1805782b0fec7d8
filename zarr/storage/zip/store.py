"""The store of a zip file."""

from __future__ import annotations

import copy
import io
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Self, TypeAlias

from zarr.abc.store import BulkAccess
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import FolderInPlaceError
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix
from zarr.storage.ranges import bounds_of
from zarr.storage.values import check_buffer
from zarr.storage.wrappers.overlay import TransactionStore, check_expected
from zarr.storage.zip.archive import Archive
from zarr.storage.zip.container import END_SIGNATURE, LOCAL_SIGNATURE

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.abc.stores.staging import Changes
    from zarr.buffer.core import BufferPrototype

ZipStoreAccessModeLiteral: TypeAlias = Literal["r", "w", "x", "a"]


def looks_like_zip(path: str) -> bool:
    """Whether a path means a zip file: by its first bytes where it is a file, by its suffix where there is nothing.

    Parameters
    ----------
    path : str

    Returns
    -------
    bool

    Examples
    --------
    >>> looks_like_zip("not/there.zip"), looks_like_zip("not/there.zarr")
    (True, False)
    """
    if os.path.isdir(path):
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError:
        return path.lower().endswith(".zip") and not os.path.exists(path)
    return start in (LOCAL_SIGNATURE, END_SIGNATURE) or (not start and path.lower().endswith(".zip"))


def _check_file(file: Any, mode: str) -> None:
    if isinstance(file, io.IOBase):
        return
    if not all(hasattr(file, name) for name in ("read", "seek", "tell")):
        raise TypeError(
            "'path' must be a string, a Path or a binary file with the methods read/seek/tell. "
            f"Got an instance of {type(file)} instead."
        )
    if mode != "r":
        raise TypeError(f"{type(file)} is no io.IOBase: such a file can only be opened for reading (mode 'r')")


class ZipStore(TransactionStore):
    """All keys in one zip file.

    Values are in the file as soon as they are set, but other readers see them after :meth:`close` (or the end of a
    ``with`` block, or :meth:`commit`): until then, and through any crash, the file holds what was committed before.

    Parameters
    ----------
    path : str, Path or binary file
    mode : {"r", "w", "x", "a"}
        Read only; write a new file in place of what is there; write a new file where there is none; add to what is
        there.
    read_only : bool, optional
        By default, True with mode ``"r"``.
    compression : int
        Of the zip file itself, as in the module zipfile; codecs compress better.
    allowZip64 : bool
        Whether the file may grow beyond 4 GiB or 65535 keys.
    fsync : bool
        Have what is committed on the disk before the call returns.

    Examples
    --------
    >>> import tempfile, os
    >>> from zarr.buffer.cpu import Buffer
    >>> path = os.path.join(tempfile.mkdtemp(), "a.zip")
    >>> with ZipStore(path, mode="w") as store:
    ...     store.set_sync("a", Buffer.from_bytes(b"value"))
    >>> ZipStore(path).get_sync("a").to_bytes()
    b'value'
    """

    blocking = True
    contents_first: bool = True
    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True

    path: Path | None
    compression: int
    allowZip64: bool

    def __init__(
        self,
        path: Path | str | IO[bytes],
        *,
        mode: ZipStoreAccessModeLiteral = "r",
        read_only: bool | None = None,
        compression: int = zipfile.ZIP_STORED,
        allowZip64: bool = True,
        fsync: bool = False,
    ) -> None:
        super().__init__(read_only=mode == "r" if read_only is None else read_only)
        if mode not in {"r", "w", "x", "a"}:
            raise ValueError(f"Invalid mode: {mode}, expected one of ('r', 'w', 'x', 'a')")
        self._fileobj: IO[bytes] | None = None
        if isinstance(path, str | Path):
            self.path = Path(path)
        else:
            _check_file(path, mode)
            self.path, self._fileobj = None, path
        self._zmode: ZipStoreAccessModeLiteral = mode
        self.compression = compression
        self.allowZip64 = allowZip64
        self._owner = True
        self._archive = Archive(
            None if self.path is None else str(self.path.absolute()),
            self._fileobj,
            mode,
            method=compression,
            zip64=allowZip64,
            fsync=fsync,
        )

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store over the same open file that may, or may not, be written to."""
        if not read_only and self._archive.mode == "r":
            raise ValueError("the zip file was opened with mode 'r'; open it with mode 'a' to write to it")
        other = copy.copy(self)
        other._read_only = read_only
        other._owner = False
        return other

    @property
    def _lock(self) -> Any:
        return self._archive.lock

    def _sync_open(self) -> None:
        self._archive.open()
        self._is_open = True

    async def _open(self) -> None:
        self._archive.open()
        await super()._open()

    def commit(self) -> None:
        """Let other readers see what was set and deleted so far, and keep it through a crash."""
        self._archive.commit()

    def compact(self) -> None:
        """Write the file anew, without the room that replaced and deleted values take."""
        self._check_writable()
        self._archive.compact()

    def close(self) -> None:
        """Commit what was set and deleted, and close the file."""
        if self._owner:
            self._archive.close()
        super().close()

    def __str__(self) -> str:
        return f"zip://{self.path}" if self.path is not None else f"zip://{self._fileobj!r}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)) or self._fileobj is not other._fileobj:
            return False
        return self.path == other.path and self._archive.path == other._archive.path

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_is_open"] = False
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def lock_prefix(self) -> str:
        """Under which name the keys of this store are locked."""
        path = self._archive.path
        return f"zip:{id(self._fileobj)}" if path is None else f"zip:{os.path.realpath(path)}"

    # Reading

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        return self._get(key, default_buffer_prototype() if prototype is None else prototype, byte_range)

    def _get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        data = self._read(key, byte_range)
        return None if data is None else prototype.buffer.from_bytes(data)

    def _read(self, key: str, byte_range: ByteRequest | None = None) -> bytes | None:
        archive = self._archive.current()
        found = archive.find(key)
        if found is None:
            check_key(key)
            if key in archive.folders:
                raise FolderInPlaceError("a directory", f"{self.path or self._fileobj}/{key}")
            return None
        handle, entry = found
        return archive.read(handle, entry, None if byte_range is None else bounds_of(byte_range, entry.size))

    def _keys(self) -> list[str]:
        return list(self._archive.current().entries)

    def exists_sync(self, key: str) -> bool:
        """Whether the key has a value."""
        check_key(key)
        return key in self._archive.current().entries

    def getsize_sync(self, key: str) -> int:
        """How many bytes the key holds; FileNotFoundError where there is no such key."""
        check_key(key)
        entry = self._archive.current().entries.get(key)
        if entry is None:
            raise FileNotFoundError(key)
        return entry.size

    def list_sync(self) -> Iterable[str]:
        """All keys."""
        return self._keys()

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """All keys that begin with the prefix."""
        check_prefix(prefix)
        return [key for key in self._keys() if key.startswith(prefix)]

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """The names directly under the prefix."""
        return child_names(self._keys(), check_prefix(prefix))

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Add ``value`` under the key; what the key held before is no longer named."""
        self._check_writable()
        self._set(key, value)

        self._archive.settle()

    def _set(self, key: str, value: Buffer) -> None:
        check_key(key)
        self._archive.write(key, check_buffer(self, value).to_bytes())

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Add ``value`` where the key has none; True where this call added it."""
        with self._archive.lock:
            if self.exists_sync(key):
                self._check_writable()
                return False
            self.set_sync(key, value)
            return True

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Add ``value`` where the key has none."""
        self.put_if_absent_sync(key, value)

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        check_key(key)
        self._archive.remove([key])
        self._archive.settle()

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        with self._archive.lock:
            gone = [key for key in self._keys() if key.startswith(start)]
            if gone:
                with self._archive.all_or_nothing():
                    self._archive.remove(gone)
                self._archive.settle()

    async def clear(self) -> None:
        """Remove all keys."""
        self._check_writable()
        self._archive.clear()
        self._archive.settle()

    async def move(self, path: Path | str) -> None:
        """Move the file to another place; this store is then that place.

        Raises
        ------
        FileExistsError
            If the store has mode ``"x"``, and the file was there before it.
        NotImplementedError
            If the store is over a file object.
        """
        self._archive.move(str(Path(path).absolute()))
        self.path = Path(path)
        await self._ensure_open()

    def apply_sync(self, changes: Changes) -> None:
        """Make many changes in one step, for the other users of this store; :meth:`commit` keeps them.

        Raises
        ------
        TakenError
            If a key does not hold what it was expected to hold; nothing has changed then.
        """
        self._check_writable()
        with self._archive.all_or_nothing() as entries:
            check_expected(changes, self._read)
            starts = tuple(dir_prefix(folder) for folder in changes.removed)
            if starts:
                self._archive.remove([key for key in entries if key.startswith(starts)])
            for key, value in changes.values.items():
                if value is None:
                    self._archive.remove([key])
                elif key not in changes.defaults or key not in entries:
                    self._set(key, value)
        self._archive.settle()

    def bulk_access(self) -> BulkAccess | None:
        """Values are handed over many at a time."""
        return BulkAccess(kind="buffers", root=None, get_many=self._get_payloads, set_many=self._set_payloads)

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        return [self._read(key) for key in keys]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        for key, payload in items:
            if payload is None:
                self._archive.remove([key])
            else:
                check_key(key)
                self._archive.write(key, bytes(payload))
        self._archive.settle()
