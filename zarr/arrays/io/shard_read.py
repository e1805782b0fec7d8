"""Read shards: several inner chunks in one stored value, with an index of their places.

A shard is a level of the layout. The plan is made on the inner chunks and grouped by shard. For each shard the index is
read by range, near ranges of inner chunks are fetched together, and each inner chunk goes through the same steps as a
chunk that is stored alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import zarr_core
from zarr.abc.store import RangeByteRequest
from zarr.arrays.io.chunks import check_missing, decode_steps, placed
from zarr.arrays.layout import ArrayLayout
from zarr.buffer.core import Buffer
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.shard_level import EMPTY, ShardLevel, damaged_shard
from zarr.errors import ChunkDecodeError, ValueReplacedError
from zarr.runners import caches as chunk_cache
from zarr.runners.caches import TABLES, file_indexes
from zarr.steps.requests import Gather, Get, GetParts, GetRanges, LastStamp, Stamp, Steps, Transfer

Ndarray = np.ndarray[Any, Any]
Coords = tuple[int, ...]

NEAR_GAP_BYTES = 16 << 10
"""Maximum number of unneeded bytes read between two inner chunks of a file or of memory: a request is cheap there."""

MIN_KEPT_CHUNKS = 8192
"""The index of so many inner chunks is kept, if the store gives stamps: a smaller one is parsed as fast as found."""

MOST_KEPT_SLOTS = 64
"""More inner chunks of shards in memory are read by the core, which looks at the index itself."""


def index_format(shard: ShardLevel) -> zarr_core.IndexFormat:
    """Return the index format of the compiled core; a layout without it has no program."""
    assert shard.index_format is not None
    return shard.index_format


class ShardPart:
    """The part of a plan that lies in one shard.

    Attributes
    ----------
    coords : tuple of int
        The place of the shard in the grid of stored values.
    slots, inner : list of int
        The slots of the plan in this shard, and for each the place of its inner chunk in C order.
    counts : tuple of int
        Number of inner chunks per shard, per axis.
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

    @classmethod
    def of(cls, coords: tuple[int, ...], inner: list[int], counts: tuple[int, ...]) -> ShardPart:
        """Return some inner chunks of a shard as a part without a plan."""
        part = cls.__new__(cls)
        part.index, part.coords, part.slots, part.inner = 0, coords, [], inner
        part.counts, part.nchunks = counts, math.prod(counts)
        return part


def place_in_shard(layout: ArrayLayout, coords: Coords) -> tuple[Coords, int, Coords]:
    """Return the shard of an inner chunk, its number in it, and the number of inner chunks of the shard per axis."""
    shard, number, counts = [], 0, []
    for start, at in zip(layout.starts, coords, strict=True):
        if isinstance(start, int):
            index, first, count = at // start, at - at % start, start
        else:
            index = int(np.searchsorted(start, at, "right")) - 1
            first, count = int(start[index]), int(start[index + 1] - start[index])
        shard.append(index)
        number = number * count + at - first
        counts.append(count)
    return tuple(shard), number, tuple(counts)


def read_index_steps(shard: ShardLevel, key: str, nchunks: int) -> Steps[Ndarray | None]:
    """Return the index of a shard as (offset, length) rows; None if the shard is not stored."""
    raw = yield Get(key, shard.index_range(nchunks))
    return None if raw is None else shard.parse_index(raw, nchunks)


def checked_row(row: Any, inner: int) -> tuple[int, int] | None:
    """Return one row of an index; None for an inner chunk that is not stored."""
    offset, length = int(row[0]), int(row[1])
    if offset == EMPTY and length == EMPTY:
        return None
    if offset > 2**62 or length > 2**62:
        raise _no_place(inner, offset, length)
    return offset, length


def _no_place(inner: int, offset: int, length: int) -> ChunkDecodeError:
    what = f"inner chunk {inner} has the offset {offset} and the length {length} in it"
    return damaged_shard(f"the shard index is damaged: {what}")


