"""The store of an LMDB database: memory-mapped, many readers that never wait, one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.databases.database import DatabaseStore, TransactionDatabase
from zarr.storage.databases.lmdb_environment import (
    INITIAL_MAP_BYTES,
    SMALLEST_BYTES,
    Environment,
    environment_of,
    require_lmdb,
)
from zarr.storage.keys import check_key, check_prefix, dir_prefix, only_keys
from zarr.storage.ranges import bounds_of, child_names_in_order, key_after
from zarr.storage.wrappers.overlay import check_expected

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.abc.stores.changes import Changes
    from zarr.buffer.core import BufferPrototype


def _between(transaction: Any, low: str, high: str | None) -> Iterator[tuple[str, Any]]:
    """Return the stored keys from a first one to one to stop before, in order, with a cursor that stands on each."""
    cursor = transaction.cursor()
    end = None if high is None else high.encode(errors="surrogateescape")
    found = cursor.set_range(low.encode(errors="surrogateescape")) if low else cursor.first()
    while found:
        key = bytes(cursor.key())
        if end is not None and key >= end:
            return
        yield key.decode(errors="surrogateescape"), cursor
        found = cursor.next()


class LMDBStore(TransactionDatabase):
    """All keys in one LMDB database.

    Every change is a transaction, many values set at once are one transaction. Readers of any thread or process see the
    last committed state without waiting. The memory map grows when it is full.

    Needs the package ``lmdb``: ``pip install "zarr[lmdb]"``.

    Parameters
    ----------
    path : str or Path
        The folder of the database; with ``subdir=False``, its file. It is made when the first value is written.
    read_only : bool
    sync : bool
        Have each change on the disk before the call returns. Without it nothing is lost when a process dies, but the
        database may be damaged when the power fails.
    map_size : int
        How many bytes of the address space are taken at first.
    subdir : bool, optional
        Whether ``path`` is a folder; by default, what is there tells.

    Raises
    ------
    ImportError
        If the package is not installed.
    TypeError
        If ``path`` is neither a string nor a Path.

    Examples
    --------
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
    ) -> None:
        super().__init__(path, read_only, {"sync": sync, "map_size": map_size, "subdir": subdir})
        require_lmdb()
        if subdir is None:
            self._options["subdir"] = not self.path.is_file()
        self._environment: Environment | None = None

    def close(self) -> None:
        """Let go of the database, which is closed when nobody in this process uses it any more."""
        super().close()
        self._environment = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_environment": None}

    def _existing(self) -> Environment | None:
        """Return the open database; None where there is none yet and nothing is to be made for a look at it."""
        file = self._place / "data.mdb" if self._options["subdir"] else self._place
        try:
            size = os.path.getsize(file)
        except FileNotFoundError:
            return None
        return None if size < SMALLEST_BYTES else self._opened()

    def _opened(self) -> Environment:
        environment = self._environment
        if environment is None or not environment.usable:
            environment = environment_of(self._place, read_only=self.read_only, **self._options)
            self._environment = environment
        return environment

    def _key(self, key: str) -> bytes:
        check_key(key)
        return key.encode()

    # Reading

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        name = self._key(key)
        environment = self._existing()
        if environment is None or len(name) > environment.max_key_bytes:
            return None
        with environment.reading() as transaction:
            found = environment.value_of(transaction, name)
            if found is None:
                return None
            # Copied before the transaction ends: the map changes after it.
            if byte_range is None:
                data = bytes(found)
            else:
                start, stop = bounds_of(byte_range, len(found))
                data = bytes(found[start:stop])
        return (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes(data)

    @contextmanager
    def open_value_sync(self, key: str) -> Iterator[Callable[[ByteRequest], bytes] | None]:
        """Open the value of a key, to read ranges of it; None where there is none."""
        name = self._key(key)
        environment = self._existing()
        if environment is None or len(name) > environment.max_key_bytes:
            yield None
            return
        with environment.reading() as transaction:
            found = environment.value_of(transaction, name)

            def read(byte_range: ByteRequest) -> bytes:
                start, stop = bounds_of(byte_range, len(found))
                return bytes(found[start:stop])

            yield None if found is None else read

    def exists_sync(self, key: str) -> bool:
        """Return whether the key has a value."""
        return self._size(key) is not None

    def getsize_sync(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        size = self._size(key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    def _size(self, key: str) -> int | None:
        name = self._key(key)
        environment = self._existing()
        if environment is None or len(name) > environment.max_key_bytes:
            return None
        with environment.reading() as transaction:
            found = transaction.get(name)
            return None if found is None else len(found)

    def list_sync(self) -> Iterable[str]:
        """Return all keys, in order."""
        return self.list_prefix_sync("")

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix, in order."""
        check_prefix(prefix)
        environment = self._existing()
        if environment is None:
            return []
        with environment.reading() as transaction:
            return only_keys([key for key, _ in _between(transaction, prefix, key_after(prefix))])

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix; what lies below a folder is jumped over."""
        check_prefix(prefix)
        environment = self._existing()
        if environment is None:
            return []
        with environment.reading() as transaction:
            return child_names_in_order(
                prefix, lambda low, high: (key for key, _ in _between(transaction, low, high))
            )

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key."""
        self._set_payloads([(key, self._data(value))])

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; of several who try at once, in any process, one succeeds."""
        self._check_writable()
        name, data = self._key(key), self._data(value)
        return bool(self._opened().write(lambda transaction: transaction.put(name, data, overwrite=False)))

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self.put_if_absent_sync(key, value)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` where the key still holds ``expected`` (None: nothing); one step for all processes."""
        if expected is None:
            return self.put_if_absent_sync(key, value)
        self._check_writable()
        name, data, old = self._key(key), self._data(value), self._data(expected)

        def replace(transaction: Any) -> bool:
            found = transaction.get(name)
            return found is not None and found == old and bool(transaction.put(name, data))

        return bool(self._opened().write(replace))

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        name = self._key(key)
        environment = self._existing()
        if environment is not None and len(name) <= environment.max_key_bytes:
            environment.write(lambda transaction: transaction.delete(name))

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix, in one step."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        end = key_after(start)

        def remove(transaction: Any) -> None:
            for key in [key for key, _ in _between(transaction, start, end)]:
                transaction.delete(key.encode(errors="surrogateescape"))

        environment = self._existing()
        if environment is not None:
            environment.write(remove)

    # Bulk

    get_many_sync = DatabaseStore.get_many_sync
    set_many_sync = DatabaseStore.set_many_sync
    bulk_access = DatabaseStore.bulk_access

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        names = [self._key(key) for key in keys]
        environment = self._existing()
        if environment is None:
            return [None] * len(names)
        longest = environment.max_key_bytes
        with environment.reading() as transaction:
            found = [environment.value_of(transaction, name) if len(name) <= longest else None for name in names]
            return [None if value is None else bytes(value) for value in found]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        pairs = [(self._key(key), payload) for key, payload in items]
        environment = self._opened()

        def change(transaction: Any) -> None:
            for name, payload in pairs:
                if payload is None:
                    transaction.delete(name)
                else:
                    transaction.put(name, payload)

        for name, payload in pairs:
            if payload is not None:
                environment.check_key_length(name)
        environment.write(change)

    # Many changes in one step

    def apply_sync(self, changes: Changes) -> None:
        """Store many changes in one transaction.

        Raises
        ------
        TakenError
            If a key does not hold what it was expected to hold; nothing has changed then.
        """
        self._check_writable()
        values = [(self._key(key), None if v is None else self._data(v)) for key, v in changes.values.items()]
        defaults = {self._key(key) for key in changes.defaults}
        environment = self._opened()
        for name, payload in values:
            if payload is not None:
                environment.check_key_length(name)

        def change(transaction: Any) -> None:
            check_expected(changes, lambda key: transaction.get(key.encode()))
            for folder in changes.removed:
                start = dir_prefix(folder)
                for key in [key for key, _ in _between(transaction, start, key_after(start))]:
                    transaction.delete(key.encode(errors="surrogateescape"))
            for name, payload in values:
                if payload is None:
                    transaction.delete(name)
                else:
                    transaction.put(name, payload, overwrite=name not in defaults)

        environment.write(change)
