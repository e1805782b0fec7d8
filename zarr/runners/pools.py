"""Pools of threads for blocking calls, and what takes their place when no thread can be had any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from zarr.runners.concurrency import CHANGE, CalledOffChange

T = TypeVar("T")


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
    """What a call came to, made here and now.

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
