"""The store of an SQLite database: one file, many writers, every change whole or not at all."""

from __future__ import annotations

import errno
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.checks import DamagedDatabaseError
from zarr.storage.databases.database import DatabaseStore, TransactionDatabase
from zarr.storage.databases.sqlite_pool import Connections, Journal, Synchronous
from zarr.storage.keys import check_key, check_prefix, dir_prefix, only_keys
from zarr.storage.ranges import bounds_of, child_names_in_order, key_after
from zarr.storage.wrappers.overlay import check_expected

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.abc.stores.changes import Changes
    from zarr.buffer.core import BufferPrototype

Bounds: TypeAlias = tuple[str, str | None]

_PLACE: Final = "SELECT rowid, length(v), typeof(v) FROM zarr WHERE k = ?"
_GET: Final = "SELECT v FROM zarr WHERE k = ?"
_PUT: Final = "INSERT INTO zarr (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v"
_PUT_ABSENT: Final = "INSERT INTO zarr (k, v) VALUES (?, ?) ON CONFLICT (k) DO NOTHING"
_PUT_MATCH: Final = "UPDATE zarr SET v = ? WHERE k = ? AND v = ?"
_DELETE: Final = "DELETE FROM zarr WHERE k = ?"


def _between(head: str, bounds: Bounds, tail: str = "") -> tuple[str, tuple[str, ...]]:
    """Return a statement about the keys from a first one to one to stop before, with its parameters."""
    low, high = bounds
    if high is None:
        return f"{head} WHERE k >= ?{tail}", (low,)
    return f"{head} WHERE k >= ? AND k < ?{tail}", (low, high)


