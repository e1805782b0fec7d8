"""Run the work of tools that only read, in pieces with results: in this thread, or several pieces a task elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

from zarr.tools.plans.executors import run_in_order

T = TypeVar("T")
R = TypeVar("R")
Piece: TypeAlias = tuple[int, int, T]
"""Its part of the whole, in the unit of the progress; the bytes of its elements; the piece itself."""

TASK_BYTES: Final = 64 << 20
"""Bytes that a task of an executor reads, unless one piece is larger: enough to outweigh the start of the task."""

PIECES_PER_TASK: Final = 100


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
    for (part, some), results in run_in_order(executor, _Each(work), _tasks(pieces)):
        yield from zip(some, results, strict=True)
        report(part)


class _Each:
    """Run a work for several pieces."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work

    def __call__(self, task: tuple[int, list[Any]]) -> list[Any]:
        return [self.work(piece) for piece in task[1]]


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