def check_rows(table: Ndarray) -> None:
    """Refuse an index whose numbers cannot be places in a file.

    Raises
    ------
    ChunkDecodeError
    """
    stored = (table != EMPTY).any(axis=1)
    bad = stored & (table > 2**62).any(axis=1)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        raise _no_place(place, *table[place].tolist())


# ----------------------------------------------------------------------------------------------- reading


def stored_steps(
    layout: ArrayLayout, shard: ShardLevel, key: str, nchunks: int, inner: list[int], near: bool = False
) -> Steps[list[Buffer | None] | None]:
    """Return the stored bytes of some inner chunks; None if the shard is not stored. If ``near``, requests are cheap.

    A shard of which every inner chunk is needed is read in one request, unless it is so large that parallel requests
    for its parts are faster.
    """
    if len(inner) >= nchunks and nchunks * layout.chunk_nbytes <= layout.config.sharding_coalesce_max_bytes:
        raw = yield Get(key)
        if raw is None:
            return None
        table = shard.parse_index(shard.index_bytes(raw, nchunks), nchunks)
        places = map(checked_row, table[inner].tolist(), inner)
        return [None if place is None else raw[place[0] : place[0] + place[1]] for place in places]
    gap = layout.config.sharding_coalesce_max_gap_bytes
    return (yield from _parts_steps(layout, shard, key, nchunks, inner, min(gap, NEAR_GAP_BYTES) if near else gap))


def _parts_steps(
    layout: ArrayLayout, shard: ShardLevel, key: str, nchunks: int, inner: list[int], gap: int
) -> Steps[list[Buffer | None] | None]:
    """Return the same by the index of the shard; near inner chunks are read together."""
    limits: dict[str, Any] = {"max_gap_bytes": gap}
    limits["max_coalesced_bytes"] = layout.config.sharding_coalesce_max_bytes
    keeps = layout.stamp is not None or nchunks >= MIN_KEPT_CHUNKS
    stamp = layout.stamp or ((yield Stamp(key)) if keeps else None)
    known = stamp or ((yield LastStamp(key)) if keeps else None)
    table = None if known is None else TABLES.find(known, key, shard.index_format, (nchunks, 2))
    rows: list[tuple[int, int] | None] = []
    found: list[Buffer | None] | None = None
    if table is not None and known is not None:
        rows = _rows(table, inner)
        found = yield from _known_ranges_steps(key, _ranges(rows), stamp, known, limits)
        if stamp is not None and (layout.stamp or (yield Stamp(key))) != stamp:
            found = None  # written meanwhile
    if found is None:
        read = yield from _indexed_parts_steps(shard, key, nchunks, inner, limits)
        if read is None:
            return None
        found, rows, table, exact = read
        if stamp is not None and (layout.stamp or (yield Stamp(key))) != stamp:
            stamp = None  # written meanwhile
        if keeps and (stamp or exact):
            TABLES.keep(stamp or exact, key, shard.index_format, table)
    answers = iter(found)
    return [None if row is None else next(answers) for row in rows]


def _rows(table: Ndarray, inner: list[int]) -> list[tuple[int, int] | None]:
    return list(map(checked_row, table[inner].tolist(), inner))


def _ranges(rows: list[tuple[int, int] | None]) -> list[RangeByteRequest]:
    return [RangeByteRequest(row[0], row[0] + row[1]) for row in rows if row is not None]


def _known_ranges_steps(
    key: str, ranges: list[RangeByteRequest], stamp: Any, known: Any, limits: dict[str, Any]
) -> Steps[list[Buffer | None] | None]:
    """Return ranges of a shard whose index is known; None if it is another shard by now.

    Without a present stamp, the store reads the version of which the index is known, if it reads at all.
    """
    if not ranges:
        return None if stamp is None else []
    try:
        found: list[Buffer | None] | None = yield GetRanges(
            key, ranges, version=known[1] if stamp is None else None, **limits
        )
    except ValueReplacedError:
        return None
    return found


