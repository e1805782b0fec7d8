"""Create arrays of Python objects by the parameters of zarr-python 2, which name a codec for objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarr.arrays.create.codecs import SELF_SUFFICIENT_OBJECT_CODECS, as_tuple, is_auto, parse_numcodec
from zarr.dtype import ZDType, get_data_type_from_json
from zarr.errors import ZarrRuntimeWarning, ZarrUserWarning
from zarr.notices import warn

TYPES_OF_OBJECTS: dict[str, tuple[str, str | bytes]] = {
    "vlen-utf8": ("string", ""),
    "vlen-bytes": ("variable_length_bytes", b""),
}
"""For codecs of objects: the data type of format 3 for what they store, and what they store for None."""


def with_object_codec(parameters: Mapping[str, Any], object_codec: Any) -> dict[str, Any]:
    """Return the data type and the filters of an array of Python objects that a codec of numcodecs stores.

    Raises
    ------
    ValueError
        If the value is no codec.
    """
    if object_codec is None:
        parameters, object_codec = implied_object_codec(parameters)
    if object_codec is None:
        return {}
    if not _is_of_objects(parameters["dtype"]):
        return {}
    codec = parse_numcodec(object_codec, "object codec")
    name: Any = {"name": "|O", "object_codec_id": codec.codec_id}
    filters = parameters["filters"]
    others = () if is_auto(filters) else as_tuple(filters)
    return {"dtype": get_data_type_from_json(name, zarr_format=2), "filters": (codec, *others)}


def objects_of_format_3(parameters: Mapping[str, Any], object_codec: Any, translate: bool) -> dict[str, Any]:
    """Return the data type of format 3 for what a codec of objects stores, and its fill value.

    Without ``translate`` the codec has no effect, and the user is warned.

    Raises
    ------
    ValueError
        If format 3 has no such data type: it has those of ``VLenUTF8`` and of ``VLenBytes``.
    """
    if object_codec is None:
        return {}
    if not translate:
        warn("object_codec is not yet implemented", ZarrRuntimeWarning)
        return {}
    if not _is_of_objects(parameters["dtype"]):
        return {}
    codec = parse_numcodec(object_codec, "object codec").codec_id
    if codec not in TYPES_OF_OBJECTS:
        raise ValueError(
            f"format 3 has no data type for what the codec {codec!r} stores: make the group with zarr_format=2, or "
            "store strings with dtype=str"
        )
    (name, empty), fill_value = TYPES_OF_OBJECTS[codec], parameters["fill_value"]
    return {"dtype": name, "fill_value": empty if fill_value in (None, 0) else fill_value}


def _is_of_objects(dtype: Any) -> bool:
    """Return True if a data type is that of Python objects; else warn that a codec for them has no effect."""
    if not isinstance(dtype, ZDType) and np.dtype(dtype).kind == "O":
        return True
    warn("object_codec is for dtype=object; it has no effect on other data types", ZarrUserWarning)
    return False


def without_none(elements: np.ndarray[Any, Any], object_codec: Any) -> np.ndarray[Any, Any]:
    """Return objects in which None is an empty element, if their codec stored it as such in zarr-python 2."""
    codec = parse_numcodec(object_codec, "object codec").codec_id
    if codec not in TYPES_OF_OBJECTS:
        return elements
    missing = elements == np.array(None, dtype=object)
    return np.where(missing, TYPES_OF_OBJECTS[codec][1], elements)


def implied_object_codec(parameters: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    """Return the codec of objects that a data type or the first filter implies, and the parameters without it.

    ``bytes`` means byte strings of variable length, ``"array:i4"`` arrays of variable length, as in zarr-python 2.
    """
    dtype, filters = parameters.get("dtype"), parameters.get("filters")
    if dtype is bytes or (isinstance(dtype, str) and dtype == "bytes"):
        return {**parameters, "dtype": object}, {"id": "vlen-bytes"}
    if isinstance(dtype, str) and dtype.startswith("array:"):
        return {**parameters, "dtype": object}, {"id": "vlen-array", "dtype": dtype.removeprefix("array:")}
    if dtype is object or (isinstance(dtype, str | np.dtype) and dtype in ("O", "object", "|O")):
        listed = () if is_auto(filters) else as_tuple(filters)
        if listed and getattr(listed[0], "codec_id", None) in (*SELF_SUFFICIENT_OBJECT_CODECS, "vlen-array"):
            return {**parameters, "filters": listed[1:] or None}, listed[0]
    return parameters, None
