"""Copy an array or a hierarchy as it is stored: documents and chunks, byte by byte."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import zarr
from zarr.arrays.array import Array
from zarr.buffer import default_buffer_prototype
from zarr.errors import ContainsGroupError
from zarr.groups.group import Group
from zarr.runners.concurrency import concurrency, windowed
from zarr.runners.sync import sync
from zarr.storage.keys import JOB_PREFIX
from zarr.storage.path import StorePath
from zarr.tools.copies.jobs import arrays_of, check_apart, open_source, open_target
from zarr.tools.plans.plan import MEMORY, Notes, Part, Plan, Stage, parse_bytes
from zarr.types import METADATA_NAMES

if TYPE_CHECKING:
    from zarr.tools.plans.progress import Progress

KEYS_PER_TASK = 1000


class CopyKeys:
    """Copy values from one place to another.

    Parameters
    ----------
    source, target : StorePath
    width : int
        How many values are in memory at once.
    """

    def __init__(self, source: StorePath, target: StorePath, width: int) -> None:
        self.source, self.target, self.width = source, target, width

    def __call__(self, keys: Sequence[str]) -> None:
        """Copy the values of some keys below the places."""
        jobs: Iterator[Callable[[], Awaitable[None]]] = (partial(self._copy, key) for key in keys)
        sync(windowed(jobs, min(self.width, concurrency())))

    async def _copy(self, key: str) -> None:
        value = await (self.source / key).get(default_buffer_prototype())
        if value is not None:  # removed since it was listed
            await (self.target / key).set(value)


def copy(
    source: Any,
    target: Any,
    *,
    path: str | None = None,
    overwrite: bool = False,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    resume: bool = False,
    dry_run: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Array[Any] | Group | Plan:
    """Copy an array, a group or a whole hierarchy as it is stored, without decoding.

    Chunks come first and documents last: a reader finds the copy when it is complete. All is kept: codecs, attributes,
    consolidated metadata. To change the layout see :func:`rechunk` and :func:`reencode`.

    Parameters
    ----------
    source : Array, Group, store, path or URL
        What is copied. It must not change meanwhile.
    target : store, path or URL
        Where the copy is made; another place than the source.
    path : str, optional
        The path of the copy in the target store. Default: its root.
    overwrite : bool, default False
        Whether to remove what is at the place of the copy.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of tasks that have ended, and of all.
    resume : bool, default False
        Whether to go on where the same call was killed before.
    dry_run : bool, default False
        Whether to return the plan and make nothing.
    storage_options : dict, optional
        For URLs.

    Returns
    -------
    Array or Group
        The copy; with ``dry_run`` a :class:`Plan`, whose ``explain()`` says what would be done.

    Raises
    ------
    ContainsGroupError
        If there is a node at the place of the copy, and ``overwrite`` is False.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> source = zarr.array(np.arange(12), chunks=(4,), attributes={"unit": "m"})
    >>> copy = zarr.tools.copy(source, zarr.storage.MemoryStore(), path="a/b")
    >>> copy.path, copy[-2:].tolist(), dict(copy.attrs)
    ('a/b', [10, 11], {'unit': 'm'})
    """
    place = open_target(target, path, storage_options)
    node = open_source(source, storage_options)
    check_apart(node, place)
    limit = parse_bytes(memory)
    job = _VerbatimCopy(node, place, overwrite)
    plan = job.plan(max(1, limit // max(1, 2 * job.largest)))
    return plan if dry_run else plan.run(executor, progress, resume)


class _VerbatimCopy:
    """One call of :func:`copy`."""

    def __init__(self, node: Array[Any] | Group, place: StorePath, overwrite: bool) -> None:
        self.source, self.place, self.overwrite = node.store_path, place, overwrite
        arrays = [array for _, array in arrays_of(node)]
        self.bytes = sum(array.nbytes for array in arrays)
        sizes = [math.prod(max(axis, default=1) for axis in array.write_chunk_sizes) for array in arrays]
        self.largest = max((n * array.dtype.itemsize for n, array in zip(sizes, arrays, strict=True)), default=1)
        """The bytes of the largest chunk or shard, without compression."""

    def plan(self, width: int) -> Plan:
        work = CopyKeys(self.source, self.place, width)
        documents: list[str] = []
        chunks: list[str] = []
        for key in sync(self._keys()):
            (documents if key.rpartition("/")[2] in METADATA_NAMES else chunks).append(key)
        # The document of a node after those below it, and the root last of all.
        documents.sort(key=lambda key: -key.count("/"))
        stages = [
            Stage("chunks", [Part(work, _batches(chunks))], self.bytes, self.bytes, 0),
            Stage("documents", [Part(_InOrder(work), [documents])], 0, 0, 0),
        ]
        notes = Notes(self.place, f"copy {self.source}")
        return Plan("copy", stages, notes, self._begin, lambda: None, self._end)

    async def _keys(self) -> list[str]:
        start = f"{self.source.path}/" if self.source.path else ""
        listed = [key async for key in self.source.store.list_prefix(start)]
        return [key[len(start) :] for key in listed if not key.startswith(JOB_PREFIX)]

    def _begin(self) -> None:
        if self.overwrite:
            sync(self.place.delete_dir())
        elif not sync(self.place.is_empty()):
            raise ContainsGroupError(f"there is something at {self.place}: copy with overwrite=True to replace it")

    def _end(self) -> Array[Any] | Group:
        node = zarr.open(self.place, mode="r+")
        assert isinstance(node, Array | Group)
        return node


class _InOrder:
    """Does a work for one key after the other."""

    def __init__(self, work: Callable[[Sequence[str]], None]) -> None:
        self.work = work

    def __call__(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.work([key])


def _batches(keys: list[str]) -> list[list[str]]:
    return [keys[start : start + KEYS_PER_TASK] for start in range(0, len(keys), KEYS_PER_TASK)]
