"""Create arrays by the parameters of ``zarr.create``: those of both formats and of zarr-python 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zarr._lazy import numcodecs
from zarr.abc.codec import BytesBytesCodec, Codec
from zarr.abc.store import Store
from zarr.arrays.create import steps as creation
from zarr.arrays.create.codecs import (
    codecs_for,
    is_auto,
    is_numcodec,
)
from zarr.arrays.create.objects import objects_of_format_3, with_object_codec, without_none
from zarr.arrays.create.parameters import CREATE, CREATE_ARRAY, DEFAULT_FILL_VALUE, FILLS, H5PY_PARAMETERS
from zarr.arrays.handle import ArrayHandle
from zarr.chunks import RectilinearChunkGridMetadata
from zarr.chunks.spec import ArrayConfig, config_with, parse_array_config
from zarr.codecs.base.order import sort_codecs
from zarr.dtype import parse_dtype
from zarr.errors import ZarrRuntimeWarning, ZarrUserWarning
from zarr.metadata.fields import parse_codecs
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.notices import warn
from zarr.runners.locks.synchronizers import with_synchronizer
from zarr.steps.requests import Get, Steps
from zarr.storage.path import StorePath
from zarr.types import parse_shapelike

WITHOUT_EFFECT = (
    "chunk_store",
    "cache_metadata",
    "cache_attrs",
    "read_only",
    "meta_array",
    "partial_decompress",
)


def warn_without_effect(given: Mapping[str, Any], function: str | None = None) -> None:
    """Warn about the given parameters that have no effect.

    Raises
    ------
    TypeError
        If the function has no such parameter, or ``chunk_store`` is given for a member of a group.
    """
    refuse_chunk_store(given)
    unknown = set(given) - set(WITHOUT_EFFECT)
    if unknown and function is not None:
        raise TypeError(f"{function}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    for name in WITHOUT_EFFECT:
        if given.get(name) is not None:
            warn(f"{name} is not yet implemented", ZarrRuntimeWarning)


def refuse_chunk_store(given: Mapping[str, Any]) -> None:
    """Refuse ``chunk_store`` for a member of a group, whose values are where those of the group are.

    Raises
    ------
    TypeError
        If it is given.
    """
    if given.get("chunk_store") is not None:
        raise TypeError("a member of a group has the stores of the group: give chunk_store to what opens the group")


def legacy_array_steps(
    store_path: StorePath,
    shape: Any = None,
    *,
    chunks: Any = None,
    dtype: Any = None,
    compressor: Any = "auto",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Any = None,
    overwrite: bool = False,
    filters: Any = None,
    dimension_separator: str | None = None,
    write_empty_chunks: bool | None = None,
    zarr_format: int | None = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_shape: Any = None,
    chunk_key_encoding: Any = None,
    codecs: Iterable[Any] | None = None,
    dimension_names: Any = None,
    config: Any = None,
    data: Any = None,
    shards: Any = None,
    storage_transformers: Any = None,
    synchronizer: Any = None,
    object_codec: Any = None,
    translate: bool = False,
    **others: Any,
) -> Steps[ArrayHandle]:
    """Create an array by the parameters of ``zarr.create``, with codecs and chunk keys in the terms of either format.

    With ``translate`` (members of a group, which determines the format) parameters of format 2 are translated to format
    3. If no format is given, parameters that only format 2 has select it.

    Raises
    ------
    ValueError
        If a parameter belongs to the other format.
    TypeError
        If there is no such parameter.
    """
    passed = {name: others.pop(name) for name in CREATE_ARRAY if name in others and name in CREATE}
    compressor, fill_value = _translate_older(others, compressor, fill_value, dtype)
    warn_without_effect(others, "create")
    chunks = _one_of_chunks(chunks, chunk_shape)
    dtype = _dtype_of(data) if dtype is None else dtype
    shape, chunks, dtype = with_inner_axes(_shape_of(shape, data), chunks, dtype, data is None)
    how_objects = object_codec if is_numcodec(object_codec) and dtype in (object, "O", "|O") else None
    of_2 = (filters, dimension_separator, how_objects, dtype_of_2(dtype))
    of_3 = (codecs, chunk_key_encoding, dimension_names, shards, storage_transformers)
    zarr_format = yield from choose_format_steps(zarr_format, store_path, compressor, of_2, of_3)
    parameters: dict[str, Any] = {
        "shape": shape,
        "dtype": dtype,
        "chunks": "auto" if zarr_format == 2 and _is_empty(chunks) else chunks,
        "shards": shards,
        "fill_value": fill_value,
        "order": order,
        "overwrite": overwrite,
        "storage_transformers": storage_transformers,
        **passed,
        "zarr_format": zarr_format,
        "attributes": None if attributes is None else dict(attributes),
        "config": with_synchronizer(config_of(config, write_empty_chunks), synchronizer),
    }
    if zarr_format == 2:
        parameters.update(_one_order(order, parameters["config"]))
        _refuse(2, codecs=codecs, chunk_key_encoding=chunk_key_encoding, dimension_names=dimension_names)
        parameters.update(parameters_of_format_2(filters, compressor, dimension_separator, store_path.store))
        parameters.update(with_object_codec(parameters, object_codec))
    else:
        parameters.update(objects_of_format_3(parameters, object_codec, translate))
        parameters.update(parameters_of_format_3(codecs, chunk_key_encoding))
        parameters.update(parameters_of_format_2_in_3(filters, compressor, dimension_separator, translate))
        parameters["dimension_names"] = dimension_names
    if data is None:
        return (yield from creation.create_array_steps(store_path, **parameters))
    elements = _elements_of(data, object_codec)
    how = {"overwrite": parameters.pop("overwrite"), "config": parameters.pop("config")}
    metadata = creation.new_array_metadata(**{**parameters, "shape": elements.shape})
    return (yield from creation.init_array_steps(store_path, metadata, data=elements, **how))


def _dtype_of(data: Any) -> Any:
    """Return the data type of an array that is created without one: that of its data, or float64."""
    if data is None:
        return np.dtype("float64")
    return data.dtype if hasattr(data, "dtype") else np.asanyarray(data).dtype


def _elements_of(data: Any, object_codec: Any) -> Any:
    """Return the data of a new array as an array of NumPy, or on a GPU; without None, where a codec needs that.

    Elements of another data type than that of the new array are cast when they are written.
    """
    elements = data if hasattr(data, "__cuda_array_interface__") else np.asanyarray(data)
    return without_none(elements, object_codec) if object_codec is not None and elements.dtype == object else elements


def _translate_older(others: dict[str, Any], compressor: Any, fill_value: Any, dtype: Any) -> tuple[Any, Any]:
    """Remove the parameters of h5py and names of codecs; return the compressor and the fill value that they mean."""
    # Bytes are compared with bytes only: a record may be a fill value, and cannot be compared with bytes.
    if isinstance(fill_value, bytes) and fill_value == b"" and isinstance(dtype, np.dtype | list):
        record = np.dtype(dtype)
        fill_value = np.zeros((), record)[()] if record.names else fill_value  # the empty record of zarr-python 2
    if not H5PY_PARAMETERS.isdisjoint(others):
        others["compressor"] = "default" if is_auto(compressor) else compressor
        meant = translate_h5py(others)
        compressor = meant.get("compressor", others.pop("compressor"))
        fill_value = meant.get("fill_value", fill_value)
    if isinstance(compressor, list | tuple | str) and not is_auto(compressor):
        compressor = plain_compressor(compressor)
    return "auto" if _is_default(compressor) else compressor, fill_value


def _one_of_chunks(chunks: Any, chunk_shape: Any) -> Any:
    """Return the chunks, given by either name."""
    if chunks is not None and chunk_shape is not None:
        raise ValueError("Only one of chunk_shape or chunks can be provided.")
    return chunk_shape if chunks is None else chunks


def _one_order(order: Any, config: Any) -> dict[str, Any]:
    """Return the order of an array of format 2, which must be the same in the document and in the configuration."""
    parsed = parse_array_config(config)
    if order is None:
        return {"order": parsed.order}
    if order == parsed.order:
        return {}
    return {"config": ArrayConfig.from_dict({**parsed.to_dict(), "order": order})}


def with_inner_axes(shape: Any, chunks: Any, dtype: Any, empty: bool) -> tuple[Any, Any, Any]:
    """Return shape, chunks and data type; the axes of a data type of small arrays become the last axes of the array.

    Chunks that are given for the other axes hold these axes as a whole, as in zarr-python 2.

    Examples
    --------
    >>> with_inner_axes(5, (2,), "(2, 3)f4", True)
    ((5, 2, 3), (2, 2, 3), dtype('float32'))
    """
    if not isinstance(dtype, np.dtype | tuple) and not (isinstance(dtype, str) and dtype.startswith("(")):
        return shape, chunks, dtype
    parsed = np.dtype(dtype)
    if parsed.subdtype is None:
        return shape, chunks, dtype
    base, inner = parsed.subdtype
    whole = (*parse_shapelike(shape), *inner) if empty else shape
    if isinstance(chunks, tuple | list) and len(chunks) == len(whole) - len(inner):
        chunks = (*chunks, *inner)
    return whole, chunks, base


def _shape_of(shape: Any, data: Any) -> Any:
    """Return the shape of the new array: that of the data, if there are any."""
    if data is not None:
        return np.shape(data)
    if shape is None:
        raise TypeError("Expected an integer or an iterable of integers for the shape. Got None instead.")
    return shape


def parameters_of_format_2(filters: Any, compressor: Any, separator: str | None, store: Store) -> dict[str, Any]:
    """Translate the parameters of format 2 for codecs and chunk keys to those of ``create_array``."""
    if isinstance(compressor, BytesBytesCodec) and not hasattr(compressor, "codec_config"):
        raise ValueError(
            "Cannot use a BytesBytesCodec as a compressor for zarr v2 arrays. Use a numcodecs codec directly instead."
        )
    encoding = {"name": "v2", "separator": separator} if separator else creation.store_key_encoding(store)
    return {
        "filters": "auto" if filters is None else filters,
        "compressors": compressor,
        "chunk_key_encoding": encoding,
    }


def parameters_of_format_2_in_3(filters: Any, compressor: Any, separator: str | None, allowed: bool) -> dict[str, Any]:
    """Translate the parameters of format 2 for codecs and chunk keys to those of ``create_array`` for format 3."""
    if not allowed:
        named = None if is_auto(compressor) else repr(compressor)
        _refuse(3, filters=filters, dimension_separator=separator, compressor=named)
    found: dict[str, Any] = {}
    if filters is not None:
        found["filters"] = filters
    if not is_auto(compressor):
        found["compressors"] = compressor
    if separator is not None:
        found["chunk_key_encoding"] = {"name": "default", "separator": separator}
    return found


def dtype_of_2(dtype: Any) -> Any:
    """Return a data type that only format 2 can store; None for any other.

    These are byte strings and arrays of variable length, and records whose fields are arrays.
    """
    if dtype is bytes or (isinstance(dtype, str) and dtype.startswith("array:")):
        return dtype
    if isinstance(dtype, list | np.dtype):
        fields = (getattr(np.dtype(dtype), "fields", None) or {}).values()
        return dtype if any(field[0].subdtype is not None for field in fields) else None
    return None


def choose_format_steps(
    given: int | None, store_path: StorePath, compressor: Any, of_2: Iterable[Any], of_3: Iterable[Any]
) -> Steps[int]:
    """Return the format of an array that is created without an explicit format.

    It is that of the store or of the configuration; but format 2 if there are parameters that only format 2 has, none
    that only format 3 has, and no group of format 3 above.
    """
    if given is not None:
        return given
    default: int = creation.default_zarr_format(store_path.store)
    only_in_2 = not is_auto(compressor) or any(value is not None and not is_auto(value) for value in of_2)
    only_in_3 = isinstance(compressor, BytesBytesCodec) or any(value is not None for value in of_3)
    if default == 2 or not only_in_2 or only_in_3:
        return default
    if store_path.path and (yield Get("zarr.json")) is not None:
        return default
    return 2


def parameters_of_format_3(codecs: Iterable[Any] | None, encoding: Any) -> dict[str, Any]:
    """Translate the parameters of format 3 for codecs and chunk keys to those of ``create_array``."""
    found: dict[str, Any] = {}
    if codecs is not None:
        found.update(zip(("filters", "serializer", "compressors"), sort_codecs(parse_codecs(codecs)), strict=True))
    if isinstance(encoding, tuple):
        encoding = dict(zip(("name", "separator"), encoding, strict=True))
    if encoding is not None:
        found["chunk_key_encoding"] = encoding
    return found


def _is_empty(chunks: Any) -> bool:
    """Return True if a value is empty; an array of NumPy has a truth value only up to one element."""
    if isinstance(chunks, np.ndarray):
        return chunks.size == 0 or (chunks.size == 1 and not chunks.item())
    return not chunks


def config_of(config: Any, write_empty_chunks: bool | None) -> Any:
    """Return the configuration of an array, with a deprecated parameter beside it."""
    if write_empty_chunks is None:
        return config
    warn(
        "The `write_empty_chunks` keyword argument is deprecated: set it by config={'write_empty_chunks': ...}, or for "
        "all arrays by zarr.config.set({'array.write_empty_chunks': ...}).",
        ZarrRuntimeWarning,
    )
    if config is not None:
        warn("Both write_empty_chunks and config keyword arguments are set: write_empty_chunks wins.", ZarrUserWarning)
    return config_with(config, write_empty_chunks=write_empty_chunks)


_INSTEAD = {
    "codecs": " Use filters and compressor instead.",
    "chunk_key_encoding": " Use dimension_separator instead.",
    "dimension_names": "",
    "filters": " Use array-to-array codecs instead.",
    "dimension_separator": " Use chunk_key_encoding instead.",
    "compressor": " Use bytes-to-bytes codecs instead.",
}


def _refuse(zarr_format: int, **parameters: Any) -> None:
    for name, value in parameters.items():
        if value is not None:
            raise ValueError(f"{name} cannot be used for arrays with zarr_format {zarr_format}.{_INSTEAD[name]}")


def like_parameters(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an array like another one; those that the caller gives take precedence.

    Parameters
    ----------
    model : Array, AsyncArray or array-like
        A zarr array gives its chunks, codecs and fill value, too; any other object its shape, dtype and chunks, as far
        as it has them.
    given : mapping
        Parameters of :func:`legacy_array_steps`.
    """
    metadata = getattr(model, "metadata", None)
    if isinstance(metadata, ArrayV2Metadata | ArrayV3Metadata):
        return {**_inherited(metadata, given), **given}
    if not isinstance(getattr(model, "shape", None), tuple):
        model = np.asarray(model)
    inherited = {"shape": tuple(model.shape), "dtype": getattr(model, "dtype", None), "chunks": chunks_of(model)}
    return {**{name: value for name, value in inherited.items() if value is not None}, **given}


