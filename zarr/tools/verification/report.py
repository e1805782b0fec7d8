"""What the search for faults returns: faults, and a report of them for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

from zarr._records import record, set_values
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
"""The most faults of one kind that a report lists; the others are counted, lest a report fills the memory."""


@record(frozen=True)
class Fault:
    """One thing that is wrong in a hierarchy.

    Parameters
    ----------
    kind : str
        Which kind of fault; :func:`zarr.tools.verify` lists them.
    key : str
        The key of the store at which it is.
    path : str
        The path of the node in the store.
    text : str
        What is wrong, with which numbers, and what to do.
    mendable : bool
        Whether :func:`zarr.tools.repair` mends it.
    """

    kind: Kind
    key: str
    path: str
    text: str
    mendable: bool

    def __init__(self, kind: Kind, key: str, path: str, text: str, mendable: bool = False) -> None:
        set_values(self, kind=kind, key=key, path=path, text=text, mendable=mendable)

    def __str__(self) -> str:
        return one_line(f"{self.kind}: {self.key}: {self.text}{' (repair mends it)' if self.mendable else ''}")

    def as_mendable(self, why: str = "") -> Fault:
        """Return the same fault as one that a repair mends, and say why it can."""
        return Fault(self.kind, self.key, self.path, f"{self.text} {why}" if why else self.text, True)

    def to_json(self) -> dict[str, Any]:
        """Return the fault as a JSON value."""
        names = ("kind", "key", "path", "text", "mendable")
        return {name: getattr(self, name) for name in names}


class Report:
    """What a search for faults has found; true if it has found none.

    Parameters
    ----------
    place : str
        What was searched.

    Attributes
    ----------
    faults : list of Fault
        At most ``MOST_LISTED`` of each kind.
    counts : Counter
        How many faults of each kind there are, those included that are not listed.
    nodes : int
        The number of nodes.
    chunks : int
        The number of chunks, or shards, that were read.

    Examples
    --------
    >>> report = Report("memory")
    >>> report.add([Fault("key-stray", "x", "", "no part of the hierarchy.")])
    >>> bool(report), report.counts["key-stray"]
    (False, 1)
    """

    def __init__(self, place: str) -> None:
        self.place = place
        self.faults: list[Fault] = []
        self.counts: Counter[str] = Counter()
        self.nodes = self.chunks = 0

    def add(self, faults: Iterable[Fault]) -> None:
        """Take faults in."""
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
        if not self.counts:
            return f"{self.place}: no fault found ({seen})"
        lines = [f"{one_line(self.place)}: {self.counts.total()} faults ({seen})", *map(str, self.faults)]
        unlisted = self.counts.total() - len(self.faults)
        return "\n".join([*lines, f"and {unlisted} more"] if unlisted else lines)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON value: the attributes by their names, and ``sound``."""
        return {
            "place": self.place,
            "sound": bool(self),
            "nodes": self.nodes,
            "chunks": self.chunks,
            "counts": dict(self.counts),
            "faults": [fault.to_json() for fault in self.faults],
        }
