"""Write shards: whole ones in one step, parts of one while the stored bytes of all other inner chunks are kept.

Kept inner chunks are not handled one by one: chunks that are consecutive in the old shard and in the new one are read
and written as one run of bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zarr_core
from zarr.abc.store import ByteRequest, RangeByteRequest
from zarr.arrays.io.bulk_write import edge_flags, left_over, reaches, whole_flags, write_edges_steps
from zarr.arrays.io.chunks import changed_chunk_steps, decode_steps, payload_steps, placed
from zarr.arrays.io.shard_read import ShardPart, check_rows, index_format
from zarr.arrays.layout import ArrayLayout, is_edge
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.codecs.base.shard_level import EMPTY, ShardLevel, damaged_shard
from zarr.errors import ChunkError, ValueReplacedError
from zarr.steps.requests import (
    ChangedMeanwhileError,
    Delete,
    Gather,
    Get,
    GetParts,
    Hold,
    Put,
    Splice,
    Steps,
    Transfer,
)

Ndarray = np.ndarray[Any, Any]
Bytes = NDArray[np.uint8]
Known = tuple[ByteRequest, Buffer]

SPLICE_TRIES = (True, True, False)
"""For each try to write a part of a shard: True if the store copies the kept inner chunks itself.

A try fails if another program replaces the file meanwhile.
"""


class Piece:
    """Consecutive bytes of a new shard: one inner chunk that is written, or a run of kept ones.

    Attributes
    ----------
    rank : int
        The place of its first inner chunk in the order of writing.
    places : array of int
        Its inner chunks.
    offsets, lengths : array of int
        The place of each in these bytes, and its length.
    data : array of uint8, or None
        The bytes; None for kept ones that the store copies itself.
    span : (int, int)
        The place of kept bytes in the old shard.
    """

    __slots__ = ("data", "lengths", "offsets", "places", "rank", "span")

    def __init__(self, rank: int, places: Any, offsets: Any, lengths: Any, data: Bytes | None = None) -> None:
        self.rank = rank
        self.places = places
        self.offsets = offsets
        self.lengths = lengths
        self.data = data
        self.span = (0, 0)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.span[1] - self.span[0] if self.data is None else len(self.data)


@lru_cache(maxsize=64)
def places_by_rank(shard: ShardLevel, counts: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the inner chunks in the order of writing, and for each inner chunk its rank in that order."""
    order = np.array(shard.order_of_writing(counts), dtype=np.int64)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return order, ranks


def chunks_inside(layout: ArrayLayout, coords: tuple[int, ...], counts: tuple[int, ...]) -> int:
    """Return the number of inner chunks of a shard that lie inside the array."""
    inside = 1
    for axis, start, at, count in zip(layout.grid.axes, layout.starts, coords, counts, strict=True):
        first = at * start if isinstance(start, int) else int(start[at])
        inside *= min(first + count, axis.nchunks) - first
    return inside


def kept_runs(shard: ShardLevel, counts: tuple[int, ...], table: Ndarray, replaced: list[int]) -> list[Piece]:
    """Return the parts of a shard that stay, as runs of bytes, with their places in the old shard.

    A run ends where the next inner chunk does not follow in the old shard, or where a written one comes between.
    """
    order, ranks = places_by_rank(shard, counts)
    stays = (table != EMPTY).any(axis=1)
    stays[replaced] = False
    places = order[stays[order]]
    if not len(places):
        return []
    offsets, lengths = table[places, 0].astype(np.int64), table[places, 1].astype(np.int64)
    between = np.searchsorted(np.sort(ranks[replaced]), ranks[places])
    follows = (offsets[1:] == offsets[:-1] + lengths[:-1]) & (between[1:] == between[:-1])
    starts = [0, *(np.flatnonzero(~follows) + 1).tolist(), len(places)]
    pieces = []
    for first, stop in pairwise(starts):
        begin, end = int(offsets[first]), int(offsets[stop - 1] + lengths[stop - 1])
        here = slice(first, stop)
        piece = Piece(int(ranks[places[first]]), places[here], offsets[here] - begin, lengths[here])
        piece.span = (begin, end)
        pieces.append(piece)
    return pieces


