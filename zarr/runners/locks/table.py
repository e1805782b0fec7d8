"""The table of locks on store keys, shared by threads and event-loop tasks of one process.

A lock belongs to an *operation*, not to a thread: an operation may begin in one thread and end in another, and an
event-loop task must be able to wait without blocking its loop. So each held key has a queue of waiters, and the one
who lets go hands the key to the first of them, whether that is a thread or a task. Keys that nobody holds cost
nothing: there is no table of idle locks.

A bulk write of whole values *claims* its keys all together, which costs the same for two keys and for a million: the
claim is noted, and a key of it is locked only when somebody asks for it. Claims do not keep each other out, for of two
whole values that are stored at once either may stay. Where a key of a claim is held when it is made, there is no claim:
the bulk write locks its keys one by one, in order, like everybody else. So whoever has a claim waits for nobody.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count, repeat
from typing import TYPE_CHECKING, Final

from zarr._lazy import LazyModule

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")

MAX_NAMED_KEYS: Final = 1 << 16
"""A claim of more keys than these takes every key of its array for its own, rather than naming them all."""

MAX_READINGS: Final = 3
"""How often a value is read again in parts that was changed meanwhile, before its key is locked for reading."""

WATCH_SECONDS: Final = 0.02
"""How often a thread that waits for a key looks whether its operation was called off meanwhile."""

LOOK_SECONDS: Final = 0.5
"""How often one who waits for a key looks whether he still stands in its queue.

