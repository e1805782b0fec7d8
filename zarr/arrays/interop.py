"""Selections of an array as arrays of other libraries: Arrow and Awkward Array, if these are installed.

Strings and byte strings of chunks in Arrow's own layout (the codec ``zarr_core.arrow-vlen``) are returned without a
copy, and without a Python object for each element: offsets and data, as they lie in memory. Numbers share the memory of
the array that was read. Everything else is converted once.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import zarr_core
from zarr._lazy import load_extra
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.chunks import check_missing, new_chunk, placed, retry_missing_steps
from zarr.arrays.io.reading import getitem_steps
from zarr.arrays.io.selection import as_items, plan_simple, simple_kind
from zarr.arrays.io.shard_read import ShardPart, place_in_shard, stored_steps
from zarr.arrays.layout import ArrayLayout, foreign_buffers
from zarr.buffer.core import Buffer
from zarr.codecs.base.bound import as_bytes
from zarr.codecs.extensions.arrow_vlen import BoundArrowVLen
from zarr.dtype.scalars import is_small
from zarr.steps.requests import Gather, Get, Steps

Ndarray = np.ndarray[Any, Any]
Found = dict[int, "Buffer | None"]
NARROW, WIDE = 4, 8
TIME_UNITS = ("s", "ms", "us", "ns")


# ----------------------------------------------------------------------------------------------- chunks of items


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
        True if the elements are strings, in UTF-8.
    """

    shape: tuple[int, ...]
    offsets: Ndarray
    data: Ndarray
    text: bool


def serializer_of(layout: ArrayLayout) -> BoundArrowVLen | None:
    """Return the codec that stores elements behind offsets; None for any other serializer, or with a filter."""
    first = layout.chain.serializer
    return first if isinstance(first, BoundArrowVLen) and not layout.chain.asynchronous else None


def split_items(raw: Any, count: int, codec: BoundArrowVLen, shape: tuple[int, ...]) -> ItemBuffers:
    """Return views of the bytes of valid elements."""
    data = as_bytes(raw)[:]
    data.flags.writeable = False
    start = codec.check(data)
    stored = data[: (count + 1) * codec.width].view(f"<i{codec.width}")
    # Parts of a shard begin at any byte; Arrow needs aligned numbers.
    offsets = stored if stored.flags.aligned else stored.copy()
    return ItemBuffers(shape, offsets, data[start:], codec.text)


def packed_items(flat: Ndarray, width: int, text: bool, shape: tuple[int, ...] | None = None) -> ItemBuffers:
    """Return strings or byte strings of a one-dimensional array behind offsets of ``width`` bytes, in a given shape."""
    raw = np.frombuffer(zarr_core.pack_arrow(flat, width, text), dtype=np.uint8)
    start = zarr_core.check_arrow(raw, flat.size, width, False)
    offsets = raw[: (flat.size + 1) * width].view(f"<i{width}")
    return ItemBuffers((flat.size,) if shape is None else shape, offsets, raw[start:], text)


def read_item_buffers_steps(handle: ArrayHandle, selection: Any) -> Steps[list[ItemBuffers] | None]:
    """Return the elements of a selection as they lie in their chunks, one entry a chunk along the first dimension.

    Returns
    -------
    list of ItemBuffers, or None
        None if the selection is not made of whole chunks, or of rows of them.
    """
    layout = handle.state.layout
    items = as_items(selection)
    if foreign_buffers(handle.bound_pipeline) or sys.byteorder == "big":
        return None
    if simple_kind(items) is None or serializer_of(layout) is None:
        return None
    plan = plan_simple(layout, items)
    if not plan.nslots or not all(_is_rows(plan, plan.slot(i)) for i in range(plan.nslots)):
        return None
    if (batch := handle.batch) is not None:
        yield Gather((batch.flush_steps(),))
    found = yield from _stored_steps(layout, plan)
    return [_rows(layout, plan.slot(i), found.get(i)) for i in range(plan.nslots)]


