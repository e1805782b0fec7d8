"""Parts of a stored value, and how neighbouring parts become one request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from zarr.buffer import Buffer


@dataclass(frozen=True, slots=True)
class RangeByteRequest:
    """The bytes from ``start`` up to, not including, ``end``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OffsetByteRequest:
    """The bytes from ``offset`` to the end."""

    offset: int


@dataclass(frozen=True, slots=True)
class SuffixByteRequest:
    """The last ``suffix`` bytes."""

    suffix: int


ByteRequest: TypeAlias = RangeByteRequest | OffsetByteRequest | SuffixByteRequest


@dataclass(frozen=True, slots=True)
class MergedRequest:
    """One request that answers several: where to read, and what to cut out of the answer for whom.

    Attributes
    ----------
    byte_range
        What to ask the store for.
    members
        For each part: its index among the parts asked for, and its place in the answer (None: all of it).
    """

    byte_range: ByteRequest | None
    members: tuple[tuple[int, slice | None], ...]

    def split(self, answer: Buffer) -> list[tuple[int, Buffer]]:
        """Cut the answer into the parts that were asked for."""
        return [(index, answer if place is None else answer[place]) for index, place in self.members]


def merge_requests(
    byte_ranges: Sequence[ByteRequest | None], *, max_gap_bytes: int, max_coalesced_bytes: int
) -> list[MergedRequest]:
    """Group ranges that lie near each other into fewer requests.

    Parameters
    ----------
    byte_ranges
        What is wanted. Only ``RangeByteRequest`` can be merged; anything else is a request of its own.
    max_gap_bytes
        How many bytes nobody wants may lie between two ranges of one request.
    max_coalesced_bytes
        How long a request may become by merging. A single range may be longer.

    Examples
    --------
    >>> near, far = RangeByteRequest(0, 2), RangeByteRequest(4, 6)
    >>> [r.byte_range for r in merge_requests([far, near], max_gap_bytes=2, max_coalesced_bytes=100)]
    [RangeByteRequest(start=0, end=6)]
    """
    ranges = [(i, r) for i, r in enumerate(byte_ranges) if isinstance(r, RangeByteRequest)]
    merged: list[MergedRequest] = []
    group: list[tuple[int, RangeByteRequest]] = []
    start = end = 0
    for index, item in sorted(ranges, key=lambda pair: pair[1].start):
        near = item.start - end <= max_gap_bytes and max(end, item.end) - start <= max_coalesced_bytes
        if group and near:
            end = max(end, item.end)
        else:
            if group:
                merged.append(_merge(group, start, end))
            group, start, end = [], item.start, item.end
        group.append((index, item))
    if group:
        merged.append(_merge(group, start, end))
    merged += [MergedRequest(r, ((i, None),)) for i, r in enumerate(byte_ranges) if not isinstance(r, RangeByteRequest)]
    return merged


def _merge(group: Iterable[tuple[int, RangeByteRequest]], start: int, end: int) -> MergedRequest:
    members = tuple((index, slice(item.start - start, max(item.start, item.end) - start)) for index, item in group)
    if len(members) == 1:
        members = ((members[0][0], None),)  # type: ignore[assignment]
    return MergedRequest(RangeByteRequest(start, end), members)
