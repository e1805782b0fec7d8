"""Locks on names in a folder that keep out other processes."""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

if sys.platform == "linux":
    import fcntl

HELD, BUSY, REPLACED = 0, 1, 2

_SPACE = 1 << 60
_ALL = 1 << 61
_TRIES = 3
_WORD = (1 << 64) - 1

_TRUSTED = {
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "tmpfs", "ramfs", "overlay", "f2fs", "bcachefs",
}  # fmt: skip


def trusts_locks(path: str) -> bool:
    """Return True if the folder's file system keeps locks among all processes that reach it."""
    if sys.platform != "linux":
        return False
    place, kinds = os.path.realpath(path), {}
    with open("/proc/self/mounts", "rb") as mounts:
        for line in mounts:
            words = line.decode(errors="replace").split(" ")
            kinds[words[1].replace("\\040", " ")] = words[2]
    while place not in kinds and place != "/":
        place = os.path.dirname(place)
    return kinds.get(place) in _TRUSTED


def _bytes_of(name: str) -> int:
    value = 0xCBF29CE484222325
    for byte in name.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x100000001B3) & _WORD
    value ^= value >> 33
    value = (value * 0xFF51AFD7ED558CCD) & _WORD
    return 2 * ((value ^ value >> 33) & (_SPACE - 1))


def _change(fd: int, kind: int, place: int) -> None:
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))


class Folder:
    """An open folder in which names are locked."""

    def __init__(self, path: str) -> None:
        self.fd = -1
        self.path = path
        if sys.platform != "linux":
            raise OSError(errno.ENOSYS, "folders have no locks here", path)
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        state = os.fstat(self.fd)
        self.identity = state.st_dev, state.st_ino
        self._counts: Counter[int] = Counter()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder: all that is locked in it is released."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def announce(self, place: int) -> None:
        """Announce a byte, however many of this process have done so."""
        _change(self.fd, fcntl.F_RDLCK, place)
        self._counts[place] += 1

    def withdraw(self, place: int) -> None:
        """Withdraw it when the last of them does."""
        self._counts[place] -= 1
        if not self._counts[place]:
            del self._counts[place]
            if self.fd >= 0:
                _change(self.fd, fcntl.F_UNLCK, place)

    def is_announced(self, place: int, length: int = 1) -> bool:
        """Return True if another descriptor has announced something in a range."""
        wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, place, length, 0)
        return bool(struct.unpack("hhqqi4x", fcntl.fcntl(self.fd, fcntl.F_OFD_GETLK, wanted))[0] != fcntl.F_UNLCK)

    def is_current(self) -> bool:
        """Return True if the path still names this folder."""
        try:
            state = os.stat(self.path)
        except OSError:
            return False
        return (state.st_dev, state.st_ino) == self.identity


class FolderLock:
    """A lock on names in a folder."""

    def __init__(
        self,
        folder: Folder,
        names: Sequence[str] | Callable[[], Sequence[str]] | None,
        shared: bool = False,
        path: str = "",
    ) -> None:
        self.folder = folder
        self.shared = shared
        self.path = path
        self.held = False
        self._names = names if callable(names) else None
        self._announced: list[int] = []
        self._tries = _TRIES if callable(names) else 0
        self._places: list[int] | None = None
        if not callable(names):
            self._places = [_ALL] if names is None else [_bytes_of(name) for name in names]

    def __del__(self) -> None:
        self.close()

    def try_acquire(self) -> int:
        """Acquire the lock if nobody is in the way."""
        if self.held:
            return HELD
        if self.folder.fd < 0:
            return REPLACED
        state = BUSY
        try:
            if not (self._is_barred_shared() if self.shared else self._is_barred_alone()):
                state = HELD if self.folder.is_current() else REPLACED
            self.held = state == HELD
        finally:
            if state == REPLACED or (state == BUSY and (self.shared or len(self._places or ()) > 1)):
                self.close()
        return state

    def _announce(self, place: int) -> None:
        for byte in (place,) if self.shared else (place, place + 1):
            self.folder.announce(byte)
            self._announced.append(byte)

    def _is_barred_alone(self) -> bool:
        folder, places = self.folder, self._places or []
        if not self._announced:
            for place in places:
                self._announce(place)
        for place in places:
            if folder.is_announced(place):
                if folder.is_announced(place + 1):
                    self.close()
                return True
            if place == _ALL:
                return folder.is_announced(0, 2 * _SPACE)
        if folder.is_announced(_ALL):
            if folder.is_announced(_ALL + 1):
                self.close()
            return True
        return False

    def _is_barred_shared(self) -> bool:
        folder = self.folder
        if self._tries:
            self._tries -= 1
            self._announce(_ALL)
            return folder.is_announced(_ALL + 1) or folder.is_announced(0, 2 * _SPACE)
        if self._places is None:
            assert self._names is not None
            self._places = [_bytes_of(name) for name in self._names()]
        for place in self._places:
            self._announce(place)
        return folder.is_announced(_ALL + 1) or any(folder.is_announced(place + 1) for place in self._places)

    def close(self) -> None:
        """Release the lock, or give it up."""
        self.held = False
        while self._announced:
            self.folder.withdraw(self._announced.pop())

    def release_with(self, queues: dict[str, list[Any]], name: str) -> Any:
        """Release the lock and take a name out of the table of this process."""
        self.close()
        return queues.pop(name, ())


def try_lock(opened: dict[str, Folder], folder: str, name: str, path: str) -> FolderLock | None:
    """Lock one name alone in a folder that is open, if no other process has locked it; else return None."""
    found = opened.get(folder)
    if found is None:
        return None
    lock = FolderLock(found, (name,), False, path)
    try:
        if lock.try_acquire() == HELD:
            return lock
    except OSError:
        pass
    except BaseException:  # Ctrl-C: the traceback would keep the lock
        lock.close()
        raise
    lock.close()
    return None
