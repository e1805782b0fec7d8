"""The threads and the background event loop of this process, and synchronous calls into that loop.

The background loop and the pools are made at their first use and forgotten in a forked child, which then makes its own.
They do not keep the interpreter from ending: the loop's thread is a daemon, and the exit hook stops it and the pools.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr._lazy import LazyModule, asyncio
from zarr._process import at_exit, at_fork
from zarr.defaults import settings
from zarr.notices import CALLER

if TYPE_CHECKING:
    import logging
    from concurrent import futures
    from concurrent.futures import Future, ThreadPoolExecutor

    from zarr.runners import concurrency
else:
    concurrency = LazyModule("zarr.runners.concurrency")
    logging = LazyModule("logging")
    # After the end of the main thread the pools cannot be loaded: then only the caller's own thread works.
    futures = LazyModule("concurrent.futures")

T = TypeVar("T")

BLOCKING_CALLS = 32
"""Number of simultaneous blocking calls of event-loop tasks: they wait for a disk or a network, not for a processor."""

INTERRUPT_GRACE_SECONDS = 0.9
"""The seconds that an interrupted call waits for its coroutine to end, before it returns anyway."""

# The background loop and its thread, in the form that other libraries look for: lists of one.
LOOP: list[asyncio.AbstractEventLoop | None] = [None]
THREAD: list[threading.Thread | None] = [None]

_submitting = threading.local()


class SyncError(RuntimeError):
    """A synchronous call was made where it could never end, or it ended without a result."""


class _Pools:
    """The pools of this process, and the lock under which they and the loop are made."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Reset the pools, without touching those of a parent process."""
        # Reentrant: a finalizer may run, and use the library, at any allocation.
        self.lock = threading.RLock()
        self.executor: ThreadPoolExecutor | None = None
        self.workers: ThreadPoolExecutor | None = None
        self.worker_count = 0


_POOLS = _Pools()


def get_lock() -> Any:
    """Return the lock under which loop, thread and pools are made."""
    return _POOLS.lock


def max_workers() -> int:
    """Return the number of threads for one operation: the processors, or fewer if the configuration limits them.

    Both settings of zarr-python count: ``threading.max_workers``, and ``codec_pipeline.max_workers``.
    """
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:
        cpus = os.cpu_count() or 1
    limits = [settings.get(f"{section}.max_workers", None) for section in ("threading", "codec_pipeline")]
    return max(1, min([cpus, *(int(limit) for limit in limits if limit is not None)]))


def _blocking_calls() -> int:
    return int(settings.get("threading.max_workers", None) or BLOCKING_CALLS)


def get_executor() -> ThreadPoolExecutor:
    """Return the pool in which blocking calls of event-loop tasks run.

    Returns
    -------
    ThreadPoolExecutor
        A pool of ``threading.max_workers`` threads, by default 32.

    Examples
    --------
    >>> get_executor().submit(sum, [1, 2]).result()
    3
    """
    with _POOLS.lock:
        if _POOLS.executor is None:
            _POOLS.executor = concurrency.Pool(_blocking_calls(), thread_name_prefix="zarr_pool")
        return _POOLS.executor


def get_workers() -> ThreadPoolExecutor:
    """Return the pool of threads that help with bulk jobs; its work never waits for anything."""
    wanted = max_workers()
    with _POOLS.lock:
        if _POOLS.workers is None or _POOLS.worker_count < wanted:
            # The old pool is only released: another thread may be about to submit work, and its threads end with it.
            _POOLS.workers = futures.ThreadPoolExecutor(max_workers=wanted, thread_name_prefix="zarr_bulk")
            _POOLS.worker_count = wanted
        return _POOLS.workers


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _loop_executor() -> ThreadPoolExecutor | None:
    """Return the default executor of the loop; None if the main thread has ended.

    It is not the pool of :func:`get_executor`: operations there may wait for the loop, all threads of it at once.
    """
    try:
        return concurrency.Pool(_blocking_calls())
    except RuntimeError:
        return None


