"""The store of a dbm file: whatever module of the dbm family there is."""

from __future__ import annotations

import dbm
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from zarr.abc.store import BulkAccess, SyncStore
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.databases.dbm_file import DBMFile, dbm_file
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix, only_keys
from zarr.storage.ranges import slice_of
from zarr.storage.values import check_buffer

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import BufferPrototype


class DBMStore(SyncStore):
    """All keys in one file of the dbm family.

    Threads take turns. Which processes may have the file open at once, and what a crash leaves, is up to the module:
    ``dbm.gnu`` and ``dbm.sqlite3`` see to both, ``dbm.dumb`` to neither. Where there is a choice, take SQLiteStore.

    Parameters
    ----------
    path : str or Path
        The file, or what its files are named after. It is made when the first value is written.
    read_only : bool
    opener : callable
        The ``open`` function of a dbm module: takes a path, a flag ("r" or "c") and ``**options``.
    **options
        Handed on to ``opener``; ``mode`` for one, the permissions of a new file.

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a Path.

    Examples
    --------
    >>> import tempfile
    >>> from zarr.buffer.cpu import Buffer
    >>> store = DBMStore(tempfile.mkdtemp() + "/data")
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    >>> store.close()
    """

    blocking = True
    contents_first: bool = True
    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True
    supports_set_if_match: bool = True

    path: Path
    _place: Path

    def __init__(
        self, path: Path | str, *, read_only: bool = False, opener: Callable[..., Any] = dbm.open, **options: Any
    ) -> None:
        super().__init__(read_only=read_only)
        if not isinstance(path, str | Path):
            raise TypeError(f"'path' must be a string or Path instance. Got an instance of {type(path)} instead.")
        self.path = Path(path)
        self._place = self.path.absolute()
        self.opener = opener
        self.options = options
        self._opened: DBMFile | None = None

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store over the same file that may, or may not, be written to."""
        other = type(self)(self._place, read_only=read_only, opener=self.opener, **self.options)
        other.path = self.path
        return other

    async def _open(self) -> None:
        if self.read_only and not self._exists():
            raise FileNotFoundError(f"{self.path} does not exist")
        await super()._open()

    def close(self) -> None:
        """Let go of the file, which is closed when nobody in this process uses it any more."""
        super().close()
        self._opened = None

    def __str__(self) -> str:
        return f"dbm://{self.path.as_posix()}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._place == other._place and self.read_only == other.read_only

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    @property
    def lock_prefix(self) -> str:
        """Under which name the keys of this store are locked."""
        return f"dbm:{os.path.realpath(self._place)}"

    # The file

    def _exists(self) -> bool:
        """Whether there is a file; each module adds other suffixes to the name, or none."""
        return any(os.path.exists(f"{self._place}{suffix}") for suffix in ("", ".db", ".dat", ".pag"))

    def _file(self) -> DBMFile:
        file = self._opened
        if file is None or file.pid != os.getpid():
            file = self._opened = dbm_file(self._place, self.opener, self.read_only, self.options)
        return file

    def _look(self, read: Callable[[Any], Any], absent: Any = None) -> Any:
        """Read from the file; ``absent`` where there is none yet, since nothing is made for a look at it."""
        if self._opened is None and not self._exists():
            return absent
        return self._file().use(read)

    def _change(self, change: Callable[[Any], Any]) -> Any:
        self._check_writable()

        def change_all(db: Any) -> Any:
            result = change(db)
            sync = getattr(db, "sync", None)  # where the module keeps changes back
            if sync is not None:
                sync()
            return result

        return self._file().use(change_all)

    @staticmethod
    def _name(key: str) -> bytes:
        check_key(key)
        return key.encode()

    @staticmethod
    def _remove(db: Any, name: bytes) -> None:
        if name in db:
            del db[name]

    # Reading

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        return await super().get(key, prototype or default_buffer_prototype(), byte_range)

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        name = self._name(key)
        data = self._look(lambda db: db.get(name))
        if data is None:
            return None
        if byte_range is not None:
            data = data[slice_of(byte_range, len(data))]
        return (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes(data)

    def exists_sync(self, key: str) -> bool:
        """Whether the key has a value."""
        name = self._name(key)
        return bool(self._look(lambda db: name in db, False))

    def list_sync(self) -> Iterable[str]:
        """All keys."""
        names = self._look(lambda db: list(db.keys()), [])
        return only_keys([bytes(name).decode(errors="surrogateescape") for name in names])

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """All keys that begin with the prefix."""
        check_prefix(prefix)
        return [key for key in self.list_sync() if key.startswith(prefix)]

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """The names directly under the prefix."""
        return child_names(list(self.list_sync()), check_prefix(prefix))

    # Writing

    def _data(self, value: object) -> bytes:
        return check_buffer(self, value).to_bytes()

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key."""
        self._set_payloads([(key, self._data(value))])

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; True where this call stored it."""
        return self.set_if_match_sync(key, value, None)

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self.set_if_match_sync(key, value, None)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` where the key still holds ``expected`` (None: nothing); one step for all of this process."""
        name, data = self._name(key), self._data(value)
        old = None if expected is None else self._data(expected)

        def replace(db: Any) -> bool:
            if db.get(name) != old:
                return False
            db[name] = data
            return True

        return bool(self._change(replace))

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._set_payloads([(key, None)])

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        start = dir_prefix(check_prefix(prefix)).encode()

        def remove(db: Any) -> None:
            for name in [name for name in db.keys() if bytes(name).startswith(start)]:  # noqa: SIM118 - no mapping
                del db[name]

        self._check_writable()
        if self._exists():
            self._change(remove)

    async def clear(self) -> None:
        """Remove all keys."""
        await self.delete_dir("")

    # Bulk

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> list[Buffer | None]:
        """Return the values of many keys, all of one moment."""
        make = (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes
        return [None if data is None else make(data) for data in self._get_payloads(list(keys))]

    def set_many_sync(self, items: Iterable[tuple[str, Buffer | None]]) -> None:
        """Store many values in one turn; None deletes a key."""
        self._set_payloads([(key, None if value is None else self._data(value)) for key, value in items])

    def bulk_access(self) -> BulkAccess | None:
        """Many values in one turn."""
        return BulkAccess(kind="buffers", get_many=self._get_payloads, set_many=self._set_payloads)

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        names = [self._name(key) for key in keys]
        found: list[Any] = self._look(lambda db: [db.get(name) for name in names], [None] * len(names))
        return found

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        pairs = [(self._name(key), payload) for key, payload in items]

        def change(db: Any) -> None:
            for name, payload in pairs:
                if payload is None:
                    self._remove(db, name)
                else:
                    db[name] = bytes(payload)

        self._check_writable()
        if self._exists() or any(payload is not None for _, payload in pairs):  # no file is made for a removal
            self._change(change)
