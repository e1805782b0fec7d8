"""Write HDF5 files from contents, by h5py.

``formats.py`` names :func:`write_hdf5`; ``netcdf.py`` uses its parts for NetCDF-4. A type, codec or attribute that HDF5
does not have raises no error: it is added to the list of losses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np

from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents, blocks_of, lose
from zarr.tools.conversion.hdf5.filters import filters_for
from zarr.tools.conversion.hdf5.types import hdf5_attribute


def write_hdf5(contents: Contents, path: str, losses: list[str]) -> None:
    """Write an HDF5 file; the name of an array that is no member of a group is ``data``.

    Parameters
    ----------
    contents : Contents
    path : str
    losses : list of str
        Receives types, codecs and attributes that HDF5 does not have.

    Raises
    ------
    TypeError
        If there is one array only, and HDF5 does not have its data type.
    ValueError
        If a string contains a zero character.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.h5"
    >>> data = np.arange(4)
    >>> write_hdf5(ArrayContents(data.shape, data.dtype, data.__getitem__), path, [])
    >>> h5py.File(path)["data"][:]
    array([0, 1, 2, 3])
    """
    is_one = isinstance(contents, ArrayContents)
    if isinstance(contents, ArrayContents):
        contents = GroupContents(members={"data": contents})
    with h5py.File(path, "w", track_order=True) as file:
        _write_group(file, "", contents, losses)
        if is_one and "data" not in file:
            raise TypeError(losses[-1])


def _write_group(group: h5py.Group, path: str, contents: GroupContents, losses: list[str]) -> None:
    write_attributes(group.attrs, path, contents.attributes, None, losses)
    for name, member in contents.members.items():
        below = f"{path}/{name}" if path else name
        if isinstance(member, GroupContents):
            _write_group(group.create_group(name, track_order=True), below, member, losses)
        elif (parameters := dataset_parameters(below, member, losses)) is not None:
            dataset = group.create_dataset(name, shape=member.shape, track_order=True, **parameters)
            write_attributes(dataset.attrs, below, member.attributes, member.dtype, losses)
            write_elements(dataset, member)
    _attach_scales(group, contents.members)


def _attach_scales(group: h5py.Group, members: Mapping[str, Contents]) -> None:
    """Turn arrays with the name of their dimension into scales, and name all dimensions."""
    arrays = {name: each for name, each in members.items() if isinstance(each, ArrayContents) and name in group}
    scales = {name: each.shape[0] for name, each in arrays.items() if each.dimension_names == (name,)}
    for name in scales:
        group[name].make_scale(name)
    for name, array in arrays.items():
        for axis, dimension in enumerate(array.dimension_names or ()):
            if name in scales or dimension is None:
                continue
            if scales.get(dimension) == array.shape[axis]:
                group[name].dims[axis].attach_scale(group[dimension])
            else:
                group[name].dims[axis].label = dimension


def dataset_parameters(path: str, contents: ArrayContents, losses: list[str]) -> dict[str, Any] | None:
    """Return the parameters of a new dataset; None if HDF5 has no such data type."""
    dtype = hdf5_dtype(contents.native_dtype)
    if dtype is None:
        lose(losses, path, f"the array: HDF5 has no data type for {contents.native_dtype}")
        return None
    given: dict[str, Any] = {"dtype": dtype}
    fill = contents.fill_value
    if dtype.kind == "O" or contents.native_dtype.kind in "Mm":
        if fill is not None and fill != np.zeros((), contents.native_dtype)[()]:
            lose(losses, path, f"the fill value {fill}: there is none for {contents.native_dtype}")
    elif fill is not None:
        value = np.array(fill, dtype)
        if any(value.tobytes()):  # zero is that of a dataset without one
            given["fillvalue"] = value[()] if dtype.fields is None else value
    if contents.shards is not None:
        lose(losses, path, "shards: its chunks are stored one by one")
    if contents.chunks is None or not contents.shape:
        return given
    if contents.chunks == contents.shape and not contents.compressors and not contents.filters:
        return given  # a single chunk: all elements together
    given["chunks"] = contents.chunks
    if any(chunk > length for chunk, length in zip(contents.chunks, contents.shape, strict=True)):
        # Only axes that can grow may be shorter than chunks.
        sizes = zip(contents.chunks, contents.shape, strict=True)
        given["maxshape"] = tuple(None if chunk > length else length for chunk, length in sizes)
    lost: list[str] = []
    documents = contents.compressors
    if not isinstance(documents, str):
        more = () if contents.filters is None or isinstance(contents.filters, str) else contents.filters
        documents = [*more, *(documents or ())]
    given |= filters_for(documents, lost)
    for name in lost:
        instead = "deflate is in its place" if "compression" in given else "there is none in its place"
        lose(losses, path, f"the codec {name}: HDF5 has none that does the same, {instead}")
    return given


def hdf5_dtype(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the data type of a dataset; None if HDF5 has none.

    Examples
    --------
    >>> hdf5_dtype(np.dtype("f4")), hdf5_dtype(np.dtype("U5")).kind
    (dtype('float32'), 'O')
    """
    if dtype.kind in "TU":
        text: np.dtype[Any] = h5py.string_dtype()
        return text
    if dtype.kind in "Mm":
        opaque: np.dtype[Any] = h5py.opaque_dtype(dtype)
        return opaque
    return None if dtype.kind == "O" else dtype


def write_attributes(
    attributes: Any, path: str, values: Mapping[str, Any], dtype: np.dtype[Any] | None, losses: list[str]
) -> None:
    """Write the attributes of a node."""
    for name, value in values.items():
        found, lost = hdf5_attribute(name, value, dtype)
        if lost:
            lose(losses, path, f"the attribute {name}: {lost}")
        attributes[name] = found


def write_elements(dataset: Any, contents: ArrayContents) -> None:
    """Write all elements, whole chunks at a time."""
    kind = contents.native_dtype.kind
    dtype = hdf5_dtype(contents.native_dtype) if kind in "Mm" else contents.native_dtype
    for region in blocks_of(contents):
        data = np.asarray(contents.read(region))
        try:
            dataset[region] = data.astype(object) if kind in "TU" else data.astype(dtype, copy=kind in "Mm")
        except ValueError as error:
            if "NULL" not in str(error):
                raise
            message = f"{dataset.name}: strings of HDF5 end at a zero character, and one here has more"
            raise ValueError(message) from error
