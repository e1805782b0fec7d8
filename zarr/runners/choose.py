"""Choose the runner that answers for a store."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr.abc.store import Store, is_synchronous
from zarr.runners.inline import InlineRunner

if TYPE_CHECKING:
    from zarr.runners import asynchronous
    from zarr.runners.asynchronous import AsyncRunner, LoopRunner
else:
    asynchronous = LazyModule("zarr.runners.asynchronous")

R = TypeVar("R")


class _Runner(weakref.ref[R]):
    """A runner as long as somebody uses it, and the id of its store."""

    __slots__ = ("store_id", "table")

    store_id: int
    table: dict[int, _Runner[Any]]


# A runner keeps its store alive, so an entry can never outlive the object that its id names; and the table keeps no
# runner alive, so a store goes when its last array goes. (Stores compare by value and do not hash: hence the ids.)
_SYNC: dict[int, _Runner[InlineRunner | LoopRunner]] = {}
_ASYNC: dict[int, _Runner[AsyncRunner]] = {}


def _forget(gone: Any) -> None:
    # Its store lives until this has returned: no other one has taken over the id.
    if gone.table.get(gone.store_id) is gone:
        del gone.table[gone.store_id]


def _keep(table: Any, store: Store, runner: Any) -> None:
    kept = _Runner(runner, _forget)
    kept.store_id, kept.table = id(store), table
    table[id(store)] = kept


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
    known = _SYNC.get(id(store))
    runner = None if known is None else known()
    if runner is None:
        runner = InlineRunner(store, _over_loop) if is_synchronous(store) else asynchronous.LoopRunner(store)  # type: ignore[arg-type]
        _keep(_SYNC, store, runner)
    return runner


def _over_loop(store: Store) -> LoopRunner:
    return asynchronous.LoopRunner(store)


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
    known = _ASYNC.get(id(store))
    runner = None if known is None else known()
    if runner is None:
        runner = asynchronous.AsyncRunner(store)
        _keep(_ASYNC, store, runner)
    return runner
