"""The errors for what stands where a value, or a folder of values, should be."""

from __future__ import annotations

import errno
import os
import stat

from zarr.errors import FileInPlaceError, FolderInPlaceError, NotAValueError


def file_in_place(path: str) -> FileInPlaceError:
    """The error for a path that leads through a file; it names that file."""
    above = path
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    return FileInPlaceError("a file", above, errno.ENOTDIR)


def not_regular(mode: int, path: str) -> OSError:
    """The error for what is no file."""
    if stat.S_ISDIR(mode):
        return FolderInPlaceError("a directory", path, errno.EISDIR)
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return NotAValueError(kind, path, errno.EINVAL)
