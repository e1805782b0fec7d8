"""Write many chunks in one job of the core, and those at the edge of the array with care.

A chunk (or shard) that reaches beyond the array may hold elements that another handle has appended since, and data come
before the shape. So such chunks are locked and looked at first. Nearly always nothing is stored beyond the array: then
they are written in a job, too. The others are written as parts, which keeps what they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr.arrays.io.chunks import (
    MIN_BULK_SLOTS,
    decode_steps,
    is_filled,
    placed,
    write_chunk_steps,
    write_slots_steps,
)
from zarr.arrays.layout import ArrayLayout, Edges
from zarr.errors import ChunkError
from zarr.steps.requests import Gather, Get, Hold, Steps, Transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ndarray = np.ndarray[Any, Any]

EDGES_AT_ONCE = 64
"""Number of chunks at the edge of the array that are locked together: more would lock the whole array."""


def left_over(job: Any) -> list[int]:
    """Return the slots that a bulk write did not write, first those at which it stopped: their error comes first."""
    refused = dict.fromkeys(slot for slot, _ in job.errors)
    return [*refused, *(slot for slot in job.failed.tolist() if slot not in refused)]


def whole_flags(plan: zarr_core.Plan) -> NDArray[np.bool_]:
    """Return for each slot of a plan if it covers all of its chunk that lies in the array."""
    if plan.all_whole:
        return np.ones(plan.nslots, dtype=bool)
    return np.fromiter((plan.whole(i) for i in range(plan.nslots)), dtype=bool, count=plan.nslots)


def edge_flags(plan: zarr_core.Plan, edges: Edges) -> NDArray[np.bool_]:
    """Return for each slot of a plan if its chunk reaches beyond the array."""
    flags = np.zeros(plan.nslots, dtype=bool)
    if edges:
        coords = plan.all_coords()
        for d, last in edges:
            flags |= coords[:, d] == last
    return flags


def write_bulk_steps(layout: ArrayLayout, plan: zarr_core.Plan, value: Ndarray) -> Steps[None]:
    """Write the whole slots in one job; write the others, and failed ones, the plain way."""
    bulk = partial(_job_steps, layout, plan, value)
    whole, edge, rest = None, [], []
    if layout.edges or not plan.all_whole:
        flags, at_edge = whole_flags(plan), edge_flags(plan, layout.edges)
        whole, edge = np.flatnonzero(flags & ~at_edge).astype(np.int64), np.flatnonzero(flags & at_edge).tolist()
        rest = np.flatnonzero(~flags).tolist()
        if len(edge) < MIN_BULK_SLOTS:
            rest, edge = rest + edge, []
    if whole is None or len(whole):
        rest = (yield from bulk(whole)) + rest
    if edge:

        def look_steps(i: int) -> Steps[bool]:
            return _reaches_steps(layout, plan, i)

        def part_steps(i: int) -> Steps[None]:
            return write_chunk_steps(layout, plan.slot(i), value, None)

        yield from write_edges_steps(layout, plan.coords, edge, look_steps, bulk, part_steps)
    if rest:
        yield from write_slots_steps(layout, plan, value, None, rest)


def _job_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, value: Ndarray, whole: NDArray[np.int64] | None
) -> Steps[list[int]]:
    """Write whole slots (None: all of them) in one job; return those that failed."""
    count, slots = (plan.nslots, None) if whole is None else (len(whole), whole.tolist())
    job = zarr_core.WriteJob(plan, layout.program, value, layout.fill, layout.skip_filled, slots=whole)
    nbytes, scope = count * layout.chunk_nbytes, layout.scope
    yield Transfer(job, "write", layout.keys, plan, count=count, nbytes=nbytes, slots=slots, scope=scope)
    return left_over(job)


def write_edges_steps(
    layout: ArrayLayout,
    coords_of: Callable[[int], tuple[int, ...]],
    numbers: list[int],
    look_steps: Callable[[int], Steps[bool]],
    bulk_steps: Callable[[NDArray[np.int64]], Steps[list[int]]],
    part_steps: Callable[[int], Steps[None]],
) -> Steps[None]:
    """Write chunks (or shards) that reach beyond the array, and keep what is stored of them there.

    Parameters
    ----------
    layout : ArrayLayout
    coords_of : callable
        Returns the coordinates of a chunk by its number.
    numbers : list of int
        The chunks to write.
    look_steps : callable
        Looks if anything is stored of a chunk beyond the array.
    bulk_steps, part_steps : callable
        Write some of them as whole chunks, and return those that failed; write one of them as a part.
    """

    def some_steps(some: list[int]) -> Steps[None]:
        keys = [layout.key(coords_of(i)) for i in some]
        if (yield Hold(keys, "chunk", layout.scope, keys)):  # not held among processes: each value is compared
            yield Gather(part_steps(i) for i in some)
            return
        found = yield Gather(look_steps(i) for i in some)
        whole = [i for i, reaches in zip(some, found, strict=True) if not reaches]
        left = (yield from bulk_steps(np.array(whole, dtype=np.int64))) if whole else []
        left += [i for i, reaches in zip(some, found, strict=True) if reaches]
        if left:
            yield Gather(part_steps(i) for i in left)

    firsts = range(0, len(numbers), EDGES_AT_ONCE)
    yield Gather(some_steps(numbers[first : first + EDGES_AT_ONCE]) for first in firsts)


def _reaches_steps(layout: ArrayLayout, plan: zarr_core.Plan, i: int) -> Steps[bool]:
    """Return True if anything is stored of a chunk beyond the array."""
    key, chain = layout.key(plan.coords(i)), layout.chain_for(plan.chunk_shape(i))
    try:
        with placed(layout, key, "writing"):
            raw = yield Get(key)
            chunk = None if raw is None else (yield from decode_steps(chain, raw))
    except ChunkError:
        return False  # what a damaged chunk held is lost already
    return chunk is not None and reaches(layout, chunk, plan.valid_shape(i))


def reaches(layout: ArrayLayout, chunk: Ndarray, valid: tuple[int, ...]) -> bool:
    """Return True if a chunk holds anything else than the fill value beyond its part inside the array."""
    beyond = (chunk[(slice(None),) * d + (slice(n, None),)] for d, n in enumerate(valid) if n < chunk.shape[d])
    return not all(is_filled(layout, part) for part in beyond)
