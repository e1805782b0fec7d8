"""Saving and loading whole arrays, and copies. Their operations stand in ``operations.py``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.abc.store import is_synchronous
from zarr.api import copying
from zarr.api.opening import open
from zarr.api.operations import loading_mode, run, save_call, saved_arrays
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.unsaved import save_many_steps
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.read_many import outs_for, read_many_steps
from zarr.buffer.core import NDArrayLike
from zarr.errors import ZarrDeprecationWarning
from zarr.groups.group import Group
from zarr.notices import warn
from zarr.older_calls import also_in_order
from zarr.runners.choose import async_runner_for, runner_for
from zarr.runners.sync import sync
from zarr.storage.resolve import StoreLike
from zarr.types import ZarrFormat

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")

__all__ = [
    "copy", "copy_all", "copy_store", "load", "read_many", "save", "save_array", "save_group", "save_many", "tree",
]


def save(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Store one array as an array, or several arrays as a group.

    A group replaces what is there. A single array does not: where a node is there, it raises an error; call
    :func:`zarr.save_array` with ``mode="w"`` to replace that.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping.
    *args : numpy.ndarray or another array
        Arrays without names. One alone is stored as an array; in a group they are called ``arr_0``, ``arr_1`` …
    zarr_format : 2, 3 or None
        The format to write. None, the default, takes the setting ``default_zarr_format``, which is 3.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    **kwargs : numpy.ndarray or another array
        Arrays of the group, by their names.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If no array is given.
    TypeError
        If an argument is no array, as a list.
    ContainsArrayError, ContainsGroupError
        If a single array is given and a node is there.

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
        A path, a URL, a store or a mapping.
    arr : numpy.ndarray or another array
    zarr_format : 2, 3 or None
        The format to write. None, the default, takes the setting ``default_zarr_format``, which is 3.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    **kwargs
        See :func:`zarr.create`; ``mode="w"`` replaces what is there.

    Returns
    -------
    None

    Raises
    ------
    TypeError
        If it is no array, as a list.
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
        A path, a URL, a store or a mapping.
    *args : numpy.ndarray or another array
        Arrays without names. One alone is stored as an array; in a group they are called ``arr_0``, ``arr_1`` …
    zarr_format : 2, 3 or None
        The format to write. None, the default, takes the setting ``default_zarr_format``, which is 3.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    **kwargs : numpy.ndarray or another array
        Arrays of the group, by their names.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If no array is given.
    TypeError
        If an argument is no array, as a list.

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
        A path, a URL, a store or a mapping.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    zarr_format : 2, 3 or None
        The format of the node. None, the default, accepts both.

    Returns
    -------
    numpy.ndarray or dict
        The elements of an array. For a group, a dict of all arrays below it, by their paths.

    Raises
    ------
    FileNotFoundError
        If there is no node of that format.

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


class Batch:
    """The selections that are read from one store."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.requests: list[tuple[ArrayHandle, Any]] = []
        self.outs: list[Any] = []

    @property
    def synchronous(self) -> bool:
        """True if it is read in the caller's thread."""
        return is_synchronous(self.requests[0][0].serving)

    def read(self) -> list[Any]:
        """Read it here."""
        return self.requests[0][0].run(read_many_steps(self.requests, self.outs))

    async def read_async(self) -> list[Any]:
        """Read it in the running event loop."""
        return await self.requests[0][0].async_run(read_many_steps(self.requests, self.outs))


def batches(requests: Iterable[tuple[Any, Any]], out: Any) -> list[Batch]:
    """Group requests by their stores."""
    pairs = list(requests)
    found: dict[int, Batch] = {}
    for place, ((array, selection), target) in enumerate(zip(pairs, outs_for(out, len(pairs)), strict=True)):
        if not isinstance(array, Array | AsyncArray):
            raise TypeError(f"a request is a pair of an array and a selection, got {array!r} for an array")
        handle = array._handle
        batch = found.setdefault(id(handle.serving), Batch())
        batch.places.append(place)
        batch.requests.append((handle, selection))
        batch.outs.append(target)
    return list(found.values())


