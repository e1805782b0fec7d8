"""The creation of an array: make its metadata document from its parameters, and write it."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from zarr._lazy import LazyModule, instance_of
from zarr.abc.codec import Codec
from zarr.abc.store import Store
from zarr.arrays.create.codecs import choose_codecs_v2, choose_codecs_v3, is_auto
from zarr.arrays.create.parameters import METADATA_DEFAULTS, DefaultFillValue, refuse_unknown
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.writing import setitem_steps
from zarr.arrays.layout import foreign_buffers
from zarr.chunks import create_chunk_grid_metadata, normalize_chunks, resolve_outer_and_inner_chunks
from zarr.chunks.keys import ChunkKeyEncodingLike, V2ChunkKeyEncoding, parse_chunk_key_encoding
from zarr.chunks.spec import ArrayConfigLike, parse_array_config
from zarr.defaults import settings
from zarr.dtype import ZDType, parse_dtype
from zarr.errors import ZarrRuntimeWarning
from zarr.metadata.cache import find_members, has_whole_shards, is_sharable, keep, known_documents
from zarr.metadata.documents import plain
from zarr.metadata.fields import warn_whole_shards
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.notices import warn
from zarr.steps.consolidated import record_changes_steps
from zarr.steps.nodes import write_node
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath
from zarr.types import ShapeLike, ZarrFormat, parse_shapelike

if TYPE_CHECKING:
    from zarr.chunks import ChunkGridMetadata
    from zarr.codecs import crc32c_, sharding
else:
    crc32c_, sharding = LazyModule("zarr.codecs.crc32c_"), LazyModule("zarr.codecs.sharding")


def default_zarr_format(store: Store | None = None) -> ZarrFormat:
    """Return the format of a new node if the user gives none: that of the store, else the configured one."""
    own = getattr(store, "default_zarr_format", None)
    return cast("ZarrFormat", int(settings.get("default_zarr_format") if own is None else own))


def warn_order() -> None:
    """Warn that ``order`` has no effect on a format 3 array."""
    warn(
        "The `order` keyword argument has no effect for Zarr format 3 arrays. To control the memory layout of the "
        "array, either use the `config` keyword argument, as in `config={'order': 'C'}`, or change the global "
        "'array.order' configuration variable.",
        ZarrRuntimeWarning,
    )


# ----------------------------------------------------------------------------------------------- metadata


def new_array_metadata(
    *, attributes: Mapping[str, Any] | None = None, **given: Any
) -> ArrayV2Metadata | ArrayV3Metadata:
    """Return the metadata document of a new array, all defaults filled in.

    Parameters
    ----------
    attributes : mapping, optional
    **given
        The parameters of ``METADATA_DEFAULTS``; shape and dtype are required.

    Raises
    ------
    ValueError
        If parameters contradict each other or the format.
    TypeError
        If there is no such parameter.

    Examples
    --------
    >>> new_array_metadata(shape=(4,), dtype="int8", chunks=(2,)).chunks
    (2,)
    """
    parameters: dict[str, Any] = {**METADATA_DEFAULTS, **given}
    if len(parameters) != len(METADATA_DEFAULTS):
        refuse_unknown("create_array", given, METADATA_DEFAULTS)
    zarr_format = parameters["zarr_format"]
    if zarr_format is None:
        zarr_format = parameters["zarr_format"] = default_zarr_format()
    known = known_documents()
    # Automatic shards depend on the configuration, too, and each choice warns.
    lasting = zarr_format == 3 and parameters["order"] is None and not isinstance(parameters["shards"], str)
    key = kind_key(parameters) if lasting else None
    members = find_members(known, key)
    if members is not None:
        members["attributes"] = plain(dict(attributes)) if attributes else {}
        return ArrayV3Metadata.of_members(members)
    metadata = _make_metadata(**{**parameters, "attributes": attributes})
    if isinstance(metadata, ArrayV3Metadata):
        metadata.keep_frames()
        if has_whole_shards(metadata.codecs):
            warn_whole_shards()
        elif is_sharable(metadata.__dict__):
            keep(known, metadata.__dict__, (key, None))
    return metadata


_NO_RECTILINEAR = "Zarr format 2 does not support rectilinear chunk grids. Pass chunks= with one length for each axis."


def _make_metadata(**given: Any) -> ArrayV2Metadata | ArrayV3Metadata:
    zarr_format: ZarrFormat = given["zarr_format"]
    if zarr_format not in (2, 3):
        raise ValueError(f"Invalid value for 'zarr_format'. Expected 2 or 3. Got '{zarr_format}'.")
    zdtype = parse_dtype(given["dtype"], zarr_format=zarr_format)
    shape = parse_shapelike(given["shape"])
    grid = normalize_chunks(given["chunks"], shape, item_size_of(zdtype), sharded=given["shards"] is not None)
    common = {
        "shape": shape,
        "fill_value": choose_fill_value(zdtype, given["fill_value"], zarr_format),
        "attributes": plain(dict(given["attributes"] or {})),
    }
    return (_metadata_v2 if zarr_format == 2 else _metadata_v3)(zdtype, grid, given, common)


def _metadata_v2(
    zdtype: ZDType[Any, Any], grid: Any, given: Mapping[str, Any], common: dict[str, Any]
) -> ArrayV2Metadata:
    _refuse_shards(given["shards"], common["shape"], grid, zdtype)
    _refuse_parameters_of_v3(given)
    if not grid.is_regular:
        raise ValueError(_NO_RECTILINEAR)
    filters, compressor = choose_codecs_v2(zdtype, given["filters"], given["compressors"])
    return ArrayV2Metadata(
        dtype=zdtype,
        chunks=grid.chunk_shape,
        order=settings.get("array.order") if given["order"] is None else given["order"],
        filters=filters,
        compressor=compressor,
        dimension_separator=separator_v2(given["chunk_key_encoding"]),
        **common,
    )


def _metadata_v3(
    zdtype: ZDType[Any, Any], grid: Any, given: Mapping[str, Any], common: dict[str, Any]
) -> ArrayV3Metadata:
    if given["order"] is not None:
        warn_order()
    shards, encoding, names = given["shards"], given["chunk_key_encoding"], given["dimension_names"]
    transformers = given["storage_transformers"]
    codecs = choose_codecs_v3(zdtype, given["filters"], given["serializer"], given["compressors"])
    if given["checksum"] and not isinstance(codecs[-1], crc32c_.Crc32cCodec):
        codecs = (*codecs, crc32c_.Crc32cCodec())
    outer, codecs = with_shards(common["shape"], grid, shards, zdtype, codecs)
    return ArrayV3Metadata(
        data_type=zdtype,
        chunk_grid=grid_document(given["chunks"] if shards is None else shards, outer),
        chunk_key_encoding=parse_chunk_key_encoding(
            {"name": "default", "separator": "/"} if encoding is None else encoding
        ),
        codecs=codecs,
        dimension_names=None if names is None else tuple(names) or None,
        storage_transformers=None if transformers is None else [dict(t) for t in transformers],
        **common,
    )


def grid_document(given: Any, grid: Any) -> ChunkGridMetadata:
    """Return the description of a grid: unchanged if the user gave one, else in the simplest form."""
    if instance_of(given, "zarr.chunks.rectilinear", "RectilinearChunkGridMetadata"):
        return cast("ChunkGridMetadata", given)
    return create_chunk_grid_metadata(grid)


def item_size_of(zdtype: ZDType[Any, Any]) -> int:
    """Return the bytes of an element, for the choice of chunks; strings of variable length count as one."""
    return max(1, int(getattr(zdtype, "item_size", 1) or 1))


def choose_fill_value(zdtype: ZDType[Any, Any], fill_value: Any, zarr_format: int) -> Any:
    """Return the fill value as a scalar of the data type; in format 2 None stays None, an undefined fill value."""
    if isinstance(fill_value, DefaultFillValue) or (fill_value is None and zarr_format == 3):
        return zdtype.default_scalar()
    if fill_value is None:
        return None
    try:
        return zdtype.cast_scalar(fill_value)
    except (ValueError, TypeError, OverflowError) as error:
        if type(error) not in (ValueError, TypeError, OverflowError):
            raise
        raise type(error)(f"{error} (the fill value {fill_value!r} of an array of {zdtype})") from error


def _refuse_shards(shards: Any, shape: tuple[int, ...], grid: Any, zdtype: ZDType[Any, Any]) -> None:
    if shards is None:
        return
    # Check the shards, and warn about them, as in format 3.
    size = item_size_of(zdtype)
    resolve_outer_and_inner_chunks(array_shape=shape, chunks=grid, shard_shape=shards, item_size=size)
    raise ValueError(
        "Zarr format 2 arrays can only be created with `shard_shape` set to `None`. "
        f"Got `shard_shape={shards}` instead."
    )


def _refuse_parameters_of_v3(given: Mapping[str, Any]) -> None:
    """Refuse parameters that only format 3 has."""
    if given["checksum"]:
        raise ValueError("checksum=True belongs to Zarr format 3; in format 2 a checksum is a filter of numcodecs.")
    if given["storage_transformers"]:
        raise ValueError("Zarr format 2 arrays do not support storage transformers.")
    if not is_auto(given["serializer"]):
        raise ValueError("Zarr format 2 arrays do not support `serializer`.")
    if given["dimension_names"] is not None:
        raise ValueError("Zarr format 2 arrays do not support dimension names.")


def store_key_encoding(store: Store) -> dict[str, Any]:
    """Return the default chunk key encoding in format 2: with the separator of the store, if it has one."""
    return {"name": "v2", "separator": getattr(store, "dimension_separator", None) or "."}


def separator_v2(encoding: ChunkKeyEncodingLike | None) -> Any:
    """Return the dimension separator of a format 2 array.

    Raises
    ------
    ValueError
        If the encoding is not that of format 2.
    """
    if encoding is None:
        return "."
    parsed = parse_chunk_key_encoding(encoding)
    if not isinstance(parsed, V2ChunkKeyEncoding):
        raise ValueError(
            "Invalid chunk key encoding. For Zarr format 2 arrays, the `name` field of the chunk key encoding must be "
            f"'v2'. Got `name` = {parsed.name} instead."
        )
    return parsed.separator


def with_shards(
    shape: tuple[int, ...], grid: Any, shards: Any, zdtype: ZDType[Any, Any], codecs: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    """Return the grid of stored objects and its codecs: those of the chunks, or a shard with them."""
    if shards is None:
        return grid, codecs
    size = item_size_of(zdtype)
    layout = resolve_outer_and_inner_chunks(array_shape=shape, chunks=grid, shard_shape=shards, item_size=size)
    location = shards.get("index_location") if isinstance(shards, Mapping) else None
    codec = sharding.ShardingCodec(
        chunk_shape=grid.chunk_shape,
        codecs=codecs,
        index_location="end" if location is None else location,
    )
    return layout.outer_chunks, (codec,)


# ----------------------------------------------------------------------------------------------- repeated creations
# A program that creates a thousand arrays mostly uses the same parameters a thousand times. The first result is frozen
# and shared, like documents that are read again; see :mod:`zarr.metadata.cache`.

_SCALARS: Final = frozenset((str, int, float, bool, type(None), complex))
_QUIET_KINDS: Final = "biufc"  # data types that are chosen without a warning
_PLAIN: Final = 0  # the form of marshal in which equal values have equal bytes


def kind_key(parameters: Mapping[str, Any]) -> bytes | None:
    """Return the parameters of a new array as bytes, equal only for equal parameters.

    Parameters
    ----------
    parameters : mapping
        Those of :func:`new_array_metadata`, except for the attributes.

    Returns
    -------
    bytes or None
        None if a parameter may change later, is of a foreign class, or is more than its value.

    Examples
    --------
    >>> one, other = {"shape": (2,), "dtype": "int8"}, {"shape": (True,), "dtype": "int8"}
    >>> kind_key(one) == kind_key(dict(one)), kind_key(one) == kind_key(other)
    (True, False)
    """
    try:
        plain = []
        for name, value in parameters.items():
            kind = type(value)
            if name == "dtype":
                plain.append(_plain_dtype(value))
            elif kind in _SCALARS or (kind is tuple and _SCALARS.issuperset(map(type, value))):
                plain.append(value)
            else:
                plain.append(... if kind is DefaultFillValue else _plain(value))
        return b"kind" + marshal.dumps(plain, _PLAIN)
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    """Return a value as a list that can be compared, with its type; raise ValueError if that is impossible."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is list:
        return [kind.__name__, list(map(_plain, value))]
    if isinstance(value, Codec) and kind.__module__.startswith("zarr.codecs."):
        # Use all fields, not only those of ``__eq__``: the array decides fields that were left open.
        return [f"{kind.__module__}.{kind.__qualname__}", list(map(_plain, vars(value).values()))]
    if kind is frozenset:
        return ["set", sorted(value)]
    raise ValueError(kind)


