"""Save and load whole arrays, and make copies. The operations stand in ``operations.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zarr._lazy import asyncio
from zarr.abc.store import is_synchronous
from zarr.api.copying import copy, copy_all, copy_store
from zarr.api.opening import open
from zarr.api.operations import loading_mode, run, save_call, save_many_call
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.unsaved import save_many_steps
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.read_many import outs_for, read_many_steps
from zarr.buffer.core import NDArrayLike
from zarr.errors import ZarrDeprecationWarning
from zarr.groups import summary
from zarr.groups.group import Group
from zarr.notices import warn
from zarr.older_calls import also_in_order
from zarr.runners.choose import async_runner_for, runner_for
from zarr.runners.sync import sync
from zarr.storage.resolve import StoreLike
from zarr.types import ZarrFormat

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
    """Store one array as an array, or several arrays as a group; this replaces the node that is there.

    :func:`zarr.save_array` raises an error instead if there is a node.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping.
    *args : numpy.ndarray or another array
        Arrays without names. A single one is stored as an array; in a group their names are ``arr_0``, ``arr_1`` …
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
        If an argument is no array, for example a list.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> store = {}
    >>> zarr.save(store, np.arange(3), x=np.zeros(2))
    >>> sorted(zarr.load(store))
    ['arr_0', 'x']
    """
    run(save_many_call(store, args, kwargs, zarr_format, path, storage_options))


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
        The array to save.
    zarr_format : 2, 3 or None
        The format to write. None, the default, takes the setting ``default_zarr_format``, which is 3.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    **kwargs
        See :func:`zarr.create`; ``mode="w"`` or ``overwrite=True`` replaces the node that is there.

    Returns
    -------
    None

    Raises
    ------
    TypeError
        If it is no array, for example a list.
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
    """Store several arrays as a group, which replaces the node that is there.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping.
    *args : numpy.ndarray or another array
        Arrays without names; in the group their names are ``arr_0``, ``arr_1`` …
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
        If an argument is no array, for example a list.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> store = {}
    >>> zarr.save_group(store, np.arange(3), np.zeros(2))
    >>> sorted(zarr.open(store))
    ['arr_0', 'arr_1']
    """
    run(save_many_call(store, args, kwargs, zarr_format, path, storage_options, as_group=True))


@also_in_order(zarr_version="zarr_format")
def load(store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Any:
    """Read an array into memory, or the arrays of a group one by one at their first use.

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
    numpy.ndarray or mapping
        The elements of an array. For a group, a mapping from the paths of all arrays below it to their elements. Each
        array is read at its first use and kept.

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
    <LazyLoader: a, b>
    >>> zarr.load(store)["a"]
    array([0, 1])
    """
    node = open(store, mode=loading_mode(store), path=path, zarr_format=zarr_format)
    if isinstance(node, Array):
        return node[...]
    return LazyLoader(node)


class LazyLoader(Mapping[str, Any]):
    """The arrays below a group, as a mapping of their paths to their elements.

    Which arrays there are is looked up once. The elements of an array are read when they are first asked for, and kept.

    Parameters
    ----------
    group : Group
        The group.

    Examples
    --------
    >>> import zarr
    >>> group = zarr.group()
    >>> array = group.create_array("a/b", data=[1, 2])
    >>> loader = LazyLoader(group)
    >>> loader, loader["a/b"]
    (<LazyLoader: a/b>, array([1, 2]))
    """

    def __init__(self, group: Group) -> None:
        self._arrays = {name: member for name, member in group.members(None) if isinstance(member, Array)}
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._arrays[name][...]
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<LazyLoader: {', '.join(sorted(self._arrays))}>"


def tree(grp: Any, expand: bool | None = None, level: int | None = None) -> Any:
    """Draw the hierarchy below a group of Zarr or of h5py; use :meth:`Group.tree` instead for one of Zarr.

    Parameters
    ----------
    grp : Group or h5py.Group
        The group at the top of the tree.
    expand : bool, optional
        Has no effect: trees are always drawn unfolded.
    level : int, optional
        Number of levels to show. Default: all.

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
    if not hasattr(grp, "tree"):
        return summary.tree_of_h5py(grp, level)
    warn("Use Group.tree instead.", ZarrDeprecationWarning)
    return grp.tree(expand=expand, level=level)


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
        """Read the selections in this thread."""
        return self.requests[0][0].run(read_many_steps(self.requests, self.outs))

    async def read_async(self) -> list[Any]:
        """Read the selections in the running event loop."""
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
        A selection of integers and slices; or one with lists and arrays of integers or booleans that index each
        dimension by itself, as ``oindex`` does.
    out : sequence of numpy.ndarray, or numpy.ndarray, optional
        Memory of the caller: for each request an array of its shape, in any memory layout; or one array whose first
        dimension counts the requests. None in a sequence stands for a new array.

    Returns
    -------
    list of numpy.ndarray
        In the order of the requests; the arrays of ``out`` if it is given. A single element gives a 0-d array.

    Raises
    ------
    IndexError
        If a selection does not fit its array.
    TypeError
        If a request does not begin with an array.
    ValueError
        If ``out`` has the wrong length or shape, or is read-only.

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
    """Read many selections from asynchronous code, of both faces of arrays; see :func:`read_many`."""
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
    """Save arrays that were created in memory, as one operation for each of their stores.

    Requests to remote stores are under way together. Each array appears in one step; arrays that are saved already stay
    as they are.

    Parameters
    ----------
    arrays : iterable of Array
        Created by ``zarr.Array(shape=..., dtype=..., store=..., path=...)``.
    overwrite : bool
        If True, delete first the nodes that are at their places.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there and ``overwrite`` is False. Other arrays may have been saved.
    TypeError
        If one of them is no array.

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
    """Save arrays that were created in memory; see :func:`zarr.save_many`."""
    groups = _handles_by_store(arrays)
    runs = [async_runner_for(some[0].store_path.store).run(save_many_steps(some, overwrite)) for some in groups]
    await asyncio.gather(*runs)