def _is_rows(plan: zarr_core.Plan, slot: zarr_core.Slot) -> bool:
    """Return True if a slot is consecutive rows of its chunk, and the only slot with these rows."""
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
        return (yield from retry_missing_steps(layout, lambda once: _stored_steps(once, plan)))
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
    with placed(layout, key, "reading"):
        raw = yield Get(key)
    return (coords if raw is None else None), {index: raw}


def _shard_steps(layout: ArrayLayout, part: ShardPart) -> Steps[tuple[tuple[int, ...] | None, Found]]:
    key = layout.key(part.coords)
    assert layout.shard is not None
    with placed(layout, key, "reading"):
        found = yield from stored_steps(layout, layout.shard, key, part.nchunks, part.inner)
    if found is None:
        return part.coords, {}
    return None, dict(zip(part.slots, found, strict=True))


def _rows(layout: ArrayLayout, slot: zarr_core.Slot, raw: Buffer | None) -> ItemBuffers:
    """Return the rows of a slot in the bytes of its chunk, or in those of a chunk of fill values."""
    coords = slot.coords if layout.shard is None else place_in_shard(layout, slot.coords)[0]
    shape, key = slot.chunk_shape, layout.key(coords)
    chain = layout.chain_for(shape)
    codec = chain.serializer
    with placed(layout, key, "reading"):
        data = codec.encode(new_chunk(layout, shape)) if raw is None else chain.serialized(raw)
        whole = split_items(data, prod(shape), codec, shape)
    first, last, _ = slot.chunk_selection[0].indices(shape[0])
    row = prod(shape[1:])
    return ItemBuffers((last - first, *shape[1:]), whole.offsets[first * row : last * row + 1], whole.data, whole.text)


# ----------------------------------------------------------------------------------------------- Arrow


def to_arrow_steps(handle: ArrayHandle, selection: Any) -> Steps[Any]:
    """Read a selection as an Arrow array; see ``Array.to_arrow``."""
    pa = load_extra("pyarrow", "arrow", "to_arrow")
    parts = yield from read_item_buffers_steps(handle, selection)
    if parts is not None:
        arrays = [array_of_items(pa, part) for part in parts]
        return arrays[0] if len(arrays) == 1 else pa.chunked_array(arrays)
    data = yield from getitem_steps(handle, selection)
    codec = serializer_of(handle.state.layout)
    text = getattr(handle.metadata.dtype, "object_codec_id", None) == "vlen-utf8"
    # A single element, perhaps a str or a NumPy scalar, is read in the data type of the array.
    if handle.state.layout.nullable is not None:
        return nullable_array(pa, data)
    data = data if isinstance(data, np.ndarray) else np.array(data, dtype=handle.state.layout.dtype)
    return nested(pa, array_of(pa, data.reshape(-1), NARROW if codec is None else codec.width, text), data.shape)


def nullable_array(pa: Any, data: Any) -> Any:
    """Return a masked array, or one element of one, as an Arrow array with nulls."""
    flat = np.ma.asanyarray(data).reshape(-1)
    mask = np.ma.getmaskarray(flat)
    if flat.dtype.kind in "biufmMO":
        values = np.ma.getdata(flat).astype(flat.dtype.newbyteorder("="), copy=False)
        return nested(pa, pa.array(values, mask=mask), np.shape(data))
    raise _no_type(flat.dtype, "read it with numpy, or one field at a time")


def array_of_items(pa: Any, part: ItemBuffers) -> Any:
    """Return elements behind offsets as an Arrow array of the same memory."""
    narrow = part.offsets.itemsize == NARROW
    if part.text:
        kind = pa.string() if narrow else pa.large_string()
    else:
        kind = pa.binary() if narrow else pa.large_binary()
    buffers = [None, pa.py_buffer(part.offsets), pa.py_buffer(part.data)]
    return nested(pa, pa.Array.from_buffers(kind, part.offsets.size - 1, buffers), part.shape)


def nested(pa: Any, flat: Any, shape: tuple[int, ...]) -> Any:
    """Return elements in C order as lists of a fixed size, one level for each dimension after the first."""
    for axis in range(len(shape) - 1, 0, -1):
        count = prod(shape[:axis])
        flat = pa.Array.from_buffers(pa.list_(flat.type, shape[axis]), count, [None], children=[flat])
    return flat


