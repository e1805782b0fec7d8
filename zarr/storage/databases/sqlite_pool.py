"""Connections to one SQLite database, for any number of threads, and over forks.

A connection serves one call at a time and then goes back to the idle ones; so there are as many as there were calls at
once. A forked child must neither use nor close what its parent had open: it puts those connections aside for ever.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal, NoReturn, TypeAlias
from urllib.parse import quote

from zarr.errors import ReadOnlyError
from zarr.storage.checks import DamagedDatabaseError
from zarr.storage.databases.fork_gate import ForkGate

Journal: TypeAlias = Literal["wal", "delete", "truncate", "persist"]
Synchronous: TypeAlias = Literal["off", "normal", "full", "extra"]

_JOURNALS: Final = ("wal", "delete", "truncate", "persist")
_SYNCHRONOUS: Final = ("off", "normal", "full", "extra")
_TABLE: Final = "CREATE TABLE IF NOT EXISTS zarr (k TEXT PRIMARY KEY, v BLOB)"

_DAMAGE: Final = re.compile("Could not decode|unsupported file format|malformed|no such column|cannot open value")
"""What SQLite says of damage under codes that mean other things, too."""

_INHERITED: list[Any] = []
"""Connections of a parent process. Closing one here could fold up a log that the parent still writes."""


_GATE: Final = ForkGate()


class Connections:
    """The connections of one store.

    Parameters
    ----------
    path : str
    read_only : bool
    journal, synchronous, timeout
        As :class:`zarr.storage.SQLiteStore` takes them.
    """

    def __init__(
        self, path: str, *, read_only: bool, journal: Journal, synchronous: Synchronous, timeout: float
    ) -> None:
        if journal not in _JOURNALS:
            raise ValueError(f"journal must be one of {', '.join(_JOURNALS)}; got {journal!r}")
        if synchronous not in _SYNCHRONOUS:
            raise ValueError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}; got {synchronous!r}")
        self.path = path
        self.read_only = read_only
        self.journal = journal
        self.synchronous = synchronous
        self.timeout = timeout
        self._renew()

    def _renew(self) -> None:
        self._pid = os.getpid()
        # Reentrant: a finalizer may run, and use the library, amid any call.
        self._guard = threading.RLock()
        self._writer = threading.RLock()
        self._changing: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._all: list[sqlite3.Connection] = []

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            _INHERITED.append(self._all)
            self._renew()

    def close(self) -> None:
        """Close the connections that are not in use; the others are closed when their calls are done."""
        if self._pid != os.getpid():
            _INHERITED.append(self._all)
            return
        with self._guard:
            idle, self._idle = self._idle, []
            self._all = []
        with _GATE.call():
            for connection in idle:
                connection.close()

    # Opening

    def _open(self) -> sqlite3.Connection:
        if self.read_only:
            connection = self._open_to_read()
            try:
                self._check_table(connection)
            except BaseException:
                connection.close()
                raise
            return connection
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        connection = self._connect("rwc")
        try:
            self._prepare(connection)
            self._check_table(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{quote(self.path)}?{'' if mode == 'immutable=1' else 'mode='}{mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
        )

    def _open_to_read(self) -> sqlite3.Connection:
        connection = self._connect("ro")
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            # A database with a log needs a file beside it; on a medium that cannot be written to, nobody changes it.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or not os.path.isfile(self.path):
                raise
            return self._connect("immutable=1")
        return connection

    def _check_table(self, connection: sqlite3.Connection) -> None:
        """Refuse a database whose ``zarr`` is no plain table of keys and values.

        Views, triggers and computed columns would run statements of whoever made the file, without end if they like.

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

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Set the journal, and make the table where there is none."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
                if mode != self.journal:
                    connection.execute(f"PRAGMA journal_mode = {self.journal}").fetchone()
                connection.execute(f"PRAGMA synchronous = {self.synchronous}")
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'zarr'").fetchone():
                    connection.execute(_TABLE)
            except sqlite3.OperationalError as error:
                # Changing the journal does not wait for others by itself.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
            else:
                return

    # Using

    def _take(self) -> sqlite3.Connection:
        self._check_process()
        idle: sqlite3.Connection | None = None
        try:
            with self._guard:
                if self._idle:
                    idle = self._idle[-1]
                    del self._idle[-1]
            if idle is not None:
                return idle
        except BaseException:  # Ctrl-C just here
            if idle is not None:
                self._give(idle)
            raise
        connection = self._open()
        with self._guard:
            self._all.append(connection)
        return connection

    def _give(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if any(known is connection for known in self._idle):
                return
            # Closed meanwhile, or a call that began before a fork: no place to go back to.
            if any(known is connection for known in self._all):
                self._idle.append(connection)
                return
        connection.close()

    def _forget(self, connection: sqlite3.Connection) -> None:
        """Have a connection closed when its call is done: one that could not open its log never writes again."""
        with self._guard:
            self._all = [known for known in self._all if known is not connection]

    def _is_absent(self) -> bool:
        """Return whether there is no database, and nothing is to be made for a look at it."""
        return not self._idle and not os.path.exists(self.path)

    @contextmanager
    def reading(self, snapshot: bool = False) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection to read by, or None where there is no database yet.

        Parameters
        ----------
        snapshot : bool
            Whether all that is read comes from one moment.
        """
        if self._is_absent():
            yield None
            return
        try:
            with _GATE.call():
                connection = self._take()
                try:
                    if snapshot:
                        connection.execute("BEGIN")
                    yield connection
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    try:
                        self._give(connection)
                    except BaseException:  # Ctrl-C just here
                        self._give(connection)
                        raise
        except sqlite3.OperationalError as error:
            if self.read_only and "no such table" in str(error):
                raise DamagedDatabaseError(
                    errno.EINVAL, "this SQLite database has no table 'zarr'", self.path
                ) from error
            self._translate(error)
        except sqlite3.Error as error:
            self._translate(error)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection inside a transaction, which is committed at the end, or taken back on an error."""
        try:
            self._check_process()
            # Threads stand in a queue here: SQLite itself would have them try again and again.
            with self._writer, _GATE.call():
                if self._changing is not None:
                    # This thread is amid a change already: what a finalizer wants is done along with it.
                    yield self._changing
                    return
                connection = self._changing = self._take()
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection
                    connection.execute("COMMIT")
                except sqlite3.OperationalError:
                    self._forget(connection)
                    raise
                finally:
                    # Nothing that Ctrl-C could come before: who is kept from the database waits until this is done.
                    self._changing = None
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    try:
                        self._give(connection)
                    except BaseException:  # Ctrl-C just here
                        self._give(connection)
                        raise
        except sqlite3.Error as error:
            self._translate(error)

    def _translate(self, error: sqlite3.Error) -> NoReturn:
        """Raise what the rest of the library, and the user, expect of a file that cannot be read or written."""
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
            raise TypeError(f"SQLite cannot take this: {error}") from error
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
            sqlite3.SQLITE_READONLY: self._why_failed(),  # the log could not be made, though that is allowed
        }.get(code, errno.EIO)
        raise OSError(number, f"SQLite: {error}", self.path) from error

    def _may_write(self) -> bool:
        """Return whether the system lets the file, and files beside it, be written."""
        return not self.read_only and all(os.access(p, os.W_OK) for p in (self.path, os.path.dirname(self.path)))

    def _why_closed(self) -> int:
        """Return the error number for a file that cannot be opened; SQLite does not tell."""
        folder = os.path.dirname(self.path)
        if not os.path.exists(self.path):
            if self.read_only or not os.path.isdir(folder):
                return errno.ENOENT
            return self._why_failed() if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES
        needed = os.R_OK if self.read_only else os.R_OK | os.W_OK
        allowed = os.access(self.path, needed) and (self.read_only or os.access(folder, needed))
        return self._why_failed() if allowed else errno.EACCES

    def _why_failed(self) -> int:
        """Return the error number for a file operation that failed; SQLite does not tell."""
        if hasattr(os, "statvfs"):
            with suppress(OSError):
                if os.statvfs(os.path.dirname(self.path)).f_bavail == 0:
                    return errno.ENOSPC
        return errno.EIO
