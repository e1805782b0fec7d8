"""Batches over all arrays of a group, with one limit and one end for all of them."""

from __future__ import annotations

from typing import Any, TypeVar
from weakref import ref

from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.batch import Batch, Budget
from zarr.groups.handle import GroupHandle
from zarr.steps.requests import Gather, Steps

T = TypeVar("T")


class GroupBatch:
    """The batches of the arrays that are opened from a group while its batch is open.

    There is one batch for each path, for all objects of one array, also if its documents change meanwhile.
    """

    __slots__ = ("batches", "budget", "closed", "handles")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.batches: dict[str, Batch] = {}
        self.closed = False
        self.handles: list[ref[Any]] = []

    def join(self, node: T) -> T:
        """Let an array take part; or a group, with all arrays that are opened from it later."""
        handle: Any = node._handle  # type: ignore[attr-defined]
        handle.batch = self._batch_for(handle) if isinstance(handle, ArrayHandle) else self
        self.handles.append(ref(handle))
        return node

    def _batch_for(self, handle: ArrayHandle) -> Batch:
        """Return the batch of an array's path, also if several threads open the array at the same time."""
        path = handle.store_path.path
        batch = self.batches.get(path)
        return self.batches.setdefault(path, Batch(handle, self.budget)) if batch is None else batch

    def flush_steps(self, path: str) -> Steps[None]:
        """Store what is pending for the arrays at and below a path."""
        below = f"{path}/" if path else ""
        batches = [one for at, one in self.batches.copy().items() if at == path or at.startswith(below)]
        yield Gather(batch.handle.from_outside_steps(batch.flush_steps()) for batch in batches)

    def close_steps(self) -> Steps[None]:
        """Store all that is pending; an error in one array does not stop the others.

        Other threads may open arrays and write meanwhile: their writes now go straight to the store, each after the
        pending chunks of its array. Chunks put into a batch before are found here, because each batch was registered
        first.
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
    """Store what an open batch holds of nodes that are to be removed, replaced or moved, so that it goes with them."""
    batch: GroupBatch | None = handle.batch
    if batch is not None:
        yield Gather(batch.flush_steps(path) for path in paths)


def joined(handle: GroupHandle, node: T) -> T:
    """Return a node that was opened from a group: part of the group's batch, if one is open."""
    batch: GroupBatch | None = handle.batch
    return node if batch is None or batch.closed else batch.join(node)
