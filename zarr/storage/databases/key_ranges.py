"""Prefixes as ranges of sorted keys, for stores that keep their keys in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from zarr.storage.keys import dir_prefix, is_key

_LAST: Final = chr(0x10FFFF)


def key_after(prefix: str) -> str | None:
    """The first string behind all that begin with a prefix, in the order of code points; None where none is.

    Parameters
    ----------
    prefix : str

    Returns
    -------
    str or None

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
    """The names directly under a prefix, found by jumping over what lies below each folder.

    Parameters
    ----------
    prefix : str
    keys_from : callable
        Takes a first key and a key to stop before, and yields the stored keys between them in order.

    Returns
    -------
    list of str

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
