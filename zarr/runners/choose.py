"""Which runner answers for a store."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from zarr._lazy import LazyModule
from zarr.abc.store import is_synchronous
from zarr.runners.inline import InlineRunner

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.runners import asynchronous, loop
    from zarr.runners.asynchronous import AsyncRunner
    from zarr.runners.loop import LoopRunner
else:
    asynchronous = LazyModule("zarr.runners.asynchronous")
    loop = LazyModule("zarr.runners.loop")

# A runner keeps its store alive, so an entry can never outlive the object that its id names; and the table keeps no
# runner alive, so a store goes when its last array goes. (Stores compare by value and do not hash: hence the ids.)
_SYNC: weakref.WeakValueDictionary[int, InlineRunner | LoopRunner] = weakref.WeakValueDictionary()
_ASYNC: weakref.WeakValueDictionary[int, AsyncRunner] = weakref.WeakValueDictionary()


def runner_for(store: Store) -> InlineRunner | LoopRunner:
    """Return the runner of synchronous calls over ``store``.

    Parameters
    ----------
    store : Store

    Returns
    -------
    InlineRunner or LoopRunner
        Inline where the store has synchronous methods, else over the background loop. The same one as long as
        somebody uses it.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> type(runner_for(MemoryStore())).__name__
    'InlineRunner'
    """
    runner = _SYNC.get(id(store))
    if runner is None:
        runner = InlineRunner(store, _over_loop) if is_synchronous(store) else loop.LoopRunner(store)  # type: ignore[arg-type]
        _SYNC[id(store)] = runner
    return runner


def _over_loop(store: Store) -> LoopRunner:
    return loop.LoopRunner(store)


def async_runner_for(store: Store) -> AsyncRunner:
    """Return the runner of asynchronous calls over ``store``.

    Parameters
    ----------
    store : Store

    Returns
    -------
    AsyncRunner

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> type(async_runner_for(MemoryStore())).__name__
    'AsyncRunner'
    """
    runner = _ASYNC.get(id(store))
    if runner is None:
        runner = asynchronous.AsyncRunner(store)
        _ASYNC[id(store)] = runner
    return runner
