"""Locks among processes on local file systems: names in existing folders, so that no lock files are left.

A chunk is a name in the folder of its array. A node is a name in the folder above its own. ``docs/design/locks.md``
describes how the system keeps the locks.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final, Self, TypeAlias
from weakref import WeakSet, WeakValueDictionary

import zarr_core
from zarr._process import at_fork, living
from zarr.logs import loggers
from zarr.runners.locks.table import Polling, Waits, wait
from zarr.steps.requests import LockScope
from zarr.storage.keys import ancestors

MAX_OPEN: Final = 128
"""Number of folders that are kept open for the next lock in them."""

_MAX_TRUSTED: Final = 4096

MAX_NAMED: Final = 64
"""Maximum number of chunks that are locked one by one; above it the whole array is locked, at the price of one lock."""

HELD, BUSY = 0, 1
"""Results of ``zarr_core.FolderLock.try_acquire``; see there."""

_NO_FOLDER: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_NO_LOCKS: Final = _NO_FOLDER | {
    errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP,
}  # fmt: skip

Names: TypeAlias = "tuple[str, ...] | Callable[[], Sequence[str]] | None"

_guard = threading.RLock()
_open: dict[str, zarr_core.Folder] = {}
# Also folders that are no longer in the table: a forked child closes them all.
_living: WeakSet[zarr_core.Folder] = WeakSet()
_by_identity: WeakValueDictionary[tuple[int, int], zarr_core.Folder] = WeakValueDictionary()
_trusted: dict[str, bool] = {}
_apart: set[str] = set()
"""Roots that are locked in their own folders, not in those above."""
_without: set[str] = set()


class _Database(str):
    """The root of a store in one database: all its keys are names in one folder.

    Parameters
    ----------
    prefix : str
        The ``lock_prefix`` of the store.
    folder : str
    """

    __slots__ = ("beginning", "folder")

    folder: str
    beginning: str
    """The beginning of its names: other databases may lie in the folder."""

    def __new__(cls, prefix: str, folder: str) -> Self:
        made = super().__new__(cls, prefix)
        made.folder, made.beginning = folder, f"{prefix.rpartition('/')[2]}/"
        return made


class Place(str):
    """A lock on names in a folder, as text that sorts in the order in which all processes acquire locks.

    Parameters
    ----------
    text : str
        Nodes first, then chunks, then by path.
    folder : str
    names : tuple of str, callable or None
        The names to lock, or a function that returns them; None: all names of the folder.
    shared : bool, default False
        If True, the lock is shared: it keeps out exclusive locks only.
    required : bool, default False
        If True, a file system without locks is an error.
    """

    __slots__ = ("folder", "names", "required", "shared")

    folder: str
    names: Names
    shared: bool
    required: bool


def root_of(store: Any, prefix: str) -> str:
    """Return the root of a store, by which processes find the folders in which they lock names; empty if they do not.

    Parameters
    ----------
    store : Store
        With folders of its own (``locks_folders``), or in a database that lies in one (``locked_in``).
    prefix : str
        Its ``lock_prefix``.
    """
    if sys.platform != "linux":
        return ""
    if getattr(store, "locks_folders", False):
        root = prefix.removeprefix("file:")
        return root if _is_trusted(root) else ""
    folder: str | None = getattr(store, "locked_in", None)
    return _Database(prefix, folder) if folder and _is_trusted(folder) else ""


def _is_trusted(root: str) -> bool:
    """Return True if the file system of a folder is known to keep locks."""
    trusted = _trusted.get(root)
    if trusted is None:
        if len(_trusted) >= _MAX_TRUSTED:
            _trusted.clear()
        trusted = zarr_core.trusts_locks(root)
        # Before other threads find the root among those that are trusted.
        (_apart.add if trusted and _is_apart(root) else _apart.discard)(root)
        _node_name.cache_clear()
        _trusted[root] = trusted
    return trusted


def _is_apart(root: str) -> bool:
    """Return True if processes may see different folders above a root, or none: a mount point, a foreign folder."""
    above = root.rpartition("/")[0] or "/"
    try:
        return os.stat(root).st_dev != os.stat(above).st_dev or not os.access(above, os.R_OK)
    except OSError:
        return False


def places(
    root: str, scope: LockScope, keys: Sequence[str], family: str, below: Sequence[str] = ()
) -> list[Place]:
    """Return the locks of some keys, in the order in which all processes acquire them.

    Parameters
    ----------
    root : str
        The folder of the store.
    scope : LockScope
    keys : sequence of str
        Keys below the node of the scope, or of the node itself.
    family : "node" or "chunk"
    below : sequence of str
        Nodes that are removed with all below them; changes below them are kept out if locks are required.
    """
    if family == "node" and not scope.required and (not below or {*below} == {scope.path}):
        return [_node_place(root, scope.path)]
    if family == "chunk" and len(keys) > MAX_NAMED:
        return [array_place(root, scope)]
    if family == "chunk":
        return sorted(chunk_place(root, scope, key) for key in set(keys))
    found = [_node_place(root, path, "node", scope.required) for path in {scope.path, *below}]
    if scope.required:
        above = {stem for node in (scope.path, *below) for stem in ancestors(node)} - set(below)
        found += [_node_place(root, path, "below", True, shared=True) for path in above]
        found += [_node_place(root, path, "below", True) for path in below]
    return sorted(found)


@lru_cache(256)
def _node_name(root: str, path: str, kind: str) -> tuple[str, str, str]:
    """Return the folder in which a node is locked, its name there, and the text of its place."""
    above, _, name = (f"{root}/{path}" if path else root).rpartition("/")
    if type(root) is _Database:
        above, name = root.folder, root.beginning + path
    elif not path and root in _apart:
        above, name = root, "."
    # All nodes below a node come before all nodes.
    return above or "/", f"{kind}:{name}", f"{'.' if kind == 'below' else 0}:{root}/{path}"


def _node_place(
    root: str, path: str, kind: str = "node", required: bool = False, *, shared: bool = False
) -> Place:
    folder, name, text = _node_name(root, path, kind)
    place = Place(text)
    place.folder, place.names, place.shared, place.required = folder, (name,), shared, required
    return place


def _chunk_name(root: str, path: str, key: str) -> tuple[str, str]:
    """Return the folder in which a chunk of an array is locked, and its name there."""
    if type(root) is _Database:
        return root.folder, root.beginning + key
    return (f"{root}/{path}", key[len(path) + 1 :]) if path else (root, key)


def chunk_place(root: str, scope: LockScope, key: str) -> Place:
    """Return the lock of a chunk."""
    place = Place(f"1:{root}/{key}")
    place.folder, name = _chunk_name(root, scope.path, key)
    place.names, place.shared, place.required = (name,), False, scope.required
    return place


def array_place(root: str, scope: LockScope, keys: Callable[[], Sequence[str]] | None = None) -> Place:
    """Return the exclusive lock of all chunks of an array; or the shared lock of many chunks that are written whole.

    For an array in a database the exclusive lock is one of all names in the folder.

    Parameters
    ----------
    root : str
    scope : LockScope
    keys : callable, optional
        Returns the keys of the chunks that are written whole.
    """
    place, path = Place(f"1:{root}/{scope.path}/"), scope.path
    beginning = ""
    if type(root) is _Database:
        place.folder, beginning, skip = root.folder, root.beginning, 0
    else:
        place.folder, skip = (f"{root}/{path}", len(path) + 1) if path else (root, 0)
    place.names = None if keys is None else lambda: [beginning + key[skip:] for key in keys()]
    place.shared, place.required = keys is not None, scope.required
    return place


def _opened(path: str) -> zarr_core.Folder:
    folder = _open.get(path)
    if folder is not None and folder.fd >= 0:
        return folder
    with _guard:
        while len(_open) >= MAX_OPEN:
            # It is closed when its last lock is released.
            _open.pop(next(iter(_open)), None)
        folder = zarr_core.Folder(path)
        # A folder that a lock keeps open is used again: the lock would exclude a second descriptor.
        known = _by_identity.get(folder.identity)
        if known is not None and known.fd >= 0:
            folder.close()
            folder = known
        else:
            _by_identity[folder.identity] = folder
            _living.add(folder)
        _open[path] = folder
    return folder


def try_key(
    root: str, scope: LockScope, key: str, family: str, below: Sequence[str] = ()
) -> zarr_core.FolderLock | None:
    """Lock one of the places of :func:`places` without making it, if it is the only one and free; else return None."""
    path = scope.path
    if family == "chunk":
        folder, name = _chunk_name(root, path, key)
        return zarr_core.try_lock(_open, folder, name, f"1:{root}/{key}")
    if below and below[0] != path:
        return None
    folder, name, text = _node_name(root, path, "node")
    return zarr_core.try_lock(_open, folder, name, text)


def _forget(folder: zarr_core.Folder) -> None:
    """Forget a folder whose path now names another folder."""
    for path in [path for path, known in _open.items() if known is folder]:
        del _open[path]
    if _by_identity.get(folder.identity) is folder:
        del _by_identity[folder.identity]


def lock_place(place: Place, called_off: threading.Event | None = None) -> zarr_core.FolderLock | None:
    """Lock a place, blocking the thread; return None if there is no folder or no lock."""
    return wait(locking(place), called_off)


def _nearest(place: Place) -> tuple[zarr_core.Folder, Names]:
    """Return the folder of a place and its names; for a node that lies deeper, the nearest existing folder.

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


