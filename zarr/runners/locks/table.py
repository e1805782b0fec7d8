"""The table of locks on store keys, shared by threads and event-loop tasks of one process.

A lock belongs to an *operation*, not to a thread: an operation may begin in one thread and end in another, and an
event-loop task must be able to wait without blocking its loop. So each held key has a queue of waiters, threads and
tasks, and a release gives the key to the first of them. Keys that no operation holds cost
nothing: there is no table of idle locks.

Locks are acquired by generators that yield a :class:`Wait` if they must wait; :func:`wait` answers it in a thread,
:func:`wait_async` in an event loop.

A bulk write of whole values *claims* its keys all together, which costs the same for two keys and for a million: the
claim is noted, and a key of it is locked only when another operation wants it. Claims do not exclude each other: if two
whole values are stored at the same time, either may be the final one. If a key of a claim is already held, there is no
claim: the bulk write locks its keys one by one, in order. So an operation with a claim never waits.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import count, repeat
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from zarr._lazy import asyncio
from zarr._process import at_fork

T = TypeVar("T")

MAX_NAMED_KEYS: Final = 1 << 16
"""A claim of more keys than this covers every key of its array, without a list of names."""

MAX_READINGS: Final = 3
"""Number of tries to read a value that changes in parts, before its key is locked for reading."""

WATCH_SECONDS: Final = 0.02
"""Seconds between two checks of a thread that waits for a key: its operation may have been cancelled."""

LOOK_SECONDS: Final = 0.5
"""Seconds between two checks of a waiter that it is still in the queue of its key.

It is, unless Ctrl-C ended the call that was about to give it the key.
"""

_FIRST_PAUSE_SECONDS: Final = 0.0001
_LONGEST_PAUSE_SECONDS: Final = 0.01

GIL: Final = bool(getattr(sys, "_is_gil_enabled", lambda: True)())
"""True if only one thread runs at a time; if not, every change of the table is made under its guard."""

_NOTHING: Final = repeat(())


class _Guard:
    """A reentrant lock that is never left locked by Ctrl-C at the moment of its acquisition.

    Between the acquisition of a plain lock and the body of ``with``, Python looks for signals. With the GIL a guard is
    acquired only where two operations meet, so that does not matter; without it each operation acquires one.
    """

    def __init__(self) -> None:
        self._lock: Any = threading.RLock()

    def __enter__(self) -> None:
        depth = self._lock._recursion_count()
        try:
            self._lock.acquire()
        except BaseException:
            while self._lock._recursion_count() > depth:
                self._lock.release()
            raise

    # Looked up before the acquisition: a method of the lock itself has no place where a signal is seen before it.
    __exit__ = property(lambda self: self._lock.__exit__)

    def _is_owned(self) -> bool:
        return bool(self._lock._is_owned())


class CalledOff(BaseException):
    """Thrown into steps that run in a thread when the task that waits for them was cancelled."""


class Waiting(Protocol):
    """A wait that a lock generator yields."""

    def in_thread(self, called_off: threading.Event | None) -> None:
        """Block the thread until the wait is over; raise ``CalledOff`` if that event is set."""

    async def in_loop(self) -> None:
        """Let the event loop run until the wait is over."""


Waits: TypeAlias = Generator[Waiting, None, T]
"""A generator that acquires something, and yields while it must wait."""


def wait(
    waits: Waits[T], called_off: threading.Event | None = None, check: Callable[[Waiting], None] | None = None
) -> T:
    """Run a lock generator in this thread, and return its result.

    Parameters
    ----------
    waits : generator of waits
    called_off : threading.Event, optional
        Ends a wait with ``CalledOff`` when it is set.
    check : callable, optional
        Gets each wait before it begins, and raises an error if this thread must not wait for that.
    """
    try:
        while True:
            wanted = next(waits)
            if check is not None:
                check(wanted)
            wanted.in_thread(called_off)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        waits.close()


async def wait_async(waits: Waits[T], check: Callable[[Waiting], None] | None = None) -> T:
    """Run a lock generator while the event loop runs, and return its result; ``check`` is that of :func:`wait`."""
    try:
        while True:
            wanted = next(waits)
            if check is not None:
                check(wanted)
            await wanted.in_loop()
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        waits.close()


class Wait:
    """A wait for one key, until the key is granted. ``wake`` is called by the thread that releases the key."""

    __slots__ = ("gone", "granted", "name", "owner", "table", "wake")

    def __init__(self, table: LockTable, name: str, owner: int) -> None:
        self.table = table
        self.name = name
        self.owner = owner
        self.wake: Callable[[], object]
        self.granted = False
        self.gone = False

    def in_thread(self, called_off: threading.Event | None) -> None:
        """Block the thread until the key is granted."""
        event = threading.Event()
        self.wake = event.set
        seconds = LOOK_SECONDS if called_off is None else WATCH_SECONDS
        self.table.join(self)
        while not (self.granted or event.wait(seconds)):
            if called_off is not None and called_off.is_set():
                raise CalledOff
            self.table.join(self)

    async def in_loop(self) -> None:
        """Let the event loop run until the key is granted."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        self.wake = partial(loop.call_soon_threadsafe, wake)
        self.table.join(self)
        while not self.granted:
            await asyncio.wait((future,), timeout=LOOK_SECONDS)
            self.table.join(self)


