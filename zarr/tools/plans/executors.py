"""Run independent tasks, or pieces of work with results: in this thread, in an executor, or on a dask cluster.

The tasks of one thread use the same memory one after the other: the system must clear every page of newly allocated
memory, and for regions of some hundred megabytes this takes about as long as decoding the region.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from zarr._lazy import load_extra
from zarr.arrays.array import Array

T = TypeVar("T")
R = TypeVar("R")
Task = tuple[str, Callable[[Any], None], Any]
Piece: TypeAlias = tuple[int, int, T]
"""Its part of the whole, in the unit of the progress; the bytes of its elements; the piece itself."""

TASK_BYTES: Final = 64 << 20
"""Bytes that a task of an executor reads, unless one piece is larger: enough to outweigh the start of the task."""

PIECES_PER_TASK: Final = 100

NUMBERS = "biufcmM"
"""Kinds of data types whose elements are plain bytes."""

MAX_TRIES = 10
"""Number of tries of a task on a cluster whose workers die while it runs."""

TASKS_PER_WORKER = 2
"""Tasks that are submitted at a time, for each worker: one runs, one waits."""


def run_tasks(executor: Any, tasks: Iterator[Task], end: Callable[[str], None]) -> None:
    """Run tasks; call ``end`` in this thread with the name of each finished task.

    Parameters
    ----------
    executor : Executor, dask.distributed.Client, "dask" or None
    tasks : iterator of (name, work, item)
        Read on demand: without an executor, the next one after the end of a task.
    end : callable

    Raises
    ------
    Exception
        The error of the first task that failed; running tasks are awaited, others are not started.
    TypeError
        If the executor is none of these.
    """
    if executor is None:
        with keep_memory():
            for name, work, item in tasks:
                work(item)
                end(name)
        return
    pool, width = _pool_of(executor)
    _run(pool, width, tasks, end)


def _pool_of(executor: Any) -> tuple[Executor, int]:
    """Return an executor of the standard library's kind, and the number of its simultaneous tasks."""
    if isinstance(executor, str) and executor == "dask":
        executor = load_extra("distributed", "dask", "executor='dask'").get_client()
    if isinstance(executor, Executor):
        return executor, TASKS_PER_WORKER * int(getattr(executor, "_max_workers", 0) or 16)
    if hasattr(executor, "get_executor") and hasattr(executor, "nthreads"):
        return executor.get_executor(pure=False), TASKS_PER_WORKER * max(1, sum(executor.nthreads().values()))
    raise TypeError(
        f"executor must be a concurrent.futures.Executor, a dask.distributed.Client, 'dask' or None, not {executor!r}"
    )


def run_in_order(executor: Any, work: Callable[[T], R], items: Iterator[T]) -> Iterator[tuple[T, R]]:
    """Yield items with the results of a work for them, in their order; some of them run ahead.

    Parameters
    ----------
    executor : Executor, dask.distributed.Client or "dask"
    work : callable
    items : iterator

    Raises
    ------
    Exception
        The error of the first item that failed; running ones are awaited.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     list(run_in_order(pool, len, iter(["a", "bcd"])))
    [('a', 1), ('bcd', 3)]
    """
    pool, width = _pool_of(executor)
    running: deque[tuple[T, Future[R]]] = deque()
    try:
        while True:
            running.extend((item, pool.submit(work, item)) for item in islice(items, width - len(running)))
            if not running:
                return
            item, future = running.popleft()
            for _ in range(MAX_TRIES - 1):
                if not _worker_died(future.exception()):
                    break
                future = pool.submit(work, item)
            yield item, future.result()
    finally:
        for _, future in running:
            future.cancel()
        wait([future for _, future in running])


def _worker_died(error: BaseException | None) -> bool:
    return type(error).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError")


