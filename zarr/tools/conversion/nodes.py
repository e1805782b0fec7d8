"""Turn nodes of Zarr into contents, and contents into the parameters of new nodes."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from zarr.arrays.array import Array
from zarr.arrays.show.cf import dimension_names
from zarr.dtype import VariableLengthBytes, parse_dtype
from zarr.groups.group import Group
from zarr.storage.keys import join
from zarr.storage.memory import MemoryStore
from zarr.tools.conversion.codecs import Codecs, codecs_of, to_format_2
from zarr.tools.conversion.contents import (
    ArrayContents,
    Contents,
    GroupContents,
    change_arrays,
    lose,
    walk_contents,
)
from zarr.tools.copies.jobs import ReadArray

DIMENSIONS = "_ARRAY_DIMENSIONS"
"""The attribute of format 2 with the names of dimensions, by the convention of xarray."""

_FILL = 9.969209968386869e36
FILL_VALUES_OF_NETCDF = {
    "i1": -127, "u1": 255, "i2": -32767, "u2": 65535, "i4": 1 - 2**31, "u4": 2**32 - 1, "i8": 2 - 2**63,
    "u8": 2**64 - 2, "f4": _FILL, "f8": _FILL,
}  # fmt: skip
"""The fill value of a NetCDF variable without the attribute ``_FillValue``, by its data type (``netcdf.h``)."""

# ------------------------------------------------------------------------------------------------ from Zarr


def contents_of(node: Array[Any] | Group, losses: list[str]) -> Contents:
    """Return the contents of a node.

    Examples
    --------
    >>> import zarr
    >>> contents_of(zarr.create_array({}, shape=3, dtype="i4", dimension_names=["x"]), []).dimension_names
    ('x',)
    """
    contents = _contents_below("", node, losses)
    has_names = any(getattr(each, "dimension_names", None) is not None for _, each in walk_contents(contents))
    return change_arrays(contents, _with_named_scalar) if has_names else contents


def _contents_below(path: str, node: Array[Any] | Group, losses: list[str]) -> Contents:
    if isinstance(node, Array):
        return _array_contents(path, node, losses)
    members = {name: _contents_below(join(path, name), member, losses) for name, member in sorted(node.members())}
    return GroupContents(node.attrs.asdict(), members)


def _with_named_scalar(_path: str, array: ArrayContents) -> ArrayContents:
    """Return an array that, if it has no dimensions, names all of these: xarray asks for it in format 2."""
    return replace(array, dimension_names=()) if array.shape == () else array


def _array_contents(path: str, array: Array[Any], losses: list[str]) -> ArrayContents:
    codecs = _codecs_of(path, array, losses)
    names, attributes = dimension_names(array), array.attrs.asdict()
    named = attributes.pop(DIMENSIONS, None) is not None or any(name is not None for name in names)
    dtype: Any = array.dtype
    if isinstance(array.metadata.dtype, VariableLengthBytes):
        dtype = array.metadata.dtype
    elif codecs is not None and codecs.is_big_endian and dtype.itemsize > 1:
        dtype = dtype.newbyteorder(">")
    if array.metadata.zarr_format == 2:
        if named and array.fill_value is not None and array.dtype.kind in "biufcSUT":
            attributes.setdefault("_FillValue", plain(array.fill_value))
    elif "_FillValue" in attributes:
        attributes["_FillValue"] = decode_fill_value(attributes["_FillValue"], array.dtype)
    elif array.dtype.kind == "S" and array.fill_value:
        attributes["_FillValue"] = plain(array.fill_value)
    return ArrayContents(
        array.shape,
        dtype,
        ReadArray(array.store_path),
        chunks=_chunks_of(path, array, losses),
        shards=array.shards,
        fill_value=array.fill_value,
        dimension_names=names if named else None,
        attributes=attributes,
        filters="auto" if codecs is None else codecs.filters,
        compressors="auto" if codecs is None else codecs.compressors,
    )


def _codecs_of(path: str, array: Array[Any], losses: list[str]) -> Codecs | None:
    try:
        codecs = codecs_of(array)
    except (TypeError, ValueError) as error:
        lose(losses, path, f"its codecs: {error}")
        return None
    for name in codecs.odd_serializers:
        lose(losses, path, f"the serializer {name}: elements are stored as they are")
    return codecs


def _chunks_of(path: str, array: Array[Any], losses: list[str]) -> tuple[int, ...]:
    try:
        return array.chunks
    except NotImplementedError:
        lose(losses, path, "chunks of different lengths: the longest of each axis is the length of all")
        return tuple(max(axis, default=1) for axis in array.read_chunk_sizes)


# -------------------------------------------------------------------------------------------------- to Zarr


def array_parameters(
    path: str, contents: ArrayContents, zarr_format: Literal[2, 3], losses: list[str]
) -> dict[str, Any] | None:
    """Return the parameters of ``create_array`` for contents; None if the format has no such data type.

    Parameters
    ----------
    path : str
        Path of the node, for the losses.
    contents : ArrayContents
    zarr_format : 2 or 3
    losses : list of str
        Receives the losses of the format.

    Examples
    --------
    >>> contents = ArrayContents((2,), np.dtype("f4"), lambda region: None, dimension_names=("x",))
    >>> array_parameters("a", contents, 2, [])["attributes"]
    {'_ARRAY_DIMENSIONS': ['x']}
    """
    try:
        parse_dtype(contents.dtype, zarr_format=zarr_format)
    except (ValueError, TypeError) as error:
        lose(losses, path, f"the array: {error}")
        return None
    given: dict[str, Any] = {
        "shape": contents.shape,
        "dtype": contents.dtype,
        "chunks": tuple(max(1, size) for size in contents.chunks) if contents.chunks is not None else "auto",
        "fill_value": contents.fill_value,
        "zarr_format": zarr_format,
    }
    if zarr_format == 2:
        return given | _of_format_2(path, contents, losses)
    given["shards"] = contents.shards
    if getattr(contents.dtype, "fields", None) is not None and contents.dtype != contents.dtype.newbyteorder("<"):
        lose(losses, path, "the byte order of fields: format 3 has one for all")
    if contents.dimension_names is not None:
        given["dimension_names"] = list(contents.dimension_names)
    if getattr(contents.dtype, "byteorder", "=") == ">":
        given["serializer"] = {"name": "bytes", "configuration": {"endian": "big"}}
    attributes = dict(contents.attributes)
    if "_FillValue" in attributes:
        attributes["_FillValue"] = encode_fill_value(attributes["_FillValue"], contents.native_dtype)
        if contents.native_dtype.kind == "S":
            del attributes["_FillValue"]  # with it xarray opens no group of format 3; it follows from fill_value
    for name in ("filters", "compressors"):
        value = getattr(contents, name)
        given[name] = value if isinstance(value, str) else list(value or ()) or None
    return given | {"attributes": attributes}


def _of_format_2(path: str, contents: ArrayContents, losses: list[str]) -> dict[str, Any]:
    attributes, given = dict(contents.attributes), {}
    if contents.shards is not None:
        lose(losses, path, "shards: format 2 has none, its chunks are stored one by one")
    if contents.dimension_names is not None:
        if None in contents.dimension_names:
            lose(losses, path, "dimensions without a name: format 2 names all or none, they are called dim_0, dim_1 …")
        attributes[DIMENSIONS] = [name or f"dim_{axis}" for axis, name in enumerate(contents.dimension_names)]
        # Readers take the fill value of format 2 for missing values; without missing values there must be none.
        if "_FillValue" not in attributes and not _is_usual_fill_value(contents):
            lose(losses, path, f"the fill value {contents.fill_value}: in format 2 it would mean a missing value")
        given["fill_value"] = _scalar_of(attributes.pop("_FillValue", None), contents.native_dtype)
    documents: list[dict[str, Any]] = []
    for name in ("filters", "compressors"):
        value = getattr(contents, name)
        if isinstance(value, str):
            given[name] = value
        else:
            documents += value or ()
    if documents or "compressors" not in given:
        byte_order = ">" if contents.native_dtype.byteorder == ">" else "<"
        codecs, lost = to_format_2(documents, len(contents.shape), byte_order)
        for name in lost:
            lose(losses, path, f"the codec {name}: format 2 has none that does the same")
        given = {**codecs, **given}
        if contents.native_dtype.kind in "OT" and not isinstance(given["filters"], str):
            first = {"id": getattr(parse_dtype(contents.dtype, zarr_format=2), "object_codec_id", None)}
            given["filters"] = [first, *given["filters"]] if given["filters"] else "auto"
    return given | {"attributes": attributes}


def _is_usual_fill_value(contents: ArrayContents) -> bool:
    """Return True if writers choose the fill value themselves: zero, or that of NetCDF."""
    dtype, value = contents.native_dtype, contents.fill_value
    if value is None or dtype.kind in "OT":
        return True
    found = np.asarray(value).astype(dtype)
    usual = FILL_VALUES_OF_NETCDF.get(dtype.str[1:])
    return not any(found.tobytes()) or (usual is not None and bool(found == dtype.type(usual)))


# ---------------------------------------------------------------------------------- the attribute _FillValue


def encode_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return ``_FillValue`` as xarray stores it in the attributes of format 3: floats as base64 of 8 bytes.

    Examples
    --------
    >>> encode_fill_value(float("nan"), np.dtype("f4")), encode_fill_value(-1, np.dtype("i2"))
    ('AAAAAAAA+H8=', -1)
    """
    if dtype.kind == "f" and isinstance(value, int | float):
        return base64.standard_b64encode(struct.pack("<d", value)).decode()
    if dtype.kind == "c" and isinstance(value, list) and len(value) == 2:
        return [encode_fill_value(part, np.dtype("f8")) for part in value]
    return value