def _plain_dtype(value: Any) -> Any:
    if type(value) is not str and isinstance(value, ZDType):
        raise ValueError("dtype")
    try:
        dtype = value if isinstance(value, np.dtype) else np.dtype(value)
    except TypeError:
        raise ValueError("dtype") from None
    if dtype.kind not in _QUIET_KINDS or dtype.metadata:
        raise ValueError("dtype")
    # The format and NumPy have different names for one type, so the written name is part of the value.
    return dtype.str, value if type(value) is str else ""


# ----------------------------------------------------------------------------------------------- steps


def create_array_steps(
    store_path: StorePath,
    *,
    shape: ShapeLike | None = None,
    dtype: Any = None,
    data: Any = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    write_data: bool = True,
    **parameters: Any,
) -> Steps[ArrayHandle]:
    """Create an array, and write the data if there are any.

    Parameters
    ----------
    store_path : StorePath
    shape, dtype
        Required without ``data``, refused with it.
    data : array-like, optional
    overwrite : bool
        If True, delete first the node that is at its place.
    config : ArrayConfig or dict, optional
    write_data : bool
        If True, write ``data``; if False, take only its shape and data type.
    **parameters
        As for :func:`new_array_metadata`.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there and ``overwrite`` is False.
    """
    if data is not None:
        refuse_beside_data(shape, dtype)
        if not (hasattr(data, "shape") and hasattr(data, "dtype")):
            data = np.asarray(data)
        shape, dtype = data.shape, data.dtype
    if shape is None or dtype is None:
        missing, needed = ("shape", "a value for data") if shape is None else ("dtype", "an array-like value for data")
        raise ValueError(
            f"The data parameter was set to None, but {missing} was not specified. "
            f"Either provide {needed}, or specify {missing}."
        )
    if parameters.get("zarr_format") == 2 and parameters.get("chunk_key_encoding") is None:
        parameters["chunk_key_encoding"] = store_key_encoding(store_path.store)
    metadata = new_array_metadata(shape=shape, dtype=dtype, **parameters)
    contents = data if write_data else None
    return init_array_steps(store_path, metadata, overwrite=overwrite, config=config, data=contents)


