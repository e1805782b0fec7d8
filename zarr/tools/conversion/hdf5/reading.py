"""The contents of HDF5 and NetCDF-4 files."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents, lose
from zarr.tools.conversion.formats import UNLIMITED
from zarr.tools.conversion.hdf5.filters import codecs_of_filters
from zarr.tools.conversion.hdf5.types import attributes_of, elements, zarr_dtype

_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
"""The name that NetCDF-4 gives to a dimension scale without values."""


class ReadDataset:
    """Read regions of a dataset; each process opens the file itself.

    Parameters
    ----------
    file, path : str
    dtype : numpy.dtype
        The data type of the elements in Zarr.
    shape : tuple of int
        The shape in Zarr: a variable of NetCDF is as long as its dimension, also where nothing was written yet.
    """

    def __init__(self, file: str, path: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.file, self.path, self.dtype, self.shape = file, path, dtype, shape
        self._dataset: Any = None

    def __call__(self, region: tuple[slice, ...]) -> Any:
        """Return the elements of a region.

        Raises
        ------
        ValueError
            If bytes are no text in UTF-8.
        """
        if self._dataset is None:
            self._dataset = h5py.File(self.file, "r")[self.path]
        try:
            found = elements(self._dataset[region], self.dtype)
            return found if self._dataset.shape == self.shape else self._padded(found, region)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.file}: {self.path} holds bytes that are no text in UTF-8: {error}. Convert the other parts "
                f"of the file (FILE::PATH), and read this one by h5py: file[{self.path!r}].asstr('latin-1')"
            ) from error

    def _padded(self, found: Any, region: tuple[slice, ...]) -> Any:
        """Return a region with the fill value where the dataset ends before the shape."""
        wanted = tuple(part.stop - part.start for part in region)
        fill = "" if self.dtype.kind == "T" else np.asarray(self._dataset.fillvalue).astype(self.dtype)
        whole = np.full(wanted, fill, self.dtype)
        whole[tuple(slice(0, length) for length in found.shape)] = found
        return whole

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_dataset": None}


def read_hdf5(path: str, losses: list[str]) -> GroupContents:
    """Return the contents of an HDF5 or NetCDF-4 file.

    Parameters
    ----------
    path : str
    losses : list of str
        Receives links, references, types and filters that Zarr does not have.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.h5"
    >>> with h5py.File(path, "w") as file:
    ...     file["g/a"] = [1, 2]
    >>> read_hdf5(path, []).members["g"].members["a"].shape
    (2,)
    """
    with h5py.File(path, "r") as file:
        return _Reader(path, file, losses).group("", file)


class _Reader:
    """One file while it is read."""

    def __init__(self, path: str, file: h5py.File, losses: list[str]) -> None:
        self.path, self.losses = path, losses
        self.is_netcdf = "_NCProperties" in file.attrs
        self.unlimited = _unlimited_lengths(file) if self.is_netcdf else {}
        self.seen: dict[Any, str] = {}
        """The paths of objects by their identity: an object may have several names."""

    def group(self, path: str, group: h5py.Group) -> GroupContents:
        self.seen[group.id] = path
        members: dict[str, Contents] = {}
        for name in group:
            below = f"{path}/{name}" if path else name
            node = self._linked(group, name, below)
            if isinstance(node, h5py.Group):
                members[name] = self.group(below, node)
            elif isinstance(node, h5py.Dataset) and (array := self.array(below, node)) is not None:
                members[name] = array
        return GroupContents(attributes_of(group, path, self.is_netcdf, self.losses), members)

    def _linked(self, group: h5py.Group, name: str, path: str) -> Any:
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink | h5py.ExternalLink):
            file = f" in the file {link.filename}" if isinstance(link, h5py.ExternalLink) else ""
            lose(self.losses, path, f"a link to {link.path}{file}")
            return None
        node = group[name]
        if isinstance(node, h5py.Datatype):
            lose(self.losses, path, "a data type that has a name")
        elif node.id in self.seen:
            lose(self.losses, path, f"a second name of /{self.seen[node.id]}")
            return None
        self.seen[node.id] = path
        return node

    def array(self, path: str, dataset: h5py.Dataset) -> ArrayContents | None:
        if dataset.is_scale and dataset.attrs.get("NAME", b"").startswith(_NO_VARIABLE):
            self._dimension(path, dataset)
            return None
        if dataset.shape is None:
            lose(self.losses, path, "the array: it has no elements and no shape")
            return None
        dtype, lost = zarr_dtype(dataset.dtype)
        if lost:
            lose(self.losses, path, lost)
        if dtype is None:
            return None
        if any(length is None for length in dataset.maxshape) and dataset.is_scale and dataset.ndim == 1:
            lose(self.losses, path, UNLIMITED)
        if dataset.id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER:
            lose(self.losses, path, "that elements never written are undefined: those of Zarr have the fill value")
        codecs, missing = codecs_of_filters(dataset)
        for name in missing:
            lose(self.losses, path, f"the filter {name}: Zarr has none that does the same, the codecs are chosen anew")
        shape = self._shape(dataset)
        return ArrayContents(
            shape,
            dtype,
            ReadDataset(self.path, dataset.name, dtype, shape),
            chunks=dataset.chunks,
            fill_value=self._fill_value(dataset, dtype),
            dimension_names=self._dimensions(dataset),
            attributes=attributes_of(dataset, path, self.is_netcdf, self.losses),
            filters=None,
            compressors=codecs,
        )

    def _shape(self, dataset: h5py.Dataset) -> tuple[int, ...]:
        """Return the shape, with the lengths of unlimited dimensions: a dataset ends where its last element is."""
        scales = (_scale_of(dataset, axis, self.is_netcdf) if self.unlimited else None for axis in range(dataset.ndim))
        lengths = zip(dataset.shape, dataset.maxshape, scales, strict=True)
        return tuple(
            length if most is not None or scale is None else self.unlimited.get(scale.id, length)
            for length, most, scale in lengths
        )

    def _dimension(self, path: str, scale: h5py.Dataset) -> None:
        """Note the loss of a dimension without coordinates: arrays have its name and its length."""
        if scale.maxshape[0] is None:
            lose(self.losses, path, UNLIMITED)
        if not scale.attrs.get("REFERENCE_LIST", np.empty(0)).size:
            lose(self.losses, path, f"the dimension, of length {scale.shape[0]}: no array has it")

    def _dimensions(self, dataset: h5py.Dataset) -> tuple[str | None, ...] | None:
        names: list[str | None] = []
        for axis, dimension in enumerate(dataset.dims):
            scale = _scale_of(dataset, axis, self.is_netcdf)
            names.append((scale.name.rpartition("/")[2] if scale is not None else None) or dimension.label or None)
        return tuple(names) if any(names) or (self.is_netcdf and not names) else None

    def _fill_value(self, dataset: h5py.Dataset, dtype: np.dtype[Any]) -> Any:
        if dtype.kind == "T":
            return None
        value = np.asarray(dataset.fillvalue).astype(dtype)
        is_default = dtype.fields is not None and not any(value.tobytes())  # of a compound type
        return None if is_default else value[()]


def _scale_of(dataset: h5py.Dataset, axis: int, is_netcdf: bool) -> h5py.Dataset | None:
    """Return the dimension scale of an axis, which may be the dataset itself."""
    dimension = dataset.dims[axis]
    if len(dimension):
        return dimension[0]
    is_its_own = dataset.is_scale and (dataset.ndim == 1 or (is_netcdf and axis == 0))
    return dataset if is_its_own else None


def _unlimited_lengths(file: h5py.File) -> dict[Any, int]:
    """Return the length of each unlimited dimension of a NetCDF file: that of its longest variable."""
    found: dict[Any, int] = {}

    def visit(_name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset) and node.shape is not None and None in node.maxshape:
            for axis, (length, most) in enumerate(zip(node.shape, node.maxshape, strict=True)):
                if most is None and (scale := _scale_of(node, axis, True)) is not None:
                    found[scale.id] = max(length, found.get(scale.id, 0))

    file.visititems(visit)
    return found
