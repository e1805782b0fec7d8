"""File names: where the value of a key lies, and what Windows and macOS make of long names and of case."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from zarr._lazy import LazyModule
from zarr.errors import KeyNotAllowedError
from zarr.storage.keys import WINDOWS as WINDOWS

if TYPE_CHECKING:
    import ntpath
else:
    ntpath = LazyModule("ntpath")

try:
    import fcntl as fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ASK_FOR_PATH: Final[int | None] = getattr(fcntl, "F_GETPATH", None)
"""The question of macOS for the path of an open file, in the case that the file has."""

_LONGEST_PATH: Final = 1024
_EXTENDED: Final = "\\\\?\\"


def extended(path: str) -> str:
    r"""Return an absolute path of Windows in the form that may have more than 259 characters.

    In this form the system takes every name as it is: one that ends with a dot or is that of a device, too.
    (Microsoft, "Maximum Path Length Limitation")

    Examples
    --------
    >>> print(extended("C:/data/../a"), extended("//server/share/a"))
    \\?\C:\a \\?\UNC\server\share\a
    """
    path = ntpath.normpath(path.replace("/", "\\"))
    if path.startswith(_EXTENDED):
        return path
    return f"{_EXTENDED}UNC{path[1:]}" if path.startswith("\\\\") else _EXTENDED + path


def below(folder: str, key: str) -> str:
    """Return the path of the value of a key in a folder, or of the folder for the empty key.

    Raises
    ------
    KeyNotAllowedError
        On Windows, if the key has a colon: behind it, the system reads the name of another part of the same file.

    Examples
    --------
    >>> below("/data/a.zarr", "c/0")
    '/data/a.zarr/c/0'
    """
    if not WINDOWS:
        return os.path.join(folder, key) if key else folder
    if ":" in key:
        raise KeyNotAllowedError(f"key {key!r} is not allowed in a folder on Windows: file names have no ':' there")
    return extended(ntpath.join(folder, key))


def true_path(path: str) -> str:
    """Return the path of a folder without links; on macOS in the case that the folder was made with.

    File systems that fold case give one folder under many names. Windows, too, returns the one it was made with.

    Examples
    --------
    >>> true_path("/./")
    '/'
    """
    found = os.path.realpath(path)
    if ASK_FOR_PATH is None:
        return found
    try:
        fd = os.open(found, os.O_RDONLY)
    except OSError:  # not there yet
        return found
    try:
        answer: bytes = fcntl.fcntl(fd, ASK_FOR_PATH, bytes(_LONGEST_PATH))
    except OSError:
        return found
    finally:
        os.close(fd)
    return os.fsdecode(answer.rstrip(b"\0"))
