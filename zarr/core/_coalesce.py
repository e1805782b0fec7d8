"""Ranges of one value, read together where they lie near each other.

Needed by programs that import `coalesced_get` from here; stores of this library join ranges in ``Store.get_ranges``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import cast

from zarr.abc.store import ByteRequest, RangeByteRequest
from zarr.abc.stores.async_store import ranges_of
from zarr.abc.stores.protocols import merge_requests
from zarr.buffer.core import Buffer


def coalesce_ranges(
    byte_ranges: Sequence[ByteRequest | None], *, max_gap_bytes: int, max_coalesced_bytes: int
) -> tuple[list[list[tuple[int, RangeByteRequest]]], list[tuple[int, ByteRequest | None]]]:
    """Group byte ranges that lie near each other.

    Parameters
    ----------
    byte_ranges : sequence of byte requests
    max_gap_bytes : int
        The maximal number of unneeded bytes between two ranges of one group.
    max_coalesced_bytes : int
        The maximal length of a group of several ranges.

    Returns
    -------
    groups : list of lists
        Of pairs of an index and its range, in the order of their starts.
    others : list
        Pairs of an index and its request, for those that are no ranges.

    Examples
    --------
    >>> near, far = RangeByteRequest(0, 2), RangeByteRequest(4, 6)
    >>> coalesce_ranges([near, None, far], max_gap_bytes=0, max_coalesced_bytes=10)[1]
    [(1, None)]
    """
    groups: list[list[tuple[int, RangeByteRequest]]] = []
    others: list[tuple[int, ByteRequest | None]] = []
    for request in merge_requests(byte_ranges, max_gap_bytes=max_gap_bytes, max_coalesced_bytes=max_coalesced_bytes):
        if isinstance(request.byte_range, RangeByteRequest):
            groups.append([(i, cast("RangeByteRequest", byte_ranges[i])) for i, _ in request.members])
        else:
            others.append((request.members[0][0], request.byte_range))
    return groups, others


def coalesced_get(
    fetch: Callable[[ByteRequest | None], Awaitable[Buffer | None]],
    byte_ranges: Sequence[ByteRequest | None],
    *,
    max_concurrency: int,
    max_gap_bytes: int,
    max_coalesced_bytes: int,
) -> AsyncGenerator[Sequence[tuple[int, Buffer | None]], None]:
    """Read several ranges of one value, ranges that lie near each other in one request.

    Parameters
    ----------
    fetch : coroutine function
        Takes a byte request, returns its bytes, or None if there is no value.
    byte_ranges : sequence of byte requests
    max_concurrency : int
        The maximal number of concurrent requests.
    max_gap_bytes : int
    max_coalesced_bytes : int
        As in `coalesce_ranges`.

    Returns
    -------
    async iterator
        For each finished request, in any order, pairs of the index of a part and its bytes.

    Raises
    ------
    ExceptionGroup
        If requests fail; it holds a FileNotFoundError if there is no value. The other requests are cancelled.

    Examples
    --------
    >>> import asyncio
    >>> from zarr.buffer.cpu import Buffer
    >>> async def fetch(byte_range):
    ...     return Buffer.from_bytes(b"abcdef"[byte_range.start : byte_range.end])
    >>> async def main():
    ...     limits = dict(max_concurrency=1, max_gap_bytes=9, max_coalesced_bytes=9)
    ...     ranges = [RangeByteRequest(4, 6), RangeByteRequest(0, 1)]
    ...     return [(i, b.to_bytes()) async for done in coalesced_get(fetch, ranges, **limits) for i, b in done]
    >>> asyncio.run(main())
    [(1, b'a'), (0, b'ef')]
    """
    limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
    return ranges_of(fetch, "value", byte_ranges, max_concurrency, **limits)
