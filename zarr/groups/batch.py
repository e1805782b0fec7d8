"""Batches over all arrays of a group: one limit for them together, one end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.batch import Batch, Budget
from zarr.steps.requests import Gather, Steps

if TYPE_CHECKING:
    from zarr.groups.handle import GroupHandle

T = TypeVar("T")


class GroupBatch:
    """The batches of the arrays that are taken from a group while its batch is open.

    There is one for each path, whatever object stands for the array and however its documents change meanwhile.

    Parameters
    ----------
    budget : Budget
    """

    __slots__ = ("batches", "budget", "closed", "handles")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.batches: dict[str, Batch] = {}
        self.closed = False
        self.handles: list[ref[Any]] = []

    def adopt(self, node: T) -> T:
        """Let an array, or a group with all that will be taken from it, take part."""
        handle: Any = node._handle  # type: ignore[attr-defined]
        handle.batch = self._batch_for(handle) if isinstance(handle, ArrayHandle) else self
        self.handles.append(ref(handle))
        return node

    def _batch_for(self, handle: ArrayHandle) -> Batch:
        """Return the batch of an array: the one of its path, also for threads that take the array at the same time."""
        path = handle.store_path.path
        batch = self.batches.get(path)
        return self.batches.setdefault(path, Batch(handle, self.budget)) if batch is None else batch

    def flush_steps(self, path: str) -> Steps[None]:
        """Store what is pending of the arrays at and below a path."""
        below = f"{path}/" if path else ""
        batches = [one for at, one in list(self.batches.items()) if at == path or at.startswith(below)]
        yield Gather(batch.handle.from_outside_steps(batch.flush_steps()) for batch in batches)

    def close_steps(self) -> Steps[None]:
        """Store all that is pending; an error of one array does not keep the others from being stored.

        Threads may take arrays and write all the while: their writes go straight to the store from now on, each behind
        what is pending of its array. What was put into a batch before that is found here, for the batch was kept first.
        """
        self.budget.over = True
        try:
            errors = yield Gather([_close_one_steps(batch) for batch in list(self.batches.values())])
        finally:
            self.closed = True
            for known in self.handles:
                handle = known()
                if handle is not None:
                    handle.batch = None
        for error in errors:
            if error is not None:
                raise error


def _close_one_steps(batch: Batch) -> Steps[Exception | None]:
    try:
        yield from batch.handle.from_outside_steps(batch.close_steps())
    except Exception as error:
        return error
    return None


def pending_steps(handle: GroupHandle, *paths: str) -> Steps[None]:
    """Store what an open batch holds of nodes that are to be removed, replaced or moved: it shares their fate."""
    batch: GroupBatch | None = handle.batch
    if batch is not None:
        yield Gather(batch.flush_steps(path) for path in paths)


def adopted(handle: GroupHandle, node: T) -> T:
    """Return a node that was taken from a group: part of the group's batch, where one is open."""
    batch: GroupBatch | None = handle.batch
    return node if batch is None or batch.closed else batch.adopt(node)