def _indexed_parts_steps(
    shard: ShardLevel, key: str, nchunks: int, inner: list[int], limits: dict[str, Any]
) -> Steps[tuple[list[Buffer | None], list[tuple[int, int] | None], Ndarray, Any] | None]:
    """Read the index, then the inner chunks; return them, their rows, the index, and its stamp if the store has one."""
    read: list[Any] = []

    def choose(raw: Buffer, stamp: tuple[str, Any] | None) -> list[RangeByteRequest]:
        table = shard.parse_index(raw, nchunks)
        rows = _rows(table, inner)
        read[:] = [rows, table, stamp]
        return _ranges(rows)

    found = yield GetParts(key, shard.index_range(nchunks), choose, **limits)
    return None if found is None else (found, *read)


def read_part_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, part: ShardPart, out: Ndarray
) -> Steps[tuple[int, ...] | None]:
    """Read the slots of one shard; return the coordinates of a shard that is not stored."""
    slot_of = dict(zip(part.inner, part.slots, strict=True))

    def place(number: int, chunk: Ndarray | None) -> None:
        if chunk is None:
            zarr_core.fill(out, plan.slot(slot_of[number]), layout.fill)
        else:
            zarr_core.scatter(chunk, plan.slot(slot_of[number]), out)

    return (yield from read_inner_steps(layout, part, part.inner, place))


def read_inner_steps(
    layout: ArrayLayout, part: ShardPart, inner: list[int], place: Callable[[int, Ndarray | None], None]
) -> Steps[tuple[int, ...] | None]:
    """Decode some inner chunks of a shard; return the coordinates of a shard that is not stored.

    Parameters
    ----------
    layout : ArrayLayout
    part : ShardPart
    inner : list of int
        The places of the inner chunks.
    place : callable
        Puts the elements of the inner chunk at a place into the result; None stands for the fill value.
    """
    shard, key = layout.shard, layout.key(part.coords)
    assert shard is not None
    with placed(layout, key, "reading"):
        if layout.cache_bytes:
            chunks = yield from cached_inner_steps(layout, part, inner)
            for number in inner:
                place(number, None if chunks is None else chunks[number])
            return part.coords if chunks is None else None
        found = yield from stored_steps(layout, shard, key, part.nchunks, inner)
        for number, raw in zip(inner, found or [None] * len(inner), strict=True):
            place(number, None if raw is None else (yield from decode_inner_steps(layout.chain, raw, number)))
    return part.coords if found is None else None


def decode_inner_steps(chain: CodecChain, raw: Buffer, place: int) -> Steps[Ndarray]:
    """Decode one inner chunk of a shard."""
    try:
        chunk: Ndarray = yield from decode_steps(chain, raw)
    except Exception as error:
        error.add_note(f"while decoding inner chunk {place} of a shard")
        raise
    return chunk


def cached_inner_steps(
    layout: ArrayLayout, part: ShardPart, inner: list[int]
) -> Steps[dict[int, Ndarray | None] | None]:
    """Return some inner chunks of a shard by their places; None if the shard is not stored."""
    chain, key, shard = layout.chain, layout.key(part.coords), layout.shard
    assert shard is not None
    chunks: dict[int, Ndarray | None] = {}
    stamp = layout.stamp or (yield Stamp(key))
    if stamp is not None:
        find = chunk_cache.CHUNKS.find
        looked_up = ((place, find(stamp, (key, place), chain.codecs, chain.spec.shape)) for place in inner)
        chunks = {place: chunk for place, chunk in looked_up if chunk is not None}
    wanted = [place for place in inner if place not in chunks]
    if not wanted:
        return chunks
    found = yield from stored_steps(layout, shard, key, part.nchunks, wanted)
    same = stamp is not None and (layout.stamp or (yield Stamp(key))) == stamp
    if chunks and found is not None and not same:
        # The shard was written meanwhile: chunks of the cache and of the store must not be mixed.
        chunks, wanted = {}, inner
        found = yield from stored_steps(layout, shard, key, part.nchunks, inner)
    if found is None:
        return None
    for place, raw in zip(wanted, found, strict=True):
        chunk = None if raw is None else (yield from decode_inner_steps(chain, raw, place))
        chunks[place] = chunk
        if same and chunk is not None:
            chunk_cache.CHUNKS.keep(stamp, (key, place), chain.codecs, chunk, layout.cache_bytes)
    return chunks


