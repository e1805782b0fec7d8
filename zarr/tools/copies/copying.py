"""Copy an array or a hierarchy unchanged: documents and chunks, byte for byte."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import filterfalse, groupby, islice
from typing import Any

from zarr.arrays.array import Array
from zarr.buffer import default_buffer_prototype
from zarr.errors import ContainsGroupError
from zarr.groups.group import Group
from zarr.runners.concurrency import concurrency, windowed
from zarr.runners.job_notes import Notes
from zarr.runners.sync import sync
from zarr.storage.keys import JOB_PREFIX
from zarr.storage.path import StorePath
from zarr.tools.contents.nodes import arrays_of, can_list, expected_keys, stream_keys
from zarr.tools.copies.jobs import check_apart, open_ends, open_made
from zarr.tools.plans.plan import MEMORY, Part, Plan, Stage, parse_bytes
from zarr.tools.plans.progress import Progress
from zarr.tools.plans.targets import describe
from zarr.types import METADATA_NAMES

KEYS_PER_TASK = 1000


class CopyKeys:
    """Copy values from one place to another.

    Parameters
    ----------
    source, target : StorePath
    width : int
        Number of values in memory at once.
    """

    def __init__(self, source: StorePath, target: StorePath, width: int) -> None:
        self.source, self.target, self.width = source, target, width

    def __call__(self, keys: Sequence[str]) -> None:
        """Copy the values of some keys below the places."""
        jobs: Iterator[Callable[[], Awaitable[None]]] = (partial(self._copy, key) for key in keys)
        sync(windowed(jobs, min(self.width, concurrency())))

    async def _copy(self, key: str) -> None:
        value = await (self.source / key).get(default_buffer_prototype())
        if value is not None:  # removed after it was listed
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
    consolidated metadata. To change the layout see :func:`rechunk` and :func:`reencode`. To let nodes join a group that
    has members already, or to copy from h5py, see :func:`zarr.copy`.

    Parameters
    ----------
    source : Array, Group, store, path or URL
        The node to copy. It must not change meanwhile.
    target : store, path or URL
        The place of the copy; another one than the source.
    path : str, optional
        The path of the copy in the target store. Default: its root.
    overwrite : bool, default False
        If True, delete first the node at the place of the copy.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of finished tasks, and that of all.
    resume : bool, default False
        If True, continue an earlier call with the same arguments that was killed.
    dry_run : bool, default False
        If True, return the plan and change nothing.
    storage_options : dict, optional
        Options for URLs of fsspec.

    Returns
    -------
    Array or Group
        The copy; with ``dry_run`` a :class:`Plan`, whose ``explain()`` describes the actions.

    Raises
    ------
    ContainsGroupError
        If there is a node at the place of the copy, and ``overwrite`` is False.
    ValueError
        If the copy would overlap the source; or if two nodes have names that differ in case only, and the file system
        of the target takes them for one.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> source = zarr.array(np.arange(12), chunks=(4,), attributes={"unit": "m"})
    >>> copy = zarr.tools.copy(source, zarr.storage.MemoryStore(), path="a/b")
    >>> copy.path, copy[-2:].tolist(), dict(copy.attrs)
    ('a/b', [10, 11], {'unit': 'm'})
    """
    node, place = open_ends(source, target, path, storage_options)
    check_apart(node, place)
    limit = parse_bytes(memory)
    job = _VerbatimCopy(node, place, overwrite)
    plan = job.plan(max(1, limit // max(1, 2 * job.largest)))
    return plan if dry_run else plan.run(executor, progress, resume)


class _VerbatimCopy:
    """One call of :func:`copy`."""

    def __init__(self, node: Array[Any] | Group, place: StorePath, overwrite: bool) -> None:
        self.source, self.place, self.overwrite = node.store_path, place, overwrite
        self.unlisted = None if can_list(self.source) else node
        self.bytes, self.largest = 0, 1
        """The bytes of all elements, and of the largest chunk or shard, without compression."""
        self.contents = hashlib.sha256(f"{self.source}\n".encode())
        """All that a copy depends on, in few bytes: hierarchies may have many nodes."""
        for name, array in arrays_of(node):
            self.contents.update(f"{name} {describe(array)}\n".encode())
            size = math.prod(max(axis, default=1) for axis in array.write_chunk_sizes)
            self.bytes, self.largest = self.bytes + array.nbytes, max(self.largest, size * array.dtype.itemsize)

    def plan(self, width: int) -> Plan:
        work = CopyKeys(self.source, self.place, width)
        documents: list[str] = []
        count = 0
        for key in self._keys():
            self.contents.update(f"{key}\n".encode())  # also their order, by which tasks are numbered
            if _is_document(key):
                documents.append(key)
            else:
                count += 1
        # The document of a node after those below it, and the root last of all.
        documents.sort(key=_depth, reverse=True)
        self.alike = same_but_for_case(key.rpartition("/")[0] for key in documents)
        stages = [
            Stage("chunks", [Part(work, _Chunks(self._keys, count))], self.bytes, self.bytes, 0),
            Stage("documents", [Part(partial(_copy_by_depth, work), [documents])], 0, 0, 0),
        ]
        self.notes = Notes(self.place)
        key, begin, end = self.contents.hexdigest(), self._begin, partial(open_made, self.place)
        return Plan("copy", stages, self.notes, key, self.overwrite, begin, lambda: None, end, self._check)

    def _keys(self) -> Iterator[str]:
        start = len(f"{self.source.path}/") if self.source.path else 0
        if self.unlisted is not None:  # missing ones are skipped
            return (key[start:] for key in expected_keys(self.unlisted))
        listed = stream_keys(self.source.store, self.source.path)
        return (key[start:] for key in listed if not key.startswith(JOB_PREFIX))

    def _check(self) -> None:
        if not self.overwrite and not sync(self.place.is_empty()):
            raise ContainsGroupError(f"there is something at {self.place}: copy with overwrite=True to replace it")
        if self.alike and folds_case(self.notes):
            one, other = self.alike
            raise ValueError(
                f"the copy cannot be made at {self.place}: its file system takes {one!r} and {other!r} for one name; "
                "rename one of them, or copy to a zip file"
            )

    def _begin(self) -> None:
        if self.overwrite:
            sync(self.place.delete_dir())



def same_but_for_case(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return two paths that differ in case only, if there are two.

    Examples
    --------
    >>> same_but_for_case(["a/Depth", "b/depth", "a/depth"])
    ('a/Depth', 'a/depth')
    """
    known: dict[str, str] = {}
    found = ((known.setdefault(path.casefold(), path), path) for path in paths)
    return next(((one, other) for one, other in found if one != other), None)


def folds_case(notes: Notes) -> bool:
    """Return True if a store gives one value under two keys that differ in case only: tried in place of the notes."""
    are_there = bool(notes.read())
    notes.add("case")
    folds = sync((notes.place / "notes" / "CASE").exists())
    if not are_there:
        notes.clear()
    return folds


def _is_document(key: str) -> bool:
    return key.rpartition("/")[2] in METADATA_NAMES


def _depth(key: str) -> int:
    return key.count("/")


class _Chunks:
    """The keys of all chunks, in tasks; they are listed at each use, and are never in memory together."""

    def __init__(self, keys: Callable[[], Iterator[str]], count: int) -> None:
        self.keys, self.count = keys, count

    def __len__(self) -> int:
        return (self.count + KEYS_PER_TASK - 1) // KEYS_PER_TASK

    def __iter__(self) -> Iterator[list[str]]:
        left = filterfalse(_is_document, self.keys())
        return iter(lambda: list(islice(left, KEYS_PER_TASK)), [])


def _copy_by_depth(work: CopyKeys, keys: Sequence[str]) -> None:
    """Copy the keys of each depth together."""
    for _, same in groupby(keys, _depth):
        work(list(same))