def _in_order(parts: list[Batch], answers: list[list[Any]]) -> list[Any]:
    placed: dict[int, Any] = {}
    for part, found in zip(parts, answers, strict=True):
        placed.update(zip(part.places, found, strict=True))
    return [placed[place] for place in range(len(placed))]


async def _read_all(parts: list[Batch]) -> list[list[Any]]:
    return list(await asyncio.gather(*(part.read_async() for part in parts)))


def read_many(requests: Iterable[tuple[Array[Any], Any]], *, out: Any = None) -> list[Any]:
    """Read many selections of many arrays as one operation.

    A chunk that several selections touch is fetched and decoded once, and all requests to remote stores are under way
    together.

    Parameters
    ----------
    requests : iterable of (Array, selection)
        A selection is one of integers and slices, or one with lists and arrays of integers or booleans that index
        each dimension by itself, as ``oindex`` has them.
    out : sequence of numpy.ndarray, or numpy.ndarray, optional
        Memory of the caller's, for each request an array of its shape, in any memory layout; or one array whose first
        dimension goes over the requests. None in a sequence stands for a new array.

    Returns
    -------
    list of numpy.ndarray
        In the order of the requests; those of ``out`` where it is given. One element makes a 0-d array.

    Raises
    ------
    IndexError
        A selection does not fit its array.
    TypeError
        A request does not begin with an array.
    ValueError
        ``out`` has the wrong length, shape, or is read-only.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> images, labels = zarr.array(np.zeros((9, 4, 4))), zarr.array(np.arange(9))
    >>> [part.shape for part in zarr.read_many([(images, slice(2, 4)), (labels, [2, 3, 7])])]
    [(2, 4, 4), (3,)]
    """
    parts = batches(requests, out)
    answers: dict[int, list[Any]] = {i: part.read() for i, part in enumerate(parts) if part.synchronous}
    remote = [i for i in range(len(parts)) if i not in answers]
    if len(remote) == 1:
        answers[remote[0]] = parts[remote[0]].read()
    elif remote:
        answers.update(zip(remote, sync(_read_all([parts[i] for i in remote])), strict=True))
    return _in_order(parts, [answers[i] for i in range(len(parts))])


async def read_many_async(requests: Iterable[tuple[Any, Any]], *, out: Any = None) -> list[Any]:
    """Return the twin of :func:`read_many` for asynchronous code; takes both faces of an array."""
    parts = batches(requests, out)
    return _in_order(parts, await _read_all(parts))


def _handles_by_store(arrays: Iterable[Any]) -> list[list[ArrayHandle]]:
    found: dict[int, list[ArrayHandle]] = {}
    for array in arrays:
        if not isinstance(array, Array | AsyncArray):
            raise TypeError(f"arrays are saved, got {array!r}")
        found.setdefault(id(array.store), []).append(array._handle)
    return list(found.values())


def save_many(arrays: Iterable[Array[Any]], *, overwrite: bool = False) -> None:
    """Save arrays that were made in memory, as one operation for each of their stores.

    Requests to remote stores are under way together. Each array appears in one step; arrays that are saved already are
    left as they are.

    Parameters
    ----------
    arrays : iterable of Array
        Made by ``zarr.Array(shape=..., dtype=..., store=..., path=...)``.
    overwrite : bool
        Whether what is at their places goes first.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        There is a node already and ``overwrite`` is false. Others may have been saved.
    TypeError
        Something is no array.

    Examples
    --------
    >>> import zarr
    >>> store = zarr.storage.MemoryStore()
    >>> pair = [zarr.Array(shape=2, dtype="int8", store=store, path=path) for path in ("foo/a", "foo/b")]
    >>> zarr.save_many(pair)
    >>> sorted(zarr.open_group(store, path="foo"))
    ['a', 'b']
    """
    for handles in _handles_by_store(arrays):
        runner_for(handles[0].store_path.store).run(save_many_steps(handles, overwrite))


async def save_many_async(arrays: Iterable[Array[Any] | AsyncArray[Any]], *, overwrite: bool = False) -> None:
    """Save arrays that were made in memory; see :func:`zarr.save_many`."""
    groups = _handles_by_store(arrays)
    runs = [async_runner_for(some[0].store_path.store).run(save_many_steps(some, overwrite)) for some in groups]
    await asyncio.gather(*runs)
