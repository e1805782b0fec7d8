"""Faults of chunks: keys that an array does not have, values that are no chunk, shards that contradict themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from zarr.abc.store import RangeByteRequest
from zarr.arrays.io.chunks import decode_steps
from zarr.arrays.io.shard_read import read_index_steps
from zarr.arrays.layout import ArrayLayout
from zarr.buffer.core import Buffer
from zarr.chunks.keys import DefaultChunkKeyEncoding, V2ChunkKeyEncoding
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.shard_level import EMPTY, ShardLevel
from zarr.errors import ChunkChecksumError, ChunkDecodeError
from zarr.steps.requests import Get, Size, Steps, ask_steps
from zarr.storage.keys import ancestors
from zarr.tools.verification.report import Fault, Kind
from zarr.tools.verification.survey import Survey, error_text, is_left_over
from zarr.types import METADATA_NAMES

Coords = tuple[int, ...]
Rows: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

N5_DOCUMENT: Final = "attributes.json"
"""Documents for readers of N5; some arrays have documents for both kinds of readers."""

_OTHER_ENCODINGS: Final = (
    DefaultChunkKeyEncoding(separator="/"),
    DefaultChunkKeyEncoding(separator="."),
    V2ChunkKeyEncoding(separator="."),
    V2ChunkKeyEncoding(separator="/"),
)

WHOLE_BYTES: Final = 64 << 20
"""Shards up to this size are read at once, larger ones chunk by chunk."""

MOST_INDEX_BYTES: Final = 1 << 28
"""Larger indexes are not read: a wrong shape must not use up all memory."""

MOST_CHUNK_BYTES: Final = 4 << 30
"""Chunks with a larger decoded size are not decoded, for the same reason."""

REMEDY: Final = "Put it back from a copy, or write it anew."
"""The advice about a damaged chunk."""

_SLACK_BYTES: Final = 16 << 20
"""Maximum ratio of a payload to its elements; codecs add a little if they cannot compress."""

_MOST_SHOWN: Final = 5
_MOST_FAULTS: Final = 100


def find_keys(survey: Survey) -> Iterator[tuple[str, str, Coords] | Fault]:
    """Yield all chunks, as the path of their array, their key and their coordinates; and a fault for each stray key."""
    for key in survey.stream():
        name = key.rpartition("/")[2]
        left_over = is_left_over(key)
        if name in METADATA_NAMES and not left_over:
            continue
        survey.seen += 1
        if name == N5_DOCUMENT or left_over:
            continue
        path = survey.owner_of(key)
        kind = None if path is None else survey.kinds[path]
        if path is None or kind == "damaged" or _belongs_to_missing(survey, key):
            continue
        if kind == "group":
            text = f"nothing in the group /{path} has this key. It may be a file of another program: repair leaves it."
            yield Fault("key-stray", key, path, text)
            continue
        layout = survey.layout(path)
        if layout is None:
            continue
        coords = layout.coords_of(key)
        if coords is not None:
            yield path, key, coords
        elif len(survey.formats(path)) == 1:  # otherwise the key may belong to the other format
            fault = misfit(layout, key)
            if fault is not None and fault.kind == "key-misplaced":
                fault = _unless_alone(survey, layout, fault)
            if fault is not None:
                yield fault


def _unless_alone(survey: Survey, layout: ArrayLayout, fault: Fault) -> Fault:
    """Return the fault of a misplaced key; it is not mendable if no chunk is where readers look for it.

    Then the document may be wrong, and the key right: one that has lost its separator misplaces all chunks.
    """
    coords = next(coords for _, coords, is_inside in _decoded(layout, fault.key) if is_inside)
    if survey.runner.run(ask_steps(Size(layout.key(coords)))) is not None:
        return fault
    text = f"{fault.text} There is none: set the separator of the keys in the document right, or move the chunk."
    return Fault(fault.kind, fault.key, fault.path, text)


def _belongs_to_missing(survey: Survey, key: str) -> bool:
    """Return True if a key lies below a node whose document is missing: nothing is known about its chunks."""
    if not survey.healthy_copies and len(survey.documents) == len(survey.kinds):
        return False
    return any(
        path not in survey.kinds and (path in survey.healthy_copies or path in survey.documents)
        for path in ancestors(key)
    )


def misfit(layout: ArrayLayout, key: str) -> Fault | None:
    """Return the fault of a key below an array that is not the key of a chunk; None if that is unknown.

    Parameters
    ----------
    layout : ArrayLayout
    key : str

    Examples
    --------
    >>> import zarr
    >>> array = zarr.zeros(4, chunks=2)
    >>> misfit(array._handle.layout, "c/2").kind, misfit(array._handle.layout, "1").kind
    ('chunk-outside-grid', 'key-misplaced')
    """
    path, counts = layout.path, layout.outer.cdata_shape
    try:
        for is_own, coords, is_inside in _decoded(layout, key):
            if is_own and not is_inside:
                text = f"the chunk {coords} lies outside of the grid of {counts} chunks: no reader reads it."
                return Fault("chunk-outside-grid", key, path, text, mendable=True)
            if is_inside:
                text = f"the chunk {coords} has the key {layout.key(coords)!r} in this array: readers look there."
                return Fault("key-misplaced", key, path, text, mendable=True)
    except NotImplementedError:
        return None  # a foreign encoding, which may well have such a key
    text = f"the array /{path} has no chunk of this key. Move it elsewhere if it is of use."
    return Fault("key-stray", key, path, text, mendable=True)


def _decoded(layout: ArrayLayout, key: str) -> Iterator[tuple[bool, Coords, bool]]:
    """Yield the coordinates that a key may mean: True if in the own encoding, and True if the grid has them."""
    name, counts = key[len(layout.prefix) :], layout.outer.cdata_shape
    own = getattr(layout.metadata, "chunk_key_encoding", None)
    for encoding in (own, *_OTHER_ENCODINGS):
        try:
            coords = tuple(int(part) for part in encoding.decode_chunk_key(name))  # type: ignore[union-attr]
            same = encoding.encode_chunk_key(coords) == name  # type: ignore[union-attr]
        except (ValueError, IndexError, TypeError):
            continue
        if same and len(coords) == layout.ndim:
            yield encoding is own, coords, all(0 <= at < count for at, count in zip(coords, counts, strict=True))


def check_steps(layout: ArrayLayout, key: str, coords: Coords) -> Steps[list[Fault]]:
    """Read and decode a stored chunk, and return its faults.

    Parameters
    ----------
    layout : ArrayLayout
    key : str
    coords : tuple of int
    """
    shape = tuple(axis.chunk_length(at) for axis, at in zip(layout.outer.axes, coords, strict=True))
    try:
        size = yield Size(key)
        if size is None:  # deleted after it was listed
            return []
        if layout.shard is not None:
            return (yield from _shard_steps(layout, key, shape, size))
        chain = layout.outer_chain.for_shape(shape)
        fault = wrong_size(layout, chain, key, size)
        if fault is not None:
            return [fault]
        raw = yield Get(key)
    except (OSError, ValueError, TypeError, OverflowError) as error:
        return [Fault("key-unreadable", key, layout.path, f"the store cannot read it: {error_text(error)}")]
    if raw is None:
        return []
    fault = yield from decoding_steps(layout, chain, key, raw)
    return [] if fault is None else [fault]


# -------------------------------------------------------------------------------------------------------------- shards


def _shard_steps(layout: ArrayLayout, key: str, shape: Coords, size: int) -> Steps[list[Fault]]:
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
        text = f"{what}. {REMEDY}"
        return [Fault("shard-index", key, layout.path, text)]
    if needed > MOST_INDEX_BYTES:
        text = f"the index of the shard takes {needed} bytes, more than the {MOST_INDEX_BYTES} that are checked."
        return [Fault("chunk-too-large", key, layout.path, text)]
    try:
        rows = yield from read_index_steps(shard, key, nchunks)
    except ChunkDecodeError as error:
        text = f"the index cannot be read: {error_text(error)}. {REMEDY}"
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
        text = f"the index marks {_named(half, counts)} both as stored and as not stored. {REMEDY}"
        faults.append(Fault("shard-index", key, layout.path, text))
    if outside.any():
        where = f"lies outside of bytes {first} to {end}"
        text = f"by the index, {_named(np.flatnonzero(outside), counts)} {where}. {REMEDY}"
        faults.append(Fault("shard-range-outside", key, layout.path, text))
    overlapping = _overlapping(offsets, lengths, stored)
    if len(overlapping):
        text = f"by the index, {_named(overlapping, counts)} begins within the bytes of another one. {REMEDY}"
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
        fault = wrong_size(layout, chain, key, length, what)
        if fault is None:
            if whole is not None:
                raw = whole[offset : offset + length]
            else:
                raw = yield Get(key, RangeByteRequest(offset, offset + length))
            if raw is None:
                break
            fault = yield from decoding_steps(layout, chain, key, raw, what)
        if fault is not None:
            faults.append(fault)
    return faults


# ------------------------------------------------------------------------------------------------------------ payloads


def wrong_size(
    layout: ArrayLayout, chain: CodecChain, key: str, size: int, what: str = "the chunk"
) -> Fault | None:
    """Return a fault if the number of stored bytes alone shows that a chunk is damaged."""
    expected = _fixed_size(layout, chain)
    decoded = math.prod(chain.spec.shape) * layout.dtype.itemsize
    kind: Kind
    if (expected is not None and size < expected) or not size:
        kind, than = "chunk-truncated", expected
    elif expected is not None and size > expected:
        kind, than = "chunk-too-long", expected
    elif not layout.dtype.hasobject and layout.dtype.kind != "T" and size > 2 * decoded + _SLACK_BYTES:
        kind, than = "chunk-too-long", decoded
    elif decoded > MOST_CHUNK_BYTES:
        text = f"{what} decodes to {decoded} bytes, more than the {MOST_CHUNK_BYTES} that are checked."
        return Fault("chunk-too-large", key, layout.path, text)
    else:
        return None
    text = f"{what} has {size} stored bytes where {than or 'some'} are needed. {REMEDY}"
    return Fault(kind, key, layout.path, text)


def _fixed_size(layout: ArrayLayout, chain: CodecChain) -> int | None:
    """Return the number of bytes that a chunk always has; None if it depends on the elements."""
    codecs = [getattr(layout.metadata, name, True) for name in ("filters", "compressor")]
    if codecs == [None, None] and not layout.dtype.hasobject and layout.dtype.kind != "T":  # format 2, as in memory
        return math.prod(chain.spec.shape) * layout.dtype.itemsize
    return chain.encoded_size()


def decoding_steps(
    layout: ArrayLayout, chain: CodecChain, key: str, raw: Buffer, what: str = "the chunk"
) -> Steps[Fault | None]:
    """Decode a chunk, and return a fault if it cannot be decoded."""
    try:
        yield from decode_steps(chain, raw)
    except Exception as error:  # codecs of other packages raise their own errors
        kind: Kind = "chunk-checksum" if isinstance(error, ChunkChecksumError) else "chunk-undecodable"
        return Fault(kind, key, layout.path, f"{what} cannot be decoded: {error_text(error)}. {REMEDY}")
    return None
