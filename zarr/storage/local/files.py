"""Read and write whole files so that no reader sees a half-written value, on any platform.

A value is written to a partial file beside its place and then renamed. The name of a partial file has the id of the
process that writes it, so that the file of a dead process can be recognised.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import zarr_core
from zarr.errors import FolderInPlaceError, NotAValueError, ValueReplacedError
from zarr.storage.checks import cannot_create, file_in_place, not_regular
from zarr.storage.keys import METADATA_NAMES, WINDOWS
from zarr.storage.local.names import fcntl

T = TypeVar("T", str, Path)
_READ_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINKS: Final = frozenset(
    getattr(errno, name)
    for name in ("EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV", "EINVAL")
    if hasattr(errno, name)
)
_NO_DEVICE: Final = frozenset((errno.ENXIO, errno.ENODEV))
_LONGEST_STEM: Final = 160
_LONGEST_GUARD_SECONDS: Final = 10.0
ATTEMPTS: Final = 40
# Not from 0: in containers, a new process often has the id of the last one, and must not use files of that one.
_numbers = itertools.count(int.from_bytes(os.urandom(5)))

_DOCUMENT_ENDS: Final = (*METADATA_NAMES, "attributes.json", ".array.json", ".group.json")
"""The ends of the names of documents of all layouts."""


def partial_name(name: str) -> str:
    """Return a unique name for the partial file of ``name``; it is not too long, even if ``name`` is very long."""
    stem = name if len(name) <= _LONGEST_STEM and len(os.fsencode(name)) <= _LONGEST_STEM else name[:32]
    return f".{stem}.{os.getpid():x}-{next(_numbers):x}.partial"


# Reading


def open_regular(path: str) -> tuple[int, int] | None:
    """Open a file for reading: return its descriptor and its size, or None if there is no such file.

    Raises
    ------
    IsADirectoryError, OSError
        If something that is no file (a directory, a pipe, a device) stands in its place: it must neither count as a
        missing value nor block the reader.
    """
    try:
        fd = os.open(path, _READ_FLAGS)
    except FileNotFoundError:
        if os.path.islink(path):
            raise NotAValueError("a symbolic link to nothing", path, errno.ENOENT) from None
        return None
    except NotADirectoryError:
        # A file where a directory should be: to find a node, documents are read below files, too.
        if os.path.basename(path).endswith(_DOCUMENT_ENDS):
            return None
        raise file_in_place(path) from None
    except PermissionError:
        if WINDOWS and os.path.isdir(path):
            raise FolderInPlaceError("a directory", path, errno.EISDIR) from None
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotAValueError("a symbolic link that leads in a circle", path, errno.ELOOP) from None
        if error.errno == errno.ENAMETOOLONG:  # nothing can be there
            return None
        if error.errno in _NO_DEVICE:
            raise NotAValueError("a socket or a device", path, error.errno or 0) from None
        raise
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise not_regular(status.st_mode, path)
    except BaseException:
        os.close(fd)
        raise
    return fd, status.st_size


def read_span(fd: int, start: int, length: int) -> bytes:
    """Read ``length`` bytes from ``start``, or fewer if the file ends before."""
    os.lseek(fd, start, os.SEEK_SET)
    data = os.read(fd, length)
    if len(data) == length or not data:
        return data
    parts = [data]
    missing = length - len(data)
    while missing > 0 and (data := os.read(fd, missing)):
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)


Bounds = Callable[[int], tuple[int, int]]
"""Returns the begin and the end of a part of a file of some size."""


def read_file(path: str, bounds: Bounds | None = None) -> bytes | None:
    """Read a file, or the part that ``bounds`` chooses for its size; None if there is no such file."""
    opened = open_regular(path)
    if opened is None:
        return None
    fd, size = opened
    try:
        start, stop = (0, size) if bounds is None else bounds(size)
        return read_span(fd, start, stop - start)
    finally:
        os.close(fd)


SETTLED_NS: Final = 100_000_000
"""File times advance in steps, mostly of a few milliseconds: a file must be at least this old to have a stamp."""

SETTLED_COARSE_NS: Final = 3_000_000_000
"""The same age for clocks that seem to advance in whole seconds."""


def file_stamp(path: str) -> tuple[int, int, int, int, int] | None:
    """Return the times, size, inode and device of a file that has not changed for a moment; None for any other file.

    A new file could be written again in the same step of the clock without a visible difference; an older one cannot be
    replaced by a file with its time. Programs that copy the time of modification (tar, rsync) cannot set the time of
    change.
    """
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def stamp_of(status: os.stat_result) -> tuple[int, int, int, int, int] | None:
    """Return the stamp of a file from its status, as :func:`file_stamp`."""
    written, changed = status.st_mtime_ns, status.st_ctime_ns
    age = time.time_ns() - max(written, changed)
    if age < SETTLED_NS or (changed % 1_000_000_000 == 0 and age < SETTLED_COARSE_NS):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return written, changed, status.st_size, status.st_ino, status.st_dev


def fresh_stamp(path: str) -> tuple[int, tuple[int, int, int, int]] | None:
    """Return the size, and the times, inode and device, of a file that was written and then renamed, however new it is.

    None unless the clock advanced between the writing and the renaming, or the file is a large document, which
    ``zarr_core.put_file`` has dated back. Then the time of modification differs after each later change, also of a new
    file that gets the same inode: it is no earlier than the renaming, or is dated back by other nanoseconds. Only a
    clock that is set back could hide a change, or times that a program sets in the same step of the clock.
    """
    try:
        fd = os.open(path, _READ_FLAGS)  # on network file systems, opening asks the server; ``stat`` may not
    except OSError:
        return None
    try:
        status = os.fstat(fd)
    finally:
        os.close(fd)
    written, changed = status.st_mtime_ns, status.st_ctime_ns
    return (status.st_size, (written, changed, status.st_ino, status.st_dev)) if written < changed else None


# Writing


def make_directories(path: str, fsync: bool = False) -> None:
    """Make a directory and those above it; with ``fsync``, synchronise the names of the new ones to the disk."""
    if os.path.isdir(path):
        return
    new = []
    above = path
    while fsync and above and not os.path.isdir(above):
        new.append(above)
        above = os.path.dirname(above)
    try:
        os.makedirs(path, exist_ok=True)
    except (FileNotFoundError, PermissionError) as error:
        raise cannot_create(error, path) from error
    for directory in reversed(new):
        sync_directory(os.path.dirname(directory) or ".")


def _create(path: str, fsync: bool) -> int:
    """Create a file that must not exist, with its directories."""
    try:
        return os.open(path, _WRITE_FLAGS, 0o666)
    except FileNotFoundError:
        make_directories(os.path.dirname(path), fsync)
    return os.open(path, _WRITE_FLAGS, 0o666)


def write_all(fd: int, data: memoryview) -> None:
    """Write all bytes, in as many calls as it takes."""
    while data:
        data = data[os.write(fd, data) :]


def sync_directory(path: str) -> None:
    """Synchronise the names in a directory to the disk, if the platform can do that."""
    if WINDOWS:
        return
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        sync_file(fd)
    finally:
        os.close(fd)


def sync_file(fd: int) -> None:
    """Have the bytes of an open file reach the disk; on macOS also those in the cache of the disk itself."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(fd, full)
            return
        except OSError:  # a file system without it, as on a network
            pass
    os.fsync(fd)


