"""One LMDB environment a process and path, as LMDB demands; its map grows, and a forked child opens its own."""

from __future__ import annotations

import errno
import os
import re
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from zarr._process import at_fork
from zarr.storage.checks import DamagedDatabaseError

T = TypeVar("T")

_DAMAGE: Final = re.compile(
    "MDB_CORRUPTED|MDB_INVALID|MDB_VERSION_MISMATCH|MDB_PAGE_NOTFOUND|MDB_CURSOR_FULL|MDB_BAD_TXN|MDB_INCOMPATIBLE"
    "|MDB_TXN_FULL|MDB_PANIC|not supported by this build"
)
"""What LMDB says of a file that is damaged, or none of its own."""

INITIAL_MAP_BYTES: Final = 1 << 28
"""Taken of the address space, not of the disk, save on Windows."""

SMALLEST_BYTES: Final = 8192
"""A file of fewer bytes is none yet: who made it died, or had no room, before its two first pages were written."""

NO_ROOM_BYTES: Final = 1 << 16
"""A file system with less room than that is full."""

_FAILED_COMMIT: Final = (os.strerror(errno.EIO), os.strerror(errno.EINTR), "MDB_PANIC")

MAX_READERS: Final = 1024

FORK_WAIT_SECONDS: Final = 5.0
"""How long a fork waits for transactions of other threads to end."""


def require_lmdb() -> Any:
    """Return the module ``lmdb``.

    Raises
    ------
    ImportError
        With the command that installs it.
    """
    try:
        import lmdb
    except ImportError as error:
        raise ImportError('LMDBStore needs the package "lmdb". Install it with: pip install "zarr[lmdb]"') from error
    return lmdb


