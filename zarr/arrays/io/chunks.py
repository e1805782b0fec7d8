"""Read and write chunks: how the slots of a plan are carried out.

There are two ways with the same result. The plain way handles one chunk after the other and is always correct. The bulk
way gives all slots of an operation to the compiled core in one ``Transfer``. The core names the slots that it could not
do; the plain way does them again, and raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import zarr_core
from zarr._lazy import LazyModule, load
from zarr.arrays.layout import is_edge
from zarr.chunks.spec import LONGEST_DELAY
from zarr.dtype.base import empty_array
from zarr.errors import ChunkError, ChunkNotFoundError, NothingToStoreError
from zarr.steps.requests import (
    Await,
    ChangedMeanwhileError,
    Delete,
    Gather,
    Get,
    Hold,
    Put,
    Stamp,
    Steps,
    Transfer,
)

if TYPE_CHECKING:

    from zarr.arrays.layout import ArrayLayout
    from zarr.buffer.core import Buffer
    from zarr.codecs.base.chain import CodecChain
    from zarr.runners import caches as chunk_cache
else:
    chunk_cache = LazyModule("zarr.runners.caches")


Ndarray = np.ndarray[Any, Any]

MAX_CACHED_SLOTS = 64
"""Reads of more chunks than this do not use the cache: they would evict all other chunks."""

MIN_BULK_SLOTS = 2
"""Fewest chunks of a bulk job: a single chunk is usually not worth one."""

LARGE_IN_FILE = 128 << 10
"""Decoded size above which a single chunk in a file is worth a job.

