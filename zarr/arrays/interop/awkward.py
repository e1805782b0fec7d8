"""A selection of an array as an Awkward Array, where that package is installed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr._lazy import load_extra
from zarr.arrays.io.item_buffers import ItemBuffers, packed_items, read_item_buffers_steps
from zarr.arrays.io.reading import getitem_steps
from zarr.steps.requests import Steps

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle

Ndarray = np.ndarray[Any, Any]
WIDE = 8


def to_awkward_steps(handle: ArrayHandle, selection: Any) -> Steps[Any]:
    """Read a selection as an Awkward Array; see ``Array.to_awkward``."""
    ak = load_extra("awkward", "awkward", "to_awkward")
    parts = yield from read_item_buffers_steps(handle, selection)
    if parts is not None:
        arrays = [array_of_items(ak, part) for part in parts]
        return arrays[0] if len(arrays) == 1 else ak.concatenate(arrays)
    data = np.asarray((yield from getitem_steps(handle, selection)))
    kind = getattr(handle.metadata.dtype, "object_codec_id", None)
    if kind in ("vlen-utf8", "vlen-bytes"):
        data = data if data.dtype.kind in "TO" else data.astype(object)
        return array_of_items(ak, packed_items(data.reshape(-1), WIDE, kind == "vlen-utf8", data.shape or (1,)))
    native = np.atleast_1d(data).astype(data.dtype.newbyteorder("="), copy=False)
    return ak.from_numpy(native, regulararray=True)


def array_of_items(ak: Any, part: ItemBuffers) -> Any:
    """Elements behind offsets as an Awkward Array of the same memory."""
    index = ak.index.Index32 if part.offsets.itemsize < WIDE else ak.index.Index64
    inner, outer = ("char", "string") if part.text else ("byte", "bytestring")
    content = ak.contents.NumpyArray(part.data, parameters={"__array__": inner})
    layout = ak.contents.ListOffsetArray(index(part.offsets), content, parameters={"__array__": outer})
    for axis in range(len(part.shape) - 1, 0, -1):
        layout = ak.contents.RegularArray(layout, part.shape[axis], zeros_length=prod(part.shape[:axis]))
    return ak.Array(layout)
