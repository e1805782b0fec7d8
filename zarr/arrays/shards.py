"""Shards: many inner chunks in one stored object, behind an index of their places.

A shard is a level of the layout. The plan is made on the inner chunks and grouped by shard; then per shard the index
is read by range, the wanted inner chunks are fetched in joined ranges, and each goes through the same steps as a
chunk that lies alone. A shard that is written in part keeps the stored bytes of the inner chunks that are not touched.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import zarr_core
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.arrays.transfer import (
    decode_steps,
    encode_steps,
    gather_into,
    is_filled,
    new_chunk,
    note_place,
    raise_missing,
    whole_chunk,
)
from zarr.buffer.core import default_buffer_prototype
from zarr.steps.requests import Delete, Gather, Get, GetRanges, Hold, Put, Steps, Transfer

if TYPE_CHECKING:
    from zarr.arrays.layout import ArrayLayout
    from zarr.buffer.core import Buffer
    from zarr.codecs.chain import ShardLevel

Ndarray = np.ndarray[Any, Any]

MIN_SHARE = 4
"""Shards that come as buffers come whole: that pays where one inner chunk in so many is wanted."""

EMPTY = 2**64 - 1
"""What the index says of an inner chunk that is not stored."""


def _format(shard: ShardLevel) -> zarr_core.IndexFormat:
    """The index in the compiled core; a layout has no program where this is missing."""
    assert shard.index_format is not None
    return shard.index_format


class ShardPart:
    """The part of a plan that lies in one shard.

    Attributes
    ----------
    coords : tuple of int
        The shard's place in the grid of stored objects.
    slots, inner : list of int
        The slots of the plan in this shard, and for each the place of its inner chunk in C order.
    counts : tuple of int
        Inner chunks per shard, per axis.
    nchunks : int
        Their product.
    """

    __slots__ = ("coords", "counts", "index", "inner", "nchunks", "slots")

    def __init__(self, groups: zarr_core.ShardGroups, index: int) -> None:
        self.index = index
        self.coords: tuple[int, ...] = groups.coords(index)
        self.slots: list[int] = groups.slots(index).tolist()
        self.inner: list[int] = groups.inner(index).tolist()
        self.counts: tuple[int, ...] = groups.chunks_per_shard(index)
        self.nchunks = math.prod(self.counts)


def index_request(shard: ShardLevel, key: str, nchunks: int) -> Get:
    """The request for the index of a shard."""
    nbytes = shard.index_nbytes(nchunks)
    if shard.index_location == "start":
        return Get(key, RangeByteRequest(0, nbytes))
    return Get(key, SuffixByteRequest(nbytes))


def read_index_steps(shard: ShardLevel, key: str, nchunks: int) -> Steps[Ndarray | None]:
    """The index of a shard as (offset, length) rows; None where there is no such shard."""
    raw = yield index_request(shard, key, nchunks)
    if raw is None:
        return None
    expected = shard.index_nbytes(nchunks)
    if len(raw) != expected:
        raise ValueError(
            f"the shard is too short for its index: {len(raw)} bytes where the index of {nchunks} inner chunks "
            f"takes {expected}"
        )
    index: Ndarray = shard.parse_index(raw, nchunks)
    return index


def checked_row(row: Any, inner: int) -> tuple[int, int] | None:
    """One row of an index; None for an inner chunk that is not stored."""
    offset, length = int(row[0]), int(row[1])
    if offset == EMPTY and length == EMPTY:
        return None
    if offset > 2**62 or length > 2**62:
        raise ValueError(
            f"the shard index is damaged: inner chunk {inner} is said to lie at {offset}, {length} bytes long"
        )
    return offset, length


def fetch_steps(layout: ArrayLayout, key: str, rows: list[tuple[int, int] | None]) -> Steps[list[Buffer | None]]:
    """The stored bytes at some rows of an index, near ones read together."""
    ranges = [RangeByteRequest(row[0], row[0] + row[1]) for row in rows if row is not None]
    if not ranges:
        return [None] * len(rows)
    config = layout.config
    found = yield GetRanges(
        key,
        ranges,
        max_gap_bytes=config.sharding_coalesce_max_gap_bytes,
        max_coalesced_bytes=config.sharding_coalesce_max_bytes,
    )
    if found is None:
        raise FileNotFoundError(f"the shard {key!r} went away while it was read")
    answers = iter(found)
    return [None if row is None else next(answers) for row in rows]


# ----------------------------------------------------------------------------------------------- reading


def read_shard_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, index: int, out: Ndarray
) -> Steps[tuple[int, ...] | None]:
    """Read the slots of one shard; the result is the coordinates of a shard that is not stored."""
    part = ShardPart(groups, index)
    return (yield from read_part_steps(layout, plan, part, part.slots, part.inner, out))


def read_part_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, part: ShardPart, slots: list[int], inner: list[int], out: Ndarray
) -> Steps[tuple[int, ...] | None]:
    """Read some slots of one shard."""
    shard, key = layout.shard, layout.key(part.coords)
    assert shard is not None
    chain = layout.chain
    try:
        table = yield from read_index_steps(shard, key, part.nchunks)
        if table is None:
            for slot in slots:
                zarr_core.fill(out, plan.slot(slot), layout.fill)
            return part.coords
        rows = [checked_row(table[i], i) for i in inner]
        found = yield from fetch_steps(layout, key, rows)
        for slot, place, raw in zip(slots, inner, found, strict=True):
            if raw is None:
                zarr_core.fill(out, plan.slot(slot), layout.fill)
                continue
            try:
                chunk = yield from decode_steps(chain, raw)
            except Exception as error:
                error.add_note(f"while decoding inner chunk {place} of a shard")
                raise
            zarr_core.scatter(chunk, plan.slot(slot), out)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return None


def read_shards_steps(layout: ArrayLayout, plan: zarr_core.Plan, out: Ndarray, bulk: str | None) -> Steps[None]:
    """Read all slots of a plan on inner chunks."""
    groups = plan.shard_groups(layout.starts)
    if bulk is not None and layout.program is not None and _bulk_read_pays(plan, groups, bulk):
        yield from read_shards_bulk_steps(layout, plan, groups, out)
        return
    if groups.ngroups == 1:
        missing = [(yield from read_shard_steps(layout, plan, groups, 0, out))]
    else:
        missing = yield Gather(read_shard_steps(layout, plan, groups, g, out) for g in range(groups.ngroups))
    if not layout.config.read_missing_chunks:
        absent = [coords for coords in missing if coords is not None]
        if absent:
            raise_missing(layout, absent)


def _bulk_read_pays(plan: zarr_core.Plan, groups: zarr_core.ShardGroups, bulk: str) -> bool:
    """Whether the core should read the shards: it reads ranges of files, but of buffers only whole ones."""
    if plan.nslots == 1:
        return False
    if bulk == "files":
        return True
    chunks_per_shard: int = math.prod(groups.chunks_per_shard(0))
    return bool(plan.nslots * MIN_SHARE >= groups.ngroups * chunks_per_shard)


def read_shards_bulk_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, out: Ndarray
) -> Steps[None]:
    """Read all shards in one job; inner chunks that failed are read again the plain way."""
    shard = layout.shard
    assert shard is not None
    job = zarr_core.ShardReadJob(plan, groups, layout.program, out, layout.fill, _format(shard))
    nbytes = plan.nslots * layout.chunk_nbytes
    yield Transfer(job, "read", layout.keys, groups, count=groups.ngroups, nbytes=nbytes)
    failed = set(job.failed.tolist())
    if failed:
        yield from _reread_steps(layout, plan, groups, failed, out)
    missing = set(job.missing.tolist()) if not layout.config.read_missing_chunks else set()
    if missing:
        yield from _check_missing_steps(layout, groups, missing)


def _reread_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, failed: set[int], out: Ndarray
) -> Steps[None]:
    for g in range(groups.ngroups):
        part = ShardPart(groups, g)
        pairs = [(s, i) for s, i in zip(part.slots, part.inner, strict=True) if s in failed]
        if pairs:
            slots, inner = [s for s, _ in pairs], [i for _, i in pairs]
            yield from read_part_steps(layout, plan, part, slots, inner, out)


def _check_missing_steps(layout: ArrayLayout, groups: zarr_core.ShardGroups, missing: set[int]) -> Steps[None]:
    """An inner chunk that a shard leaves out is fill by right; only a shard that is not there is missing."""
    shard = layout.shard
    assert shard is not None
    absent = []
    for g in range(groups.ngroups):
        part = ShardPart(groups, g)
        if missing.issuperset(part.slots):
            raw = yield index_request(shard, layout.key(part.coords), part.nchunks)
            if raw is None:
                absent.append(part.coords)
    if absent:
        raise_missing(layout, absent)


# ----------------------------------------------------------------------------------------------- writing


def chunks_inside(layout: ArrayLayout, coords: tuple[int, ...], counts: tuple[int, ...]) -> int:
    """How many inner chunks of a shard lie inside the array."""
    inside = 1
    for axis, start, at, count in zip(layout.grid.axes, layout.starts, coords, counts, strict=True):
        first = at * start if isinstance(start, int) else int(start[at])
        inside *= min(first + count, axis.nchunks) - first
    return inside


def assemble(shard: ShardLevel, counts: tuple[int, ...], payloads: dict[int, Buffer]) -> Buffer:
    """One shard out of the stored bytes of its inner chunks."""
    nchunks = math.prod(counts)
    table = np.full((nchunks, 2), EMPTY, dtype=np.uint64)
    at_start = shard.index_location == "start"
    offset = shard.index_nbytes(nchunks) if at_start else 0
    parts: list[NDArray[np.uint8]] = []
    for place in shard.order_of_writing(counts):
        payload = payloads.get(place)
        if payload is not None:
            table[place] = (offset, len(payload))
            offset += len(payload)
            parts.append(payload.as_numpy_array())
    index = np.frombuffer(shard.build_index(table), dtype=np.uint8)
    parts.insert(0 if at_start else len(parts), index)
    joined = np.concatenate(parts)
    return default_buffer_prototype().buffer.from_array_like(joined)


def kept_steps(layout: ArrayLayout, part: ShardPart, key: str, dropped: set[int]) -> Steps[dict[int, Buffer]]:
    """The stored bytes of the inner chunks of a shard, but for those that are about to be replaced."""
    shard = layout.shard
    assert shard is not None
    table = yield from read_index_steps(shard, key, part.nchunks)
    if table is None:
        return {}
    rows: list[tuple[int, int] | None] = []
    places: list[int] = []
    for place in np.flatnonzero((table != EMPTY).any(axis=1)).tolist():
        row = checked_row(table[place], place)
        if place not in dropped and row is not None:
            places.append(place)
            rows.append(row)
    found = yield from fetch_steps(layout, key, rows)
    return {place: raw for place, raw in zip(places, found, strict=True) if raw is not None}


def write_part_steps(
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    part: ShardPart,
    value: Ndarray,
    fields: list[str] | None,
    skip_filled: bool,
) -> Steps[None]:
    """Write the slots of one shard; what is kept of it is read, unless nothing is."""
    shard, key = layout.shard, layout.key(part.coords)
    assert shard is not None
    try:
        yield Hold((key,), "chunk", layout.scope)
        covered = {i for s, i in zip(part.slots, part.inner, strict=True) if fields is None and plan.whole(s)}
        payloads: dict[int, Buffer] = {}
        if len(covered) < chunks_inside(layout, part.coords, part.counts):
            payloads = yield from kept_steps(layout, part, key, covered)
        for slot_index, place in zip(part.slots, part.inner, strict=True):
            slot = plan.slot(slot_index)
            old = payloads.pop(place, None)
            chunk = yield from _changed_steps(layout, slot, old, value, fields)
            if not (skip_filled and is_filled(layout, chunk)):
                payloads[place] = yield from encode_steps(layout.chain, chunk)
        if payloads:
            yield Put(key, assemble(shard, part.counts, payloads))
        else:
            yield Delete(key)
    except Exception as error:
        note_place(error, layout, key, "writing")
        raise


def _changed_steps(
    layout: ArrayLayout, slot: zarr_core.Slot, old: Buffer | None, value: Ndarray, fields: list[str] | None
) -> Steps[Ndarray]:
    """One inner chunk as it will be stored."""
    if slot.whole and fields is None:
        return whole_chunk(layout, slot, value)
    if old is None:
        chunk = new_chunk(layout, slot.chunk_shape)
    else:
        chunk = np.array((yield from decode_steps(layout.chain, old)))
    gather_into(chunk, value, slot, fields)
    return chunk


def write_shards_steps(
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    value: Ndarray,
    fields: list[str] | None,
    skip_filled: bool,
    bulk: str | None,
) -> Steps[None]:
    """Write all slots of a plan on inner chunks."""
    groups = plan.shard_groups(layout.starts)
    indexes = list(range(groups.ngroups))
    if bulk is not None and layout.program is not None and fields is None and plan.nslots > 1:
        whole, indexes = split_groups(layout, plan, groups)
        if len(whole):
            indexes += yield from write_shards_bulk_steps(layout, plan, groups, value, skip_filled, whole)
        if not indexes:
            return
    write = partial(write_part_steps, layout, plan, value=value, fields=fields, skip_filled=skip_filled)
    if len(indexes) == 1:
        yield from write(ShardPart(groups, indexes[0]))
    else:
        yield Gather(write(ShardPart(groups, g)) for g in indexes)


def split_groups(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups
) -> tuple[NDArray[np.int64], list[int]]:
    """The shards that are written from end to end, and the others."""
    flags = None
    if not plan.all_whole:
        flags = np.fromiter((plan.whole(i) for i in range(plan.nslots)), dtype=bool, count=plan.nslots)
    whole: list[int] = []
    rest: list[int] = []
    for g in range(groups.ngroups):
        slots = groups.slots(g)
        full = len(slots) == chunks_inside(layout, groups.coords(g), groups.chunks_per_shard(g))
        (whole if full and (flags is None or flags[slots].all()) else rest).append(g)
    return np.array(whole, dtype=np.int64), rest


def write_shards_bulk_steps(
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    groups: zarr_core.ShardGroups,
    value: Ndarray,
    skip_filled: bool,
    whole: NDArray[np.int64],
) -> Steps[list[int]]:
    """Write whole shards in one job; the result is the shards that failed."""
    shard = layout.shard
    assert shard is not None
    which = None if len(whole) == groups.ngroups else whole
    job = zarr_core.ShardWriteJob(
        plan,
        groups,
        layout.program,
        value,
        layout.fill,
        skip_filled,
        _format(shard),
        shard.write_order,
        which=which,
    )
    nbytes, slots = plan.nslots * layout.chunk_nbytes, None if which is None else which.tolist()
    yield Transfer(job, "write", layout.keys, groups, count=len(whole), nbytes=nbytes, slots=slots)
    failed: list[int] = job.failed.tolist()
    return failed
