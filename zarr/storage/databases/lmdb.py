"""The store of an LMDB database: memory-mapped, many readers that never wait, one writer at a time."""

from __future__ import annotations

import errno
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from zarr._lazy import load_extra
from zarr._process import at_fork
from zarr.abc.store import ByteRequest
from zarr.abc.stores.changes import Changes
from zarr.buffer.core import Buffer
from zarr.storage.checks import DamagedDatabaseError
from zarr.storage.databases.database import Gate, OpenDatabases, TransactionDatabase, has_no_room, raw_key
from zarr.storage.keys import check_key, check_prefix, dir_prefix
from zarr.storage.ranges import bounds_of, key_after
from zarr.storage.wrappers.overlay import check_expected

T = TypeVar("T")

_DAMAGE: Final = re.compile(
    "MDB_CORRUPTED|MDB_INVALID|MDB_VERSION_MISMATCH|MDB_PAGE_NOTFOUND|MDB_CURSOR_FULL|MDB_BAD_TXN|MDB_INCOMPATIBLE"
    "|MDB_TXN_FULL|MDB_PANIC|not supported by this build"
)
"""The errors of LMDB about a file that is damaged, or is no LMDB file."""

INITIAL_MAP_BYTES: Final = 1 << 28
"""Reserved in the address space, not on the disk, except on Windows."""

SMALLEST_BYTES: Final = 8192
"""A file of fewer bytes is no database yet: its first two pages were never written."""


_FAILED_COMMIT: Final = (os.strerror(errno.EIO), os.strerror(errno.EINTR), "MDB_PANIC")

MAX_READERS: Final = 1024


def require_lmdb() -> Any:
    """Return the module ``lmdb``.

    Raises
    ------
    ImportError
        If the package is missing; the message has the command that installs it.
    """
    return load_extra("lmdb", "lmdb", "LMDBStore")


class Environment:
    """An open database of this process.

    Transactions share a gate, and the map grows only while none runs, since it may move in memory. The environment of
    LMDB closes itself when nothing refers to it, and no finalizer here closes it earlier: at the end of the interpreter
    other finalizers may still write.
    """

    def __init__(self, path: str, *, read_only: bool, sync: bool, map_size: int, subdir: bool) -> None:
        self._lmdb = require_lmdb()
        self.path = path
        self.read_only = read_only
        self.pid = os.getpid()
        self._options = {"sync": sync, "metasync": sync, "map_size": map_size, "subdir": subdir}
        self.gate = Gate()
        self._changes: dict[int, Any] = {}
        with self.gate.call():
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
                # On a medium that cannot be written to, no reader can be registered, and nobody changes the data.
                return self._open_with(lock=False)
        except self._lmdb.Error as error:
            self._translate(error)

    @property
    def file(self) -> str:
        """Return the file that holds the data."""
        return os.path.join(self.path, "data.mdb") if self._options["subdir"] else self.path

    def _remove_stub(self) -> None:
        """Remove a file that was begun and never finished; it cannot contain values."""
        with suppress(FileNotFoundError):
            if 0 < os.path.getsize(self.file) < SMALLEST_BYTES:
                os.unlink(self.file)

    def _open_with(self, **changes: Any) -> Any:
        # No transactions are kept for later use: a forked child that closes the environment would release their places
        # in the table of readers, which still belong to the parent.
        options = {"readonly": self.read_only, "max_readers": MAX_READERS, "max_spare_txns": 0, "readahead": False}
        deadline = time.monotonic() + 1.0
        while True:
            try:
                return self._lmdb.open(self.path, **{**self._options, **options, **changes})
            except self._lmdb.Error as error:
                # The last user has released the environment, and it is just being closed; or a signal came.
                passing = "already open" in str(error) or os.strerror(errno.EINTR) in str(error)
                if not passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.001)

    def make_writable(self) -> None:
        """Open the database again, for writing: it was only read, or accepts no transaction after a failed commit.

        LMDB allows one environment for each process.
        """
        with self.gate.alone():
            self._env.close()
            self.read_only = False
            self._env = self._open()

    def fitting(self, pairs: list[tuple[bytes, Any]]) -> list[tuple[bytes, Any]]:
        """Return the pairs without removals of keys that are too long for LMDB, and so cannot exist.

        Raises
        ------
        ValueError
            If there is a value for such a key.
        """
        for name, payload in pairs:
            if len(name) > self.max_key_bytes and payload is not None:
                raise ValueError(
                    f"key {name.decode()!r} has {len(name)} bytes, and LMDB takes up to {self.max_key_bytes}; shorten "
                    "the names of the groups above, or use SQLiteStore"
                )
        return [pair for pair in pairs if len(pair[0]) <= self.max_key_bytes]

    @contextmanager
    def _transaction(self, **options: Any) -> Iterator[Any]:
        with self.gate.call(), self._env.begin(**options) as transaction:
            yield transaction

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

    def write(self, change: Callable[[Any], T]) -> T:
        """Run a change in a transaction, again in a larger map where there was no room; its result.

        A commit whose pages the system took only in part counts as failed, and is tried once more: where the disk is
        full, the second error says so.
        """
        nested = self._changes.get(threading.get_ident())
        if nested is not None:
            # This thread is inside a change already: a call from a finalizer joins that change.
            return change(nested)
        tried = False
        try:
            while True:
                with self.gate.call():
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
                    self.make_writable()
        except self._lmdb.Error as error:
            self._translate(error)

    def _changed(self, change: Callable[[Any], T], transaction: Any) -> T:
        me = threading.get_ident()
        self._changes[me] = transaction
        try:
            return change(transaction)
        finally:
            del self._changes[me]

    def close(self) -> None:
        """Close an environment inherited by a forked child, which then opens one of its own."""
        self._env.close()

    def _resize(self, full: int | None) -> None:
        """Double the size of a full map; or, with None, use the size that another process gave it."""
        with self.gate.alone():
            if full is None:
                self._env.set_mapsize(0)
            elif self._env.info()["map_size"] <= full:
                self._env.set_mapsize(2 * full)

    def _translate(self, error: Any) -> NoReturn:
        """Raise errors of LMDB as the classes of this library."""
        lmdb = self._lmdb
        if isinstance(error, lmdb.BadValsizeError):
            raise ValueError(f"LMDB takes keys of 1 to {self.max_key_bytes} bytes: {error}") from error
        if _DAMAGE.search(str(error)):
            raise DamagedDatabaseError(errno.EIO, f"LMDB: {error}", self.path) from error
        number = next((code for code in (errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.EROFS, errno.ENOMEM)
                       if os.strerror(code) in str(error)), errno.EIO)  # fmt: skip
        if number == errno.EIO and has_no_room(self.path):
            number = errno.ENOSPC  # LMDB reports EIO for a write that was cut short
        raise OSError(number, f"LMDB: {error}", self.path) from error


