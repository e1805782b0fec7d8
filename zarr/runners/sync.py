"""Crossing from synchronous code to an event loop and back: ``sync`` and what belongs to it."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr._lazy import LazyModule
from zarr.defaults import settings
from zarr.notices import CALLER
from zarr.runners.resources import SyncError, get_loop

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")

T = TypeVar("T")

CANCEL_GRACE_SECONDS = 0.9
"""How long an interrupted call waits for its coroutine to wind up, before it returns all the same."""


def sync(
    coro: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop | None = None, timeout: float | None = None
) -> T:
    """Run a coroutine on a background event loop and wait for its result.

    Parameters
    ----------
    coro : coroutine
    loop : asyncio.AbstractEventLoop, optional
        A loop that runs in another thread; by default the library's own.
    timeout : float, optional
        Seconds to wait; by default ``async.timeout`` of the configuration (no limit).

    Returns
    -------
    The coroutine's result; what it raises is raised here.

    Raises
    ------
    SyncError
        If called on the very thread that runs the loop, where waiting would never end; if the loop does not run; or
        if the interpreter is ending.
    TimeoutError
        If ``timeout`` passes. The coroutine is cancelled.

    Examples
    --------
    >>> import asyncio
    >>> sync(asyncio.sleep(0, "done"))
    'done'
    """
    if sys.is_finalizing():
        coro.close()
        raise SyncError("the interpreter is ending: there is no thread any more to run an event loop in")
    target = get_loop() if loop is None else loop
    _check_can_wait(coro, target)
    if timeout is None:
        timeout = settings.get("async.timeout", None)
    return _Call(coro, target).wait(timeout)


class _Call(Generic[T]):
    """One coroutine on its way to another thread's loop and back."""

    __slots__ = ("_called_off", "_caller", "_coro", "_loop", "_result", "_settled", "_task")

    def __init__(self, coro: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._coro = coro
        self._loop = loop
        self._caller = threading.get_ident()
        self._task: asyncio.Task[T] | None = None
        self._called_off = False
        self._result: Future[T] = Future()
        self._settled = threading.Event()
        loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        if self._called_off:
            self._coro.close()
            self._settled.set()
            return
        CALLER.set(self._caller)  # in a copy of the caller's context, which the task takes over
        self._task = self._loop.create_task(self._coro)
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self._result.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._result.set_exception(error)
        else:
            self._result.set_result(task.result())
        self._settled.set()

    def _cancel(self) -> None:
        self._called_off = True
        if self._task is not None:
            self._task.cancel()

    def _abandon(self) -> None:
        """Cancel the work and give it a moment to stop, so that nothing is written after the caller has gone on."""
        try:
            self._loop.call_soon_threadsafe(self._cancel)
        except RuntimeError:
            return  # the loop was closed: nothing runs any more
        self._settled.wait(CANCEL_GRACE_SECONDS)

    def wait(self, timeout: float | None) -> T:
        """Wait for the result; whatever ends the wait early cancels the work before it goes on."""
        try:
            ended = self._settled.wait(timeout)
        except BaseException:
            self._abandon()
            raise
        if not ended:
            self._abandon()
            raise TimeoutError(f"the operation did not end within {timeout} seconds (async.timeout)")
        try:
            return self._result.result()
        finally:
            del self._result  # a raised error refers to this frame: let the circle go


def _check_can_wait(coro: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> None:
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if not isinstance(loop, asyncio.AbstractEventLoop):
        raise TypeError(f"an event loop is needed, got {loop!r} of type {type(loop).__name__}")
    problem = None
    if running is loop:
        problem = (
            "a synchronous call was made on the thread of the event loop that would have to run it, "
            "which would wait for ever; await the asynchronous twin of the call instead"
        )
    elif loop.is_closed():
        problem = "the event loop is closed"
    elif not loop.is_running():
        problem = "the event loop is not running in any thread"
    if problem is not None:
        if asyncio.iscoroutine(coro):
            coro.close()
        raise SyncError(problem)
    if not asyncio.iscoroutine(coro):
        raise TypeError(f"a coroutine is needed, got {coro!r} of type {type(coro).__name__}")


async def _collect_aiterator(data: AsyncIterator[T]) -> tuple[T, ...]:
    """Exhaust an asynchronous iterator."""
    return tuple([item async for item in data])


def collect_aiterator(data: AsyncIterator[T]) -> tuple[T, ...]:
    """Exhaust an asynchronous iterator from synchronous code.

    Examples
    --------
    >>> async def numbers():
    ...     yield 1
    ...     yield 2
    >>> collect_aiterator(numbers())
    (1, 2)
    """
    return sync(_collect_aiterator(data))


async def _with_semaphore(func: Callable[[], Awaitable[T]], semaphore: asyncio.Semaphore | None = None) -> T:
    """Await ``func()``, under the semaphore if there is one."""
    if semaphore is None:
        return await func()
    async with semaphore:
        return await func()


class SyncMixin:
    """Gives a class the means to run its coroutines and asynchronous iterators to their end."""

    def _sync(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return sync(coroutine, timeout=settings.get("async.timeout", None))

    def _sync_iter(self, async_iterator: AsyncIterator[T]) -> list[T]:
        async def collect() -> list[T]:
            return [item async for item in async_iterator]

        return self._sync(collect())
