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
    """Await ``func(*item)`` for every item, at most ``limit`` at a time; an item is taken when there is room for it.

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
        The first that ``func`` raised, which ends it all. Where there were several at once, its cause is their group.

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
