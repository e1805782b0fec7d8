"""Saving and loading whole arrays, and copies. Their operations stand in ``operations.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.api import copying
from zarr.api.opening import open
from zarr.api.operations import loading_mode, run, save_call, saved_arrays
from zarr.arrays.array import Array
from zarr.errors import ZarrDeprecationWarning
from zarr.groups.group import Group
from zarr.notices import warn
from zarr.older_calls import also_in_order

if TYPE_CHECKING:
    from zarr.buffer.core import NDArrayLike
    from zarr.storage.resolve import StoreLike
    from zarr.types import (
        ZarrFormat,
    )


def save(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Store one array, or several as a group, which replaces what is there.

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
    """Store several arrays as a group, which replaces what is there.

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
    run(save_call(store, saved_arrays(args, kwargs), zarr_format, path, storage_options, mode="w"))


@also_in_order(zarr_version="zarr_format")
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
    node = open(store, mode=loading_mode(store), path=path, zarr_format=zarr_format)
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
    warn("Use Group.tree instead.", ZarrDeprecationWarning)
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