def chunks_of(model: Any) -> tuple[int, ...] | None:
    """Return the chunk shape of an object that is no zarr array, as of a dataset of h5py; None if it has none."""
    chunks = getattr(model, "chunks", None)
    if chunks is None and isinstance(getattr(model, "chunklen", None), int):  # of the library bcolz
        chunks = (model.chunklen, *model.shape[1:])
    if isinstance(chunks, tuple) and len(chunks) == len(model.shape) and all(isinstance(each, int) for each in chunks):
        return chunks
    return None


def filled_like(fill: str, model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an array like another one, with the fill value of a name of ``FILLS``, or of "full".

    Raises
    ------
    TypeError
        For "full", if neither the model nor the caller has a fill value.
    """
    parameters = like_parameters(model, {**FILLS.get(fill, {}), **given})
    if fill == "full" and "fill_value" not in parameters:
        raise TypeError("full() missing 1 required positional argument: 'fill_value' (the model has none to lend)")
    return parameters


def _inherited(metadata: ArrayV2Metadata | ArrayV3Metadata, given: Mapping[str, Any]) -> dict[str, Any]:
    inherited: dict[str, Any] = {"shape": metadata.shape, "dtype": metadata.dtype, "fill_value": metadata.fill_value}
    zarr_format = given.get("zarr_format") or metadata.zarr_format
    same = zarr_format == metadata.zarr_format
    if isinstance(metadata, ArrayV2Metadata):
        inherited["chunks"] = metadata.chunks
        if same:
            inherited.update(
                zarr_format=2,
                order=metadata.order,
                compressor=metadata.compressor,
                filters=metadata.filters,
                dimension_separator=metadata.dimension_separator,
            )
        return inherited
    keeps_codecs = same and not {"compressor", "codecs"} & set(given)
    sharding = None if keeps_codecs else metadata.sharding_codec
    inherited["chunks"] = _inherited_chunks(metadata, given) if sharding is None else sharding.chunk_shape
    if same:
        inherited.update(zarr_format=3, chunk_key_encoding=metadata.chunk_key_encoding)
        if "chunks" in given or "chunk_shape" in given:
            del inherited["chunks"]
    if keeps_codecs:
        inherited["codecs"] = _inherited_codecs(metadata, given)
    return inherited


def _inherited_codecs(metadata: ArrayV3Metadata, given: Mapping[str, Any]) -> tuple[Codec, ...]:
    """Return the codecs of a model; for another data type, with a serializer for its elements."""
    if "dtype" not in given:
        return metadata.codecs
    given_dtype = np.dtype("float64") if given["dtype"] is None else given["dtype"]
    dtype = with_inner_axes((), None, given_dtype, True)[2]
    return codecs_for(metadata.codecs, metadata.data_type, parse_dtype(dtype, zarr_format=3))


def _inherited_chunks(metadata: ArrayV3Metadata, given: Mapping[str, Any]) -> Any:
    """Return the stored chunks of a model; of a rectilinear grid those after a resize to the shape.

    The chunks may reach beyond the shape if the model was shrunk: they are kept for a later growth.
    """
    grid = metadata.chunk_grid
    if not isinstance(grid, RectilinearChunkGridMetadata):
        return getattr(grid, "chunk_shape", None)
    shape = parse_shapelike(given["shape"]) if given.get("shape") is not None else metadata.shape
    return grid.resized(metadata.shape, shape) if len(shape) == grid.ndim else grid


def with_one_compressor(parameters: dict[str, Any], zarr_format: int) -> dict[str, Any]:
    """Use the old ``compressor`` as ``compressors``; in format 2 it is the name of the format."""
    compressor = parameters.pop("compressor", "auto")
    if is_auto(compressor):
        return parameters
    if not is_auto(parameters.get("compressors", "auto")):
        raise ValueError("Cannot specify both `compressor` and `compressors`.")
    if zarr_format == 3:
        warn("The `compressor` argument is deprecated. Use `compressors` instead.", ZarrUserWarning)
    parameters["compressors"] = compressor
    return parameters


def dataset_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the parameters of ``create_dataset`` of zarr-python 2 and of h5py.

    Parameters
    ----------
    given : mapping
        ``chunks`` may be a bool, ``compressor`` a single codec, ``dimension_separator`` and ``write_empty_chunks`` are
        moved to their present place; parameters without effect are left out.
    """
    refuse_chunk_store(given)
    ignored = {*WITHOUT_EFFECT, "object_codec", "path"}
    parameters = {name: value for name, value in given.items() if name not in ignored}
    if not H5PY_PARAMETERS.isdisjoint(parameters):
        parameters.update(translate_h5py(parameters))
    if "filters" in parameters and parameters["filters"] is None:
        del parameters["filters"]
    if "compressor" in parameters:
        compressor = plain_compressor(parameters.pop("compressor"))
        if not _is_default(compressor):
            parameters["compressors"] = compressor
    separator = parameters.pop("dimension_separator", None)
    if separator is not None:
        parameters["chunk_key_encoding"] = {"name": "v2", "separator": separator}
    config = with_synchronizer(parameters.pop("config", None), parameters.pop("synchronizer", None))
    write_empty = parameters.pop("write_empty_chunks", None)
    if write_empty is not None:
        config = config_with(config, write_empty_chunks=write_empty)
    if config is not None:
        parameters["config"] = config
    if parameters.get("data") is not None:
        parameters["data"] = np.asarray(parameters["data"])
        parameters.pop("shape", None)
        dtype = parameters.pop("dtype", None)
        if dtype is not None:
            # Of any length: for NumPy the type str is as long as the longest text of these data.
            strings = dtype is str or (isinstance(dtype, str) and dtype in ("str", "string"))
            parameters["data"] = parameters["data"].astype(np.dtypes.StringDType() if strings else dtype)
    elif parameters.get("dtype") is None:
        parameters["dtype"] = np.dtype("float64")
    return parameters


# ----------------------------------------------------------------------------------------------- parameters of h5py


def translate_h5py(given: dict[str, Any]) -> dict[str, Any]:
    """Take the parameters of h5py out of a call, and return their meaning as parameters of format 2.

    Parameters without effect give a warning; so do ``compression`` and its options beside a ``compressor``.

    Parameters
    ----------
    given : dict
        Changed in place.

    Returns
    -------
    dict
        ``compressor`` or ``fill_value``, or both, or nothing.

    Raises
    ------
    ValueError
        If there is no such compression.

    Examples
    --------
    >>> given = {"compression": "gzip", "compression_opts": 9, "chunks": 5}
    >>> translate_h5py(given), given
    ({'compressor': GZip(level=9)}, {'chunks': 5})
    """
    left = {name: given.pop(name) for name in H5PY_PARAMETERS & given.keys()}
    found: dict[str, Any] = {}
    if not _is_default(given.get("compressor", "default")) or "compressors" in given:
        for name in ("compression", "compression_opts"):
            if left.pop(name, None) is not None:
                warn(f"{name} has no effect beside compressor", ZarrUserWarning)
    elif "compression" in left:
        found["compressor"] = codec_by_name(left.pop("compression"), left.pop("compression_opts", None))
    if "fillvalue" in left:
        found["fill_value"] = left.pop("fillvalue")
    for name in sorted(left):
        if left[name] is not None and left[name] is not False:
            warn(f"ignoring keyword argument {name!r}", ZarrUserWarning)
    return found


def _is_default(compressor: Any) -> bool:
    """Return True if zarr-python 2 would choose the compressor."""
    return isinstance(compressor, str) and compressor == "default"


def codec_by_name(compression: Any, options: Any = None) -> Any:
    """Return the codec for a name and options; None for no compression.

    Parameters
    ----------
    compression : str, codec or None
        The name of a codec of numcodecs.
    options : optional
        Its parameters: a mapping by name, a sequence by position, or the first one.

    Raises
    ------
    ValueError
        If there is no codec of that name.

    Examples
    --------
    >>> codec_by_name("blosc", ("zstd", 1)), codec_by_name("none")
    (Blosc(cname='zstd', clevel=1, shuffle=SHUFFLE, blocksize=0), None)
    """
    if compression is None or compression == "none":
        return None
    if not isinstance(compression, str):
        return compression
    if compression in ("default", "auto"):
        return compression
    kind = type(numcodecs.get_codec({"id": compression}))
    if options is None:
        return kind()
    if isinstance(options, Mapping):
        return kind(**options)
    return kind(*options) if isinstance(options, list | tuple) else kind(options)


def plain_compressor(compressor: Any) -> Any:
    """Return a compressor in its present form: an empty list is none, a name is the codec of that name."""
    if isinstance(compressor, list | tuple) and not compressor:
        return None
    return codec_by_name(compressor) if isinstance(compressor, str) else compressor