def get_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop in the background thread; the first call starts it.

    Examples
    --------
    >>> get_loop().is_running()
    True
    """
    loop, thread = LOOP[0], THREAD[0]
    if loop is not None and not loop.is_closed() and thread is not None and thread.is_alive():
        return loop
    executor = _loop_executor()
    with _POOLS.lock:
        loop = LOOP[0]
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
            if executor is not None:
                loop.set_default_executor(executor)
            ready = threading.Event()
            loop.call_soon(ready.set)
            thread = threading.Thread(target=_run_loop, args=(loop,), name="zarr_io", daemon=True)
            thread.start()
            ready.wait()
            LOOP[0], THREAD[0] = loop, thread
        return loop


def cleanup_resources() -> None:
    """Stop the background loop and the pools; the next use makes new ones.

    Examples
    --------
    >>> cleanup_resources()
    """
    with _POOLS.lock:
        loop, thread, executor, workers = LOOP[0], THREAD[0], _POOLS.executor, _POOLS.workers
        _forget()
    for pool in (executor, workers):
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
    if loop is not None and thread is not None and not loop.is_closed():
        loop.call_soon_threadsafe(_stop, loop)
        if thread is not threading.current_thread():
            thread.join(timeout=1)
            if thread.is_alive():
                logging.getLogger("zarr.core.sync").warning("the background event loop did not stop within a second")


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what still runs on the loop, then stop it once the cancelled tasks had their turn."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        gathered = asyncio.gather(*tasks, return_exceptions=True)
        gathered.add_done_callback(lambda _: loop.stop())
    else:
        loop.stop()


def _submit(work: Callable[[], None], helpers: int) -> list[Future[None]]:
    """Submit work to helpers; to none, if this thread is just submitting work and a finalizer interrupted it."""
    if getattr(_submitting, "now", False):
        return []
    _submitting.now = True
    helping: list[Future[None]] = []
    try:
        pool = get_workers()
        helping.extend(pool.submit(work) for _ in range(helpers))
    except RuntimeError:
        # The pool is being replaced or the interpreter ends: the caller's own thread does all the work.
        logging.getLogger("zarr.core.sync").debug("no worker threads to be had", exc_info=True)
    finally:
        _submitting.now = False
    return helping


def _outcome(helping: list[Future[None]], stop: Callable[[], None]) -> BaseException | None:
    """Wait until all helpers have stopped, also after an interruption, and return the first error."""
    started = [future for future in helping if not future.cancel()]
    interruption: BaseException | None = None
    while True:
        try:
            errors = [error for future in started if (error := future.exception()) is not None]
        except BaseException as error:  # a signal: nothing may continue after its handler has run
            interruption = interruption or error
            stop()
        else:
            # An InterruptedError only means that the job was stopped, because of an error in another thread.
            errors.sort(key=lambda error: isinstance(error, InterruptedError))
            return interruption or (errors[0] if errors else None)


def run_helpers(work: Callable[[], None], helpers: int, stop: Callable[[], None] = lambda: None) -> None:
    """Run ``work()`` in the caller's thread and in up to ``helpers`` others at once; raise the first real error.

    Helpers that have not started are cancelled, so that this is never slower than a single thread. After an error
    ``stop()`` is called, and all of them have stopped before the error is raised.
    """

    def guarded() -> None:
        try:
            work()
        except BaseException:
            stop()
            raise

    helping = _submit(guarded, helpers)
    try:
        guarded()
    except BaseException as own:
        met = _outcome(helping, stop)
        if isinstance(own, InterruptedError) and met is not None and not isinstance(met, InterruptedError):
            raise met from None
        raise
    error = _outcome(helping, stop)
    if error is not None:
        raise error


def _forget() -> None:
    LOOP[0] = THREAD[0] = _POOLS.executor = _POOLS.workers = None
    _POOLS.worker_count = 0


def reset_resources_after_fork() -> None:
    """Leave loop, thread and pools to the parent process; the child makes its own."""
    _POOLS.renew()
    _forget()


at_exit(cleanup_resources)
at_fork(renew=reset_resources_after_fork)


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
    The result of the coroutine; its errors are raised here.

    Raises
    ------
    SyncError
        If called in the thread that runs the loop, where the wait would never end; if the loop does not run; or if the
        interpreter is ending.
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
    """One coroutine that another thread's loop runs, and its result."""

    __slots__ = ("_called_off", "_caller", "_coro", "_ended", "_loop", "_task")

    def __init__(self, coro: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._coro = coro
        self._loop = loop
        self._caller = threading.get_ident()
        self._task: asyncio.Task[T] | None = None
        self._called_off = False
        self._ended = threading.Event()
        loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        if self._called_off:
            self._coro.close()
            self._ended.set()
            return
        CALLER.set(self._caller)  # in a copy of the caller's context, which the task takes over
        self._task = self._loop.create_task(self._coro)
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # read, so that it is not reported as an error without a reader
        self._ended.set()

    def _cancel(self) -> None:
        self._called_off = True
        if self._task is not None:
            self._task.cancel()

    def _abandon(self) -> None:
        """Cancel the work and give it a moment to stop, so that nothing is written after the caller has continued."""
        try:
            self._loop.call_soon_threadsafe(self._cancel)
        except RuntimeError:
            return  # the loop was closed: nothing runs any more
        self._ended.wait(INTERRUPT_GRACE_SECONDS)

    def wait(self, timeout: float | None) -> T:
        """Wait for the result; if the wait ends early, cancel the work first."""
        try:
            ended = self._ended.wait(timeout)
        except BaseException:
            self._abandon()
            raise
        if not ended:
            self._abandon()
            raise TimeoutError(f"the operation did not end within {timeout} seconds (async.timeout)")
        task, self._task = self._task, None  # a raised error refers to this frame: avoid a reference cycle
        assert task is not None
        try:
            return task.result()
        finally:
            del task


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
            "Calling sync() from within a running loop: the thread of this call is that of the loop that shall run it, "
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
    """Methods for a class that runs its coroutines and asynchronous iterators to their end."""

    def _sync(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return sync(coroutine, timeout=settings.get("async.timeout", None))

    def _sync_iter(self, async_iterator: AsyncIterator[T]) -> list[T]:
        return list(self._sync(_collect_aiterator(async_iterator)))
