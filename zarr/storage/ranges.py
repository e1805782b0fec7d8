"""Byte requests as slices of a value, and prefixes as ranges of sorted keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.errors import WrongTypeError
from zarr.storage.keys import dir_prefix, is_key


def bounds_of(byte_range: ByteRequest, size: int) -> tuple[int, int]:
    """Return the begin and the end of a byte request in a value of ``size`` bytes.

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
    """Refuse a byte request that is valid for no value; services interpret negative numbers in different ways.

    Raises
    ------
    WrongTypeError
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
        raise WrongTypeError(f"Unexpected byte_range, got {byte_range!r}.")
    if not good:
        raise ValueError(f"byte range {byte_range!r} is negative or ends before it begins")


def slice_of(byte_range: ByteRequest, size: int) -> slice:
    """Return the bounds of a byte request as a slice.

    Examples
    --------
    >>> slice_of(OffsetByteRequest(4), 10)
    slice(4, 10, None)
    """
    start, stop = bounds_of(byte_range, size)
    return slice(start, stop)


_LAST: Final = chr(0x10FFFF)


def key_after(prefix: str) -> str | None:
    """Return the first string after all strings with a prefix, in the order of code points; None if there is none.

    Examples
    --------
    >>> key_after("a/b/"), key_after("")
    ('a/b0', None)
    """
    stem = prefix.rstrip(_LAST)
    if not stem:
        return None
    following = ord(stem[-1]) + 1
    if 0xD800 <= following <= 0xDFFF:  # surrogates are no characters and cannot be stored
        following = 0xE000
    return stem[:-1] + chr(following)


def child_names_in_order(prefix: str, keys_from: Callable[[str, str | None], Iterator[str]]) -> list[str]:
    """Return the names directly under a prefix; the keys below each folder are skipped.

    Parameters
    ----------
    prefix : str
    keys_from : callable
        Takes a first key and a last key, and yields the stored keys from the first up to, not including, the last,
        in order.

    Examples
    --------
    >>> keys = ["a/b", "a/c/1", "a/c/2", "d"]
    >>> child_names_in_order("a", lambda low, high: iter([k for k in keys if low <= k and (high is None or k < high)]))
    ['b', 'c']
    """
    start = dir_prefix(prefix)
    stop = key_after(start)
    low: str | None = start
    names: dict[str, None] = {}
    while low is not None:
        position, low = low, None
        for key in keys_from(position, stop):
            name, slash, _ = key[len(start) :].partition("/")
            if is_key(start + name):
                names[name] = None
            if slash:
                low = key_after(f"{start}{name}/")
                break
    return list(names)
