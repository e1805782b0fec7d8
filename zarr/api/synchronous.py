"""The functions of ``zarr``: they run in the caller's thread and return when all is done."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from zarr.api import asynchronous as async_api
from zarr.api import copying
from zarr.api.calls import (
    Call,
    Opened,
    array_call,
    check_consolidated,
    consolidate_call,
    create_array_call,
    create_call,
    create_group_call,
    from_array_call,
    given,
    group_call,
    hierarchy_call,
    like_call,
    open_array_call,
    open_call,
    open_group_call,
    open_like_call,
    save_call,
    saved_arrays,
)
from zarr.arrays.asynchronous import AsyncArray
from zarr.arrays.create import DEFAULT_FILL_VALUE, CompressorLike
from zarr.arrays.synchronous import Array
from zarr.errors import ZarrDeprecationWarning
from zarr.groups.handle import NodeRecord
from zarr.groups.synchronous import Group, wrap
from zarr.runners.choose import runner_for
from zarr.runners.crossing import sync  # noqa: F401 - other libraries have taken it from here

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.abc.numcodec import Numcodec
    from zarr.abc.store import Store
    from zarr.array_spec import ArrayConfigLike
    from zarr.arrays.create import CompressorsLike, FiltersLike, SerializerLike, ShardsLike
    from zarr.buffer.core import NDArrayLike
    from zarr.chunk_keys import ChunkKeyEncoding, ChunkKeyEncodingLike
    from zarr.dtype import ZDTypeLike
    from zarr.groups.handle import Nodes
    from zarr.storage.resolve import StoreLike
    from zarr.types import (
        JSON,
        AccessModeLiteral,
        ChunksLike,
        DimensionNamesLike,
        MemoryOrder,
        ShapeLike,
        ZarrFormat,
    )

T = TypeVar("T")
ArrayLike: TypeAlias = Any
PathLike: TypeAlias = str

__all__ = [
    "array",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]


def run(call: Call[T]) -> T:
    """Run the steps of a call in this thread."""
    return runner_for(call.store).run(call.steps)


def as_array(opened: Opened) -> Array[Any]:
    """The synchronous face of an array that was opened."""
    return Array(AsyncArray(opened.record.metadata, opened.record.store_path, opened.config))


def as_group(opened: Opened) -> Group:
    """The synchronous face of a group that was opened."""
    return Group.from_handle(opened.record.handle())


def as_node(opened: Opened) -> Array[Any] | Group:
    """The synchronous face of a node that was opened."""
    return as_group(opened) if opened.record.is_group else as_array(opened)


def as_members(records: list[NodeRecord]) -> list[tuple[str, Array[Any] | Group]]:
    """The synchronous faces of nodes, with their paths."""
    return [(record.name, wrap(record)) for record in records]


def consolidate_metadata(store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Group:
    """Store with a group a copy of the documents of all nodes below it, so that one read opens them all.

    After that every change through this library keeps the copy up to date.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    path : str, optional
        Below the place that ``store`` names.
    zarr_format : 2, 3 or None
        None takes the format that is there.

    Returns
    -------
    Group

    Raises
    ------
    FileNotFoundError
        If there is no group.
    ContainsArrayError
        If there is an array.
    TypeError
        If the store wants no consolidated metadata.

    Examples
    --------
    >>> import zarr
    >>> store = {}
    >>> made = zarr.group(store).create_array("x", shape=3, dtype="int8")
    >>> list(zarr.consolidate_metadata(store, zarr_format=3))
    ['x']
    """
    return as_group(run(consolidate_call(store, path, zarr_format)))


def open(
    store: StoreLike | None = None,
    *,
    mode: AccessModeLiteral | None = None,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> Array[Any] | Group:
    """Open an array or a group.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    mode : {"r", "r+", "a", "w", "w-"}
        "r" reads only; "r+" reads and writes what is there; "a" makes what is not there; "w" makes it anew; "w-"
        makes it
        where nothing is. By default "a", or "r" for a store that is read-only.
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    path : str, optional
        Below the place that ``store`` names.
    storage_options : dict, optional
        For URLs of fsspec.
    config : ArrayConfig or dict, optional
        Of an array.
    **kwargs
        Of an array that is made: with a ``shape`` an array is made where nothing is, else a group. See
        :func:`zarr.create`.

    Returns
    -------
    Array or Group

    Raises
    ------
    FileNotFoundError
        If there is nothing and the mode does not let it be made.
    FileExistsError
        If the mode is "w-" and there is something.

    Examples
    --------
    >>> import zarr
    >>> zarr.open({}, mode="w", shape=3, dtype="int8").shape
    (3,)
    >>> zarr.open({}).path
    ''
    """
    return as_node(run(open_call(store, mode, zarr_format, path, storage_options, config, **kwargs)))


def open_array(
    store: StoreLike | None = None,
    *,
    zarr_format: ZarrFormat | None = None,
    path: PathLike = "",
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> Array[Any]:
    """Open an array.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    path : str, optional
        Below the place that ``store`` names.
    storage_options : dict, optional
        For URLs of fsspec.
    config : ArrayConfig or dict, optional
    **kwargs
        ``mode`` (see :func:`zarr.open`; by default only what is there is opened), and the parameters of
        :func:`zarr.create`
        for an array that is made.

    Returns
    -------
    Array

    Raises
    ------
    FileNotFoundError
        If there is nothing and the mode does not let it be made.
    FileExistsError
        If the mode is "w-" and there is something.

    Examples
    --------
    >>> import zarr
    >>> store = {}
    >>> zarr.open_array(store, mode="w", shape=3, dtype="int8")[:]
    array([0, 0, 0], dtype=int8)
    >>> zarr.open_array(store, mode="r").shape
    (3,)
    """
    return as_array(run(open_array_call(store, zarr_format, path, storage_options, config, **kwargs)))


def open_group(
    store: StoreLike | None = None,
    *,
    mode: AccessModeLiteral = "a",
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: StoreLike | None = None,
    storage_options: dict[str, Any] | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    use_consolidated: bool | str | None = None,
) -> Group:
    """Open a group.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    mode : {"r", "r+", "a", "w", "w-"}
        "r" reads only; "r+" reads and writes what is there; "a" makes what is not there; "w" makes it anew; "w-"
        makes it
        where nothing is.
    cache_attrs, synchronizer, chunk_store, meta_array
        Have no effect; kept for code written for zarr-python 2.
    path : str, optional
        Below the place that ``store`` names.
    storage_options : dict, optional
        For URLs of fsspec.
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    attributes : dict, optional
        Of a group that is made.
    use_consolidated : bool, str or None
        Whether the copy of the members' documents is used: None where there is one, True insists on it, False ignores
        it;
        a string is its key in format 2.

    Returns
    -------
    Group

    Raises
    ------
    FileNotFoundError
        If there is nothing and the mode does not let it be made.
    FileExistsError
        If the mode is "w-" and there is something.
    ContainsArrayError
        If there is an array.
    ValueError
        If consolidated metadata is insisted on and there is none.

    Examples
    --------
    >>> import zarr
    >>> zarr.open_group({}, mode="w", attributes={"a": 1}).attrs["a"]
    1
    """
    return as_group(run(open_group_call(**given(locals()))))


def open_consolidated(*args: Any, use_consolidated: Literal[True] = True, **kwargs: Any) -> Group:
    """Open a group by the copy of its members' documents.

    Parameters
    ----------
    *args, **kwargs
        See :func:`zarr.open_group`.
    use_consolidated : True
        Nothing else makes sense here.

    Returns
    -------
    Group

    Raises
    ------
    ValueError
        If there is no copy.
    TypeError
        If ``use_consolidated`` is not True.

    Examples
    --------
    >>> import zarr
    >>> store = {}
    >>> made = zarr.consolidate_metadata(zarr.group(store, zarr_format=2).store)
    >>> list(zarr.open_consolidated(store))
    []
    """
    check_consolidated(use_consolidated)
    return open_group(*args, use_consolidated=True, **kwargs)


def group(
    store: StoreLike | None = None,
    *,
    overwrite: bool = False,
    chunk_store: StoreLike | None = None,
    cache_attrs: bool | None = None,
    synchronizer: Any | None = None,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Open a group, or make it.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    overwrite : bool
        Whether it is made anew in any case, and what is there goes first.
    cache_attrs, synchronizer, chunk_store, meta_array
        Have no effect; kept for code written for zarr-python 2.
    path : str, optional
        Below the place that ``store`` names.
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    attributes : dict, optional
        Of a group that is made.
    storage_options : dict, optional
        For URLs of fsspec.

    Returns
    -------
    Group

    Raises
    ------
    ContainsArrayError
        If there is an array.

    Examples
    --------
    >>> import zarr
    >>> zarr.group().path
    ''
    """
    return as_group(run(group_call(**given(locals()))))


