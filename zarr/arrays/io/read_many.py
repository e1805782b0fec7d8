"""Read many selections, of one array or of several in one store, as one operation: each chunk is fetched once.

The plans of all selections of an array are overlaid. The parts of a chunk that several selections need are put into
their places after it was fetched and decoded once. Programs with an indexer of their own (anndata, annbatch) read what
it selects in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import zarr_core
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io import reading
from zarr.arrays.io.chunks import (
    cached_chunk_steps,
    check_missing,
    decode_steps,
    fits_cache,
    placed,
    retry_missing_steps,
)
from zarr.arrays.io.reading import checked_out, project, wants_pipeline
from zarr.arrays.io.selection import Fields, as_items, field_dtype, plan_orthogonal, plan_simple, simple_kind
from zarr.arrays.io.shard_read import ShardPart, place_in_shard, read_inner_steps, stored_steps
from zarr.arrays.layout import ArrayLayout
from zarr.buffer.core import BufferPrototype, NDBuffer
from zarr.chunks.dimensions import DimensionGrid
from zarr.dtype.base import empty_array
from zarr.logs import logs_codecs
from zarr.steps.requests import Gather, Get, Steps, Transfer
from zarr.types import MemoryOrder

Ndarray = np.ndarray[Any, Any]
Target = tuple[zarr_core.Plan, int, Ndarray]
"""A slot of a plan, and the array that receives the result of the plan."""


class Selected(NamedTuple):
    """One selection: its plan, and the array that receives its elements."""

    plan: zarr_core.Plan
    data: Ndarray
    """An array of the data type of the stored array."""
    result: Ndarray
    """The array for the caller; another one than ``data`` if the caller's memory has another data type."""


class Overlaid(NamedTuple):
    """The chunks that several plans touch, in the order of the grid, with the slots that need each of them."""

    coords: NDArray[np.int64]
    """Coordinates, one row a chunk."""
    owners: NDArray[np.int64]
    slots: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Chunk i is needed by the slots ``slots[starts[i]:starts[i + 1]]`` of the plans ``owners[...]``."""

    def targets(self, index: int, selected: Sequence[Selected]) -> list[Target]:
        """Return the plans that need a chunk."""
        here = range(int(self.starts[index]), int(self.starts[index + 1]))
        return [(selected[o].plan, int(self.slots[i]), selected[o].data) for i in here for o in [int(self.owners[i])]]


def outs_for(out: Any, count: int) -> list[Any]:
    """Return the caller's memory for each of some selections: a sequence of arrays, or one array with a row for each.

    Raises
    ------
    ValueError
        If the number of arrays is not that of the selections.
    """
    if out is None:
        return [None] * count
    if len(out) != count:
        raise ValueError(f"out holds {len(out)} arrays for {count} selections")
    if isinstance(out, np.ndarray) and out.dtype.kind != "O":
        return [out[i, ...] for i in range(count)]
    return list(out)


def overlay(plans: Sequence[zarr_core.Plan]) -> Overlaid:
    """Overlay plans: find for each chunk the slots that need it."""
    coords, all_owners, all_slots = all_slots_of(plans)
    total = len(coords)
    order = np.lexsort(coords.T[::-1]) if coords.shape[1] else np.arange(total)
    coords = coords[order]
    begins = np.ones(total, dtype=bool)
    begins[1:] = (coords[1:] != coords[:-1]).any(axis=1)
    firsts = np.flatnonzero(begins)
    return Overlaid(coords[firsts], all_owners[order], all_slots[order], np.append(firsts, total))


def all_slots_of(plans: Sequence[zarr_core.Plan]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the coordinates of all slots of some plans, and for each the number of its plan and its own there."""
    counts = np.array([plan.nslots for plan in plans], dtype=np.int64)
    coords = np.concatenate([plan.all_coords() for plan in plans])
    owners = np.repeat(np.arange(len(plans)), counts)
    return coords, owners, np.arange(len(coords)) - np.repeat(np.cumsum(counts) - counts, counts)


def plan_one(layout: ArrayLayout, selection: Any) -> zarr_core.Plan:
    """Plan a selection of integers and slices, or one that indexes each dimension by itself."""
    items = as_items(selection)
    return plan_orthogonal(layout, selection) if simple_kind(items) is None else plan_simple(layout, items)


