"""Data types and attributes of HDF5 in terms of Zarr, and back."""

from __future__ import annotations

import json
from typing import Any

import h5py
import numpy as np

from zarr.tools.conversion.nodes import plain

INTERNAL = frozenset(
    ("REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict",
     "_NCProperties")
)  # fmt: skip
"""Attributes in which HDF5 and NetCDF-4 keep the names of dimensions."""
SCALE = frozenset(("CLASS", "NAME"))
"""Attributes of a dimension scale."""

OF_THE_TYPE = frozenset(
    ("_FillValue", "missing_value", "valid_min", "valid_max", "valid_range", "flag_values", "flag_masks")
)
"""Attributes whose values are elements, by the conventions of NetCDF."""

TEXT = np.dtypes.StringDType()


def zarr_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any] | None, str]:
    """Return the data type for the elements of a dataset, and the loss.

    Parameters
    ----------
    dtype : numpy.dtype
        The data type in h5py.

    Returns
    -------
    (numpy.dtype or None, str)
        None if there is none; an empty text if nothing is lost.

    Examples
    --------
    >>> zarr_dtype(np.dtype(">i4"))
    (dtype('>i4'), '')
    >>> zarr_dtype(h5py.vlen_dtype("i4"))
    (None, 'the array: sequences of different lengths')
    """
    if h5py.check_ref_dtype(dtype) is not None:
        return None, "the array: references to other objects of the file"
    if dtype.kind == "O":
        is_text = h5py.check_string_dtype(dtype) is not None
        return (TEXT, "") if is_text else (None, "the array: sequences of different lengths")
    if dtype.subdtype is not None:
        return None, f"the array: elements that are arrays of shape {dtype.subdtype[1]}"
    if dtype.fields is not None:
        return _compound_dtype(dtype)
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        return np.dtype("f8" if dtype.kind == "f" else "c16"), f"the precision of {dtype}: 64 bits are kept of a number"
    text = h5py.check_string_dtype(dtype)
    if text is not None and text.encoding == "utf-8":
        return np.dtype(dtype.str), "that its bytes are text in UTF-8"
    names = h5py.check_enum_dtype(dtype)
    lost = f"names of values ({', '.join(f'{name}={value}' for name, value in names.items())})" if names else ""
    return np.dtype(dtype.str), lost


def _compound_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any] | None, str]:
    fields, losses = [], []
    for name in dtype.names or ():
        field = dtype[name]
        base, shape = field.subdtype or (field, ())
        found, lost = zarr_dtype(base)
        if found is None or found.kind == "T":
            return None, f"the array: its field {name} has strings of any length, sequences or references"
        fields.append((name, found, shape) if shape else (name, found))
        if lost:
            losses.append(f"of the field {name} {lost}")
    return np.dtype(fields), "; ".join(losses)


def elements(data: Any, dtype: np.dtype[Any]) -> Any:
    """Return elements read by h5py in their data type in Zarr."""
    if dtype.kind == "T":
        texts = [text.decode() if isinstance(text, bytes) else text for text in np.ravel(data)]
        return np.array(texts, dtype).reshape(np.shape(data))
    return np.asarray(data).astype(dtype, copy=False)


# -------------------------------------------------------------------------------------------- attributes


def attributes_of(node: Any, path: str, is_netcdf: bool, losses: list[str]) -> dict[str, Any]:
    """Return the attributes of a node as JSON values.

    Parameters
    ----------
    node : h5py.Dataset or h5py.Group
    path : str
        Path of the node, for the losses.
    is_netcdf : bool
        If True, an attribute of one element is a scalar, as in NetCDF.
    losses : list of str
    """
    internal = INTERNAL | SCALE if isinstance(node, h5py.Dataset) and node.is_scale else INTERNAL
    found, typed = {}, []
    for name in node.attrs:
        if name in internal:
            continue
        try:
            value = node.attrs[name]
        except (OSError, TypeError, UnicodeDecodeError) as error:
            losses.append(f"/{path}: the attribute {name}: {error}")
            continue
        if (is_netcdf or name == "_FillValue") and getattr(value, "shape", None) == (1,):
            value = value[0]
        value, lost = _attribute(value)
        if lost:
            losses.append(f"/{path}: the attribute {name}: {lost}")
        if value is None:
            continue
        own = getattr(node, "dtype", None)
        found[name] = plain(value)
        if not (name in OF_THE_TYPE and own is not None and own.kind == "S") and (text := _as_text(found[name])):
            found[name] = text
            losses.append(f"/{path}: the attribute {name}: its bytes are no text in UTF-8, they are read as Latin-1")
        if _has_other_type(value, own if name in OF_THE_TYPE else None):
            typed.append(f"{name} ({value.dtype})")
    if typed:
        losses.append(f"/{path}: the types of attributes, for JSON has one of numbers: {', '.join(typed)}")
    return found