ENVIRONMENTS: Final = OpenDatabases()
_inherited: list[Environment] = []
"""Environments of a parent process with a running transaction: they are neither used nor closed."""


def _after_in_child() -> None:
    for environment in ENVIRONMENTS.all():
        if environment.gate.was_idle:
            environment.close()
        else:
            _inherited.append(environment)
    ENVIRONMENTS.forget()


at_fork(renew=_after_in_child)


def _between(transaction: Any, low: str, high: str | None) -> Iterator[str]:
    """Yield the stored keys from a first one up to, not including, a last one, in order."""
    cursor = transaction.cursor()
    end = None if high is None else raw_key(high)
    found = cursor.set_range(raw_key(low)) if low else cursor.first()
    while found:
        key = bytes(cursor.key())
        if end is not None and key >= end:
            return
        yield key.decode(errors="surrogateescape")
        found = cursor.next()


def _remove(transaction: Any, start: str) -> None:
    """Delete all keys that begin with a string."""
    for key in list(_between(transaction, start, key_after(start))):
        transaction.delete(raw_key(key))


def _write(transaction: Any, pairs: list[tuple[bytes, Any]], defaults: Collection[bytes] = ()) -> None:
    """Store payloads; None deletes a key. ``defaults`` are stored only for keys without a value."""
    for name, payload in pairs:
        if payload is None:
            transaction.delete(name)
        else:
            transaction.put(name, payload, overwrite=name not in defaults)


