"""Several archives of one process over one file: one at a time adds to it, and the others read through that one."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Final, Protocol, Self

from zarr._process import at_exit, at_fork
from zarr.storage.zip.container import END_SIGNATURE, Entry
from zarr.storage.zip.file import Handle

FORK_WAIT_SECONDS: Final = 5.0
"""How long a fork waits for what is under way in one archive."""


class Locked(Protocol):
    """An archive, as far as forks are concerned."""

    @property
    def lock(self) -> Any: ...

    def renew_locks(self) -> None: ...


class Place:
    """What all archives over one file of this process have in common.

    They have one lock, so that two of them can see to each other without waiting for each other in a circle. One of
    them adds to the file, and the others read what it has added through it.
    """

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()
        self.writer: weakref.ref[Any] | None = None
        self.version = 0
        """Counts how often somebody has stopped adding to the file."""


_guard = threading.RLock()
_places: weakref.WeakValueDictionary[str, Place] = weakref.WeakValueDictionary()
_archives: weakref.WeakSet[Locked] = weakref.WeakSet()
_held: list[Locked] = []


def place_of(path: str | None) -> Place:
    """Return the place of a file: one object for all archives over it; a new one for what has no path."""
    if path is None:
        return Place()
    name = os.path.realpath(path)
    with _guard:
        place = _places.get(name)
        if place is None:
            place = _places[name] = Place()
        return place


def watch(archive: Locked) -> None:
    """Have an archive be idle when the process is forked, and usable in the child."""
    _archives.add(archive)


def _hold_all() -> None:
    _held.extend(archive for archive in list(_archives) if archive.lock.acquire(timeout=FORK_WAIT_SECONDS))


def _let_go_all() -> None:
    while _held:
        _held.pop().lock.release()


def _renew_all() -> None:
    global _guard
    _guard = threading.RLock()
    _places.clear()
    _held.clear()
    for archive in list(_archives):
        archive.renew_locks()


at_fork(_hold_all, _let_go_all, _renew_all)


WRITERS: weakref.WeakSet[SharedFile] = weakref.WeakSet()
"""The archives of this process that add to their files."""

_ENDED: list[bool] = []
"""Filled when the program has ended: nobody comes after that to commit what is added."""


class SharedFile(ABC):
    """What an archive does about others over the same file."""

    path: str | None
    mode: str
    entries: dict[str, Entry]
    _place: Place
    _handle: Handle | None
    _temporary: str | None
    _writable: bool
    _end: int
    _swaps: int
    _version: int
    _pid: int
    _orphaned: bool

    @property
    def lock(self) -> Any:
        """Return the lock of the file; reentrant."""
        return self._place.lock

    @property
    @abstractmethod
    def handle(self) -> Handle:
        """Return the open file."""

    @abstractmethod
    def open(self) -> None:
        """Open the file and read its directory, if that was not done yet."""

    @abstractmethod
    def commit(self) -> None:
        """Write the directory of what is in the file now."""

    @abstractmethod
    def tidy(self) -> None:
        """Commit, and write the file anew where that is worth it."""

    @abstractmethod
    def close(self) -> None:
        """Commit, and close the file."""

    def settle(self) -> None:
        """Commit a change at once if nobody will do it later.

        That is so after the finalizer of the archive: others that are cleared away together with it may still write,
        and Python finalizes nothing twice.
        """
        if self._orphaned:
            self.tidy()

    @abstractmethod
    def _read_directory(self, handle: Handle) -> None:
        """Learn what is in the file."""

    def _make_writable(self) -> Handle:
        """Get ready to add entries behind the last directory."""
        if _ENDED:
            raise ValueError(f"the program is ending and its zip archives are closed: nothing was added to {self.path}")
        handle = self.handle
        if self._writable and self._pid == os.getpid():
            return handle
        if self.mode == "r":
            raise ValueError("the zip file was opened to be read only")
        if self._writable:
            raise self._busy("the process that this one was forked from")
        if self.path is not None:
            handle = self._take_turn(handle)
        self._make_room(handle)
        self._writable = True
        self._pid = os.getpid()
        self._place.writer = weakref.ref(self)
        WRITERS.add(self)
        return handle

    def _busy(self, whom: str) -> OSError:
        message = f"{whom} adds to this zip archive; close it there first, or use a LocalStore"
        return BlockingIOError(errno.EWOULDBLOCK, message, self.path)

    def _take_turn(self, old: Handle) -> Handle:
        """Be the one who adds to the file, and know all that others have added to it."""
        assert self.path is not None
        self._have_others_hand_over()
        handle = self._claimed(self.path)
        with self._swapping():
            if handle.size() != self._end or not handle.is_file_of(old):
                self._read_directory(handle)
            self._handle = handle
        return handle

    def _have_others_hand_over(self) -> None:
        for other in writers():
            if other is not self and other.lock is self.lock:
                other.hand_over()

    def _claimed(self, path: str) -> Handle:
        while True:
            handle = Handle(io.FileIO(path, "rb+"), owned=True)
            if not handle.claim():
                handle.close()
                raise self._busy("another process")
            if handle.is_at(path):
                return handle
            handle.close()  # it was compacted just now: another file has its name

    def hand_over(self) -> None:
        """Commit, and let another archive over the same file add to it; with a name for what is new, if need be."""
        if self._temporary is None and self._writable and self._pid == os.getpid() and self._handle is not None:
            self.commit()
            self._writable = False
            self._place.version += 1
            self._version = -1
            self._handle.let_go()

    def _make_room(self, handle: Handle) -> None:
        """Cut off what an earlier crash left behind the last directory.

        A damaged directory stays, so that what it named can still be found by other means; new entries follow it.
        """
        size = handle.size()
        if size > self._end:
            if END_SIGNATURE in handle.read_at(self._end, size - self._end):
                self._end = size
            else:
                handle.truncate(self._end)

    @contextlib.contextmanager
    def _swapping(self) -> Iterator[None]:
        """Yield the file and what is known of it change together; see :meth:`find`."""
        self._swaps += 1
        try:
            yield
        finally:
            self._swaps += 1

    def current(self) -> Self:
        """Return the archive that knows what is in the file: this one, or that which adds to the same file just now.

        Who only reads sees what was committed when the file was opened.
        """
        place = self._place
        if self.mode != "r" and not self._writable and place.writer is not None:
            writer: Self | None = place.writer()
            if writer is not None and writer._writable and writer._temporary is None and writer._pid == os.getpid():
                return writer
            if self._version != place.version and self._handle is not None:
                with self.lock, self._swapping():
                    self._handle = self._handle if self._writable else None
        if self._handle is None:
            self.open()
        return self


def writers() -> Iterator[SharedFile]:
    """Those that add to their files now."""
    yield from list(WRITERS)


def commit_others(archive: SharedFile) -> None:
    """Commit what other stores of this process have added to the same file, so that it is seen."""
    if archive.path is None:
        return
    place = os.path.realpath(archive.path)
    for other in writers():
        if other is not archive and other.path is not None and os.path.realpath(other.path) == place:
            other.commit()


@at_exit
def _close_all() -> None:
    _ENDED.append(True)
    for archive in writers():
        with contextlib.suppress(OSError, ValueError):
            archive.close()
