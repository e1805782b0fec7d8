"""Many selections, of one array or of several in one store, read as one operation: each chunk comes once.

The plans of all selections of an array are laid over each other. What several want of a chunk is put into their
places after it was fetched and decoded a single time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import zarr_core
from zarr.arrays.patience import patient_steps
from zarr.arrays.reading import checked_out, get_selection_steps, wants_pipeline
from zarr.arrays.selection import as_items, plan_orthogonal, plan_simple, simple_kind
from zarr.arrays.shards import ShardPart, decode_inner_steps, stored_steps
from zarr.arrays.transfer import decode_steps, note_place, raise_missing
from zarr.dtype.base import empty_array
from zarr.logs import CODEC_LOG, CODEC_SWITCH, DEBUG
from zarr.steps.requests import Gather, Get, Steps, Transfer

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.layout import ArrayLayout
    from zarr.types import MemoryOrder

Ndarray = np.ndarray[Any, Any]
Wish = tuple[zarr_core.Plan, int, Ndarray]
"""A slot of a plan, and the array that the plan is read into."""


class Selected(NamedTuple):
    """One selection: its plan, and where its elements go."""

    plan: zarr_core.Plan
    data: Ndarray
    """Of the data type of the array."""
    result: Ndarray
    """What the caller gets; another array than ``data`` where the caller's memory has another data type."""


class Overlaid(NamedTuple):
    """The chunks that several plans touch, in the order of the grid, and who wants each."""

    coords: NDArray[np.int64]
    """One row a chunk."""
    owners: NDArray[np.int64]
    slots: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Chunk i is wanted by the slots ``slots[starts[i]:starts[i + 1]]`` of the plans ``owners[...]``."""

    def wishes(self, index: int, selected: Sequence[Selected]) -> list[Wish]:
        """Who wants a chunk."""
        here = range(int(self.starts[index]), int(self.starts[index + 1]))
        return [(selected[o].plan, int(self.slots[i]), selected[o].data) for i in here for o in [int(self.owners[i])]]


def outs_for(out: Any, count: int) -> list[Any]:
    """The caller's memory for each of some selections: a sequence of arrays, or one array with a row for each.

    Raises
    ------
    ValueError
        There are more or fewer arrays than selections.
    """
    if out is None:
        return [None] * count
    if len(out) != count:
        raise ValueError(f"out holds {len(out)} arrays for {count} selections")
    if isinstance(out, np.ndarray) and not out.dtype.hasobject:
        return [out[i, ...] for i in range(count)]
    return list(out)


def overlay(plans: Sequence[zarr_core.Plan]) -> Overlaid:
    """Lay plans over each other."""
    counts = np.array([plan.nslots for plan in plans], dtype=np.int64)
    coords = np.concatenate([plan.all_coords() for plan in plans])
    total = len(coords)
    order = np.lexsort(coords.T[::-1]) if coords.shape[1] else np.arange(total)
    coords = coords[order]
    begins = np.ones(total, dtype=bool)
    begins[1:] = (coords[1:] != coords[:-1]).any(axis=1)
    firsts = np.flatnonzero(begins)
    owners = np.repeat(np.arange(len(plans)), counts)
    slots = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return Overlaid(coords[firsts], owners[order], slots[order], np.append(firsts, total))


def plan_one(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection of integers and slices, or one that indexes each dimension by itself."""
    items = as_items(selection)
    return plan_orthogonal(layout, selection) if simple_kind(items) is None else plan_simple(layout, items)


def select(layout: ArrayLayout, order: MemoryOrder, selection: Any, out: Any, index: int) -> Selected:
    """Plan one selection and find a place for it."""
    try:
        plan = plan_one(layout, selection)
        target = None if out is None else checked_out(out, plan.shape)
    except (IndexError, TypeError, ValueError) as error:
        error.add_note(f"in selection {index} of a batch, of {layout.describe()}")
        raise
    if target is not None and target.dtype == layout.dtype:
        return Selected(plan, target, target)
    data = empty_array(plan.shape, layout.dtype, order)
    return Selected(plan, data, data if target is None else target)


def read_many_steps(requests: Sequence[tuple[ArrayHandle, Any]], outs: Sequence[Any]) -> Steps[list[Any]]:
    """Read selections of arrays in one store.

    Parameters
    ----------
    requests : sequence of (ArrayHandle, selection)
    outs : sequence of (array or None)
        As many, each where the elements of a selection go.

    Returns
    -------
    The arrays, in the order of the requests.
    """
    if wants_pipeline(None):
        pairs = zip(requests, outs, strict=True)
        answers: list[Any] = yield Gather(
            [get_selection_steps(handle, "orthogonal", s, out=out) for (handle, s), out in pairs]
        )
        return answers
    groups: dict[str, list[tuple[ArrayHandle, ArrayLayout, list[Selected]]]] = {}
    selected = []
    for index, ((handle, selection), out) in enumerate(zip(requests, outs, strict=True)):
        layout, members = _group_of(groups, handle)
        one = select(layout, handle.layout.order, selection, out, index)
        members.append(one)
        selected.append(one)
    yield from _all_steps([read_group_steps(*group) for known in groups.values() for group in known])
    return [_answer(handle, one) for (handle, _), one in zip(requests, selected, strict=True)]


def _answer(handle: ArrayHandle, one: Selected) -> Any:
    """What was read, as the user sees it, in the place that the user gave."""
    nullable = handle.layout.nullable
    data = one.data if nullable is None else nullable.to_masked(one.data)
    if one.result is one.data:
        return data
    one.result[...] = data
    return one.result


