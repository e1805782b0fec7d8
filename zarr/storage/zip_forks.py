"""Zip files over forks: a child never finds a lock that a thread of its parent held."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final, Protocol

FORK_WAIT_SECONDS: Final = 5.0
"""How long a fork waits for what is under way in one archive."""


class Locked(Protocol):
    """An archive, as far as forks are concerned."""

    lock: threading.RLock

    def renew_locks(self) -> None: ...


_archives: weakref.WeakSet[Locked] = weakref.WeakSet()
_held: list[Locked] = []


def watch(archive: Locked) -> None:
    """Have an archive be idle when the process is forked, and usable in the child."""
    _archives.add(archive)


def _hold_all() -> None:
    _held.extend(archive for archive in list(_archives) if archive.lock.acquire(timeout=FORK_WAIT_SECONDS))


def _let_go_all() -> None:
    while _held:
        _held.pop().lock.release()


def _renew_all() -> None:
    _held.clear()
    for archive in list(_archives):
        archive.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_let_go_all, after_in_child=_renew_all)
