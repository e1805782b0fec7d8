"""The store of an SQLite database: one file, many writers, each change completely stored or not at all."""

from __future__ import annotations

import errno
import os
import pickle
import re
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeAlias, get_args
from urllib.parse import quote

from zarr.abc.store import ByteRequest
from zarr.abc.stores.changes import Changes
from zarr.buffer.core import Buffer
from zarr.errors import ReadOnlyError
from zarr.storage.checks import DamagedDatabaseError, SameObject
from zarr.storage.databases.database import Gate, TransactionDatabase, has_no_room
from zarr.storage.keys import check_key, check_prefix, dir_prefix
from zarr.storage.ranges import bounds_of, key_after
from zarr.storage.wrappers.overlay import check_expected

Journal: TypeAlias = Literal["wal", "delete", "truncate", "persist"]
Synchronous: TypeAlias = Literal["off", "normal", "full", "extra"]

_TABLE: Final = "CREATE TABLE IF NOT EXISTS zarr (k TEXT PRIMARY KEY, v BLOB)"
_PLACE: Final = "SELECT rowid, length(v), typeof(v) FROM zarr WHERE k = ?"
_GET: Final = "SELECT v FROM zarr WHERE k = ?"
_PUT: Final = "INSERT INTO zarr (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v"
_PUT_ABSENT: Final = "INSERT INTO zarr (k, v) VALUES (?, ?) ON CONFLICT (k) DO NOTHING"
_PUT_MATCH: Final = "UPDATE zarr SET v = ? WHERE k = ? AND v = ?"
_DELETE: Final = "DELETE FROM zarr WHERE k = ?"
_OPTIONS: Final = {"journal": get_args(Journal), "synchronous": get_args(Synchronous)}

PAGE_BYTES: Final = 16384
"""The size of a page in a new file: chunks of 1 to 100 KB take a quarter less time than with SQLite's 4096."""

_DAMAGE: Final = re.compile("Could not decode|unsupported file format|malformed|no such column|cannot open value")
"""The messages of SQLite about damage whose codes have other meanings, too."""

_INHERITED: list[Any] = []
"""Connections of a parent process. To close one here could merge a log that the parent still writes."""

_GATE: Final = Gate()


def _between(head: str, low: str, high: str | None, tail: str = "") -> tuple[str, tuple[str, ...]]:
    """Return a statement about the keys from a first one up to, not including, a last one, with its parameters."""
    if high is None:
        return f"{head} WHERE k >= ?{tail}", (low,)
    return f"{head} WHERE k >= ? AND k < ?{tail}", (low, high)


def temporary_file(owner: object) -> str:
    """Return a path in a new temporary folder, which is removed together with an object."""
    folder = tempfile.mkdtemp(prefix="zarr")
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return os.path.join(folder, "memory.sqlite")


