"""Locks among processes: files beside the data that the operating system locks.

The system releases the locks of a dead process. A lock belongs to an open file and not to a process, so any thread can
take it, and a forked child closes inherited files: it would otherwise keep the locks of a dead parent.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import zlib
from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final, Self

from zarr._process import at_fork
from zarr.errors import label_of
from zarr.runners.locks import folders
from zarr.runners.locks.table import Polling, Waits, wait
from zarr.steps.requests import Hold, LockScope
from zarr.storage.keys import LOCKS_FOLDER, ancestors

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

STRIPES: Final = 64
"""Number of lock files that the chunks of an array share; two chunks with the same file wait for each other."""

_NODE: Final = "0.node"
_TREE: Final = "0.below"
"""The lock file of a node with all below it: exclusive for a removal, shared for changes below."""
TURN: Final = ".turn"
"""Held while waiting for such a file, so that a stream of changes does not keep a removal out for ever."""
_SHARES: Final = sys.platform != "win32"
"""True if a file can be locked in shared mode."""

_NO_LOCKS: Final = frozenset(
    getattr(errno, name) for name in ("ENOLCK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS") if hasattr(errno, name)
)

_NOT_OURS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_number_of = attrgetter("fd")
_guard = threading.RLock()
_open: dict[int, LockedFile] = {}


class LockPath(str):
    """The path of a lock file that stands for a node, or for a node with all below it.

    Parameters
    ----------
    path : str
    shared : bool
        If True, the lock is shared: it keeps out exclusive locks only.
    spare : bool
        If True, remove the folder of the node with the file if it is otherwise empty: then there is no such node.
    """

    shared: bool
    spare: bool

    def __new__(cls, path: str, shared: bool = False, spare: bool = False) -> Self:
        made = super().__new__(cls, path)
        made.shared, made.spare = shared, spare
        return made


class LockedFile:
    """An open lock file of this process; :func:`lock_file` returns it locked."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        with _guard:
            self.fd = _open_file(path)
            _open[self.fd] = self

    def close(self) -> None:
        """Close the file; do nothing in a forked child, where it is closed already."""
        with _guard:
            if _open.get(self.fd) is not self:
                return
            try:
                if isinstance(self.path, LockPath) and self.path.spare:
                    self._tidy()
                # Unlocked explicitly: a child that was forked without Python's knowledge may still have the file open.
                _unlock(self.fd)
            finally:
                # Forgotten and closed in one step: Ctrl-C comes before it or after it.
                next(map(os.close, map(_number_of, map(_open.pop, (self.fd,)))))

    def _tidy(self) -> None:
        """Remove the folder of the node if it has only lock files."""
        locks = os.path.dirname(self.path)
        node = os.path.dirname(locks)
        with contextlib.suppress(OSError):
            with os.scandir(node) as entries:
                if any(entry.name != LOCKS_FOLDER for entry in entries):
                    return
            if _lock_alone(self.fd) and self.is_current():
                for path in (self.path, self.path + TURN):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(path)
                os.rmdir(locks)
                os.rmdir(node)

    def is_current(self) -> bool:
        """Return True if the file still has its name: if it was removed, others lock a new file by that name."""
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
            # Try again if another process removes or replaces the folder, or the one above it, at the same time.
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                os.makedirs(os.path.dirname(path), exist_ok=True)
    return os.open(path, flags, 0o666)


if sys.platform == "win32":

    def _try_lock(fd: int, shared: bool = False) -> bool:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True

    def _lock_alone(fd: int) -> bool:
        return False  # an open file cannot be removed

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        except OSError:
            pass  # it was never locked: it only needs to be closed

else:

    def _try_lock(fd: int, shared: bool = False) -> bool:
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    _lock_alone = _try_lock

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


def _explained(error: OSError, path: str) -> OSError:
    """Return the error for a file system without locks, with advice."""
    if error.errno not in _NO_LOCKS:
        return error
    return OSError(
        error.errno,
        "the file system has no file locks: give a folder of one that has, by synchronizer=zarr.ProcessSynchronizer()",
        path,
    )


class _FileWait(Polling):
    """A wait for a file that another process has locked; it ends when the file is locked here."""

    def __init__(self, fd: int, shared: bool) -> None:
        super().__init__(partial(_try_lock, fd, shared))
        self._fd, self._shared = fd, shared

    def in_thread(self, called_off: threading.Event | None) -> None:
        """Block the thread until the file is locked; a wait that may be called off tries again and again."""
        if sys.platform != "win32" and called_off is None:
            fcntl.flock(self._fd, fcntl.LOCK_SH if self._shared else fcntl.LOCK_EX)
        else:
            super().in_thread(called_off)


def locking(path: str) -> Waits[LockedFile]:
    """Lock a file: a generator that yields while another process has it locked, and returns the file.

    Parameters
    ----------
    path : str
        The file and its folders are created if they are missing. A :class:`LockPath` may have a shared lock.

    Raises
    ------
    OSError
        If the file cannot be created, or its file system has no locks.
    """
    shared = is_shared(path)
    while True:
        file = LockedFile(path)
        try:
            if not _try_lock(file.fd, shared):
                yield _FileWait(file.fd, shared)
            if file.is_current():
                return file
        except OSError as error:
            file.close()
            raise _explained(error, path) from None
        except BaseException:
            file.close()
            raise
        file.close()