def _all_there(ranges: list[RangeByteRequest], found: Any) -> list[Buffer]:
    for wanted, got in zip(ranges, found or [None] * len(ranges), strict=True):
        length = wanted.end - wanted.start
        if got is None or len(got) != length:
            raise damaged_shard(
                f"the shard is shorter than in its index: {0 if got is None else len(got)} bytes where {length} "
                f"bytes from {wanted.start} on are needed"
            )
    buffers: list[Buffer] = found
    return buffers


def assemble(shard: ShardLevel, counts: tuple[int, ...], pieces: list[Piece]) -> list[Bytes | tuple[int, int]]:
    """Join the pieces of a shard and its index: bytes, and ranges of the old shard."""
    nchunks = math.prod(counts)
    table = np.full((nchunks, 2), EMPTY, dtype=np.uint64)
    at_start = shard.index_location == "start"
    offset = shard.index_nbytes(nchunks) if at_start else 0
    parts: list[Bytes | tuple[int, int]] = []
    for piece in sorted(pieces, key=lambda piece: piece.rank):
        table[piece.places, 0] = piece.offsets + offset
        table[piece.places, 1] = piece.lengths
        offset += piece.nbytes
        parts.append(piece.span if piece.data is None else piece.data)
    index = np.frombuffer(shard.build_index(table), dtype=np.uint8)
    parts.insert(0 if at_start else len(parts), index)
    return parts


def store_steps(key: str, parts: list[Bytes | tuple[int, int]], known: list[Known]) -> Steps[bool]:
    """Store a shard that is given in parts; return True if the old one has no longer the ``known`` bytes.

    Ranges are of the old shard.
    """
    make = default_buffer_prototype().buffer.from_array_like
    if not any(isinstance(part, tuple) for part in parts):
        yield Put(key, make(np.concatenate(parts)))
        return False
    try:
        yield Splice(key, [part if isinstance(part, tuple) else make(part) for part in parts], known)
    except ValueReplacedError:
        return True
    except EOFError as error:
        raise damaged_shard(f"the shard is shorter than in its index: {error}") from error
    return False


# ----------------------------------------------------------------------------------------------- a part of a shard


def write_part_steps(
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    part: ShardPart,
    value: Ndarray,
    fields: list[str] | None,
    bulk: str | None = None,
) -> Steps[None]:
    """Write the slots of one shard."""
    whole = [fields is None and plan.whole(slot) for slot in part.slots]
    covered = all(whole) and len(whole) == chunks_inside(layout, part.coords, part.counts)
    if layout.edges and is_edge(layout.outer_edges, part.coords):
        at_edge = (is_edge(layout.edges, plan.coords(slot)) for slot in part.slots)
        whole = [each and not edge for each, edge in zip(whole, at_edge, strict=True)]

    def chunk_steps(k: int, old: Buffer | None) -> Steps[Ndarray]:
        return changed_chunk_steps(layout, layout.chain, plan.slot(part.slots[k]), old, value, fields)

    yield from put_part_steps(layout, part, whole, chunk_steps, bulk, covered)


