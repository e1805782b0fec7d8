"""Write an array: plan the selection, bring the value to its shape, run the steps between them."""

from __future__ import annotations

import reprlib
import sys
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.arrays.io import selection as selections
from zarr.arrays.io.chunks import MIN_BULK_SLOTS, write_chunk_steps, write_slots_steps
from zarr.arrays.io.reading import wants_pipeline
from zarr.arrays.io.selection import Fields, plan_simple, simple_kind
from zarr.arrays.layout import ArrayLayout, foreign_buffers
from zarr.buffer.core import BufferPrototype, NDBuffer, default_buffer_prototype
from zarr.errors import ReadOnlyError, ShapeMismatchError, ZarrUserWarning
from zarr.logs import logs_codecs
from zarr.notices import warn
from zarr.steps.requests import Gather, Steps

if TYPE_CHECKING:
    from zarr.arrays import documents
    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.io import bulk_write, foreign_pipeline, shard_write
    from zarr.dtype import base as data_types
else:
    bulk_write = LazyModule("zarr.arrays.io.bulk_write")
    foreign_pipeline = LazyModule("zarr.arrays.io.foreign_pipeline")
    documents = LazyModule("zarr.arrays.documents")
    shard_write = LazyModule("zarr.arrays.io.shard_write")
    data_types = LazyModule("zarr.dtype.base")

Ndarray = np.ndarray[Any, Any]

READ_ONLY = "store was opened in read-only mode and does not support writing"


def check_writable(handle: ArrayHandle) -> None:
    """Refuse to write to a store that is open for reading only, or to an array that does not change.

    An object in place of a store, for example one that records calls, is not checked: it refuses by itself.

    Raises
    ------
    ReadOnlyError
    """
    if handle.store_path.store.read_only is True:
        raise ReadOnlyError(f"{READ_ONLY}: {handle.describe()}; open it with mode 'r+'")
    if handle.state.config.immutable:
        raise ReadOnlyError(f"the array was opened with immutable=True: {handle.describe()}; open it without, to write")


def setitem_steps(
    handle: ArrayHandle, selection: Any, value: Any, layout: ArrayLayout | None = None
) -> Steps[None]:
    """Write to the selection between the brackets of ``array[...] = value``, by the layout of the handle or another."""
    layout = layout or handle.state.layout
    if handle.store_path.store.read_only is True or layout.stamp is not None:
        check_writable(handle)
    items = selection if type(selection) is tuple else (selection,)
    if simple_kind(items) is not None and not foreign_buffers(handle.bound_pipeline):
        # The shortest way, which nearly every write takes.
        plan = plan_simple(layout, items)
        yield from write_value_steps(handle, layout, plan, value, None, None, False, selection=items)
        return
    yield from set_selection_steps(handle, "brackets", selection, value, layout=layout)


def set_selection_steps(
    handle: ArrayHandle,
    kind: str,
    selection: Any,
    value: Any,
    *,
    fields: Fields = None,
    prototype: BufferPrototype | None = None,
    layout: ArrayLayout | None = None,
) -> Steps[None]:
    """Write to a selection of one kind.

    Parameters
    ----------
    handle : ArrayHandle
    kind : "basic", "orthogonal", "coordinate", "mask", "block", or "brackets" for what brackets mean
    selection : object
    value : array-like
        Broadcast to the shape of the selection.
    fields : str or list of str, optional
        The fields of a structured data type to write; the others keep their values.
    prototype : BufferPrototype, optional
        The classes that hold bytes and elements.
    layout : ArrayLayout, optional
        The layout to write by; by default that of the handle.
    """
    layout = layout or handle.state.layout
    if isinstance(fields, list) and not fields:
        fields = None
    if fields is None and kind != "basic":
        fields, selection = selections.pop_fields(selection)
    check_writable(handle)
    selections.field_dtype(layout.dtype, fields)
    foreign = wants_pipeline(handle.bound_pipeline, prototype)
    if foreign and foreign_pipeline.device_prototype(layout, prototype):
        value, foreign = foreign_pipeline.to_host(value), False
    layout = layout.stored if foreign else layout
    plan, _ = selections.plan_kind(layout, kind, selection)
    slices = selection if kind in ("basic", "brackets") else None
    points = kind == "coordinate"
    yield from write_value_steps(handle, layout, plan, value, fields, prototype, foreign, points, slices)


