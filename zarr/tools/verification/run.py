"""The search for faults, from its start to its report."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from zarr.errors import MetadataValidationError
from zarr.steps.documents import node_key
from zarr.storage.keys import JOURNAL_FOLDER
from zarr.storage.path import StorePath
from zarr.tools.contents.blocks import chunk_lengths
from zarr.tools.contents.nodes import open_place
from zarr.tools.plans.executors import Piece, part_bytes, run_pieces
from zarr.tools.plans.plan import MEMORY, parse_bytes
from zarr.tools.plans.progress import Progress, reporting
from zarr.tools.verification import chunks, copies, documents, left_overs
from zarr.tools.verification.report import Fault, Report
from zarr.tools.verification.survey import Survey

Chunk = tuple[str, str, tuple[int, ...]]


def verify(
    store_or_path: Any,
    *,
    path: str = "",
    sample: float | None = None,
    values: bool = True,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
) -> Report:
    """Search a hierarchy for faults, without changing anything.

    Keys are listed one after the other and chunks read a few at a time: only the paths of the nodes are kept in memory.
    Changes of writers during the search may be reported as faults. A store may hold several hierarchies: a root without
    a node is no fault, and keys below no node are not searched.

    In a store that cannot list, such as many web servers, the nodes are those in consolidated metadata; stray keys are
    not found there, which the report states.

    Parameters
    ----------
    store_or_path : StoreLike, Array or Group
        A path, a URL, a store, a mapping, or a node.
    path : str, default ""
        The root of the hierarchy, below the store.
    sample : float or int, optional
        The part of the chunks to read, for stores that are too large: a fraction below 1 (as 0.01), or a number of
        chunks (as 1000). They are drawn at random, anew in each call. By default all are read.
    values : bool, default True
        If True, the default, read chunks. Documents, keys and left-overs are searched in any case.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit. One chunk is in memory in any case; shards over 64
        MiB are read chunk by chunk.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of finished keys, and that of all.

    Returns
    -------
    Report
        True if there is no fault. ``print`` it to read it; ``to_json`` is for programs.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file.
    ValueError
        If ``sample`` is no part, or the store cannot list its keys and there is no consolidated metadata.

    Notes
    -----
    These are the kinds of faults:

    ========================== ========================================================================================
    ``no-node``                there is no metadata document at all
    ``document-unreadable``    a document is no JSON object
    ``document-invalid``       a document breaks the specification, or contradicts itself
    ``document-nonconforming`` a document is read, though the specification forbids it
    ``document-missing``       a node has attributes, chunks or members, but no document
    ``two-formats``            there are documents of both formats at one place
    ``array-and-group``        there are documents of an array and of a group at one place
    ``node-below-array``       a node lies below an array
    ``parent-missing``         there is no group between a node and a group above it
    ``format-mismatch``        a node is of another format than the group above it
    ``codec-unknown``          a codec is not installed: chunks are not checked
    ``copy-stale``             consolidated metadata say something else than the documents
    ``copy-unreadable``        consolidated metadata cannot be read
    ``chunk-truncated``        a chunk has too few bytes
    ``chunk-too-long``         a chunk has too many bytes
    ``chunk-too-large``        a chunk would decode to so many bytes that it is not checked
    ``chunk-undecodable``      a codec refuses a chunk
    ``chunk-checksum``         a chunk does not have its checksum
    ``chunk-outside-grid``     the key of a chunk is one that the array does not have
    ``shard-index``            the index of a shard is cut off, damaged or contradicts itself
    ``shard-range-outside``    the index of a shard points outside of it
    ``shard-overlap``          inner chunks of a shard overlap
    ``key-misplaced``          the key of a chunk is written in another way than the document says
    ``key-stray``              a key belongs to nothing
    ``key-unreadable``         the store cannot read a value
    ``left-over-value``        a value was not written to its end, by a process that is dead
    ``left-over-locks``        there are lock files without a lock
    ``left-over-journal``      a transaction was not carried out to its end
    ``left-over-job``          a tool that copies has not ended
    ========================== ========================================================================================

    Values that :func:`zarr.tools.repair` has set aside, below ``.zarr-repair``, are no faults.

    Examples
    --------
    >>> from zarr.tools import verify
    >>> import zarr
    >>> store = zarr.storage.MemoryStore()
    >>> array = zarr.create_array(store, shape=4, chunks=2, dtype="i4", compressors=None)
    >>> array[:] = 1
    >>> bool(verify(store))
    True
    >>> zarr.core.sync.sync(store.set("c/1", zarr.core.buffer.cpu.Buffer.from_bytes(b"abc")))
    >>> verify(store).faults[0].kind
    'chunk-truncated'
    """
    check_sample(sample)
    try:
        place = open_place(store_or_path, path)
    except MetadataValidationError as error:  # a folder whose journal cannot be carried out
        report = Report(repr(store_or_path))
        report.add([Fault("left-over-journal", JOURNAL_FOLDER, "", f"{error} Move the folder {JOURNAL_FOLDER} away.")])
        return report
    report, _ = search(place, sample, values, parse_bytes(memory), executor, progress)
    return report


def check_sample(sample: object) -> None:
    """Refuse a value that is neither a fraction nor a number of chunks.

    Examples
    --------
    >>> check_sample(0.5)
    >>> check_sample(-1)
    Traceback (most recent call last):
    ...
    ValueError: sample must be a fraction between 0 and 1, or a number of chunks from 1 on, not -1
    """
    whole = isinstance(sample, int) and not isinstance(sample, bool) and sample >= 1
    if sample is None or whole or (isinstance(sample, float) and 0 < sample <= 1):
        return
    raise ValueError(f"sample must be a fraction between 0 and 1, or a number of chunks from 1 on, not {sample!r}")


def search(
    place: StorePath,
    sample: float | None,
    values: bool,
    memory: int = 1 << 29,
    executor: Any = None,
    progress: Progress = False,
) -> tuple[Report, Survey]:
    """Search for faults; return also the knowledge about the hierarchy.

    Parameters
    ----------
    place : StorePath
    sample, values, memory, executor, progress
        As for :func:`verify`.
    """
    survey = Survey(place)
    report = Report(survey.label, survey.listed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        survey.list_documents()
        report.add(_find(survey))
        drawn = _drawn(survey, report, sample if values else 0)
        with reporting(progress, "verify", survey.others) as tell:
            work = CheckChunks(survey)
            for found, faults in run_pieces(work, _pieces(survey, drawn, part_bytes(memory)), executor, tell):
                report.add(faults)
                report.chunks += len(found)
    report.nodes = len(survey.kinds)
    return report, survey


def _find(survey: Survey) -> Iterator[Fault]:
    """Yield all faults except those of chunks."""
    of_documents = list(documents.find_faults(survey))
    of_copies = list(copies.find_faults(survey))
    if not survey.kinds:
        text = "there is no metadata document of format 2 or 3 at this place or below it. Is the path right?"
        yield Fault("no-node", node_key(survey.path, "zarr.json"), survey.path, text)
    yield from _with_copies(survey, of_documents)
    for fault in of_copies:
        is_copy = fault.kind in ("copy-stale", "copy-unreadable")
        yield fault.as_mendable() if is_copy and copies.can_consolidate(survey, fault.path) else fault
    if survey.listed:
        yield from left_overs.find_faults(survey)


_CHUNKS_AT_ONCE = 32
"""Number of chunks that are read together: enough to wait less for a server, few enough for little memory."""


def _drawn(survey: Survey, report: Report, sample: float | None) -> Iterator[Chunk]:
    """Yield the chunks to read; add faults of keys to the report meanwhile."""
    kept: list[Chunk] = []
    seen = 0
    for found in chunks.find_keys(survey):
        if isinstance(found, Fault):
            report.add([found])
        elif sample is None or (isinstance(sample, float) and random.random() < sample):
            yield found
        elif isinstance(sample, int) and sample:
            # A reservoir: each chunk is kept with the same probability, for any number of chunks.
            seen += 1
            if len(kept) < sample:
                kept.append(found)
            elif (at := random.randrange(seen)) < sample:
                kept[at] = found
    yield from kept


def _pieces(survey: Survey, drawn: Iterable[Chunk], at_once: int) -> Iterator[Piece[list[Chunk]]]:
    """Yield chunks that are read together, with the number of their keys, and the bytes of their elements."""
    found: list[Chunk] = []
    reported = size = 0
    for chunk in drawn:
        layout = survey.layout(chunk[0])
        nbytes = 0 if layout is None else math.prod(chunk_lengths(layout)) * layout.dtype.itemsize
        if found and (len(found) == _CHUNKS_AT_ONCE or size + nbytes > at_once):
            yield survey.seen - reported, size, found
            found, reported, size = [], survey.seen, 0
        found.append(chunk)
        size += nbytes
    yield survey.others - reported, size, found


class CheckChunks:
    """Read and decode chunks, and return their faults; a worker elsewhere reads the documents itself.

    Parameters
    ----------
    survey : Survey
    """

    def __init__(self, survey: Survey) -> None:
        self._place, self._survey = StorePath(survey.store, survey.path), survey

    def __getstate__(self) -> dict[str, Any]:
        return {"_place": self._place}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._place = state["_place"]
        self._survey = Survey(self._place, documents_known=False)

    def __call__(self, found: list[Chunk]) -> list[Fault]:
        """Return the faults of some chunks."""
        pairs = ((self._survey.layout(path), key, coords) for path, key, coords in found)
        steps = [chunks.check_steps(layout, key, coords) for layout, key, coords in pairs if layout is not None]
        return [fault for faults in self._survey.run(steps) for fault in faults]


def _with_copies(survey: Survey, faults: Iterable[Fault]) -> Iterator[Fault]:
    """Note for damaged and missing documents that consolidated metadata has a copy of them."""
    left = {path for path in survey.healthy_copies if path not in survey.documents}
    for fault in faults:
        if fault.kind == "parent-missing" and fault.path in left:
            continue
        copied = survey.healthy_copies.get(fault.path)
        # The copy of a document of format 2 does not mend one of format 3 at the same place.
        if copied and fault.kind.startswith("document-") and fault.key.endswith("zarr.json") == ("zarr.json" in copied):
            fault = fault.as_mendable("Consolidated metadata have the document.")
        yield fault
    for path in sorted(left):
        name = min(survey.healthy_copies[path])
        text = "there is no document, though there are keys below. Consolidated metadata have the document."
        yield Fault("document-missing", node_key(path, name), path, text, mendable=True)
