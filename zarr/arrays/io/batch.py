"""Batches: writes are collected in memory, so that each chunk is encoded once and each shard written once.

The written part of a chunk is kept decoded, with a mask until all of it is written. When the batch ends (or exceeds its
limit), a completely written chunk is encoded without reading the store; any other is merged with the stored chunk. A
read puts pending elements over stored ones.

A batch has one lock, taken like the locks of nodes: writes, reads and the end of a batch never overlap. A batch that
has ended stays harmless: writes through it go straight to the store. A forked child has none of the pending chunks,
which its parent stores; for the child, the batches of its parent have ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr._process import at_fork, living
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io import reading
from zarr.arrays.io.chunks import decode_steps, gather_into, new_chunk, payload_steps, placed
from zarr.arrays.layout import ArrayLayout, is_edge
from zarr.errors import ArrayNotFoundError, ChunkError
from zarr.steps.requests import ChangedMeanwhileError, Delete, Gather, Get, Hold, Put, Size, Steps

if TYPE_CHECKING:
    from zarr.arrays import documents
    from zarr.arrays.io import shard_read as _shards
    from zarr.arrays.io import shard_write, writing
else:
    documents = LazyModule("zarr.arrays.documents")
    _shards = LazyModule("zarr.arrays.io.shard_read")
    writing = LazyModule("zarr.arrays.io.writing")
    shard_write = LazyModule("zarr.arrays.io.shard_write")

Ndarray = np.ndarray[Any, Any]
Coords = tuple[int, ...]


class Pending:
    """One chunk as it will be stored.

    Attributes
    ----------
    chunk : numpy.ndarray
        The full shape of the chunk; beyond the array's edge it holds the fill value.
    written : numpy.ndarray of bool, or None
        The written elements; None: the chunk needs nothing from the store.
    completed : bool
        True if the other elements are those of the store at their first read.
    """

    __slots__ = ("chunk", "completed", "written")

    def __init__(self, chunk: Ndarray, written: Ndarray | None) -> None:
        self.chunk = chunk
        self.written = written
        self.completed = False

    @property
    def nbytes(self) -> int:
        """The number of bytes of the chunk in memory."""
        return self.chunk.nbytes + (0 if self.written is None else self.written.nbytes)

    def covers(self, valid: Coords) -> bool:
        """Return True if every element of a part was written; for the whole chunk, this is remembered."""
        if self.written is None:
            return True
        covered = bool(self.written[tuple(map(slice, valid))].all())
        if covered and valid == self.chunk.shape:
            self.written = None
        return covered

    def merge(self, stored: Ndarray) -> None:
        """Take the elements that were not written from the stored chunk; keep the mask, as the store may change."""
        if self.written is not None:
            np.copyto(self.chunk, stored, where=~self.written)
        self.completed = True


class Budget:
    """The number of bytes that the batches of one ``with`` may hold together, and the number that they hold.

    Attributes
    ----------
    over : bool
        True if the ``with`` is ending: writes then go straight to the store, each after the pending chunks of its
        array.
    """

    __slots__ = ("limit", "nbytes", "over")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.nbytes = 0
        self.over = False

    def add(self, nbytes: int) -> None:
        """Count bytes; no call stands between the read and the change, so that no thread's count is lost."""
        self.nbytes += nbytes


