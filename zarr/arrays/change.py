"""Changes of an open array besides its elements: resize, append, attributes.

The order of requests is part of the rule. In stores that take contents first (those of this library), an append writes
data first and the shape last, so that a reader never sees a shape without its data; shrinking writes the shape first
and removes data after it. In object stores that compare versions, appends store the shape first, too, since nothing
else keeps two processes from the same elements. In all other stores the document comes before the chunks that it
describes, and chunks are deleted while it still describes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import gt, lt
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.store import takes_contents_first
from zarr.arrays.documents import node_keys, record_steps
from zarr.arrays.handle import ArrayHandle, ArrayState
from zarr.arrays.io.writing import as_elements, check_writable, write_plan_steps
from zarr.arrays.layout import ArrayLayout, foreign_buffers
from zarr.arrays.outside import clear_leftovers_steps, cut_steps, delete_outside_steps, named_leftovers
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import ArrayNotFoundError, LockLostError, WrongTypeError
from zarr.metadata.documents import SCALARS, dump_document, load_document, plain
from zarr.metadata.fields import as_attributes
from zarr.notices import without_warnings
from zarr.steps.consolidated import StoredDocuments, store_and_look_steps
from zarr.steps.documents import hold_node, node_key
from zarr.steps.nodes import ensure_ancestors_steps, parse_array, put_documents_steps, replace_documents_steps
from zarr.steps.requests import ChangedMeanwhileError, Gather, Get, GetMany, List, Put, Steps, ask_steps
from zarr.types import ZARRAY_JSON, parse_shapelike

if TYPE_CHECKING:
    from zarr.arrays.io import foreign_pipeline
else:
    foreign_pipeline = LazyModule("zarr.arrays.io.foreign_pipeline")

T = TypeVar("T")


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
        if len(documents) > 1 and None in documents.values():  # of the two of format 2, one may be missing
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
            yield from cut_steps(old, shape, handle.bulk)
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
            yield from cut_steps(old, shape, handle.bulk)
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
        if most != layout.shape and named_leftovers(grown, layout.shape, kept) is None:
            _, stored = yield Gather((refresh_steps(handle), ask_steps(List(layout.key_folder))))
            return stored if handle.state.layout.key_folder == layout.key_folder else None
    yield from refresh_steps(handle)
    return None


def _best_effort_steps(steps: Steps[None]) -> Steps[None]:
    """Clean up after an error; ignore errors of the clean-up."""
    with contextlib.suppress(Exception):
        yield Gather((steps,))


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
        yield from cut_steps(layout, shape, handle.bulk)


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