class Polling:
    """A wait for a lock of another process: it tries again and again, with growing pauses.

    Parameters
    ----------
    ends : callable
        Tries to acquire the lock; returns True if the wait has ended.
    """

    def __init__(self, ends: Callable[[], bool]) -> None:
        self._ends = ends

    def _pauses(self) -> Iterator[float]:
        """Yield the seconds until the next try; if two processes meet again and again, one of them waits longer."""
        pause = _FIRST_PAUSE_SECONDS
        for turn in count(os.getpid() ^ threading.get_ident()):
            yield pause * (0.5 + (turn * 2654435761 >> 8) % 1024 / 1024)
            pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)

    def in_thread(self, called_off: threading.Event | None) -> None:
        """Block the thread until the wait has ended."""
        for pause in self._pauses():
            if called_off is None:
                time.sleep(pause)
            elif called_off.wait(pause):
                raise CalledOff
            if self._ends():
                return

    async def in_loop(self) -> None:
        """Let the event loop run until the wait has ended: a thread that waits could not be stopped."""
        for pause in self._pauses():
            await asyncio.sleep(pause)
            if self._ends():
                return


class Claim:
    """The keys of one bulk write of whole values.

    Parameters
    ----------
    stem : str
        The common beginning of the names of all these keys.
    count : int
        The number of keys.
    name_all : callable
        Returns all the names; called only if another operation needs a key with the same beginning.
    owner : int
        The thread of the operation; 0 for none.
    """

    __slots__ = ("_count", "_name_all", "_names", "_stem", "owner", "taken")

    def __init__(self, stem: str, count: int, name_all: Callable[[], Iterable[str]], owner: int = 0) -> None:
        self._stem = stem
        self._count = count
        self._name_all = name_all
        self._names: frozenset[str] | None = None
        self.owner = owner
        self.taken: list[str] = []

    def covers(self, name: str) -> bool:
        """Return True if a key belongs to the claim."""
        if not name.startswith(self._stem):
            return False
        if self._count > MAX_NAMED_KEYS:
            return True
        if self._names is None:
            self._names = frozenset(self._name_all())
        return name in self._names