def decode_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the plain value of an attribute ``_FillValue`` of format 3.

    Examples
    --------
    >>> decode_fill_value("AAAAAAAA+H8=", np.dtype("f4")), decode_fill_value(-1, np.dtype("i2"))
    (nan, -1)
    >>> decode_fill_value("eA==", np.dtype("S1"))
    'x'
    """
    if dtype.kind == "f" and isinstance(value, str):
        try:
            return struct.unpack("<d", base64.standard_b64decode(value))[0]
        except (ValueError, struct.error):
            return value
    if dtype.kind == "S" and isinstance(value, str):
        with suppress(ValueError):
            return plain(base64.b64decode(value, validate=True))
    if dtype.kind == "c" and isinstance(value, list):
        return [decode_fill_value(part, np.dtype("f8")) for part in value]
    return value


def plain(value: Any) -> Any:
    """Return a scalar or an array as JSON values: complex numbers as pairs, bytes as text.

    Examples
    --------
    >>> plain(np.float32(1.5)), plain(np.array([1, 2])), plain(1 + 2j), plain(b"a")
    (1.5, [1, 2], [1.0, 2.0], 'a')
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value


def _scalar_of(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the scalar that a JSON value of :func:`plain` stands for."""
    if dtype.kind == "c" and isinstance(value, list) and len(value) == 2:
        return complex(*value)
    return value.encode("utf-8", "surrogateescape") if dtype.kind in "SV" and isinstance(value, str) else value


def table_of(store: MemoryStore) -> dict[str, str]:
    """Return the contents of a store as texts of a table of references."""
    values = {key: value.to_bytes() for key, value in store._store_dict.items()}
    return {
        key: value.decode() if key.endswith("zarr.json") else f"base64:{base64.b64encode(value).decode()}"
        for key, value in values.items()
    }
