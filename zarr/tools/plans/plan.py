"""A plan of a tool: stages of independent tasks; it can be printed, run, and continued after it was killed.

No two tasks of a stage write the same chunk or shard, and each may run twice. The end of each task is noted in the
target store, so a killed plan continues where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Protocol, TypeAlias

from zarr._lazy import instance_of
from zarr.errors import BaseZarrError
from zarr.runners.job_notes import Notes
from zarr.tools.plans.executors import Task, run_tasks
from zarr.tools.plans.progress import Progress, reporting
from zarr.tools.plans.targets import check_free, check_reached, describe_arrays

MEMORY = "512 MiB"
"""The memory that a task may use by default."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}

Numbered: TypeAlias = tuple[int, int, Callable[[Any], None], Any]
"""The place of a stage, the number of a task in it, its work and its item."""


class Items(Protocol):
    """The items of tasks, in the same order at each use: a sequence, or an iterable that makes them one by one."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Part:
    """Tasks that do the same work.

    Parameters
    ----------
    work : callable
        Can be pickled; called with each item.
    items : Items
        One for each task; can be pickled.
    idle : callable, optional
        Returns the numbers of the items that need no task; called when the tasks are due. Default: all need one.
    """

    work: Callable[[Any], None]
    items: Items
    idle: Callable[[], set[int]] = set


@dataclass(frozen=True)
class Stage:
    """Tasks that may run in any order, and at the same time.

    Parameters
    ----------
    name : str
    parts : sequence of Part
    reads, writes : int
        Bytes in memory of all elements read and written.
    largest : int
        Bytes in memory of the elements of the largest task.
    """

    name: str
    parts: Sequence[Part]
    reads: int
    writes: int
    largest: int

    def __len__(self) -> int:
        return sum(len(part.items) for part in self.parts)

    def tasks(self) -> Iterator[tuple[Callable[[Any], None], Any]]:
        """Yield the work and the item of each task."""
        return ((part.work, item) for part in self.parts for item in part.items)

    def idle(self) -> set[int]:
        """Return the numbers of the tasks that are not needed."""
        ends = accumulate((len(part.items) for part in self.parts), initial=0)
        return {first + number for first, part in zip(ends, self.parts, strict=False) for number in part.idle()}


class Plan:
    """The tasks of a tool: print them, or run them.

    Parameters
    ----------
    title : str
        The action, in one line.
    stages : sequence of Stage
        The tasks, in stages.
    notes : Notes
        The notes about finished tasks.
    key : str
        All that the tasks depend on, as text: another plan has another one.
    overwrite : bool
        If True, the node at the target is replaced.
    begin : callable
        Creates the nodes of the target.
    between : callable
        Creates the arrays in between, beside the notes.
    end : callable
        Completes the target, and returns the result of the tool.
    check : callable, optional
        Raises an error if the target cannot be made, before anything is changed.
    alone : callable, optional
        Yields all tasks in the order of a single worker: the place of the stage, the number, the work and the item. It
        goes on when the task has ended. Default: one stage after the other.

    Examples
    --------
    >>> import zarr
    >>> plan = zarr.tools.copy(zarr.array([1, 2]), zarr.storage.MemoryStore(), dry_run=True)
    >>> isinstance(plan, zarr.tools.Plan)
    True
    """

    def __init__(
        self,
        title: str,
        stages: Sequence[Stage],
        notes: Notes,
        key: str,
        overwrite: bool,
        begin: Callable[[], object],
        between: Callable[[], None],
        end: Callable[[], Any],
        check: Callable[[], None] = lambda: None,
        alone: Callable[[], Iterator[Numbered]] | None = None,
    ) -> None:
        self.title = title
        self.stages = tuple(stages)
        self._key = hashlib.sha256(f"{title}\n{key}".encode()).hexdigest()
        self._notes, self._overwrite = notes, overwrite
        self._begin, self._between, self._end, self._check = begin, between, end, check
        self._alone = alone or (lambda: chain.from_iterable(map(self._numbered, range(len(self.stages)))))

    def __len__(self) -> int:
        """Return the number of tasks."""
        return sum(map(len, self.stages))

    def __repr__(self) -> str:
        return f"<Plan: {self.title}, {len(self)} tasks>"

    def explain(self) -> str:
        """Return the plan as text: for each stage its tasks, the bytes read and written, and the largest task.

        The bytes are those of elements in memory, without compression.

        Returns
        -------
        str

        Examples
        --------
        >>> import numpy as np, zarr
        >>> source = zarr.array(np.arange(1000), chunks=(10,))
        >>> plan = zarr.tools.rechunk(source, zarr.storage.MemoryStore(), chunks=(500,), dry_run=True)
        >>> print(plan.explain())
        rechunk to chunks (500,)
          1. copy: 1 task, reads 7.8 KiB, writes 7.8 KiB, largest task 7.8 KiB
        """
        lines = [self.title]
        for number, stage in enumerate(self.stages, 1):
            count = f"{len(stage)} task{'' if len(stage) == 1 else 's'}"
            lines.append(
                f"  {number}. {stage.name}: {count}, reads {human(stage.reads)}, writes {human(stage.writes)}, "
                f"largest task {human(stage.largest)}"
            )
        return "\n".join(lines)

    def run(self, executor: Any = None, progress: Progress = "auto", resume: bool = False) -> Any:
        """Run the plan and return the result of the tool.

        Parameters
        ----------
        executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
            Runs the tasks. None: in this thread, one after the other; each uses all processors. ``"dask"``: the current
            client.
        progress : "auto", bool or callable
            A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
            callable gets the number of finished tasks, and that of all.
        resume : bool, default False
            If True, continue the same plan, if it was begun before and has not ended.

        Returns
        -------
        object
            The result of the tool.

        Raises
        ------
        Exception
            The error of the first task that failed. Finished tasks are noted: run the plan again with ``resume=True``.
        FileExistsError
            If there are files at the target, and no node.
        ValueError
            If the target was changed since the plan was begun, or the workers of the executor do not reach it.
        """
        goes_on = resume and self._was_begun()
        if not goes_on:
            self._check_target()
        if executor is not None and len(self):
            check_reached(self._notes, executor)
        if not goes_on:
            self._make_nodes()
        ended = self._notes.read()
        with reporting(progress, self.title, len(self)) as report:
            report(sum("." in note for note in ended))
            if executor is None:
                self._run_tasks(self._alone(), ended, None, report)
            else:
                for place in range(len(self.stages)):
                    self._run_tasks(self._numbered(place), ended, executor, report)
        result = self._end()
        self._notes.clear()
        store: Any = self._notes.target.store
        if instance_of(store, "zarr.storage.zip.store", "ZipStore"):
            store.commit()  # the file has its name and is complete, also while the result is in use
        return result

    def _was_begun(self) -> bool:
        """Return True if this plan was begun before; refuse a target that was changed meanwhile."""
        begun = self._notes.begun()
        if begun is None or begun.get("plan") != self._key:
            return False
        if begun.get("arrays") != describe_arrays(self._notes.target):
            raise ValueError(
                f"{self._notes.target} was changed since the job was begun there: make it anew with overwrite=True, "
                "without resume=True"
            )
        return True

    def _check_target(self) -> None:
        """Refuse a target with something in the way, before anything is changed."""
        try:
            self._check()
            check_free(self._notes, self._overwrite)
        except BaseZarrError as error:
            begun = self._notes.begun()
            if begun is None:
                raise
            same = begun.get("plan") == self._key
            text = "The same job was begun there and stopped: resume=True goes on."
            other = "Another job, or one with another source, was begun there and stopped."
            raise type(error)(f"{error} {text if same else other}") from None

    def _make_nodes(self) -> None:
        """Create the nodes of the target; the notes of an earlier job end first, for its chunks are removed."""
        self._notes.clear()
        if self._overwrite:
            self._notes.clear_below()
        self._notes.add("begins")  # what is left if the program dies now may be replaced
        try:
            self._begin()
            self._between()
        except Exception:
            self._notes.clear()
            raise
        self._notes.begin({"plan": self._key, "arrays": describe_arrays(self._notes.target)})

    def _numbered(self, place: int) -> Iterator[Numbered]:
        return ((place, number, *task) for number, task in enumerate(self.stages[place].tasks()))

    def _run_tasks(
        self, tasks: Iterator[Numbered], ended: set[str], executor: Any, report: Callable[[int], None]
    ) -> None:
        """Run the tasks that have not ended, and note the end of each."""

        def end(note: str) -> None:
            self._notes.add(note)
            report(1)

        run_tasks(executor, self._left(tasks, ended, report), end)

    def _left(self, tasks: Iterator[Numbered], ended: set[str], report: Callable[[int], None]) -> Iterator[Task]:
        """Yield the tasks that have not ended, without those that are not needed."""
        idle: dict[int, set[int]] = {}
        for place, number, work, item in tasks:
            if place not in idle:
                idle[place] = self.stages[place].idle()
            note = f"{place}.{number}"
            if note in ended:
                continue
            if number in idle[place]:
                report(1)
            else:
                yield note, work, item


def parse_bytes(text: int | str) -> int:
    """Return a number of bytes from a number, or from a text with a unit.

    Examples
    --------
    >>> parse_bytes("512 MiB"), parse_bytes("1.5GB"), parse_bytes(100)
    (536870912, 1500000000, 100)
    """
    if isinstance(text, int):
        return text
    number = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit = text.strip()[len(number) :].strip().lower()
    unit = unit.removesuffix("b") if unit != "b" else unit
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, KeyError):
        raise ValueError(f"{text!r} is no number of bytes: write 500000000, '500 MB' or '512 MiB'") from None


def human(count: int) -> str:
    """Return a number of bytes as a short text.

    Examples
    --------
    >>> human(12), human(5 << 20)
    ('12 B', '5.0 MiB')
    """
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
