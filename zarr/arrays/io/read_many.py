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
from zarr.arrays.io.chunks import cached_chunk_steps, check_missing, decode_steps, fits_cache, note_place, patient_steps
from zarr.arrays.io.reading import checked_out, get_selection_steps, settle_boolean_fields, wants_pipeline
from zarr.arrays.io.selection import as_items, plan_orthogonal, plan_simple, simple_kind
from zarr.arrays.io.shard_read import ShardPart, read_inner_steps, stored_steps
from zarr.arrays.layout import ArrayLayout
from zarr.dtype.base import empty_array
from zarr.logs import logs_codecs
from zarr.steps.requests import Gather, Get, Steps, Transfer
from zarr.types import MemoryOrder

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle

Ndarray = np.ndarray[Any, Any]
Wish = tuple[zarr_core.Plan, int, Ndarray]
"""A slot of a plan, and the array that the plan is read into."""


class Selected(NamedTuple):
    """One selection: its plan, and where its elements go."""

    plan: zarr_core.Plan
    data: Ndarray
    """Of the data type of the array."""
    result: Ndarray
    """The array that the caller gets; another one than ``data`` where the caller's memory has another data type."""


class Overlaid(NamedTuple):
    """The chunks that several plans touch, in the order of the grid, and who wants each."""

    coords: NDArray[np.int64]
    """One row a chunk."""
    owners: NDArray[np.int64]
    slots: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Chunk i is wanted by the slots ``slots[starts[i]:starts[i + 1]]`` of the plans ``owners[...]``."""

    def wishes(self, index: int, selected: Sequence[Selected]) -> list[Wish]:
        """Return the plans that want a chunk."""
        here = range(int(self.starts[index]), int(self.starts[index + 1]))
        return [(selected[o].plan, int(self.slots[i]), selected[o].data) for i in here for o in [int(self.owners[i])]]


def outs_for(out: Any, count: int) -> list[Any]:
    """Return the caller's memory for each of some selections: a sequence of arrays, or one array with a row for each.

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
    for one in selected:
        if one.data.dtype.kind == "V":
            settle_boolean_fields(one.data)
    return [_answer(handle, one) for (handle, _), one in zip(requests, selected, strict=True)]


def _answer(handle: ArrayHandle, one: Selected) -> Any:
    """Return what was read as the user sees it, in the place that the user gave."""
    nullable = handle.layout.nullable
    data = one.data if nullable is None else nullable.to_masked(one.data)
    if one.result is one.data:
        return data
    one.result[...] = data
    return one.result


def _group_of(
    groups: dict[str, list[tuple[ArrayHandle, ArrayLayout, list[Selected]]]], handle: ArrayHandle
) -> tuple[ArrayLayout, list[Selected]]:
    """Return the layout on which the selections of an array are planned; one, however often the array was opened."""
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
    batch = handle.batch  # asked once: another thread may end it
    if batch is None:
        yield from read_overlaid_steps(layout, selected, handle.bulk)
        return
    for one in selected:
        yield from batch.read_steps(layout, one.plan, one.data)


def read_overlaid_steps(layout: ArrayLayout, selected: list[Selected], bulk: str | None) -> Steps[None]:
    """Read all selections of one array."""
    selected = [one for one in selected if one.plan.nslots]
    if not selected:
        return
    if layout.retries:
        yield from patient_steps(layout, lambda once: read_overlaid_steps(once, selected, bulk))
        return
    if logs_codecs():
        bulk = None  # somebody listens: each chunk has its line
    if layout.shard is not None:
        yield from read_shared_shards_steps(layout, selected, bulk)
        return
    chunks = overlay([one.plan for one in selected])
    if layout.cache_bytes and fits_cache(layout, len(chunks.coords)):
        bulk = None
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
    check_missing(layout, missing)


def shared_job(layout: ArrayLayout, selected: list[Selected], chunks: Overlaid) -> zarr_core.SharedReadJob:
    """All chunks as one job of the compiled core."""
    program, fill = layout.program, layout.fill
    readers = [zarr_core.ReadJob(one.plan, program, one.data, fill) for one in selected]
    return zarr_core.SharedReadJob(readers, chunks.owners, chunks.slots, chunks.starts)


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
        chain = layout.chain if layout.regular else layout.chain_for(slot.chunk_shape)
        if layout.cache_bytes:
            chunk = yield from cached_chunk_steps(layout, chain, key)
        else:
            raw = yield Get(key)
            chunk = None if raw is None else (yield from decode_steps(chain, raw))
        place(chunk, layout, wishes)
        if chunk is None:
            return coords
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return None


# ----------------------------------------------------------------------------------------------- shards


