"""The base of stores in one file of a database, and gates that keep forks and calls of its library apart.

A child that is forked during a call of SQLite or LMDB would inherit the locks of the library; so a fork waits some
seconds for the running calls to end, and new calls wait until the fork has ended.
"""

from __future__ import annotations

import os
import shutil
import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from zarr._process import FORK_WAIT_SECONDS, at_fork, living
from zarr.abc.store import ByteRequest
from zarr.buffer.core import Buffer
from zarr.storage.base import CreatingStore
from zarr.storage.keys import check_prefix
from zarr.storage.mapping import StoreMapping
from zarr.storage.payloads import PayloadStore
from zarr.storage.ranges import child_names_in_order
from zarr.storage.wrappers.overlay import TransactionStore


def raw_key(key: str) -> bytes:
    """Return the bytes of a key as a database stores them."""
    return key.encode(errors="surrogateescape")


NO_ROOM_BYTES: Final = 1 << 16
"""A file system with less free space than this counts as full."""


def has_no_room(path: str) -> bool:
    """Return True if the file system of a path is full; SQLite and LMDB report that as any other failure."""
    with suppress(OSError):
        return shutil.disk_usage(path).free < NO_ROOM_BYTES
    return False


class OpenDatabases:
    """The open databases of this process, by path: one object for all stores over a path."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self.renew()

    def renew(self) -> None:
        """Make a new lock, for a forked child."""
        # Reentrant: a finalizer may run, and open such a file, at any allocation.
        self._guard = threading.RLock()

    def forget(self) -> None:
        """Forget all of them, and make a new lock: a forked child opens databases of its own."""
        self._known.clear()
        self.renew()

    def all(self) -> list[Any]:
        """Return all of them."""
        return living(self._known.values)

    def get(self, path: Path, make: Callable[..., Any], *, read_only: bool, **options: Any) -> Any:
        """Return the database of a path: the open one, which the first call has made, or a new one."""
        place = os.path.realpath(path)
        with self._guard:
            known = self._known.get(place)
            if known is None:
                known = self._known[place] = make(place, read_only=read_only, **options)
            elif known.read_only and not read_only:
                known.make_writable()
            return known


class DatabaseStore(StoreMapping, PayloadStore, CreatingStore):
    """A store with the path of its database as name; it compares a value before it replaces it."""

    scheme: ClassVar[str]
    supports_set_if_match: bool = True

    path: Path
    _place: Path
    _options: dict[str, Any]
    _opened: Any = None
    """The open database, from its first use on."""

    def __init__(
        self, path: Path | str, read_only: bool, options: dict[str, Any], dimension_separator: str | None = None
    ) -> None:
        super().__init__(read_only=read_only)
        if dimension_separator is not None:
            self.dimension_separator = dimension_separator
        if not isinstance(path, str | Path):
            raise TypeError(f"'path' must be a string or Path instance. Got an instance of {type(path)} instead.")
        self.path = Path(path)
        self._place = self.path.absolute()
        self._options = options

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store over the same database, read-only or writable."""
        other = type(self)(self._place, read_only=read_only, **self._options)
        other.path = self.path
        other.dimension_separator = self.dimension_separator
        return other

    def _exists(self) -> bool:
        return self._place.exists()

    async def _open(self) -> None:
        if self.read_only and not self._exists():
            raise FileNotFoundError(f"{self.path} does not exist")
        await super()._open()

    def close(self) -> None:
        """Release the database, which is closed when no store of this process uses it; the next use opens it again."""
        super().close()
        self._opened = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path.as_posix()}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._place, self.read_only)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return f"{self.scheme}:{os.path.realpath(self._place)}"

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` if the key has none; of several simultaneous calls exactly one succeeds."""
        return self.set_if_match_sync(key, value, None)


class TransactionDatabase(DatabaseStore, TransactionStore):
    """A store over a database of sorted keys that many processes change by transactions."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Make a store of a URL: ``scheme:///absolute/path`` or ``scheme://relative/path``.

        Parameters
        ----------
        url : str
            The URL.
        **options
            Options of the store, such as ``map_size``.
        """
        return cls(url.removeprefix(f"{cls.scheme}://"), **options)

    def lock_folder(self, path: str) -> str:
        """Return the folder of the lock files of a node: beside the database.

        Parameters
        ----------
        path : str
            The path in the store.

        Returns
        -------
        str
        """
        folder = f"{os.path.realpath(self._place)}.zarr-locks"
        return os.path.join(folder, check_prefix(path).replace("/", "%2F") or "%")

    @property
    def locked_in(self) -> str | None:
        """Return the folder in which processes lock names that stand for the keys: the one that has the database.

        Returns
        -------
        str or None
            None if no other process uses the database.
        """
        return os.path.dirname(os.path.realpath(self._place))

    @abstractmethod
    def open_value_sync(self, key: str) -> AbstractContextManager[Callable[[ByteRequest], bytes] | None]:
        """Open the value of a key, to read ranges of it; return None if there is none."""

    @abstractmethod
    def _listing(self) -> AbstractContextManager[Callable[[str, str | None], Iterator[str]]]:
        """Open a listing of one moment: a function that yields the names from a first one to before a last one."""

    def _payload(self, key: str, byte_range: ByteRequest | None = None) -> Any:
        if byte_range is None:
            return self._get_payloads([key])[0]
        with self.open_value_sync(key) as read:
            return None if read is None else read(byte_range)

    def list_dir_sync(self, prefix: str) -> list[str]:
        """Return the names directly under the prefix; the contents of each folder are skipped."""
        check_prefix(prefix)
        with self._listing() as keys_from:
            return child_names_in_order(prefix, keys_from)


# Forks


class Gate:
    """A gate for calls, which run in parallel; while the gate is closed, no call runs and none begins.

    All gates are closed while the process is forked: a lock held inside a library at that moment would stay locked in
    the child for ever.
    """

    def __init__(self) -> None:
        self._inside: dict[object, int] = {}
        """The running calls, with their threads."""
        self.was_idle = False
        """True if no call was under way when the gate was last closed."""
        self.renew()
        _gates.add(self)

    def renew(self) -> None:
        """Reset the gate in a forked child: the calls of other threads do not exist there."""
        me = threading.get_ident()
        # The lock is acquired directly, not by the condition, whose methods are Python: Ctrl-C could come before the
        # release.
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._closed_by = 0
        self._inside = {call: thread for call, thread in self._inside.items() if thread == me}

    def close(self, seconds: float | None = None) -> None:
        """Let no call begin, and wait until those of other threads have ended."""
        me = threading.get_ident()
        with self._lock:
            self._condition.wait_for(lambda: self._closed_by in (0, me), seconds)
            self._closed_by = me
            self._condition.wait_for(lambda: all(thread == me for thread in list(self._inside.values())), seconds)
            self.was_idle = not self._inside

    def open(self) -> None:
        """Let calls begin again, if this thread has closed the gate."""
        with self._lock:
            if self._closed_by == threading.get_ident():
                self._closed_by = 0
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other call runs, and let none begin meanwhile."""
        try:
            self.close()
            with self.call():
                yield
        finally:
            self.open()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Enter the gate; calls of one thread may be nested."""
        me, mine = threading.get_ident(), object()
        try:
            with self._lock:
                if self._closed_by:
                    self._condition.wait_for(lambda: self._closed_by in (0, me) or me in self._inside.values())
                self._inside[mine] = me
            yield
        finally:
            self._inside.pop(mine, None)  # first, and in one step, at whatever moment Ctrl-C comes
            if self._closed_by:
                with self._lock:
                    self._condition.notify_all()


_gates: weakref.WeakSet[Gate] = weakref.WeakSet()


def _close_all() -> None:
    for gate in living(_gates.__iter__):
        gate.close(FORK_WAIT_SECONDS)


def _open_all() -> None:
    for gate in living(_gates.__iter__):
        gate.open()


def _renew_all() -> None:
    for gate in living(_gates.__iter__):
        gate.renew()


at_fork(_close_all, _open_all, _renew_all)
