"""A gate that keeps a process from being forked amid calls of a C library by other threads.

A lock that such a call holds inside the library at that moment would stay locked in the child for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from zarr._process import at_fork

FORK_WAIT_SECONDS: Final = 5.0
"""How long a fork waits for calls of other threads to end."""


class ForkGate:
    """Calls go through side by side; a fork waits until they have ended, and lets none begin meanwhile."""

    def __init__(self) -> None:
        self._inside: dict[object, int] = {}
        """The calls under way, and their threads."""
        self._renew()
        at_fork(self._close, self._open, self._renew)

    def _renew(self) -> None:
        me = threading.get_ident()
        # Taken by itself and not by the condition, whose methods are Python: Ctrl-C could come before they let go.
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._closed = False
        self._inside = {call: thread for call, thread in self._inside.items() if thread == me}

    def _others(self) -> bool:
        me = threading.get_ident()
        return any(thread != me for thread in list(self._inside.values()))

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            self._condition.wait_for(lambda: not self._others(), FORK_WAIT_SECONDS)

    def _open(self) -> None:
        with self._lock:
            self._closed = False
            self._condition.notify_all()

    @contextmanager
    def call(self) -> Iterator[None]:
        """To be entered around each call; calls of one thread may lie within each other."""
        me, mine = threading.get_ident(), object()
        try:
            with self._lock:
                self._condition.wait_for(lambda: not self._closed or me in self._inside.values())
                self._inside[mine] = me
            yield
        finally:
            self._inside.pop(mine, None)  # first, and in one step, whenever Ctrl-C comes
            if self._closed:
                with self._lock:
                    self._condition.notify_all()