_BUSY: Final = frozenset({5, 32})  # Windows: access denied, sharing violation
RETRY_DELAYS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Pauses, in seconds, between attempts to rename a file that is open elsewhere; together less than a second."""


def move_with_retry(source: T, target: T, move: Callable[[T, T], object] | None = None) -> None:
    """Replace a file by another one, or ``move`` it. Windows refuses this while the file is open: try for a second."""
    move = move or os.replace
    for delay in RETRY_DELAYS:
        try:
            move(source, target)
        except OSError as error:
            if getattr(error, "winerror", None) not in _BUSY:
                raise
            time.sleep(delay)
        else:
            return
    move(source, target)


def sync_tree(path: str) -> None:
    """Synchronise the names in a directory, and in those below it, to the disk."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                sync_tree(entry.path)
    sync_directory(path)


def write_file(path: str, data: memoryview, *, fsync: bool = False, exclusive: bool = False) -> bool:
    """Store a value (contiguous bytes) in one step; with ``fsync``, it is on the disk before it gets its name.

    Return True if this call stored the value: with ``exclusive``, a value that is there already stays.

    Raises
    ------
    OSError
        If the system refuses; the partial file is gone and the old value still there.
    """
    attempt = 0
    while True:
        if not fsync:
            code = zarr_core.put_file(path, data, exclusive)
            if code >= 0:
                return code == 0
        # With ``fsync``; or the core failed: this way raises an error that explains the reason.
        try:
            return replace_file(path, partial(write_all, data=data), fsync=fsync, exclusive=exclusive)
        except FileNotFoundError:
            # Another process removed the folder; or a machine that cannot see our process swept the partial file: the
            # value is written again. Who removes again and again is given time to end a round.
            attempt += 1
            if attempt == ATTEMPTS:
                raise
            time.sleep(0.0001 * attempt)