class WantedShard:
    """The inner chunks of one shard that are wanted, and by whom.

    Attributes
    ----------
    coords : tuple of int
    counts : tuple of int
        Inner chunks per shard, per axis.
    wishes : dict of int to list of (int, int)
        By the place of an inner chunk: which selections, and which slots of their plans.
    """

    __slots__ = ("coords", "counts", "wishes")

    def __init__(self, coords: tuple[int, ...], counts: tuple[int, ...]) -> None:
        self.coords = coords
        self.counts = counts
        self.wishes: dict[int, list[tuple[int, int]]] = {}

    def places(self) -> list[int]:
        """Return the inner chunks in the order of the shard."""
        return sorted(self.wishes)

    def part(self, places: list[int]) -> ShardPart:
        """Return some of them, without a plan that they belong to."""
        return ShardPart.of(self.coords, places, self.counts)


def wanted_shards(layout: ArrayLayout, selected: list[Selected]) -> list[WantedShard]:
    """Return the shards that some selections touch, in the order of the grid."""
    shards: dict[tuple[int, ...], WantedShard] = {}
    for owner, one in enumerate(selected):
        groups = zarr_core.ShardGroups(one.plan, layout.starts)
        for g in range(groups.ngroups):
            part = ShardPart(groups, g)
            wanted = shards.setdefault(part.coords, WantedShard(part.coords, part.counts))
            for slot, number in zip(part.slots, part.inner, strict=True):
                wanted.wishes.setdefault(number, []).append((owner, slot))
    return [shards[coords] for coords in sorted(shards)]


def read_shared_shards_steps(layout: ArrayLayout, selected: list[Selected], bulk: str | None) -> Steps[None]:
    """Read the inner chunks that are wanted, shard by shard."""
    shards = wanted_shards(layout, selected)
    count = sum(len(wanted.wishes) for wanted in shards)
    cached = layout.cache_bytes and fits_cache(layout, count)
    if bulk is not None and layout.program is not None and count > 1 and not cached:
        missing = yield from _decode_shards_steps(layout, selected, shards, bulk in ("files", "memory"))
    else:
        missing = yield Gather(read_shared_shard_steps(layout, selected, one, one.places()) for one in shards)
    check_missing(layout, missing)


def _decode_shards_steps(
    layout: ArrayLayout, selected: list[Selected], shards: list[WantedShard], near: bool
) -> Steps[list[tuple[int, ...] | None]]:
    """Decode the inner chunks of all shards in one job; those that failed are read again the plain way."""
    firsts = np.cumsum([0, *(len(one.wishes) for one in shards)]).tolist()
    wishes = [one.wishes[number] for one in shards for number in one.places()]
    pairs = np.array([pair for wish in wishes for pair in wish], dtype=np.int64)
    starts = np.cumsum([0, *map(len, wishes)], dtype=np.int64)
    readers = [zarr_core.ReadJob(one.plan, layout.program, one.data, layout.fill) for one in selected]
    job = zarr_core.SharedReadJob(readers, pairs[:, 0].copy(), pairs[:, 1].copy(), starts)
    missing: list[tuple[int, ...] | None] = yield Gather(
        _decode_shard_steps(layout, job, one, first, near) for one, first in zip(shards, firsts, strict=False)
    )
    failed = job.failed
    for one, first, stop in zip(shards, firsts, firsts[1:], strict=False):
        numbers = one.places()
        again = [numbers[i - first] for i in failed[(failed >= first) & (failed < stop)].tolist()]
        if again:
            missing.append((yield from read_shared_shard_steps(layout, selected, one, again)))
    return missing


def _decode_shard_steps(
    layout: ArrayLayout, job: zarr_core.SharedReadJob, wanted: WantedShard, first: int, near: bool
) -> Steps[tuple[int, ...] | None]:
    """Hand the inner chunks of one shard to a job; the result is the coordinates of a shard that is not stored."""
    assert layout.shard is not None
    key, places = layout.key(wanted.coords), wanted.places()
    try:
        part = wanted.part(places)
        found = yield from stored_steps(layout, layout.shard, key, part.nchunks, places, near)
        raws: list[Any] = [None] * len(places) if found is None else found
        job.from_buffers([None if raw is None else raw.as_numpy_array() for raw in raws], first)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return wanted.coords if found is None else None


def read_shared_shard_steps(
    layout: ArrayLayout, selected: list[Selected], wanted: WantedShard, places: list[int]
) -> Steps[tuple[int, ...] | None]:
    """Read some inner chunks of a shard; the result is the coordinates of a shard that is not stored."""

    def put(number: int, chunk: Ndarray | None) -> None:
        place(chunk, layout, [(selected[o].plan, slot, selected[o].data) for o, slot in wanted.wishes[number]])

    return (yield from read_inner_steps(layout, wanted.part(places), places, put))
