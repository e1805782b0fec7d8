"""Changes of an open array besides its elements: resize, append, attributes.

The order of requests is part of the rule. In stores that take contents first (those of this library), an append writes
data first and the shape last, so that a reader never sees a shape without its data; shrinking writes the shape first
and removes data after it. In object stores that compare versions, appends store the shape first, too, since nothing
else keeps two processes from the same elements. In all other stores the document comes before the chunks that it
describes, and chunks are deleted while it still describes them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import ge, gt, lt
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.store import takes_contents_first
from zarr.abc.stores.abilities import AT_HAND
from zarr.arrays.documents import node_keys, record_steps
from zarr.arrays.handle import ArrayHandle, ArrayState
from zarr.arrays.io.chunks import is_filled
from zarr.arrays.io.reading import read_plan_steps
from zarr.arrays.io.selection import elements_of
from zarr.arrays.io.writing import as_elements, check_writable, write_plan_steps
from zarr.arrays.layout import ArrayLayout, foreign_buffers
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.chunks.shapes import cells, cells_outside
from zarr.errors import ArrayNotFoundError, LockLostError, WrongTypeError
from zarr.metadata.documents import SCALARS, dump_document, load_document, plain
from zarr.metadata.fields import as_attributes
from zarr.notices import without_warnings
from zarr.steps.consolidated import StoredDocuments, store_and_look_steps
from zarr.steps.documents import hold_node, node_key
from zarr.steps.nodes import ensure_ancestors_steps, parse_array, put_documents_steps, replace_documents_steps
from zarr.steps.requests import (
    ChangedMeanwhileError,
    DeleteMany,
    Gather,
    Get,
    GetMany,
    Hold,
    List,
    Put,
    Size,
    Steps,
    ask_steps,
)
from zarr.types import ZARRAY_JSON, parse_shapelike

if TYPE_CHECKING:
    from zarr.arrays.io import foreign_pipeline
else:
    foreign_pipeline = LazyModule("zarr.arrays.io.foreign_pipeline")

T = TypeVar("T")

MAX_NAMED_CHUNKS = 4096
"""Up to this number, chunks are deleted by name; more are first looked up by one listing."""

REMOVED_AT_ONCE = 256
"""Number of chunks whose locks are held while they are removed together."""

MAX_BYTES_AT_ONCE = 64 << 20
"""Up to this size, the elements beyond the edge of all border chunks are read together."""

LISTED_FOR_ONE_REQUEST = 16
"""So many keys are listed at about the price of one request for a chunk."""


# ----------------------------------------------------------------------------------------------- metadata


def save_metadata_steps(handle: ArrayHandle, metadata: Any, ensure_parents: bool = False) -> Steps[None]:
    """Write the documents of a metadata object, and update consolidated metadata above them."""
    documents = metadata.to_buffer_dict(default_buffer_prototype())
    if ensure_parents:
        yield from ensure_ancestors_steps(handle.store_path, metadata.zarr_format)
    yield Gather((replace_documents_steps(handle.store_path.path, documents, handle.config.locking),))
    yield from record_steps(handle, documents)


def refresh_steps(handle: ArrayHandle, keys: Mapping[str, str] | None = None) -> Steps[None]:
    """Take over changes that another handle has stored in the documents; call this while the node is held.

    An array that was made by hand and is not stored (yet) keeps its metadata.

    Parameters
    ----------
    handle : ArrayHandle
    keys : mapping, optional
        Its ``node_keys``, if they are known.

    Raises
    ------
    ArrayNotFoundError
        If the array was removed meanwhile; it is not created again.
    """
    keys = keys or node_keys(handle)
    found: dict[str, Buffer | None]
    if len(keys) == 1:
        ((only, key),) = keys.items()
        found = {only: (yield Get(key))}
    else:
        found = dict(zip(keys, (yield GetMany([*keys.values()])), strict=True))
    known = handle.state.documents
    if known is not None and _same(known, found):
        return
    try:
        there = {name: raw.to_bytes() for name, raw in found.items() if raw is not None}
        with without_warnings():  # the user has been warned when the array was opened
            metadata = parse_array(there, handle.store_path)
    except ArrayNotFoundError:
        if not handle.perhaps_unstored:
            raise
        handle.state.documents = None
        return
    if metadata != handle.metadata:
        handle.state = handle.state.replaced(metadata, found)
    else:
        handle.state.documents = found


def _same(known: Mapping[str, Buffer | None], found: Mapping[str, Buffer | None]) -> bool:
    """Return True if all of some documents are known with equal bytes."""
    for name, raw in found.items():
        other = known.get(name)
        if raw is not other and (raw is None or other is None or raw.to_bytes() != other.to_bytes()):
            return False
    return True


def publish_steps(handle: ArrayHandle, state: ArrayState) -> Steps[None]:
    """Write changed metadata and show it to both faces, and to the batch that collects writes of the array."""
    documents, place = state.metadata.to_buffer_dict(default_buffer_prototype()), handle.store_path
    known = handle.state.documents or {}
    # Of the two documents of format 2, a change of the attributes or of the shape concerns one; a document that was
    # repaired is stored with the first change.
    changed = documents
    if len(documents) > 1 and takes_contents_first(place.store) and handle.state.metadata._stored_document is None:
        stored = known.get(ZARRAY_JSON)
        if stored is not None and stored.to_bytes() != documents[ZARRAY_JSON].to_bytes():
            # Its writer may have laid it out in another way.
            before = handle.state.metadata.to_buffer_dict(default_buffer_prototype())[ZARRAY_JSON]
            if stored.to_bytes() != before.to_bytes() and _members_of_v2(stored) == _members_of_v2(before):
                known = {**known, ZARRAY_JSON: before}
        changed = {name: raw for name, raw in documents.items() if not _same(known, {name: raw})}
    if handle.bulk == "buffers":
        documents = StoredDocuments(documents)
        yield from store_and_look_steps(place.store, place.path, documents, put_documents_steps(place.path, changed))
    else:
        for name, document in changed.items():
            yield Put(node_key(place.path, name), document)
    state.documents = documents
    handle.state = state
    batch = handle.batch  # read once, here and below: another thread may end it
    if batch is not None:
        batch.layout = state.layout


def _members_of_v2(document: Buffer) -> dict[str, Any]:
    return {"dimension_separator": ".", **load_document(document.to_bytes(), ZARRAY_JSON)}


def changing_steps(handle: ArrayHandle, change: Callable[[], Steps[T]]) -> Steps[T]:
    """Run a change that locks the node, release the node, then update consolidated metadata above it.

    The change is run again if another process has changed a document that it read (``compared_steps``, inlined).
    """
    before = handle.state
    try:
        while True:
            try:
                (result,) = yield Gather((change(),))
                break
            except ChangedMeanwhileError:
                continue
    except Exception:
        yield from _best_effort_steps(_catch_up_steps(handle, before))
        raise
    yield from _record_steps(handle, before)
    answer: T = result
    return answer


def _record_steps(handle: ArrayHandle, before: ArrayState) -> Steps[None]:
    after = handle.state
    documents = after.documents
    if after is not before and documents is not None and handle.store_path.path:
        if None in documents.values():  # they may have been read, and one may be missing
            documents = {name: raw for name, raw in documents.items() if raw is not None}
        yield from record_steps(handle, cast("Mapping[str, Buffer]", documents))


def _catch_up_steps(handle: ArrayHandle, before: ArrayState) -> Steps[None]:
    """After a failed change, show what is stored now, and update consolidated metadata above the node."""
    yield Gather((_refresh_held_steps(handle),))
    yield from _record_steps(handle, before)


def _refresh_held_steps(handle: ArrayHandle) -> Steps[None]:
    yield hold_node(handle.store_path.path, handle.config.locking)
    yield from refresh_steps(handle)


def update_attributes_steps(
    handle: ArrayHandle, changes: Mapping[str, Any], removed: Iterable[str] = (), replace: bool = False
) -> Steps[None]:
    """Add, replace and remove attributes in one write of the document.

    Parameters
    ----------
    handle : ArrayHandle
    changes : mapping
    removed : iterable of str
        Names to remove.
    replace : bool
        If True, all attributes that are not in ``changes`` are removed.

    Raises
    ------
    TypeError
        If an attribute cannot be written as JSON.
    """
    check_writable(handle)
    named = {str(name): plain(value) for name, value in as_attributes(changes).items()}
    if not SCALARS.keys() >= {*map(type, named.values())}:
        dump_document({"attributes": named}, indent=None)  # before any change
    yield from changing_steps(handle, partial(_change_attributes_steps, handle, named, tuple(removed), replace))


def _change_attributes_steps(
    handle: ArrayHandle, changes: dict[str, Any], removed: tuple[str, ...], replace: bool
) -> Steps[None]:
    keys = node_keys(handle)
    yield hold_node(handle.store_path.path, handle.config.locking, compared=keys.values())
    yield from refresh_steps(handle, keys)
    attributes = changes if replace else {**handle.metadata.attributes, **changes}
    for name in removed:
        del attributes[name]
    yield from publish_steps(handle, handle.state.reshaped(handle.metadata.update_attributes(attributes)))


# ----------------------------------------------------------------------------------------------- shape


def parse_new_shape(layout: ArrayLayout, new_shape: Any) -> tuple[int, ...]:
    """Return a shape to resize to.

    Raises
    ------
    ValueError
        If it has another number of dimensions, or a negative length.
    """
    shape: tuple[int, ...] = parse_shapelike(new_shape)
    if len(shape) != layout.ndim:
        raise ValueError(
            "The new shape must have the same number of dimensions as the array. "
            f"Got {len(shape)} dimension(s), expected {layout.ndim}."
        )
    return shape


def resize_steps(handle: ArrayHandle, new_shape: Any, delete_outside_chunks: bool = True) -> Steps[None]:
    """Change the shape; elements that are cut off are gone, also after the array has grown again.

    Parameters
    ----------
    handle : ArrayHandle
    new_shape : int or tuple of int
    delete_outside_chunks : bool
        If True, delete the chunks that lie outside the new shape.
    """
    check_writable(handle)
    layout = handle.state.layout
    layout.require_codecs()
    shape = parse_new_shape(layout, new_shape)
    yield from changing_steps(handle, partial(_resize_steps, handle, shape, delete_outside_chunks))


def _resize_steps(handle: ArrayHandle, shape: tuple[int, ...], delete_outside_chunks: bool) -> Steps[None]:
    keys = node_keys(handle)
    compared = yield hold_node(handle.store_path.path, handle.config.locking, compared=keys.values())
    stored: list[str] | None = None
    if handle.bulk == "buffers":
        stored = yield from _refresh_and_list_steps(handle, shape)
    else:
        yield from refresh_steps(handle, keys)
    batch = handle.batch
    if batch is not None:
        yield from batch.flush_steps()
    old = handle.state.layout
    if shape == old.shape:
        return
    new = handle.state.reshaped(old.metadata.update_shape(shape))
    cuts = delete_outside_chunks and any(map(lt, shape, old.shape))
    if not takes_contents_first(handle.store_path.store):
        if cuts:
            yield from _cut_steps(old, shape, handle.bulk)
        yield from publish_steps(handle, new)
        return
    if any(map(gt, shape, old.shape)):
        most = tuple(map(max, shape, old.shape))
        grown = new if most == shape else handle.state.reshaped(old.metadata.update_shape(most))
        check = partial(_check_unchanged_steps, handle, handle.state) if compared else None
        yield from clear_leftovers_steps(grown.layout, old.shape, handle.bulk, stored, check)
    yield from publish_steps(handle, new)
    if cuts:
        try:
            yield from _cut_steps(old, shape, handle.bulk)
        except Exception as error:
            # Growing clears what lies beyond the new shape; remove now as much as possible.
            error.add_note(f"the array has its new shape {shape}; what is still stored beyond it is not shown again")
            yield from _best_effort_steps(delete_outside_steps(old, shape))
            raise


def _check_unchanged_steps(handle: ArrayHandle, state: ArrayState) -> Steps[None]:
    """Begin a change again if another process has changed the documents: what was planned is of the old ones."""
    yield from refresh_steps(handle)
    if handle.state is not state:
        raise ChangedMeanwhileError(f"the array {handle.store_path.label} was changed after it was read")


def _refresh_and_list_steps(handle: ArrayHandle, shape: tuple[int, ...]) -> Steps[list[str] | None]:
    """Take over changes of others; a service lists the chunks in the same time where growing to a shape needs that."""
    layout = handle.state.layout
    if takes_contents_first(handle.store_path.store):
        most = tuple(map(max, shape, layout.shape))
        grown = handle.state.reshaped(layout.metadata.update_shape(most)).layout
        kept = grown.outer.counts_within(layout.shape)
        if most != layout.shape and _named_leftovers(grown, layout.shape, kept) is None:
            _, stored = yield Gather((refresh_steps(handle), ask_steps(List(layout.key_folder))))
            return stored if handle.state.layout.key_folder == layout.key_folder else None
    yield from refresh_steps(handle)
    return None


def _cut_steps(layout: ArrayLayout, shape: tuple[int, ...], bulk: str | None) -> Steps[None]:
    """Remove the elements beyond a smaller shape."""
    yield from clear_cut_steps(layout, shape, bulk)
    yield from delete_outside_steps(layout, shape)


def _best_effort_steps(steps: Steps[None]) -> Steps[None]:
    """Clean up after an error; ignore errors of the clean-up."""
    with contextlib.suppress(Exception):
        yield Gather((steps,))


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
    named = _named_leftovers(layout, shape, kept)
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


def _named_leftovers(
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


def append_steps(handle: ArrayHandle, data: Any, axis: int = 0) -> Steps[tuple[int, ...]]:
    """Add data at the end of an axis; the result is the new shape.

    Raises
    ------
    ValueError
        If the shape of the data does not fit that of the array.
    """
    check_writable(handle)
    layout = handle.state.layout
    layout.require_codecs()
    if foreign_buffers(handle.bound_pipeline):
        data = foreign_pipeline.to_host(data)
    nullable = layout.nullable
    if not hasattr(data, "shape") and not isinstance(data, list | tuple):
        checked_axis(layout, np.shape(data), axis)  # an error about a value that cannot be an element comes after this
    value = as_elements(data if nullable is None else nullable.from_values(data), layout.dtype)
    return (yield from changing_steps(handle, partial(_append_steps, handle, value, axis)))


def _append_steps(handle: ArrayHandle, value: np.ndarray[Any, Any], axis: int) -> Steps[tuple[int, ...]]:
    keys = node_keys(handle)
    compared = yield hold_node(handle.store_path.path, handle.config.locking, compared=keys.values())
    yield from refresh_steps(handle, keys)
    layout = handle.state.layout
    shape = layout.shape
    axis = checked_axis(layout, value.shape, axis)
    end = shape[axis] + value.shape[axis]
    new_shape = (*shape[:axis], end, *shape[axis + 1 :])
    if new_shape == shape:
        return shape
    state = handle.state.reshaped(layout.metadata.update_shape(new_shape))
    grown = state.layout
    # In format 3 the codecs determine the byte order of elements, and a new array still has the byte order that the
    # user requested.
    value = value.astype(grown.dtype, copy=False)
    region = [slice(0, n) for n in new_shape]
    region[axis] = slice(shape[axis], end)
    plan = zarr_core.plan_basic(grown.grid, tuple(region))
    # While the node is held, nobody else appends: new chunks are whole, also where they reach beyond the array. If
    # documents are compared instead, another process may append as soon as the shape is stored.
    writing = write_plan_steps(grown if compared else grown.alone, plan, value, None, handle.bulk)
    batch = handle.batch
    if batch is not None:
        # Pending chunks are stored first: no reader may see the new shape without its data.
        yield from batch.flush_steps()
    if compared or not takes_contents_first(handle.store_path.store):
        yield from _shape_first_steps(handle, state, shape, writing, takes_back=bool(compared))
        return new_shape
    try:
        yield from writing
        yield from publish_steps(handle, state)
    except LockLostError:
        raise  # what lies beyond the old shape may be of the other process
    except Exception:
        yield from _best_effort_steps(clear_leftovers_steps(grown, shape, handle.bulk))
        raise
    return new_shape


def _shape_first_steps(
    handle: ArrayHandle, state: ArrayState, shape: tuple[int, ...], writing: Steps[None], takes_back: bool
) -> Steps[None]:
    """Store the shape of an append and then its data: other processes see which elements are those of this append."""
    yield from publish_steps(handle, state)
    try:
        yield from writing
    except Exception:
        if takes_back:
            yield from _best_effort_steps(_take_back_steps(handle, shape, state.layout.shape))
        raise


def _take_back_steps(handle: ArrayHandle, shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Steps[None]:
    """Give an array its old shape after an append that failed, unless another process has changed the shape since."""
    yield from refresh_steps(handle)
    layout = handle.state.layout
    if layout.shape == new_shape:
        yield from publish_steps(handle, handle.state.reshaped(layout.metadata.update_shape(shape)))
        yield from _cut_steps(layout, shape, handle.bulk)


def checked_axis(layout: ArrayLayout, added: tuple[int, ...], axis: int) -> int:
    """Return the axis to append to, counted from the front.

    Raises
    ------
    ValueError
        If the shape of the data does not fit that of the array.
    """
    ndim, shape = layout.ndim, layout.shape
    if not hasattr(axis, "__index__"):
        raise WrongTypeError(f"the axis to append to must be an integer, got {axis!r}")
    fits = len(added) == ndim and -ndim <= axis < ndim
    if fits:
        axis %= ndim
        if added[:axis] == shape[:axis] and added[axis + 1 :] == shape[axis + 1 :]:
            return axis
    raise ValueError(
        f"shape of data to append is not compatible with the array. The shape of the data is {added} and the shape of "
        f"the array is {shape}. All dimensions must match except for the dimension being appended ({axis})."
    )
