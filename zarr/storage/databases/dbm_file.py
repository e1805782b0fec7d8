"""One dbm file of this process, which all stores over it share; opened anew where what is open cannot be used."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_INHERITED: list[Any] = []
"""Files of a parent process: the parent writes them, and closing one here would write an old index."""

_FOR_ONE_THREAD: Final = "dbm.sqlite3"
"""The module whose files serve, and are closed by, no thread but the one that has opened them."""


class DBMFile:
    """An open dbm file: most dbm modules let nobody open one twice.

    Parameters
    ----------
    path : str
    opener : callable
        Takes the path, a flag and the options.
    read_only : bool
    options : dict
    """

    def __init__(self, path: str, opener: Callable[..., Any], read_only: bool, options: dict[str, Any]) -> None:
        self.pid = os.getpid()
        self.lock = threading.RLock()
        self.path = path
        self.read_only = read_only
        self._opener = opener
        self._options = options
        self._thread: int | None = None
        self._db: Any = None
        self._held = False

    def use(self, work: Callable[[Any], Any]) -> Any:
        """Return what ``work`` makes of the open file; threads take turns.

        Raises
        ------
        OSError
            If the file cannot be opened, or used.
        """
        with self.lock:
            db = self._db if self._thread in (None, threading.get_ident()) else None
            if db is not None:
                try:
                    return work(db)
                except Exception:
                    if db is self._db and _answers(db):
                        raise
                    self._forget(db)
            return self._use_anew(work)

    def _use_anew(self, work: Callable[[Any], Any]) -> Any:
        db = self._open()
        bound = type(db).__module__ == _FOR_ONE_THREAD
        stays = self._db is None and (not bound or threading.current_thread() is threading.main_thread())
        if stays:
            self._db, self._thread = db, threading.get_ident() if bound else None
        try:
            return work(db)
        finally:
            if not stays:
                db.close()

    def _open(self) -> Any:
        try:
            if not self.read_only:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
            return self._opener(self.path, "r" if self.read_only else "c", **self._options)
        except OSError:
            raise
        except Exception as error:  # each module has an error class of its own
            raise OSError(f"the dbm file {self.path} cannot be used: {error}") from error

    def make_writable(self) -> None:
        """Open the file again, for writing, when it is used next."""
        with self.lock:
            if self.read_only:
                self.read_only = False
                self._forget(self._db)

    def _forget(self, db: Any) -> None:
        if self._db is db:
            self._db = self._thread = None
        _close(db)

    def hold(self) -> list[Callable[[], None]]:
        """Leave the file open whatever finalizers there are; returns what closes it."""
        db = self._db  # without a lock: a thread that goes on to the end may be amid a call
        self._held = db is not None
        return [] if db is None else [db.close]

    def __del__(self) -> None:
        if self._db is not None and not self._held:
            if self.pid == os.getpid():
                self._forget(self._db)  # a finalizer that comes after this one finds it closed, and opens it again
            else:
                _INHERITED.append(self._db)


def _answers(db: Any) -> bool:
    """Whether an open file can be used at all: a finalizer may have closed it before another one comes to use it."""
    try:
        len(db)
    except Exception:
        return False
    return True


def _close(db: Any) -> None:
    if db is not None:
        with suppress(Exception):  # of another thread, or closed before: it goes when nobody holds it
            db.close()


# Reentrant: a finalizer may run, and open such a file, at any allocation.
_guard = threading.RLock()
_files: weakref.WeakValueDictionary[tuple[str, int], DBMFile] = weakref.WeakValueDictionary()


def dbm_file(path: str | Path, opener: Callable[..., Any], read_only: bool, options: dict[str, Any]) -> DBMFile:
    """The file of a path: the same object for all who ask for it while one of them holds it."""
    place = os.path.realpath(path)
    with _guard:
        known = _files.get((place, os.getpid()))
        if known is None:
            known = DBMFile(place, opener, read_only, options)
            _files[(place, os.getpid())] = known
        elif known.read_only and not read_only:
            known.make_writable()
        return known


def _after_fork() -> None:
    global _guard
    _guard = threading.RLock()
    _INHERITED.extend(_files.values())
    _files.clear()


class _Last:
    """Closes what is open when there is nobody left to use it; names of modules are no longer known then."""

    def __init__(self, closing: list[Callable[[], None]]) -> None:
        self._closing = closing

    def __del__(self) -> None:
        for close in self._closing:
            try:
                close()
            except Exception:
                pass


@atexit.register
def _hold_all() -> None:
    """Keep for finalizers what is open: not every module can open a file when nothing can be loaded any more.

    All that is forgotten at once is finalized in any order. The names of ``sys`` are forgotten last.
    """
    closing = [close for file in list(_files.values()) for close in file.hold()]
    if closing:
        vars(sys)["_open_dbm_files"] = _Last(closing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
