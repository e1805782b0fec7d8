"""Write NetCDF-4 files, by h5netcdf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import h5netcdf
import numpy as np

from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents, lose
from zarr.tools.conversion.hdf5.types import hdf5_attribute
from zarr.tools.conversion.hdf5.writing import dataset_parameters, write_elements
from zarr.tools.conversion.nodes import FILL_VALUES_OF_NETCDF


def write_netcdf(contents: Contents, path: str, losses: list[str]) -> None:
    """Write a NetCDF-4 file; the name of an array that is no member of a group is ``data``.

    Dimensions without a name get the names ``phony_dim_0`` and so on, as NetCDF names those of HDF5 files.

    Parameters
    ----------
    contents : Contents
    path : str
    losses : list of str
        Receives types, codecs and attributes that NetCDF-4 does not have.

    Raises
    ------
    TypeError
        If there is one array only, and NetCDF-4 does not have its data type.
    ValueError
        If a string contains a zero character.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.nc"
    >>> data = np.arange(4)
    >>> write_netcdf(ArrayContents(data.shape, data.dtype, data.__getitem__, dimension_names=("x",)), path, [])
    >>> file = h5netcdf.File(path)
    >>> file["data"].dimensions
    ('x',)
    """
    is_one = isinstance(contents, ArrayContents)
    if isinstance(contents, ArrayContents):
        contents = GroupContents(members={"data": contents})
    with h5netcdf.File(path, "w") as file:
        _write_group(file, "", contents, losses)
        if is_one and "data" not in file.variables:
            raise TypeError(losses[-1])


def _write_group(group: Any, path: str, contents: GroupContents, losses: list[str]) -> None:
    _write_attributes(group, path, contents, None, losses)
    arrays = {name: each for name, each in contents.members.items() if isinstance(each, ArrayContents)}
    # Coordinates first: dimensions get their lengths.
    for name, array in sorted(arrays.items(), key=lambda each: each[1].dimension_names != (each[0],)):
        _write_array(group, name, f"{path}/{name}" if path else name, array, losses)
    for name, member in contents.members.items():
        if isinstance(member, GroupContents):
            _write_group(group.create_group(name), f"{path}/{name}" if path else name, member, losses)


def _write_array(group: Any, name: str, path: str, array: ArrayContents, losses: list[str]) -> None:
    dtype = np.dtype(array.dtype)
    if dtype.kind in "bcVMm" or dtype.fields is not None or dtype == np.float16:
        if dtype.kind != "b":
            lose(losses, path, f"the array: NetCDF-4 has no data type for {dtype}")
            return
        lose(losses, path, "the data type bool: NetCDF-4 has int8 for it")
        array = _as(array, np.dtype("i1"), lambda data: data.astype("i1"))
    if dtype.kind == "S" and dtype.itemsize > 1:
        lose(losses, path, f"strings of {dtype.itemsize} bytes: they are strings of any length")
        text = np.dtypes.StringDType()
        array = _as(array, text, lambda data: np.char.decode(data, "utf-8").astype(text))
    parameters = dataset_parameters(path, array, losses)
    if parameters is None:
        return
    parameters.pop("maxshape", None)
    if "chunks" in parameters:
        _fit_chunks(path, array, parameters, losses)
    is_named = "_FillValue" in array.attributes
    if is_named:
        parameters["fillvalue"], lost = hdf5_attribute("_FillValue", array.attributes["_FillValue"], array.dtype)
        if lost:
            lose(losses, path, f"the attribute _FillValue: {lost}")
            del parameters["fillvalue"]
    elif array.fill_value is None and (usual := FILL_VALUES_OF_NETCDF.get(np.dtype(array.dtype).str[1:])) is not None:
        parameters["fillvalue"] = usual
    dimensions = _dimensions(group, path, array, losses)
    variable = group.create_variable(name, dimensions, **parameters)
    if "fillvalue" in parameters and not is_named:
        del variable.attrs["_FillValue"]  # which says that the elements of this value are missing
    _write_attributes(variable, path, array, array.dtype, losses)
    write_elements(variable, array)


def _fit_chunks(path: str, array: ArrayContents, parameters: dict[str, Any], losses: list[str]) -> None:
    """Limit chunks to the lengths of dimensions."""
    chunks = tuple(min(chunk, length) for chunk, length in zip(parameters["chunks"], array.shape, strict=True))
    if chunks != parameters["chunks"]:
        lose(losses, path, f"chunks of shape {parameters['chunks']}: none of NetCDF-4 is longer than a dimension")
    if 0 in chunks:
        del parameters["chunks"]
    else:
        parameters["chunks"] = chunks


def _dimensions(group: Any, path: str, array: ArrayContents, losses: list[str]) -> tuple[str, ...]:
    """Return the names of the dimensions of an array, and create the missing ones."""
    found: list[str] = []
    for name, length in zip(array.dimension_names or (None,) * len(array.shape), array.shape, strict=True):
        wanted = name or "phony_dim"
        candidates = ([wanted] if name else []) + [f"{wanted}_{number}" for number in range(1000)]
        for each in candidates:
            if each in found:
                continue
            known = group.dimensions.get(each)
            if known is None:
                group.dimensions[each] = length
            elif known.size != length:
                continue
            if name and each != name:
                lose(losses, path, f"the name {name} of a dimension: another length has it, this one is called {each}")
            found.append(each)
            break
    return tuple(found)


def _write_attributes(node: Any, path: str, contents: Any, dtype: np.dtype[Any] | None, losses: list[str]) -> None:
    for name, value in contents.attributes.items():
        if name == "_FillValue" and isinstance(contents, ArrayContents):
            continue
        if isinstance(value, bool):
            lose(losses, path, f"the attribute {name}: NetCDF-4 has int8 for bool")
            value = int(value)
        if value is None:
            lose(losses, path, f"the attribute {name}: it is empty")
            continue
        found, lost = hdf5_attribute(name, value, dtype)
        if lost:
            lose(losses, path, f"the attribute {name}: {lost}")
        node.attrs[name] = found


def _as(array: ArrayContents, dtype: np.dtype[Any], change: Callable[[Any], Any]) -> ArrayContents:
    return replace(array, dtype=dtype, read=lambda region: change(array.read(region)), fill_value=None, shards=None)
