"""What archives over one file share; and forks: a child never finds a lock that a thread of its parent held."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Final, Protocol

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
    """What is known of a file, the same object for all who open it; one of its own for what has no path."""
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_let_go_all, after_in_child=_renew_all)
