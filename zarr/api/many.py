"""Reading from many arrays at once, wherever each of them lies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.abc.store import is_synchronous
from zarr.arrays.asynchronous import AsyncArray
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.many import outs_for, read_many_steps
from zarr.arrays.synchronous import Array
from zarr.runners.crossing import sync

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