def refuse_beside_data(shape: Any, dtype: Any) -> None:
    """Refuse a shape or a data type beside data, which determine both."""
    for name, value in (("shape", shape), ("dtype", dtype)):
        if value is not None:
            raise ValueError(
                f"The data parameter was used, but the {name} parameter was also used. This is an error. "
                f"Either use the data parameter, or the {name} parameter, but not both."
            )


def init_array_steps(
    store_path: StorePath,
    metadata: ArrayV2Metadata | ArrayV3Metadata,
    *,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    data: Any = None,
) -> Steps[ArrayHandle]:
    """Create an array from a metadata document; its data are written before the document.

    A codec pipeline of another library stores chunks itself, and knows no node that is built aside: it writes after the
    array was created.
    """
    parsed = parse_array_config(config)
    complete = getattr(store_path.store, "settled_document", None)
    if complete is not None:  # data read back from the store may differ from the written data
        metadata = ArrayV2Metadata.from_dict(complete(metadata.to_dict()))
    handle = ArrayHandle(store_path, metadata, parsed)
    locking = parsed.locking
    contents = None if data is None else lambda: setitem_steps(handle, Ellipsis, data, handle.layout.alone)
    direct = handle.serving is store_path.store and not foreign_buffers(handle.bound_pipeline)
    (documents,) = yield write_node(store_path, metadata, overwrite, contents if direct else None, locking)
    handle.state.documents = documents
    if contents is not None and not direct:
        yield from handle.from_outside_steps(contents())
    if store_path.path:
        changes = {store_path.path: documents}
        replaced = changes if overwrite else ()
        yield from record_changes_steps(store_path.store, changes, replaced=replaced, locking=locking)
    return handle

