"""A selection of an array as an Arrow array, for pyarrow where it is installed.

Strings and byte strings of chunks in Arrow's own layout are handed out without a copy; numbers share the memory of the
array that was read. Everything else is converted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr._lazy import load_extra
from zarr.arrays.io.item_buffers import ItemBuffers, packed_items, read_item_buffers_steps, serializer_of
from zarr.arrays.io.reading import getitem_steps
from zarr.dtype.scalars import is_small
from zarr.steps.requests import Steps

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle

Ndarray = np.ndarray[Any, Any]
NARROW = 4
TIME_UNITS = ("s", "ms", "us", "ns")


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
    # One element, which may be a str or a numpy scalar, is read in the array's own data type.
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
    """Elements behind offsets as an Arrow array of the same memory."""
    narrow = part.offsets.itemsize == NARROW
    if part.text:
        kind = pa.string() if narrow else pa.large_string()
    else:
        kind = pa.binary() if narrow else pa.large_binary()
    buffers = [None, pa.py_buffer(part.offsets), pa.py_buffer(part.data)]
    return nested(pa, pa.Array.from_buffers(kind, part.offsets.size - 1, buffers), part.shape)


def nested(pa: Any, flat: Any, shape: tuple[int, ...]) -> Any:
    """Elements in C order as lists of a fixed size, one level for each dimension after the first."""
    for axis in range(len(shape) - 1, 0, -1):
        count = int(np.prod(shape[:axis], dtype=object))
        flat = pa.Array.from_buffers(pa.list_(flat.type, shape[axis]), count, [None], children=[flat])
    return flat


def array_of(pa: Any, flat: Ndarray, width: int, text: bool) -> Any:
    """Return a one-dimensional numpy array as an Arrow array.

    Raises
    ------
    TypeError
        Arrow has no type for these elements.
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
    """One field of a structured array; its elements may be arrays themselves."""
    return nested(pa, array_of(pa, np.ascontiguousarray(column).reshape(-1), width, False), column.shape)


def _check_unit(dtype: np.dtype[Any]) -> None:
    unit, count = np.datetime_data(dtype)
    if count != 1 or unit not in (*TIME_UNITS, "D") or (unit == "D" and dtype.kind == "m"):
        raise _no_type(dtype, "its units are s, ms, us and ns, and D for dates; cast the numpy array to one of them")


def _no_type(dtype: np.dtype[Any], remedy: str) -> TypeError:
    return TypeError(f"Arrow has no type for elements of {dtype}: {remedy}")
