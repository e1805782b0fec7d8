"""The parameters of a new array: types, defaults and descriptions, written once for all functions that create.

A parameter is one line in a record (its type, for type checkers), one entry in the docstring of the record (its
description in ``help()``) and one line in a table of defaults. Functions that end in ``**parameters: Unpack[record]``
get their signature and the rest of their documentation by :func:`takes`. ``steps.py`` acts on the parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, TypeVar

from zarr.older_calls import IN_ORDER_OF_CREATE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from zarr.abc.codec import Codec
    from zarr.abc.numcodec import Numcodec
    from zarr.arrays.create.codecs import CompressorLike, CompressorsLike, FiltersLike, SerializerLike
    from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike
    from zarr.chunks.spec import ArrayConfigLike
    from zarr.codecs.base.shard_level import IndexLocation
    from zarr.dtype import ZDTypeLike
    from zarr.storage.resolve import StoreLike
    from zarr.types import JSON, AccessModeLiteral, ChunksLike, DimensionNamesLike, MemoryOrder, ShapeLike, ZarrFormat

F = TypeVar("F", bound=Callable[..., Any])


class DefaultFillValue:
    """The type of the mark that stands for the default fill value of the data type."""

    _instance: DefaultFillValue | None = None

    def __new__(cls) -> DefaultFillValue:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "DEFAULT_FILL_VALUE"

    def __reduce__(self) -> str:
        return "DEFAULT_FILL_VALUE"


DEFAULT_FILL_VALUE = DefaultFillValue()


# ------------------------------------------------------------------------------------------------ records


class ShardsConfigParam(TypedDict):
    """Shards with an explicit place of their index."""

    shape: tuple[int, ...]
    index_location: IndexLocation | None


ShardsLike: TypeAlias = tuple[int, ...] | ShardsConfigParam | Literal["auto"]


class AnyNewArray(TypedDict, total=False):
    """The parameters of all functions that create an array."""

    fill_value: Any | None
    order: MemoryOrder | None
    zarr_format: ZarrFormat | None
    attributes: dict[str, JSON] | None
    dimension_names: DimensionNamesLike
    storage_options: dict[str, Any] | None
    overwrite: bool
    config: ArrayConfigLike | None


class CreateArray(AnyNewArray, total=False):
    """The parameters of ``create_array``.

    Parameters
    ----------
    shape : int or tuple of int, optional
        Number of elements along each dimension; one int means one dimension. Give it if and only if ``data`` is not
        given.
    dtype : data type, optional
        A data type of NumPy or of Zarr, or the name of one. Give it if and only if ``data`` is not given: there is no
        default.
    data : array-like, optional
        Elements to fill the array with. They determine its shape and data type. A zarr array is copied block by
        block, with its fill value, attributes and dimension names.
    chunks : int, tuple of int, nested lists of int, or "auto"
        Number of elements of a chunk along each dimension. One int is used for all dimensions. A list of ints gives
        the length of each chunk along a dimension (a rectilinear grid, format 3). "auto", the default of
        ``create_array``, chooses chunks of about the proportions of the array. Before compression a chunk has about
        256 KiB in an array of 1 MiB, and twice as much for each tenfold size of the array; but about 128 KiB or more,
        and at most 64 MiB (1 MiB within shards).
    shards : tuple of int, dict, nested lists of int, "auto" or None
        Format 3: number of elements of a shard along each dimension. A shard is one stored object with several
        chunks, so each length is a multiple of the chunk's. None, the default of ``create_array``, stores every chunk
        as an object of its own. "auto" puts two chunks into a shard along each axis that has more than eight; or as
        many as fit into the setting ``array.target_shard_size_bytes``, if that is set. A dict has the keys "shape"
        and "index_location" ("start" or "end").
    filters : codec, list of codecs, "auto" or None
        Array-to-array codecs, which run first when a chunk is written, in the order given. A codec is an object, or
        a dict as in the metadata document. None means no filters. "auto", the default of ``create_array``, means none
        too; but in format 2 it means the object codec that a data type of objects or text needs.
    compressors : codec, list of codecs, "auto" or None
        Bytes-to-bytes codecs, which run last, in the order given. "auto", the default of ``create_array``, means
        Zstandard at level 0, which stands for the default level of the Zstandard library; for methods of a group of
        format 2 it means Blosc. None means no compressor. Format 2 allows one at most.
    compressor : codec
        Former name of ``compressors``; give only one of the two.
    serializer : codec or "auto"
        Format 3: the array-to-bytes codec, which runs after the filters and before the compressors. "auto", the
        default of ``create_array``, means ``bytes`` (the elements in little-endian order); for strings of any length
        it means ``vlen-utf8``, and for bytes of any length ``vlen-bytes``.
    fill_value : scalar, optional
        The value of elements that were never written. Chunks in which all elements have this value are not stored.
        The default is zero, False or the empty string, according to the data type. None means this default in format
        3; in format 2 it means that such elements are undefined.
    order : "C" or "F", optional
        Format 2: the order of elements in a stored chunk. By default that of the setting ``array.order``, which is
        "C". It has no effect in format 3. The order of arrays in memory is the key "order" of ``config``, in both
        formats.
    zarr_format : 2, 3 or None
        The format to write, by default 3. None takes the setting ``default_zarr_format``, which is 3, too.
    attributes : dict, optional
        Attributes of the array: a dict of JSON values. By default there are none.
    chunk_key_encoding : ChunkKeyEncoding or dict, optional
        The names of chunks in the store. By default ``{"name": "default", "separator": "/"}``, as in "c/0/1"; in
        format 2 ``{"name": "v2", "separator": "."}``, as in "0.1".
    dimension_names : list of str or None, optional
        Format 3: a name for each dimension, or None for a dimension without a name. By default there are no names.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none. They have no effect in
        methods of a group, which has its store already.
    overwrite : bool
        If True, delete the array or group that is there, with all nodes below it, before the array is made. If False,
        the default, raise an error if an array or a group is there.
    config : ArrayConfig or dict, optional
        Run-time behaviour of the returned object, which is not stored: "order" (of arrays in memory),
        "write_empty_chunks" (if True, store chunks that hold the fill value only), "read_missing_chunks",
        "locking" and more; :class:`zarr.core.array_spec.ArrayConfig` describes all. By default the settings
        ``array.*`` of :data:`zarr.config`.
    write_data : bool
        If True, the default, write ``data`` to the array. If False, take only the shape and the data type of it.
    checksum : bool
        Format 3: if True, add the codec ``crc32c`` at the end of the codecs, unless it is there already. Then every
        chunk (within shards: every inner chunk) is stored with a CRC-32C checksum, and reading a damaged one raises
        ``ChunkChecksumError``. By default False.
    """

    shape: ShapeLike | None
    dtype: ZDTypeLike | None
    data: np.ndarray[Any, np.dtype[Any]] | None
    chunks: ChunksLike | Literal["auto"]
    shards: ShardsLike | None
    filters: FiltersLike
    compressors: CompressorsLike
    serializer: SerializerLike
    chunk_key_encoding: ChunkKeyEncodingLike | None
    write_data: bool
    checksum: bool


class CreateMember(CreateArray, total=False):
    """The parameters of the methods ``create_array`` of groups; the format comes from the group."""

    compressor: CompressorLike


class FromArray(AnyNewArray, total=False):
    """The parameters of ``from_array``.

    Parameters without a description here, and more about the first five, are described at ``CreateArray``.

    Parameters
    ----------
    chunks, shards, filters, compressors, serializer
        "keep", the default of ``from_array``, takes those of ``data``.
    fill_value : scalar, optional
        By default that of ``data``, or that of its dtype.
    zarr_format : 2, 3 or None
        By default that of ``data``; 3 if it is no zarr array.
    attributes : dict, optional
        By default those of ``data``.
    dimension_names : list of str or None, optional
        By default those of ``data``. Format 3.
    """

    chunks: ChunksLike | Literal["auto", "keep"]
    shards: ShardsLike | Literal["keep"] | None
    filters: FiltersLike | Literal["keep"]
    compressors: CompressorsLike | Literal["keep"]
    serializer: SerializerLike | Literal["keep"]
    chunk_key_encoding: ChunkKeyEncodingLike | None


class Create(AnyNewArray, total=False):
    """The parameters of ``create``, which include those of zarr-python 2.

    Parameters without a description here are described at ``CreateArray``.

    Parameters
    ----------
    chunks : int, tuple of int, bool or None
        As for :func:`zarr.create_array`; None and True mean "auto", False one chunk.
    dtype : data type, optional
        A data type of NumPy or of Zarr, or its name; by default float64.
    compressor : codec, dict or None
        Format 2: the compressor, by default ("auto") Zstandard, None for none. Format 3 has ``codecs`` instead.
    store : StoreLike
        A path, a URL, a store or a mapping. None, the default, makes a new store in memory.
    synchronizer : ThreadSynchronizer or ProcessSynchronizer, optional
        Locks for partial writes; see ``locking`` in :class:`zarr.core.array_spec.ArrayConfig`.
    path : str, optional
        Path of the array below the place that ``store`` names.
    filters : list of codecs, optional
        Format 2: codecs of numcodecs that run before the compressor.
    object_codec : numcodecs.abc.Codec, optional
        Format 2: the codec that stores the Python objects of an array of ``dtype=object``.
    dimension_separator : "." or "/", optional
        Format 2: the separator in names of chunks, by default ".".
    write_empty_chunks : bool, optional
        Deprecated: give it in ``config``. By default False.
    zarr_format : 2, 3 or None
        By default the setting ``default_zarr_format`` (3); 2 if parameters are given that only format 2 has.
    chunk_shape : tuple of int, optional
        Another name of ``chunks``; give only one of the two.
    chunk_key_encoding : ChunkKeyEncoding, tuple or dict, optional
        Format 3: the names of chunks, by default ``("default", "/")``, as in "c/0/1".
    codecs : list of codecs, optional
        Format 3: all codecs in the order in which they run, exactly one of them array-to-bytes. By default those of
        :func:`zarr.create_array`: ``bytes`` (little-endian), then Zstandard.
    mode : {"r", "r+", "a", "w", "w-"}, optional
        "a" creates the array if nothing is there; "w" deletes the node that is there and creates the array; "w-" raises
        an error if a node is there; "r" and "r+" do not create.
    data : array-like, optional
        Elements to fill the array with, cast to ``dtype``; they determine the shape.
    chunk_store : StoreLike, optional
        A second store, in which all values but metadata documents are, at the same path. By default they are in
        ``store``.
    cache_metadata, cache_attrs, read_only, meta_array : optional
        Have no effect; kept for code written for zarr-python 2.
    """

    chunks: ChunksLike | None
    dtype: ZDTypeLike | None
    compressor: CompressorLike
    store: StoreLike | None
    synchronizer: Any | None
    path: str | None
    chunk_store: StoreLike | None
    filters: Iterable[dict[str, JSON] | Numcodec] | None
    cache_metadata: bool | None
    cache_attrs: bool | None
    read_only: bool | None
    object_codec: Codec | None
    dimension_separator: Literal[".", "/"] | None
    write_empty_chunks: bool | None
    meta_array: Any | None
    chunk_shape: ChunksLike | None
    chunk_key_encoding: (
        ChunkKeyEncoding | tuple[Literal["default"], Literal[".", "/"]] | tuple[Literal["v2"], Literal[".", "/"]] | None
    )
    codecs: Iterable[Codec | dict[str, JSON]] | None
    mode: AccessModeLiteral | None
    data: npt.ArrayLike | None
    checksum: bool


# ----------------------------------------------------------------------------------------------- defaults

CREATE_ARRAY: Final[dict[str, Any]] = {
    **dict.fromkeys(("shape", "dtype", "data")),
    "chunks": "auto",
    "shards": None,
    "filters": "auto",
    "compressors": "auto",
    "compressor": "auto",
    "serializer": "auto",
    "fill_value": DEFAULT_FILL_VALUE,
    "order": None,
    "zarr_format": 3,
    **dict.fromkeys(("attributes", "chunk_key_encoding", "dimension_names", "storage_options")),
    "overwrite": False,
    "config": None,
    "write_data": True,
    "checksum": False,
}
"""The parameters of ``create_array`` with their defaults, in the order of its signature; "compressor" is for groups."""

NAMES_OF_DATA: Final = frozenset(("data", "compressor", "storage_options", "overwrite", "config", "write_data"))
"""Parameters of ``create_array`` that are no part of the metadata document."""

METADATA_DEFAULTS: Final[dict[str, Any]] = {
    **{name: default for name, default in CREATE_ARRAY.items() if name not in NAMES_OF_DATA},
    "storage_transformers": None,
}
"""The parameters of a new metadata document, with their defaults."""

KEPT: Final = ("chunks", "shards", "filters", "compressors", "serializer")
"""Parameters that ``from_array`` takes from its source if they are "keep"."""

FROM_ARRAY: Final[dict[str, Any]] = {
    **{name: CREATE_ARRAY[name] for name in CREATE_ARRAY if name in FromArray.__annotations__},
    **dict.fromkeys(KEPT, "keep"),
    "zarr_format": None,
}

CREATE: Final[dict[str, Any]] = {
    **dict.fromkeys((*IN_ORDER_OF_CREATE, "zarr_format", "meta_array", "attributes", "chunk_shape")),
    **dict.fromkeys(("chunk_key_encoding", "codecs", "dimension_names", "storage_options", "config", "mode", "data")),
    "compressor": "auto",
    "fill_value": DEFAULT_FILL_VALUE,
    "overwrite": False,
    "checksum": False,
}


# ---------------------------------------------------------------------------------------------- functions


H5PY_PARAMETERS: Final = frozenset(
    ("compression", "compression_opts", "fillvalue", "maxshape", "shuffle", "fletcher32", "scaleoffset", "track_times")
)
"""Parameters of h5py that zarr-python 2 accepted; the last five have no effect."""


def refuse_unknown(function: str, given: Collection[str], known: Collection[str]) -> None:
    """Raise TypeError for the first argument that a function does not have."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def takes(
    record: Any, defaults: Mapping[str, Any], *, without: Collection[str] = (), rest: bool = False
) -> Callable[[F], F]:
    """Return a decorator that gives a function with ``**parameters`` the signature and the documentation of a record.

    Parameters
    ----------
    record : TypedDict
        The record with the types, and the descriptions in its docstring.
    defaults : mapping
        The defaults by name, in the order of the signature.
    without : collection of str
        Parameters of the record that the function does not have.
    rest : bool
        Show ``**kwargs`` too.
    """
    names = [name for name in defaults if name not in without and name in record.__annotations__]

    def decorate(function: F) -> F:
        types = {name: record.__annotations__[name].__forward_arg__ for name in names}
        shown = inspect.signature(function)
        own = [each for name, each in shown.parameters.items() if each.kind is not each.VAR_KEYWORD]
        made = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=types[name])
            for name in names
        ]
        last = [inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD, annotation="Any")] if rest else []
        function.__signature__ = shown.replace(parameters=[*own, *made, *last])  # type: ignore[attr-defined]
        returned = function.__annotations__.get("return")
        kept = {each.name: each.annotation for each in own if each.annotation is not each.empty}
        function.__annotations__ = {**kept, **types, **({"kwargs": "Any"} if rest else {}), "return": returned}
        function.__doc__ = _documented(function.__doc__, record, names)
        return function

    return decorate


