"""Synchronizers of zarr-python 2: they exclude simultaneous writers of one chunk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import quote

from zarr._lazy import hashlib
from zarr.chunks.spec import config_with
from zarr.errors import ZarrRuntimeWarning
from zarr.notices import warn
from zarr.runners.locks.processes import LockedFile, lock_file
from zarr.runners.locks.table import LOCKS

_LONGEST_NAME = 200


class KeyLock:
    """The lock of one key: a context manager, or ``acquire`` and ``release``.

    Parameters
    ----------
    name : str
        The name of the lock among the threads of this process.
    path : str, optional
        The file that other processes lock, too.
    """

    def __init__(self, name: str, path: str | None = None) -> None:
        self._name = name
        self._path = path
        self._file: LockedFile | None = None

    def acquire(self) -> bool:
        """Acquire the lock; wait until it is free."""
        LOCKS.acquire(self._name)
        if self._path is not None:
            try:
                self._file = lock_file(self._path)
            except BaseException:
                LOCKS.release(self._name)
                raise
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            self._file.close()
            self._file = None
        LOCKS.release(self._name)

    def __enter__(self) -> KeyLock:
        self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


class ThreadSynchronizer:
    """Keep threads of one process from writing the same chunk at once.

    Arrays always do that by themselves, so this changes nothing for an array. It is here for code written for
    zarr-python 2, and as a lock for your own use: ``with synchronizer[key]: ...``

    Examples
    --------
    >>> from zarr import ThreadSynchronizer
    >>> synchronizer = ThreadSynchronizer()
    >>> with synchronizer["a key"]:
    ...     pass
    """

    locking = "thread"

    def __getitem__(self, item: str) -> KeyLock:
        return KeyLock(f"synchronizer:{id(self)}/{item}")


class ProcessSynchronizer:
    """Keep processes (and threads) from writing the same chunk at once, by lock files in a folder.

    Give the same folder to all of them, preferably on a local disk. Locks of a dead process are free at once.

    Parameters
    ----------
    path : str or Path
        The folder; it is created when it is needed.

    Examples
    --------
    >>> from zarr import ProcessSynchronizer
    >>> import tempfile, zarr
    >>> synchronizer = ProcessSynchronizer(tempfile.mkdtemp())
    >>> array = zarr.open_array(tempfile.mkdtemp(), mode="w", shape=10, synchronizer=synchronizer)
    >>> array[2:5] = 1
    >>> with synchronizer["a key"]:
    ...     pass
    """

    def __init__(self, path: str | Path) -> None:
        self.path = os.path.abspath(path)

    @property
    def locking(self) -> str:
        """The value of ``locking`` for the configuration of an array."""
        return f"process:{self.path}"

    def __getitem__(self, item: str) -> KeyLock:
        name = quote(item, safe="")
        if len(name) > _LONGEST_NAME:
            name = hashlib.sha256(item.encode()).hexdigest()
        path = os.path.join(self.path, f"2.key.{name}")
        return KeyLock(f"file:{path}", path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessSynchronizer) and self.path == other.path

    def __hash__(self) -> int:
        return hash((type(self), self.path))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"


def is_known(synchronizer: Any) -> TypeGuard[ThreadSynchronizer | ProcessSynchronizer]:
    """Return True if a synchronizer is one of this library, whose locks are taken.

    Examples
    --------
    >>> is_known(ThreadSynchronizer()), is_known(object())
    (True, False)
    """
    return isinstance(synchronizer, ThreadSynchronizer | ProcessSynchronizer)


def locking_of(synchronizer: Any) -> str | None:
    """Return the ``locking`` of an array for a synchronizer; None, with a warning, for a foreign one.

    Examples
    --------
    >>> locking_of(ThreadSynchronizer())
    'thread'
    """
    if is_known(synchronizer):
        return synchronizer.locking
    if synchronizer is not None:
        warn(
            f"synchronizer of type {type(synchronizer).__name__} is not yet implemented and has no effect: give a "
            "zarr.ThreadSynchronizer or a zarr.ProcessSynchronizer",
            ZarrRuntimeWarning,
        )
    return None


def with_synchronizer(config: Any, synchronizer: Any) -> Any:
    """Return the configuration of an array with the locking of a synchronizer.

    Returns
    -------
    The configuration unchanged, or a dict.

    Examples
    --------
    >>> with_synchronizer({"order": "F"}, ThreadSynchronizer())
    {'order': 'F', 'locking': 'thread'}
    """
    locking = locking_of(synchronizer)
    return config if locking is None else config_with(config, locking=locking)