def cut_at_end(shape: tuple[int, ...], selection: Any, value: Any) -> Any | None:
    """Return the part of a value inside an array, with a warning, if it fits slices that pass the end of the array.

    So dask stores a block that is larger than what is left of the array. All other values that do not fit are errors.

    Parameters
    ----------
    shape : tuple of int
        The shape of the array.
    selection : object
        Slices and integers.
    value : object
        Anything.

    Returns
    -------
    array-like or None
        None if the value does not fit.

    Examples
    --------
    >>> cut_at_end((10,), slice(8, 12), np.arange(3)) is None  # neither two elements nor four
    True
    """
    items = selection if isinstance(selection, tuple) else (selection,)
    if not all(item is Ellipsis or isinstance(item, (slice, int, np.integer)) for item in items):
        return None
    pairs = zip(selections.expand_ellipsis(items, len(shape)), shape, strict=True)
    slices = [(item, length) for item, length in pairs if isinstance(item, slice)]
    wanted = tuple(_length_as_given(item, length) for item, length in slices)
    if np.shape(value) != wanted:
        return None
    inside = tuple(len(range(*item.indices(length))) for item, length in slices)
    warn(
        f"a value of shape {wanted} was written to a selection that passes the end of the array of shape {shape}: only "
        f"its first {inside} elements are inside. Cut the value, or resize the array",
        ZarrUserWarning,
    )
    return np.asarray(value)[tuple(slice(n) for n in inside)]


def _length_as_given(item: slice, length: int) -> int:
    """Return the number of elements of a slice as if the axis went on to its stop."""
    start, stop, step = item.indices(length)
    if item.stop is not None and item.stop > length:
        stop = int(item.stop)
    return len(range(start, stop, step))


def write_value_steps(
    handle: ArrayHandle,
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    value: Any,
    fields: Fields,
    prototype: BufferPrototype | None,
    foreign: bool,
    points: bool = False,
    selection: Any = None,
) -> Steps[None]:
    """Bring a value to the data type and shape of a plan, and return the steps that write it.

    If the selection is given, a value that fits slices beyond the end of the array is cut.
    """
    names = [fields] if isinstance(fields, str) else fields
    batch = handle.batch
    if plan.nslots == 0:
        refuse_no_elements(layout, value, fields)
        steps = write_slots_steps(layout, plan, value, names, ())
    elif foreign:
        steps = _foreign_steps(handle, layout, plan, value, names, prototype, points)
    else:
        try:
            prepared = elements_for(layout, plan, value, fields, points)
        except ShapeMismatchError:
            inside = None if selection is None else cut_at_end(layout.shape, selection, value)
            if inside is None:
                raise
            prepared = elements_for(layout, plan, inside, fields, points)
        if batch is not None:
            steps = batch.write_steps(layout, plan, prepared, names)
        else:
            steps = write_plan_steps(layout, plan, prepared, names, handle.bulk)
    repaired = plan.nslots and handle.state.metadata._stored_document is not None
    return _repaired_steps(handle, steps) if repaired else steps


def _repaired_steps(handle: ArrayHandle, steps: Steps[None]) -> Steps[None]:
    """Write to an array whose document breaks the format; first store the document as it was understood."""
    yield from documents.store_repaired_steps(handle)
    yield from steps


