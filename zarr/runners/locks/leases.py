"""Locks among processes without files: objects of a store that compares before it stores.

A lease is a small object with the name of its holder. The holder writes it anew again and again. A process that wants
it, and has seen it unchanged for its whole duration, takes it over, because its holder is dead. No two clocks are
compared: each process uses its own, and only needs clocks of about the same rate. A clock that jumps does no harm: a
waiting process counts at most a short time between two looks, and a holder relies on a lease only from its last renewal
on. The time that a machine sleeps counts. A holder stores values only while its lease is certainly valid, and, if it
has read the value before, only if that value is still there.
"""

from __future__ import annotations

import json
import math
import random
import time
import uuid
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from zarr._lazy import asyncio
from zarr.abc.store import Store
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.defaults import settings
from zarr.errors import LockLostError, label_of
from zarr.runners.concurrency import completed
from zarr.runners.locks.processes import lock_names
from zarr.steps.requests import ChangedMeanwhileError, LockScope
from zarr.storage.keys import LOCKS_FOLDER

RENEWALS: Final = 4
"""Number of renewals of a lease within its duration."""

_FIRST_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 0.2


def clock() -> float:
    """Return the seconds that have passed, including those in which the machine slept, if the system counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def lease_keys(scope: LockScope, keys: Sequence[str], family: str) -> list[str]:
    """Return the objects that stand for some keys, in the order in which all processes take them.

    Examples
    --------
    >>> from zarr.steps.requests import LockScope
    >>> lease_keys(LockScope("a"), ["a/zarr.json"], "node")
    ['a/.zarr-locks/0.node']
    """
    folder = f"{scope.path}/{LOCKS_FOLDER}" if scope.path else LOCKS_FOLDER
    return [f"{folder}/{name}" for name in lock_names(scope, keys, family)]


def lease_seconds() -> float:
    """Return the seconds that the lease of a dead process lasts: the setting ``array.lock_lease_seconds``."""
    return max(0.1, float(settings.get("array.lock_lease_seconds", 20.0)))


def _as_buffer(owner: str | None, renewals: int, seconds: float) -> Buffer:
    document = {"owner": owner, "beat": renewals, "seconds": seconds}
    return default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())


class _Observed:
    """A lease as a waiting process sees it, and the time that it has been the same."""

    def __init__(self) -> None:
        self._raw: bytes | None = None
        self._waited = 0.0
        self._looked = 0.0

    def is_free(self, value: Buffer | None, owner: str) -> bool:
        """Return True if the lease can be taken: it has no holder, or its holder is dead."""
        raw, now = None if value is None else value.to_bytes(), clock()
        if raw is None:
            return True
        if raw != self._raw:
            self._raw, self._waited, self._looked = raw, 0.0, now
        holder, seconds = _read(raw)
        # Count at most the time of one renewal between two looks: a clock may have jumped.
        self._waited += min(max(0.0, now - self._looked), seconds / RENEWALS)
        self._looked = now
        # A request that was sent twice may have taken it for this process unnoticed.
        return holder in (None, owner) or self._waited > seconds


def _read(raw: bytes) -> tuple[Any, float]:
    """Return the holder of a lease and its duration; an object that is no lease gets the duration of this library."""
    try:
        document = json.loads(raw)
        holder, seconds = document["owner"], float(document["seconds"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return "", lease_seconds()  # half written, or by a later version
    return holder, seconds if math.isfinite(seconds) and seconds > 0 else lease_seconds()


class Lease:
    """A held lease, made by :func:`take_lease`."""

    def __init__(self, store: Store, key: str, owner: str, seconds: float) -> None:
        self._store = store
        self._key = key
        self._owner = owner
        self._seconds = seconds
        self._renewals = 0
        self._value: Buffer | None = None
        self._attempt: Buffer | None = None
        self._lost = False
        self._valid = 0.0, 0.0
        self._renewal: asyncio.Task[None] | None = None

    async def _write(self, owner: str | None, expected: Buffer | None) -> bool:
        begin = clock()
        self._renewals += 1
        value = self._attempt = _as_buffer(owner, self._renewals, self._seconds)
        if not await completed(self._store.set_if_match(self._key, value, expected)):
            return False
        self._value, self._valid = value, (begin, begin + self._seconds)
        return True

    async def take(self, expected: Buffer | None) -> bool:
        """Take the lease if it has not changed since it was read; from then on it is renewed."""
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
        """Check that no other process can have the lease.

        Raises
        ------
        LockLostError
        """
        renewed, ends = self._valid
        if self._lost or not renewed <= clock() <= ends:
            raise LockLostError(
                f"the lock {self._key!r} in {label_of(self._store, str)} ran out after {self._seconds:g} seconds, "
                "since this process did not renew it; nothing was stored: try again, or let array.lock_lease_seconds "
                "be longer"
            )

    async def end(self) -> None:
        """Release the lease; if that fails, it expires by itself."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        if self._lost:
            return
        for expected in (self._attempt, self._value):  # the last renewal may have been cancelled while it was sent
            try:
                if expected is None or await self._write(None, expected):
                    return
            except Exception:
                return


async def take_lease(store: Store, key: str) -> Lease:
    """Take a lease; wait until it has no holder.

    Parameters
    ----------
    store : Store
        A store whose ``supports_set_if_match`` is True.
    key : str

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
    observed, pause = _Observed(), _FIRST_PAUSE_SECONDS
    lease = Lease(store, key, uuid.uuid4().hex, lease_seconds())
    try:
        while True:
            value = await store.get(key, default_buffer_prototype())
            if observed.is_free(value, lease._owner) and await lease.take(value):
                return lease
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    except BaseException:
        await lease.end()
        raise


class Seen(NamedTuple):
    """The version of a value that was read, by which it is compared."""

    version: Any


class Fence:
    """The conditions that an operation checks before it stores a value: its leases, and the values that it has read.

    Parameters
    ----------
    above : Fence, optional
        The fence of the operation of which this one is a part.

    Attributes
    ----------
    by_value : bool
        If True, a value without a version is compared by its bytes; if False, it is replaced without a comparison.
    """

    UNREAD: Final[Any] = object()

    def __init__(self, above: Fence | None = None) -> None:
        self._above = above
        self.by_value: bool = above is not None and above.by_value
        self.leases: list[Lease] = [] if above is None else list(above.leases)
        self.seen: dict[str, Any] = {} if above is None else dict(above.seen)
        self._rereads: set[str] = set() if above is None else set(above._rereads)

    def watch(self, keys: Sequence[str], rereads: bool) -> None:
        """Replace values of these keys from now on only if they are still those of the last read.

        ``rereads`` is True if a caller that finds them changed reads again.
        """
        for key in keys:
            self.seen.setdefault(key, self.UNREAD)
        if rereads:
            self._rereads.update(keys)

    def changed(self, key: str, store: Any) -> Exception:
        """Return the error for a value that differs from the one that was read."""
        text = f"{key!r} in {label_of(store, str)} was changed by another process, and was not stored"
        return ChangedMeanwhileError(text) if key in self._rereads else LockLostError(text)

    def note(self, key: str, value: Any) -> None:
        """Record a value that was read or stored, or its version as ``Seen``; None: there is no value."""
        if key in self.seen:
            self.seen[key] = value
            if self._above is not None:  # which may compare after the part that reads has ended
                self._above.note(key, value)

    def check(self) -> None:
        """Check that all leases are valid.

        Raises
        ------
        LockLostError
        """
        for lease in self.leases:
            lease.check()
