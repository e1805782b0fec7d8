"""How an h5py type lies in a zarr array.

=========  =============================================  =====================================================
kind       h5py's type                                    zarr's data type
=========  =============================================  =====================================================
plain      numbers, bool, complex, ``S``, ``V``, dates,   the same
           packed records of those; enumerations
text       UTF-8 strings of any length                    ``string``
bytes      ASCII strings of any length                    ``variable_length_bytes``
packed     ragged arrays, records with such parts         ``variable_length_bytes``, as ``packing.py`` says
raw        other types of fixed size (long double,        ``raw_bytes`` of the item size
           records with gaps or subarrays)
=========  =============================================  =====================================================

A subarray type adds its axes to those of the zarr array, in one chunk. Where zarr's type does not say it all, a
description (``dtypes.describe``) stands in the attributes of the array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr.h5py_compat.types.dtypes import Dtype, check_vlen_dtype, string_dtype
from zarr.h5py_compat.types.values import blank, pack, unpack

__all__ = ["StoredType", "stored_type", "type_of_array"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class StoredType:
    """A dataset's type, and the way to and from what zarr stores."""

    dtype: Dtype
    kind: str

    @property
    def element(self) -> Dtype:
        """The type of one element, without the axes of a subarray."""
        return self.dtype.base

    @property
    def zarr_dtype(self) -> Any:
        """What the zarr array is created with."""
        if self.kind == "plain":
            return np.dtype(self.element.descr) if self.element.names is not None else np.dtype(self.element.str)
        if self.kind == "raw":
            return np.dtype(f"V{self.element.itemsize}")
        return "string" if self.kind == "text" else "variable_length_bytes"

    @property
    def needs_description(self) -> bool:
        """Say whether zarr's type leaves something out."""
        if self.kind in ("text", "bytes"):
            return bool(self.dtype.shape)
        marked = self.dtype.metadata is not None or bool(self.dtype.shape)
        swapped = self.element.names is None and not self.element.isnative
        return self.kind != "plain" or marked or swapped or self._fields_need_it(self.element)

    def _fields_need_it(self, dtype: Dtype) -> bool:
        if dtype.fields is None:
            return dtype.metadata is not None or not dtype.isnative
        return any(self._fields_need_it(field[0]) for field in dtype.fields.values())

    def encode(self, array: Array) -> Any:
        """Return elements as zarr stores them."""
        if self.kind == "plain":
            return array.astype(self.zarr_dtype, copy=False) if array.dtype != self.zarr_dtype else array
        if self.kind == "raw":
            return np.ascontiguousarray(array).reshape(array.shape).view(self.zarr_dtype)
        if self.kind == "text":
            texts = [item.decode("utf-8") if isinstance(item, bytes) else str(item or "") for item in array.reshape(-1)]
            return np.array(texts, dtype=np.dtypes.StringDType()).reshape(array.shape)
        out = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            out[index] = array[index] if self.kind == "bytes" else pack(array[index], self.element)
        return out

    def decode(self, stored: Any) -> Array:
        """Return what zarr read as an array of elements."""
        if self.kind in ("plain", "raw"):
            array = np.asarray(stored)
            if self.kind == "plain" and array.dtype != self.element:
                array = array.astype(self.element)
            return array if array.dtype is self.element else array.view(self.element)
        array = np.asarray(stored, dtype=object)
        out = np.empty(array.size, dtype=self.element)
        for position, item in enumerate(array.reshape(-1)):
            out[position] = self._decode_one(item)
        return out.reshape(array.shape)

    def _decode_one(self, item: Any) -> Any:
        if self.kind == "text":
            return str(item).encode("utf-8")
        if self.kind == "bytes":
            return bytes(item)
        return unpack(bytes(item), 0, self.element)[0] if item else blank(self.element)


def stored_type(dtype: Dtype) -> StoredType:
    """Return how a type is stored."""
    element = dtype.base
    kind = check_vlen_dtype(element)
    if kind is str or kind is bytes:
        return StoredType(dtype, "text" if kind is str else "bytes")
    if element.hasobject:
        return StoredType(dtype, "packed")
    return StoredType(dtype, "plain" if _is_plain(element) else "raw")


def _is_plain(element: Dtype) -> bool:
    if element.subdtype is not None or (element.kind in "fc" and element.itemsize > (16 if element.kind == "c" else 8)):
        return False
    if element.kind == "S" and element.itemsize == 0:
        return False
    if element.fields is None or element.names is None:
        return True
    end = 0
    for name in element.names:
        field, offset = element.fields[name][:2]
        if offset != end or not _is_plain(field):
            return False
        end += field.itemsize
    return end == element.itemsize


def type_of_array(dtype: Any, name: str) -> Dtype:
    """Return the h5py type of a zarr array without a description; ``name`` is zarr's name of its type."""
    if name == "variable_length_bytes":
        return string_dtype("ascii")
    return string_dtype() if name == "string" or dtype.kind == "T" else np.dtype(dtype)
