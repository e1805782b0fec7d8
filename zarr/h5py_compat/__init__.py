"""Zarr hierarchies with the interface of h5py: change the import, keep the program.

``import zarr.h5py_compat as h5py``, then ``h5py.File("data.zarr", "w")``. A file is a folder, a .zip or any zarr store;
every other zarr program reads it. Information beyond zarr's metadata is kept in one attribute, ``h5py_compat``, of each
node. Features of HDF5 without a place in a zarr hierarchy raise ``UnsupportedFeature`` with an alternative: hard links,
object and region references, virtual datasets, external data, drivers, user blocks, SWMR, locks.

May import: the public API of ``zarr`` only (ci/check_layers.py lists it); nothing else imports it.
Read first: ``group.py`` and ``dataset.py``; then ``dtypes.py`` for the form of h5py's types in zarr arrays, and
``base.py`` for the form of attribute values in JSON.
"""

from __future__ import annotations

from zarr.h5py_compat.base import AttributeManager, Datatype, HLObject
from zarr.h5py_compat.dataset import Dataset, DimensionManager, DimensionProxy
from zarr.h5py_compat.dtypes import (
    Empty,
    check_complex_dtype,
    check_dtype,
    check_enum_dtype,
    check_opaque_dtype,
    check_string_dtype,
    check_vlen_dtype,
    complex_compat_dtype,
    enum_dtype,
    opaque_dtype,
    special_dtype,
    string_dtype,
    vlen_dtype,
)
from zarr.h5py_compat.group import File, Group, is_hdf5
from zarr.h5py_compat.members import ExternalLink, HardLink, SoftLink
from zarr.h5py_compat.selections import MultiBlockSlice
from zarr.h5py_compat.storage import H5pyDeprecationWarning, UnsupportedFeature

__all__ = [
    "AttributeManager", "Dataset", "Datatype", "DimensionManager", "DimensionProxy", "Empty", "ExternalLink", "File",
    "Group", "H5pyDeprecationWarning", "HLObject", "HardLink", "MultiBlockSlice", "SoftLink", "UnsupportedFeature",
    "check_complex_dtype", "check_dtype", "check_enum_dtype", "check_opaque_dtype", "check_string_dtype",
    "check_vlen_dtype", "complex_compat_dtype", "enum_dtype", "is_hdf5", "opaque_dtype", "special_dtype",
    "string_dtype", "vlen_dtype",
]
