"""The base of groups, datasets, named types and files: identity, name, file, parent, attributes."""

from __future__ import annotations

from typing import Any

from zarr.h5py_compat.attributes import AttributeManager
from zarr.h5py_compat.dtypes import Dtype, parse_description
from zarr.h5py_compat.storage import Storage, UnsupportedFeature, parent_of

CLASSES: dict[str, Any] = {}
"""``group``, ``dataset``, ``datatype``, ``file`` → the class that stands for it; each class enters itself."""


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
        """Say whether the object can still be used."""
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
    """A named object of a file."""

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
        """The group that holds the object; the root holds itself."""
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
    """A named type, made by ``group[name] = numpy.dtype(…)``."""

    def __init__(self, bind: TypeID) -> None:
        if not isinstance(bind, TypeID):
            raise ValueError(f"{bind!r} is not a TypeID")
        self._id: TypeID = bind
        self._dtype = parse_description(bind.storage.notes(bind.path)["datatype"])

    @property
    def dtype(self) -> Dtype:
        """The type."""
        return self._dtype

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        return f'<HDF5 named type "{self._id.path.rpartition("/")[2]}" (dtype {self._dtype.str})>'


CLASSES["datatype"] = Datatype