def replace_file(path: str, fill: Callable[[int], None], *, fsync: bool = False, exclusive: bool = False) -> bool:
    """Replace a file by the bytes that ``fill`` writes to a descriptor, in one step; see :func:`write_file`."""
    directory, name = os.path.split(path)
    aside = os.path.join(directory, partial_name(name))
    try:
        fd = _create(aside, fsync)
        try:
            fill(fd)
            if fsync:
                sync_file(fd)
        finally:
            os.close(fd)
        if exclusive:
            stored = claim(aside, path)
        else:
            move_with_retry(aside, path)
            stored = True
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        if isinstance(error, NotADirectoryError | FileExistsError):
            raise file_in_place(directory) from error
        if isinstance(error, IsADirectoryError):
            raise FolderInPlaceError("a directory", path, errno.EISDIR) from error
        raise
    if fsync and stored:
        sync_directory(directory)
    return stored


def claim(partial: str, path: str) -> bool:
    """Give a written file its name if the name is free; of several simultaneous calls exactly one succeeds."""
    if WINDOWS:
        try:
            os.rename(partial, path)
        except FileExistsError:
            os.unlink(partial)
            return False
        return True
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _claim_without_links(partial, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
    return True


def _claim_without_links(partial: str, path: str) -> bool:
    """Name a file on a system without hard links: an empty directory, which only one process can make, guards it."""
    guard = os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:_LONGEST_STEM]}.0-0.partial")
    while not _make_guard(guard):
        if os.path.lexists(path):
            return False
        time.sleep(0.001)
    try:
        if os.path.lexists(path):
            return False
        os.replace(partial, path)
        return True
    finally:
        os.rmdir(guard)


def _make_guard(guard: str) -> bool:
    """Make the guard directory, if there is none; an old one was left by a dead process and is removed."""
    try:
        os.mkdir(guard)
    except FileExistsError:
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(guard).st_mtime > _LONGEST_GUARD_SECONDS:
                os.rmdir(guard)
        return False
    return True


def move_file(source: str, target: str) -> None:
    """Rename a file or a folder; create the folder above its new name.

    Raises
    ------
    OSError
        If the file system refuses, or there is a folder that is not empty.
    """
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(source, target)


Part = memoryview | tuple[int, int]
"""Bytes, or the range (start, end) of the old file."""

_PIECE: Final = 256 << 10


def splice_file(
    path: str, parts: Sequence[Part], *, known: Sequence[tuple[Bounds, memoryview]] = (), fsync: bool = False
) -> None:
    """Replace a file by a list of parts: bytes, or ranges (start, end) of the old file, which must contain them.

    Raises
    ------
    EOFError
        If the old file ends before a range does, or does not exist.
    ValueReplacedError
        Unless the old file holds the ``known`` bytes at their places.
    OSError
        If the system refuses; the old file is still there.
    """
    opened = open_regular(path)
    if opened is None:
        raise _replaced(path) if known else EOFError(f"{path} is gone")
    source, size = opened
    try:
        for bounds, content in known:
            start, stop = bounds(size)
            if read_span(source, start, stop - start) != content:
                raise _replaced(path)
        end = max((part[1] for part in parts if isinstance(part, tuple)), default=0)
        if end > size:
            raise EOFError(f"{path} holds {size} bytes where {end} are needed")
        replace_file(path, partial(_write_parts, source=source, parts=parts), fsync=fsync)
    finally:
        os.close(source)


def _replaced(path: str) -> ValueReplacedError:
    return ValueReplacedError(f"{path} was replaced or removed by another program while a part of it was written")


def _write_parts(fd: int, source: int, parts: Sequence[Part]) -> None:
    for part in parts:
        if isinstance(part, tuple):
            _copy_range(source, fd, *part)
        else:
            write_all(fd, part)


def _copy_range(source: int, fd: int, start: int, end: int) -> None:
    os.lseek(source, start, os.SEEK_SET)
    while start < end:
        piece = os.read(source, min(end - start, _PIECE))
        if not piece:
            raise EOFError(f"the file became shorter while it was copied: {end - start} bytes are missing")
        write_all(fd, memoryview(piece))
        start += len(piece)