class Environment:
    """An open database of this process.

    Transactions share a gate, and the map grows only while none is under way, since it may move in memory then.
    The environment of LMDB closes itself when nobody is left who could use it, and no finalizer here does so before:
    of those that are run together at the end of the interpreter, others may write.
    """

    def __init__(self, path: str, *, read_only: bool, sync: bool, map_size: int, subdir: bool) -> None:
        self._lmdb = require_lmdb()
        self.path = path
        self.read_only = read_only
        self.pid = os.getpid()
        self._options = {"sync": sync, "metasync": sync, "map_size": map_size, "subdir": subdir}
        # Taken by itself and not by the condition, whose methods are Python: Ctrl-C could come before they let go.
        self._lock = threading.RLock()
        self._gate = threading.Condition(self._lock)
        self._running: dict[object, None] = {}
        self._changes: dict[int, Any] = {}
        self._changing = False
        self._file_bytes = 0
        self._env: Any = self._open()
        self.max_key_bytes: int = self._env.max_key_size()

    def _open(self) -> Any:
        if not self.read_only:
            os.makedirs(self.path if self._options["subdir"] else os.path.dirname(self.path), exist_ok=True)
            self._remove_stub()
        try:
            try:
                return self._open_with()
            except (self._lmdb.ReadonlyError, self._lmdb.LockError):
                if not self.read_only:
                    raise
                # On a medium that cannot be written to, no reader can be noted down, and nobody changes the data.
                return self._open_with(lock=False)
        except self._lmdb.Error as error:
            self._translate(error)

    @property
    def file(self) -> str:
        """Return the file that holds the data."""
        return os.path.join(self.path, "data.mdb") if self._options["subdir"] else self.path

    def _remove_stub(self) -> None:
        """Make way for a new file where one was begun and never finished; nothing can be in it."""
        with suppress(FileNotFoundError):
            if 0 < os.path.getsize(self.file) < SMALLEST_BYTES:
                os.unlink(self.file)

    def _open_with(self, **changes: Any) -> Any:
        # No transactions are kept for later use: a forked child that closes the environment would give up their
        # places in the table of readers, which are still the parent's.
        options = {"readonly": self.read_only, "max_readers": MAX_READERS, "max_spare_txns": 0, "readahead": False}
        deadline = time.monotonic() + 1.0
        while True:
            try:
                return self._lmdb.open(self.path, **{**self._options, **options, **changes})
            except self._lmdb.Error as error:
                # The last user of the environment has let go of it, and it is just being closed; or a signal came.
                passing = "already open" in str(error) or os.strerror(errno.EINTR) in str(error)
                if not passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.001)

    def make_writable(self) -> None:
        """Open the database again, for writing; LMDB allows one environment a process only."""
        with self._alone():
            if self.read_only:
                self._env.close()
                self.read_only = False
                self._env = self._open()

    @property
    def usable(self) -> bool:
        """Return whether it was opened by this very process."""
        return self.pid == os.getpid()

    def check_key_length(self, name: bytes) -> None:
        """Refuse a key that LMDB has no room for.

        Raises
        ------
        ValueError
        """
        if len(name) > self.max_key_bytes:
            raise ValueError(
                f"key {name.decode()!r} has {len(name)} bytes, and LMDB takes up to {self.max_key_bytes}; shorten the "
                "names of the groups above, or use SQLiteStore"
            )

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Nothing is changed about the environment, and no process is forked, while it is used in here."""
        mine = object()
        try:
            with self._lock:
                self._gate.wait_for(lambda: not self._changing)
                self._running[mine] = None
            yield
        finally:
            self._running.pop(mine, None)  # first, and in one step, whenever Ctrl-C comes
            with self._lock:
                self._gate.notify_all()

    @contextmanager
    def _transaction(self, **options: Any) -> Iterator[Any]:
        with self._inside(), self._env.begin(**options) as transaction:
            yield transaction

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no transaction is under way, and let none begin."""
        with self._lock:
            self._gate.wait_for(lambda: not self._changing)
            self._changing = True
            try:
                self._gate.wait_for(lambda: not self._running)
                yield
            finally:
                self._changing = False
                self._gate.notify_all()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """Yield a transaction to read by; what it returns are views that end with it."""
        try:
            while True:
                try:
                    with self._transaction(buffers=True) as transaction:
                        yield transaction
                    return
                except self._lmdb.MapResizedError:
                    self._resize(None)
        except self._lmdb.Error as error:
            self._translate(error)

    def value_of(self, transaction: Any, name: bytes) -> Any:
        """Return a view of the value of a key; None where there is none.

        Raises
        ------
        DamagedDatabaseError
            If it is said to be longer than the whole file: LMDB would hand over what is not there.
        """
        found = transaction.get(name)
        if found is not None and len(found) > self._file_bytes:
            self._file_bytes = os.path.getsize(self.file)
            if len(found) > self._file_bytes:
                what = f"a value of {len(found)} bytes in a file of {self._file_bytes}"
                raise DamagedDatabaseError(errno.EIO, f"LMDB: the file is damaged: {what}", self.path)
        return found

    def write(self, change: Callable[[Any], T]) -> T:
        """Run a change in a transaction, again in a larger map where there was no room; its result.

        A commit whose pages the system took only in part counts as failed, and is tried once more: where the disk is
        full, the second error says so.
        """
        nested = self._changes.get(threading.get_ident())
        if nested is not None:
            # This thread is amid a change already: what a finalizer wants is done along with it.
            return change(nested)
        tried = False
        try:
            while True:
                with self._inside():
                    size = int(self._env.info()["map_size"])
                try:
                    with self._transaction(write=True, buffers=True) as transaction:
                        return self._changed(change, transaction)
                except self._lmdb.MapResizedError:
                    self._resize(None)
                except self._lmdb.MapFullError:
                    self._resize(size)
                except self._lmdb.Error as error:
                    if tried or not any(sign in str(error) for sign in _FAILED_COMMIT):
                        raise
                    tried = True
                    self._reopen()
        except self._lmdb.Error as error:
            self._translate(error)

    def _changed(self, change: Callable[[Any], T], transaction: Any) -> T:
        me = threading.get_ident()
        self._changes[me] = transaction
        try:
            return change(transaction)
        finally:
            del self._changes[me]

    def _reopen(self) -> None:
        """Begin anew after a failed commit, when LMDB takes no transaction any more."""
        with self._alone():
            self._env.close()
            self._env = self._open()

    def pause(self) -> bool:
        """Wait until no transaction is under way, and let none begin until :meth:`go_on`."""
        with self._lock:
            quiet = self._gate.wait_for(lambda: not self._changing and not self._running, FORK_WAIT_SECONDS)
            self._changing = self._changing or quiet
            return quiet

    def go_on(self) -> None:
        """Let transactions begin again."""
        with self._lock:
            self._changing = False
            self._gate.notify_all()

    def close_inherited(self) -> None:
        """Close the paused environment of the parent process in a forked child, which then opens one of its own."""
        self._lock = threading.RLock()
        self._gate = threading.Condition(self._lock)
        self._env.close()

    def _resize(self, full: int | None) -> None:
        """Double a full map; or, with None, take the size that another process gave it."""
        with self._alone():
            if full is None:
                self._env.set_mapsize(0)
            elif self._env.info()["map_size"] <= full:
                self._env.set_mapsize(2 * full)

    def _translate(self, error: Any) -> NoReturn:
        """Raise what the rest of the library, and the user, expect of a file that cannot be read or written."""
        lmdb = self._lmdb
        if isinstance(error, lmdb.BadValsizeError):
            raise ValueError(f"LMDB takes keys of 1 to {self.max_key_bytes} bytes: {error}") from error
        if _DAMAGE.search(str(error)):
            raise DamagedDatabaseError(errno.EIO, f"LMDB: {error}", self.path) from error
        number = next((code for code in (errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.EROFS, errno.ENOMEM)
                       if os.strerror(code) in str(error)), errno.EIO)  # fmt: skip
        if number == errno.EIO and self._has_no_room():
            number = errno.ENOSPC  # LMDB says EIO of a write that was cut short
        raise OSError(number, f"LMDB: {error}", self.path) from error

    def _has_no_room(self) -> bool:
        try:
            return shutil.disk_usage(self.path).free < NO_ROOM_BYTES
        except OSError:
            return False


