"""The store of a dbm file: whatever module of the dbm family there is."""

from __future__ import annotations

import dbm
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zarr._process import at_exit, at_fork
from zarr.storage.databases.database import DatabaseStore
from zarr.storage.keys import check_key, check_prefix, dir_prefix
from zarr.storage.memory.mapping import MappingStore

if TYPE_CHECKING:
    from zarr.buffer.core import Buffer

T = TypeVar("T")

_FOR_ONE_THREAD: Final = "dbm.sqlite3"
"""The module whose files serve, and are closed by, no thread but the one that has opened them."""

_inherited: list[Any] = []
"""Open files of a parent process, which only the parent may close: closing one would write an old index."""


class DBMFile(MutableMapping[str, bytes]):
    """An open dbm file, which all stores over it share: most dbm modules let no file be opened twice."""

    def __init__(self, path: str, opener: Callable[..., Any], read_only: bool, options: dict[str, Any]) -> None:
        self.path = path
        self.read_only = read_only
        self._opener = opener
        self._options = options
        self._db: Any = None
        self.renew()

    def renew(self) -> None:
        """Begin anew, in a forked child."""
        if self._db is not None:
            _inherited.append(self._db)
        self._db = None
        self._lock = threading.RLock()

    def exists(self) -> bool:
        """Return whether there is a file; each module adds other suffixes to the name, or none."""
        return any(os.path.exists(f"{self.path}{suffix}") for suffix in ("", ".db", ".dat", ".pag"))

    def use(self, work: Callable[[Any], T]) -> T:
        """Return what ``work`` makes of the open file; threads take turns.

        Raises
        ------
        OSError
            If the file cannot be opened, or used.
        """
        with self._lock:
            db = self._db
            if db is None:
                db = self._open()
                if type(db).__module__ != _FOR_ONE_THREAD:
                    self._db = db
            try:
                return work(db)
            finally:
                if db is not self._db:
                    db.close()

    def read(self, work: Callable[[Any], T], absent: T) -> T:
        """Return what ``work`` reads; ``absent`` where there is no file yet, since none is made to be read."""
        return self.use(work) if self._db is not None or self.exists() else absent

    def _open(self) -> Any:
        try:
            if not self.read_only:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
            return self._opener(self.path, "r" if self.read_only else "c", **self._options)
        except OSError:
            raise
        except Exception as error:  # each module has an error class of its own
            raise OSError(f"the dbm file {self.path} cannot be used: {error}") from error

    def make_writable(self) -> None:
        """Open the file again, for writing, when it is used next."""
        self.close()
        self.read_only = False

    def close(self) -> None:
        """Close the file; it is opened again when it is used again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                with suppress(Exception):
                    db.close()

    __del__ = close

    def get_all(self, keys: Iterable[str]) -> list[bytes | None]:
        """Return the values of many keys."""
        names = [key.encode(errors="surrogateescape") for key in keys]
        return self.read(lambda db: [db.get(name) for name in names], [None] * len(names))

    def put_all(self, items: Iterable[tuple[str, Any]]) -> None:
        """Store many values, in one turn; None removes a key."""
        pairs = [(key.encode(errors="surrogateescape"), value) for key, value in items]

        def change(db: Any) -> None:
            for name, value in pairs:
                if value is not None:
                    db[name] = bytes(value)
                elif name in db:
                    del db[name]
            if hasattr(db, "sync"):  # where the module keeps changes back
                db.sync()

        if self.exists() or any(value is not None for _, value in pairs):  # no file is made for a removal
            self.use(change)

    def replace(self, key: str, value: bytes, expected: bytes | None) -> bool:
        """Store a value where the key still holds ``expected``; False where it does not."""
        with self._lock:
            if self.get(key) != expected:
                return False
            self[key] = value
            return True

    def __getitem__(self, key: str) -> bytes:
        (value,) = self.get_all([key])
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: bytes) -> None:
        self.put_all([(key, value)])

    def __delitem__(self, key: str) -> None:
        self.put_all([(key, None)])

    def __contains__(self, key: object) -> bool:
        name = str(key).encode(errors="surrogateescape")
        return self.read(lambda db: name in db, False)

    def __iter__(self) -> Iterator[str]:
        names: list[bytes] = self.read(lambda db: list(db.keys()), [])
        return iter([bytes(name).decode(errors="surrogateescape") for name in names])

    def __len__(self) -> int:
        return self.read(len, 0)


# Reentrant: a finalizer may run, and open such a file, at any allocation.
_guard = threading.RLock()
_files: weakref.WeakValueDictionary[str, DBMFile] = weakref.WeakValueDictionary()


def dbm_file(path: str | Path, opener: Callable[..., Any], read_only: bool, options: dict[str, Any]) -> DBMFile:
    """Return the file of a path: the same object for all stores over it while one of them holds it."""
    place = os.path.realpath(path)
    with _guard:
        known = _files.get(place)
        if known is None:
            known = _files[place] = DBMFile(place, opener, read_only, options)
        elif known.read_only and not read_only:
            known.make_writable()
        return known


@at_exit
def _close_all() -> None:
    for file in list(_files.values()):
        file.close()


def _after_fork() -> None:
    global _guard
    _guard = threading.RLock()
    for file in list(_files.values()):
        file.renew()


at_fork(renew=_after_fork)


class DBMStore(DatabaseStore, MappingStore):
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

    scheme = "dbm"

    def __init__(
        self, path: Path | str, *, read_only: bool = False, opener: Callable[..., Any] = dbm.open, **options: Any
    ) -> None:
        super().__init__(path, read_only, {"opener": opener, **options})
        self.opener = opener
        self.options = options
        self._file: DBMFile | None = None

    @property
    def mapping(self) -> DBMFile:  # type: ignore[override]
        """Return the file as a mapping, which is opened when it is used."""
        if self._file is None:
            self._file = dbm_file(self._place, self.opener, self.read_only, self.options)
        return self._file

    def _exists(self) -> bool:
        return self.mapping.exists()

    def close(self) -> None:
        """Release the file, which is closed when no store in this process uses it any more."""
        super().close()
        self._file = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_file": None}

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; True where this call stored it."""
        return self.set_if_match_sync(key, value, None)

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self.set_if_match_sync(key, value, None)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` where the key still holds ``expected`` (None: nothing); one step for all of this process."""
        self._check_writable()
        check_key(key)
        return self.mapping.replace(
            key, bytes(self._data(value)), None if expected is None else bytes(self._data(expected))
        )

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        self.mapping.put_all([(key, None) for key in self.mapping if key.startswith(start)])

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key."""
        self._set_payloads([(key, self._data(value))])

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._set_payloads([(key, None)])

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        for key in keys:
            check_key(key)
        return list(self.mapping.get_all(keys))

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        for key, _ in items:
            check_key(key)
        self.mapping.put_all(items)

    get_many_sync = DatabaseStore.get_many_sync
    set_many_sync = DatabaseStore.set_many_sync
    bulk_access = DatabaseStore.bulk_access