class SQLiteStore(TransactionDatabase):
    """All keys in one SQLite database, in a table ``zarr`` of keys ``k`` and values ``v``, as zarr-python 2 has it.

    Every change is a transaction, many values set at once are one transaction, and any number of threads and processes
    may read and write. With a write-ahead log, readers do not wait for writers.

    Parameters
    ----------
    path : str or Path
        The file. It is made when the first value is written.
    read_only : bool
    journal : {"wal", "delete", "truncate", "persist"}
        How SQLite keeps the old state until the new one is whole: in a write-ahead log (not for network file systems),
        or in a rollback journal.
    synchronous : {"off", "normal", "full", "extra"}
        How hard SQLite sees to it that data is on the disk. Nothing is lost when a process dies, whatever this is. When
        the power fails, "normal" keeps the database whole but may lose the last changes; "full" and "extra" lose
        nothing that was reported as written; "off" may lose the database.
    timeout : float
        How many seconds to wait for a writer in another process.

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a Path.
    ValueError
        If an option is none of those above, or the path names a database in memory.

    Examples
    --------
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
    ) -> None:
        super().__init__(path, read_only, {"journal": journal, "synchronous": synchronous, "timeout": timeout})
        if str(path) in {"", ":memory:"}:
            raise ValueError("SQLiteStore needs the path of a file; for a store in memory use zarr.storage.MemoryStore")
        self._connect()

    def _connect(self) -> None:
        self._connections = Connections(str(self._place), read_only=self.read_only, **self._options)
        self._closer = weakref.finalize(self, self._connections.close)

    def close(self) -> None:
        """Close the database; it is opened again where the store is used again."""
        super().close()
        self._connections.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in {"_connections", "_closer"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect()

    # Reading

    def _rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connections.reading() as connection:
            return [] if connection is None else connection.execute(statement, parameters).fetchall()

    def _stored(self, key: str, value: Any) -> bytes:
        return value if type(value) is bytes else self._refuse(key, type(value).__name__)

    def _refuse(self, key: str, kind: str) -> NoReturn:
        raise DamagedDatabaseError(errno.EIO, f"the value of {key!r} is no bytes but {kind}", str(self.path))

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key.

        Raises
        ------
        OSError
            If the database cannot be read.
        StoreDamagedError
            If it is damaged.
        """
        check_key(key)
        if byte_range is None:
            rows = self._rows(_GET, (key,))
            data = self._stored(key, rows[0][0]) if rows else None
        else:
            data = self._part(key, byte_range)
        if data is None:
            return None
        return (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes(data)

    def _part(self, key: str, byte_range: ByteRequest) -> bytes | None:
        """Return a range of a value, of which the rest is not brought into memory."""
        with self.open_value_sync(key) as read:
            return None if read is None else read(byte_range)

    @contextmanager
    def open_value_sync(self, key: str) -> Iterator[Callable[[ByteRequest], bytes] | None]:
        """Open the value of a key, to read ranges of it; None where there is none."""
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

    def exists_sync(self, key: str) -> bool:
        """Return whether the key has a value."""
        check_key(key)
        return bool(self._rows("SELECT 1 FROM zarr WHERE k = ?", (key,)))

    def getsize_sync(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        check_key(key)
        rows = self._rows("SELECT length(v), typeof(v) FROM zarr WHERE k = ?", (key,))
        if not rows:
            raise FileNotFoundError(key)
        return int(rows[0][0]) if rows[0][1] == "blob" else self._refuse(key, rows[0][1])

    async def getsize_prefix(self, prefix: str) -> int:
        """Return how many bytes all keys under a folder hold."""
        start = dir_prefix(check_prefix(prefix))
        statement = _between("SELECT coalesce(sum(length(v)), 0) FROM zarr", (start, key_after(start)))
        return int((await self._call(self._rows, *statement))[0][0])

    async def is_empty(self, prefix: str) -> bool:
        """Return whether there is no key below a folder."""
        start = dir_prefix(check_prefix(prefix))
        return not await self._call(self._rows, *_between("SELECT 1 FROM zarr", (start, key_after(start)), " LIMIT 1"))

    def list_sync(self) -> Iterable[str]:
        """Return all keys, in order."""
        return self.list_prefix_sync("")

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix, in order."""
        check_prefix(prefix)
        statement = _between("SELECT k FROM zarr", (prefix, key_after(prefix)), " ORDER BY k")
        return only_keys([key for (key,) in self._rows(*statement)])

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix; what lies below a folder is jumped over."""
        check_prefix(prefix)
        with self._connections.reading(snapshot=True) as connection:
            if connection is None:
                return []

            def keys_from(low: str, high: str | None) -> Iterator[str]:
                cursor = connection.execute(*_between("SELECT k FROM zarr", (low, high), " ORDER BY k"))
                return (key for (key,) in cursor if type(key) is str)

            return child_names_in_order(prefix, keys_from)

    # Writing

    def _change(self, statement: str, parameters: tuple[Any, ...]) -> int:
        """Run one statement that changes something; how many rows it changed."""
        self._check_writable()
        with self._connections.writing() as connection:
            return connection.execute(statement, parameters).rowcount

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key."""
        check_key(key)
        self._change(_PUT, (key, self._data(value)))

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; of several who try at once, in any process, one succeeds."""
        check_key(key)
        return self._change(_PUT_ABSENT, (key, self._data(value))) == 1

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self.put_if_absent_sync(key, value)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` where the key still holds ``expected`` (None: nothing); one step for all processes."""
        if expected is None:
            return self.put_if_absent_sync(key, value)
        check_key(key)
        return self._change(_PUT_MATCH, (self._data(value), key, self._data(expected))) == 1

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        check_key(key)
        self._change(_DELETE, (key,))

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix, in one step."""
        start = dir_prefix(check_prefix(prefix))
        self._change(*_between("DELETE FROM zarr", (start, key_after(start))))

    # Bulk

    get_many_sync = DatabaseStore.get_many_sync
    set_many_sync = DatabaseStore.set_many_sync
    bulk_access = DatabaseStore.bulk_access

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        for key in keys:
            check_key(key)
        with self._connections.reading(snapshot=True) as connection:
            if connection is None:
                return [None] * len(keys)
            execute = connection.cursor().execute
            rows = [execute(_GET, (key,)).fetchone() for key in keys]
        stored = self._stored
        return [None if row is None else stored(key, row[0]) for key, row in zip(keys, rows, strict=True)]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        last = dict(items)
        for key in last:
            check_key(key)
        with self._connections.writing() as connection:
            connection.executemany(_PUT, [item for item in last.items() if item[1] is not None])
            connection.executemany(_DELETE, [(key,) for key, payload in last.items() if payload is None])

    # Many changes in one step

    def apply_sync(self, changes: Changes) -> None:
        """Store many changes in one transaction.

        Raises
        ------
        TakenError
            If a key does not hold what it was expected to hold; nothing has changed then.
        """
        self._check_writable()
        values = {key: None if value is None else self._data(value) for key, value in changes.values.items()}
        defaults = [(key, values.pop(key)) for key in changes.defaults]
        with self._connections.writing() as connection:
            check_expected(changes, lambda key: next((row[0] for row in connection.execute(_GET, (key,))), None))
            for folder in changes.removed:
                start = dir_prefix(folder)
                connection.execute(*_between("DELETE FROM zarr", (start, key_after(start))))
            connection.executemany(_PUT_ABSENT, defaults)
            connection.executemany(_PUT, [item for item in values.items() if item[1] is not None])
            connection.executemany(_DELETE, [(key,) for key, payload in values.items() if payload is None])
