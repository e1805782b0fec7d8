"""The array API standard for stored arrays: what ``array.__array_namespace__()`` returns.

Creation functions give stored arrays. They take the parameters of the standard and, besides, those of
:func:`zarr.create_array` (``store``, ``name``, ``chunks``, ``compressors`` …); without a store the array is made in
memory. Every other function of the standard is numpy's: stored arrays among its arguments are read, and its results are
arrays of numpy. Source: Python array API standard, https://data-apis.org/array-api/.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from sys import modules
from typing import Any

import numpy as np
import numpy.typing as npt

from zarr.api import create as making
from zarr.api.create import empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like
from zarr.arrays.array import Array
from zarr.arrays.methods.properties import ArrayFace
from zarr.storage.memory import MemoryStore

__array_api_version__ = np.__array_api_version__
__all__ = [
    "CREATION", "__array_api_version__", "namespace", "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack",
    "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]
CREATION = tuple(__all__[3:])
"""The functions that give stored arrays."""


def namespace(*, api_version: str | None = None) -> Any:
    """Return this module, if it offers that version of the standard.

    Parameters
    ----------
    api_version : str, optional
        A version of the standard, as "2024.12". By default the newest that is offered.

    Returns
    -------
    module

    Raises
    ------
    ValueError
        If it does not.

    Examples
    --------
    >>> from zarr.array_api import namespace
    >>> namespace().__name__
    'zarr.array_api'
    """
    if api_version is not None and api_version > __array_api_version__:
        raise ValueError(
            f"version {api_version!r} of the array API standard is not offered; the newest is {__array_api_version__!r}"
        )
    return modules[__name__]


def _read(value: Any) -> Any:
    """Return the arguments with stored arrays read."""
    if isinstance(value, ArrayFace):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)([_read(item) for item in value])
    return value


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return function(*map(_read, args), **{name: _read(value) for name, value in options.items()})

    return call


def __getattr__(name: str) -> Any:
    found = getattr(np, name, None)
    if name.startswith("_") or found is None:
        if name == "__array_namespace_info__":
            return np.__array_namespace_info__
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    plain = isinstance(found, type) or not callable(found)
    return found if plain else globals().setdefault(name, _reading(found))


def _stored(data: Any, device: Any = None, store: Any = None, **parameters: Any) -> Array[Any]:
    """Make a stored array of elements in memory."""
    _check_device(device)
    return making.create_array(MemoryStore() if store is None else store, data=np.asarray(data), **parameters)


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"elements are read to the device 'cpu', there is no device {device!r}")


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Any = None,
    **parameters: Any,
) -> Array[Any]:
    """Return a stored array of numbers at equal distances in ``[start, stop)``.

    Parameters
    ----------
    start, stop, step : int or float
        With one number, it is ``stop``, and ``start`` is 0.
    dtype : dtype, optional
        What elements are stored as. By default that of the numbers.
    device : "cpu", optional
        Arrays are stored for the processor; nothing else is taken.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array
        Of one dimension.

    Examples
    --------
    >>> from zarr.array_api import arange
    >>> arange(2, 8, 2, chunks=(2,))[:]
    array([2, 4, 6])
    """
    first, last = (0, start) if stop is None else (start, stop)
    return _stored(np.arange(first, last, step, dtype=dtype), device, **parameters)


def asarray(
    obj: Any,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Any = None,
    copy: bool | None = None,
    **parameters: Any,
) -> Array[Any]:
    """Return a stored array of an object; an array of this library itself, if nothing is to be changed.

    Parameters
    ----------
    obj : Array, array-like, object with ``__dlpack__`` or scalar
        What is stored.
    dtype : dtype, optional
        What elements are stored as. By default the data type of ``obj``.
    device : "cpu", optional
        Arrays are stored for the processor; nothing else is taken.
    copy : bool, optional
        True: always return a new array. False: never return a new array.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        ``copy=False``, and the elements cannot be used without a copy.

    Examples
    --------
    >>> from zarr.array_api import asarray
    >>> import zarr
    >>> array = zarr.array([1, 2])
    >>> asarray(array) is array, asarray(array, dtype="f4")[:]
    (True, array([1., 2.], dtype=float32))
    """
    _check_device(device)
    if isinstance(obj, Array) and not parameters and (dtype is None or np.dtype(dtype) == obj.dtype):
        if copy is not True:
            return obj
        return making.from_array(MemoryStore(), data=obj)
    if copy is False:
        raise ValueError("copy=False: only a stored array can be used without a copy")
    plain = isinstance(obj, ArrayFace | np.ndarray) or not hasattr(obj, "__dlpack__") or hasattr(obj, "__array__")
    data = np.asarray(obj if plain else np.from_dlpack(obj))
    return _stored(data if dtype is None else data.astype(dtype, copy=False), device, **parameters)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    device: Any = None,
    **parameters: Any,
) -> Array[Any]:
    """Return a stored array with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        How many rows and columns; as many columns as rows by default.
    k : int
        The diagonal: above the main one if positive.
    dtype : dtype, optional
        By default float64.
    device : "cpu", optional
        Arrays are stored for the processor; nothing else is taken.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array

    Examples
    --------
    >>> from zarr.array_api import eye
    >>> eye(2, 3, k=1, dtype="int8")[:]
    array([[0, 1, 0],
           [0, 0, 1]], dtype=int8)
    """
    return _stored(np.eye(n_rows, n_cols, k=k, dtype="float64" if dtype is None else dtype), device, **parameters)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None, **parameters: Any) -> Array[Any]:
    """Return a stored array with the elements of an array of any library that supports DLPack.

    Parameters
    ----------
    x : object with ``__dlpack__``
        What is stored.
    device : "cpu", optional
        Arrays are stored for the processor; nothing else is taken.
    copy : bool, optional
        False is refused: storing is copying.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If ``copy`` is False, or the device is another one.

    Examples
    --------
    >>> from zarr.array_api import from_dlpack
    >>> import numpy as np
    >>> from_dlpack(np.arange(3))[:]
    array([0, 1, 2])
    """
    if copy is False:
        raise ValueError("copy=False: only a stored array can be used without a copy")
    return _stored(np.from_dlpack(x), device, **parameters)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Any = None,
    endpoint: bool = True,
    **parameters: Any,
) -> Array[Any]:
    """Return a stored array of ``num`` numbers at equal distances.

    Parameters
    ----------
    start, stop : int, float or complex
        The first number, and the last.
    num : int
        How many numbers.
    dtype : dtype, optional
        What elements are stored as. By default float64 or complex128.
    device : "cpu", optional
        Arrays are stored for the processor; nothing else is taken.
    endpoint : bool
        If True, ``stop`` is the last of them.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array
        Of one dimension.

    Examples
    --------
    >>> from zarr.array_api import linspace
    >>> linspace(0, 1, 3)[:]
    array([0. , 0.5, 1. ])
    """
    return _stored(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint), device, **parameters)


def meshgrid(*arrays: Any, indexing: str = "xy", **parameters: Any) -> tuple[Array[Any], ...]:
    """Return stored arrays of the coordinates of every point of the grid that vectors span.

    Parameters
    ----------
    *arrays : array-like
        Each of one dimension.
    indexing : "xy" or "ij"
        The first array varies along the columns, or along the rows.
    **parameters
        As for :func:`zarr.create_array`, for each of the new arrays. They cannot have one name: leave ``name`` out.

    Returns
    -------
    tuple of Array

    Examples
    --------
    >>> from zarr.array_api import meshgrid
    >>> x, y = meshgrid([1, 2], [3, 4, 5])
    >>> y[:, 0]
    array([3, 4, 5])
    """
    grids = np.meshgrid(*[np.asarray(array) for array in arrays], indexing=indexing)  # type: ignore[call-overload]
    return tuple(_stored(grid, **parameters) for grid in grids)


def tril(x: Any, /, *, k: int = 0, **parameters: Any) -> Array[Any]:
    """Return the lower triangle of each matrix in the last two dimensions, with zeros above it.

    Parameters
    ----------
    x : Array or array-like
        Of two dimensions or more; the last two are a matrix.
    k : int
        The last diagonal that is kept.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array

    Examples
    --------
    >>> from zarr.array_api import tril
    >>> tril([[1, 2], [3, 4]])[:]
    array([[1, 0],
           [3, 4]])
    """
    return _stored(np.tril(np.asarray(x), k=k), **parameters)


def triu(x: Any, /, *, k: int = 0, **parameters: Any) -> Array[Any]:
    """Return the upper triangle of each matrix in the last two dimensions, with zeros below it.

    Parameters
    ----------
    x : Array or array-like
        Of two dimensions or more; the last two are a matrix.
    k : int
        The first diagonal that is kept.
    **parameters
        As for :func:`zarr.create_array`.

    Returns
    -------
    Array

    Examples
    --------
    >>> from zarr.array_api import triu
    >>> triu([[1, 2], [3, 4]])[:]
    array([[1, 2],
           [0, 4]])
    """
    return _stored(np.triu(np.asarray(x), k=k), **parameters)
