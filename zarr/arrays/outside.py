"""Chunks outside the shape of an array: find what is stored there, clear it, and remove it.

An array that shrinks cuts its border chunks, and its outer chunks go. An array that grows shows nothing that an append
or a shrinking that was killed has left beyond its shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from operator import ge

import numpy as np

import zarr_core
from zarr.abc.stores.abilities import AT_HAND
from zarr.arrays.io.chunks import is_filled
from zarr.arrays.io.reading import read_plan_steps
from zarr.arrays.io.selection import elements_of
from zarr.arrays.io.writing import write_plan_steps
from zarr.arrays.layout import ArrayLayout
from zarr.chunks.shapes import cells, cells_outside
from zarr.steps.requests import DeleteMany, Gather, Hold, List, Size, Steps, ask_steps

MAX_NAMED_CHUNKS = 4096
"""Up to this number, chunks are deleted by name; more are first looked up by one listing."""

REMOVED_AT_ONCE = 256
"""Number of chunks whose locks are held while they are removed together."""

MAX_BYTES_AT_ONCE = 64 << 20
"""Up to this size, the elements beyond the edge of all border chunks are read together."""

LISTED_FOR_ONE_REQUEST = 16
"""So many keys are listed at about the price of one request for a chunk."""


def cut_steps(layout: ArrayLayout, shape: tuple[int, ...], bulk: str | None) -> Steps[None]:
    """Remove the elements beyond a smaller shape."""
    yield from clear_cut_steps(layout, shape, bulk)
    yield from delete_outside_steps(layout, shape)


def clear_leftovers_steps(
    layout: ArrayLayout,
    shape: tuple[int, ...],
    bulk: str | None,
    stored: Iterable[str] | None = None,
    check: Callable[[], Steps[None]] | None = None,
) -> Steps[None]:
    """Before an array grows, remove stored elements beyond its shape, so that they do not appear.

    An append that was killed before the shape was written, or a shrinking that was killed after, leaves such elements.
    Growth by a small part of the array requests each chunk that may hold some; otherwise one listing finds them.

    Parameters
    ----------
    layout : ArrayLayout
        The layout of the grown array.
    shape : tuple of int
        The present shape of the array.
    bulk : str, optional
    stored : iterable of str, optional
        The keys of the stored chunks, if they were listed already.
    check : callable, optional
        Returns steps to run after something was found, before it is removed. Default: none; what is found is removed.
    """
    kept = layout.outer.counts_within(shape)
    named = named_leftovers(layout, shape, kept)
    if named is not None:
        outside, inside, cut = named
        # To look for a chunk at hand costs less than to lock it; of a service, it is one more request.
        if bulk in AT_HAND or check is not None:
            outside = yield from _stored_steps(outside, at_once=check is not None)
    else:
        keys = (yield List(layout.key_folder)) if stored is None else stored
        places = {key: at for key in keys if (at := layout.coords_of(key)) is not None}
        if not places:
            return
        outside = [key for key, at in places.items() if _is_outside(at, kept)]
        inside = [at for at in places.values() if not _is_outside(at, kept)]
        cut = _cut_axes(layout, shape, kept)
    if outside:
        if check is not None:
            yield from check()
        yield from _delete_steps(layout, outside)
    for d in cut:
        border = [at for at in inside if at[d] == kept[d] - 1]
        if 1 < len(border) == math.prod(kept) // kept[d]:
            spans = [elements_of(axis, 0, n) for axis, n in zip(layout.outer.axes, kept, strict=True)]
            spans[d] = slice(shape[d], spans[d].stop)
            nbytes = math.prod(s.stop - s.start for s in spans) * layout.dtype.itemsize
            if nbytes <= MAX_BYTES_AT_ONCE and (yield from _is_clear_steps(layout, tuple(spans), bulk)):
                continue
        yield Gather(_clear_leftover_steps(layout, at, shape, d, bulk, check) for at in border)


def _stored_steps(keys: list[str], at_once: bool) -> Steps[list[str]]:
    """Return those of some keys that are stored; of a service, they are requested at once."""
    if at_once:
        sizes = yield Gather((ask_steps(Size(key)) for key in keys), only_requests=True)
        return [key for key, size in zip(keys, sizes, strict=True) if size is not None]
    stored = []
    for key in keys:
        size = yield Size(key)
        if size is not None:
            stored.append(key)
    return stored


def named_leftovers(
    layout: ArrayLayout, shape: tuple[int, ...], kept: tuple[int, ...]
) -> tuple[list[str], list[tuple[int, ...]], list[int]] | None:
    """Return the keys of new chunks, the places of border chunks, and the axes cut there; None to list instead."""
    counts, present = layout.outer.cdata_shape, math.prod(kept)
    if math.prod(counts) - present > min(MAX_NAMED_CHUNKS, present // LISTED_FOR_ONE_REQUEST):
        return None
    cut = _cut_axes(layout, shape, kept)
    if sum([present // kept[d] for d in cut]) > MAX_NAMED_CHUNKS:
        return None
    border = {at: None for d in cut for at in _border_cells(kept, d)}
    return [layout.key(at) for at in cells_outside(counts, kept)], list(border), cut


def _cut_axes(layout: ArrayLayout, shape: tuple[int, ...], kept: tuple[int, ...]) -> list[int]:
    """Return the axes along which the last kept chunk reaches beyond a smaller shape."""
    ends = layout.outer.ends(kept)
    return [d for d, n in enumerate(layout.shape) if shape[d] < n and shape[d] < ends[d]]


def _border_cells(kept: tuple[int, ...], axis: int) -> Iterator[tuple[int, ...]]:
    """Return the last cells of a grid along an axis."""
    return cells([range(n - 1, n) if d == axis else range(n) for d, n in enumerate(kept)])


def _clear_leftover_steps(
    layout: ArrayLayout,
    coords: tuple[int, ...],
    shape: tuple[int, ...],
    cut: int,
    bulk: str | None,
    check: Callable[[], Steps[None]] | None,
) -> Steps[None]:
    """Clear the part of one border chunk that lies beyond the shape; write only a part that is not empty."""
    spans = [elements_of(axis, i, i + 1) for axis, i in zip(layout.outer.axes, coords, strict=True)]
    region = tuple(slice(max(s.start, shape[d]) if d == cut else s.start, s.stop) for d, s in enumerate(spans))
    if not (yield from _is_clear_steps(layout, region, bulk)):
        if check is not None:
            yield from check()
        yield from _clear_region_steps(layout, region, bulk)


def _is_clear_steps(layout: ArrayLayout, region: tuple[slice, ...], bulk: str | None) -> Steps[bool]:
    """Return True if a region holds the fill value only."""
    plan = zarr_core.plan_basic(layout.grid, region)
    found = np.empty(plan.shape, dtype=layout.dtype)
    # In any configuration of missing chunks: a missing chunk has left nothing over.
    lenient = layout.varied(reads_missing=True, retries=0)
    yield from read_plan_steps(lenient, plan, found, bulk)
    return is_filled(layout, found)


def delete_outside_steps(layout: ArrayLayout, shape: tuple[int, ...]) -> Steps[None]:
    """Remove the stored chunks that have no element of a smaller shape."""
    kept = layout.outer.counts_within(shape)
    counts = layout.outer.cdata_shape
    total = math.prod(counts) - math.prod(kept)
    if total == 0:
        return
    if total <= MAX_NAMED_CHUNKS:
        keys = [layout.key(coords) for coords in cells_outside(counts, kept)]
    else:
        stored = yield List(layout.key_folder)
        keys = [key for key in stored if _is_outside(layout.coords_of(key), kept)]
    if keys:
        yield from _delete_steps(layout, keys)


def _is_outside(coords: tuple[int, ...] | None, kept: tuple[int, ...]) -> bool:
    return coords is not None and any(map(ge, coords, kept))


def _delete_steps(layout: ArrayLayout, keys: list[str]) -> Steps[None]:
    """Remove chunks, some at a time under the locks of these."""
    some = (keys[first : first + REMOVED_AT_ONCE] for first in range(0, len(keys), REMOVED_AT_ONCE))
    yield Gather((_delete_held_steps(layout, each) for each in some), only_requests=True)


def _delete_held_steps(layout: ArrayLayout, keys: list[str]) -> Steps[None]:
    yield Hold(keys, "chunk", layout.scope)
    yield DeleteMany(keys)


def clear_cut_steps(layout: ArrayLayout, shape: tuple[int, ...], bulk: str | None) -> Steps[None]:
    """Fill the part of border chunks beyond the new shape, so that it does not come back when the array grows."""
    kept = layout.outer.counts_within(shape)
    corner = layout.outer.ends(kept)
    cut = [d for d, (new, end) in enumerate(zip(shape, corner, strict=True)) if new < end]
    border = sum(math.prod(kept[:d] + kept[d + 1 :]) for d in cut)
    parts: Iterable[tuple[slice, ...]] = [tuple(slice(0, end) for end in corner)]
    if border > MAX_NAMED_CHUNKS:  # a sparse array: read the stored chunks, not all possible ones
        stored = yield List(layout.key_folder)
        parts = _border_parts(layout, stored, kept, cut)
    for part in parts:
        for d in cut:
            region = tuple(slice(shape[d], s.stop) if i == d else s for i, s in enumerate(part))
            if region[d].start < region[d].stop:
                yield Gather((_clear_region_steps(layout, region, bulk),))


def _border_parts(
    layout: ArrayLayout, keys: Iterable[str], kept: tuple[int, ...], cut: list[int]
) -> Iterator[tuple[slice, ...]]:
    """Return the parts of the array in the border chunks that are stored and kept."""
    for key in keys:
        coords = layout.coords_of(key)
        if coords is None or _is_outside(coords, kept) or all(coords[d] != kept[d] - 1 for d in cut):
            continue
        yield tuple(elements_of(axis, i, i + 1) for axis, i in zip(layout.outer.axes, coords, strict=True))


def _clear_region_steps(layout: ArrayLayout, region: tuple[slice, ...], bulk: str | None) -> Steps[None]:
    plan = zarr_core.plan_basic(layout.grid, region)
    value = np.broadcast_to(layout.fill, plan.shape)
    yield from write_plan_steps(layout.varied(skip_filled=True), plan, value, None, bulk)
