"""The result of the search for faults: faults, and a report of them for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from zarr.tools.contents.canonical import one_line

Kind: TypeAlias = Literal[
    "no-node", "document-unreadable", "document-invalid", "document-nonconforming", "document-missing",
    "two-formats", "array-and-group", "node-below-array", "parent-missing", "format-mismatch",
    "codec-unknown", "copy-stale", "copy-unreadable", "chunk-truncated", "chunk-too-long", "chunk-too-large",
    "chunk-undecodable", "chunk-checksum", "chunk-outside-grid", "shard-index", "shard-range-outside",
    "shard-overlap", "key-misplaced", "key-stray", "key-unreadable", "left-over-value", "left-over-locks",
    "left-over-journal", "left-over-job",
]  # fmt: skip

MOST_LISTED: Final = 10_000
"""Maximum number of listed faults of one kind; the others are counted, so that a report does not fill the memory."""


@dataclass(frozen=True)
class Fault:
    """One fault of a hierarchy.

    Parameters
    ----------
    kind : str
        The kind of fault; :func:`zarr.tools.verify` lists them.
    key : str
        The key with the fault.
    path : str
        The path of the node in the store.
    text : str
        The fault, with its numbers, and advice.
    mendable : bool
        True if :func:`zarr.tools.repair` mends it.

    Examples
    --------
    >>> import zarr
    >>> zarr.tools.verify(zarr.array([1, 2])).faults
    []
    """

    kind: Kind
    key: str
    path: str
    text: str
    mendable: bool = False

    def __str__(self) -> str:
        return one_line(f"{self.kind}: {self.key}: {self.text}{' (repair mends it)' if self.mendable else ''}")

    def as_mendable(self, why: str = "") -> Fault:
        """Return the same fault as one that a repair mends, with the reason.

        Parameters
        ----------
        why : str
            Why and how it can be mended.

        Returns
        -------
        Fault
        """
        return Fault(self.kind, self.key, self.path, f"{self.text} {why}" if why else self.text, True)

    def to_json(self) -> dict[str, Any]:
        """Return the fault as a JSON value."""
        return dict(vars(self))


class Report:
    """The result of a search for faults; true if there are none.

    Parameters
    ----------
    place : str
        The searched place.
    listed : bool, default True
        If True, all keys were listed; if False, only the keys of an intact hierarchy were searched.

    Attributes
    ----------
    faults : list of Fault
        At most ``MOST_LISTED`` of each kind.
    counts : Counter
        The number of faults of each kind, with those that are not listed.
    nodes : int
        The number of nodes.
    chunks : int
        The number of chunks, or shards, that were read.

    Examples
    --------
    >>> from zarr.tools import Fault, Report
    >>> report = Report("memory")
    >>> report.add([Fault("key-stray", "x", "", "no part of the hierarchy.")])
    >>> bool(report), report.counts["key-stray"]
    (False, 1)
    """

    def __init__(self, place: str, listed: bool = True) -> None:
        self.place, self.listed = place, listed
        self.faults: list[Fault] = []
        self.counts: Counter[str] = Counter()
        self.nodes = self.chunks = 0

    def add(self, faults: Iterable[Fault]) -> None:
        """Add faults.

        Parameters
        ----------
        faults : Iterable[Fault]
            The found faults.
        """
        for fault in faults:
            self.counts[fault.kind] += 1
            if self.counts[fault.kind] <= MOST_LISTED:
                self.faults.append(fault)

    def __bool__(self) -> bool:
        return not self.counts

    def __repr__(self) -> str:
        return f"<Report of {self.place}: {self.counts.total()} faults, {self.nodes} nodes, {self.chunks} chunks read>"

    def __str__(self) -> str:
        seen = f"{self.nodes} nodes, {self.chunks} chunks read"
        seen += "" if self.listed else "; the store cannot list: stray keys were not searched for"
        if not self.counts:
            return f"{self.place}: no fault found ({seen})"
        total = self.counts.total()
        lines = [f"{self.place}: {total} fault{'s' * (total > 1)} ({seen})", *map(str, self.faults)]
        unlisted = total - len(self.faults)
        return "\n".join([*lines, f"and {unlisted} more"] if unlisted else lines)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON value: the attributes by their names, and ``sound``."""
        return {
            "place": self.place,
            "sound": bool(self),
            "listed": self.listed,
            "nodes": self.nodes,
            "chunks": self.chunks,
            "counts": dict(self.counts),
            "faults": [fault.to_json() for fault in self.faults],
        }
