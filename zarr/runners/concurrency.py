"""Limit what one event loop does at a time: a gate for requests, a window for jobs, a pool for blocking calls.

A change of a store that is cancelled gets a moment to end by itself, so that no value is left half written.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import ContextVar
from itertools import islice
from typing import Any, TypeVar

from zarr._lazy import asyncio
from zarr._process import forget_closed
from zarr.defaults import settings
from zarr.notices import CALLER

T = TypeVar("T")

CHANGE_GRACE_SECONDS = 0.6
"""The seconds that a change of a store may continue after its operation was cancelled, before it is cancelled, too."""

CANCEL_GRACE_SECONDS = 0.1
"""The seconds that its work in a thread may take to end; after them the result is ignored."""

NO_LIMIT = 1000
"""Maximum number of requests under way if the configuration sets no limit: a store may have millions of keys."""

_GATES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[int, asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


def request_gate() -> asyncio.Semaphore:
    """Return the gate for all requests of the running loop, ``async.concurrency`` at a time."""
    loop = asyncio.get_running_loop()
    width = concurrency()
    known = _GATES.get(loop)
    if known is None:
        forget_closed(_GATES)
    if known is None or known[0] != width:
        known = (width, asyncio.Semaphore(width))
        _GATES[loop] = known
    return known[1]


def concurrency() -> int:
    """Return the maximum number of requests under way in one loop."""
    width = settings.get("async.concurrency")
    return NO_LIMIT if width is None else max(1, int(width))


async def windowed(jobs: Iterator[Callable[[], Awaitable[T]]], width: int) -> list[T]:
    """Await many jobs, at most ``width`` at once; return their results in order.

    The first error cancels the others, waits until they have stopped, and is raised. Later jobs are never created.
    """
    results: dict[int, T] = {}
    numbered = enumerate(jobs)
    caller = CALLER.get() or asyncio.current_task()

    async def worker(index: int, job: Callable[[], Awaitable[T]]) -> None:
        CALLER.set(caller)  # in a context of its own
        results[index] = await job()
        for later, following in numbered:
            results[later] = await following()

    tasks: list[asyncio.Task[None]] = []
    try:
        for index, job in islice(numbered, width):
            tasks.append(asyncio.ensure_future(worker(index, job)))
        if tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in tasks:
                if task in done:
                    task.result()
    finally:
        await _stop_all([task for task in tasks if not task.done()])
        for task in tasks:
            if not task.cancelled():
                task.exception()  # read, so that a second error is not reported as one without a reader
    return [results[index] for index in range(len(results))]


async def _stop_all(tasks: list[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have stopped, even if the waiting task is cancelled once more."""
    for task in tasks:
        task.cancel()
    interruption: BaseException | None = None
    running = set(tasks)
    while running:
        try:
            _, running = await asyncio.wait(running)
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is not None:
        raise interruption


CHANGE: ContextVar[threading.Event | None] = ContextVar("zarr.change", default=None)
"""Set when the change of a store in the running task is cancelled; parts of it that wait for a thread do not begin."""


async def completed(change: Awaitable[T]) -> T:
    """Await a change of a store; if its task is cancelled, give the change a moment to end by itself.

    A store may work in threads, which cannot be cancelled: without the wait, values would be stored after the operation
    has ended.
    """
    called_off = threading.Event()
    token = CHANGE.set(called_off)
    task = asyncio.ensure_future(change)
    CHANGE.reset(token)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        called_off.set()
        await _wait_at_most(task, CHANGE_GRACE_SECONDS)
        if task.cancel():
            await _wait_at_most(task.get_loop().create_future(), CANCEL_GRACE_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # read, so that it is not reported as an error without a reader
        raise


async def _wait_at_most(future: asyncio.Future[Any], seconds: float) -> None:
    """Wait some seconds for the end of a future, however often the waiting task is cancelled meanwhile."""
    end = time.monotonic() + seconds
    while not future.done() and (left := end - time.monotonic()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait((future,), timeout=left)


async def wait_until_done(future: asyncio.Future[Any]) -> None:
    """Wait until a thread has stopped; ignore its result."""
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue
    if not future.cancelled():
        future.exception()


class Pool(ThreadPoolExecutor):
    """A pool that works in the caller's own thread after its threads have ended, before the interpreter does.

    Examples
    --------
    >>> pool = Pool(max_workers=1)
    >>> pool.shutdown()
    >>> pool.submit(sum, [1, 2]).result()
    3
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Start a call; see :class:`concurrent.futures.Executor`."""
        if self._shutdown or not threading.main_thread().is_alive():
            return done(fn, *args, **kwargs)
        called_off = CHANGE.get()
        if called_off is not None:
            return super().submit(_begin, called_off, fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)


def _begin(called_off: threading.Event, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    if called_off.is_set():
        raise CancelledError
    return fn(*args, **kwargs)


def done(fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
    """Make a call in this thread, and return its outcome as a future.

    Examples
    --------
    >>> done(sum, [1, 2]).result()
    3
    """
    future: Future[T] = Future()
    try:
        future.set_result(fn(*args, **kwargs))
    except BaseException as error:  # raised where the result is read
        future.set_exception(error)
    return future
