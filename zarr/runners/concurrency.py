"""Limits of what goes on at once in one event loop: the gate on requests, and the window of jobs that are alive."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr.defaults import settings
from zarr.notices import CALLER

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")


T = TypeVar("T")

CHANGE_GRACE_SECONDS = 0.6
"""The seconds that a change of a store may go on after its operation was called off, before it is cancelled."""

CANCEL_GRACE_SECONDS = 0.1
"""The seconds that its work in a thread may take to end; after them, nothing more is heard of it."""

NO_LIMIT = 1000
"""The number of requests under way where the configuration sets no limit: a store may have millions of keys."""

_GATES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[int, asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


def request_gate() -> asyncio.Semaphore:
    """Return the gate that all requests of the running loop pass, ``async.concurrency`` at a time."""
    loop = asyncio.get_running_loop()
    width = concurrency()
    known = _GATES.get(loop)
    if known is None or known[0] != width:
        known = (width, asyncio.Semaphore(width))
        _GATES[loop] = known
    return known[1]


def concurrency() -> int:
    """Return how many requests may be under way in one loop."""
    width = settings.get("async.concurrency")
    return NO_LIMIT if width is None else max(1, int(width))


async def windowed(jobs: Iterator[Callable[[], Awaitable[T]]], width: int) -> list[T]:
    """Await many jobs, at most ``width`` alive at once; results in order.

    The first error cancels the others, waits until they have stopped, and is raised. A job that is not reached is
    never made.
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
                task.exception()  # looked at, lest a second error be reported as one that nobody saw
    return [results[index] for index in range(len(results))]


async def _stop_all(tasks: list[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have stopped, even where the waiting task is cancelled once more."""
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


class CalledOffChange:
    """Notes that a change of a store was cancelled; what of it waits for a thread does not begin then."""

    __slots__ = ("off",)

    def __init__(self) -> None:
        self.off = False


CHANGE: ContextVar[CalledOffChange | None] = ContextVar("zarr.change", default=None)
"""The change that the running task makes."""


async def completed(change: Awaitable[T]) -> T:
    """Await a change of a store; one whose task is cancelled is given a moment to end by itself.

    A store may do its work in threads, which nobody can call off: were they left alone, values would be stored after
    the operation has ended.
    """
    mark = CalledOffChange()
    token = CHANGE.set(mark)
    task = asyncio.ensure_future(change)
    CHANGE.reset(token)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        mark.off = True
        try:
            await asyncio.wait([task], timeout=CHANGE_GRACE_SECONDS)
        finally:
            if task.cancel():
                await asyncio.sleep(CANCEL_GRACE_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # looked at, lest it be reported as one that nobody saw
        raise


async def settle(future: asyncio.Future[Any]) -> None:
    """Wait until a thread has stopped; its own end is of no interest any more."""
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue
    if not future.cancelled():
        future.exception()


class Pool(ThreadPoolExecutor):
    """A pool that works in the caller's own thread once its own have ended, as all do before the interpreter does.

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
        change = CHANGE.get()
        if change is not None:
            return super().submit(_begin, change, fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)


def _begin(change: CalledOffChange, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    if change.off:
        raise CancelledError
    return fn(*args, **kwargs)


def done(fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
    """Make a call here and now, and return its outcome as a future.

    Examples
    --------
    >>> done(sum, [1, 2]).result()
    3
    """
    future: Future[T] = Future()
    try:
        future.set_result(fn(*args, **kwargs))
    except BaseException as error:  # whoever asks for the result gets it
        future.set_exception(error)
    return future