Described: TypeAlias = dict[str, tuple[str, list[str]]]
"""Parameters by name: their values in a few words, and the lines of their description."""


def _sections(record: Any) -> Described:
    """Return the description of each parameter from the docstring of a record."""
    found: Described = {}
    lines: list[str] = []
    for line in inspect.cleandoc(record.__doc__ or "").partition("----------\n")[2].split("\n"):
        if line.startswith("    "):
            lines.append(line.strip())
        else:
            lines = []
            names, _, values = line.partition(" : ")
            found.update(dict.fromkeys(names.split(", "), (values, lines)))
    return found


def _described(record: Any) -> Described:
    """Return the description of each parameter of a record; an entry without values extends that of ``CreateArray``."""
    found = _sections(CreateArray)
    for name, (values, lines) in _sections(record).items():
        known, above = found.get(name, ("", []))
        found[name] = (values, lines) if values else (known.replace('"auto"', '"auto", "keep"'), [*above, *lines])
    return found


def _documented(text: str | None, record: Any, names: Sequence[str]) -> str | None:
    """Return a docstring in which the parameters of a record replace ``**parameters`` and the line below it."""
    lines = (text or "").split("\n")
    at = next((number for number, line in enumerate(lines) if line.strip() == "**parameters"), None)
    if at is None:
        return text
    indent, known, described = lines[at][: -len("**parameters")], _described(record), []
    for name in names:
        values, meaning = known.get(name, ("", []))
        described += [f"{indent}{name} : {values}", *(f"{indent}    {line}" for line in meaning)]
    return "\n".join([*lines[:at], *described, *lines[at + 2 :]])


