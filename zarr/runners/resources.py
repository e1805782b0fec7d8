"""What outlives one operation: the background event loop, the thread pools, and their fork and exit hooks.

Everything here is made at first use and forgotten in a forked child, which then makes its own. Nothing keeps the
interpreter from ending: the loop's thread is a daemon, and the exit hook stops it and the pools without a word.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr._process import at_exit, at_fork
from zarr.defaults import settings

if TYPE_CHECKING:
    import asyncio
    import logging
    from concurrent import futures
    from concurrent.futures import Future, ThreadPoolExecutor

    from zarr.runners import pools
else:
    pools = LazyModule("zarr.runners.pools")
    asyncio = LazyModule("asyncio")
    logging = LazyModule("logging")
    # Where the main thread has ended already, loading its pools is an error: then nobody helps the caller's own thread.
    futures = LazyModule("concurrent.futures")



class SyncError(RuntimeError):
    """A synchronous call was made where it could never end, or ended without a result."""


class _Resources:
    """The loop, its thread and the pools of this process; made lazily, under one lock."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start afresh, without touching what belonged to a parent process."""
        # Reentrant: a finalizer may run, and use the library, at any allocation.
        self.lock = threading.RLock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None
        self.executor: ThreadPoolExecutor | None = None
        self.workers: ThreadPoolExecutor | None = None
        self.worker_count = 0


RESOURCES = _Resources()

# The same two objects in the form in which other libraries look for them: lists of one.
LOOP: list[asyncio.AbstractEventLoop | None] = [None]
THREAD: list[threading.Thread | None] = [None]


def get_lock() -> Any:
    """The lock under which loop, thread and pools are made."""
    return RESOURCES.lock


def max_workers() -> int:
    """How many threads one operation may use: the processors, or fewer where the configuration says so.

    Both settings of zarr-python count: ``threading.max_workers``, and ``codec_pipeline.max_workers``.
    """
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:
        cpus = os.cpu_count() or 1
    limits = [settings.get(f"{section}.max_workers", None) for section in ("threading", "codec_pipeline")]
    return max(1, min([cpus, *(int(limit) for limit in limits if limit is not None)]))


def get_executor() -> ThreadPoolExecutor:
    """Return the pool in which blocking calls of event-loop tasks run.

    Returns
    -------
    ThreadPoolExecutor
        Of ``threading.max_workers`` threads; where that is set, the default executor of the background loop, too.

    Examples
    --------
    >>> get_executor().submit(sum, [1, 2]).result()
    3
    """
    with RESOURCES.lock:
        if RESOURCES.executor is None:
            configured = settings.get("threading.max_workers", None)
            RESOURCES.executor = pools.Pool(max_workers=configured, thread_name_prefix="zarr_pool")
            if RESOURCES.loop is not None and configured is not None:
                RESOURCES.loop.set_default_executor(RESOURCES.executor)
        return RESOURCES.executor


def get_workers() -> ThreadPoolExecutor:
    """The pool of the threads that help with bulk jobs; its work never waits for anything."""
    wanted = max_workers()
    with RESOURCES.lock:
        if RESOURCES.workers is None or RESOURCES.worker_count < wanted:
            # The old pool is only let go of: somebody may be about to hand it work, and its threads end with it.
            RESOURCES.workers = futures.ThreadPoolExecutor(max_workers=wanted, thread_name_prefix="zarr_bulk")
            RESOURCES.worker_count = wanted
        return RESOURCES.workers


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def loop_executor() -> ThreadPoolExecutor | None:
    """The default executor for a loop of the library; None where the main thread has ended and none was made before.

    Examples
    --------
    >>> loop_executor().submit(sum, [1, 2]).result()
    3
    """
    if settings.get("threading.max_workers", None) is not None:
        return get_executor()
    try:
        return pools.Pool()
    except RuntimeError:
        return None


def get_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that runs in a background thread, starting it at the first call.

    Returns
    -------
    asyncio.AbstractEventLoop

    Examples
    --------
    >>> get_loop().is_running()
    True
    """
    loop = RESOURCES.loop
    if loop is not None and not loop.is_closed() and RESOURCES.thread is not None and RESOURCES.thread.is_alive():
        return loop
    executor = loop_executor()
    with RESOURCES.lock:
        if RESOURCES.loop is None or RESOURCES.loop.is_closed():
            loop = asyncio.new_event_loop()
            if executor is not None:
                loop.set_default_executor(executor)
            ready = threading.Event()
            loop.call_soon(ready.set)
            thread = threading.Thread(target=_run_loop, args=(loop,), name="zarr_io", daemon=True)
            thread.start()
            ready.wait()
            RESOURCES.loop, RESOURCES.thread = loop, thread
            LOOP[0], THREAD[0] = loop, thread
        return RESOURCES.loop


def cleanup_resources() -> None:
    """Stop the background loop and the pools; the next use makes new ones.

    Examples
    --------
    >>> cleanup_resources()
    """
    with RESOURCES.lock:
        loop, thread = RESOURCES.loop, RESOURCES.thread
        executor, workers = RESOURCES.executor, RESOURCES.workers
        RESOURCES.loop = RESOURCES.thread = RESOURCES.executor = RESOURCES.workers = None
        RESOURCES.worker_count = 0
        LOOP[0] = THREAD[0] = None
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


_submitting = threading.local()


def _submit(work: Callable[[], None], helpers: int) -> list[Future[None]]:
    """Hand work to helpers; to none, where this thread is just handing work over and a finalizer came between."""
    if getattr(_submitting, "now", False):
        return []
    _submitting.now = True
    helping: list[Future[None]] = []
    try:
        pool = get_workers()
        helping.extend(pool.submit(work) for _ in range(helpers))
    except RuntimeError:
        # The pool is being replaced or the interpreter ends: the caller's own thread does it all.
        logging.getLogger("zarr.core.sync").debug("no worker threads to be had", exc_info=True)
    finally:
        _submitting.now = False
    return helping


def _is_echo(error: BaseException) -> bool:
    """Whether an error only says that a job was stopped, as it is when somebody else has met the real one."""
    return isinstance(error, InterruptedError)


def _outcome(helping: list[Future[None]], stop: Callable[[], None]) -> BaseException | None:
    """Wait until all helpers have stopped, whatever interrupts the wait; what went wrong first of all."""
    started = [future for future in helping if not future.cancel()]
    interruption: BaseException | None = None
    while True:
        try:
            errors = [error for future in started if (error := future.exception()) is not None]
            errors.sort(key=_is_echo)
        except BaseException as error:  # a signal: nothing may go on behind its handler's back
            interruption = interruption or error
            stop()
        else:
            return interruption or (errors[0] if errors else None)


def run_helpers(work: Callable[[], None], helpers: int, stop: Callable[[], None] = lambda: None) -> None:
    """Run ``work()`` in the caller's thread and in up to ``helpers`` others at once; the first real error is raised.

    Helpers that never came to start are called off, so that this is never slower than doing it alone. After an error
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
        if met is not None and _is_echo(own) and not _is_echo(met):
            raise met from None
        raise
    error = _outcome(helping, stop)
    if error is not None:
        raise error


def reset_resources_after_fork() -> None:
    """Leave loop, thread and pools to the parent process; the child makes its own."""
    RESOURCES.forget()
    LOOP[0] = THREAD[0] = None


at_exit(cleanup_resources)
at_fork(renew=reset_resources_after_fork)
