"""Read an array: plan the selection, allocate the result, run the steps between them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.codec import CodecPipeline
from zarr.arrays.io import chunks
from zarr.arrays.io import selection as selections
from zarr.arrays.io.chunks import LARGE_IN_FILE, read_chunk_steps
from zarr.arrays.io.selection import Fields, plan_simple, simple_kind
from zarr.arrays.layout import ArrayLayout, foreign_buffers
from zarr.buffer import cpu
from zarr.buffer.core import BufferPrototype, NDBuffer, default_buffer_prototype
from zarr.dtype.base import empty_array
from zarr.errors import ArrayTooLargeError
from zarr.logs import logs_codecs
from zarr.steps.requests import Gather, Steps

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.io import foreign_pipeline, shard_read
    from zarr.dtype.types import text
else:
    foreign_pipeline = LazyModule("zarr.arrays.io.foreign_pipeline")
    shard_read = LazyModule("zarr.arrays.io.shard_read")
    text = LazyModule("zarr.dtype.types.text")

Ndarray = np.ndarray[Any, Any]


def wants_pipeline(bound: type[CodecPipeline] | None, prototype: BufferPrototype | None) -> bool:
    """Return True if the user gave foreign buffers or codecs."""
    if prototype is None:
        return foreign_buffers(bound)
    return prototype.buffer is not cpu.Buffer or prototype.nd_buffer is not cpu.NDBuffer or foreign_buffers(bound)


def read_plan_steps(layout: ArrayLayout, plan: zarr_core.Plan, out: Ndarray, bulk: str | None) -> Steps[None]:
    """Return the steps that read all slots of a plan into an array of its shape and of the layout's data type."""
    count = plan.nslots
    if layout.retries and count:
        return chunks.retry_missing_steps(layout, lambda once: read_plan_steps(once, plan, out, bulk))
    # If codecs are logged, each chunk has its line.
    if (layout.cache_bytes and chunks.fits_cache(layout, count)) or logs_codecs():
        bulk = None
    if layout.shard is not None and count:
        return shard_read.read_shards_steps(layout, plan, out, bulk)
    if chunks.reads_in_bulk(layout, count, bulk):
        return chunks.read_bulk_steps(layout, plan, out)
    return chunks.read_slots_steps(layout, plan, out, range(count))


def getitem_steps(handle: ArrayHandle, selection: Any) -> Steps[Any]:
    """Read the selection between the brackets of ``array[...]``."""
    layout = handle.state.layout
    items = selection if type(selection) is tuple else (selection,)
    simple = None if foreign_buffers(handle.bound_pipeline) else simple_kind(items)
    if simple is None:
        return (yield from get_selection_steps(handle, "brackets", selection))
    plan = plan_simple(layout, items)
    try:
        out = empty_array(plan.shape, layout.dtype, layout.order)
    except ArrayTooLargeError as error:
        error.add_note(f"while reading {layout.describe()}")
        raise
    if (batch := handle.batch) is not None:
        yield from batch.read_steps(layout, plan, out)
    elif plan.nslots == 1 and layout.shard is None and layout.reads_missing and layout.chunk_nbytes <= LARGE_IN_FILE:
        yield from read_chunk_steps(layout, plan.slot(0), out)
    else:
        yield from read_plan_steps(layout, plan, out, handle.bulk)
    if layout.dtype.kind == "V":
        normalize_boolean_fields(out)
    if layout.nullable is not None:
        out = layout.nullable.to_masked(out)
    # As in zarr-python, Python integers alone give a 0-d array, other indices of one element a scalar. Objects, which
    # zarr-python does not have, are returned themselves.
    boxed = layout.ndim and not (layout.dtype.kind == "O" and isinstance(layout.zdtype, text.PythonObject))
    return out if out.ndim or (simple and boxed) else out[()]


def get_selection_steps(
    handle: ArrayHandle,
    kind: str,
    selection: Any,
    *,
    out: NDBuffer | Ndarray | None = None,
    fields: Fields = None,
    prototype: BufferPrototype | None = None,
) -> Steps[Any]:
    """Read a selection of one kind.

    Parameters
    ----------
    handle : ArrayHandle
    kind : "basic", "orthogonal", "coordinate", "mask", "block", or "brackets" for what brackets mean
    selection : object
    out : NDBuffer or numpy.ndarray, optional
        The array that receives the result.
    fields : str or list of str, optional
        The fields of a structured data type to read.
    prototype : BufferPrototype, optional
        The classes that hold bytes and elements.

    Returns
    -------
    The elements; a numpy scalar for a basic selection of one element.
    """
    layout = handle.state.layout
    if fields is None and kind != "basic":
        fields, selection = selections.pop_fields(selection)
    selections.field_dtype(layout.dtype, fields)
    fields = fields or None  # an empty list means no fields
    foreign = wants_pipeline(handle.bound_pipeline, prototype)
    place = foreign_pipeline.device_prototype(layout, prototype) if foreign and fields is None and out is None else None
    foreign = foreign and place is None
    layout = layout.stored if foreign else layout
    if layout.order == "F" and selections.are_points(layout, kind, selection):
        layout = layout.varied(order="C")  # as in zarr-python: points have no place in the memory order of the array
    plan, scalar = selections.plan_kind(layout, kind, selection)
    found = yield from read_into_steps(handle, layout, plan, out, fields, prototype, scalar, foreign)
    return found if place is None else foreign_pipeline.to_device(found, place)