def elements_for(layout: ArrayLayout, plan: zarr_core.Plan, value: Any, fields: Fields, points: bool) -> Ndarray:
    """Return a value as elements of the array, or of some of its fields, in the shape of a plan."""
    if fields is not None:
        prepared = prepare_value(value, selections.field_dtype(layout.dtype, fields), plan.shape, points)
        if isinstance(fields, str) and prepared.dtype.names is not None:
            # The names of a value are those of the fields to write, not those inside of one.
            return prepared.view([(fields, prepared.dtype)])
        return prepared
    if layout.nullable is not None:
        value = layout.nullable.from_values(value)
    elif layout.dtype.kind == "O" and not plan.shape and not isinstance(layout.zdtype, data_types.LibraryType):
        value = one_object(value)  # the elements of another package's data type may be lists or arrays, too
    return prepare_value(value, layout.dtype, plan.shape, points)


def refuse_no_elements(layout: ArrayLayout, value: Any, fields: Fields) -> None:
    """Refuse a value that is no element of the data type also for an empty selection; its shape does not matter."""
    dtype = selections.field_dtype(layout.dtype, fields)
    if layout.nullable is not None and fields is None:
        layout.nullable.from_values(value)
    elif dtype.kind != "O":
        as_elements(value, dtype)


def write_plan_steps(
    layout: ArrayLayout, plan: zarr_core.Plan, value: Ndarray, fields: list[str] | None, bulk: str | None
) -> Steps[None]:
    """Return the steps that write all slots of a plan from an array of the plan's shape."""
    count = plan.nslots
    # If locks are required, each chunk is locked by itself; if codecs are logged, each chunk has its line.
    if (layout.scope is not None and layout.scope.required) or logs_codecs():
        bulk = None
    if layout.shard is not None and count:
        return shard_write.write_shards_steps(layout, plan, value, fields, bulk)
    if count == 1:
        return write_chunk_steps(layout, plan.slot(0), value, fields)
    if bulk is not None and layout.program is not None and fields is None and count >= MIN_BULK_SLOTS:
        return bulk_write.write_bulk_steps(layout, plan, value)
    return write_slots_steps(layout, plan, value, fields, range(count))


def one_object(value: Any) -> Ndarray:
    """Return an array without dimensions that holds an object, even if the object is a list or an array."""
    box = np.empty(1, dtype=object)
    box[0] = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return box.reshape(())


def prepare_value(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...], points: bool = False) -> Ndarray:
    """Return a value as an array of a data type, broadcast to a shape without a copy.

    Parameters
    ----------
    value : array-like
    dtype : numpy.dtype
    shape : tuple of int
    points : bool
        For selections of points: the values may come in any shape with the right number of elements, and a value
        that is no scalar must have one for each point.

    Raises
    ------
    ValueError
        If the value does not fit.

    Examples
    --------
    >>> prepare_value(7, np.dtype("i4"), (2, 3)).strides
    (0, 0)
    """
    array = as_elements(value, dtype)
    return array if array.shape == shape else fit_elements(array, shape, points)


def fit_elements(array: Any, shape: tuple[int, ...], points: bool) -> Any:
    """Broadcast an array to a shape as ``array[...] = value`` does; it may lie in the memory of a device."""
    if array.ndim == 0:
        return np.broadcast_to(array, shape)
    if points:
        wanted = prod(shape)
        if array.size != wanted:
            raise ValueError(
                f"Attempting to set a selection of {wanted} elements with an array of {array.size} elements."
            )
        return array.reshape(shape)
    given = array.shape
    while array.ndim > len(shape) and array.shape[0] == 1:
        array = array.reshape(array.shape[1:])  # an element of text or of objects is no array
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeMismatchError(
            f"shape mismatch: could not broadcast a value of shape {given} to the shape {shape} of the selection"
        ) from None


