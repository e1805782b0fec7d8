"""The store of a dbm file, for all modules of the dbm family."""

from __future__ import annotations

import dbm
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from zarr._process import at_exit, at_fork
from zarr.buffer.core import Buffer
from zarr.storage.databases.database import DatabaseStore, OpenDatabases, raw_key
from zarr.storage.keys import check_key

T = TypeVar("T")

_FOR_ONE_THREAD: Final = "dbm.sqlite3"
"""The module whose files can be used, and closed, only by the thread that opened them."""

_inherited: list[Any] = []
"""Open files of a parent process, which only the parent may close: a close here would write an old index."""


class DBMFile:
    """An open dbm file, shared by all stores over it: most dbm modules cannot open a file twice."""

    def __init__(self, path: str, *, read_only: bool, opener: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.read_only = read_only
        self._opener = opener
        self._options = options
        self._db: Any = None
        self.renew()

    def renew(self) -> None:
        """Reset the file in a forked child."""
        if self._db is not None:
            _inherited.append(self._db)
        self._db = None
        self.lock = threading.RLock()

    def exists(self) -> bool:
        """Return True if the file exists; each module adds other suffixes to the name, or none."""
        return any(os.path.exists(f"{self.path}{suffix}") for suffix in ("", ".db", ".dat", ".pag"))

    def use(self, work: Callable[[Any], T]) -> T:
        """Return the result of ``work`` on the open file; threads take turns.

        Raises
        ------
        OSError
            If the file cannot be opened, or a call on it fails.
        """
        with self.lock:
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
        """Return the result of ``work`` on the open file; ``absent`` if there is no file, since reads create none."""
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
        """Let the next use open the file for writing."""
        with self.lock:  # otherwise a reader could open it once more in between, for all
            self.close()
            self.read_only = False

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self.lock:
            db, self._db = self._db, None
            if db is not None:
                with suppress(Exception):
                    db.close()

    __del__ = close


_FILES: Final = OpenDatabases()


@at_exit
def _close_all() -> None:
    for file in _FILES.all():
        file.close()


def _after_fork() -> None:
    _FILES.renew()
    for file in _FILES.all():
        file.renew()


at_fork(renew=_after_fork)


class DBMStore(DatabaseStore):
    """All keys in one file of the dbm family.

    Threads take turns. The module decides which processes may open the file at once, and what a crash leaves:
    ``dbm.gnu`` and ``dbm.sqlite3`` handle both, ``dbm.dumb`` handles neither. Prefer SQLiteStore if you can choose.

    Parameters
    ----------
    path : str or Path
        The file, or the common beginning of its files' names. It is created when the first value is written.
    flag : {"r", "w", "c", "n"}, optional
        Parameter of zarr-python 2: "r" reads only, "n" empties the file.
    read_only : bool
        If True, the store refuses every change. Default: False.
    opener : callable
        The ``open`` function of a dbm module: takes a path, a flag ("r" or "c") and ``**options``.
    open : callable, optional
        Name of ``opener`` in zarr-python 2.
    write_lock : bool
        Has no effect; kept for code written for zarr-python 2. Threads always take turns.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of new arrays of format 2, unless they define another one.
    **options
        Options for ``opener``, for example ``mode``, the permissions of a new file.

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a Path.
    ValueError
        If the flag is none of those above.

    Examples
    --------
    >>> from zarr.storage import DBMStore
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
        self,
        path: Path | str,
        flag: str | None = None,
        *,
        read_only: bool = False,
        opener: Callable[..., Any] = dbm.open,
        open: Callable[..., Any] | None = None,
        write_lock: bool = True,
        dimension_separator: str | None = None,
        **options: Any,
    ) -> None:
        if flag not in (None, "r", "w", "c", "n"):
            raise ValueError(f"flag must be 'r', 'w', 'c' or 'n', got {flag!r}")
        self.opener = opener if open is None else open
        super().__init__(path, read_only or flag == "r", {"opener": self.opener, **options}, dimension_separator)
        self.options = options
        self.flag = flag or "c"
        if flag == "n":
            self.clear()

    @property
    def _file(self) -> DBMFile:
        """Return the file; the first use opens it."""
        opened: DBMFile | None = self._opened  # looked up once: another thread may close the store
        if opened is None:
            opened = self._opened = _FILES.get(self._place, DBMFile, read_only=self.read_only, **self._options)
        return opened

    def _exists(self) -> bool:
        return self._file.exists()

    def _read_many(self, keys: list[str]) -> list[Any]:
        return self._file.read(lambda db: [db.get(raw_key(key)) for key in keys], [None] * len(keys))

    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        def change(db: Any) -> None:
            for key, value in items:
                name = raw_key(key)
                if value is not None:
                    db[name] = bytes(value)
                elif name in db:
                    del db[name]
            if hasattr(db, "sync"):  # if the module keeps changes back
                db.sync()

        if self._file.exists() or any(value is not None for _, value in items):  # a removal creates no file
            self._file.use(change)

    def _names(self, start: str) -> list[str]:
        stored: list[bytes] = self._file.read(lambda db: list(db.keys()), [])
        names = [bytes(name).decode(errors="surrogateescape") for name in stored]
        return [name for name in names if name.startswith(start)]

    def exists_sync(self, key: str) -> bool:
        """Return True if the key has a value."""
        check_key(key)
        return self._file.read(lambda db: raw_key(key) in db, False)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` if the key still holds ``expected`` (None: no value); one step for this process."""
        self._check_writable()
        data, old = self._data(value), None if expected is None else self._data(expected)
        file = self._file  # kept: another thread may close the store meanwhile
        with file.lock:
            if self._payload(key) != old:
                return False
            self._set_payloads([(key, data)])
            return True
