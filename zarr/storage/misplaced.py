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


def check_clearable(path: str) -> None:
    """Refuse to empty the root of a file system or the home folder of the user: a mistyped path is all that asks it.

    Raises
    ------
    PermissionError
        If the folder is one of these and something is in it.
    """
    folder = os.path.realpath(path)
    is_root, is_home = os.path.dirname(folder) == folder, folder == os.path.realpath(os.path.expanduser("~"))
    if not (is_root or is_home) or not os.path.isdir(folder):
        return
    with os.scandir(folder) as entries:
        if next(entries, None) is not None:
            what = "the root of the file system" if is_root else "your home folder"
            reason = f"all of {what} would be removed; name a folder in it, or empty it yourself"
            raise PermissionError(errno.EPERM, reason, folder)
