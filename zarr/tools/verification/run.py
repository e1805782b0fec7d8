"""The search for faults, from its start to its report."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from zarr.errors import MetadataValidationError, label_of
from zarr.steps.documents import node_key
from zarr.storage.keys import JOURNAL_FOLDER
from zarr.storage.path import StorePath
from zarr.tools.contents.nodes import open_place
from zarr.tools.verification import chunks, copies, documents, left_overs
from zarr.tools.verification.report import Fault, Report
from zarr.tools.verification.survey import Survey

Chunk = tuple[str, str, tuple[int, ...]]


def verify(
    store_or_path: Any, *, path: str = "", sample: float | None = None, values: bool = True
) -> Report:
    """Search a hierarchy for faults, without changing anything.

    Keys are listed one after the other and chunks read a few at a time: of a hierarchy, only the paths of its nodes
    are kept in memory. What writers change meanwhile may be reported as a fault. A store may hold several hierarchies:
    that there is no node at its root is no fault, and what lies below no node belongs to somebody else.

    Parameters
    ----------
    store_or_path : StoreLike, Array or Group
        A path, a URL, a store, a mapping, or a node.
    path : str, default ""
        The root of the hierarchy, below the store.
    sample : float or int, optional
        How many of the chunks are read, for stores that are too large: a fraction below 1 (as 0.01), or a number of
        chunks (as 1000). They are drawn at random, each time anew. By default all are read.
    values : bool, default True
        Whether chunks are read at all. Documents, keys and left-overs are searched in any case.

    Returns
    -------
    Report
        True if there is no fault. ``print`` it to read it; ``to_json`` is for programs.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file.
    ValueError
        If ``sample`` is no part of anything, or the store cannot list its keys.

    Notes
    -----
    These are the kinds of faults:

    ========================== ========================================================================================
    ``no-node``                there is no metadata document at all
    ``document-unreadable``    a document is no JSON object
    ``document-invalid``       a document is not what the specification says, or contradicts itself
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
    ``left-over-locks``        there are lock files that nobody has locked
    ``left-over-journal``      a transaction was not carried out to its end
    ``left-over-job``          a tool that copies has not ended
    ========================== ========================================================================================

    What :func:`zarr.tools.repair` has set aside, below ``.zarr-repair``, is no fault.

    Examples
    --------
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
    report, _ = search(place, sample, values)
    return report


def check_sample(sample: object) -> None:
    """Refuse what is neither a fraction nor a number of chunks.

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


def search(place: StorePath, sample: float | None, values: bool) -> tuple[Report, Survey]:
    """Search for faults; return also what was learned on the way.

    Parameters
    ----------
    place : StorePath
    sample, values
        See :func:`verify`.
    """
    if not place.store.supports_listing:
        raise ValueError(f"{label_of(place.store)!r} cannot list its keys, so faults cannot be searched for")
    survey = Survey(place)
    report = Report(survey.label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        survey.list_documents()
        report.add(_find(survey, report, sample, values))
    report.nodes = len(survey.kinds)
    return report, survey


def _find(survey: Survey, report: Report, sample: float | None, values: bool) -> Iterator[Fault]:
    of_documents = list(documents.find_faults(survey))
    of_copies = list(copies.find_faults(survey))
    if not survey.kinds:
        text = "there is no metadata document of format 2 or 3 at this place or below it. Is the path right?"
        yield Fault("no-node", node_key(survey.path, "zarr.json"), survey.path, text)
    yield from _with_copies(survey, of_documents)
    for fault in of_copies:
        is_copy = fault.kind in ("copy-stale", "copy-unreadable")
        yield fault.as_mendable() if is_copy and copies.can_consolidate(survey, fault.path) else fault
    yield from left_overs.find_faults(survey)
    found: list[Chunk] = []
    for chunk in _drawn(survey, report, sample if values else 0):
        if len(found) == _CHUNKS_AT_ONCE:
            yield from _check(survey, report, found)
            found = []
        found.append(chunk)
    yield from _check(survey, report, found)


_CHUNKS_AT_ONCE = 8
"""How many chunks are read side by side: enough to wait less for a server, few enough to stay in little memory."""


def _drawn(survey: Survey, report: Report, sample: float | None) -> Iterator[Chunk]:
    """Yield the chunks that are to be read; faults of keys go to the report on the way."""
    kept: list[Chunk] = []
    seen = 0
    for found in chunks.find_keys(survey):
        if isinstance(found, Fault):
            report.add([found])
        elif sample is None or (isinstance(sample, float) and random.random() < sample):
            yield found
        elif isinstance(sample, int) and sample:
            # A reservoir: each chunk is among those kept with the same chance, however many there are.
            seen += 1
            if len(kept) < sample:
                kept.append(found)
            elif (at := random.randrange(seen)) < sample:
                kept[at] = found
    yield from kept


def _check(survey: Survey, report: Report, found: list[Chunk]) -> Iterator[Fault]:
    pairs = ((survey.layout(path), key, coords) for path, key, coords in found)
    steps = [chunks.check_steps(layout, key, coords) for layout, key, coords in pairs if layout is not None]
    report.chunks += len(steps)
    for faults in survey.run(steps):
        yield from faults


def _with_copies(survey: Survey, faults: Iterable[Fault]) -> Iterator[Fault]:
    """Say of damaged and missing documents that consolidated metadata have them."""
    left = {path for path in survey.healthy_copies if path not in survey.documents}
    for fault in faults:
        if fault.kind == "parent-missing" and fault.path in left:
            continue
        copied = survey.healthy_copies.get(fault.path)
        # The copy of a document of format 2 does not mend one of format 3 in the same place.
        if copied and fault.kind.startswith("document-") and fault.key.endswith("zarr.json") == ("zarr.json" in copied):
            fault = fault.as_mendable("Consolidated metadata have the document.")
        yield fault
    for path in sorted(left):
        name = min(survey.healthy_copies[path])
        text = "there is no document, though there are keys below. Consolidated metadata have the document."
        yield Fault("document-missing", node_key(path, name), path, text, mendable=True)
