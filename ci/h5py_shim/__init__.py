"""A package named ``h5py`` for the tests that h5py ships: ``zarr.h5py_compat`` under that name.

``ci/h5py_tests.py`` copies it, with the tests of an installed h5py beside it, to a temporary folder. HDF5's low-level
modules (``h5t``, ``h5s`` …) are stand-ins that skip the test that reaches for them, with the name as the reason.
"""

from __future__ import annotations

import sys
import threading
import types
from typing import Any

import pytest

import zarr.h5py_compat as compat
from zarr.h5py_compat import *  # noqa: F403
from zarr.h5py_compat import base as objects
from zarr.h5py_compat import creation as filters
from zarr.h5py_compat import dataset as dimensions

LOW_LEVEL = ("h5", "h5a", "h5ac", "h5d", "h5ds", "h5f", "h5fd", "h5g", "h5i", "h5l", "h5o", "h5p", "h5pl", "h5r", "h5s")
LOW_LEVEL += ("h5t", "h5z", "_errors", "_proxy", "_conv")


class LowLevel(types.ModuleType):
    """A module of HDF5's C interface: whoever takes a name from it tests HDF5."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"low-level: {self.__name__.removeprefix('h5py.')}")


def module(name: str, **contents: Any) -> types.ModuleType:
    """Enter a module of this package."""
    made = types.ModuleType(f"h5py.{name}")
    vars(made).update(contents)
    sys.modules[made.__name__] = made
    return made


for low in LOW_LEVEL:
    globals()[low] = sys.modules[f"h5py.{low}"] = LowLevel(f"h5py.{low}")


def product(numbers: Any) -> int:
    """Return the product, as the tests compute sizes."""
    result = 1
    for number in numbers:
        result *= number
    return result


def is_empty_dataspace(identity: Any) -> bool:
    """Say whether a dataset is empty."""
    if not hasattr(identity, "array"):
        pytest.skip("low-level: h5a")
    return compat.Dataset(identity).shape is None


def set_scale(dataset_id: Any, name: bytes = b"") -> None:
    """Make a dataset a dimension scale, by the name of the low-level call."""
    dimensions.make_scale(compat.Dataset(dataset_id), name)


def attach_scale(dataset_id: Any, scale_id: Any, axis: int) -> None:
    """Likewise."""
    compat.Dataset(dataset_id).dims[axis].attach_scale(compat.Dataset(scale_id))


def set_label(dataset_id: Any, axis: int, label: bytes) -> None:
    """Likewise."""
    compat.Dataset(dataset_id).dims[axis].label = label


vars(sys.modules["h5py.h5ds"]).update(set_scale=set_scale, attach_scale=attach_scale, set_label=set_label)
vars(sys.modules["h5py.h5z"]).update(
    FILTER_DEFLATE=1, FILTER_SHUFFLE=2, FILTER_FLETCHER32=3, FILTER_SZIP=4, FILTER_LZF=32000,
    filter_avail=lambda number: number in (1, 2, 3, 32000),
)  # fmt: skip
version = module("version", hdf5_version_tuple=(2, 0, 0), version=compat.__name__, MPI=False)
base = module(
    "_hl.base", Empty=compat.Empty, HLObject=compat.HLObject, is_hdf5=compat.is_hdf5, product=product,
    is_empty_dataspace=is_empty_dataspace,
)  # fmt: skip
dataset = module("_hl.dataset", _LEGACY_GZIP_COMPRESSION_VALS=tuple(range(10)))
_hl = module(
    "_hl",
    base=base,
    dataset=dataset,
    files=module("_hl.files", _drivers={}, direct_vfd=False),
    compat=module("_hl.compat", filename_encode=lambda name: name.encode()),
)
_objects = module("_objects", phil=threading.RLock(), ObjectID=objects.ObjectID)
h5py_warnings = module("h5py_warnings", H5pyDeprecationWarning=compat.H5pyDeprecationWarning)
sys.modules["h5py.filters"] = filters


class FastReader:
    """h5py's inner way to read, which its tests compare with the public one."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def read(self, args: Any) -> Any:
        """Read by the public way."""
        return self._owner[args]


def _low_level_method(self: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    pytest.skip(f"low-level: id.{name}")


def _unknown_name(name: str) -> Any:
    if name in ("ref_dtype", "regionref_dtype", "Reference", "RegionReference"):
        pytest.skip("absent: references")
    if name in ("VirtualLayout", "VirtualSource", "get_config"):
        pytest.skip(f"absent: {name}")
    raise AttributeError(name)


__getattr__ = _unknown_name
compat.Dataset._fast_reader = property(FastReader)  # type: ignore[attr-defined]
objects.ObjectID.__getattr__ = _low_level_method  # type: ignore[attr-defined]
