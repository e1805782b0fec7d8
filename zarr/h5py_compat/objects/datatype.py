"""``Datatype``: a type that bears a name in the file. It is stored as an empty group with the type among its notes."""

from __future__ import annotations

from zarr.h5py_compat.objects.base import CLASSES, HLObject, TypeID
from zarr.h5py_compat.types.dtypes import Dtype, parse_description

__all__ = ["Datatype"]


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