def read_into_steps(
    handle: ArrayHandle,
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    out: NDBuffer | Ndarray | None,
    fields: Fields,
    prototype: BufferPrototype | None,
    scalar: bool,
    foreign: bool,
) -> Steps[Any]:
    """Read a plan into ``out``, or into a new array; then select the requested fields."""
    batch = handle.batch
    if foreign:
        if batch is not None:
            yield Gather((batch.flush_steps(),))
        return (yield from _foreign_steps(handle, layout, plan, out, fields, prototype, scalar))
    target = None if out is None else checked_out(out, plan.shape)
    direct = target is not None and fields is None and target.dtype == layout.dtype
    try:
        data = target if direct else empty_array(plan.shape, layout.dtype, layout.order)
    except ArrayTooLargeError as error:
        error.add_note(f"while reading {layout.describe()}")
        raise
    assert data is not None
    if batch is not None:
        yield from batch.read_steps(layout, plan, data)
    else:
        yield from read_plan_steps(layout, plan, data, handle.bulk)
    if layout.dtype.kind == "V":
        normalize_boolean_fields(data)
    result = data if fields is None else project(data, fields)
    if layout.nullable is not None and fields is None and not direct:
        result = layout.nullable.to_masked(data)
    if target is not None and not direct:
        target[...] = result
        result = target
    return result[()] if scalar and not result.shape else result


def checked_out(out: NDBuffer | Ndarray, shape: tuple[int, ...]) -> Ndarray:
    """Return the array behind an ``out`` argument.

    Raises
    ------
    TypeError
        If ``out`` is neither an NDBuffer nor an array.
    ValueError
        If ``out`` has another shape than the selection, or cannot be written to.
    """
    array = out.as_ndarray_like() if isinstance(out, NDBuffer) else out
    if not isinstance(array, np.ndarray):
        raise TypeError(f"out argument needs to be an NDBuffer or a numpy array. Got {type(out)!r}")
    if array.shape != shape and not (array.ndim == 1 and array.size == prod(shape) and len(shape) > 1):
        raise ValueError(f"shape of out argument doesn't match. Expected {shape}, got {array.shape}")
    if not array.flags.writeable:
        raise ValueError("the out argument is a read-only array")
    return array if array.shape == shape else array.reshape(shape)


def normalize_boolean_fields(records: Ndarray) -> None:
    """Set every byte of boolean fields that is neither 0 nor 1 to 1, as the core does for arrays of booleans.

    Examples
    --------
    >>> read = np.array([0, 1, 2], dtype="u1").view([("field", bool)])
    >>> normalize_boolean_fields(read)
    >>> read.view("u1").tolist()
    [0, 1, 1]
    """
    for name in records.dtype.names or ():
        field = records[name]
        if field.dtype.kind == "b":
            np.not_equal(field.view(np.uint8), 0, out=field)
        elif field.dtype.kind == "V":
            normalize_boolean_fields(field)


def project(data: Ndarray, fields: Fields) -> Ndarray:
    """Return some fields of a structured array, packed."""
    if isinstance(fields, str):
        return data[fields].copy()
    result = np.empty(data.shape, dtype=selections.field_dtype(data.dtype, fields))
    for name in fields or ():
        result[name] = data[name]
    return result


def _foreign_steps(
    handle: ArrayHandle,
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    out: NDBuffer | Ndarray | None,
    fields: Fields,
    prototype: BufferPrototype | None,
    scalar: bool,
) -> Steps[Any]:
    """Read through the configured pipeline into buffers of the configured class."""
    prototype = default_buffer_prototype() if prototype is None else prototype
    if out is None or fields is not None:
        buffer = prototype.nd_buffer.empty(shape=plan.shape, dtype=layout.dtype, order=layout.order)
    elif isinstance(out, NDBuffer):
        if out.shape != plan.shape:
            raise ValueError(f"shape of out argument doesn't match. Expected {plan.shape}, got {out.shape}")
        buffer = out
    else:
        buffer = prototype.nd_buffer.from_ndarray_like(checked_out(out, plan.shape))
    yield from foreign_pipeline.pipeline_read_steps(handle, layout, plan, buffer, prototype)
    if fields is not None:
        result = project(buffer.as_numpy_array(), fields)
        if out is None:
            return result
        target = checked_out(out, plan.shape)
        target[...] = result
        return target
    return buffer.as_scalar() if scalar and plan.shape == () else buffer.as_ndarray_like()


def iterate_rows(array: Any, first: int = 0) -> Iterator[Any]:
    """Yield the elements of the first dimension, one after the other; no chunk is read twice.

    Parameters
    ----------
    array : Array or LazyArray
    first : int
        The element to begin with.

    Yields
    ------
    numpy.ndarray
        A view of rows that were read together; copy it to free the other rows.

    Examples
    --------
    >>> import zarr
    >>> [int(row) for row in iterate_rows(zarr.array([3, 1, 2]))]
    [3, 1, 2]
    """
    if array.ndim == 0:
        return
    start = 0
    for count in array.read_chunk_sizes[0]:
        if start + count > first:
            rows = array[start : start + count]
            for place in range(max(0, first - start), count):
                yield rows[place, ...]
        start += count