class LockTable:
    """The held keys, and the waiters for each."""

    def __init__(self) -> None:
        self.reset()
        # Each number is used once: also if two threads release at the same time.
        self._numbers = count(1)
        self._last_change = 0

    def reset(self) -> None:
        """Reset the table in a forked child, where the holders of the parent do not exist."""
        # Reentrant: a finalizer may run, and use the library, at any allocation.
        self._guard: Any = threading.RLock() if GIL else _Guard()
        self.queues: dict[str, list[Any]] = {}
        """For each held key the thread of the operation that holds it (0: none), and all waiters."""
        self._claims: list[Claim] = []
        self.trees: dict[str, None] = {}
        """Names whose longer names are all locked (see :mod:`.operation`); each is held itself, too."""

    def __len__(self) -> int:
        return len(self.queues) + len(self._claims)

    def held(self) -> list[str]:
        """Return the names that are held now."""
        return list(self.queues)

    def is_held_by(self, owner: int, own: Callable[[str], bool]) -> bool:
        """Return True if a thread is inside an operation that holds keys, other than those that are ``own``."""
        if self._guard._is_owned():  # inside the table itself
            return True
        # Copies, and no lists of items: to make a tuple may run the collector, and with it a finalizer, or another
        # thread, that changes the table meanwhile.
        held = [name for name, queue in self.queues.copy().items() if queue[0] == owner]
        return any(claim.owner == owner for claim in list(self._claims)) or not all(map(own, held))

    def is_awaited_by(self, owner: int, wanted: Waiting) -> bool:
        """Return True if an operation of a thread is in the queue of a key that another one of it is about to join."""
        queue = self.queues.get(wanted.name, ()) if isinstance(wanted, Wait) else ()
        return any(waiter.owner == owner for waiter in tuple(queue)[1:])

    def try_acquire(self, name: str, owner: int = 0) -> bool:
        """Acquire the key if it is free."""
        mine = [owner]
        try:
            if not GIL:
                with self._guard:
                    return self._acquire_guarded(name, mine)
            if self.queues.setdefault(name, mine) is not mine:
                return False
            self._last_change = next(self._numbers)
            # First the key, then a check of the claims; a claim does it in the opposite order: one sees the other.
            if not self._claims:
                return True
            with self._guard:
                return not self._give_to_claim(name)
        except BaseException:  # Ctrl-C just when the key was acquired: it would never be released
            self._untake(name, mine)
            raise

    def _acquire_guarded(self, name: str, mine: list[Any]) -> bool:
        """Acquire the key under the guard, for the owner in ``mine``."""
        if self.queues.setdefault(name, mine) is not mine:
            return False
        self._last_change = next(self._numbers)
        return not self._give_to_claim(name)

    def _untake(self, name: str, mine: list[Any]) -> None:
        """Release a key that was just acquired, unless a claim has got it, which releases it at its end."""
        with self._guard:
            if self.queues.get(name) is not mine or any(name in claim.taken for claim in self._claims):
                return
        self.release(name)

    def _give_to_claim(self, name: str) -> bool:
        """Give a key that was just acquired to the claim that covers it, if there is one."""
        for claim in tuple(self._claims):
            if claim.covers(name):
                self.queues[name][0] = claim.owner
                claim.taken.append(name)
                return True
        return False

    def acquiring(self, name: str, owner: int = 0) -> Waits[None]:
        """Acquire the key: a generator that yields while it must wait."""
        if not self.try_acquire(name, owner):
            waiter = Wait(self, name, owner)
            try:
                yield waiter
            except BaseException:  # also if the generator is closed because the wait was given up
                self._give_up(waiter)
                raise

    def acquire(self, name: str, called_off: threading.Event | None = None) -> None:
        """Acquire the key, blocking the thread until it is free.

        Raises
        ------
        CalledOff
            If that event is set first.
        """
        wait(self.acquiring(name), called_off)

    def join(self, waiter: Wait) -> None:
        """Acquire the key for a waiter or put it in the queue, unless that is done."""
        name = waiter.name
        with self._guard:
            while not (waiter.granted or self.try_acquire(name, waiter.owner)):
                queue = self.queues.get(name)
                if queue is None:
                    continue
                if waiter not in queue:
                    queue.append(waiter)
                if self.queues.get(name) is queue:
                    return
                # The key was released in between, perhaps before the waiter was visible.
                try:
                    queue.remove(waiter)
                except ValueError:
                    return  # they have the key, and pass it on
            waiter.granted = True

    def claim(self, claim: Claim, own: Callable[[str], bool]) -> bool:
        """Record a claim, unless one of its keys is held, other than those that are ``own``."""
        if GIL:
            self._claims.append(claim)
            if not self.queues:
                return True
        with self._guard:
            if not GIL:
                self._claims.append(claim)
            held = [name for name in tuple(self.queues) if claim.covers(name) and name not in claim.taken]
        if all(own(name) for name in held):
            return True
        self.end_claim(claim)
        return False

    def end_claim(self, claim: Claim) -> None:
        """Remove a claim; its keys with waiters go to these, unless another claim covers them."""
        with self._guard:
            if claim in self._claims:  # not if Ctrl-C came before it was recorded, or after it was removed
                self._last_change = next(self._numbers)
                self._claims.remove(claim)
                claim.taken = [name for name in claim.taken if not self._give_to_claim(name)]
        self.release_all(claim.taken)

    def moment(self, name: str) -> int | None:
        """Return a number that changes when keys are acquired; None while this key is held.

        If it is the same before and after some reads of a value, the value has not been changed meanwhile.
        """
        if name in self.queues:
            return None
        if self._claims:
            with self._guard:
                if any(claim.covers(name) for claim in self._claims):
                    return None
        return self._last_change

    def release(self, name: str) -> None:
        """Release the key, or give it to the first waiter that can still be reached."""
        self.release_all([name])

    def release_all(self, names: list[str], left: int = 0) -> None:
        """Release keys, the last first, and remove each from the list, until a given number is left.

        Each is one step: Ctrl-C comes before or after it, a second call does the rest, and a waiter for a released key
        finds it by its next check.
        """
        both = map(self.queues.pop, iter(names.pop, None), _NOTHING)
        while len(names) > left:
            name = names[-1]
            if GIL:
                queue = next(both)
            else:
                with self._guard:
                    queue = next(both)
            if len(queue) > 1:
                self.grant(name, queue)

    def grant(self, name: str, queue: list[Any]) -> None:
        """Give a key that was just released to its first waiter."""
        while (waiter := self._next_in(name, queue)) is not None:
            try:
                waiter.wake()
            except RuntimeError:
                # The event loop of the waiter was closed: it cannot take the key, so the next waiter gets it.
                queue = self.queues.pop(name, [0])
                continue
            return

    def _next_in(self, name: str, queue: list[Any]) -> Wait | None:
        """Return the new holder of the key; None if there is no waiter, or the key has another holder already."""
        with self._guard:
            waiters = _reachable(queue)
            while waiters:
                mine: list[Any] = [0, *waiters]
                present = self.queues.setdefault(name, mine)
                if present is mine:
                    if self._claims and self._give_to_claim(name):
                        return None
                    self._last_change = next(self._numbers)
                    first: Wait = mine[1]
                    mine[0] = first.owner
                    first.granted = True
                    del mine[1]
                    return first
                present.extend(waiters)
                if self.queues.get(name) is present:
                    return None
                # It was released again, perhaps before the waiters were visible.
                waiters = _reachable(present)
            return None

    def _give_up(self, waiter: Wait) -> None:
        """Stop waiting; a key that was granted meanwhile goes to the next waiter."""
        with self._guard:
            waiter.gone = True
            if not waiter.granted:
                queue = self.queues.get(waiter.name)
                if queue is not None and waiter in queue:
                    queue.remove(waiter)
                return
        self.release(waiter.name)


def _reachable(queue: list[Any]) -> list[Wait]:
    """Remove closed waiters from a queue, and return the others."""
    found = [waiter for waiter in queue[1:] if not (waiter.gone or waiter.granted)]
    del queue[1:]
    return found


LOCKS = LockTable()
at_fork(renew=LOCKS.reset)
