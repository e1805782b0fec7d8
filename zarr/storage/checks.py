"""Checks of values before they are stored, and of objects found in place of a value."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from zarr.abc.store import SyncStore
from zarr.buffer import cpu
from zarr.buffer.core import Buffer
from zarr.errors import (
    ArrayTooLargeError,
    FileInPlaceError,
    FolderInPlaceError,
    MetadataValidationError,
    NotAValueError,
    StoreDamagedError,
)


def check_buffer(store: object, value: object) -> Buffer:
    """Refuse a value that is no Buffer; the message names the store.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> check_buffer(None, b"bytes")
    Traceback (most recent call last):
    ...
    TypeError: NoneType.set(): `value` must be a Buffer instance. Got an instance of <class 'bytes'> instead.
    """
    if type(value) is not cpu.Buffer and not isinstance(value, Buffer):
        raise TypeError(
            f"{type(store).__name__}.set(): `value` must be a Buffer instance. "
            f"Got an instance of {type(value)} instead."
        )
    return value


def require(good: object, message: str) -> None:
    """Refuse a document that lacks a required member.

    Raises
    ------
    MetadataValidationError

    Examples
    --------
    >>> require(True, "a/zarr.json: shape must be a list")
    """
    if not good:
        raise MetadataValidationError(message)


def parse_object(raw: bytes, name: str) -> dict[str, Any]:
    """Parse a document that must be a JSON object.

    Raises
    ------
    MetadataValidationError

    Examples
    --------
    >>> parse_object(b'{"n5": "2.0.0"}', "attributes.json")
    {'n5': '2.0.0'}
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise MetadataValidationError(f"The document {name!r} is not valid JSON: {error}.") from error
    require(isinstance(document, dict), f"The document {name!r} must be a JSON object.")
    return dict(document)


class SameObject:
    """A stamp that is equal only to one of the same object, while that object exists; it does not keep it alive.

    Examples
    --------
    >>> one, other = {1}, {1}
    >>> SameObject(one) == SameObject(one), SameObject(one) == SameObject(other)
    (True, False)
    """

    __slots__ = ("_name", "_value")

    def __init__(self, value: object) -> None:
        self._name = id(value)
        self._value = weakref.ref(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and (value := self._value()) is not None and value is other._value()

    def __hash__(self) -> int:
        return self._name


def frozen(value: Buffer) -> Buffer:
    """Return a copy of a buffer that cannot be changed: an encoded value may be a view of an array of the caller."""
    return type(value).from_bytes(value.to_bytes())


_LARGE: Final = 16 << 20
"""A value of fewer bytes is not the reason if memory runs out."""


def file_in_place(path: str) -> FileInPlaceError:
    """Return the error for a path that goes through a file; it names that file."""
    above = path
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    return FileInPlaceError("a file", above, errno.ENOTDIR)


def not_regular(mode: int, path: str) -> OSError:
    """Return the error for an object that is no regular file."""
    if stat.S_ISDIR(mode):
        return FolderInPlaceError("a directory", path, errno.EISDIR)
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return NotAValueError(kind, path, errno.EINVAL)


def value_size(path: str) -> int:
    """Return the number of bytes of a file.

    Raises
    ------
    NotAValueError
        If the object is no file, or a link that leads nowhere.
    FileNotFoundError
        If there is nothing.
    """
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        try:
            status = os.stat(path)
        except OSError as error:
            if not os.path.islink(path):
                raise
            circle = error.errno == errno.ELOOP
            what = "a symbolic link that leads in a circle" if circle else "a symbolic link to nothing"
            raise NotAValueError(what, path, error.errno or 0) from None
    if not stat.S_ISREG(status.st_mode):
        raise not_regular(status.st_mode, path)
    return status.st_size


@cache
def memory_of_machine() -> int:
    """Return the number of bytes of memory of the machine; infinity if the system does not tell.

    Examples
    --------
    >>> memory_of_machine() > 0
    True
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize


def check_memory(store: SyncStore, keys: Sequence[str]) -> None:
    """Raise an error that names the value that is too large for memory, if there is one among some keys.

    Raises
    ------
    ArrayTooLargeError
    """
    sizes = [(store.getsize_sync(key), key) for key in keys if store.exists_sync(key)]
    size, key = max(sizes, default=(0, ""))
    if size >= _LARGE:
        raise ArrayTooLargeError(f"the value of key {key!r} of {store!r} has {size} bytes, which do not fit in memory")


def check_clearable(path: str) -> None:
    """Refuse to empty the root of a file system or the home folder: probably the path is mistyped.

    Raises
    ------
    PermissionError
        If the folder is one of these and is not empty.
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


class DamagedDatabaseError(OSError, StoreDamagedError):
    """A file that SQLite or LMDB cannot read as a database.

    Examples
    --------
    >>> raise DamagedDatabaseError(5, "not a database", "data.sqlite")
    Traceback (most recent call last):
    ...
    zarr.storage.checks.DamagedDatabaseError: [Errno 5] not a database: 'data.sqlite'
    """


def cannot_create(error: OSError, path: str) -> OSError:
    """Return the error if a file or a folder cannot be created: of the same class, with advice.

    Parameters
    ----------
    error : OSError
        The error of the system.
    path : str
        The path that could not be created.

    Examples
    --------
    >>> print(cannot_create(PermissionError(13, "Permission denied"), "/a place/that is not/x.zarr"))
    [Errno 13] Permission denied; nothing can be made in '/': choose another place, or have this one made writable: \
'/a place/that is not/x.zarr'
    """
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    reason = (
        f"{error.strerror}; nothing can be made in {folder!r}: choose another place, or have this one made writable"
    )
    return OSError(error.errno, reason, path)
