"""Making arrays. What each function does is decided in ``calls.py``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from zarr.api.calls import array_call, create_array_call, create_call, from_array_call, like_call
from zarr.api.opened import given
from zarr.api.running import run_array
from zarr.arrays.array import Array
from zarr.arrays.create.steps import DEFAULT_FILL_VALUE, CompressorLike
from zarr.older_calls import IN_ORDER_OF_CREATE, also_in_order

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.abc.numcodec import Numcodec
    from zarr.api.calls import ArrayLike, PathLike
    from zarr.arrays.create.steps import CompressorsLike, FiltersLike, SerializerLike, ShardsLike
    from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike
    from zarr.chunks.spec import ArrayConfigLike
    from zarr.dtype import ZDTypeLike
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


@also_in_order(*IN_ORDER_OF_CREATE)
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
    checksum: bool = False,
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
        Of format 2: how elements lie in a chunk. How arrays lie in memory is for ``config`` to say, in both.
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
        "r" reads only; "r+" reads and writes what is there; "a" makes what is not there; "w" makes it anew;
        "w-" makes it where nothing is.
    data : array-like, optional
        What to fill the array with.
    checksum : bool
        Store a CRC-32C checksum with every chunk; of format 3.
    synchronizer : ThreadSynchronizer or ProcessSynchronizer, optional
        Whom partial writes wait for; see ``locking`` in :class:`zarr.core.array_spec.ArrayConfig`.
    object_codec : numcodecs.abc.Codec, optional
        How the Python objects of an array of ``dtype=object`` are stored; of format 2.
    chunk_store, cache_metadata, cache_attrs, read_only, meta_array
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
    return run_array(create_call(**given(locals())))


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
    checksum: bool = False,
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
        Of format 2: how elements lie in a chunk. How arrays lie in memory is for ``config`` to say, in both.
    zarr_format : 2, 3 or None
        None makes the format of the configuration.
    attributes : dict, optional
    chunk_key_encoding : ChunkKeyEncoding or dict, optional
    dimension_names : list of str, optional
    storage_options : dict, optional
        For URLs of fsspec; a group has its store already.
    overwrite : bool
        Whether what is there goes first.
    config : ArrayConfig or dict, optional
    write_data : bool
        Whether ``data`` is written, or only lends its shape and dtype.
    checksum : bool
        Store a CRC-32C checksum with every chunk (within shards: with every inner chunk); of format 3.

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
    return run_array(create_array_call(**given(locals())))


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
    return run_array(from_array_call(**given(locals())))


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
    return run_array(array_call(data, **kwargs))


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
    return run_array(create_call(shape, **kwargs))


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
    return run_array(create_call(shape, fill_value=0, **kwargs))


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
    return run_array(create_call(shape, fill_value=1, **kwargs))


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
    return run_array(create_call(shape, fill_value=fill_value, **kwargs))


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
    return run_array(like_call(a, zarr_format, **kwargs))


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
    return run_array(like_call(a, zarr_format, **{"fill_value": 0, **kwargs}))


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
    return run_array(like_call(a, zarr_format, **{"fill_value": 1, **kwargs}))


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
    return run_array(like_call(a, zarr_format, full=True, **kwargs))
