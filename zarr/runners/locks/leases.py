"""Locks among processes where there are no files to lock: objects of a store that compares before it stores.

A lease is a small object that says who has it. Its holder writes it anew all the time; who wants it and has seen it
unchanged for as long as it lasts takes it over, for its holder is dead. No two clocks are compared: each process looks
at its own, and all that is assumed is that these go at about the same rate. A clock that jumps does no harm: who waits
counts no more than a short while from one look to the next, and who has a lease is not sure of it before its last
renewal. The time that a machine sleeps counts. What a holder stores, it stores only while
its lease surely lasts, and, where it has read the value before, only if that is still the same.
"""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.defaults import settings
from zarr.errors import LockLostError, label_of
from zarr.runners.concurrency import completed
from zarr.runners.locks.processes import lock_names
from zarr.steps.requests import ChangedMeanwhileError, LockScope
from zarr.storage.keys import LOCKS_FOLDER

if TYPE_CHECKING:
    import asyncio
    import random

    from zarr.abc.store import Store
else:
    asyncio, random = LazyModule("asyncio"), LazyModule("random")

RENEWALS: Final = 4
"""The number of times that a lease is written anew in the time that it lasts."""

_FIRST_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 0.2


if hasattr(time, "CLOCK_BOOTTIME"):

    def clock() -> float:
        """Seconds that have passed, those included in which the machine slept."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

else:

    def clock() -> float:
        """Seconds that have passed."""
        return time.monotonic()


def lease_keys(scope: LockScope, keys: Sequence[str], family: str) -> list[str]:
    """Return the objects that stand for some keys, in the order in which all take them.

    Examples
    --------
    >>> from zarr.steps.requests import LockScope
    >>> lease_keys(LockScope("a"), ["a/zarr.json"], "node")
    ['a/.zarr-locks/0.node']
    """
    folder = f"{scope.path}/{LOCKS_FOLDER}" if scope.path else LOCKS_FOLDER
    return [f"{folder}/{name}" for name in lock_names(scope, keys, family)]


def lease_seconds() -> float:
    """Return how long the lease of a dead process lasts: the setting ``array.lock_lease_seconds``."""
    return max(0.1, float(settings.get("array.lock_lease_seconds", 20.0)))


def _as_buffer(owner: str | None, beat: int, seconds: float) -> Buffer:
    document = {"owner": owner, "beat": beat, "seconds": seconds}
    return default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())


class _Sight:
    """A lease as somebody who wants it sees it, and how long it has been the same."""

    def __init__(self) -> None:
        self._raw: bytes | None = None
        self._waited = 0.0
        self._looked = 0.0

    def look(self, value: Buffer | None, owner: str) -> bool:
        """Return whether the lease can be taken: nobody has it, or its holder is dead."""
        raw, now = None if value is None else value.to_bytes(), clock()
        if raw is None:
            return True
        if raw != self._raw:
            self._raw, self._waited, self._looked = raw, 0.0, now
        holder, seconds = _read(raw)
        # From one look to the next no more counts than a holder may need to renew it: a clock may have jumped.
        self._waited += min(max(0.0, now - self._looked), seconds / RENEWALS)
        self._looked = now
        # A request that was sent twice may have taken it for us without our knowledge.
        return holder in (None, owner) or self._waited > seconds


def _read(raw: bytes) -> tuple[Any, float]:
    """Return who has a lease and how long it lasts; what is no lease counts as one that lasts as long as ours."""
    try:
        document = json.loads(raw)
        holder, seconds = document["owner"], float(document["seconds"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return "", lease_seconds()  # half written, or by a later version
    return holder, seconds if math.isfinite(seconds) and seconds > 0 else lease_seconds()


class Lease:
    """A lease that is held; :func:`take_lease` makes it.

    Parameters
    ----------
    store : Store
    key : str
    owner : str
    seconds : float
    """

    def __init__(self, store: Store, key: str, owner: str, seconds: float) -> None:
        self._store = store
        self._key = key
        self._owner = owner
        self._seconds = seconds
        self._beat = 0
        self._value: Buffer | None = None
        self._attempt: Buffer | None = None
        self._lost = False
        self._sure = 0.0, 0.0
        self._renewal: asyncio.Task[None] | None = None

    async def _write(self, owner: str | None, expected: Buffer | None) -> bool:
        begin = clock()
        self._beat += 1
        value = self._attempt = _as_buffer(owner, self._beat, self._seconds)
        if not await completed(self._store.set_if_match(self._key, value, expected)):
            return False
        self._value, self._sure = value, (begin, begin + self._seconds)
        return True

    async def take(self, expected: Buffer | None) -> bool:
        """Take it if it still is as it was seen; it is written anew from then on."""
        if not await self._write(self._owner, expected):
            return False
        self._renewal = asyncio.ensure_future(self._renew())
        return True

    async def _renew(self) -> None:
        while not self._lost:
            await asyncio.sleep(self._seconds / RENEWALS)
            try:
                self._lost = not await self._write(self._owner, self._value)
            except Exception:
                continue  # the service may answer again before the lease runs out

    def check(self) -> None:
        """See that nobody else can have it.

        Raises
        ------
        LockLostError
        """
        renewed, ends = self._sure
        if self._lost or not renewed <= clock() <= ends:
            raise LockLostError(
                f"the lock {self._key!r} in {label_of(self._store, str)} ran out after {self._seconds:g} seconds, "
                "since this process did not renew it; nothing was stored: try again, or let array.lock_lease_seconds "
                "be longer"
            )

    async def end(self) -> None:
        """Let go of it; where that fails, it runs out by itself."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        if self._lost:
            return
        for expected in (self._attempt, self._value):  # the last renewal may have been called off amid its way
            try:
                if expected is None or await self._write(None, expected):
                    return
            except Exception:
                return


