"""Run independent tasks: in this thread, in an executor, or on a dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice
from typing import Any, TypeVar

from zarr._lazy import load_extra
from zarr.tools.plans.memory import keep_memory

T = TypeVar("T")
R = TypeVar("R")
Task = tuple[int, Callable[[Any], None], Any]

MAX_TRIES = 10
"""Number of tries of a task on a cluster whose workers die while it runs."""

TASKS_PER_WORKER = 2
"""Tasks that are submitted at a time, for each worker: one runs, one waits."""


def run_tasks(executor: Any, tasks: Iterator[Task], end: Callable[[int], None]) -> None:
    """Run tasks; call ``end`` in this thread with the number of each finished task.

    Parameters
    ----------
    executor : Executor, dask.distributed.Client, "dask" or None
    tasks : iterator of (number, work, item)
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
            for number, work, item in tasks:
                work(item)
                end(number)
        return
    pool, width = _pool_of(executor)
    _Run(pool, tasks, end).run(width)


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


class _Run:
    """One stage in an executor."""

    def __init__(self, pool: Executor, tasks: Iterator[Task], end: Callable[[int], None]) -> None:
        self.pool, self.tasks, self.end = pool, tasks, end
        self.running: dict[Future[None], tuple[Task, int]] = {}

    def start(self, task: Task, tries: int) -> None:
        _, work, item = task
        self.running[self.pool.submit(work, item)] = task, tries

    def run(self, width: int) -> None:
        try:
            while True:
                while len(self.running) < width and (task := next(self.tasks, None)) is not None:
                    self.start(task, 1)
                if not self.running:
                    return
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    self.settle(future)
        finally:
            for future in self.running:
                future.cancel()
            wait(self.running)

    def settle(self, future: Future[None]) -> None:
        """Note the end of a task; start a task again if its worker died."""
        task, tries = self.running.pop(future)
        error = future.exception()
        if error is None:
            self.end(task[0])
        elif _worker_died(error) and tries < MAX_TRIES:
            self.start(task, tries + 1)
        else:
            raise error
