"""Whether an LMDB file is whole. LMDB maps it and believes it: a page that is not in the file ends the process.

The file (LMDB 0.9, data version 1) is an array of pages. The first two are meta pages, of which the one with the
higher transaction is valid; it names the roots of two B-trees. Pages that were taken and given back in one transaction
are never written, so that a file may be shorter than its meta page says: only then the trees are walked.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from typing import IO, Final, NoReturn, TypeAlias

from zarr.storage.damaged import DamagedDatabaseError

_MAGIC: Final = 0xBEEFC0DE
_PAGE: Final = struct.Struct("=QHHHH")  # number, padding, flags, end of the offsets (from here: lower), upper
_META: Final = struct.Struct("=IIQQ")  # magic, version, address, size of the map
_TREE: Final = struct.Struct("=IHHQQQQQ")  # page size, flags, depth, pages of three kinds, entries, root
_BRANCH, _LEAF = 1, 2
_BIG: Final = 1
_NONE: Final = 2**64 - 1
_MOST_DEEP: Final = 32
_TRIES: Final = 10

Meta: TypeAlias = tuple[int, int, int, list[int]]
"""The transaction, page size, last page and roots that a meta page names."""


def check_whole(path: str) -> None:
    """Refuse a file that ends before its pages do.

    Parameters
    ----------
    path : str
        There need not be such a file.

    Raises
    ------
    DamagedDatabaseError
    """
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except OSError:
        return
    with file:
        for _ in range(_TRIES):
            before = _newest(file)
            try:
                _check(file, path, before)
            except DamagedDatabaseError:
                if _newest(file) == before:
                    raise
                continue  # somebody else has written meanwhile, and pages were used again
            return


def _check(file: IO[bytes], path: str, newest: Meta | None) -> None:
    if newest is None:
        return  # LMDB says what is wrong
    _, page_size, last, roots = newest
    size = file.seek(0, 2)  # after the meta page was read: the file grows before that page names more
    if (last + 1) * page_size <= size:
        return
    for root in roots:
        for number, count in _pages_of(file, path, root, page_size):
            if (number + count) * page_size > size:
                _refuse(path, f"it ends after {size} bytes, within page {number} of {page_size} bytes")


def _newest(file: IO[bytes]) -> Meta | None:
    found = [meta for meta in (_meta_at(file, 0), _meta_at(file, None)) if meta is not None]
    return max(found) if found else None


def _refuse(path: str, what: str) -> NoReturn:
    raise DamagedDatabaseError(errno.EIO, f"LMDB: the file is damaged or cut off: {what}", path)


def _meta_at(file: IO[bytes], offset: int | None) -> Meta | None:
    """The transaction, page size, last page and roots that a meta page names; None: that of the second meta page."""
    if offset is None:
        first = _meta_at(file, 0)
        offset = first[1] if first is not None else 4096
    file.seek(offset + _PAGE.size)
    raw = file.read(_META.size + 2 * _TREE.size + 16)
    if len(raw) < _META.size + 2 * _TREE.size + 16 or _META.unpack_from(raw)[0] != _MAGIC:
        return None
    trees = [_TREE.unpack_from(raw, _META.size + k * _TREE.size) for k in range(2)]
    last, transaction = struct.unpack_from("=QQ", raw, _META.size + 2 * _TREE.size)
    page_size = trees[0][0]
    if not 256 <= page_size <= 65536 or last > 2**48:
        return None
    return transaction, page_size, last, [tree[-1] for tree in trees if tree[-1] != _NONE]


def _pages_of(file: IO[bytes], path: str, root: int, page_size: int) -> Iterator[tuple[int, int]]:
    """All pages of a tree: the number of each, and of how many it is the first."""
    todo = [(root, 0)]
    while todo:
        number, depth = todo.pop()
        yield number, 1
        file.seek(number * page_size)
        page = file.read(page_size)
        if len(page) < page_size or depth > _MOST_DEEP:
            _refuse(path, f"page {number} is not there")
        flags, lower = _PAGE.unpack_from(page)[2:4]
        for offset in struct.unpack_from(f"={max(0, min(lower, page_size) - _PAGE.size) // 2}H", page, _PAGE.size):
            if offset + 8 > page_size:
                _refuse(path, f"page {number} has an entry at {offset}")
            low, high, kind, key_size = struct.unpack_from("=4H", page, offset)
            if flags & _BRANCH:
                todo.append((low | high << 16 | kind << 32, depth + 1))
            elif flags & _LEAF and kind & _BIG and offset + 16 + key_size <= page_size:
                (first,) = struct.unpack_from("=Q", page, offset + 8 + key_size)
                yield first, -(-((low | high << 16) + _PAGE.size) // page_size)
