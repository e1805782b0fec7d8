"""The base of groups, datasets, named types and files: identity, name, file, parent, attributes.

Attributes keep NumPy values with type and shape in zarr's JSON attributes. Text, ``int64``, finite ``float64``,
``bool`` and non-empty lists of them are stored as the JSON values that every zarr program reads. Any other value is an
object with the one key ``h5py_compat:value``: ``{"dtype": description, "shape": list or null (Empty), "data": flat list
or base64 text}``; base64 holds the items' bytes, packed by ``dtypes.pack`` where they vary in length.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from zarr.h5py_compat import dtypes
from zarr.h5py_compat.dtypes import Array, Dtype, Empty
from zarr.h5py_compat.storage import RESERVED, Storage, UnsupportedFeature, as_text, parent_of

MARK = "h5py_compat:value"


def to_json(array: Array | Empty, dtype: Dtype) -> Any:
    """Return an attribute value as JSON; ``array`` has the type ``dtype.base``."""
    if isinstance(array, Empty):
        return {MARK: {"dtype": dtypes.describe(array.dtype), "shape": None, "data": []}}
    if _is_native(array, dtype):
        return array.tolist() if dtype.kind != "O" else _texts(array, dtype).tolist()
    shape = list(array.shape)
    if not dtype.hasobject and dtype.kind in "biuf" and dtype.itemsize <= 8 and bool(np.isfinite(array).all()):
        return {MARK: {"dtype": dtypes.describe(dtype), "shape": shape, "data": array.reshape(-1).tolist()}}
    if dtype.base.hasobject:
        raw = b"".join(dtypes.pack(item, dtype.base) for item in array.reshape(-1))
    else:
        raw = np.ascontiguousarray(array).tobytes()
    return {MARK: {"dtype": dtypes.describe(dtype), "shape": shape, "data": base64.b64encode(raw).decode("ascii")}}


def _is_native(array: Array, dtype: Dtype) -> bool:
    if dtype.shape or (array.ndim and not array.size):
        return False
    if dtypes.check_vlen_dtype(dtype) is str:
        return True
    plain = dtype in (np.dtype("int64"), np.dtype("float64"), np.dtype(bool)) and dtype.isnative
    return plain and dtype.metadata is None and bool(np.isfinite(array).all())


def from_json(value: Any) -> Any:
    """Return the value of an attribute, as h5py returns it."""
    if isinstance(value, dict):
        return _from_marked(value[MARK]) if MARK in value else value
    try:
        dtype = dtypes.guess(value)
        array = dtypes.to_elements(value, dtype, None)
    except (TypeError, ValueError):
        return value
    return _answer(array, dtype)


def _from_marked(entry: dict[str, Any]) -> Any:
    dtype = dtypes.parse_description(entry["dtype"])
    if entry["shape"] is None:
        return Empty(dtype)
    shape, data = tuple(entry["shape"]), entry["data"]
    if isinstance(data, list):
        return _answer(np.array(data, dtype=dtype.base).reshape(shape), dtype)
    flat, _ = dtypes.unpack_many(base64.b64decode(data), 0, dtype.base, int(np.prod(shape)))
    return _answer(flat.reshape(shape), dtype)


def _texts(array: Array, dtype: Dtype) -> Array:
    return dtypes.map_elements(
        lambda item: item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item, array, dtype
    )


def _answer(array: Array, dtype: Dtype) -> Any:
    info = dtypes.check_string_dtype(dtype)
    if info is not None and info.length is None:
        array = _texts(array, dtype)
    return array[()] if array.ndim == 0 else array


class AttributeManager(MutableMapping[str, Any]):
    """The attributes of a group, a dataset or a file, as a dict of NumPy values.

    Parameters
    ----------
    parent : Group, Dataset or Datatype
        The object that has the attributes.

    Examples
    --------
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
        """Set an attribute, replacing one of that name; ``shape`` and ``dtype`` override those of the data.

        Parameters
        ----------
        name : str or bytes
            The name of the attribute.
        data : array-like or Empty
            Its value.
        shape : tuple of int, optional
            The shape; by default that of the value.
        dtype : dtype, optional
            The data type; by default that of the value.

        Raises
        ------
        ValueError
            If the name is one that this room keeps for itself.
        """
        key = as_text(name, "Creating an attribute")
        if key == RESERVED:
            raise ValueError(f"the attribute {RESERVED!r} is reserved for information of h5py")
        self._require_writable()
        if isinstance(data, Empty):
            self._node().attrs[key] = to_json(data, data.dtype)
            return
        parsed = dtypes.guess(data) if dtype is None else dtypes.as_dtype(dtype)
        array = dtypes.to_elements(data, parsed, None)
        self._node().attrs[key] = to_json(_shaped(array, parsed, shape), parsed)

    def modify(self, name: Any, value: Any) -> None:
        """Change the value of an attribute and keep its type and shape; create a missing one.

        Parameters
        ----------
        name : str or bytes
            The name of the attribute.
        value : array-like
            The new value.

        Raises
        ------
        TypeError
            If the value has another shape.
        OSError
            If the attribute is empty.
        """
        if name not in self:
            self.create(name, value)
            return
        present = self[name]
        if isinstance(present, Empty):
            raise OSError("Empty attributes can't be modified: create it anew")
        dtype = dtypes.string_dtype() if isinstance(present, str) else present.dtype
        array = dtypes.to_elements(value, dtype, None)
        if array.shape != np.shape(present):
            raise TypeError(f"Shape {array.shape} does not fit the existing attribute of shape {np.shape(present)}")
        self.create(name, array, dtype=dtype)

    def get_id(self, name: Any) -> Any:
        """Raise ``UnsupportedFeature``: attributes are entries of a JSON document, without an identity of their own.

        Parameters
        ----------
        name : str or bytes
            The name of an attribute.

        Raises
        ------
        UnsupportedFeature
            Always.
        KeyError
            If there is no such attribute.
        """
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


