"""Dimension labels and scales.

The label of an axis is its entry in zarr's ``dimension_names``, so that xarray and other readers see it. A scale is a
dataset with the attributes ``CLASS`` and ``NAME``; which scales an axis has stands, as paths, in the notes of the
dataset that they are attached to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from zarr.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.h5py_compat.base import DatasetID, class_for
from zarr.h5py_compat.errors import UnsupportedFeature
from zarr.h5py_compat.storage import as_text


def make_scale(dataset: Any, name: Any = "") -> None:
    """Mark a dataset as a dimension scale."""
    dataset.attrs["CLASS"] = "DIMENSION_SCALE"
    dataset.attrs["NAME"] = as_text(name, "Naming a scale")


class DimensionProxy:
    """One axis of a dataset."""

    def __init__(self, bind: DatasetID, dimension: int) -> None:
        self._id = bind
        self._dimension = dimension

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimensionProxy) and (self._id, self._dimension) == (other._id, other._dimension)

    def __hash__(self) -> int:
        return hash((self._id, self._dimension))

    @property
    def label(self) -> str:
        """The name of the axis; empty where it has none. Assigning one stores it."""
        names = getattr(self._id.storage.node(self._id.path).metadata, "dimension_names", None)
        return (names[self._dimension] or "") if names else ""

    @label.setter
    def label(self, value: Any) -> None:
        storage, path = self._id.storage, self._id.path
        storage.require_writable(OSError, "label a dimension")
        metadata = storage.node(path).metadata
        if not hasattr(metadata, "dimension_names"):
            raise UnsupportedFeature(f"/{path} is an array of zarr format 2, which has no dimension names")
        names = list(metadata.dimension_names or (None,) * len(metadata.shape))
        names[self._dimension] = as_text(value, "Labelling a dimension") or None
        changed = dataclasses.replace(metadata, dimension_names=tuple(names))
        folder = "/".join(part for part in (storage.root.path, path) if part)
        for key, document in changed.to_buffer_dict(default_buffer_prototype()).items():
            sync(storage.root.store.set(f"{folder}/{key}", document))
        self._id.array = storage.node(path)

    def _paths(self) -> list[str]:
        scales: dict[str, list[str]] = self._id.storage.notes(self._id.path).get("scales", {})
        return list(scales.get(str(self._dimension), ()))

    def _keep(self, paths: list[str]) -> None:
        scales = dict(self._id.storage.notes(self._id.path).get("scales", {}))
        scales[str(self._dimension)] = paths
        self._id.storage.note(self._id.path, scales={key: held for key, held in scales.items() if held} or None)

    def attach_scale(self, dset: Any) -> None:
        """Attach a scale; make a plain dataset one first."""
        self._id.storage.require_writable(OSError, "attach a scale")
        if not dset.is_scale:
            make_scale(dset)
        paths = self._paths()
        if dset.id.path not in paths:
            self._keep([*paths, dset.id.path])

    def detach_scale(self, dset: Any) -> None:
        """Detach a scale."""
        self._id.storage.require_writable(OSError, "detach a scale")
        self._keep([path for path in self._paths() if path != dset.id.path])

    def values(self) -> list[Any]:
        """Return the scales, in the order in which they were attached."""
        return [class_for("dataset")(DatasetID(self._id.storage, path)) for path in self._paths()]

    def items(self) -> list[tuple[str, Any]]:
        """Return names and scales."""
        return [(str(scale.attrs.get("NAME", "")), scale) for scale in self.values()]

    def keys(self) -> list[str]:
        """Return the names of the scales."""
        return [name for name, _ in self.items()]

    def __len__(self) -> int:
        return len(self._paths())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, int):
            scales = self.values()
            if not 0 <= item < len(scales):
                raise RuntimeError(f"dimension {self._dimension} has {len(scales)} scales, none with number {item}")
            return scales[item]
        for name, scale in self.items():
            if name == item:
                return scale
        raise KeyError(f"dimension {self._dimension} has no scale {item!r}")

    def __repr__(self) -> str:
        if not self._id:
            return "<Dimension of closed HDF5 dataset>"
        return f'<"{self.label}" dimension {self._dimension} of HDF5 dataset at {id(self._id)}>'


class DimensionManager:
    """The axes of a dataset."""

    def __init__(self, parent: Any) -> None:
        self._parent = parent

    def __getitem__(self, index: int) -> DimensionProxy:
        if not 0 <= index < self._parent.ndim:
            raise IndexError(f"Index {index} out of range: the dataset has {self._parent.ndim} dimensions")
        return DimensionProxy(self._parent.id, index)

    def __len__(self) -> int:
        return int(self._parent.ndim)

    def __iter__(self) -> Iterator[DimensionProxy]:
        return (self[position] for position in range(len(self)))

    def __repr__(self) -> str:
        if not self._parent:
            return "<Dimensions of closed HDF5 dataset>"
        return f"<Dimensions of HDF5 object at {id(self._parent.id)}>"


__all__ = ["DimensionManager", "DimensionProxy", "make_scale"]