def _as_text(value: Any) -> Any:
    """Return texts of Latin-1 in the place of those that are not of UTF-8; None if there are none of these.

    JSON with the halves of characters that stand for such bytes is refused by other libraries, the whole document.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        if isinstance(value, list):
            return [_as_text(each) or each for each in value]
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return None


def _attribute(value: Any) -> tuple[Any, str]:
    """Return the value of an attribute, None if it has none in JSON; and the loss."""
    if isinstance(value, h5py.Empty):
        return ("", "") if h5py.check_string_dtype(value.dtype) or value.dtype.kind == "S" else (None, "it is empty")
    dtype = getattr(value, "dtype", None)
    if isinstance(value, h5py.Reference | h5py.RegionReference):
        return None, "a reference to another object of the file"
    if dtype is None:
        return value, ""
    if h5py.check_ref_dtype(dtype) is not None:
        return None, "references to other objects of the file"
    if dtype.kind == "O" and any(not isinstance(each, str | bytes) for each in np.ravel(value)):
        return None, "objects that JSON does not have"
    if dtype.fields is not None or dtype.kind == "V":
        return None, f"elements of type {dtype}, which JSON does not have"
    return value, ""


def _has_other_type(value: Any, own: np.dtype[Any] | None) -> bool:
    """Return True if an attribute would get another type when its JSON value is written again."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind in "OUSTb":
        return False
    return dtype not in ((own,) if own is not None else (np.dtype("i8"), np.dtype("f8")))


def hdf5_attribute(name: str, value: Any, dtype: np.dtype[Any] | None) -> tuple[Any, str]:
    """Return an attribute in the form for h5py, and the loss.

    Parameters
    ----------
    name : str
    value
        A JSON value.
    dtype : numpy.dtype or None
        The data type of the array, for attributes that are elements. None for a group.

    Examples
    --------
    >>> hdf5_attribute("valid_min", 3, np.dtype("i2"))
    (np.int16(3), '')
    """
    if value is None:
        return h5py.Empty("f4"), ""
    flat = value if isinstance(value, list) else [value]
    own = dtype if dtype is not None and name in OF_THE_TYPE else None
    if own is not None and own.kind in "iufb" and all(isinstance(each, int | float) for each in flat):
        found = _cast(value, own)
        if found is None:
            other, lost = hdf5_attribute(name, value, None)
            return other, lost or f"that it is an element: {own} does not have the value {value}"
        return (found if isinstance(value, list) else found[()]), ""
    if own is not None and own.kind == "S" and isinstance(value, str):
        return np.array(value.encode("utf-8", "surrogateescape"), own), ""
    if isinstance(value, list) and value:
        if all(isinstance(each, str) for each in value):
            return np.array(value, h5py.string_dtype()), ""
        array = _numbers(value)
        if array is not None:
            return array, ""
    elif not isinstance(value, dict) and not (isinstance(value, int) and not -(2**63) <= value < 2**64):
        return value, ""
    return json.dumps(value), "written as a text of JSON"


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return numbers in another data type; None if it lacks one of them, apart from digits of a float."""
    given = np.array(value)
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            found = given.astype(dtype)
    except (OverflowError, TypeError):
        return None
    kept = np.isfinite(found) == np.isfinite(given) if dtype.kind == "f" else found == given
    return found if np.all(kept) else None


def _numbers(value: list[Any]) -> Any:
    """Return an array of numbers of one kind; None if a list is none."""
    try:
        array = np.array(value)
    except ValueError:
        return None
    kinds = {type(each) for each in array.astype(object).ravel().tolist()}
    return array if array.dtype.kind in "biuf" and (bool not in kinds or array.dtype.kind == "b") else None