He does, unless Ctrl-C ended the call that was about to hand the key to him.
"""

GIL: Final = bool(getattr(sys, "_is_gil_enabled", lambda: True)())
"""Whether one thread at a time is at work; where not, every change of the table is made under its guard."""


_NOTHING: Final = repeat(None)


class CalledOff(BaseException):
    """Thrown into steps that run in a thread when the task that waits for them was cancelled."""


class _Waiter:
    """One who waits for a key; ``wake`` is called by the thread that lets the key go."""

    __slots__ = ("gone", "granted", "wake")

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.granted = False
        self.gone = False


def _reachable(queue: deque[_Waiter]) -> deque[_Waiter]:
    """Who of those in a queue still waits; the queue is empty afterwards."""
    found = deque(waiter for waiter in queue if not (waiter.gone or waiter.granted))
    queue.clear()
    return found


class Claim:
    """The keys of one bulk write of whole values.

    Parameters
    ----------
    stem : str
        What the names of all these keys begin with.
    count : int
        How many there are.
    name_all : callable
        Returns all the names; asked only where somebody else wants a key of the same stem.
    """

    __slots__ = ("_count", "_name_all", "_names", "_stem", "taken")

    def __init__(self, stem: str, count: int, name_all: Callable[[], Iterable[str]]) -> None:
        self._stem = stem
        self._count = count
        self._name_all = name_all
        self._names: frozenset[str] | None = None
        self.taken: list[str] = []

    def covers(self, name: str) -> bool:
        """Whether a key belongs to the claim."""
        if not name.startswith(self._stem):
            return False
        if self._count > MAX_NAMED_KEYS:
            return True
        if self._names is None:
            self._names = frozenset(self._name_all())
        return name in self._names


class LockTable:
    """Which keys are held, and who waits for each."""

    def __init__(self) -> None:
        # Reentrant: a finalizer may run, and use the library, at any allocation.
        self._guard = threading.RLock()
        self.queues: dict[str, deque[_Waiter]] = {}
        """Who waits for each key that is held."""
        self._claims: list[Claim] = []
        self.trees: dict[str, None] = {}
        """Names of which all longer ones are to be left alone (see ``trees.py``); each is held itself, too."""
        # Each number is used once: also where two threads let go at the same time, no number comes back.
        self._numbers = count(1)
        self._ends = 0

    def __len__(self) -> int:
        return len(self.queues) + len(self._claims)

    @property
    def interrupted(self) -> bool:
        """Whether this thread is just at work in the table: what asks is a finalizer, and must not wait here."""
        return bool(self._guard._is_owned())  # type: ignore[attr-defined]

    def held(self) -> list[str]:
        """The names that are held now."""
        return list(self.queues)

    def try_acquire(self, name: str) -> bool:
        """Take the key if nobody holds it."""
        if not GIL:
            with self._guard:
                return self._try_acquire(name)
        mine: deque[_Waiter] = deque()
        try:
            if self.queues.setdefault(name, mine) is not mine:
                return False
            self._ends = next(self._numbers)
            # First the key, then a look at the claims; who claims does it the other way round: one sees the other.
            return not (self._claims and self._is_claimed(name))
        except BaseException:  # Ctrl-C just when the key was taken: nobody would let it go
            self._untake(name, mine)
            raise

    def _try_acquire(self, name: str) -> bool:
        """The same, under the guard."""
        if name in self.queues:
            return False
        self.queues[name] = deque()
        self._ends = next(self._numbers)
        return not self._hand_on(name)

    def _untake(self, name: str, mine: deque[_Waiter]) -> None:
        """Let a key go that was just taken, unless it was handed on to a claim, which lets it go at its end."""
        with self._guard:
            if self.queues.get(name) is not mine or any(name in claim.taken for claim in self._claims):
                return
        self.release(name)

    def _is_claimed(self, name: str) -> bool:
        """Give a key that was just taken to the claim that it belongs to, if there is one."""
        with self._guard:
            return self._hand_on(name)

    def _hand_on(self, name: str) -> bool:
        for claim in tuple(self._claims):
            if claim.covers(name):
                claim.taken.append(name)
                return True
        return False

    def _join(self, name: str, waiter: _Waiter) -> None:
        """Take the key or stand in its queue, unless the waiter does or has so already."""
        with self._guard:
            while not (waiter.granted or self.try_acquire(name)):
                queue = self.queues.get(name)
                if queue is None:
                    continue
                if waiter not in queue:
                    queue.append(waiter)
                if self.queues.get(name) is queue:
                    return
                # The key was let go in between, and whoever did may not have seen that somebody waits.
                try:
                    queue.remove(waiter)
                except ValueError:
                    return  # he has, and sees to it
            waiter.granted = True

    def claim(self, claim: Claim, own: Callable[[str], bool]) -> bool:
        """Note a claim, unless one of its keys is held by others than those of whom ``own`` tells."""
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
        """Forget a claim; keys of it for which others wait are theirs now, unless another claim has them."""
        with self._guard:
            if claim in self._claims:  # not so if Ctrl-C came before it was noted, or after it was forgotten
                self._ends = next(self._numbers)
                self._claims.remove(claim)
                claim.taken = [name for name in claim.taken if not self._hand_on(name)]
        self.release_all(claim.taken)

    def moment(self, name: str) -> int | None:
        """A number that changes when keys are taken; None while this key is held.

        Where it is the same before and after some readings of a value, nobody has changed the value meanwhile.
        """
        if name in self.queues:
            return None
        if self._claims:
            with self._guard:
                if any(claim.covers(name) for claim in self._claims):
                    return None
        return self._ends

    def release(self, name: str) -> None:
        """Let the key go, or hand it to the first who waits and can still be reached."""
        self.release_all([name])

    def release_all(self, names: list[str], left: int = 0) -> None:
        """Let keys go, the last first, and take each from the list, until so many are left.

        That is one step for each: Ctrl-C comes before or after it, the same call does the rest, and who waits for a
        key that was let go finds out by himself.
        """
        both = map(self.queues.pop, iter(names.pop, None), _NOTHING)
        while len(names) > left:
            name = names[-1]
            if GIL:
                waiting = next(both)
            else:
                with self._guard:
                    waiting = next(both)
            if waiting:
                self.hand_over(name, waiting)

    def hand_over(self, name: str, waiting: deque[_Waiter]) -> None:
        """Take a key that was just let go for the first who waits for it."""
        while (waiter := self._next_in(name, waiting)) is not None:
            try:
                waiter.wake()
            except RuntimeError:
                # The waiter's event loop was closed: nobody is there to take the key, so the next one gets it.
                waiting = self.queues.pop(name, deque())
                continue
            return

    def _next_in(self, name: str, waiting: deque[_Waiter]) -> _Waiter | None:
        """Who has the key now; None where nobody waits, or those who wait do so for somebody who was faster."""
        with self._guard:
            queue = _reachable(waiting)
            while queue:
                present = self.queues.setdefault(name, queue)
                if present is queue:
                    if self._claims and self._hand_on(name):
                        return None
                    self._ends = next(self._numbers)
                    first = queue.popleft()
                    first.granted = True
                    return first
                present.extend(queue)
                if self.queues.get(name) is present:
                    return None
                # He has let it go again, and may not have seen them.
                queue = _reachable(present)
            return None

    def _give_up(self, name: str, waiter: _Waiter) -> None:
        """The waiter stops waiting; a key that was handed over in the meantime goes on to the next."""
        with self._guard:
            waiter.gone = True
            if not waiter.granted:
                queue = self.queues.get(name)
                if queue is not None and waiter in queue:
                    queue.remove(waiter)
                return
        self.release(name)

    def acquire(self, name: str, called_off: threading.Event | None = None) -> None:
        """Take the key, blocking the thread until it is free.

        Raises
        ------
        CalledOff
            If that event is set first.
        """
        if self.try_acquire(name):
            return
        event = threading.Event()
        waiter = _Waiter(event.set)
        seconds = LOOK_SECONDS if called_off is None else WATCH_SECONDS
        try:
            self._join(name, waiter)
            while not (waiter.granted or event.wait(seconds)):
                if called_off is not None and called_off.is_set():
                    raise CalledOff
                self._join(name, waiter)
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
        try:
            self._join(name, waiter)
            while not waiter.granted:
                await asyncio.wait((future,), timeout=LOOK_SECONDS)
                self._join(name, waiter)
        except BaseException:
            self._give_up(name, waiter)
            raise

    def reset(self) -> None:
        """Forget everything; for a forked child, where the holders of the parent do not exist."""
        self._guard = threading.RLock()
        self.queues = {}
        self._claims = []
        self.trees = {}


LOCKS = LockTable()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOCKS.reset)