def read_shards_steps(layout: ArrayLayout, plan: zarr_core.Plan, out: Ndarray, bulk: str | None) -> Steps[None]:
    """Read all slots of a plan on inner chunks."""
    groups = zarr_core.ShardGroups(plan, layout.starts)
    if bulk is not None and layout.program is not None and _bulk_read_pays(layout, plan, groups, bulk):
        yield from read_shards_bulk_steps(layout, plan, groups, out)
        return
    if groups.ngroups == 1:
        missing = [(yield from read_part_steps(layout, plan, ShardPart(groups, 0), out))]
    else:
        missing = yield Gather(read_part_steps(layout, plan, ShardPart(groups, g), out) for g in range(groups.ngroups))
    check_missing(layout, missing)


def _bulk_read_pays(layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, bulk: str) -> bool:
    """Return True if the core should read the shards: only the needed ranges of files and memory, all of other shards.

    Whole shards pay if more than half of each is needed and they are not too large.
    """
    chunks_per_shard: int = math.prod(groups.chunks_per_shard(0))
    if bulk == "memory" and plan.nslots <= MOST_KEPT_SLOTS and chunks_per_shard >= MIN_KEPT_CHUNKS:
        return False
    if bulk in ("files", "memory"):
        return True
    if plan.nslots >= groups.ngroups * chunks_per_shard:
        return True
    large = chunks_per_shard * layout.chunk_nbytes > layout.config.sharding_coalesce_max_bytes
    return bool(2 * plan.nslots > groups.ngroups * chunks_per_shard) and not large


def read_shards_bulk_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, out: Ndarray
) -> Steps[None]:
    """Read all shards in one job; read failed inner chunks again the plain way."""
    shard = layout.shard
    assert shard is not None
    form = index_format(shard)
    job = zarr_core.ShardReadJob(plan, groups, layout.program, out, layout.fill, form, indexes=file_indexes())
    nbytes = plan.nslots * layout.chunk_nbytes
    yield Transfer(job, "read", layout.keys, groups, count=groups.ngroups, nbytes=nbytes)
    failed = set(job.failed.tolist())
    if failed:
        yield from _reread_steps(layout, plan, groups, failed, out)
    missing = set(job.missing.tolist()) if not layout.reads_missing else set()
    if missing:
        yield from _check_missing_steps(layout, plan, groups, missing, out)


def _reread_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, failed: set[int], out: Ndarray
) -> Steps[None]:
    for g in range(groups.ngroups):
        part = ShardPart(groups, g)
        pairs = [(s, i) for s, i in zip(part.slots, part.inner, strict=True) if s in failed]
        if pairs:
            part.slots, part.inner = [s for s, _ in pairs], [i for _, i in pairs]
            yield from read_part_steps(layout, plan, part, out)


def _check_missing_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, groups: zarr_core.ShardGroups, missing: set[int], out: Ndarray
) -> Steps[None]:
    """Raise an error for missing shards; an inner chunk that a shard leaves out is filled correctly.

    To find out which of both it was, the shards are read once more: a shard may have been stored meanwhile.
    """
    absent = []
    for g in range(groups.ngroups):
        part = ShardPart(groups, g)
        if missing.issuperset(part.slots):
            absent.append((yield from read_part_steps(layout, plan, part, out)))
    check_missing(layout, absent)
