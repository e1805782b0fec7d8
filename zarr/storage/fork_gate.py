"""A gate that keeps a process from being forked amid calls of a C library by other threads.

A lock that such a call holds inside the library at that moment would stay locked in the child for ever.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FORK_WAIT_SECONDS: Final = 5.0
"""How long a fork waits for calls of other threads to end."""


class ForkGate:
    """Calls go through side by side; a fork waits until they have ended, and lets none begin meanwhile."""

    def __init__(self) -> None:
        self._inside: dict[int, int] = {}
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._close, after_in_parent=self._open, after_in_child=self._renew)

    def _renew(self) -> None:
        me = threading.get_ident()
        self._condition = threading.Condition()
        self._closed = False
        self._inside = {thread: depth for thread, depth in self._inside.items() if thread == me}

    def _others(self) -> bool:
        me = threading.get_ident()
        return any(thread != me for thread in self._inside)

    def _close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.wait_for(lambda: not self._others(), FORK_WAIT_SECONDS)

    def _open(self) -> None:
        with self._condition:
            self._closed = False
            self._condition.notify_all()

    @contextmanager
    def call(self) -> Iterator[None]:
        """To be entered around each call; calls of one thread may lie within each other."""
        me = threading.get_ident()
        with self._condition:
            self._condition.wait_for(lambda: not self._closed or me in self._inside)
            self._inside[me] = self._inside.get(me, 0) + 1
        try:
            yield
        finally:
            with self._condition:
                self._inside[me] -= 1
                if not self._inside[me]:
                    del self._inside[me]
                    if self._closed:
                        self._condition.notify_all()