def _group_of(
    groups: dict[str, list[tuple[ArrayHandle, ArrayLayout, list[Selected]]]], handle: ArrayHandle
) -> tuple[ArrayLayout, list[Selected]]:
    """The layout on which the selections of an array are planned; one, however often the array was opened."""
    layout = handle.state.layout
    known = groups.setdefault(layout.path, [])
    for owner, other, members in known:
        if owner.batch is not handle.batch:
            continue  # what is written into a batch is seen by those who read through it, and by nobody else
        if other is layout or (other.metadata == layout.metadata and other.config == layout.config):
            return other, members
    members = []
    known.append((handle, layout, members))
    return layout, members


def _all_steps(work: list[Steps[None]]) -> Steps[None]:
    if len(work) == 1:
        yield from work[0]
    elif work:
        yield Gather(work)


def read_group_steps(handle: ArrayHandle, layout: ArrayLayout, selected: list[Selected]) -> Steps[None]:
    """Read all selections of one array, those of an open batch as the batch has them."""
    if handle.batch is None:
        yield from read_overlaid_steps(layout, selected, handle.bulk)
        return
    for one in selected:
        yield from handle.batch.read_steps(layout, one.plan, one.data)


def read_overlaid_steps(layout: ArrayLayout, selected: list[Selected], bulk: str | None) -> Steps[None]:
    """Read all selections of one array."""
    selected = [one for one in selected if one.plan.nslots]
    if not selected:
        return
    if layout.retries:
        yield from patient_steps(layout, lambda once: read_overlaid_steps(once, selected, bulk))
        return
    if layout.shard is not None:
        yield from read_shared_shards_steps(layout, selected)
        return
    if CODEC_SWITCH.get(DEBUG) is not False and CODEC_LOG.isEnabledFor(DEBUG):
        bulk = None  # somebody listens: each chunk has its line
    chunks = overlay([one.plan for one in selected])
    todo: Sequence[int] = range(len(chunks.coords))
    missing: list[tuple[int, ...] | None] = []
    if bulk is not None and layout.program is not None:
        job = shared_job(layout, selected, chunks)
        nbytes = len(todo) * layout.chunk_nbytes
        yield Transfer(job, "read", layout.keys, chunks.coords, count=len(todo), nbytes=nbytes)
        missing = [tuple(chunks.coords[i].tolist()) for i in job.missing.tolist()] if not layout.reads_missing else []
        todo = job.failed.tolist()
    if len(todo):
        missing += yield Gather(read_shared_chunk_steps(layout, chunks.wishes(i, selected)) for i in todo)
    _check_missing(layout, missing)


def shared_job(layout: ArrayLayout, selected: list[Selected], chunks: Overlaid) -> zarr_core.SharedReadJob:
    """All chunks as one job of the compiled core."""
    program, fill = layout.program, layout.fill
    readers = [zarr_core.ReadJob(one.plan, program, one.data, fill) for one in selected]
    return zarr_core.SharedReadJob(readers, chunks.owners, chunks.slots, chunks.starts)


def _check_missing(layout: ArrayLayout, missing: list[tuple[int, ...] | None]) -> None:
    if not layout.reads_missing:
        absent = [coords for coords in missing if coords is not None]
        if absent:
            raise_missing(layout, absent)


def place(chunk: Ndarray | None, layout: ArrayLayout, wishes: list[Wish]) -> None:
    """Put the parts of a chunk where they are wanted; None stands for a chunk of fill value."""
    for plan, slot, out in wishes:
        if chunk is None:
            zarr_core.fill(out, plan.slot(slot), layout.fill)
        else:
            zarr_core.scatter(chunk, plan.slot(slot), out)


def read_shared_chunk_steps(layout: ArrayLayout, wishes: list[Wish]) -> Steps[tuple[int, ...] | None]:
    """Read one chunk for all who want it; the result is the coordinates of a chunk that is not stored."""
    slot = wishes[0][0].slot(wishes[0][1])
    coords: tuple[int, ...] = slot.coords
    key = layout.key(coords)
    try:
        raw = yield Get(key)
        if raw is None:
            place(None, layout, wishes)
            return coords
        chain = layout.chain if layout.regular else layout.chain_for(slot.chunk_shape)
        place((yield from decode_steps(chain, raw)), layout, wishes)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return None


# ----------------------------------------------------------------------------------------------- shards


def read_shared_shards_steps(layout: ArrayLayout, selected: list[Selected]) -> Steps[None]:
    """Read the inner chunks that are wanted, shard by shard."""
    shards: dict[tuple[int, ...], tuple[int, dict[int, list[Wish]]]] = {}
    for one in selected:
        groups = one.plan.shard_groups(layout.starts)
        for g in range(groups.ngroups):
            part = ShardPart(groups, g)
            _, inner = shards.setdefault(part.coords, (part.nchunks, {}))
            for slot, number in zip(part.slots, part.inner, strict=True):
                inner.setdefault(number, []).append((one.plan, slot, one.data))
    missing = yield Gather(read_shared_shard_steps(layout, coords, *shards[coords]) for coords in sorted(shards))
    _check_missing(layout, missing)


def read_shared_shard_steps(
    layout: ArrayLayout, coords: tuple[int, ...], nchunks: int, inner: dict[int, list[Wish]]
) -> Steps[tuple[int, ...] | None]:
    """Read some inner chunks of a shard; the result is the coordinates of a shard that is not stored."""
    shard, key = layout.shard, layout.key(coords)
    assert shard is not None
    numbers = sorted(inner)
    try:
        found = yield from stored_steps(layout, shard, key, nchunks, numbers)
        if found is None:
            for wishes in inner.values():
                place(None, layout, wishes)
            return coords
        for number, raw in zip(numbers, found, strict=True):
            chunk = None if raw is None else (yield from decode_inner_steps(layout.chain, raw, number))
            place(chunk, layout, inner[number])
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return None