def _is_decided(lock: zarr_core.FolderLock) -> bool:
    """Return True if a lock is held now, or must be made anew."""
    return lock.try_acquire() != BUSY


def locking(place: Place) -> Waits[zarr_core.FolderLock | None]:
    """Lock a place: a generator that yields while another process has it, and returns the lock.

    Returns
    -------
    FolderLock or None
        None if the folder does not exist, cannot be opened, or its file system has no locks.

    Raises
    ------
    OSError
        If locks are required and there are none, or the process has no free descriptor.
    """
    while True:
        try:
            folder, names = _nearest(place)
            lock = zarr_core.FolderLock(folder, names, place.shared, place)
            try:
                state = lock.try_acquire()
                while state == BUSY:
                    yield Polling(partial(_is_decided, lock))
                    state = lock.try_acquire()
            except BaseException:  # also if the wait is given up
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
        f"{error.strerror}: locks among processes are required (locking='process'), and this folder has none: give "
        "a folder of another file system, by synchronizer=zarr.ProcessSynchronizer(folder)",
        error.filename,
    )


def _close_in_child() -> None:
    """Close the folders without releasing their locks, which belong to the parent."""
    for folder in living(_living.__iter__):
        folder.close()
    _living.clear()
    _by_identity.clear()
    _open.clear()
    _guard.release()


# While the guard is held, every open folder is in the table.
at_fork(_guard.acquire, _guard.release, _close_in_child)
