"""Reading from many arrays at once, wherever each of them lies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.abc.store import is_synchronous
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.unsaved import save_many_steps
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.read_many import outs_for, read_many_steps
from zarr.runners.choose import async_runner_for, runner_for
from zarr.runners.sync import sync

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")


class Batch:
    """What is read from one store."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.requests: list[tuple[ArrayHandle, Any]] = []
        self.outs: list[Any] = []

    @property
    def synchronous(self) -> bool:
        """Whether it is read in the caller's thread."""
        return is_synchronous(self.requests[0][0].serving)

    def read(self) -> list[Any]:
        """Read it here."""
        return self.requests[0][0].run(read_many_steps(self.requests, self.outs))

    async def read_async(self) -> list[Any]:
        """Read it in the running event loop."""
        return await self.requests[0][0].async_run(read_many_steps(self.requests, self.outs))


def batches(requests: Iterable[tuple[Any, Any]], out: Any) -> list[Batch]:
    """Requests by store."""
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
    """The twin of :func:`read_many` for asynchronous code; takes both faces of an array."""
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