def lock_file(path: str) -> LockedFile:
    """Lock a file, blocking the thread until no other process has it locked; ``close`` releases it.

    Examples
    --------
    >>> import tempfile
    >>> lock_file(tempfile.mkdtemp() + "/name").close()
    """
    return wait(locking(path))


def is_shared(path: str) -> bool:
    """Return True if a lock file has a shared lock."""
    return bool(getattr(path, "shared", False))


def is_tree(path: str) -> bool:
    """Return True if a lock file stands for a node with all below it; these are locked before all others."""
    return path.endswith(_TREE)


def locking_tree(path: str) -> Waits[list[LockedFile]]:
    """Lock the file of a node with all below it, in turn; return None if the folder above a node is not writable."""
    try:
        turn = yield from locking(path + TURN)
    except OSError as error:
        if is_shared(path) and error.errno in _NOT_OURS:
            return []
        raise
    try:
        return [(yield from locking(path))]
    finally:
        turn.close()


def _node_paths(store: Any, scope: LockScope, below: Sequence[str]) -> list[str]:
    """Return the lock files of nodes, and of all nodes above them; for removed nodes, those with all below them."""

    def named(path: str, name: str, shared: bool = False) -> LockPath:
        folder = store.lock_folder(path)
        return LockPath(os.path.join(folder, name), shared, bool(path) and folder.endswith(LOCKS_FOLDER))

    nodes = {scope.path, *below}
    found = [named(path, _NODE) for path in nodes]
    if _SHARES:
        found += [named(path, _TREE, shared=True) for path in {above for node in nodes for above in ancestors(node)}]
        found += [named(path, _TREE) for path in below]
    return in_order(found)


def lock_paths(
    store: Any, scope: LockScope, keys: Sequence[str], family: str, below: Sequence[str] = ()
) -> Sequence[str]:
    """Return the lock files, or the names in folders, that stand for some keys, in the order of all processes.

    Parameters
    ----------
    store : Store
    scope : LockScope
    keys : sequence of str
        Keys below the node of the scope, or of the node itself.
    family : "node" or "chunk"
    below : sequence of str
        Nodes that are removed with all below them.

    Returns
    -------
    sequence of str
        Empty if no other process can reach the data, or none is kept out by default.

    Raises
    ------
    ValueError
        If the store has no place for lock files and the scope has none.
    """
    if scope.folder is None and (root := folders.root_of(store, getattr(store, "lock_prefix", ""))):
        return folders.places(root, scope, keys, family, below)
    if not scope.required:
        return []
    folder = lock_folder(store, scope)
    if folder is None:
        raise ValueError(
            f"{label_of(store, str)} has no place for lock files beside its data, nor does it compare before it "
            "stores, so locking='process' needs a folder that all processes see: give "
            "synchronizer=zarr.ProcessSynchronizer(folder), or locking='process:<folder>'"
        )
    if family == "node" and folder and scope.folder is None:
        return _node_paths(store, scope, below)
    # Nodes in the same folder share one file; so do all nodes below them.
    return [os.path.join(folder, name) for name in lock_names(scope, keys, family)] if folder else []


def in_order(paths: Iterable[str]) -> list[str]:
    """Sort lock files into the order in which all processes acquire them, each once: exclusive, if one is exclusive.

    Examples
    --------
    >>> in_order([LockPath("a/0.node"), LockPath("b/0.below", shared=True), LockPath("b/0.below")])
    ['b/0.below', 'a/0.node']
    """
    found: dict[str, str] = {}
    for path in paths:
        if path not in found or not is_shared(path):
            found.pop(path, None)
            found[path] = path
    return sorted(found.values(), key=lambda path: (not is_tree(path), path))


def paths_of(store: Any, request: Hold) -> Sequence[str]:
    """Return the lock files of a request with a scope."""
    assert request.scope is not None
    return lock_paths(store, request.scope, request.keys, request.family, request.below)


def lock_folder(store: Any, scope: LockScope) -> str | None:
    """Return the folder of the lock files of a scope; empty: no other process reaches the data; None: no folder."""
    note = getattr(store, "note_locking", None)
    if note is not None:
        note(scope.path, scope.folder)  # a transaction: it locks when it is stored
        return ""
    if scope.folder is not None:
        return scope.folder
    find = getattr(store, "lock_folder", None)
    found: str | None = None if find is None else find(scope.path)
    return found


def lock_names(scope: LockScope, keys: Sequence[str], family: str) -> list[str]:
    """Return the names of the locks that stand for some keys, in the order in which all processes acquire them."""
    if family == "node":
        return [_NODE]
    # Keys are relative to the node: processes may have opened stores at different folders.
    skip = len(scope.path) + 1 if scope.path else 0
    stripes = sorted({zlib.crc32(key[skip:].encode()) % STRIPES for key in keys})
    return [f"1.chunks.{stripe:02x}" for stripe in stripes]


def _close_in_child() -> None:
    """Close the files without unlocking them: the locks belong to the parent."""
    for fd in _open:
        os.close(fd)
    _open.clear()
    _guard.release()


# While the guard is held, every open file is in the table.
at_fork(_guard.acquire, _guard.release, _close_in_child)
