"""A new file made of bytes at hand and ranges of the file that it replaces.

What is kept goes through one small buffer, so a change of a large file takes little memory; the result takes the old
file's place in one step, as every value does. Changing the old file itself would be cheaper, and a reader could see
half of it. (The kernel's own copy from file to file was measured: never faster than a buffer that stays in the cache.)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from zarr.storage.local.files import open_regular, replace_file

Part = memoryview | tuple[int, int]
"""Bytes, or the range (start, end) of the old file."""

_PIECE: Final = 256 << 10


def splice_file(path: str, parts: Sequence[Part], *, fsync: bool = False) -> None:
    """Replace a file.

    Parameters
    ----------
    path : str
    parts : sequence of memoryview or (start, end)
        What the new file holds, in order; ranges are of the old one.
    fsync : bool
        Have the value on the disk before it is named, and its name after.

    Raises
    ------
    EOFError
        The old file ends before a range does, or is not there.
    OSError
        As the system says; the old file is still there.
    """
    opened = open_regular(path)
    if opened is None:
        raise EOFError(f"{path} is gone")
    source, size = opened
    try:
        end = max((part[1] for part in parts if isinstance(part, tuple)), default=0)
        if end > size:
            raise EOFError(f"{path} holds {size} bytes where {end} are needed")
        replace_file(path, lambda fd: _write_parts(fd, source, parts), fsync=fsync)
    finally:
        os.close(source)


def _write_parts(fd: int, source: int, parts: Sequence[Part]) -> None:
    scratch = memoryview(bytearray(_PIECE))
    for part in parts:
        if isinstance(part, tuple):
            _copy_range(source, fd, part[0], part[1] - part[0], scratch)
        else:
            write_all(fd, part)


def write_all(fd: int, data: memoryview) -> None:
    """Write all bytes, in as many calls as it takes."""
    while data:
        data = data[os.write(fd, data) :]


def _copy_range(source: int, fd: int, start: int, count: int, scratch: memoryview) -> None:
    os.lseek(source, start, os.SEEK_SET)
    while count > 0:
        got = _read_into(source, scratch[: min(count, len(scratch))])
        if not got:
            raise EOFError(f"the file became shorter while it was copied: {count} bytes are missing")
        write_all(fd, scratch[:got])
        count -= got


def _read_into(source: int, scratch: memoryview) -> int:
    if hasattr(os, "readv"):
        return os.readv(source, [scratch])
    data = os.read(source, len(scratch))
    scratch[: len(data)] = data
    return len(data)
