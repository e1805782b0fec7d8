"""Type aliases and parsers; functions that many programs import from here, though this library has its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from zarr.chunks.rectilinear import MAX_EDGES_PER_AXIS, compress_runs
from zarr.chunks.shapes import parse_chunk_edge as parse_chunk_edge
from zarr.typed_dicts import NamedConfig as NamedConfig
from zarr.typed_dicts import NamedRequiredConfig as NamedRequiredConfig
from zarr.types import *

compress_rle = compress_runs

T = TypeVar("T")
V = TypeVar("V")


def concurrent_iter(
    items: Iterable[T], func: Callable[..., Awaitable[V]], limit: int | None = None
) -> list[asyncio.Task[V]]:
    """Start ``func(*item)`` for every item, at most ``limit`` at a time, and return the tasks.

    Parameters
    ----------
    items : iterable of tuples
    func : coroutine function
    limit : int, optional

    Returns
    -------
    list of asyncio.Task

    Examples
    --------
    >>> async def double(x):
    ...     return 2 * x
    >>> async def main():
    ...     return await asyncio.gather(*concurrent_iter([(1,), (2,)], double))
    >>> asyncio.run(main())
    [2, 4]
    """
    gate = None if limit is None else asyncio.Semaphore(limit)

    async def one(item: Any) -> V:
        if gate is None:
            return await func(*item)
        async with gate:
            return await func(*item)

    return [asyncio.ensure_future(one(item)) for item in items]


async def concurrent_map(items: Iterable[T], func: Callable[..., Awaitable[V]], limit: int | None = None) -> list[V]:
    """Await ``func(*item)`` for every item, at most ``limit`` at a time, and return the results in order.

    Parameters
    ----------
    items : iterable of tuples
    func : coroutine function
    limit : int, optional

    Returns
    -------
    list

    Examples
    --------
    >>> async def double(x):
    ...     return 2 * x
    >>> asyncio.run(concurrent_map([(1,), (2,)], double, limit=1))
    [2, 4]
    """
    return await asyncio.gather(*concurrent_iter(items, func, limit))


async def concurrent_foreach(items: Iterable[T], func: Callable[..., Awaitable[object]], limit: int) -> None:
    """Await ``func(*item)`` for every item, at most ``limit`` at a time; take an item when one can start.

    Parameters
    ----------
    items : iterable of tuples
    func : coroutine function
    limit : int

    Raises
    ------
    ValueError
        ``limit`` is less than 1.
    Exception
        The first error of ``func``, which ends the others. If there are several at once, its cause is their group.

    Examples
    --------
    >>> async def nothing(x):
    ...     pass
    >>> asyncio.run(concurrent_foreach([(1,), (2,)], nothing, 1))
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    waiting = iter(items)
    failed = False

    async def work() -> None:
        nonlocal failed
        while not failed and (item := next(waiting, None)) is not None:
            try:
                await func(*item)  # type: ignore[misc]
            except BaseException:
                failed = True
                raise

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(limit):
                workers.create_task(work())
    except BaseExceptionGroup as group:
        first = group.exceptions[0]
        raise first from (group if len(group.exceptions) > 1 else None)


def expand_rle(data: Sequence[object], axis: int | None = None) -> list[int]:
    """Expand run-length encoded chunk lengths: integers, and pairs ``[length, count]``.

    Parameters
    ----------
    data : sequence
    axis : int, optional
        The dimension, for messages.

    Returns
    -------
    list of int

    Raises
    ------
    TypeError, ValueError
        If an entry is something else, a length or a count is smaller than 1, or there are more than 2**24 chunks.

    Examples
    --------
    >>> expand_rle([[2, 3], 1])
    [2, 2, 2, 1]
    """
    place = "" if axis is None else f"Dimension {axis}: "
    edge = "Chunk edge length" if axis is None else "chunk edge length"
    lengths: list[int] = []
    for entry in data:
        pair = entry if isinstance(entry, list | tuple) else (entry, 1)
        if len(pair) != 2:
            raise ValueError(f"{place}RLE entries must be an integer or [size, count], got {list(pair)}")
        size, count = pair
        length, times = _positive(size, place + edge), _positive(count, f"{place}RLE repeat count")
        if len(lengths) + times > MAX_EDGES_PER_AXIS:
            raise ValueError(f"{place}{len(lengths) + times} chunks are more than the limit of {MAX_EDGES_PER_AXIS}")
        lengths.extend([length] * times)
    return lengths


def _positive(value: object, what: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, got {value!r}")
    if value < 1:
        raise ValueError(f"{what} must be >= 1, got {value}")
    return int(value)