class Batch:
    """The chunks of one array that wait to be stored."""

    __slots__ = ("__weakref__", "budget", "bulk", "chunks", "closed", "handle", "layout", "lock")

    def __init__(self, handle: ArrayHandle, budget: Budget) -> None:
        path = handle.store_path.path
        self.handle = handle
        self.bulk = handle.bulk
        self.layout = handle.layout
        self.budget = budget
        self.chunks: dict[Coords, Pending] = {}
        self.closed = False
        # Sorts after the documents of the array: appends acquire those first.
        self.lock = Hold((f"{path}/~batch" if path else "~batch",), "node")
        _batches.add(self)

    def forget(self, coords: Coords) -> None:
        """Drop a chunk that has been stored."""
        pending = self.chunks.pop(coords, None)
        if pending is not None:
            self.budget.add(-pending.nbytes)

    def write_steps(
        self, layout: ArrayLayout, plan: zarr_core.Plan, value: Ndarray, fields: list[str] | None
    ) -> Steps[None]:
        """Write into the batch; a write as large as the limit of the batch goes straight to the store."""
        yield self.lock
        if layout is not self.layout:
            yield from _take_layout_steps(self, layout)
        budget = self.budget
        large = budget.over or plan.nslots * layout.chunk_nbytes >= budget.limit
        if large and layout is self.layout:
            yield from self.flush_steps()
            yield Gather((writing.write_plan_steps(layout, plan, value, fields, self.bulk),))
            return
        for i in range(plan.nslots):
            slot = plan.slot(i)
            if fields is not None:
                # The other fields of each element come first: a mask covers elements, not their fields.
                _pending_for(self, layout, slot)
                yield from _complete_steps(self, slot.coords)
            _put(self, layout, slot, value, fields)
        if large or budget.nbytes > budget.limit:
            yield from self.flush_steps()

    def read_steps(self, layout: ArrayLayout, plan: zarr_core.Plan, out: Ndarray) -> Steps[None]:
        """Read the stored elements, with the pending ones over them."""
        yield self.lock
        if layout is not self.layout:
            yield from _take_layout_steps(self, layout)
        if not layout.reads_missing:  # a chunk that only the batch has is not missing
            yield from self.flush_steps()
        touched = [i for i in range(plan.nslots) if plan.coords(i) in self.chunks] if self.chunks else []
        if len(touched) < plan.nslots:
            yield Gather((reading.read_plan_steps(layout, plan, out, self.bulk),))
        for i in touched:
            yield from _complete_steps(self, plan.coords(i))
            zarr_core.scatter(self.chunks[plan.coords(i)].chunk, plan.slot(i), out)

    def flush_steps(self) -> Steps[None]:
        """Store all pending chunks; the batch continues."""
        yield self.lock
        layout = self.layout
        if not self.chunks:
            return
        if layout.shard is None:
            yield Gather(_store_chunk_steps(self, layout, coords) for coords in list(self.chunks))
            return
        shards: dict[Coords, dict[int, Coords]] = {}
        counts_of: dict[Coords, Coords] = {}
        for coords in self.chunks:
            at, number, counts = _shards.place_in_shard(layout, coords)
            shards.setdefault(at, {})[number] = coords
            counts_of[at] = counts
        yield Gather(_store_shard_steps(self, layout, at, counts_of[at], places) for at, places in shards.items())

    def close_steps(self) -> Steps[None]:
        """Store all pending chunks and end the batch; it ends also after an error.

        Raises
        ------
        ArrayNotFoundError
            If the array was removed meanwhile.
        """
        self.budget.over = True
        try:
            if self.chunks and not self.handle.perhaps_unstored:
                yield from _check_there_steps(self.handle, len(self.chunks))
            yield from self.flush_steps()
        finally:
            self.closed = True
            for coords in list(self.chunks):
                self.forget(coords)


def _check_there_steps(handle: ArrayHandle, count: int) -> Steps[None]:
    """Raise an error if an array was removed or moved: its chunks would belong to no node."""
    if (yield Size(next(iter(documents.node_keys(handle).values())))) is None:
        raise ArrayNotFoundError(
            f"{handle.describe()} was removed or moved while a batch was open: {count} chunk(s) of the batch are not "
            "stored; end the batch before you remove or move its array"
        )


_batches: WeakSet[Batch] = WeakSet()


def _end_in_child() -> None:
    for batch in living(_batches.__iter__):
        batch.budget.over = batch.closed = True
        batch.budget.nbytes = 0
        batch.chunks.clear()


at_fork(renew=_end_in_child)


# ----------------------------------------------------------------------------------------------- layouts


