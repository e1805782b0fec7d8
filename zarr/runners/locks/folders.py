"""Locks among processes on local file systems: names in folders that are there anyway, so nothing is left behind.

A chunk is a name in the folder of its array. A node is a name in the folder above its own. ``docs/design/locks.md``
says how the system keeps them.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakSet, WeakValueDictionary

import zarr_core
from zarr._lazy import LazyModule
from zarr._process import at_fork
from zarr.logs import loggers
from zarr.runners.locks.table import CalledOff, Waits, wait

if TYPE_CHECKING:
    import asyncio

    from zarr.steps.requests import LockScope
else:
    asyncio = LazyModule("asyncio")

MAX_OPEN: Final = 128
"""The number of folders that are kept open for the next lock in them."""

_MAX_TRUSTED: Final = 4096

MAX_NAMED: Final = 64
"""The largest number of chunks that are locked one by one; above it all of the array is locked, at the cost of one."""

HELD, BUSY = 0, 1
"""Results of ``zarr_core.FolderLock.try_acquire``; see there."""

_FIRST_PAUSE_SECONDS: Final = 0.0001
_LONGEST_PAUSE_SECONDS: Final = 0.01
_NO_FOLDER: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_NO_LOCKS: Final = _NO_FOLDER | {
    errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP,
}  # fmt: skip

Names: TypeAlias = "tuple[str, ...] | Callable[[], Sequence[str]] | None"

_guard = threading.RLock()
_open: dict[str, zarr_core.Folder] = {}
# Also those that are not in the table any more: a forked child closes them all.
_living: WeakSet[zarr_core.Folder] = WeakSet()
_by_identity: WeakValueDictionary[tuple[int, int], zarr_core.Folder] = WeakValueDictionary()
_trusted: dict[str, bool] = {}
_apart: set[str] = set()
"""Roots that are locked in their own folders, not in those above."""
_without: set[str] = set()


class Place(str):
    """A lock on names in a folder, as text that sorts in the order in which all acquire such locks.

    Parameters
    ----------
    text : str
        Nodes first, then chunks, then by path.
    folder : str
    names : tuple of str, callable or None
        The names to lock, or what returns them; None: all names of the folder.
    shared : bool, default False
        Whether several lock the names together, so that nobody locks them alone.
    required : bool, default False
        Whether it is an error where the file system keeps no locks.
    """

    folder: str
    names: Names
    shared: bool = False
    required: bool = False


def root_of(store: Any, prefix: str) -> str:
    """Return the folder of a store in which processes lock names; empty where they do not.

    Parameters
    ----------
    store : Store
    prefix : str
        Its ``lock_prefix``.
    """
    if sys.platform != "linux" or not getattr(store, "locks_folders", False):
        return ""
    root = prefix.removeprefix("file:")
    if root not in _trusted:
        if len(_trusted) >= _MAX_TRUSTED:
            _trusted.clear()
            _apart.clear()
        _trusted[root] = zarr_core.trusts_locks(root)
        if _trusted[root] and _is_apart(root):
            _apart.add(root)
    return root if _trusted[root] else ""


def _is_apart(root: str) -> bool:
    """Return whether processes may see different folders above a root, or none: where it is mounted, or not ours."""
    above = root.rpartition("/")[0] or "/"
    try:
        return os.stat(root).st_dev != os.stat(above).st_dev or not os.access(above, os.R_OK)
    except OSError:
        return False


def places(
    root: str, scope: LockScope, keys: Sequence[str], family: str, below: Sequence[str] = ()
) -> list[Place]:
    """Return the locks of some keys, in the order in which all acquire them.

    Parameters
    ----------
    root : str
        The folder of the store.
    scope : LockScope
    keys : sequence of str
        Below the node of the scope, or its own.
    family : "node" or "chunk"
    below : sequence of str
        Nodes that are removed with all below them; kept apart from changes below them where locks are required.
    """
    if family == "node" and not scope.required and not {*below} - {scope.path}:
        return [_node_place(root, scope.path)]
    if family == "chunk" and len(keys) > MAX_NAMED:
        return [array_place(root, scope)]
    if family == "chunk":
        return sorted(chunk_place(root, scope, key) for key in set(keys))
    found = [_node_place(root, path, "node", scope.required) for path in {scope.path, *below}]
    if scope.required:
        above = {stem for node in (scope.path, *below) for stem in _ancestors(node)} - set(below)
        found += [_node_place(root, path, "below", True, shared=True) for path in above]
        found += [_node_place(root, path, "below", True) for path in below]
    return sorted(found)


def _node_place(
    root: str, path: str, kind: str = "node", required: bool = False, *, shared: bool = False
) -> Place:
    above, _, name = (f"{root}/{path}" if path else root).rpartition("/")
    if not path and root in _apart:
        above, name = root, "."
    place = Place(f"{'.' if kind == 'below' else 0}:{root}/{path}")  # all below a node comes before all nodes
    place.folder, place.names, place.shared, place.required = above or "/", (f"{kind}:{name}",), shared, required
    return place


def chunk_place(root: str, scope: LockScope, key: str) -> Place:
    """Return the lock of a chunk."""
    place, path = Place(f"1:{root}/{key}"), scope.path
    place.folder, place.names = (f"{root}/{path}", (key[len(path) + 1 :],)) if path else (root, (key,))
    place.required = scope.required
    return place


def array_place(root: str, scope: LockScope, keys: Callable[[], Sequence[str]] | None = None) -> Place:
    """Return the lock of all chunks of an array, alone; or of many that are written whole, shared.

    Parameters
    ----------
    root : str
    scope : LockScope
    keys : callable, optional
        Returns the keys of those that are written whole.
    """
    place, path = Place(f"1:{root}/{scope.path}/"), scope.path
    place.folder, skip = (f"{root}/{path}", len(path) + 1) if path else (root, 0)
    place.names = None if keys is None else lambda: [key[skip:] for key in keys()]
    place.shared, place.required = keys is not None, scope.required
    return place


def _ancestors(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path


def _opened(path: str) -> zarr_core.Folder:
    folder = _open.get(path)
    if folder is not None and folder.fd >= 0:
        return folder
    with _guard:
        while len(_open) >= MAX_OPEN:
            # It is closed when the last lock in it goes.
            _open.pop(next(iter(_open)), None)
        folder = zarr_core.Folder(path)
        # One that a lock keeps open is used again: another descriptor would be kept out by it.
        known = _by_identity.get(folder.identity)
        if known is not None and known.fd >= 0:
            folder.close()
            folder = known
        else:
            _by_identity[folder.identity] = folder
            _living.add(folder)
        _open[path] = folder
    return folder


def try_lock(place: str) -> zarr_core.FolderLock | None:
    """Lock a place whose folder is open, if nobody is in the way; else None."""
    if not isinstance(place, Place) or (folder := _open.get(place.folder)) is None:
        return None
    lock = zarr_core.FolderLock(folder, place.names, place.shared, place)
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


def _forget(folder: zarr_core.Folder) -> None:
    """Forget a folder whose path names another one by now."""
    for path in [path for path, known in _open.items() if known is folder]:
        del _open[path]
    if _by_identity.get(folder.identity) is folder:
        del _by_identity[folder.identity]


def lock_place(place: Place, called_off: threading.Event | None = None) -> zarr_core.FolderLock | None:
    """Lock a place, blocking the thread; None where there is nothing to lock, or no lock."""
    return wait(locking(place), called_off)


def _nearest(place: Place) -> tuple[zarr_core.Folder, Names]:
    """Return the folder of a place and the names there; of a node that lies deeper, the nearest folder that is there.

    Raises
    ------
    OSError
    """
    path, names = place.folder, place.names
    while True:
        try:
            return _opened(path), names
        except OSError as error:
            if error.errno not in _NO_FOLDER or not place.startswith(("0", ".")) or path == "/":
                raise
        assert isinstance(names, tuple)
        kind, _, rest = names[0].partition(":")
        path, _, last = path.rpartition("/")
        path, names = path or "/", (f"{kind}:{last}/{rest}",)


def locking(place: Place) -> Waits[zarr_core.FolderLock | None]:
    """Lock a place: a generator that yields where another process has it, and returns the lock.

    Parameters
    ----------
    place : Place

    Returns
    -------
    FolderLock or None
        None where the folder is not there, or is not ours to open, or its file system keeps no locks.

    Raises
    ------
    OSError
        If locks are required and there are none, or the process has no descriptor left.
    """
    while True:
        try:
            folder, names = _nearest(place)
            lock = zarr_core.FolderLock(folder, names, place.shared, place)
            try:
                state = lock.try_acquire()
                while state == BUSY:
                    yield _FolderWait(lock)
                    state = lock.try_acquire()
            except BaseException:  # also where the wait is given up
                lock.close()
                raise
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            if place.required and error.errno not in _NO_FOLDER:
                raise _explained(error) from None
            _note(place.folder, error)
            return None
        if state == HELD:
            return lock
        with _guard:
            _forget(folder)


def _note(folder: str, error: OSError) -> None:
    """Log once for each folder that processes are not kept apart in it."""
    if error.errno not in _NO_FOLDER and folder not in _without:
        _without.add(folder)
        loggers()[2].getChild("locks").warning(
            "%s cannot be locked (%s): writers in other processes are not kept out", folder, error.strerror
        )


def _explained(error: OSError) -> OSError:
    return OSError(
        error.errno,
        f"{error.strerror}: locks among processes were asked for (locking='process'), and this folder has none: give "
        "a folder of another file system, by synchronizer=zarr.ProcessSynchronizer(folder)",
        error.filename,
    )


def _pauses() -> Iterator[float]:
    """Yield how long to sleep before the next try; of two who meet again and again one sleeps longer."""
    pause = _FIRST_PAUSE_SECONDS
    for turn in count(os.getpid() ^ threading.get_ident()):
        yield pause * (0.5 + (turn * 2654435761 >> 8) % 1024 / 1024)
        pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)


class _FolderWait:
    """A wait for a name that another process has locked."""

    def __init__(self, lock: zarr_core.FolderLock) -> None:
        self._lock = lock

    def in_thread(self, called_off: threading.Event | None) -> None:
        """Block the thread until the lock is held, or has to be made anew."""
        for pause in _pauses():
            if called_off is None:
                time.sleep(pause)
            elif called_off.wait(pause):
                raise CalledOff
            if self._lock.try_acquire() != BUSY:
                return

    async def in_loop(self) -> None:
        """Let the event loop run until the lock is held, or has to be made anew."""
        for pause in _pauses():
            await asyncio.sleep(pause)
            if self._lock.try_acquire() != BUSY:
                return


def _before_fork() -> None:
    # With the guard held, no folder is open that is not yet noted down.
    _guard.acquire()


def _after_fork_in_parent() -> None:
    _guard.release()


def _close_in_child() -> None:
    """Close the folders without releasing what is locked in them: the locks are the parent's."""
    global _guard
    _guard = threading.RLock()
    for folder in list(_living):
        folder.close()
    _living.clear()
    _by_identity.clear()
    _open.clear()


at_fork(_before_fork, _after_fork_in_parent, _close_in_child)
