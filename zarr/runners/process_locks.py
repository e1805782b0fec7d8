"""Locks among processes: files beside the data that the operating system locks.

The system lets go of what a dead process held. A lock belongs to an open file and not to a process, so it is taken by
any thread, and a forked child closes what it inherits: it would else go on holding what its parent held when it died.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule
from zarr.runners.lock_table import CalledOff

if TYPE_CHECKING:
    import asyncio

    from zarr.steps.requests import LockScope
else:
    asyncio = LazyModule("asyncio")

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

STRIPES: Final = 64
"""How many lock files the chunks of an array share; two chunks with the same one wait for each other."""

_FIRST_PAUSE_SECONDS: Final = 0.0005
_LONGEST_PAUSE_SECONDS: Final = 0.02
_NO_LOCKS: Final = frozenset(
    getattr(errno, name) for name in ("ENOLCK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS") if hasattr(errno, name)
)

_guard = threading.RLock()
_open: dict[int, LockedFile] = {}


class LockedFile:
    """A lock file that is open here; locked, once :func:`lock_file` has returned it.

    Parameters
    ----------
    path : str
    """

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        with _guard:
            self.fd = _open_file(path)
            _open[self.fd] = self

    def close(self) -> None:
        """Let go of the file; nothing happens in a forked child, where it is closed already."""
        with _guard:
            if _open.get(self.fd) is not self:
                return
            del _open[self.fd]
            try:
                # Said aloud: a child that was forked by other means than Python's may still have the file open.
                _unlock(self.fd)
            finally:
                os.close(self.fd)

    def is_current(self) -> bool:
        """Whether the file still has its name: if it was removed meanwhile, others lock another file by that name."""
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            return False
        here = os.fstat(self.fd)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _open_file(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
    for _ in range(64):
        try:
            return os.open(path, flags, 0o666)
        except FileNotFoundError:
            # Made again where somebody removes or replaces the folder, or the one above it, at the same time.
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                os.makedirs(os.path.dirname(path), exist_ok=True)
    return os.open(path, flags, 0o666)


if sys.platform == "win32":

    def _try_lock(fd: int) -> bool:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True

    def _lock(fd: int) -> None:
        for pause in _pauses():
            if _try_lock(fd):
                return
            time.sleep(pause)

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        except OSError:
            pass  # it was never locked: closing it is all there is to do

else:

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


def _pauses() -> Iterator[float]:
    pause = _FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _explained(error: OSError, path: str) -> OSError:
    """The error of a file system without locks, with what to do about it."""
    if error.errno not in _NO_LOCKS:
        return error
    return OSError(
        error.errno,
        "the file system has no file locks: give a folder of one that has, by synchronizer=zarr.ProcessSynchronizer()",
        path,
    )


def _lock_watching(fd: int, called_off: threading.Event) -> None:
    for pause in _pauses():
        if _try_lock(fd):
            return
        if called_off.wait(pause):
            raise CalledOff


def lock_file(path: str, called_off: threading.Event | None = None) -> LockedFile:
    """Lock a file, waiting until no other process has it locked.

    Parameters
    ----------
    path : str
        The file and its folders are made where they are not there.
    called_off : threading.Event, optional
        Ends the wait when it is set.

    Returns
    -------
    LockedFile
        ``close`` lets go of it.

    Raises
    ------
    OSError
        If the file cannot be made, or its file system has no locks.
    CalledOff
        If the event is set first.

    Examples
    --------
    >>> import tempfile
    >>> lock_file(tempfile.mkdtemp() + "/name").close()
    """
    while True:
        file = LockedFile(path)
        try:
            if called_off is None:
                _lock(file.fd)
            else:
                _lock_watching(file.fd, called_off)
            if file.is_current():
                return file
        except OSError as error:
            file.close()
            raise _explained(error, path) from None
        except BaseException:
            file.close()
            raise
        file.close()


async def lock_file_async(path: str) -> LockedFile:
    """The same, letting the event loop run; it asks again and again, since no thread is kept waiting that could not be
    called off."""
    pauses = _pauses()
    while True:
        file = LockedFile(path)
        try:
            while not _try_lock(file.fd):
                await asyncio.sleep(next(pauses))
            if file.is_current():
                return file
        except OSError as error:
            file.close()
            raise _explained(error, path) from None
        except BaseException:
            file.close()
            raise
        file.close()


def lock_paths(store: Any, scope: LockScope, keys: Sequence[str], family: str) -> list[str]:
    """The lock files that stand for some keys, in the order in which all take them.

    Parameters
    ----------
    store : Store
    scope : LockScope
    keys : sequence of str
        Below the node of the scope, or its own.
    family : "node" or "chunk"

    Returns
    -------
    list of str
        Empty where no other process can reach the data.

    Raises
    ------
    ValueError
        If the store has no place for lock files and the scope names none.
    """
    folder = lock_folder(store, scope)
    if folder is None:
        raise ValueError(
            f"{store} has no place for lock files beside its data, nor does it compare before it stores, so "
            "locking='process' needs a folder that all processes see: give "
            "synchronizer=zarr.ProcessSynchronizer(folder), or locking='process:<folder>'"
        )
    return [os.path.join(folder, name) for name in lock_names(scope, keys, family)] if folder else []


def lock_folder(store: Any, scope: LockScope) -> str | None:
    """Where the lock files of a scope lie; empty where no other process can reach the data, None where nothing can."""
    if scope.folder is not None:
        return scope.folder
    find = getattr(store, "lock_folder", None)
    found: str | None = None if find is None else find(scope.path)
    return found


def lock_names(scope: LockScope, keys: Sequence[str], family: str) -> list[str]:
    """What the locks are called that stand for some keys, in the order in which all take them."""
    if family == "node":
        return ["0.node"]
    # Keys count from the node: processes may have opened stores that begin at different folders.
    skip = len(scope.path) + 1 if scope.path else 0
    stripes = sorted({zlib.crc32(key[skip:].encode()) % STRIPES for key in keys})
    return [f"1.chunks.{stripe:02x}" for stripe in stripes]


def _before_fork() -> None:
    # With the guard held, no file is open that is not yet noted down.
    _guard.acquire()


def _after_fork_in_parent() -> None:
    _guard.release()


def _after_fork_in_child() -> None:
    """Close the files without unlocking them, for they are the parent's."""
    global _guard
    _guard = threading.RLock()
    for fd in _open:
        os.close(fd)
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
    )
