"""Attributes: NumPy values kept with type and shape in zarr's JSON attributes.

Text, ``int64``, finite ``float64``, ``bool`` and non-empty lists of them are stored as the JSON values that every zarr
program reads. Any other value is an object with the one key ``h5py_compat:value``: ``{"dtype": description, "shape":
list or null (Empty), "data": flat list or base64 text}``; base64 holds the items' bytes, packed as ``packing.py`` says
where they vary in length.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from zarr.h5py_compat.dtypes import (
    Dtype,
    Empty,
    check_string_dtype,
    check_vlen_dtype,
    describe,
    parse_description,
    string_dtype,
)
from zarr.h5py_compat.storage import RESERVED, UnsupportedFeature, as_text
from zarr.h5py_compat.values import as_dtype, guess, pack, to_elements, unpack

MARK = "h5py_compat:value"
Array = np.ndarray[Any, Any]


def to_json(array: Array | Empty, dtype: Dtype) -> Any:
    """Return an attribute value as JSON; ``array`` has the type ``dtype.base``."""
    if isinstance(array, Empty):
        return {MARK: {"dtype": describe(array.dtype), "shape": None, "data": []}}
    if _is_native(array, dtype):
        return array.tolist() if dtype.kind != "O" else _texts(array, dtype).tolist()
    shape = list(array.shape)
    if not dtype.hasobject and dtype.kind in "biuf" and dtype.itemsize <= 8 and bool(np.isfinite(array).all()):
        return {MARK: {"dtype": describe(dtype), "shape": shape, "data": array.reshape(-1).tolist()}}
    if dtype.base.hasobject:
        raw = b"".join(pack(item, dtype.base) for item in array.reshape(-1))
    else:
        raw = np.ascontiguousarray(array).tobytes()
    return {MARK: {"dtype": describe(dtype), "shape": shape, "data": base64.b64encode(raw).decode("ascii")}}


def _is_native(array: Array, dtype: Dtype) -> bool:
    if dtype.shape or (array.ndim and not array.size):
        return False
    if check_vlen_dtype(dtype) is str:
        return True
    plain = dtype in (np.dtype("int64"), np.dtype("float64"), np.dtype(bool)) and dtype.isnative
    return plain and dtype.metadata is None and bool(np.isfinite(array).all())


def from_json(value: Any) -> Any:
    """Return the value of an attribute, as h5py returns it."""
    if isinstance(value, dict):
        return _from_marked(value[MARK]) if MARK in value else value
    try:
        dtype = guess(value)
        array = to_elements(value, dtype, None)
    except (TypeError, ValueError):
        return value
    return _answer(array, dtype)


def _from_marked(entry: dict[str, Any]) -> Any:
    dtype = parse_description(entry["dtype"])
    if entry["shape"] is None:
        return Empty(dtype)
    shape, data = tuple(entry["shape"]), entry["data"]
    if isinstance(data, list):
        return _answer(np.array(data, dtype=dtype.base).reshape(shape), dtype)
    raw = base64.b64decode(data)
    if not dtype.base.hasobject:
        return _answer(np.frombuffer(raw, dtype.base).copy().reshape(shape), dtype)
    out, offset = np.empty(int(np.prod(shape)), dtype=dtype.base), 0
    for position in range(len(out)):
        out[position], offset = unpack(raw, offset, dtype.base)
    return _answer(out.reshape(shape), dtype)


def _texts(array: Array, dtype: Dtype) -> Array:
    out = np.empty(array.shape, dtype=dtype)
    for index in np.ndindex(array.shape):
        item = array[index]
        out[index] = item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item
    return out


def _answer(array: Array, dtype: Dtype) -> Any:
    info = check_string_dtype(dtype)
    if info is not None and info.length is None:
        array = _texts(array, dtype)
    return array[()] if array.ndim == 0 else array


class AttributeManager(MutableMapping[str, Any]):
    """The attributes of a group, a dataset or a file, as a dict of NumPy values.

    Example
    -------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     f.attrs["speed"] = np.float32(1.5)
    ...     f.attrs["speed"].dtype
    dtype('float32')
    """

    def __init__(self, parent: Any) -> None:
        self._id = parent.id

    def _node(self) -> Any:
        if not self._id:
            raise ValueError("Invalid location identifier (the object or its file is closed)")
        return self._id.storage.node(self._id.path)

    def _require_writable(self) -> None:
        self._id.storage.require_writable(OSError, "change an attribute")

    def __getitem__(self, name: Any) -> Any:
        key = as_text(name, "Accessing an attribute")
        attributes = self._node().attrs
        if key == RESERVED or key not in attributes:
            raise KeyError(f"Unable to open attribute (can't locate attribute: '{key}' of '/{self._id.path}')")
        return from_json(attributes[key])

    def __setitem__(self, name: Any, value: Any) -> None:
        self.create(name, data=value)

    def __delitem__(self, name: Any) -> None:
        key = as_text(name, "Deleting an attribute")
        self._require_writable()
        if key not in self:
            raise KeyError(f"Unable to delete attribute (can't locate attribute: '{key}' of '/{self._id.path}')")
        del self._node().attrs[key]

    def __iter__(self) -> Iterator[str]:
        node = self._node()
        names = [name for name in node.attrs if name != RESERVED]
        tracked = node.attrs.get(RESERVED, {}).get("track_order", False)
        return iter(names if tracked else sorted(names))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        key = as_text(name, "Accessing an attribute")
        return key != RESERVED and key in self._node().attrs

    def create(self, name: Any, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Set an attribute, replacing one of that name; ``shape`` and ``dtype`` override those of the data."""
        key = as_text(name, "Creating an attribute")
        if key == RESERVED:
            raise ValueError(f"the attribute {RESERVED!r} is reserved: it holds what h5py knows and zarr does not")
        self._require_writable()
        if isinstance(data, Empty):
            self._node().attrs[key] = to_json(data, data.dtype)
            return
        parsed = guess(data) if dtype is None else as_dtype(dtype)
        array = to_elements(data, parsed, None)
        self._node().attrs[key] = to_json(_shaped(array, parsed, shape), parsed)

    def modify(self, name: Any, value: Any) -> None:
        """Change the value of an attribute and keep its type and shape; create a missing one."""
        if name not in self:
            self.create(name, value)
            return
        present = self[name]
        if isinstance(present, Empty):
            raise OSError("Empty attributes can't be modified: create it anew")
        dtype = string_dtype() if isinstance(present, str) else present.dtype
        array = to_elements(value, dtype, None)
        if array.shape != np.shape(present):
            raise TypeError(f"Shape {array.shape} does not fit the existing attribute of shape {np.shape(present)}")
        self.create(name, array, dtype=dtype)

    def get_id(self, name: Any) -> Any:
        """Raise ``UnsupportedFeature``: attributes are entries of a JSON document, without an identity of their own."""
        self[name]
        raise UnsupportedFeature("an attribute of a zarr node has no identifier: read it with attrs[name]")

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        if not self._id:
            return "<Attributes of closed HDF5 object>"
        return f"<Attributes of HDF5 object at {id(self._id)}>"


def _shaped(array: Array, dtype: Dtype, shape: Any) -> Array:
    """Return the data in the shape of the attribute, with the axes of a subarray type at the end."""
    wanted = None if shape is None else ((shape,) if isinstance(shape, int) else tuple(shape))
    inner = dtype.shape
    if inner and array.shape[array.ndim - len(inner) :] != inner:
        raise ValueError(f"Array dtype shape {inner} is incompatible with data shape {array.shape}")
    if wanted is None:
        return array
    if int(np.prod(wanted + inner)) != array.size:
        raise ValueError(f"Shape of new attribute {wanted} conflicts with shape of data {array.shape}")
    return array.reshape(wanted + inner)