def array_of(pa: Any, flat: Ndarray, width: int, text: bool) -> Any:
    """Return a one-dimensional numpy array as an Arrow array.

    Raises
    ------
    TypeError
        If Arrow has no type for these elements.
    """
    dtype = flat.dtype
    if is_small(dtype) or dtype.kind == "c":
        raise _no_type(dtype, "read it with numpy, or cast it first")
    if dtype.kind in "TUSO":
        return _items_array(pa, flat, width, text or dtype.kind in "TU")
    if dtype.names is not None:
        fields = [_field_array(pa, flat[name], width) for name in dtype.names]
        return pa.StructArray.from_arrays(fields, names=list(dtype.names))
    if dtype.kind == "V":
        buffer = pa.py_buffer(np.ascontiguousarray(flat).view(np.uint8))
        return pa.Array.from_buffers(pa.binary(dtype.itemsize), flat.size, [None, buffer])
    if dtype.kind in "mM":
        _check_unit(dtype)
    return pa.array(np.ascontiguousarray(flat, dtype=dtype.newbyteorder("=")))


def _items_array(pa: Any, flat: Ndarray, width: int, text: bool) -> Any:
    try:
        items = packed_items(flat, width, text)
    except TypeError as error:
        raise TypeError(f"the elements are Python objects of a kind that Arrow has no type for: {error}") from error
    return array_of_items(pa, items)


def _field_array(pa: Any, column: Ndarray, width: int) -> Any:
    """Return one field of a structured array; its elements may be arrays themselves."""
    return nested(pa, array_of(pa, np.ascontiguousarray(column).reshape(-1), width, False), column.shape)


def _check_unit(dtype: np.dtype[Any]) -> None:
    unit, count = np.datetime_data(dtype)
    if count != 1 or unit not in (*TIME_UNITS, "D") or (unit == "D" and dtype.kind == "m"):
        raise _no_type(dtype, "its units are s, ms, us and ns, and D for dates; cast the numpy array to one of them")


def _no_type(dtype: np.dtype[Any], remedy: str) -> TypeError:
    return TypeError(f"Arrow has no type for elements of {dtype}: {remedy}")


# ----------------------------------------------------------------------------------------------- Awkward Array


def to_awkward_steps(handle: ArrayHandle, selection: Any) -> Steps[Any]:
    """Read a selection as an Awkward Array; see ``Array.to_awkward``."""
    ak = load_extra("awkward", "awkward", "to_awkward")
    parts = yield from read_item_buffers_steps(handle, selection)
    if parts is not None:
        arrays = [awkward_of_items(ak, part) for part in parts]
        return arrays[0] if len(arrays) == 1 else ak.concatenate(arrays)
    data = np.asarray((yield from getitem_steps(handle, selection)))
    kind = getattr(handle.metadata.dtype, "object_codec_id", None)
    if kind in ("vlen-utf8", "vlen-bytes"):
        data = data if data.dtype.kind in "TO" else data.astype(object)
        return awkward_of_items(ak, packed_items(data.reshape(-1), WIDE, kind == "vlen-utf8", data.shape or (1,)))
    native = np.atleast_1d(data).astype(data.dtype.newbyteorder("="), copy=False)
    return ak.from_numpy(native, regulararray=True)


def awkward_of_items(ak: Any, part: ItemBuffers) -> Any:
    """Return elements behind offsets as an Awkward Array of the same memory."""
    index = ak.index.Index32 if part.offsets.itemsize < WIDE else ak.index.Index64
    inner, outer = ("char", "string") if part.text else ("byte", "bytestring")
    content = ak.contents.NumpyArray(part.data, parameters={"__array__": inner})
    layout = ak.contents.ListOffsetArray(index(part.offsets), content, parameters={"__array__": outer})
    for axis in range(len(part.shape) - 1, 0, -1):
        layout = ak.contents.RegularArray(layout, part.shape[axis], zeros_length=prod(part.shape[:axis]))
    return ak.Array(layout)
