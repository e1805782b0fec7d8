"""What the groups of zarr-python 2 and 3 called the same parameters of a new array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarr.arrays.create.codecs import is_auto, parse_numcodec
from zarr.dtype import ZDType, get_data_type_from_json
from zarr.errors import ZarrRuntimeWarning, ZarrUserWarning
from zarr.notices import warn, warn_once
from zarr.runners.locks.synchronizers import with_synchronizer


def with_one_compressor(parameters: dict[str, Any], zarr_format: int) -> dict[str, Any]:
    """Let the old ``compressor`` stand for ``compressors``; in format 2 it is the word of the format."""
    compressor = parameters.pop("compressor", "auto")
    if isinstance(compressor, str) and compressor == "auto":
        return parameters
    compressors = parameters.get("compressors", "auto")
    if not (isinstance(compressors, str) and compressors == "auto"):
        raise ValueError("Cannot specify both `compressor` and `compressors`.")
    if zarr_format == 3:
        warn("The `compressor` argument is deprecated. Use `compressors` instead.", ZarrUserWarning)
    parameters["compressors"] = compressor
    return parameters


def with_object_codec(parameters: Mapping[str, Any], object_codec: Any) -> dict[str, Any]:
    """The data type and the filters of an array of Python objects, where a codec of numcodecs says how they are stored.

    Raises
    ------
    ValueError
        What is given is no codec.
    """
    if object_codec is None:
        parameters, object_codec = implied_object_codec(parameters)
    if object_codec is None:
        return {}
    if isinstance(parameters["dtype"], ZDType) or np.dtype(parameters["dtype"]).kind != "O":
        warn_once("object_codec is for dtype=object; it has no effect on other data types", ZarrRuntimeWarning)
        return {}
    codec = parse_numcodec(object_codec, "object codec")
    name: Any = {"name": "|O", "object_codec_id": codec.codec_id}
    filters = parameters["filters"]
    others = () if is_auto(filters) or filters is None else tuple(filters)
    return {"dtype": get_data_type_from_json(name, zarr_format=2), "filters": (codec, *others)}


def with_empty_chunks(config: Any, write_empty_chunks: bool) -> Any:
    """The configuration of an array, with what was once a parameter beside it."""
    given = {} if config is None else dict(config) if isinstance(config, Mapping) else config.to_dict()
    return {**given, "write_empty_chunks": write_empty_chunks}


def one_chunk(shape: Any) -> tuple[int, ...]:
    """The chunk shape of an array that is all one chunk; chunks have a length even where the array has none."""
    lengths = (shape,) if isinstance(shape, int | np.integer) else shape
    return tuple(max(int(length), 1) for length in lengths)


OBJECT_CODECS = ("vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2", "pickle")


def implied_object_codec(parameters: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    """The codec of objects that a data type or the first filter stands for, and the parameters without it.

    ``bytes`` means byte strings of any length, ``"array:i4"`` arrays of any length, as in zarr-python 2.
    """
    dtype, filters = parameters["dtype"], parameters["filters"]
    if dtype is bytes:
        return {**parameters, "dtype": object}, {"id": "vlen-bytes"}
    if isinstance(dtype, str) and dtype.startswith("array:"):
        return {**parameters, "dtype": object}, {"id": "vlen-array", "dtype": dtype.removeprefix("array:")}
    if dtype is object or (isinstance(dtype, str | np.dtype) and dtype in ("O", "object", "|O")):
        listed = () if is_auto(filters) or filters is None else tuple(filters)
        if listed and getattr(listed[0], "codec_id", None) in OBJECT_CODECS:
            return {**parameters, "filters": listed[1:] or None}, listed[0]
    return parameters, None


OLD_NOTHINGS = (
    "chunk_store", "cache_metadata", "cache_attrs", "object_codec", "meta_array", "path", "partial_decompress",
)  # fmt: skip


def dataset_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the parameters of ``create_dataset`` of zarr-python 2 and of h5py.

    Parameters
    ----------
    given : mapping
        ``chunks`` may be a bool, ``compressor`` a single codec, ``dimension_separator`` and ``write_empty_chunks`` go
        where they belong now; what has no effect any more is left out.

    Returns
    -------
    dict
    """
    parameters = {name: value for name, value in given.items() if name not in OLD_NOTHINGS}
    for name in ("chunks", "filters"):
        if name in parameters and parameters[name] is None:
            del parameters[name]
    chunks = parameters.get("chunks")
    if chunks is True:
        del parameters["chunks"]
    elif chunks is False:
        shape = parameters.get("shape")
        parameters["chunks"] = one_chunk(np.shape(parameters["data"]) if shape is None else shape)
    if "compressor" in parameters:
        parameters["compressors"] = parameters.pop("compressor")
    separator = parameters.pop("dimension_separator", None)
    if separator is not None:
        parameters["chunk_key_encoding"] = {"name": "v2", "separator": separator}
    config = with_synchronizer(parameters.pop("config", None), parameters.pop("synchronizer", None))
    write_empty = parameters.pop("write_empty_chunks", None)
    if write_empty is not None:
        config = with_empty_chunks(config, write_empty)
    if config is not None:
        parameters["config"] = config
    if parameters.get("data") is not None:
        parameters["data"] = np.asarray(parameters["data"])
        parameters.pop("shape", None)
        dtype = parameters.pop("dtype", None)
        if dtype is not None:
            parameters["data"] = parameters["data"].astype(dtype)
    elif parameters.get("dtype") is None:
        parameters["dtype"] = np.dtype("float64")
    return parameters