class SQLiteStore(TransactionDatabase):
    """All keys in one SQLite database, in a table ``zarr`` of keys ``k`` and values ``v``, as in zarr-python 2.

    Every change is a transaction; many values set at once are one transaction; any number of threads and processes may
    read and write. With a write-ahead log, readers do not wait for writers. Processes that change parts of chunks, or
    documents, wait for each other on local file systems of Linux; elsewhere set ``locking`` (see ``ArrayConfig``).

    Parameters
    ----------
    path : str or Path
        The file. It is created when the first value is written. ``":memory:"`` is a new temporary file, which is
        removed together with the store.
    read_only : bool
        If True, the store refuses every change. Default: False.
    journal : {"wal", "delete", "truncate", "persist"}
        Place of the old state until the new one is complete: a write-ahead log (not for network file systems), or a
        rollback journal.
    synchronous : {"off", "normal", "full", "extra"}
        How carefully SQLite writes to the disk. Nothing is lost when a process dies, with any value. After a power
        failure, "normal" keeps the database intact but may lose the last changes; "full" and "extra" lose nothing that
        was reported as written; "off" may lose the database.
    timeout : float
        Seconds to wait for a writer in another process.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of new arrays of format 2, unless they define another one.

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a Path.
    ValueError
        If an option is none of those above, or the path is empty.

    Examples
    --------
    >>> from zarr.storage import SQLiteStore
    >>> import tempfile
    >>> from zarr.buffer.cpu import Buffer
    >>> store = SQLiteStore(tempfile.mkdtemp() + "/data.sqlite")
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    >>> store.close()
    """

    scheme = "sqlite"

    def __init__(
        self,
        path: Path | str,
        *,
        read_only: bool = False,
        journal: Journal = "wal",
        synchronous: Synchronous = "normal",
        timeout: float = 60.0,
        dimension_separator: str | None = None,
    ) -> None:
        options = {"journal": journal, "synchronous": synchronous, "timeout": timeout}
        place = temporary_file(self) if str(path) == ":memory:" else path
        super().__init__(place, read_only, options, dimension_separator)
        self.is_temporary = place is not path
        if str(path) == "":
            raise ValueError("SQLiteStore needs the path of a file, or ':memory:'")
        for name, known in _OPTIONS.items():
            if self._options[name] not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}; got {self._options[name]!r}")
        self._connections = Connections(str(self._place), read_only, **self._options)

    def __getstate__(self) -> dict[str, Any]:
        if self.is_temporary:
            raise pickle.PicklingError("the database in memory belongs to this store; give SQLiteStore a path")
        return vars(self)

    def close(self) -> None:
        """Close the database; the next use of the store opens it again."""
        super().close()
        self._connections.close()

    @property
    def locked_in(self) -> str | None:
        """Return the folder of the database; None for one in memory."""
        return None if self.is_temporary else super().locked_in

    # Reading

    def _rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connections.reading() as connection:
            return [] if connection is None else connection.execute(statement, parameters).fetchall()

    def _refuse(self, key: str, kind: str) -> NoReturn:
        raise DamagedDatabaseError(errno.EIO, f"the value of {key!r} is no bytes but {kind}", str(self.path))

    def _read_many(self, keys: list[str]) -> list[Any]:
        with self._connections.reading(snapshot=len(keys) > 1) as connection:
            if connection is None:
                return [None] * len(keys)
            execute = connection.cursor().execute
            rows = [execute(_GET, (key,)).fetchone() for key in keys]
        for key, row in zip(keys, rows, strict=True):
            if row is not None and type(row[0]) is not bytes:
                self._refuse(key, type(row[0]).__name__)
        return [None if row is None else row[0] for row in rows]

    @contextmanager
    def open_value_sync(self, key: str) -> Iterator[Callable[[ByteRequest], bytes] | None]:
        """Open the value of a key, to read ranges of it; return None if there is none."""
        check_key(key)
        with self._connections.reading(snapshot=True) as connection:
            row = None if connection is None else connection.execute(_PLACE, (key,)).fetchone()
            if connection is None or row is None:
                yield None
                return
            if row[2] != "blob":
                self._refuse(key, row[2])

            def read(byte_range: ByteRequest) -> bytes:
                start, stop = bounds_of(byte_range, row[1])
                if start == stop:
                    return b""
                with connection.blobopen("zarr", "v", row[0], readonly=True) as blob:
                    blob.seek(start)
                    return blob.read(stop - start)

            yield read

    def stamp_sync(self, key: str) -> tuple[object, int, int] | None:
        """Return the stamp of all values: the connection, the changes by others that it has seen, and its own changes.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        tuple or None
            None if there is no database yet.
        """
        with self._connections.reading() as connection:
            if connection is None:
                return None
            seen = connection.execute("PRAGMA data_version").fetchone()[0]
            return SameObject(connection), seen, connection.total_changes

    def _size(self, key: str) -> int | None:
        check_key(key)
        rows = self._rows(_PLACE, (key,))
        if not rows:
            return None
        return int(rows[0][1]) if rows[0][2] == "blob" else self._refuse(key, rows[0][2])

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the number of bytes of all values under a folder."""
        start = dir_prefix(check_prefix(prefix))
        statement = _between("SELECT coalesce(sum(length(v)), 0) FROM zarr", start, key_after(start))
        return int((await self._call(self._rows, *statement))[0][0])

    async def is_empty(self, prefix: str) -> bool:
        """Return True if there is no key below a folder."""
        start = dir_prefix(check_prefix(prefix))
        return not await self._call(self._rows, *_between("SELECT 1 FROM zarr", start, key_after(start), " LIMIT 1"))

    def _names(self, start: str) -> list[str]:
        return [key for (key,) in self._rows(*_between("SELECT k FROM zarr", start, key_after(start), " ORDER BY k"))]

    @contextmanager
    def _listing(self) -> Iterator[Callable[[str, str | None], Iterator[str]]]:
        with self._connections.reading(snapshot=True) as connection:

            def keys_from(low: str, high: str | None) -> Iterator[str]:
                if connection is not None:
                    cursor = connection.execute(*_between("SELECT k FROM zarr", low, high, " ORDER BY k"))
                    yield from (key for (key,) in cursor if type(key) is str)

            yield keys_from

    # Writing

    def _change(self, statement: str, parameters: tuple[Any, ...]) -> int:
        """Run one statement that changes something; return the number of changed rows."""
        self._check_writable()
        with self._connections.writing() as connection:
            return connection.execute(statement, parameters).rowcount

    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        last = dict(items)
        with self._connections.writing() as connection:
            connection.executemany(_PUT, [item for item in last.items() if item[1] is not None])
            connection.executemany(_DELETE, [(key,) for key, payload in last.items() if payload is None])

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` if the key still holds ``expected`` (None: no value); one step for all processes."""
        check_key(key)
        data = self._data(value)
        if expected is None:
            return self._change(_PUT_ABSENT, (key, data)) == 1
        return self._change(_PUT_MATCH, (data, key, self._data(expected))) == 1

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix, in one step."""
        start = dir_prefix(check_prefix(prefix))
        self._change(*_between("DELETE FROM zarr", start, key_after(start)))

    def apply_sync(self, changes: Changes) -> None:
        """Store many changes in one transaction.

        Raises
        ------
        TakenError
            If a key does not hold its expected value; nothing has changed then.
        """
        self._check_writable()
        values = {key: None if value is None else self._data(value) for key, value in changes.values.items()}
        defaults = [(key, values.pop(key)) for key in changes.defaults]
        with self._connections.writing() as connection:
            check_expected(changes, lambda key: next((row[0] for row in connection.execute(_GET, (key,))), None))
            for start in map(dir_prefix, changes.removed):
                connection.execute(*_between("DELETE FROM zarr", start, key_after(start)))
            connection.executemany(_PUT_ABSENT, defaults)
            self._write_many(list(values.items()))


class _Connection(sqlite3.Connection):
    """A connection that stamps can refer to: those of the standard library have no weak references."""


class _Own:
    """A connection of one thread, closed when nothing refers to it any more; but not in a forked child."""

    def __init__(self, connection: _Connection) -> None:
        self.connection = connection
        self._pid = os.getpid()

    def __del__(self, getpid: Callable[[], int] = os.getpid) -> None:
        if self._pid == getpid():
            self.connection.close()
        else:
            _INHERITED.append(self.connection)


class Connections:
    """The connections of one store to its database: one for each thread.

    A call inside another call of the same thread, as finalizers make, gets a connection of its own. A write inside a
    change becomes part of that change.
    """

    def __init__(self, path: str, read_only: bool, journal: Journal, synchronous: Synchronous, timeout: float) -> None:
        self.path = path
        self.read_only = read_only
        self.journal = journal
        self.synchronous = synchronous
        self.timeout = timeout
        self._idle = threading.local()
        self._renew()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.read_only, self.journal, self.synchronous, self.timeout)

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._writer = threading.RLock()
        self._changing: _Connection | None = None
        self.close()

    def close(self) -> None:
        """Close the connections that are not in use; the others are closed after their calls.

        That of this thread is closed at once; without the GIL, those of others go at their next step.
        """
        own = self._idle.__dict__.pop("own", None)
        self._idle = threading.local()
        del own

    # Opening

    def _open(self) -> _Own:
        if self.read_only:
            own = self._open_to_read()
        else:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            own = self._connect("mode=rwc")
            self._prepare(own.connection)
        self._check_table(own.connection)
        return own

    def _connect(self, mode: str) -> _Own:
        connection = sqlite3.connect(
            f"file:{quote(self.path)}?{mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,  # another one may close it
            factory=_Connection,
        )
        return _Own(connection)

    def _open_to_read(self) -> _Own:
        own = self._connect("mode=ro")
        try:
            own.connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            # A database with a log needs a file beside it; on a medium that cannot be written to, nobody changes it.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or not os.path.isfile(self.path):
                raise
            return self._connect("immutable=1")
        return own

    def _check_table(self, connection: _Connection) -> None:
        """Refuse a database whose ``zarr`` is no plain table of keys and values.

        Views, triggers and computed columns would run statements of the maker of the file, perhaps without end.

        Raises
        ------
        DamagedDatabaseError
        """
        connection.execute("PRAGMA trusted_schema = OFF")
        found = connection.execute(
            "SELECT type, rootpage FROM sqlite_master WHERE name = 'zarr' OR (type = 'trigger' AND tbl_name = 'zarr')"
        ).fetchall()
        plain = [kind == "table" and bool(page) for kind, page in found]
        if found:
            columns = {row[1]: row[6] for row in connection.execute("PRAGMA table_xinfo(zarr)")}
            plain.append(columns.get("k") == 0 and columns.get("v") == 0)
        if not all(plain):
            raise DamagedDatabaseError(errno.EIO, "'zarr' is no plain table of keys 'k' and values 'v'", self.path)

    def _prepare(self, connection: _Connection) -> None:
        """Set the journal mode, and create the table if it is missing."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                if connection.execute("PRAGMA page_count").fetchone() == (0,):
                    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
                    # With its map of pages, SQLite finds a range in a large value without reading all pages before it.
                    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
                if mode != self.journal:
                    connection.execute(f"PRAGMA journal_mode = {self.journal}").fetchone()
                connection.execute(f"PRAGMA synchronous = {self.synchronous}")
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'zarr'").fetchone():
                    connection.execute(_TABLE)
                return
            except sqlite3.OperationalError as error:
                # SQLite changes the journal mode without waiting for others.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    # Using

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            self._renew()

    @contextmanager
    def reading(self, snapshot: bool = False) -> Iterator[_Connection | None]:
        """Yield a connection to read with, or None if there is no database yet.

        Parameters
        ----------
        snapshot : bool
            If True, all reads see the state of one moment.
        """
        self._check_process()
        idle = self._idle.__dict__  # of this thread; after close it is another one
        own: _Own | None = idle.pop("own", None)
        if own is None and not os.path.exists(self.path):
            yield None
            return
        try:
            with _GATE.call():
                own = own or self._open()
                try:
                    if snapshot:
                        own.connection.execute("BEGIN")
                    yield own.connection
                    if snapshot:
                        own.connection.execute("ROLLBACK")
                    idle["own"] = own
                except BaseException:  # a connection that raised an error is not used again
                    own.connection.close()
                    raise
        except sqlite3.Error as error:
            self._translate(error)

    @contextmanager
    def writing(self) -> Iterator[_Connection]:
        """Yield a connection inside a transaction, which is committed at the end, or rolled back on an error."""
        self._check_process()
        try:
            # Threads wait in a queue here: SQLite itself would let them try again and again.
            with self._writer, _GATE.call():
                if self._changing is not None:
                    yield self._changing
                    return
                idle = self._idle.__dict__
                own: _Own = idle.pop("own", None) or self._open()
                try:
                    self._changing = own.connection
                    own.connection.execute("BEGIN IMMEDIATE")
                    yield own.connection
                    own.connection.execute("COMMIT")
                    idle["own"] = own
                except BaseException:
                    own.connection.close()
                    raise
                finally:
                    self._changing = None
        except sqlite3.Error as error:
            self._translate(error)

    def _translate(self, error: sqlite3.Error) -> NoReturn:
        """Raise errors of SQLite as the classes of this library."""
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
            raise TypeError(f"SQLite cannot take this: {error}") from error
        if self.read_only and "no such table" in str(error):
            raise DamagedDatabaseError(errno.EINVAL, "this SQLite database has no table 'zarr'", self.path) from error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise TimeoutError(
                errno.ETIMEDOUT, f"another process kept the database for more than {self.timeout} seconds", self.path
            ) from error
        if code == sqlite3.SQLITE_READONLY and not self._may_write():
            raise ReadOnlyError(f"the SQLite database {self.path} cannot be written to: {error}") from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or _DAMAGE.search(str(error)):
            raise DamagedDatabaseError(errno.EIO, f"SQLite: {error}", self.path) from error
        number = {
            sqlite3.SQLITE_FULL: errno.ENOSPC,
            sqlite3.SQLITE_NOMEM: errno.ENOMEM,
            sqlite3.SQLITE_PERM: errno.EACCES,
            sqlite3.SQLITE_TOOBIG: errno.EFBIG,
            sqlite3.SQLITE_CANTOPEN: self._why_closed(),
            sqlite3.SQLITE_IOERR: self._why_failed(),
            sqlite3.SQLITE_READONLY: self._why_failed(),  # the log could not be created, though that is allowed
        }.get(code, errno.EIO)
        raise OSError(number, f"SQLite: {error}", self.path) from error

    def _may_write(self) -> bool:
        """Return True if the system allows to write the file, and files beside it."""
        return not self.read_only and all(os.access(p, os.W_OK) for p in (self.path, os.path.dirname(self.path)))

    def _why_closed(self) -> int:
        """Return the error number for a file that cannot be opened; SQLite does not report it."""
        folder = os.path.dirname(self.path)
        if not os.path.exists(self.path if self.read_only else folder):
            return errno.ENOENT
        places, needed = ((self.path,), os.R_OK) if self.read_only else ((self.path, folder), os.R_OK | os.W_OK)
        allowed = all(os.access(place, needed) for place in places if os.path.exists(place))
        return self._why_failed() if allowed else errno.EACCES

    def _why_failed(self) -> int:
        """Return the error number for a file operation that failed; SQLite does not report it."""
        return errno.ENOSPC if has_no_room(os.path.dirname(self.path)) else errno.EIO