def _run(pool: Executor, width: int, tasks: Iterator[Task], end: Callable[[str], None]) -> None:
    """Run tasks in an executor, in any order; start a task again if its worker died."""
    running: dict[Future[None], tuple[Task, int]] = {}

    def start(task: Task, tries: int) -> None:
        _, work, item = task
        running[pool.submit(work, item)] = task, tries

    try:
        while True:
            for task in islice(tasks, width - len(running)):
                start(task, 1)
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task, tries = running.pop(future)
                error = future.exception()
                if error is None:
                    end(task[0])
                elif _worker_died(error) and tries < MAX_TRIES:
                    start(task, tries + 1)
                else:
                    raise error
    finally:
        for future in running:
            future.cancel()
        wait(running)


class _Kept(threading.local):
    memory: np.ndarray[Any, Any] | None = None
    """Bytes; None if no memory is kept."""


_KEPT = _Kept()


@contextmanager
def keep_memory() -> Iterator[None]:
    """Let the tasks of this thread read into the same memory, which is freed at the end."""
    _KEPT.memory = np.empty(0, np.uint8)
    try:
        yield
    finally:
        _KEPT.memory = None


def read_region(array: Array[Any], region: tuple[slice, ...]) -> Any:
    """Return the elements of a region; under :func:`keep_memory` they are valid until the next call.

    Parameters
    ----------
    array : Array
    region : tuple of slices
        Slices with a start and a stop within the array.

    Examples
    --------
    >>> import zarr
    >>> with keep_memory():
    ...     read_region(zarr.array([1, 2, 3]), (slice(1, 3),)).tolist()
    [2, 3]
    """
    dtype = array.dtype
    if _KEPT.memory is None or not region or dtype.kind not in NUMBERS:
        return array[region]
    shape = tuple(part.stop - part.start for part in region)
    nbytes = math.prod(shape) * dtype.itemsize
    if _KEPT.memory.nbytes < nbytes:
        _KEPT.memory = None  # free the old memory before the new one is allocated
        _KEPT.memory = np.empty(nbytes, np.uint8)
    out = _KEPT.memory[:nbytes].view(dtype).reshape(shape)
    array.get_basic_selection(region, out=out)
    return out


def part_bytes(memory: int) -> int:
    """Return the number of bytes of elements to read at once within a memory: a tool keeps copies of them.

    Examples
    --------
    >>> part_bytes(512 << 20) >> 20, part_bytes(64 << 20) >> 20
    (16, 4)
    """
    return min(16 << 20, memory // 16)


def run_pieces(
    work: Callable[[T], R], pieces: Iterable[Piece[T]], executor: Any, report: Callable[[int], None]
) -> Iterator[tuple[T, R]]:
    """Yield each piece with the result of a work for it, in their order.

    Parameters
    ----------
    work : callable
        Can be pickled; called with each piece.
    pieces : iterable of Piece
        They can be pickled. The iterable is read on demand.
    executor : Executor, dask.distributed.Client, "dask" or None
    report : callable
        Called with the finished part of the whole.

    Examples
    --------
    >>> list(run_pieces(abs, [(1, 8, -5), (1, 8, 6)], None, lambda ended: None))
    [(-5, 5), (6, 6)]
    """
    if executor is None:
        for part, _, piece in pieces:
            yield piece, work(piece)
            report(part)
        return
    for (part, some), results in run_in_order(executor, partial(_run_each, work), _tasks(pieces)):
        yield from zip(some, results, strict=True)
        report(part)


def _run_each(work: Callable[[T], R], task: tuple[int, list[T]]) -> list[R]:
    """Run a work for several pieces."""
    return [work(piece) for piece in task[1]]


def _tasks(pieces: Iterable[Piece[T]]) -> Iterator[tuple[int, list[T]]]:
    """Yield pieces together until they are worth a task."""
    some: list[T] = []
    parts = size = 0
    for part, nbytes, piece in pieces:
        some.append(piece)
        parts, size = parts + part, size + nbytes
        if size >= TASK_BYTES or len(some) == PIECES_PER_TASK:
            yield parts, some
            some, parts, size = [], 0, 0
    if some:
        yield parts, some