The memory of the job is used again, while an allocator returns such large blocks to the system, which clears them
anew; and of a blosc chunk only the selected blocks are read."""

SHOWN_MISSING = 10
"""The number of missing chunks that an error names."""


def decode_steps(chain: CodecChain, raw: Buffer) -> Steps[Ndarray]:
    """Decode one chunk; the runner awaits codecs that only have coroutines."""
    if chain.asynchronous:
        chunk: Ndarray = yield Await(partial(chain.decode_async, raw))
        return chunk
    return chain.decode(raw)


def payload_steps(layout: ArrayLayout, chain: CodecChain, chunk: Ndarray, skip_filled: bool) -> Steps[Buffer | None]:
    """Encode one chunk; return None for a chunk that is not stored.

    A chunk is not stored if it holds the fill value only, or if its codec returns None because an absent chunk reads
    the same.
    """
    if skip_filled and is_filled(layout, chunk):
        return None
    try:
        if chain.asynchronous:
            raw: Buffer = yield Await(partial(chain.encode_async, chunk))
            return raw
        return chain.encode(chunk)
    except NothingToStoreError:
        return None


def note_place(error: BaseException, layout: ArrayLayout, key: str, what: str) -> None:
    """Add a note that names the chunk and the array; errors of this library also name them in their message."""
    place = f"chunk {key[len(layout.prefix) :]!r} of {layout.describe()}"
    if layout.prefix:
        place += f", key {key!r}"
    if isinstance(error, ChunkError) and not error.place:
        error.array, error.key, error.place = error.array or layout.path, error.key or key, place
        if error.remedy:
            error.add_note(error.remedy)
    elif type(error) is MemoryError and place not in str(error):
        error.args = (f"{error or 'there is no memory'} ({place})",)
    error.add_note(f"while {what} {place}")


@contextmanager
def placed(layout: ArrayLayout, key: str, what: str) -> Iterator[None]:
    """Name the chunk and the array in each error of a ``with``; where every read passes, ``except`` costs less."""
    try:
        yield
    except Exception as error:
        note_place(error, layout, key, what)
        raise


def check_missing(layout: ArrayLayout, coords: Sequence[tuple[int, ...] | None]) -> None:
    """Raise an error for missing chunks, given by their coordinates, unless missing chunks read as the fill value.

    Raises
    ------
    ChunkNotFoundError
    """
    absent = [] if layout.reads_missing else [each for each in coords if each is not None]
    if absent:
        raise_missing(layout, absent)


def raise_missing(layout: ArrayLayout, coords: Sequence[tuple[int, ...]]) -> None:
    """Raise the error for missing chunks.

    Raises
    ------
    ChunkNotFoundError
    """
    lines = [f"  chunk {layout.key(c)!r} (grid position {c})" for c in coords[:SHOWN_MISSING]]
    if len(coords) > SHOWN_MISSING:
        lines.append(f"  ... and {len(coords) - SHOWN_MISSING} more")
    tries = layout.config.missing_chunk_retries
    again = f", requested {tries + 1} times" if tries else ""
    raise ChunkNotFoundError(
        f"{len(coords)} chunk(s) not found in {layout.describe()}{again}.\n"
        "Set the 'array.read_missing_chunks' config to True to fill missing chunks with the fill value.\n"
        "Missing chunks:\n" + "\n".join(lines)
    )


# ----------------------------------------------------------------------------------------------- reading


def reads_in_bulk(layout: ArrayLayout, count: int, bulk: str | None) -> bool:
    """Return True if this number of chunks is read in one job."""
    if bulk is None or layout.program is None:
        return False
    return count >= MIN_BULK_SLOTS or (bulk == "files" and layout.chunk_nbytes > LARGE_IN_FILE)


def fits_cache(layout: ArrayLayout, count: int) -> bool:
    """Return True if a read has few enough chunks to use the cache of decoded chunks."""
    return count <= MAX_CACHED_SLOTS and count * layout.chunk_nbytes <= layout.cache_bytes


def cached_chunk_steps(layout: ArrayLayout, chain: CodecChain, key: str) -> Steps[Ndarray | None]:
    """Return one decoded chunk, from the cache if it is there; None if it is not stored."""
    stamp = layout.stamp or (yield Stamp(key))
    if stamp is not None:
        chunk = chunk_cache.CHUNKS.find(stamp, key, chain.codecs, chain.spec.shape)
        if chunk is not None:
            return chunk
    raw = yield Get(key)
    if raw is None:
        return None
    chunk = yield from decode_steps(chain, raw)
    # The value belongs to the stamp only if the stamp is still the same after the read.
    if stamp is not None and (layout.stamp or (yield Stamp(key))) == stamp:
        chunk_cache.CHUNKS.keep(stamp, key, chain.codecs, chunk, layout.cache_bytes)
    return chunk


def read_chunk_steps(layout: ArrayLayout, slot: zarr_core.Slot, out: Ndarray) -> Steps[tuple[int, ...] | None]:
    """Read one slot into the output; return the coordinates of a chunk that is not stored."""
    coords: tuple[int, ...] = slot.coords
    key = layout.key(coords)
    try:
        chain = layout.chain if layout.regular else layout.chain_for(slot.chunk_shape)
        if layout.cache_bytes:
            chunk = yield from cached_chunk_steps(layout, chain, key)
        elif (raw := (yield Get(key))) is None:
            chunk = None
        elif chain.in_parts and (part := chain.decode_part(raw, slot.chunk_selection)) is not None:
            out[slot.out_selection] = part
            return None
        else:
            chunk = (yield from decode_steps(chain, raw)) if chain.asynchronous else chain.decode(raw)
        if chunk is None:
            zarr_core.fill(out, slot, layout.fill)
            return coords
        zarr_core.scatter(chunk, slot, out)
    except Exception as error:
        note_place(error, layout, key, "reading")
        raise
    return None


def read_slots_steps(layout: ArrayLayout, plan: zarr_core.Plan, out: Ndarray, slots: Sequence[int]) -> Steps[None]:
    """Read slots the plain way."""
    if len(slots) == 1:
        missing = [(yield from read_chunk_steps(layout, plan.slot(slots[0]), out))]
    else:
        missing = (yield Gather(read_chunk_steps(layout, plan.slot(i), out) for i in slots)) if len(slots) else []
    check_missing(layout, missing)


def read_bulk_steps(layout: ArrayLayout, plan: zarr_core.Plan, out: Ndarray) -> Steps[None]:
    """Read all slots in one job; read failed slots again the plain way."""
    job = zarr_core.ReadJob(plan, layout.program, out, layout.fill)
    count = plan.nslots
    yield Transfer(job, "read", layout.keys, plan, count=count, nbytes=count * layout.chunk_nbytes)
    failed = job.failed
    if len(failed):
        yield from read_slots_steps(layout, plan, out, failed.tolist())
    if not layout.reads_missing and len(job.missing):
        raise_missing(layout, [plan.coords(i) for i in job.missing.tolist()])


# ----------------------------------------------------------------------------------------------- writing


def new_chunk(layout: ArrayLayout, shape: tuple[int, ...]) -> Ndarray:
    """Return a chunk filled with the fill value."""
    chunk = empty_array(shape, layout.dtype)
    chunk[...] = layout.fill
    return chunk


def gather_into(chunk: Ndarray, value: Ndarray, slot: zarr_core.Slot, fields: list[str] | None) -> None:
    """Put the part of a value that belongs to a slot into its chunk; with fields, only into these."""
    if fields is None:
        zarr_core.gather(value, slot, chunk)
        return
    for name in fields:
        zarr_core.gather(value if value.dtype.names is None else value[name], slot, chunk[name])


def is_filled(layout: ArrayLayout, chunk: Ndarray) -> bool:
    """Return True if a chunk holds the fill value only."""
    if chunk.dtype.kind == "T":  # numpy compares these strings in C, the core one by one
        first = chunk[(0,) * chunk.ndim] if chunk.size else layout.fill
        return bool(first == layout.fill and (chunk == layout.fill).all())
    return bool(zarr_core.is_filled(chunk, layout.fill))


def whole_chunk(layout: ArrayLayout, slot: zarr_core.Slot, value: Ndarray) -> Ndarray:
    """Return the chunk that a slot covers completely, padded with the fill value beyond the array.

    If the value has the chunk in one piece, return that piece of the value: it is only read.
    """
    shape = slot.chunk_shape
    if layout.dtype.kind in "TOSUV" or _compresses_much(layout):  # a copy costs as much as packing them
        selection = slot.out_selection
        if selection and all(type(part) is slice for part in selection):
            part: Ndarray = value[selection]
            if part.shape == shape and part.flags.c_contiguous and part.dtype == layout.dtype:
                return part
    if shape == slot.plan.valid_shape(slot.index):
        chunk = empty_array(shape, layout.dtype)
    else:
        chunk = new_chunk(layout, shape)
    zarr_core.gather(value, slot, chunk)
    return chunk


def _compresses_much(layout: ArrayLayout) -> bool:
    """Return True for large chunks that the core compresses: so no stored bytes are memory of the caller."""
    return layout.chunk_nbytes >= LARGE_IN_FILE and layout.program is not None and layout.chain.encoded_size() is None


def changed_chunk_steps(
    layout: ArrayLayout,
    chain: CodecChain,
    slot: zarr_core.Slot,
    old: Buffer | None,
    value: Ndarray,
    fields: list[str] | None,
) -> Steps[Ndarray]:
    """Return the chunk of a slot as it will be stored; ``old`` is its stored value, not needed for a whole chunk."""
    covers = fields is None and slot.whole
    if covers and old is None:
        return whole_chunk(layout, slot, value)
    if old is None:
        chunk = new_chunk(layout, slot.chunk_shape)
    else:
        try:
            chunk = np.array((yield from decode_steps(chain, old)) if chain.asynchronous else chain.decode(old))
        except ChunkError:
            if not covers:
                raise
            return whole_chunk(layout, slot, value)  # what a damaged chunk had beyond the array is lost already
    if fields is None:
        zarr_core.gather(value, slot, chunk)
    else:
        gather_into(chunk, value, slot, fields)
    return chunk


def write_chunk_steps(
    layout: ArrayLayout, slot: zarr_core.Slot, value: Ndarray, fields: list[str] | None
) -> Steps[None]:
    """Write one slot: a whole chunk without reading it, a part of one by reading, changing and writing it.

    A chunk that reaches beyond the array is never whole: another handle may have appended to the array meanwhile.
    """
    coords, edges = slot.coords, layout.edges
    key = layout.key(coords)
    try:
        chain = layout.chain if layout.regular else layout.chain_for(slot.chunk_shape)
        whole = slot.whole and fields is None and not (edges and is_edge(edges, coords))
        # The old value of a whole chunk does not matter, so the lock is held only while the chunk is stored.
        scope = layout.scope
        late = whole and (scope is None or not scope.required)
        matched = None if late else (yield Hold((key,), "chunk", scope, (key,)))
        while True:
            old = None if whole else (yield Get(key))
            chunk = yield from changed_chunk_steps(layout, chain, slot, old, value, fields)
            # A store that compares before it stores does not compare before it deletes. What is not there stays so.
            skip = layout.skip_filled and (whole or not matched or old is None)
            raw = yield from payload_steps(layout, chain, chunk, skip)
            if raw is None and matched and not whole:
                return
            if raw is None and late:
                yield Hold((key,), "chunk", scope)
            try:
                yield Delete(key) if raw is None else Put(key, raw, late and (scope or True))
                return
            except ChangedMeanwhileError:
                if whole:
                    raise
    except Exception as error:
        note_place(error, layout, key, "writing")
        raise


def write_slots_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, value: Ndarray, fields: list[str] | None, slots: Sequence[int]
) -> Steps[None]:
    """Write slots the plain way."""
    if len(slots):
        yield Gather(write_chunk_steps(layout, plan.slot(i), value, fields) for i in slots)


T = TypeVar("T")


def retry_missing_steps(layout: ArrayLayout, read: Callable[[ArrayLayout], Steps[T]]) -> Steps[T]:
    """Read until no chunk is missing, up to the number of retries of the array's configuration.

    Parameters
    ----------
    layout : ArrayLayout
        A layout whose configuration has ``missing_chunk_retries``.
    read : callable
        Returns the steps that read by a layout; they raise ``ChunkNotFoundError`` if the layout does not read missing
        chunks as fill values.

    Raises
    ------
    ChunkNotFoundError
        If a chunk is still missing after the last try, and ``read_missing_chunks`` is False.
    """
    config = layout.config
    once = layout.varied(reads_missing=False, retries=0)
    for number in range(config.missing_chunk_retries):
        try:
            return (yield from read(once))
        except ChunkNotFoundError:
            seconds = min(LONGEST_DELAY, config.missing_chunk_delay * 2.0**number)
            yield Await(partial(_sleep, seconds))
    return (yield from read(layout.varied(reads_missing=config.read_missing_chunks, retries=0)))


async def _sleep(seconds: float) -> None:
    asyncio: Any = load("asyncio")  # arrays that are read without a loop do not load it
    await asyncio.sleep(seconds)
