"""Batches over all arrays of a group: one limit for them together, one end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.batch import Batch, Budget, checked_limit
from zarr.steps.requests import Gather, Steps

if TYPE_CHECKING:
    from zarr.groups.handle import GroupHandle

T = TypeVar("T")


class GroupBatch:
    """The batches of the arrays that are taken from a group while its batch is open.

    Parameters
    ----------
    budget : Budget
    """

    __slots__ = ("batches", "budget", "handles")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.batches: dict[str, Batch] = {}
        self.handles: list[Any] = []

    def adopt(self, node: T) -> T:
        """Let an array, or a group with all that will be taken from it, take part."""
        handle: Any = node._handle  # type: ignore[attr-defined]
        handle.batch = self._batch_for(handle) if isinstance(handle, ArrayHandle) else self
        self.handles.append(handle)
        return node

    def _batch_for(self, handle: ArrayHandle) -> Batch:
        """The batch of an array: one for all objects that stand for it, until it is made anew."""
        batch = self.batches.get(handle.store_path.path)
        if batch is None or batch.closed or not _same_chunks(batch, handle):
            batch = self.batches[handle.store_path.path] = Batch(handle, self.budget)
        return batch

    def close_steps(self) -> Steps[None]:
        """Store all that is pending; an error of one array does not keep the others from being stored."""
        batches, self.batches = list(self.batches.values()), {}
        try:
            errors = yield Gather(_close_one_steps(batch) for batch in batches)
        finally:
            handles, self.handles = self.handles, []
            for handle in handles:
                handle.batch = None
        for error in errors:
            if error is not None:
                raise error


def _same_chunks(batch: Batch, handle: ArrayHandle) -> bool:
    """Whether the chunks of a batch are still those of the array: after it was replaced they need not be."""
    old, new = batch.layout, handle.layout
    grids = old.grid.ndim == new.grid.ndim and old.metadata.update_shape(new.shape) == new.metadata
    return grids and old.dtype == new.dtype


def _close_one_steps(batch: Batch) -> Steps[Exception | None]:
    try:
        yield from batch.handle.from_outside_steps(batch.close_steps())
    except Exception as error:
        return error
    return None


class GroupBatchScope:
    """What ``with group.batch():`` and ``async with async_group.batch():`` enter and leave."""

    __slots__ = ("_batch", "_handle", "_limit", "_run")

    def __init__(self, handle: GroupHandle, run: Any, limit: int) -> None:
        self._handle = handle
        self._run = run
        self._limit = checked_limit(limit)
        self._batch: GroupBatch | None = None

    def _begin(self) -> None:
        """Open a batch; inside another one, that one goes on."""
        mine = GroupBatch(Budget(self._limit))
        if self._handle.batch is None:  # no call between the look and the change: another thread may begin one, too
            self._handle.batch = mine
            self._batch = mine

    def _leave(self) -> None:
        if self._handle.batch is self._batch:
            self._handle.batch = None
        self._batch = None

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *_: object) -> None:
        if self._batch is not None:
            batch = self._batch
            self._leave()
            self._run(batch.close_steps())

    async def __aenter__(self) -> None:
        self._begin()

    async def __aexit__(self, *_: object) -> None:
        if self._batch is not None:
            batch = self._batch
            self._leave()
            await self._run(batch.close_steps())


def adopted(handle: GroupHandle, node: T) -> T:
    """A node that was taken from a group: part of the group's batch, where one is open."""
    batch: GroupBatch | None = handle.batch
    return node if batch is None else batch.adopt(node)
