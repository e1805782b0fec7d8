"""Faults of chunks: keys that an array does not have, and values that are no chunk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zarr.arrays.layout import ArrayLayout
from zarr.chunks.keys import DefaultChunkKeyEncoding, V2ChunkKeyEncoding
from zarr.steps.requests import Get, Size, Steps, ask_steps
from zarr.tools.verification import payloads, shards
from zarr.tools.verification.report import Fault
from zarr.tools.verification.survey import Survey, error_text, is_left_over
from zarr.types import METADATA_NAMES

Coords = tuple[int, ...]

N5_DOCUMENT: Final = "attributes.json"
"""Documents for readers of N5; some arrays have documents for both kinds of readers."""

_OTHER_ENCODINGS: Final = (
    DefaultChunkKeyEncoding(separator="/"),
    DefaultChunkKeyEncoding(separator="."),
    V2ChunkKeyEncoding(separator="."),
    V2ChunkKeyEncoding(separator="/"),
)


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
    parts = key.split("/")
    above = ("/".join(parts[:depth]) for depth in range(len(parts)))
    return any(
        path not in survey.kinds and (path in survey.healthy_copies or path in survey.documents) for path in above
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
        except NotImplementedError:
            raise
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
            return (yield from shards.check_steps(layout, key, shape, size))
        chain = layout.outer_chain.for_shape(shape)
        fault = payloads.wrong_size(layout, chain, key, size)
        if fault is not None:
            return [fault]
        raw = yield Get(key)
    except (OSError, ValueError, TypeError, OverflowError) as error:
        return [Fault("key-unreadable", key, layout.path, f"the store cannot read it: {error_text(error)}")]
    if raw is None:
        return []
    fault = yield from payloads.decoding_steps(layout, chain, key, raw)
    return [] if fault is None else [fault]