def put_part_steps(
    layout: ArrayLayout,
    part: ShardPart,
    whole: list[bool],
    chunk_steps: Callable[[int, Buffer | None], Steps[Ndarray]],
    bulk: str | None,
    covered: bool,
) -> Steps[None]:
    """Store some inner chunks of one shard; kept ones are not decoded, and are read only if files cannot be spliced.

    Parameters
    ----------
    layout : ArrayLayout
    part : ShardPart
        The inner chunks to store.
    whole : list of bool
        For each of them, True if it is made without its stored bytes.
    chunk_steps : callable
        Returns the steps of the k-th of them, from its stored bytes (None: not stored, or not needed).
    bulk : str, optional
        "files": the store itself copies kept bytes.
    covered : bool
        If True, all elements inside the array are written: a damaged shard is replaced.
    """
    shard, key = layout.shard, layout.key(part.coords)
    assert shard is not None
    # Inner chunks beyond the array count where another handle may have appended them.
    count = part.nchunks if layout.outer_edges else chunks_inside(layout, part.coords, part.counts)
    looks = not all(whole) or len(whole) < count
    with placed(layout, key, "writing"):
        matched = yield Hold((key,), "chunk", layout.scope, (key,))
        for splice in SPLICE_TRIES if bulk == "files" and looks else repeat(False):
            pieces: list[Piece] = []
            old: dict[int, Buffer] = {}
            known: list[Known] = []
            compared = matched and looks
            try:
                if looks:
                    pieces, old, known = yield from _old_steps(layout, key, part, whole, splice)
            except ChunkError:
                if not covered:
                    raise
                compared = False
            for k, place in enumerate(part.inner):
                chunk = yield from chunk_steps(k, old.get(place))
                raw = yield from payload_steps(layout, layout.chain, chunk, layout.skip_filled)
                if raw is not None:
                    pieces.append(_piece_of(shard, part, place, raw))
            if not pieces and not compared:
                yield Delete(key)
                return
            if not pieces and not known:  # nothing was there
                return
            try:
                # What was compared is not deleted: a shard without chunks is stored.
                if not (yield from store_steps(key, assemble(shard, part.counts, pieces), known)):
                    return
            except ChangedMeanwhileError:
                continue


def _piece_of(shard: ShardLevel, part: ShardPart, place: int, raw: Buffer) -> Piece:
    data: Bytes = raw.as_numpy_array()
    rank = int(places_by_rank(shard, part.counts)[1][place])
    return Piece(rank, np.array([place]), np.array([0]), np.array([len(data)]), data)


def _old_steps(
    layout: ArrayLayout, key: str, part: ShardPart, whole: list[bool], splice: bool
) -> Steps[tuple[list[Piece], dict[int, Buffer], list[Known]]]:
    """Return the kept part of a shard, the stored bytes of inner chunks that are changed in part, and all bytes read.

    All are of one version of the shard. It is read as a whole if most of it is needed and one request is enough, or if
    it is no longer than the gap that is read over between two inner chunks.
    """
    shard, config = layout.shard, layout.config
    assert shard is not None
    place = shard.index_range(part.nchunks)
    chosen = _Chosen(shard, part, whole, splice)
    gap = config.sharding_coalesce_max_gap_bytes
    if splice and all(whole):
        raw = yield Get(key, place)
        found = None if raw is None else chosen.choose(raw)  # no range: the index alone is needed
    elif splice or (part.nchunks * layout.chunk_nbytes > gap and 2 * sum(whole) > part.nchunks):
        most = config.sharding_coalesce_max_bytes
        found = yield GetParts(key, place, chosen.choose, gap, most, strict=True)
    else:
        stored = yield Get(key)
        ranges = [] if stored is None else chosen.choose(shard.index_bytes(stored, part.nchunks))
        found = None if stored is None else [stored[one.start : one.end] for one in ranges]
    if found is None:
        return [], {}, []
    there = _all_there(chosen.ranges, found)
    for piece, raw in zip([] if splice else chosen.kept, there, strict=False):
        piece.data = raw.as_numpy_array()
    old = there[len(there) - len(chosen.changed) :]
    return chosen.kept, dict(zip(chosen.changed, old, strict=True)), [(place, chosen.index), *zip(chosen.ranges, there)]


class _Chosen:
    """What is needed of a stored shard to write a part of it.

    Attributes
    ----------
    index : Buffer
        The index.
    kept : list of Piece
        The inner chunks that stay.
    changed : list of int
        The stored inner chunks that are changed in part.
    ranges : list of RangeByteRequest
        Where the bytes of both lie; those of kept ones only if the store does not copy them itself.
    """

    __slots__ = ("changed", "index", "kept", "part", "ranges", "shard", "splice", "whole")

    def __init__(self, shard: ShardLevel, part: ShardPart, whole: list[bool], splice: bool) -> None:
        self.shard, self.part, self.whole, self.splice = shard, part, whole, splice

    def choose(self, raw: Buffer, _stamp: Any = None) -> list[RangeByteRequest]:
        """Return the ranges that are needed by the index of the shard."""
        table = self.shard.parse_index(raw, self.part.nchunks)
        check_rows(table)
        self.index = raw
        self.kept = kept_runs(self.shard, self.part.counts, table, self.part.inner)
        inner = zip(self.part.inner, self.whole, strict=True)
        self.changed = [place for place, whole in inner if not whole and (table[place] != EMPTY).any()]
        rows = [table[place].tolist() for place in self.changed]
        spans = [] if self.splice else [piece.span for piece in self.kept]
        spans += [(at, at + length) for at, length in rows]
        self.ranges = [RangeByteRequest(*span) for span in spans]
        return self.ranges


