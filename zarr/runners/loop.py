"""The runner of synchronous calls over stores that have only coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from zarr.runners.asynchronous import AsyncRunner
from zarr.runners.sync import sync

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.steps.requests import Steps

T = TypeVar("T")


class LoopRunner:
    """Runs steps over a store that has only coroutines: one whole operation goes to the background loop.

    Parameters
    ----------
    store : Store

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> from zarr.steps.requests import ListDir
    >>> def names_steps():
    ...     return (yield ListDir(""))
    >>> LoopRunner(MemoryStore()).run(names_steps())
    []
    """

    __slots__ = ("__weakref__", "_runner", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self._runner = AsyncRunner(store)

    def run(self, steps: Steps[T]) -> T:
        """Drive ``steps`` to their end on the background loop and return what they return.

        Raises
        ------
        SyncError
            If called on the background loop's own thread.
        """
        return sync(self._runner.run(steps))