CLASSES: dict[str, Any] = {}
"""Classes by ``group``, ``dataset``, ``datatype``, ``file``; each class adds itself."""


class ObjectID:
    """The identity of an open object: its file and its path. Valid until it, or the file, is closed."""

    def __init__(self, storage: Storage, path: str) -> None:
        self.storage = storage
        self.path = path
        self._open = True
        storage.identities[id(self)] = self

    def moved(self, path: str) -> None:
        """Follow the object to another path."""
        self.path = path

    @property
    def valid(self) -> bool:
        """Return True if the object can still be used."""
        return self._open and self.storage.opened

    def close(self) -> None:
        """Make this identity, and the object that holds it, unusable; the file stays open.

        A file that was opened to follow a link is closed with the last of its objects.
        """
        self._open = False
        self.storage.close_unused()

    _close = close

    def __bool__(self) -> bool:
        return self.valid

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectID):
            return NotImplemented
        return self.storage is other.storage and self.path == other.path

    def __hash__(self) -> int:
        return hash((id(self.storage), self.path))


class GroupID(ObjectID):
    """The identity of a group."""


class FileID(GroupID):
    """The identity of a file; it equals that of its root group."""


class TypeID(ObjectID):
    """The identity of a named type."""


class DatasetID(ObjectID):
    """The identity of a dataset, with the zarr array behind it."""

    def __init__(self, storage: Storage, path: str, array: Any = None) -> None:
        super().__init__(storage, path)
        self.array = storage.node(path) if array is None else array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the zarr array, with the axes of a subarray type."""
        return tuple(self.array.shape)

    def moved(self, path: str) -> None:
        """Follow the object to another path."""
        self.path = path
        self.array = self.storage.node(path)


class HLObject:
    """A named object of a file.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> issubclass(h5py.Dataset, h5py.HLObject)
    True
    """

    _id: ObjectID

    @property
    def id(self) -> Any:
        """The identity of the object."""
        return self._id

    @property
    def name(self) -> str | None:
        """The path from the root, beginning with a slash; None for an object without a name."""
        return None if self._id.storage.unnamed is not None else f"/{self._id.path}"

    @property
    def file(self) -> Any:
        """The file that the object is in."""
        storage = self._id.storage
        storage.require_open()
        return CLASSES["file"].of_storage(storage if storage.unnamed is None else storage.unnamed)

    @property
    def parent(self) -> Any:
        """The group that holds the object; the root holds itself; ValueError for an object without a name."""
        if self.name is None:
            raise ValueError("Parent of an anonymous object is undefined")
        return CLASSES["group"](GroupID(self._id.storage, parent_of(self._id.path)))

    @property
    def ref(self) -> Any:
        """Raise ``UnsupportedFeature``: a zarr hierarchy has no references; keep the path."""
        raise UnsupportedFeature(f"object references have no place in a zarr hierarchy: keep the path {self.name!r}")

    @property
    def attrs(self) -> AttributeManager:
        """The attributes of the object."""
        return AttributeManager(self)

    def __bool__(self) -> bool:
        return bool(self._id)

    def __eq__(self, other: object) -> bool:
        return bool(self._id == other._id) if isinstance(other, HLObject) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._id)

    def __getstate__(self) -> Any:
        raise TypeError("h5py objects cannot be pickled: hand over the file name and the path instead")


class Datatype(HLObject):
    """A named type, made by ``group[name] = numpy.dtype(…)``.

    Parameters
    ----------
    bind : TypeID
        The identity of a named type, as ``datatype.id``.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     f["number"] = np.dtype("i4")
    ...     f["number"].dtype
    dtype('int32')
    """

    def __init__(self, bind: TypeID) -> None:
        if not isinstance(bind, TypeID):
            raise ValueError(f"{bind!r} is not a TypeID")
        self._id: TypeID = bind
        self._dtype = dtypes.parse_description(bind.storage.notes(bind.path)["datatype"])

    @property
    def dtype(self) -> Dtype:
        """The type."""
        return self._dtype

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        return f'<HDF5 named type "{self._id.path.rpartition("/")[2]}" (dtype {self._dtype.str})>'


CLASSES["datatype"] = Datatype
