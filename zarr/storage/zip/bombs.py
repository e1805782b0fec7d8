"""Which entries of a zip file may unpack to very much: a few bytes can stand for gigabytes.

What unpacks to more than ``FREE_BYTES`` and twice its stored size, and to more than ``RATIO`` times that, is believed
only where the document of its array, in the same file, announces chunks so large.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from zarr.storage.zip.container import STORED, Entry, ZipFormatError

FREE_BYTES: Final = 32 << 20
RATIO: Final = 200
_MOST_ITEM_BYTES: Final = 64
_MOST_DOCUMENT_BYTES: Final = 1 << 20
_BITS: Final = re.compile(r"^(?:u?int|float|bfloat|complex|r)(\d+)$")


def is_swollen(entry: Entry) -> bool:
    """Whether an entry unpacks to suspiciously much.

    Examples
    --------
    >>> is_swollen(Entry("a", 8, 0, 1 << 20, 1 << 30, 0)), is_swollen(Entry("a", 8, 0, 1 << 10, 1 << 20, 0))
    (True, False)
    """
    return entry.method != STORED and entry.size > max(FREE_BYTES + 2 * entry.stored_size, RATIO * entry.stored_size)


def check_swollen(entry: Entry, entries: Mapping[str, Entry], read: Callable[[Entry], bytes]) -> None:
    """Refuse a swollen entry that no document announces.

    Parameters
    ----------
    entry : Entry
    entries : mapping
        All of the file, by name.
    read : callable
        Returns the value of an entry.

    Raises
    ------
    ZipFormatError
    """
    folder = entry.name
    while folder:
        folder = folder.rpartition("/")[0]
        for name in ("zarr.json", ".zarray"):
            document = entries.get(f"{folder}/{name}" if folder else name)
            if document is None or document is entry or document.size > _MOST_DOCUMENT_BYTES:
                continue
            if entry.size <= 2 * announced_bytes(read(document)) + FREE_BYTES:
                return
    raise ZipFormatError(
        f"entry {entry.name!r} has {entry.stored_size} bytes, which unpack to {entry.size}: more than any chunk "
        "of its array can need"
    )


def announced_bytes(raw: bytes) -> int:
    """How many bytes a chunk, or shard, has at the most that is described by a document; 0 where there is none.

    Examples
    --------
    >>> announced_bytes(b'{"chunks": [10, 10], "dtype": "<f8"}')
    800
    """
    try:
        document: Any = json.loads(raw)
        if "chunks" in document:
            shape, kind = document["chunks"], document.get("dtype")
        else:
            shape, kind = document["chunk_grid"]["configuration"]["chunk_shape"], document.get("data_type")
        return max(0, math.prod(_longest(length) for length in shape)) * _item_bytes(kind)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return 0


def _longest(length: Any) -> int:
    if isinstance(length, list):
        return max(_longest(part[0] if isinstance(part, list) else part) for part in length)
    return int(length)


def _item_bytes(kind: Any) -> int:
    if isinstance(kind, str):
        found = _BITS.match(kind)
        if found:
            return -(-int(found[1]) // 8)
        if re.fullmatch(r"[<>|][biufcmM]\d+", kind):
            return int(kind[2:])
    return _MOST_ITEM_BYTES
