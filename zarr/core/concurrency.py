"""Running many coroutines at once, for libraries that took these helpers from zarr-python."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

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
    """Await ``func(*item)`` for every item, at most ``limit`` at a time; the results in order.

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
    """The same as :func:`concurrent_map`, where the results do not matter.

    Parameters
    ----------
    items : iterable of tuples
    func : coroutine function
    limit : int

    Examples
    --------
    >>> async def nothing(x):
    ...     pass
    >>> asyncio.run(concurrent_foreach([(1,), (2,)], nothing, 1))
    """
    await concurrent_map(items, func, limit)