# Reentrant: a finalizer may run, and open such a file, at any allocation.
_guard = threading.RLock()
_environments: weakref.WeakValueDictionary[tuple[str, int], Environment] = weakref.WeakValueDictionary()


def environment_of(path: Path, *, read_only: bool, sync: bool, map_size: int, subdir: bool) -> Environment:
    """Return the environment of a path in this process: the one that is open, or a new one.

    It serves all stores of the path; the first to open it says how it is synced.
    """
    place = os.path.realpath(path)
    with _guard:
        known = _environments.get((place, os.getpid()))
        if known is None:
            known = Environment(place, read_only=read_only, sync=sync, map_size=map_size, subdir=subdir)
            _environments[(place, os.getpid())] = known
        elif known.read_only and not read_only:
            known.make_writable()
        return known


_paused: list[Environment] = []
_busy: list[Environment] = []
"""Environments of a parent process in which a transaction was under way: neither used nor closed, ever."""


def _before_fork() -> None:
    _guard.acquire()
    for environment in list(_environments.values()):
        (_paused if environment.pause() else _busy).append(environment)


def _after_in_parent() -> None:
    for environment in _paused:
        environment.go_on()
    _paused.clear()
    _busy.clear()
    _guard.release()


def _after_in_child() -> None:
    global _guard
    _guard = threading.RLock()
    _environments.clear()
    for environment in _paused:
        environment.close_inherited()
    _paused.clear()


at_fork(_before_fork, _after_in_parent, _after_in_child)