def select(layout: ArrayLayout, order: MemoryOrder, selection: Any, out: Any, index: int) -> Selected:
    """Plan one selection and find an array for it."""
    try:
        plan = plan_one(layout, selection)
        target = None if out is None else reading.checked_out(out, plan.shape)
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
        One entry for each request: the array that receives its elements, or None.

    Returns
    -------
    The arrays, in the order of the requests.
    """
    if reading.wants_pipeline(None, None):
        pairs = zip(requests, outs, strict=True)
        answers: list[Any] = yield Gather(
            [reading.get_selection_steps(handle, "orthogonal", s, out=out) for (handle, s), out in pairs]
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
            reading.normalize_boolean_fields(one.data)
    return [_answer(handle, one) for (handle, _), one in zip(requests, selected, strict=True)]


def _answer(handle: ArrayHandle, one: Selected) -> Any:
    """Return the elements in the form for the user, in the array that the user gave."""
    nullable = handle.layout.nullable
    data = one.data if nullable is None else nullable.to_masked(one.data)
    if one.result is one.data:
        return data
    one.result[...] = data
    return one.result


def _group_of(
    groups: dict[str, list[tuple[ArrayHandle, ArrayLayout, list[Selected]]]], handle: ArrayHandle
) -> tuple[ArrayLayout, list[Selected]]:
    """Return the layout for the plans of the selections of an array; the same one for all its open objects."""
    layout = handle.state.layout
    known = groups.setdefault(layout.path, [])
    for owner, other, members in known:
        if owner.batch is not handle.batch:
            continue  # only reads through the batch see its pending writes
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
    """Read all selections of one array; with an open batch, include its pending writes."""
    batch = handle.batch  # read once: another thread may end it
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
    if len(selected) == 1:  # no chunk is shared: of a large shard only an entry of the index is read
        yield from reading.read_plan_steps(layout, selected[0].plan, selected[0].data, bulk)
        return
    if layout.retries:
        yield from retry_missing_steps(layout, lambda once: read_overlaid_steps(once, selected, bulk))
        return
    if logs_codecs():
        bulk = None  # codecs are logged: each chunk has its line
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
        missing += yield Gather(read_shared_chunk_steps(layout, chunks.targets(i, selected)) for i in todo)
    check_missing(layout, missing)


def shared_job(layout: ArrayLayout, selected: list[Selected], chunks: Overlaid) -> zarr_core.SharedReadJob:
    """Return all chunks as one job of the compiled core."""
    program, fill = layout.program, layout.fill
    readers = [zarr_core.ReadJob(one.plan, program, one.data, fill) for one in selected]
    return zarr_core.SharedReadJob(readers, chunks.owners, chunks.slots, chunks.starts)


def place(chunk: Ndarray | None, layout: ArrayLayout, targets: list[Target]) -> None:
    """Put the parts of a chunk into their places; None stands for a chunk of fill values."""
    for plan, slot, out in targets:
        if chunk is None:
            zarr_core.fill(out, plan.slot(slot), layout.fill)
        else:
            zarr_core.scatter(chunk, plan.slot(slot), out)


def read_shared_chunk_steps(layout: ArrayLayout, targets: list[Target]) -> Steps[tuple[int, ...] | None]:
    """Read one chunk for all selections that need it; return the coordinates of a chunk that is not stored."""
    slot = targets[0][0].slot(targets[0][1])
    coords: tuple[int, ...] = slot.coords
    key = layout.key(coords)
    with placed(layout, key, "reading"):
        chain = layout.chain if layout.regular else layout.chain_for(slot.chunk_shape)
        if layout.cache_bytes:
            chunk = yield from cached_chunk_steps(layout, chain, key)
        else:
            raw = yield Get(key)
            chunk = None if raw is None else (yield from decode_steps(chain, raw))
        place(chunk, layout, targets)
        if chunk is None:
            return coords
    return None


# ----------------------------------------------------------------------------------------------- shards


class WantedShard:
    """The inner chunks of one shard that selections need.

    Attributes
    ----------
    coords : tuple of int
    counts : tuple of int
        Number of inner chunks per shard, per axis.
    targets : dict of int to list of (int, int)
        For the place of each inner chunk: the selections, and the slots of their plans.
    """

    __slots__ = ("coords", "counts", "targets")

    def __init__(self, coords: tuple[int, ...], counts: tuple[int, ...]) -> None:
        self.coords = coords
        self.counts = counts
        self.targets: dict[int, list[tuple[int, int]]] = {}

    def places(self) -> list[int]:
        """Return the inner chunks in the order of the shard."""
        return sorted(self.targets)

    def part(self, places: list[int]) -> ShardPart:
        """Return some of these inner chunks as a part without a plan."""
        return ShardPart.of(self.coords, places, self.counts)


def wanted_shards(layout: ArrayLayout, selected: list[Selected]) -> list[WantedShard]:
    """Return the shards that some selections touch, in the order of the grid."""
    shards: dict[tuple[int, ...], WantedShard] = {}
    coords, owners, slots = all_slots_of([one.plan for one in selected])
    for at, owner, slot in zip(coords.tolist(), owners.tolist(), slots.tolist(), strict=True):
        place, number, counts = place_in_shard(layout, at)
        wanted = shards.get(place)
        if wanted is None:
            wanted = shards[place] = WantedShard(place, counts)
        wanted.targets.setdefault(number, []).append((owner, slot))
    return [shards[place] for place in sorted(shards)]


def read_shared_shards_steps(layout: ArrayLayout, selected: list[Selected], bulk: str | None) -> Steps[None]:
    """Read the needed inner chunks, shard by shard."""
    if bulk in ("files", "memory") and all(one.data.size == 1 and one.plan.nslots == 1 for one in selected):
        yield from _read_elements_steps(layout, selected, bulk)
        return
    shards = wanted_shards(layout, selected)
    count = sum(len(wanted.targets) for wanted in shards)
    cached = layout.cache_bytes and fits_cache(layout, count)
    if bulk is not None and layout.program is not None and count > 1 and not cached:
        missing = yield from _decode_shards_steps(layout, selected, shards, bulk in ("files", "memory"))
    else:
        missing = yield Gather(read_shared_shard_steps(layout, selected, one, one.places()) for one in shards)
    check_missing(layout, missing)


def _read_elements_steps(layout: ArrayLayout, selected: list[Selected], bulk: str) -> Steps[None]:
    """Read single elements as the points of one plan: the core then needs no list of chunks for each of them."""
    assert layout.inner is not None
    slots = [one.plan.slot(0) for one in selected]
    within = [[_position(part) for part in slot.chunk_selection] for slot in slots]
    points = np.array([slot.coords for slot in slots], dtype=np.int64) * layout.inner + np.array(within, dtype=np.int64)
    found = empty_array((len(selected),), layout.dtype)
    yield from reading.read_plan_steps(layout, zarr_core.plan_points(layout.grid, list(points.T)), found, bulk)
    for index, one in enumerate(selected):
        one.data[...] = found[index : index + 1].reshape(one.data.shape)


def _position(part: Any) -> int:
    """Return the one position that a part of a selection names: a number, a slice or an array."""
    if isinstance(part, slice):
        return int(part.start)
    return part if isinstance(part, int) else int(np.ravel(part)[0])


def _decode_shards_steps(
    layout: ArrayLayout, selected: list[Selected], shards: list[WantedShard], near: bool
) -> Steps[list[tuple[int, ...] | None]]:
    """Decode the inner chunks of all shards in one job; read failed ones again the plain way."""
    firsts = np.cumsum([0, *(len(one.targets) for one in shards)]).tolist()
    targets = [one.targets[number] for one in shards for number in one.places()]
    pairs = np.array([pair for target in targets for pair in target], dtype=np.int64)
    starts = np.cumsum([0, *map(len, targets)], dtype=np.int64)
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
    """Give the inner chunks of one shard to a job; return the coordinates of a shard that is not stored."""
    assert layout.shard is not None
    key, places = layout.key(wanted.coords), wanted.places()
    with placed(layout, key, "reading"):
        part = wanted.part(places)
        found = yield from stored_steps(layout, layout.shard, key, part.nchunks, places, near)
        raws: list[Any] = [None] * len(places) if found is None else found
        job.from_buffers([None if raw is None else raw.as_numpy_array() for raw in raws], first)
    return wanted.coords if found is None else None


def read_shared_shard_steps(
    layout: ArrayLayout, selected: list[Selected], wanted: WantedShard, places: list[int]
) -> Steps[tuple[int, ...] | None]:
    """Read some inner chunks of a shard; return the coordinates of a shard that is not stored."""

    def put(number: int, chunk: Ndarray | None) -> None:
        place(chunk, layout, [(selected[o].plan, slot, selected[o].data) for o, slot in wanted.targets[number]])

    return (yield from read_inner_steps(layout, wanted.part(places), places, put))


class Part(NamedTuple):
    """The selection of an indexer in one chunk."""

    box: tuple[slice, ...]
    """The smallest box of the array that holds it."""
    within: tuple[Any, ...]
    """The selection in that box."""
    place: tuple[Any, ...]
    """The place in the result."""

    def target(self, result: Ndarray) -> Ndarray | None:
        """Return the part of the result that receives the whole box; None if it is no box there."""
        runs = all(isinstance(entry, slice) for entry in (*self.within, *self.place))
        whole = runs and self.within == (slice(None),) * len(self.box)
        return result[(*self.place, ...)] if whole else None


def read_indexer_steps(
    handle: ArrayHandle,
    indexer: Any,
    *,
    out: NDBuffer | Ndarray | None = None,
    fields: Fields = None,
    prototype: BufferPrototype | None = None,
) -> Steps[Any]:
    """Read the projections of an indexer; chunks that several of them need are fetched once.

    Parameters
    ----------
    handle
        The array.
    indexer
        Its ``shape`` and ``drop_axes``, and as items for each chunk: its coordinates, the selection within it, and the
        place in the result.
    out
        The array that receives the result.
    fields
        The fields of a structured data type to read.
    prototype
        The classes that hold the result.

    Returns
    -------
    The elements; a scalar for a result without dimensions.
    """
    layout, fields = handle.state.layout, fields or None
    shape = tuple(indexer.shape)
    dtype = field_dtype(layout.dtype, fields)
    data = empty_array(shape, dtype, layout.order) if out is None else checked_out(out, shape)
    grid = handle.state.chunk_grid.dimensions
    parts = [_part(projection, grid) for projection in indexer]
    direct = fields is None and data.dtype == layout.dtype and not indexer.drop_axes
    targets = [part.target(data) if direct else None for part in parts]
    boxes = yield from read_many_steps([(handle, part.box) for part in parts], targets)
    for part, target, box in zip(parts, targets, boxes, strict=True):
        if target is None:
            found = box[part.within] if fields is None else project(box, fields)[part.within]
            data[part.place] = np.squeeze(found, axis=indexer.drop_axes) if indexer.drop_axes else found
    if out is None and prototype is not None and wants_pipeline(None, prototype):
        return prototype.nd_buffer.from_numpy_array(data).as_ndarray_like()
    return data if shape else data[()]


def _part(projection: Any, grid: tuple[DimensionGrid, ...]) -> Part:
    coords, selection, place, *_ = projection
    axes = [_axis(entry, chunk, axis) for entry, chunk, axis in zip(_items(selection), coords, grid, strict=True)]
    return Part(tuple(box for box, _ in axes), tuple(within for _, within in axes), _items(place))


def _items(selection: Any) -> tuple[Any, ...]:
    return selection if isinstance(selection, tuple) else (selection,)


def _axis(entry: Any, chunk: int, axis: DimensionGrid) -> tuple[slice, Any]:
    """Return the run of an axis that holds a selection within a chunk, and the selection within that run."""
    start, length = axis.chunk_offset(chunk), axis.data_size(chunk)
    if isinstance(entry, slice):
        first, stop, step = entry.indices(length)
        if step == 1:
            return slice(start + first, start + max(first, stop)), slice(None)
    elif isinstance(entry, int | np.integer):
        return slice(start + int(entry), start + int(entry) + 1), 0
    elif np.size(entry):
        indices = np.flatnonzero(entry) if np.asarray(entry).dtype == bool else np.asarray(entry)
        if indices.size:
            least = int(np.min(indices))
            return slice(start + least, start + int(np.max(indices)) + 1), indices - least
        return slice(start, start), indices
    return slice(start, start + length), entry