def as_elements(value: Any, dtype: np.dtype[Any]) -> Ndarray:
    """Return a value as an array of a data type; return the same array if it has that type."""
    if isinstance(value, NDBuffer):
        value = value.as_ndarray_like()
    if dtype.hasobject and not isinstance(value, np.ndarray) and isinstance(value, (str, bytes, bytearray, memoryview)):
        array = np.empty((), dtype=dtype)
        array[()] = value
        return array
    if dtype.names is not None and isinstance(value, (list, tuple)) and not hasattr(value, "dtype"):
        return np.array(value, dtype=dtype)
    if type(value) is np.ndarray and value.dtype == dtype:
        return value  # numpy would copy strings whose data type is equal but not the same object
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray):
        _warn_of_mask(value)
    if dtype.kind == "T" and hasattr(getattr(value, "dtype", None), "na_object"):
        value = _without_missing(value)
    try:
        if dtype.kind == "T" or not dtype.isnative:
            value = _natively(value, dtype)
        return np.asarray(value, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        if type(error) not in (ValueError, TypeError, OverflowError):
            raise
        what = f" {reprlib.repr(value)}" if isinstance(value, str | bytes) else ""
        message = f"{error} (the value{what} of type {type(value).__name__} cannot be stored as {dtype})"
        raise type(error)(message) from error


def _warn_of_mask(value: Any) -> None:
    """Warn that masked elements are not missing in the array: NumPy, too, takes the values below the mask."""
    count = int(np.ma.count_masked(value))  # type: ignore[no-untyped-call]
    if count:
        warn(
            f"{count} masked elements are stored as the values below the mask: give value.filled(...) to store another "
            "one, or make the array with zarr.dtype.Nullable to keep the mask",
            ZarrUserWarning,
        )


def _without_missing(value: Any) -> Ndarray:
    """Return texts of a data type with missing ones: None is an empty text, as in numcodecs, all others are refused.

    NumPy would store them as texts such as "nan".
    """
    texts: Ndarray = np.asarray(value).astype(object)
    absent = [index for index, text in enumerate(texts.flat) if not isinstance(text, str)]
    if absent and value.dtype.na_object is not None:
        raise ValueError(
            f"{len(absent)} of {texts.size} texts are missing ({value.dtype.na_object!r}), the first is number "
            f"{absent[0]}; an array of strings has no missing ones: replace them first, by '' or another text"
        )
    texts.flat[absent] = ""
    return texts


def _natively(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value with the bytes of its elements in the order of this machine where text is converted.

    NumPy 2.4 takes them for in that order if one of the two data types is that of text of variable length.
    """
    given = getattr(value, "dtype", None)
    if not isinstance(given, np.dtype):
        return value
    if dtype.kind == "T" and not given.isnative:
        return np.asarray(value).astype(given.newbyteorder("="))
    if given.kind == "T" and not dtype.isnative:
        return np.asarray(value).astype(dtype.newbyteorder("="))
    return value


def _foreign_steps(
    handle: ArrayHandle,
    layout: ArrayLayout,
    plan: zarr_core.Plan,
    value: Any,
    fields: list[str] | None,
    prototype: BufferPrototype | None,
    points: bool,
) -> Steps[None]:
    """Write through the configured pipeline."""
    batch = handle.batch  # read once: another thread may end it
    if batch is not None:
        yield Gather((batch.flush_steps(),))
    if fields is not None:
        raise IndexError("fields cannot be written through a codec pipeline of another library")
    prototype = default_buffer_prototype() if prototype is None else prototype
    if hasattr(value, "__cuda_array_interface__"):  # of any library: it stays in the memory of its device
        elements = prototype.nd_buffer.from_ndarray_like(value).as_ndarray_like().astype(layout.dtype, copy=False)
        buffer = prototype.nd_buffer.from_ndarray_like(fit_elements(elements, plan.shape, points))
    elif (
        not isinstance(value, NDBuffer | np.generic)
        and hasattr(value, "dtype")
        and value.dtype == layout.dtype
        and value.shape == plan.shape
    ):
        buffer = prototype.nd_buffer.from_ndarray_like(value)
    elif isinstance(value, NDBuffer):
        buffer = value
    else:
        prepared = prepare_value(value, layout.dtype, plan.shape, points)
        buffer = prototype.nd_buffer.from_ndarray_like(np.ascontiguousarray(prepared).reshape(plan.shape))
    yield from foreign_pipeline.pipeline_write_steps(handle, layout, plan, buffer, prototype)
