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
    check_byte_range(byte_range)
    if isinstance(byte_range, RangeByteRequest):
        start, stop = byte_range.start, byte_range.end
    elif isinstance(byte_range, OffsetByteRequest):
        start, stop = byte_range.offset, size
    else:
        start, stop = size - min(byte_range.suffix, size), size
    return min(start, size), min(stop, size)


def check_byte_range(byte_range: ByteRequest) -> None:
    """Refuse a byte request that names no part of any value; services understand negative numbers in other ways.

    Raises
    ------
    TypeError
        If ``byte_range`` is no byte request.
    ValueError
        If it has a negative number, or ends before it begins.

    Examples
    --------
    >>> check_byte_range(RangeByteRequest(0, 4))
    """
    if isinstance(byte_range, RangeByteRequest):
        good = 0 <= byte_range.start <= byte_range.end
    elif isinstance(byte_range, OffsetByteRequest):
        good = byte_range.offset >= 0
    elif isinstance(byte_range, SuffixByteRequest):
        good = byte_range.suffix >= 0
    else:
        raise TypeError(f"Unexpected byte_range, got {byte_range!r}.")
    if not good:
        raise ValueError(f"byte range {byte_range!r} is negative or ends before it begins")


def slice_of(byte_range: ByteRequest, size: int) -> slice:
    """The same as a slice.

    Examples
    --------
    >>> slice_of(OffsetByteRequest(4), 10)
    slice(4, 10, None)
    """
    start, stop = bounds_of(byte_range, size)
    return slice(start, stop)
