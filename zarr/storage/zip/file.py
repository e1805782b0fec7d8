"""The file of a zip archive, read and written at given places."""

from __future__ import annotations

import io
import os
import threading
from types import ModuleType
from typing import IO, Final

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

_HAS_PREAD: Final = hasattr(os, "pread")


class Handle:
    """A file that is read and written at given places, by several threads at once."""

    def __init__(self, file: IO[bytes] | io.FileIO, *, owned: bool) -> None:
        self._file = file
        self._owned = owned
        self._claimed_by = -1
        self._lock = threading.RLock()
        self._fd = file.fileno() if owned and _HAS_PREAD else -1
        # What cannot go back can still be written from front to back; and some readers fail at the end of the file.
        self._seekable = file.seekable() if isinstance(file, io.IOBase) else True
        self._limit = None if isinstance(file, io.IOBase) else self.size()

    def claim(self) -> bool:
        """Keep other processes from adding to the file until it is closed; False where one of them does."""
        if fcntl is None or not self._owned:
            return True
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        self._claimed_by = os.getpid()
        return True

    def let_go(self) -> None:
        """End :meth:`claim`; not in a forked child, which shares the claim of its parent."""
        if fcntl is not None and self._claimed_by == os.getpid():
            fcntl.flock(self._file.fileno(), fcntl.LOCK_UN)
            self._claimed_by = -1

    def is_file_of(self, other: Handle) -> bool:
        """Return whether two handles are of one file; False where that cannot be told."""
        if not (self._owned and other._owned):
            return False
        return os.path.samestat(os.fstat(self._file.fileno()), os.fstat(other._file.fileno()))

    def is_at(self, path: str) -> bool:
        """Return whether the file still has its name."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(path))
        except FileNotFoundError:
            return False

    def renew_lock(self) -> None:
        """Make a new lock; for a forked child."""
        self._lock = threading.RLock()

    def read_at(self, offset: int, length: int) -> bytes:
        """Read that part of the file; fewer bytes where the file ends."""
        if self._fd < 0:
            if self._limit is not None:
                length = max(0, min(length, self._limit - offset))
            with self._lock:
                self._file.seek(offset)
                return bytes(self._file.read(length))
        data = os.pread(self._fd, length, offset)
        parts = [data]
        missing = length - len(data)
        while missing > 0 and data:
            data = os.pread(self._fd, missing, offset + length - missing)
            parts.append(data)
            missing -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def write_at(self, offset: int, data: bytes) -> None:
        """Write there; all of it or an error."""
        view = memoryview(data)
        if self._fd >= 0:  # in one call, since a finalizer may write elsewhere between any two
            while view:
                written = os.pwrite(self._fd, view, offset)
                offset, view = offset + written, view[written:]
            return
        with self._lock:
            if self._seekable:
                self._file.seek(offset)
            while view:
                written = self._file.write(view)
                view = view[written:] if written is not None else view
            self._file.flush()

    def truncate(self, size: int) -> None:
        """Cut the file off."""
        if self._seekable:
            with self._lock:
                self._file.truncate(size)

    def size(self) -> int:
        """How long the file is."""
        with self._lock:
            return self._file.seek(0, io.SEEK_END)

    def fsync(self) -> None:
        """Have what was written reach the disk."""
        if self._owned:
            os.fsync(self._file.fileno())

    def __del__(self) -> None:
        """Close the file, if it was opened here, when nobody reads from it any more."""
        if self._owned:
            self.let_go()
            self._file.close()
