"""Byte requests as slices of a value of known length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest


def bounds_of(byte_range: ByteRequest, size: int) -> tuple[int, int]:
    """Where a byte request begins and ends in a value of ``size`` bytes.

    Parameters
    ----------
    byte_range : RangeByteRequest, OffsetByteRequest or SuffixByteRequest
    size : int

    Returns
    -------
    (start, stop)
        With ``0 <= start <= stop <= size``.

    Raises
    ------
    TypeError
        If ``byte_range`` is something else.
    ValueError
        If it has a negative number, or ends before it begins.

    Examples
    --------
    >>> bounds_of(SuffixByteRequest(3), 10)
    (7, 10)
    """
    if isinstance(byte_range, RangeByteRequest):
        start, stop = byte_range.start, byte_range.end
    elif isinstance(byte_range, OffsetByteRequest):
        start, stop = byte_range.offset, size
    elif isinstance(byte_range, SuffixByteRequest):
        start, stop = size - min(byte_range.suffix, size), size
    else:
        raise TypeError(f"Unexpected byte_range, got {byte_range!r}.")
    if start < 0 or (isinstance(byte_range, RangeByteRequest) and stop < start):
        raise ValueError(f"byte range {byte_range!r} is negative or ends before it begins")
    start = min(start, size)
    return start, max(start, min(stop, size))


def slice_of(byte_range: ByteRequest, size: int) -> slice:
    """The same as a slice.

    Examples
    --------
    >>> slice_of(OffsetByteRequest(4), 10)
    slice(4, 10, None)
    """
    start, stop = bounds_of(byte_range, size)
    return slice(start, stop)
