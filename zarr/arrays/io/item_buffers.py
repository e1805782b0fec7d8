"""Chunks of strings and byte strings as they lie in memory: offsets and data, without an object an element.

Only chunks of the codec ``zarr_core.arrow-vlen`` lie so. What Arrow and Awkward Array take from them shares the memory
that the store handed over or a compressor filled.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr.arrays.io.chunks import check_missing, new_chunk, note_place, patient_steps
from zarr.arrays.io.selection import as_items, plan_simple, simple_kind
from zarr.arrays.io.shard_read import ShardPart, place_in_shard, stored_steps
from zarr.arrays.layout import ArrayLayout, foreign_buffers
from zarr.buffer.core import Buffer
from zarr.codecs.base.bound import as_bytes
from zarr.codecs.extensions.arrow_vlen import BoundArrowVLen
from zarr.steps.requests import Gather, Get, Steps

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle

Ndarray = np.ndarray[Any, Any]
Found = dict[int, "Buffer | None"]


@dataclass(frozen=True)
class ItemBuffers:
    """Elements of one chunk: element ``i`` has the bytes ``data[offsets[i] : offsets[i + 1]]``.

    Attributes
    ----------
    shape
        The shape of the elements, in C order.
    offsets
        One more than there are elements, ``int32`` or ``int64``; the first need not be 0. Read-only.
    data
        Bytes, read-only.
    text
        Whether the elements are strings, in UTF-8.
    """

    shape: tuple[int, ...]
    offsets: Ndarray
    data: Ndarray
    text: bool


def serializer_of(layout: ArrayLayout) -> BoundArrowVLen | None:
    """Return the codec that keeps the elements of chunks behind offsets; None where another one, or a filter, does."""
    first = layout.chain.serializer
    return first if isinstance(first, BoundArrowVLen) and not layout.chain.asynchronous else None


def split_items(raw: Any, count: int, codec: BoundArrowVLen, shape: tuple[int, ...]) -> ItemBuffers:
    """Elements that are known to be good, as views of their bytes."""
    data = as_bytes(raw)[:]
    data.flags.writeable = False
    start = codec.check(data)
    stored = data[: (count + 1) * codec.width].view(f"<i{codec.width}")
    # Parts of a shard begin anywhere; Arrow wants numbers where the processor wants them.
    offsets = stored if stored.flags.aligned else stored.copy()
    return ItemBuffers(shape, offsets, data[start:], codec.text)


def packed_items(flat: Ndarray, width: int, text: bool, shape: tuple[int, ...] | None = None) -> ItemBuffers:
    """Return strings or byte strings of a one-dimensional array behind offsets of ``width`` bytes; as of a shape."""
    raw = np.frombuffer(zarr_core.pack_arrow(flat, width, text), dtype=np.uint8)
    start = zarr_core.check_arrow(raw, flat.size, width, False)
    offsets = raw[: (flat.size + 1) * width].view(f"<i{width}")
    return ItemBuffers((flat.size,) if shape is None else shape, offsets, raw[start:], text)


def read_item_buffers_steps(handle: ArrayHandle, selection: Any) -> Steps[list[ItemBuffers] | None]:
    """Return the elements of a selection as they lie in their chunks, one entry a chunk along the first dimension.

    Returns
    -------
    list of ItemBuffers, or None
        None where no view of whole chunks, or of rows of them, is the selection.
    """
    layout = handle.state.layout
    items = as_items(selection)
    if foreign_buffers() or sys.byteorder == "big" or simple_kind(items) is None or serializer_of(layout) is None:
        return None
    plan = plan_simple(layout, items)
    if not plan.nslots or not all(_is_rows(plan, plan.slot(i)) for i in range(plan.nslots)):
        return None
    if (batch := handle.batch) is not None:
        yield Gather((batch.flush_steps(),))
    found = yield from _stored_steps(layout, plan)
    return [_rows(layout, plan.slot(i), found.get(i)) for i in range(plan.nslots)]


def _is_rows(plan: zarr_core.Plan, slot: zarr_core.Slot) -> bool:
    """Return whether a slot is rows of its chunk one after the other, and the only slot with these rows."""
    parts, lengths = slot.chunk_selection, slot.chunk_shape
    if len(plan.shape) != len(parts) or not parts or any(type(part) is not slice for part in parts):
        return False
    if parts[0].step not in (None, 1):
        return False
    return plan.shape[1:] == lengths[1:] and all(
        part.indices(length) == (0, length, 1) for part, length in zip(parts[1:], lengths[1:], strict=True)
    )


def _stored_steps(layout: ArrayLayout, plan: zarr_core.Plan) -> Steps[Found]:
    """Return the stored bytes of the chunk of each slot."""
    if layout.retries:
        return (yield from patient_steps(layout, lambda once: _stored_steps(once, plan)))
    if layout.shard is None:
        answers = yield Gather(_chunk_steps(layout, plan, i) for i in range(plan.nslots))
    else:
        groups = zarr_core.ShardGroups(plan, layout.starts)
        answers = yield Gather(_shard_steps(layout, ShardPart(groups, g)) for g in range(groups.ngroups))
    check_missing(layout, [coords for coords, _ in answers])
    return {slot: raw for _, part in answers for slot, raw in part.items()}


def _chunk_steps(layout: ArrayLayout, plan: zarr_core.Plan, index: int) -> Steps[tuple[tuple[int, ...] | None, Found]]:
    coords: tuple[int, ...] = plan.coords(index)
    key = layout.key(coords)
    try:
        raw = yield Get(key)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return (coords if raw is None else None), {index: raw}


def _shard_steps(layout: ArrayLayout, part: ShardPart) -> Steps[tuple[tuple[int, ...] | None, Found]]:
    key = layout.key(part.coords)
    assert layout.shard is not None
    try:
        found = yield from stored_steps(layout, layout.shard, key, part.nchunks, part.inner)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    if found is None:
        return part.coords, {}
    return None, dict(zip(part.slots, found, strict=True))


def _rows(layout: ArrayLayout, slot: zarr_core.Slot, raw: Buffer | None) -> ItemBuffers:
    """Return the rows of a slot in the bytes of its chunk, or in those of a chunk of fill value."""
    coords = slot.coords if layout.shard is None else place_in_shard(layout, slot.coords)[0]
    shape, key = slot.chunk_shape, layout.key(coords)
    chain = layout.chain_for(shape)
    codec = chain.serializer
    try:
        data = codec.encode(new_chunk(layout, shape)) if raw is None else chain.serialized(raw)
        whole = split_items(data, prod(shape), codec, shape)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    first, last, _ = slot.chunk_selection[0].indices(shape[0])
    row = prod(shape[1:])
    return ItemBuffers((last - first, *shape[1:]), whole.offsets[first * row : last * row + 1], whole.data, whole.text)