async def take_lease(store: Store, key: str) -> Lease:
    """Take a lease, waiting until nobody has it.

    Parameters
    ----------
    store : Store
        Of which ``supports_set_if_match`` is true.
    key : str

    Returns
    -------
    Lease

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import SQLiteStore
    >>> import tempfile
    >>> async def main():
    ...     store = SQLiteStore(tempfile.mkdtemp() + "/db")
    ...     lease = await take_lease(store, ".zarr-locks/0.node")
    ...     lease.check()
    ...     await lease.end()
    >>> asyncio.run(main())
    """
    sight, pause = _Sight(), _FIRST_PAUSE_SECONDS
    lease = Lease(store, key, uuid.uuid4().hex, lease_seconds())
    try:
        while True:
            value = await store.get(key, default_buffer_prototype())
            if sight.look(value, lease._owner) and await lease.take(value):
                return lease
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    except BaseException:
        await lease.end()
        raise


class Fence:
    """The conditions that an operation checks before it stores a value: its leases, and the values that it has read.

    Parameters
    ----------
    above : Fence, optional
        That of the operation of which this one is a part.
    """

    UNREAD: Final[Any] = object()

    def __init__(self, above: Fence | None = None) -> None:
        self.leases: list[Lease] = [] if above is None else list(above.leases)
        self.seen: dict[str, Any] = {} if above is None else dict(above.seen)
        self._again: set[str] = set() if above is None else set(above._again)

    def watch(self, keys: Sequence[str], again: bool) -> None:
        """From now on, values of these keys are replaced only if they are what was read last.

        ``again`` tells whether those who find them changed can go back to reading.
        """
        for key in keys:
            self.seen.setdefault(key, self.UNREAD)
        if again:
            self._again.update(keys)

    def changed(self, key: str, store: Any) -> Exception:
        """Return the error for a value that is not what was read."""
        text = f"{key!r} in {label_of(store, str)} was changed by another process, and was not stored"
        return ChangedMeanwhileError(text) if key in self._again else LockLostError(text)

    def note(self, key: str, value: Any) -> None:
        """Take down what was read, or stored."""
        if key in self.seen:
            self.seen[key] = value

    def check(self) -> None:
        """See that all leases last.

        Raises
        ------
        LockLostError
        """
        for lease in self.leases:
            lease.check()