def like(model: Callable[..., Any], *, keyword_only: bool = False) -> Callable[[F], F]:
    """Give a function the parameters of another one: signature, types and documentation; the result stays its own.

    Parameters
    ----------
    model : callable
    keyword_only : bool
        If True, all parameters are given by name.
    """

    def decorate(function: F) -> F:
        returned = function.__annotations__["return"]
        signature = inspect.signature(model)
        parameters = list(signature.parameters.values())
        if keyword_only:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters = [each.replace(kind=kind) if each.kind < kind else each for each in parameters]
        shown = signature.replace(parameters=parameters, return_annotation=returned)
        function.__signature__ = shown  # type: ignore[attr-defined]
        function.__annotations__ = {**model.__annotations__, "return": returned}
        function.__doc__ = model.__doc__
        return function

    return decorate


# -------------------------------------------------------------------------------------------------- fills

FILLS: Final[dict[str, dict[str, Any]]] = {"empty": {}, "zeros": {"fill_value": 0}, "ones": {"fill_value": 1}}
"""The functions that create an array of one value, with the value; the caller of ``full`` gives it."""

_CONTENTS: Final = {
    "empty": "whose content does not matter",
    "zeros": "of zeros",
    "ones": "of ones",
    "full": "of one value",
}

_FILL_DOC: Final = """Make an array {contents}{like}{below}.

Parameters
----------
{parameters}**kwargs
    Parameters of :func:`zarr.create`: chunks, dtype, store, config …{order}

Returns
-------
Array

Examples
--------
>>> import numpy as np
>>> import zarr
>>> array = {call}
>>> array.shape, int(array.fill_value)
((2,), {fill})
"""
_ROWS: Final = {
    "name": "name : str\n    Path of the array below the group.\n",
    "shape": "shape : int or tuple of int\n    Elements along each dimension.\n",
    "fill_value": "fill_value : scalar\n    The value of all elements.\n",
    "data": "data : Array or array-like\n    Gives shape and dtype; a zarr array also chunks and codecs.\n",
    "zarr_format": "zarr_format : 2, 3 or None\n    By default that of the model, if it is a zarr array.\n",
}
_ROWS["a"] = _ROWS["data"].replace("data", "a", 1)


def fills(function: F) -> F:
    """Document ``empty`` … ``full_like``, and the methods of these names, from their names and parameters."""
    name = function.__name__.removesuffix("_like")
    parameters = [each for each in inspect.signature(function).parameters if each in _ROWS]
    like, member = name != function.__name__, "name" in parameters
    fill = FILLS.get(name, {"fill_value": 7}).get("fill_value", 0)
    model = ["data=np.ones(2)" if member else "np.ones(2)"] if like else ["shape=(2,)" if member else "(2,)"]
    given = ['name="x"'] * member + model + [f"fill_value={fill}"] * (name == "full")
    function.__doc__ = _FILL_DOC.format(
        contents=_CONTENTS[name],
        like=", like another one" if like else "",
        below=" below the group" if member else "",
        parameters="".join(_ROWS[each] for each in parameters),
        order=" These go before what the model says." if like else "",
        call=f"zarr.{'group().' * member}{function.__name__}({', '.join(given)})",
        fill=fill,
    )
    return function
