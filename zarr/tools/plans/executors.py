"""Run independent tasks: in this thread, in an executor, or on a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from zarr._lazy import load_extra

Task = tuple[int, Callable[[Any], None], Any]

MAX_TRIES = 10
"""The number of times that a task is given to a cluster whose workers die over it."""

TASKS_PER_WORKER = 2
"""Tasks that are handed out at a time, for each worker: one runs, one waits."""


def run_tasks(executor: Any, tasks: Iterator[Task], end: Callable[[int], None]) -> None:
    """Run tasks; call ``end`` with the number of each that has ended, in this thread.

    Parameters
    ----------
    executor : Executor, dask.distributed.Client, "dask" or None
    tasks : iterator of (number, work, item)
    end : callable

    Raises
    ------
    Exception
        That of the first task that failed; tasks that run then are waited for, others are not begun.
    TypeError
        If the executor is none of these.
    """
    if executor is None:
        for number, work, item in tasks:
            work(item)
            end(number)
        return
    pool, width = _pool_of(executor)
    _Run(pool, tasks, end).run(width)


def _pool_of(executor: Any) -> tuple[Executor, int]:
    """Return an executor of the standard library's kind, and how many tasks it is given at a time."""
    if isinstance(executor, str) and executor == "dask":
        executor = load_extra("distributed", "dask", "executor='dask'").get_client()
    if isinstance(executor, Executor):
        return executor, TASKS_PER_WORKER * int(getattr(executor, "_max_workers", 0) or 16)
    if hasattr(executor, "get_executor") and hasattr(executor, "nthreads"):
        return executor.get_executor(pure=False), TASKS_PER_WORKER * max(1, sum(executor.nthreads().values()))
    raise TypeError(
        f"executor must be a concurrent.futures.Executor, a dask.distributed.Client, 'dask' or None, not {executor!r}"
    )


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
        """Note the end of a task; one whose worker died is started again."""
        task, tries = self.running.pop(future)
        error = future.exception()
        if error is None:
            self.end(task[0])
        elif type(error).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError") and tries < MAX_TRIES:
            self.start(task, tries + 1)
        else:
            raise error