def _widened(known: ArrayLayout, layout: ArrayLayout) -> ArrayLayout | None:
    """Return the layout of the array with the larger of two shapes; None if the chunks of the two differ.

    Objects for the same array may know different shapes. Only the largest shape shows if a chunk was covered.
    """
    if known.ndim != layout.ndim or known.dtype != layout.dtype or known.inner != layout.inner:
        return None
    most = tuple(map(max, known.shape, layout.shape))
    ours, theirs = (x.metadata if x.shape == most else x.metadata.update_shape(most) for x in (known, layout))
    if ours.chunk_grid != theirs.chunk_grid:
        return None
    return layout if theirs is layout.metadata else layout.reshaped(theirs)


def _take_layout_steps(batch: Batch, layout: ArrayLayout) -> Steps[None]:
    """Change to the layout of the present read or write; call this under the lock of the batch.

    Pending chunks were written by another object for the same array, or for an array with other chunks that has been
    replaced since: these are stored by their own layout.
    """
    wide = _widened(batch.layout, layout)
    if wide is None:
        yield from batch.flush_steps()
    batch.layout = layout if wide is None else wide


# ----------------------------------------------------------------------------------------------- stored chunks


def _stored_chunk_steps(layout: ArrayLayout, coords: Coords, shape: Coords) -> Steps[Ndarray]:
    """Return one chunk as it is stored now; the fill value if it is not stored."""
    at, number, counts = (coords, 0, ()) if layout.shard is None else _shards.place_in_shard(layout, coords)
    key = layout.key(at)
    with placed(layout, key, "reading"):
        if layout.shard is None:
            raw, chain = (yield Get(key)), layout.chain_for(shape)
        else:
            found = yield from _shards.stored_steps(layout, layout.shard, key, math.prod(counts), [number])
            raw, chain = None if found is None else found[0], layout.chain
        return new_chunk(layout, shape) if raw is None else (yield from decode_steps(chain, raw))


def valid_shape(layout: ArrayLayout, coords: Coords) -> Coords:
    """Return the part of a chunk that lies inside the array."""
    return tuple(int(axis.valid_length(i)) for axis, i in zip(layout.grid.axes, coords, strict=True))


def _complete_steps(batch: Batch, coords: Coords, anew: bool = False) -> Steps[None]:
    """Complete a pending chunk with stored elements: those of its first read, or those of now."""
    pending, layout = batch.chunks[coords], batch.layout
    before = pending.nbytes
    inside = valid_shape(layout, coords)
    # What is stored keeps what another handle has appended beyond the array.
    if not pending.covers(pending.chunk.shape if anew else inside) and (anew or not pending.completed):
        try:
            pending.merge((yield from _stored_chunk_steps(layout, coords, pending.chunk.shape)))
        except ChunkError:
            if not pending.covers(inside):
                raise
    batch.budget.add(pending.nbytes - before)


# ----------------------------------------------------------------------------------------------- writing


def _pending_for(batch: Batch, layout: ArrayLayout, slot: zarr_core.Slot) -> Pending:
    pending = batch.chunks.get(slot.coords)
    if pending is None:
        shape = slot.chunk_shape
        pending = Pending(new_chunk(layout, shape), np.zeros(shape, dtype=bool))
        batch.chunks[slot.coords] = pending
        batch.budget.add(pending.nbytes)
    return pending


def _put(batch: Batch, layout: ArrayLayout, slot: zarr_core.Slot, value: Ndarray, fields: list[str] | None) -> None:
    """Put the part of a value that belongs to a slot into its pending chunk.

    The value is written before the mask: a call interrupted in between has written nothing.
    """
    pending = _pending_for(batch, layout, slot)
    gather_into(pending.chunk, value, slot, fields)
    if pending.written is None:
        return
    if slot.whole and fields is None and not is_edge(layout.edges, slot.coords):
        batch.budget.add(-pending.written.nbytes)
        pending.written = None
    else:
        zarr_core.gather(np.broadcast_to(np.True_, slot.plan.shape), slot, pending.written)


# ----------------------------------------------------------------------------------------------- storing