class LMDBStore(TransactionDatabase):
    """All keys in one LMDB database.

    Every change is a transaction; many values set at once are one transaction. Readers of any thread or process see the
    last committed state without waiting. The memory map grows when it is full. Processes that change parts of chunks,
    or documents, wait for each other on local file systems of Linux; elsewhere set ``locking`` (see ``ArrayConfig``).

    Needs the package ``lmdb``: ``pip install "zarr[lmdb]"``.

    Parameters
    ----------
    path : str or Path
        The folder of the database; with ``subdir=False``, its file. It is created when the first value is written.
    read_only : bool
        If True, the store refuses every change. Default: False.
    sync : bool
        If True, each change is on the disk before the call returns. If False, nothing is lost when a process dies, but
        the database may be damaged by a power failure.
    map_size : int
        Initial number of bytes of the address space.
    subdir : bool, optional
        If True, ``path`` is a folder, if False a file; by default, an existing folder or file decides.
    buffers, lock : bool
        Have no effect; kept for code written for zarr-python 2. Values are bytes, and processes always lock each other
        out.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of new arrays of format 2, unless they define another one.

    Raises
    ------
    ImportError
        If the package is not installed.
    TypeError
        If ``path`` is neither a string nor a Path.

    Examples
    --------
    >>> from zarr.storage import LMDBStore
    >>> import tempfile
    >>> from zarr.buffer.cpu import Buffer
    >>> store = LMDBStore(tempfile.mkdtemp() + "/data.lmdb")
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    >>> store.close()
    """

    scheme = "lmdb"

    def __init__(
        self,
        path: Path | str,
        *,
        read_only: bool = False,
        sync: bool = True,
        map_size: int = INITIAL_MAP_BYTES,
        subdir: bool | None = None,
        buffers: bool = True,
        lock: bool = True,
        dimension_separator: str | None = None,
    ) -> None:
        options = {"sync": sync, "map_size": map_size, "subdir": subdir}
        super().__init__(path, read_only, options, dimension_separator)
        require_lmdb()
        if subdir is None:
            self._options["subdir"] = not self.path.is_file()

    def _existing(self) -> Environment | None:
        """Return the open database; None if there is none and this call must not create one."""
        file = self._place / "data.mdb" if self._options["subdir"] else self._place
        try:
            size = os.path.getsize(file)
        except FileNotFoundError:
            return None
        return None if size < SMALLEST_BYTES else self._environment()

    def _environment(self) -> Environment:
        opened: Environment | None = self._opened
        if opened is None or opened.pid != os.getpid():
            opened = ENVIRONMENTS.get(self._place, Environment, read_only=self.read_only, **self._options)
            self._opened = opened
        return opened

    @property
    def locked_in(self) -> str | None:
        """Return the folder of the files of the database."""
        return os.path.realpath(self._place) if self._options["subdir"] else super().locked_in

    # Reading

    def _read_many(self, keys: list[str]) -> list[Any]:
        names = [key.encode() for key in keys]
        environment = self._existing()
        if environment is None:
            return [None] * len(names)
        longest = environment.max_key_bytes
        with environment.reading() as transaction:
            found = [transaction.get(name) if len(name) <= longest else None for name in names]
            # Copied before the transaction ends: the map changes after it.
            return [None if value is None else bytes(value) for value in found]

    @contextmanager
    def _stored(self, key: str) -> Iterator[Any]:
        """Yield a view of the value of a key; None if there is none."""
        check_key(key)
        name = key.encode()
        environment = self._existing()
        if environment is None or len(name) > environment.max_key_bytes:
            yield None
            return
        with environment.reading() as transaction:
            yield transaction.get(name)

    @contextmanager
    def open_value_sync(self, key: str) -> Iterator[Callable[[ByteRequest], bytes] | None]:
        """Open the value of a key, to read ranges of it; return None if there is none."""
        with self._stored(key) as found:

            def read(byte_range: ByteRequest) -> bytes:
                start, stop = bounds_of(byte_range, len(found))
                return bytes(found[start:stop])

            yield None if found is None else read

    def _size(self, key: str) -> int | None:
        with self._stored(key) as found:
            return None if found is None else len(found)

    def _names(self, start: str) -> list[str]:
        with self._listing() as keys_from:
            return list(keys_from(start, key_after(start)))

    @contextmanager
    def _listing(self) -> Iterator[Callable[[str, str | None], Iterator[str]]]:
        environment = self._existing()
        if environment is None:
            yield lambda low, high: iter(())
            return
        with environment.reading() as transaction:
            yield partial(_between, transaction)

    # Writing

    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        pairs = [(raw_key(key), payload) for key, payload in items]
        environment = self._existing() if all(payload is None for _, payload in pairs) else self._environment()
        if environment is not None:
            environment.write(partial(_write, pairs=environment.fitting(pairs)))

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` if the key still holds ``expected`` (None: no value); one step for all processes."""
        self._check_writable()
        check_key(key)
        name, data, old = key.encode(), self._data(value), None if expected is None else self._data(expected)

        def replace(transaction: Any) -> bool:
            if old is None:
                return bool(transaction.put(name, data, overwrite=False))
            found = transaction.get(name)
            return found is not None and found == old and bool(transaction.put(name, data))

        return bool(self._environment().write(replace))

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix, in one step."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        environment = self._existing()
        if environment is not None:
            environment.write(partial(_remove, start=start))

    def apply_sync(self, changes: Changes) -> None:
        """Store many changes in one transaction.

        Raises
        ------
        TakenError
            If a key does not hold its expected value; nothing has changed then.
        """
        self._check_writable()
        values = [(raw_key(key), None if v is None else self._data(v)) for key, v in changes.values.items()]
        defaults = {raw_key(key) for key in changes.defaults}
        environment = self._environment()
        values = environment.fitting(values)

        def change(transaction: Any) -> None:
            check_expected(changes, lambda key: transaction.get(key.encode()))
            for folder in changes.removed:
                _remove(transaction, dir_prefix(folder))
            _write(transaction, values, defaults)

        environment.write(change)
