"""Locks on store keys, shared by threads and event-loop tasks of one process.

A lock belongs to an *operation*, not to a thread: an operation may begin in one thread and end in another, and an
event-loop task must be able to wait without blocking its loop. So each held key has a queue of waiters, and the one
who lets go hands the key to the first of them, whether that is a thread or a task. Keys that nobody holds cost
nothing: there is no table of idle locks.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.runners.process_locks import LockedFile, lock_file, lock_file_async
from zarr.steps.requests import FAMILY_RANK

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")


class _Waiter:
    """One who waits for a key; ``wake`` is called by the thread that lets the key go."""

    __slots__ = ("granted", "wake")

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.granted = False


class LockTable:
    """Which keys are held, and who waits for each."""

    def __init__(self) -> None:
        # Reentrant: a finalizer may run, and use the library, at any allocation.
        self._guard = threading.RLock()
        self._queues: dict[str, deque[_Waiter]] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def try_acquire(self, name: str) -> bool:
        """Take the key if nobody holds it."""
        with self._guard:
            if name in self._queues:
                return False
            self._queues[name] = deque()
            return True

    def _join(self, name: str, waiter: _Waiter) -> bool:
        """Take the key or stand in its queue; True when taken."""
        with self._guard:
            queue = self._queues.get(name)
            if queue is None:
                self._queues[name] = deque()
                return True
            queue.append(waiter)
            return False

    def release(self, name: str) -> None:
        """Let the key go, or hand it to the first who waits and can still be reached."""
        while True:
            with self._guard:
                queue = self._queues.get(name)
                if queue is None:
                    return
                if not queue:
                    del self._queues[name]
                    return
                waiter = queue.popleft()
                waiter.granted = True
            try:
                waiter.wake()
            except RuntimeError:
                # The waiter's event loop was closed: nobody is there to take the key, so the next one gets it.
                continue
            return

    def _give_up(self, name: str, waiter: _Waiter) -> None:
        """The waiter stops waiting; a key that was handed over in the meantime goes on to the next."""
        with self._guard:
            if not waiter.granted:
                queue = self._queues.get(name)
                if queue is not None and waiter in queue:
                    queue.remove(waiter)
                return
        self.release(name)

    def acquire(self, name: str) -> None:
        """Take the key, blocking the thread until it is free."""
        if self.try_acquire(name):
            return
        event = threading.Event()
        waiter = _Waiter(event.set)
        if self._join(name, waiter):
            return
        try:
            event.wait()
        except BaseException:
            self._give_up(name, waiter)
            raise

    async def acquire_async(self, name: str) -> None:
        """Take the key, letting the event loop run until it is free."""
        if self.try_acquire(name):
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not future.done():
                future.set_result(None)

        def wake() -> None:
            loop.call_soon_threadsafe(settle)

        waiter = _Waiter(wake)
        if self._join(name, waiter):
            return
        try:
            await future
        except BaseException:
            self._give_up(name, waiter)
            raise

    def reset(self) -> None:
        """Forget everything; for a forked child, where the holders of the parent do not exist."""
        self._guard = threading.RLock()
        self._queues = {}


LOCKS = LockTable()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOCKS.reset)


class Holder:
    """The keys that one running generator holds, with those that are held above it.

    Everybody takes locks in one order, that of (family, name); so nobody can wait for somebody who waits for them.
    """

    __slots__ = ("_above", "_files", "_prefix", "_top", "_top_file", "names")

    def __init__(self, prefix: str, above: Holder | None = None) -> None:
        self._prefix = prefix
        self._above = above
        self._top: tuple[int, str] = (-1, "") if above is None else above._top
        self._top_file: str = "" if above is None else above._top_file
        self.names: list[str] = []
        self._files: list[LockedFile] = []

    def _holds(self, name: str) -> bool:
        holder: Holder | None = self
        while holder is not None:
            if name in holder.names:
                return True
            holder = holder._above
        return False

    def wanted(self, keys: Sequence[str], family: str) -> list[str]:
        """The names still to take, in the one order in which all take them.

        Raises
        ------
        RuntimeError
            If one of them comes before, in that order, a key that is held already: waiting for it could never end.
        """
        rank = FAMILY_RANK[family]
        prefix = self._prefix
        names = sorted([f"{family}:{prefix}/{key}" for key in set(keys)])
        names = [name for name in names if not self._holds(name)]
        if names:
            if (rank, names[0]) <= self._top:
                raise RuntimeError(
                    f"cannot hold {family} {keys[0]!r}: these hold {self._top[1]!r} already, which comes later in "
                    "the order of locks; take all keys in one Hold, nodes before chunks, or gather the first in steps "
                    "of their own"
                )
            self._top = (rank, names[-1])
        return names

    def wanted_files(self, paths: Sequence[str]) -> list[str]:
        """The lock files still to take, in the one order in which all take them.

        Raises
        ------
        RuntimeError
            If one of them comes before one that is held already.
        """
        paths = [path for path in paths if not self._holds(f"file:{path}")]
        if paths:
            if paths[0] <= self._top_file:
                raise RuntimeError(f"cannot lock {paths[0]}: {self._top_file}, which comes later, is locked already")
            self._top_file = paths[-1]
        return paths

    def acquire(self, keys: Sequence[str], family: str, files: Sequence[str] = ()) -> None:
        """Take the keys, and then the lock files that stand for them in all processes, blocking the thread."""
        for name in self.wanted(keys, family):
            LOCKS.acquire(name)
            self.names.append(name)
        for path in self.wanted_files(files) if files else ():
            # Threads of this process queue up here; one at a time asks the system.
            LOCKS.acquire(f"file:{path}")
            self.names.append(f"file:{path}")
            self._files.append(lock_file(path))

    async def acquire_async(self, keys: Sequence[str], family: str, files: Sequence[str] = ()) -> None:
        """Take the keys, and then the lock files, letting the event loop run."""
        for name in self.wanted(keys, family):
            await LOCKS.acquire_async(name)
            self.names.append(name)
        for path in self.wanted_files(files) if files else ():
            await LOCKS.acquire_async(f"file:{path}")
            self.names.append(f"file:{path}")
            self._files.append(await lock_file_async(path))

    def release(self) -> None:
        """Let all keys of this generator go, last first."""
        while self._files:
            self._files.pop().close()
        while self.names:
            LOCKS.release(self.names.pop())


def lock_prefix(store: Any) -> str:
    """The name under which the keys of a store are locked: equal for two objects that write to the same place.

    Parameters
    ----------
    store : Store

    Returns
    -------
    str
        What the store says of itself by ``lock_prefix``, else a name that is its own.

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> lock_prefix(LocalStore("/data/a")) == lock_prefix(LocalStore("/data/a", read_only=True))
    True
    """
    prefix = getattr(store, "lock_prefix", None)
    return prefix if isinstance(prefix, str) else f"object:{id(store)}"
