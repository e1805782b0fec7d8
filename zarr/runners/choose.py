"""Choose the runner for a store, and share it among all arrays and groups over that store object.

A store with plain methods gets an ``InlineRunner``, any other one a ``LoopRunner``; asynchronous callers get an
``AsyncRunner``. Runners are kept only as long as something uses them.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr._process import at_fork
from zarr.abc.store import Store, is_synchronous
from zarr.abc.stores.abilities import class_opens_itself, opens_itself
from zarr.runners.inline import InlineRunner

if TYPE_CHECKING:
    from zarr.runners import asynchronous, sync
    from zarr.runners.asynchronous import AsyncRunner, LoopRunner
else:
    asynchronous, sync = LazyModule("zarr.runners.asynchronous"), LazyModule("zarr.runners.sync")

R = TypeVar("R")


class _Runner(weakref.ref[R]):
    """A runner while it is in use, and the id of its store."""

    __slots__ = ("store_id", "table")

    store_id: int
    table: dict[int, _Runner[Any]]


# A runner keeps its store alive, so an entry never outlives the object with that id; and the table keeps no runner
# alive, so a store is freed with its last array. (Stores compare by value and have no hash: hence the ids.)
_SYNC: dict[int, _Runner[InlineRunner | LoopRunner]] = {}
_ASYNC: dict[int, _Runner[AsyncRunner]] = {}
_guard = threading.RLock()  # reentrant: a runner may go, and be forgotten, at any allocation


def _forget(gone: Any) -> None:
    # Its store lives until this has returned: no other store has the same id yet.
    guard = _guard
    if guard is None:  # the program ends, and the names of this module are gone
        return
    with guard:
        if gone.table.get(gone.store_id) is gone:
            del gone.table[gone.store_id]


def _renew_guard() -> None:
    global _guard
    _guard = threading.RLock()


at_fork(renew=_renew_guard)


def _keep(table: Any, store: Store, runner: Any) -> None:
    kept = _Runner(runner, _forget)
    kept.store_id, kept.table = id(store), table
    with _guard:
        table[id(store)] = kept


def runner_for(store: Store) -> InlineRunner | LoopRunner:
    """Return the runner for synchronous calls over ``store``.

    Returns
    -------
    InlineRunner or LoopRunner
        An inline runner if the store has synchronous methods, else one over the background loop. The same object is
        returned while it is in use.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> type(runner_for(MemoryStore())).__name__
    'InlineRunner'
    """
    known = _SYNC.get(id(store))
    runner = None if known is None else known()
    if runner is None:
        plain = is_synchronous(store)
        if plain and class_opens_itself(type(store)) and opens_itself(store) and not store._is_open:
            sync.sync(store._ensure_open())
        runner = InlineRunner(store, _over_loop) if plain else asynchronous.LoopRunner(store)  # type: ignore[arg-type]
        _keep(_SYNC, store, runner)
    return runner


def _over_loop(store: Store) -> LoopRunner:
    return asynchronous.LoopRunner(store)


def async_runner_for(store: Store) -> AsyncRunner:
    """Return the runner for asynchronous calls over ``store``.

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