def create_group(
    store: StoreLike,
    *,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    overwrite: bool = False,
    attributes: dict[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Make a group.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    path : str, optional
        Below the place that ``store`` names.
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    overwrite : bool
        Whether what is there goes first.
    attributes : dict, optional
    storage_options : dict, optional
        For URLs of fsspec.

    Returns
    -------
    Group

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If there is a node already and ``overwrite`` is false.

    Examples
    --------
    >>> import zarr
    >>> zarr.create_group({}, path="a", attributes={"b": 1}).attrs.asdict()
    {'b': 1}
    """
    return as_group(run(create_group_call(**given(locals()))))


def create_hierarchy(
    *, store: Store, nodes: Nodes, overwrite: bool = False
) -> Iterator[tuple[str, Group | Array[Any]]]:
    """Make many nodes at once, with the groups that they need above them.

    Parameters
    ----------
    store : Store
    nodes : dict of path to metadata
    overwrite : bool
        Whether nodes that are there go first, with all below them.

    Returns
    -------
    iterator of (path, Array or Group)
        Those that were made, parents first.

    Raises
    ------
    ValueError
        If the nodes make no hierarchy.
    ContainsGroupError, ContainsArrayError
        If there is a node already and ``overwrite`` is false; nothing has been made then.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> made = zarr.create_hierarchy(store=zarr.storage.MemoryStore(), nodes={"a/b": root.metadata})
    >>> [path for path, node in made]
    ['', 'a', 'a/b']
    """
    return iter(as_members(run(hierarchy_call(store, nodes, overwrite))))


def create(
    shape: tuple[int, ...] | int,
    *,
    chunks: ChunksLike | None = None,
    dtype: ZDTypeLike | None = None,
    compressor: CompressorLike = "auto",
    fill_value: Any | None = DEFAULT_FILL_VALUE,
    order: MemoryOrder | None = None,
    store: StoreLike | None = None,
    synchronizer: Any | None = None,
    overwrite: bool = False,
    path: PathLike | None = None,
    chunk_store: StoreLike | None = None,
    filters: Iterable[dict[str, JSON] | Numcodec] | None = None,
    cache_metadata: bool | None = None,
    cache_attrs: bool | None = None,
    read_only: bool | None = None,
    object_codec: Codec | None = None,
    dimension_separator: Literal[".", "/"] | None = None,
    write_empty_chunks: bool | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    chunk_shape: ChunksLike | None = None,
    chunk_key_encoding: ChunkKeyEncoding
    | tuple[Literal["default"], Literal[".", "/"]]
    | tuple[Literal["v2"], Literal[".", "/"]]
    | None = None,
    codecs: Iterable[Codec | dict[str, JSON]] | None = None,
    dimension_names: DimensionNamesLike = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    mode: AccessModeLiteral | None = None,
    data: npt.ArrayLike | None = None,
    **kwargs: Any,
) -> Array[Any]:
    """Make an array.

    Parameters
    ----------
    shape : int or tuple of int
    chunks : int, tuple of int, bool or None
        None and True: chosen for you; False: one chunk.
    dtype : dtype, optional
        By default float64.
    compressor : codec, optional
        Of format 2; in format 3 another name of the bytes-to-bytes codecs.
    fill_value : scalar, optional
    order : "C" or "F", optional
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    overwrite : bool
        Whether what is there goes first.
    path : str, optional
        Below the place that ``store`` names.
    filters : list of codecs, optional
        Of format 2.
    dimension_separator : "." or "/", optional
        Of format 2.
    write_empty_chunks : bool, optional
        Better given in ``config``.
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    attributes : dict, optional
    chunk_shape : tuple of int, optional
        Another name of ``chunks``.
    chunk_key_encoding : ChunkKeyEncoding, tuple or dict, optional
        Of format 3.
    codecs : list of codecs, optional
        Of format 3.
    dimension_names : list of str, optional
        Of format 3.
    storage_options : dict, optional
        For URLs of fsspec.
    config : ArrayConfig or dict, optional
    mode : {"r", "r+", "a", "w", "w-"}, optional
        "r" reads only; "r+" reads and writes what is there; "a" makes what is not there; "w" makes it anew; "w-"
        makes it
        where nothing is.
    data : array-like, optional
        What to fill the array with.
    synchronizer, chunk_store, cache_metadata, cache_attrs, read_only, object_codec, meta_array
        Have no effect; kept for code written for zarr-python 2.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node already and ``overwrite`` is false.
    ValueError
        If a parameter belongs to the other format.

    Examples
    --------
    >>> import zarr
    >>> zarr.create((10, 10), chunks=(5, 5), dtype="int32").nchunks
    4
    """
    return as_array(run(create_call(**given(locals()))))


def create_array(
    store: StoreLike,
    *,
    name: str | None = None,
    shape: ShapeLike | None = None,
    dtype: ZDTypeLike | None = None,
    data: np.ndarray[Any, np.dtype[Any]] | None = None,
    chunks: ChunksLike | Literal["auto"] = "auto",
    shards: ShardsLike | None = None,
    filters: FiltersLike = "auto",
    compressors: CompressorsLike = "auto",
    serializer: SerializerLike = "auto",
    fill_value: Any | None = DEFAULT_FILL_VALUE,
    order: MemoryOrder | None = None,
    zarr_format: ZarrFormat | None = 3,
    attributes: dict[str, JSON] | None = None,
    chunk_key_encoding: ChunkKeyEncodingLike | None = None,
    dimension_names: DimensionNamesLike = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    write_data: bool = True,
) -> Array[Any]:
    """Make an array.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    name : str, optional
        Path of the array in the store.
    shape : int or tuple of int, optional
        Needed unless ``data`` is given.
    dtype : dtype, optional
    data : array-like, optional
        What to fill the array with; gives shape and dtype.
    chunks : int, tuple of int, nested lists of int, or "auto"
    shards : tuple of int, "auto" or None
        Several chunks are stored in one object of this shape.
    filters, compressors, serializer : codecs, or "auto"
    fill_value : scalar, optional
    order : "C" or "F", optional
    zarr_format : 2, 3 or None
        None makes the format of the configuration.
    attributes : dict, optional
    chunk_key_encoding : ChunkKeyEncoding or dict, optional
    dimension_names : list of str, optional
    storage_options : dict, optional
        For URLs of fsspec.
    overwrite : bool
        Whether what is there goes first.
    config : ArrayConfig or dict, optional
    write_data : bool
        Whether ``data`` is written, or only lends its shape and dtype.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node already and ``overwrite`` is false.

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(10, 10), chunks=(2, 2), shards=(4, 4), dtype="int32")
    >>> array.shards
    (4, 4)
    """
    return as_array(run(create_array_call(**given(locals()))))


def from_array(
    store: StoreLike,
    *,
    data: Array[Any] | npt.ArrayLike,
    write_data: bool = True,
    name: str | None = None,
    chunks: ChunksLike | Literal["auto", "keep"] = "keep",
    shards: ShardsLike | Literal["keep"] | None = "keep",
    filters: FiltersLike | Literal["keep"] = "keep",
    compressors: CompressorsLike | Literal["keep"] = "keep",
    serializer: SerializerLike | Literal["keep"] = "keep",
    fill_value: Any | None = DEFAULT_FILL_VALUE,
    order: MemoryOrder | None = None,
    zarr_format: ZarrFormat | None = None,
    attributes: dict[str, JSON] | None = None,
    chunk_key_encoding: ChunkKeyEncodingLike | None = None,
    dimension_names: DimensionNamesLike = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
) -> Array[Any]:
    """Make an array of another array: the same shape, dtype and data, and, of a zarr array, what is to be kept.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    data : Array or array-like
    write_data : bool
        Whether the data is copied, or only lends its shape and dtype.
    name : str, optional
        Path of the array in the store.
    chunks, shards, filters, compressors, serializer
        "keep" takes those of ``data``; else see :func:`zarr.create_array`.
    fill_value, order, zarr_format, attributes, chunk_key_encoding, dimension_names
        By default those of ``data``.
    storage_options : dict, optional
        For URLs of fsspec.
    overwrite : bool
    config : ArrayConfig or dict, optional

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node already and ``overwrite`` is false.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> zarr.from_array({}, data=np.arange(4), chunks=(2,))[:]
    array([0, 1, 2, 3])
    """
    return as_array(run(from_array_call(**given(locals()))))


def array(data: npt.ArrayLike | Array[Any], **kwargs: Any) -> Array[Any]:
    """Make an array of data.

    Parameters
    ----------
    data : array-like
    **kwargs
        See :func:`zarr.create`.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.array([1, 2, 3])[:]
    array([1, 2, 3])
    """
    return as_array(run(array_call(data, **kwargs)))


def empty(shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
    """Make an array whose content does not matter.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        See :func:`zarr.create`.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.empty((2,)).shape
    (2,)
    """
    return as_array(run(create_call(shape, **kwargs)))


def zeros(shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
    """Make an array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        See :func:`zarr.create`.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.zeros((2,))[:]
    array([0., 0.])
    """
    return as_array(run(create_call(shape, fill_value=0, **kwargs)))


def ones(shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
    """Make an array of ones.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        See :func:`zarr.create`.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.ones((2,))[:]
    array([1., 1.])
    """
    return as_array(run(create_call(shape, fill_value=1, **kwargs)))


def full(shape: tuple[int, ...], fill_value: Any, **kwargs: Any) -> Array[Any]:
    """Make an array of one value.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar
    **kwargs
        See :func:`zarr.create`.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.full((2,), 7)[:]
    array([7., 7.])
    """
    return as_array(run(create_call(shape, fill_value=fill_value, **kwargs)))


def empty_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    """Make an array whose content does not matter, like another one.

    Parameters
    ----------
    a : Array or array-like
        The model; a zarr array lends its chunks and codecs too.
    zarr_format : 2, 3 or None
    **kwargs
        See :func:`zarr.create`.
        These go before what the model says.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.empty_like(zarr.ones((2,))).shape
    (2,)
    """
    return as_array(run(like_call(a, zarr_format, **kwargs)))


def zeros_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    """Make an array of zeros, like another one.

    Parameters
    ----------
    a : Array or array-like
        The model; a zarr array lends its chunks and codecs too.
    zarr_format : 2, 3 or None
    **kwargs
        See :func:`zarr.create`.
        These go before what the model says.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.zeros_like(zarr.ones((2,)))[:]
    array([0., 0.])
    """
    return as_array(run(like_call(a, zarr_format, **{"fill_value": 0, **kwargs})))


def ones_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    """Make an array of ones, like another one.

    Parameters
    ----------
    a : Array or array-like
        The model; a zarr array lends its chunks and codecs too.
    zarr_format : 2, 3 or None
    **kwargs
        See :func:`zarr.create`.
        These go before what the model says.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.ones_like(zarr.zeros((2,)))[:]
    array([1., 1.])
    """
    return as_array(run(like_call(a, zarr_format, **{"fill_value": 1, **kwargs})))


def full_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    """Make an array of one value, like another one.

    Parameters
    ----------
    a : Array or array-like
        The model; a zarr array lends its chunks and codecs too.
    zarr_format : 2, 3 or None
    **kwargs
        See :func:`zarr.create`.
        These go before what the model says.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.full_like(zarr.zeros((2,)), fill_value=3)[:]
    array([3., 3.])
    """
    return as_array(run(like_call(a, zarr_format, full=True, **kwargs)))


def open_like(a: ArrayLike, path: str, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    """Open an array, or make it like another one.

    Parameters
    ----------
    a : Array or array-like
        The model.
    path : str
    zarr_format : 2, 3 or None
    **kwargs
        See :func:`zarr.open_array`; ``store`` among them.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.open_like(zarr.ones((2,)), "x").shape
    (2,)
    """
    return as_array(run(open_like_call(a, path, zarr_format, **kwargs)))


def save(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Store one array, or several as a group.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    *args : array-like
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    path : str, optional
        Below the place that ``store`` names.
    storage_options : dict, optional
        For URLs of fsspec.
    **kwargs : array-like
        Arrays with names; the others are called ``arr_0``, ``arr_1`` …

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If there is no array.
    TypeError
        If something is no array.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> store = {}
    >>> zarr.save(store, np.arange(3), x=np.zeros(2))
    >>> sorted(zarr.load(store))
    ['arr_0', 'x']
    """
    if len(args) == 1 and not kwargs:
        save_array(store, args[0], zarr_format=zarr_format, path=path, storage_options=storage_options)
    else:
        save_group(store, *args, zarr_format=zarr_format, path=path, storage_options=storage_options, **kwargs)


def save_array(
    store: StoreLike,
    arr: NDArrayLike,
    *,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Store an array.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    arr : array-like
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    path : str, optional
        Below the place that ``store`` names.
    storage_options : dict, optional
        For URLs of fsspec.
    **kwargs
        See :func:`zarr.create`; ``mode="w"`` replaces what is there.

    Returns
    -------
    None

    Raises
    ------
    TypeError
        If it is no array.
    ContainsArrayError, ContainsGroupError
        If there is a node already.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> store = {}
    >>> zarr.save_array(store, np.arange(3))
    >>> zarr.load(store)
    array([0, 1, 2])
    """
    run(save_call(store, {"": arr}, zarr_format, path, storage_options, **kwargs))


def save_group(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: NDArrayLike,
) -> None:
    """Store several arrays as a group.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    *args : array-like
    zarr_format : 2, 3 or None
        None takes either, and makes the format of the configuration (3).
    path : str, optional
        Below the place that ``store`` names.
    storage_options : dict, optional
        For URLs of fsspec.
    **kwargs : array-like
        Arrays with names; the others are called ``arr_0``, ``arr_1`` …

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If there is no array.
    TypeError
        If something is no array.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> store = {}
    >>> zarr.save_group(store, np.arange(3), np.zeros(2))
    >>> sorted(zarr.open(store))
    ['arr_0', 'arr_1']
    """
    run(save_call(store, saved_arrays(args, kwargs), zarr_format, path, storage_options))


def load(store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Any:
    """Read an array, or all arrays of a group, into memory.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store, a mapping; None is a new store in memory.
    path : str, optional
        Below the place that ``store`` names.
    zarr_format : 2, 3 or None

    Returns
    -------
    numpy.ndarray, or dict of them
        Of a group all arrays below it, by their paths.

    Raises
    ------
    FileNotFoundError
        If there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> store = {}
    >>> zarr.save(store, a=np.arange(2), b=np.zeros(1))
    >>> zarr.load(store)
    {'a': array([0, 1]), 'b': array([0.])}
    """
    node = open(store, mode="r", path=path, zarr_format=zarr_format)
    if isinstance(node, Array):
        return node[...]
    return {name: member[...] for name, member in node.members(None) if isinstance(member, Array)}


def tree(grp: Group, expand: bool | None = None, level: int | None = None) -> Any:
    """Draw the hierarchy below a group; use :meth:`Group.tree` instead.

    Parameters
    ----------
    grp : Group
    expand : bool, optional
    level : int, optional

    Returns
    -------
    TreeRepr

    Examples
    --------
    >>> import warnings
    >>> import zarr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     print(zarr.tree(zarr.group()))
    /
    <BLANKLINE>
    """
    warnings.warn("Use Group.tree instead.", ZarrDeprecationWarning, stacklevel=2)
    return grp.tree(expand=expand, level=level)


def copy(*args: Any, **kwargs: Any) -> tuple[int, int, int]:
    """Copy an array, or a group with all below it, into a group.

    Parameters
    ----------
    source : Array, Group or h5py object
    dest : Group
    name : str, optional
        By default the name of the source.
    shallow : bool
        Whether of a group only the arrays directly in it are copied.
    without_attrs : bool
    log : callable, str, path or file, optional
        Where to say what is done.
    if_exists : {"raise", "replace", "skip", "skip_initialized"}
    dry_run : bool
    **kwargs
        Parameters for the arrays that are made.

    Returns
    -------
    (copied, skipped, bytes)
        How many nodes (keys, for :func:`copy_store`) were copied and skipped, and how many bytes of data were copied.

    Raises
    ------
    ValueError
        If there is a node at the destination and ``if_exists`` is "raise".

    Examples
    --------
    >>> import zarr
    >>> source, dest = zarr.group(), zarr.group()
    >>> made = source.create_array("x", data=__import__("numpy").arange(3))
    >>> zarr.copy(source["x"], dest)
    (1, 0, 24)
    """
    return copying.copy(*args, **kwargs)


def copy_all(*args: Any, **kwargs: Any) -> tuple[int, int, int]:
    """Copy all members of a group into another group.

    Parameters
    ----------
    source, dest : Group
    shallow, without_attrs, log, if_exists, dry_run, **kwargs
        See :func:`copy`.

    Returns
    -------
    (copied, skipped, bytes)
        How many nodes (keys, for :func:`copy_store`) were copied and skipped, and how many bytes of data were copied.

    Raises
    ------
    ValueError
        If there is a node at the destination and ``if_exists`` is "raise".

    Examples
    --------
    >>> import zarr
    >>> zarr.copy_all(zarr.group(), zarr.group())
    (0, 0, 0)
    """
    return copying.copy_all(*args, **kwargs)


def copy_store(*args: Any, **kwargs: Any) -> tuple[int, int, int]:
    """Copy what a store holds into another one, byte for byte.

    Parameters
    ----------
    source, dest : StoreLike
    source_path, dest_path : str
        Only what is below these.
    excludes, includes : str or list of str, optional
        Regular expressions: which keys are left out, and which of those are taken all the same.
    flags : int
        Of the regular expressions.
    if_exists : {"raise", "replace", "skip"}
    dry_run : bool
    log : callable, str, path or file, optional

    Returns
    -------
    (copied, skipped, bytes)
        How many nodes (keys, for :func:`copy_store`) were copied and skipped, and how many bytes of data were copied.

    Raises
    ------
    ValueError
        If a key is there already and ``if_exists`` is "raise".

    Examples
    --------
    >>> import zarr
    >>> source, dest = {}, {}
    >>> made = zarr.group(source)
    >>> zarr.copy_store(source, dest)[0]
    1
    """
    return copying.copy_store(*args, **kwargs)


def _share_docstrings() -> None:
    """What a function does is written once, here, and holds for its asynchronous twin."""
    for name in [*__all__, "create_group"]:
        vars(async_api)[name].__doc__ = globals()[name].__doc__


_share_docstrings()