def write_shards_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, value: Ndarray, fields: list[str] | None, bulk: str | None
) -> Steps[None]:
    """Write all slots of a plan on inner chunks."""
    groups = zarr_core.ShardGroups(plan, layout.starts)
    indexes = list(range(groups.ngroups))

    def part_steps(g: int) -> Steps[None]:
        return write_part_steps(layout, plan, ShardPart(groups, g), value, fields, bulk)

    if bulk is not None and layout.program is not None and fields is None and plan.nslots > 1:
        whole, edge, indexes = split_groups(layout, plan, groups)
        bulk_steps = partial(write_shards_bulk_steps, layout, plan, groups, value)
        if len(whole):
            indexes = (yield from bulk_steps(whole)) + indexes
        if edge:
            look_steps = partial(_reaches_steps, layout, plan, groups, edge_flags(plan, layout.edges))
            yield from write_edges_steps(layout, groups.coords, edge, look_steps, bulk_steps, part_steps)
        if not indexes:
            return
    if len(indexes) == 1:
        yield from part_steps(indexes[0])
    else:
        yield Gather(part_steps(g) for g in indexes)


def split_groups(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups
) -> tuple[NDArray[np.int64], list[int], list[int]]:
    """Return the shards that are completely written, those of which this is true inside the array, and the others."""
    flags = None if plan.all_whole else whole_flags(plan)
    whole: list[int] = []
    edge: list[int] = []
    rest: list[int] = []
    for g in range(groups.ngroups):
        slots, coords = groups.slots(g), groups.coords(g)
        full = len(slots) == chunks_inside(layout, coords, groups.chunks_per_shard(g))
        if not (full and (flags is None or flags[slots].all())):
            rest.append(g)
        else:
            (edge if is_edge(layout.outer_edges, coords) else whole).append(g)
    return np.array(whole, dtype=np.int64), edge, rest


def _reaches_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, at_edge: NDArray[np.bool_], g: int
) -> Steps[bool]:
    """Return True if anything is stored of a shard beyond the array; all its inner chunks inside belong to the plan."""
    part = ShardPart(groups, g)
    key, whole = layout.key(part.coords), (~at_edge[part.slots]).tolist()
    slots = dict(zip(part.inner, part.slots, strict=True))
    try:
        with placed(layout, key, "writing"):
            kept, old, _ = yield from _old_steps(layout, key, part, whole, True)
            if kept:
                return True
            for place, raw in old.items():
                if reaches(layout, (yield from decode_steps(layout.chain, raw)), plan.valid_shape(slots[place])):
                    return True
    except ChunkError:
        pass  # what a damaged shard held is lost already
    return False


def write_shards_bulk_steps(
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    groups: zarr_core.ShardGroups,
    value: Ndarray,
    whole: NDArray[np.int64],
) -> Steps[list[int]]:
    """Write whole shards in one job; return the shards that failed."""
    shard = layout.shard
    assert shard is not None
    which = None if len(whole) == groups.ngroups else whole
    form, order, skips = index_format(shard), shard.write_order, layout.skip_filled
    job = zarr_core.ShardWriteJob(plan, groups, layout.program, value, layout.fill, skips, form, order, which=which)
    nbytes, slots = plan.nslots * layout.chunk_nbytes, None if which is None else which.tolist()
    scope = layout.scope
    yield Transfer(job, "write", layout.keys, groups, count=len(whole), nbytes=nbytes, slots=slots, scope=scope)
    return left_over(job)
