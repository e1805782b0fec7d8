"""Faults of shards: indexes that are damaged, point outside or overlap, and inner chunks that cannot be decoded."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np

from zarr.abc.store import RangeByteRequest
from zarr.arrays.io.shard_read import read_index_steps
from zarr.arrays.layout import ArrayLayout
from zarr.codecs.base.shard_level import EMPTY, ShardLevel
from zarr.errors import ChunkDecodeError
from zarr.steps.requests import Get, Steps
from zarr.tools.verification import payloads
from zarr.tools.verification.report import Fault
from zarr.tools.verification.survey import error_text

Coords = tuple[int, ...]
Rows: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

WHOLE_BYTES: Final = 64 << 20
"""Shards up to this size are read at once, larger ones chunk by chunk."""

MOST_INDEX_BYTES: Final = 1 << 28
"""Larger indexes are not read: a wrong shape must not use up all memory."""

_MOST_SHOWN: Final = 5
_MOST_FAULTS: Final = 100


def check_steps(layout: ArrayLayout, key: str, shape: Coords, size: int) -> Steps[list[Fault]]:
    """Check the index of a shard, and decode its inner chunks.

    Parameters
    ----------
    layout : ArrayLayout
    key : str
    shape : tuple of int
        Shape of the shard, in elements.
    size : int
        Number of bytes of the shard.
    """
    shard = layout.shard
    assert shard is not None
    counts = tuple(length // inner for length, inner in zip(shape, shard.chunk_shape, strict=True))
    nchunks = math.prod(counts)
    needed = shard.index_nbytes(nchunks)
    if size < needed:
        what = f"the shard has {size} bytes, its index of {nchunks} inner chunks alone takes {needed}"
        text = f"{what}. {payloads.REMEDY}"
        return [Fault("shard-index", key, layout.path, text)]
    if needed > MOST_INDEX_BYTES:
        text = f"the index of the shard takes {needed} bytes, more than the {MOST_INDEX_BYTES} that are checked."
        return [Fault("chunk-too-large", key, layout.path, text)]
    try:
        rows = yield from read_index_steps(shard, key, nchunks)
    except ChunkDecodeError as error:
        text = f"the index cannot be read: {error_text(error)}. {payloads.REMEDY}"
        return [Fault("shard-index", key, layout.path, text)]
    if rows is None:
        return []
    faults, sound = _check_rows(layout, shard, key, rows, counts, size - needed)
    return faults + (yield from _decode_steps(layout, key, rows, sound, counts, size))


def _check_rows(
    layout: ArrayLayout, shard: ShardLevel, key: str, rows: Rows, counts: Coords, data_bytes: int
) -> tuple[list[Fault], list[int]]:
    """Return the faults of an index, and the inner chunks whose places are possible."""
    first = shard.index_nbytes(math.prod(counts)) if shard.index_location == "start" else 0
    offsets, lengths = rows[:, 0], rows[:, 1]
    empty = rows == np.uint64(EMPTY)
    half = np.flatnonzero(empty.any(axis=1) & ~empty.all(axis=1))
    end = np.uint64(first + data_bytes)
    # Numbers of 64 bits: a sum could overflow, so none is compared.
    outside = (offsets < np.uint64(first)) | (offsets > end) | (lengths > end - np.minimum(offsets, end))
    outside &= ~empty.any(axis=1)
    stored = np.flatnonzero(~empty.any(axis=1) & ~outside)
    faults: list[Fault] = []
    if len(half):
        text = f"the index marks {_named(half, counts)} both as stored and as not stored. {payloads.REMEDY}"
        faults.append(Fault("shard-index", key, layout.path, text))
    if outside.any():
        where = f"lies outside of bytes {first} to {end}"
        text = f"by the index, {_named(np.flatnonzero(outside), counts)} {where}. {payloads.REMEDY}"
        faults.append(Fault("shard-range-outside", key, layout.path, text))
    overlapping = _overlapping(offsets, lengths, stored)
    if len(overlapping):
        text = f"by the index, {_named(overlapping, counts)} begins within the bytes of another one. {payloads.REMEDY}"
        faults.append(Fault("shard-overlap", key, layout.path, text))
    return faults, stored.tolist()


def _overlapping(offsets: Rows, lengths: Rows, stored: Any) -> Any:
    """Return the inner chunks that begin before the end of one at a lower place."""
    some = stored[lengths[stored] > 0]
    order = some[np.argsort(offsets[some], kind="stable")]
    if len(order) < 2:
        return order[:0]
    ends = np.maximum.accumulate(offsets[order] + lengths[order])
    return order[1:][offsets[order][1:] < ends[:-1]]


def _named(places: Any, counts: Coords) -> str:
    """Return inner chunks by their coordinates in the shard."""
    shown = [tuple(int(at) for at in np.unravel_index(place, counts)) for place in places[:_MOST_SHOWN]]
    more = f" and {len(places) - _MOST_SHOWN} more" if len(places) > _MOST_SHOWN else ""
    return f"inner chunk {', '.join(map(str, shown))}{more}"


def _decode_steps(
    layout: ArrayLayout, key: str, rows: Rows, sound: list[int], counts: Coords, size: int
) -> Steps[list[Fault]]:
    chain = layout.chain
    faults: list[Fault] = []
    whole = (yield Get(key)) if sound and size <= WHOLE_BYTES else None
    for place in sound:
        if len(faults) >= _MOST_FAULTS:  # in a shard with so many, a longer list has no use
            break
        offset, length = (int(number) for number in rows[place])
        what = _named([place], counts)
        fault = payloads.wrong_size(layout, chain, key, length, what)
        if fault is None:
            if whole is not None:
                raw = whole[offset : offset + length]
            else:
                raw = yield Get(key, RangeByteRequest(offset, offset + length))
            if raw is None:
                break
            fault = yield from payloads.decoding_steps(layout, chain, key, raw, what)
        if fault is not None:
            faults.append(fault)
    return faults
