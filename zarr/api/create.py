"""Create arrays: ``zarr.create_array``, ``zarr.empty``, ``zarr.full`` and their like.

Each function runs one call of ``operations.py``. Its coroutine in ``asynchronous.py`` runs the same call, and takes
signature and documentation from here. No function of this file calls a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from zarr.api import operations
from zarr.api.operations import ArrayLike
from zarr.arrays.array import Array
from zarr.arrays.create import parameters as record
from zarr.older_calls import IN_ORDER_OF_CREATE, also_in_order
from zarr.storage.resolve import StoreLike
from zarr.types import ZarrFormat

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "array", "create", "create_array", "empty", "empty_like", "from_array", "full", "full_like", "ones", "ones_like",
    "zeros", "zeros_like",
]


@also_in_order(*IN_ORDER_OF_CREATE)
@record.takes(record.Create, record.CREATE, rest=True)
def create(shape: tuple[int, ...] | int, **parameters: Any) -> Array[Any]:
    """Create an array by the parameters of zarr-python 2 and 3; new programs should use ``create_array``.

    Parameters
    ----------
    shape : int or tuple of int
        Elements along each dimension.
    **parameters
        See :class:`zarr.arrays.create.parameters.Create`.
    **kwargs
        ``shards``, ``storage_transformers`` as for :func:`zarr.create_array`; ``zarr_version``, a former name of
        ``zarr_format``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there and ``overwrite`` is False.
    ValueError
        If a parameter belongs to the other format, or parameters contradict each other.
    TypeError
        If there is no such parameter, or a codec or a data type cannot be used.
    ReadOnlyError
        If the store is read-only.

    Examples
    --------
    >>> import zarr
    >>> zarr.create((10, 10), chunks=(5, 5), dtype="int32").nchunks
    4
    """
    return operations.run_array(operations.create_call(shape, **parameters))


@record.takes(record.CreateArray, record.CREATE_ARRAY)
def create_array(store: StoreLike, *, name: str | None = None, **parameters: Unpack[record.CreateArray]) -> Array[Any]:
    """Create an array.

    When a chunk is written, its codecs run in this order: ``filters``, ``serializer``, ``compressors``, and last the
    checksum. With ``shards``, these codecs encode each chunk of a shard, and the index of the shard has a checksum.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    name : str, optional
        Path of the array in the store. By default the array is the root.
    **parameters
        See :class:`zarr.arrays.create.parameters.CreateArray`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there and ``overwrite`` is False.
    ValueError
        If neither ``data`` nor ``shape`` and ``dtype`` are given, or both are; if a parameter belongs to the other
        format; if a length of the shards is no multiple of that of the chunks.
    TypeError
        If there is no such parameter, or a codec or a data type cannot be used.
    ReadOnlyError
        If the store is read-only.

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(10, 10), chunks=(2, 2), shards=(4, 4), dtype="int32")
    >>> array[0, :3] = [7, 8, 9]
    >>> array[0, :5]
    array([7, 8, 9, 0, 0], dtype=int32)
    >>> array.chunks, array.shards
    ((2, 2), (4, 4))
    """
    return operations.run_array(operations.create_array_call(store, name, **parameters))


@record.takes(record.FromArray, record.FROM_ARRAY)
def from_array(
    store: StoreLike,
    *,
    data: Array[Any] | npt.ArrayLike,
    write_data: bool = True,
    name: str | None = None,
    **parameters: Unpack[record.FromArray],
) -> Array[Any]:
    """Create an array like another one: with its shape, dtype and elements, and the settings of a zarr array.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    data : Array or array-like
        The source. A zarr array is copied a block of chunks at a time.
    write_data : bool
        If True, the default, copy the elements; if False, take only shape, dtype and settings.
    name : str, optional
        Path of the array in the store; by default the array is the root.
    **parameters
        See :class:`zarr.arrays.create.parameters.FromArray`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there and ``overwrite`` is False.
    ValueError
        If the new array would overwrite its source, or parameters contradict each other or the format.
    TypeError
        If there is no such parameter, or a codec cannot be used.
    ReadOnlyError
        If the store is read-only.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> zarr.from_array({}, data=np.arange(4), chunks=(2,))[:]
    array([0, 1, 2, 3])
    """
    return operations.run_array(operations.from_array_call(store, name, data=data, write_data=write_data, **parameters))


def array(data: npt.ArrayLike | Array[Any], **kwargs: Any) -> Array[Any]:
    """Create an array from data.

    Parameters
    ----------
    data : array-like
        The elements. They give the shape, and the dtype if none is given; a zarr array also gives its chunks and
        codecs.
    **kwargs
        Parameters of :func:`zarr.create`.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.array([1, 2, 3])[:]
    array([1, 2, 3])
    """
    return operations.run_array(operations.array_call(data, **kwargs))


@record.fills
def empty(shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.create_call(shape, **kwargs))


@record.fills
def zeros(shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.create_call(shape, **record.FILLS["zeros"], **kwargs))


@record.fills
def ones(shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.create_call(shape, **record.FILLS["ones"], **kwargs))


@record.fills
def full(shape: tuple[int, ...], fill_value: Any, **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.create_call(shape, fill_value=fill_value, **kwargs))


@record.fills
def empty_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.like_call("empty", a, zarr_format, **kwargs))


@record.fills
def zeros_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.like_call("zeros", a, zarr_format, **kwargs))


@record.fills
def ones_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.like_call("ones", a, zarr_format, **kwargs))


@record.fills
def full_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    return operations.run_array(operations.like_call("full", a, zarr_format, **kwargs))
