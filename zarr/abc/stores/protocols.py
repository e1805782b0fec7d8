"""Small contracts: the place of the bytes of one chunk, and stores with some plain methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from zarr._records import record, set_values
from zarr.buffer.core import Buffer, BufferPrototype


@runtime_checkable
class ByteGetter(Protocol):
    """The place from which a codec reads the bytes of one chunk."""

    async def get(self, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None: ...


@runtime_checkable
class ByteSetter(ByteGetter, Protocol):
    """The place at which a codec reads and stores the bytes of one chunk."""

    async def set(self, value: Buffer) -> None: ...

    async def delete(self) -> None: ...

    async def set_if_not_exists(self, default: Buffer) -> None: ...


@runtime_checkable
class SyncByteGetter(Protocol):
    """The place from which a codec reads the bytes of one chunk, without an event loop."""

    def get_sync(
        self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None: ...


@runtime_checkable
class SyncByteSetter(SyncByteGetter, Protocol):
    """The place at which a codec reads and stores the bytes of one chunk, without an event loop."""

    def set_sync(self, value: Buffer) -> None: ...

    def delete_sync(self) -> None: ...


@runtime_checkable
class SupportsGetSync(Protocol):
    """A store with a plain ``get``."""

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None: ...


@runtime_checkable
class SupportsSetSync(Protocol):
    """A store with a plain ``set``."""

    def set_sync(self, key: str, value: Buffer) -> None: ...


@runtime_checkable
class SupportsDeleteSync(Protocol):
    """A store with a plain ``delete``."""

    def delete_sync(self, key: str) -> None: ...


@runtime_checkable
class SupportsSyncStore(SupportsGetSync, SupportsSetSync, SupportsDeleteSync, Protocol):
    """A store with a plain ``get``, ``set`` and ``delete``."""


def _store_supports_sync_io(store: object) -> TypeGuard[SupportsSyncStore]:
    """Return True if a store has the three plain methods, and they work.

    A wrapper answers for the store that it wraps by an attribute ``_supports_sync_io``, as in zarr-python.
    """
    return isinstance(store, SupportsSyncStore) and bool(getattr(store, "_supports_sync_io", True))


async def set_or_delete(byte_setter: ByteSetter, value: Buffer | None) -> None:
    """Set a value, or delete it if it is None.

    Parameters
    ----------
    byte_setter
        The place of the value.
    value
        The bytes, or None.
    """
    if value is None:
        await byte_setter.delete()
    else:
        await byte_setter.set(value)


@record(frozen=True)
class RangeByteRequest:
    """The bytes from ``start`` up to, not including, ``end``.

    Parameters
    ----------
    end : int
        The byte after the last.
    start : int
        The first byte.
    """

    start: int
    end: int

    def __init__(self, start: int, end: int) -> None:
        set_values(self, start=start, end=end)


@record(frozen=True)
class OffsetByteRequest:
    """The bytes from ``offset`` to the end.

    Parameters
    ----------
    offset : int
        The first byte.
    """

    offset: int

    def __init__(self, offset: int) -> None:
        set_values(self, offset=offset)


@record(frozen=True)
class SuffixByteRequest:
    """The last ``suffix`` bytes.

    Parameters
    ----------
    suffix : int
        The number of bytes at the end.
    """

    suffix: int

    def __init__(self, suffix: int) -> None:
        set_values(self, suffix=suffix)


ByteRequest: TypeAlias = RangeByteRequest | OffsetByteRequest | SuffixByteRequest


@record(frozen=True)
class MergedRequest:
    """One request that reads several ranges: its range, and the parts to cut out of the answer.

    Attributes
    ----------
    byte_range
        The range to read from the store.
    members
        For each part: its index among the requested ones, and its place in the answer (None: all of it).
    """

    byte_range: ByteRequest | None
    members: tuple[tuple[int, slice | None], ...]

    def __init__(self, byte_range: ByteRequest | None, members: tuple[tuple[int, slice | None], ...]) -> None:
        set_values(self, byte_range=byte_range, members=members)

    def split(self, answer: Buffer) -> list[tuple[int, Buffer]]:
        """Cut the answer into the requested parts."""
        return [(index, answer if place is None else answer[place]) for index, place in self.members]


def merge_requests(
    byte_ranges: Sequence[ByteRequest | None], *, max_gap_bytes: int, max_coalesced_bytes: int
) -> list[MergedRequest]:
    """Group ranges that lie near each other into fewer requests.

    Parameters
    ----------
    byte_ranges
        The requested ranges. Only ``RangeByteRequest`` can be merged; any other is a request of its own.
    max_gap_bytes
        Maximum number of unneeded bytes between two ranges of one request.
    max_coalesced_bytes
        Maximum length of a merged request. A single range may be longer.

    Examples
    --------
    >>> near, far = RangeByteRequest(0, 2), RangeByteRequest(4, 6)
    >>> [r.byte_range for r in merge_requests([far, near], max_gap_bytes=2, max_coalesced_bytes=100)]
    [RangeByteRequest(start=0, end=6)]
    """
    if len(byte_ranges) == 1:
        return [MergedRequest(byte_ranges[0], ((0, None),))]
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