def _store_chunk_steps(batch: Batch, layout: ArrayLayout, coords: Coords) -> Steps[None]:
    key = layout.key(coords)
    with placed(layout, key, "writing"):
        matched = yield Hold((key,), "chunk", layout.scope, (key,))
        while True:
            yield from _complete_steps(batch, coords, anew=True)
            pending = batch.chunks[coords]
            # What was compared is not deleted, as for a part of a chunk.
            skip = layout.skip_filled and (not matched or pending.covers(pending.chunk.shape))
            raw = yield from payload_steps(layout, layout.chain_for(pending.chunk.shape), pending.chunk, skip)
            try:
                yield Delete(key) if raw is None else Put(key, raw)
                break
            except ChangedMeanwhileError:
                continue
    batch.forget(coords)


def _store_shard_steps(
    batch: Batch, layout: ArrayLayout, at: Coords, counts: Coords, places: dict[int, Coords]
) -> Steps[None]:
    part = _shards.ShardPart.of(at, list(places), counts)
    pendings = [batch.chunks[coords] for coords in places.values()]
    inside = [p.covers(valid_shape(layout, coords)) for p, coords in zip(pendings, places.values(), strict=True)]
    covered = all(inside) and len(inside) == shard_write.chunks_inside(layout, at, counts)
    whole = [p.covers(p.chunk.shape) for p in pendings]

    def chunk_steps(k: int, old: Any) -> Steps[Ndarray]:
        if old is not None:
            try:
                pendings[k].merge((yield from decode_steps(layout.chain, old)))
            except ChunkError:
                if not inside[k]:
                    raise
        elif pendings[k].completed:
            pendings[k].merge(new_chunk(layout, pendings[k].chunk.shape))
        return pendings[k].chunk

    yield from shard_write.put_part_steps(layout, part, whole, chunk_steps, batch.bulk, covered)
    for coords in places.values():
        batch.forget(coords)


class BatchScope:
    """The context manager of ``array.batch()`` and ``group.batch()``, for ``with`` and ``async with``.

    Parameters
    ----------
    handle : ArrayHandle or GroupHandle
    run, async_run : callable
        Run the steps that end the batch, for ``with`` and for ``async with``.
    make : callable
        Makes the batch from its budget.
    limit : int
        Number of bytes that the batch may hold.
    """

    __slots__ = ("_async_run", "_batch", "_handle", "_limit", "_make", "_run")

    def __init__(self, handle: Any, run: Any, async_run: Any, make: Callable[[Budget], Any], limit: int) -> None:
        self._batch: Any = None
        self._handle, self._run, self._async_run, self._make = handle, run, async_run, make
        self._limit = checked_limit(limit)

    def __enter__(self) -> None:
        """Open a batch; inside another one, that one continues."""
        mine = self._make(Budget(self._limit))
        open_now = self._handle.batch
        # No call stands between the read and the change: if two threads begin a batch, the second finds that of the
        # first.
        if open_now is None or open_now.closed:
            self._handle.batch = mine
            self._batch = mine

    def _leave(self) -> None:
        if self._handle.batch is self._batch:
            self._handle.batch = None
        self._batch = None

    def __exit__(self, *_: object) -> None:
        if self._batch is not None:
            try:
                self._run(self._batch.close_steps())
            finally:
                self._leave()

    def __del__(self) -> None:
        # Ctrl-C may come just before the first line of `__exit__`, or of `_leave`: without an end, the batch would
        # collect all later writes and store none of them.
        if self._batch is not None:
            try:
                if not self._batch.closed:
                    self._run(self._batch.close_steps())
            finally:
                self._leave()

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        if self._batch is not None:
            try:
                await self._async_run(self._batch.close_steps())
            finally:
                self._leave()


def checked_limit(limit: int) -> int:
    """Check the number of bytes that a batch may hold.

    Raises
    ------
    ValueError
        If it is less than one.
    """
    if limit < 1:
        raise ValueError(f"a batch holds at least one byte, got max_bytes={limit}")
    return int(limit)
