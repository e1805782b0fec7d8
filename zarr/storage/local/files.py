"""Reading and writing whole files so that a value is never seen half written, on any platform.

A value is written to a partial file beside its place and then renamed. The name of a partial file tells the process
that writes it, so that what a dead process left can be told from what a living one is writing.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import zarr_core
from zarr._lazy import LazyModule
from zarr.errors import FolderInPlaceError, NotAValueError
from zarr.storage.checks import file_in_place, not_regular, refused
from zarr.storage.keys import METADATA_NAMES, RESERVED_NAMES, is_partial, partial_owner

if TYPE_CHECKING:
    import shutil
else:
    shutil = LazyModule("shutil")


WINDOWS: Final = sys.platform == "win32"
_READ_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINKS: Final = frozenset(
    getattr(errno, name)
    for name in ("EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV", "EINVAL")
    if hasattr(errno, name)
)
_STILL_USED: Final = frozenset((errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT))
_NO_DEVICE: Final = frozenset((errno.ENXIO, errno.ENODEV))
_LONGEST_STEM: Final = 160
_LONGEST_LOOK: Final = 4096
_LONGEST_GUARD_SECONDS: Final = 10.0
_ATTEMPTS: Final = 40
# Not from 0: in containers, the next process often has the number of the last one, and must not take up what that left.
_numbers = itertools.count(int.from_bytes(os.urandom(5)))

_DOCUMENT_ENDS: Final = (*METADATA_NAMES, "attributes.json", ".array.json", ".group.json")
"""The ends of the names of documents of all layouts."""


def partial_name(name: str) -> str:
    """Return a name for the partial file of ``name``, used by nobody else; not too long where ``name`` is very long."""
    stem = name if len(name) <= _LONGEST_STEM and len(os.fsencode(name)) <= _LONGEST_STEM else name[:32]
    return f".{stem}.{os.getpid():x}-{next(_numbers):x}.partial"


# Reading


def open_regular(path: str) -> tuple[int, int] | None:
    """Open a file to read: its descriptor and its size, or None where there is no such file.

    Raises
    ------
    IsADirectoryError, OSError
        If something that is no file (a directory, a pipe, a device) stands in its place: such a thing must neither
        pass for a missing value nor keep the reader waiting.
    """
    try:
        fd = os.open(path, _READ_FLAGS)
    except FileNotFoundError:
        if os.path.islink(path):
            raise NotAValueError("a symbolic link to nothing", path, errno.ENOENT) from None
        return None
    except NotADirectoryError:
        # A file where a directory should be. Whoever looks for a node asks for documents under files, too.
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
    """Read ``length`` bytes from ``start``, or fewer where the file ends before."""
    if start:
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


def read_file(path: str, bounds: Callable[[int], tuple[int, int]] | None = None) -> bytes | None:
    """Read a file, or the part of it that ``bounds`` picks when told its size; None where there is no such file."""
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
"""Clocks of file systems go in steps, of a few milliseconds mostly: a file must be so old to have a stamp."""

SETTLED_COARSE_NS: Final = 3_000_000_000
"""The same where the clock seems to go in whole seconds."""


def file_stamp(path: str) -> tuple[int, int, int, int, int] | None:
    """Return the times, size, inode and device of a file that has not changed for a moment; None for any other.

    A file that was just written could be written again in the same tick of the clock, and nothing would show it; one
    that is older cannot be replaced by a file of its time. Who copies a file's time of modification along with its
    contents (tar, rsync) cannot set its time of change.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    written, changed = status.st_mtime_ns, status.st_ctime_ns
    age = time.time_ns() - max(written, changed)
    if age < SETTLED_NS or (changed % 1_000_000_000 == 0 and age < SETTLED_COARSE_NS):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return written, changed, status.st_size, status.st_ino, status.st_dev


# Writing


def make_directories(path: str, fsync: bool = False) -> None:
    """Make a directory and those above it; with ``fsync``, have the names of the new ones reach the disk."""
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
        raise refused(error, path) from error
    for directory in reversed(new):
        sync_directory(os.path.dirname(directory) or ".")


def _create(path: str, fsync: bool) -> int:
    """Create a file that must not be there, with its directories."""
    for _ in range(16):
        try:
            return os.open(path, _WRITE_FLAGS, 0o666)
        except FileNotFoundError:
            # Made again where somebody removes the directories at the same time.
            make_directories(os.path.dirname(path), fsync)
    return os.open(path, _WRITE_FLAGS, 0o666)


def write_all(fd: int, data: memoryview) -> None:
    """Write all bytes, in as many calls as it takes."""
    while data:
        data = data[os.write(fd, data) :]


def sync_directory(path: str) -> None:
    """Have the names in a directory reach the disk, where the platform can do that."""
    if WINDOWS:
        return
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _patiently(action: Callable[[], None]) -> None:
    """Do a rename. On Windows it is refused while somebody has the file open, which passes: try for a second."""
    if WINDOWS:
        deadline = time.monotonic() + 1.0
        pause = 0.001
        while time.monotonic() < deadline:
            try:
                action()
            except PermissionError:
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
            else:
                return
    action()


def sync_tree(path: str) -> None:
    """Have the names in a directory, and in those below it, reach the disk."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                sync_tree(entry.path)
    sync_directory(path)


def write_file(path: str, data: memoryview, *, fsync: bool = False, exclusive: bool = False) -> bool:
    """Put a value (contiguous bytes) in its place in one step; with ``fsync``, it is on the disk before it is named.

    Return whether this call stored the value: with ``exclusive``, one that is there already stays.

    Raises
    ------
    OSError
        If the system refuses; the partial file is gone and the old value still there.
    """
    if not fsync:
        code = zarr_core.put_file(path, data, exclusive)
        if code >= 0:
            return code == 0
    # On the disk before it is named; or the core cannot do it here: at length, with an error that says what is wrong.
    for _ in range(_ATTEMPTS - 1):
        try:
            return replace_file(path, partial(write_all, data=data), fsync=fsync, exclusive=exclusive)
        except FileNotFoundError:
            # Somebody removed the folder, or swept the partial file since our process cannot be seen from another
            # machine: neither is a reason to lose the value.
            continue
    return replace_file(path, partial(write_all, data=data), fsync=fsync, exclusive=exclusive)


def replace_file(path: str, fill: Callable[[int], None], *, fsync: bool = False, exclusive: bool = False) -> bool:
    """Put what ``fill`` writes to a descriptor in the place of a file, in one step; see :func:`write_file`."""
    directory, name = os.path.split(path)
    aside = os.path.join(directory, partial_name(name))
    try:
        fd = _create(aside, fsync)
        try:
            fill(fd)
            if fsync:
                os.fsync(fd)
        finally:
            os.close(fd)
        if exclusive:
            stored = claim(aside, path)
        else:
            _patiently(lambda: os.replace(aside, path))
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
    """Give a written file its name, if the name is free; of several who try at once, one succeeds."""
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
    """Name a file where there are no hard links: an empty directory, which only one can make, guards the step."""
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
    """Make the guard, if nobody has it; one that is older than any such step takes is a dead process's, and goes."""
    try:
        os.mkdir(guard)
    except FileExistsError:
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(guard).st_mtime > _LONGEST_GUARD_SECONDS:
                os.rmdir(guard)
        return False
    return True


# Removing


def remove_tree(path: str) -> None:
    """Remove a directory and all in it; it vanishes from sight in one step, where it can be renamed."""
    directory, name = os.path.split(path)
    hidden = os.path.join(directory, partial_name(name))
    try:
        os.rename(path, hidden)
    except FileNotFoundError:
        return
    except OSError:
        hidden = path
    remove_replaced(hidden)


def remove_folder(path: str, *, ignore_errors: bool = False) -> None:
    """Remove a directory and all in it, however deep."""
    try:
        shutil.rmtree(path, ignore_errors=ignore_errors)
    except RecursionError:  # it calls itself for each folder, and Python lets no more than about a thousand calls nest
        _remove_deep(path)


def _remove_deep(path: str) -> None:
    waiting = [path]
    while waiting:
        folders = []
        with os.scandir(waiting[-1]) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    os.unlink(entry.path)
        if not folders:
            os.rmdir(waiting.pop())
        waiting += folders


def remove_replaced(path: str) -> None:
    """Remove a directory that has lost its name; who had found it before may for a moment still add to it."""
    for attempt in range(_ATTEMPTS):
        try:
            remove_folder(path)
        except OSError as error:
            if not os.path.lexists(path):
                return
            if error.errno not in _STILL_USED or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.001 * attempt)
        else:
            return


def is_alive(pid: int) -> bool:
    """Return whether a process lives; True where one cannot tell."""
    if WINDOWS or pid <= 0:
        return True  # no harmless way to ask
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def sweep(path: str) -> None:
    """Remove a partial file or directory if the process that wrote it is dead, and it has lain there for a while.

    The wait is for writers on other machines that share the directory, whose processes cannot be seen from here.
    """
    owner = partial_owner(os.path.basename(path))
    if owner is None or is_alive(owner):
        return
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if time.time() - status.st_mtime < SWEEP_AFTER_SECONDS:
            return
        if stat.S_ISDIR(status.st_mode):
            _give_back(path)
            remove_folder(path, ignore_errors=True)
        else:
            os.unlink(path)


def _give_back(hidden: str) -> None:
    """Put back what a dead process had set aside, if nothing has taken its place: see ``changes.exchange``."""
    directory, name = os.path.split(hidden)
    place = os.path.join(directory, name[1:].rpartition(".partial")[0].rpartition(".")[0])
    old = os.path.join(hidden, REPLACED)
    if os.path.lexists(old) and not os.path.lexists(place):
        os.rename(old, place)


def sweep_beside(directory: str, name: str) -> None:
    """Remove what dead processes left of writing one name; for directories that are not listed as part of a store.

    In a directory of very many entries only the first ones are looked at.
    """
    start = f".{name[:32]}"
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in itertools.islice(entries, _LONGEST_LOOK):
            if entry.name.startswith(start) and is_partial(entry.name):
                sweep(entry.path)


REPLACED: Final = ".replaced"
"""The name of the replaced directory inside the one that takes its place, where one step cannot exchange the two."""

SWEEP_AFTER_SECONDS: float = 0.0
"""The age at which a dead process's leftover is removed; raise it for folders that several machines write."""


def move_file(source: str, target: str) -> None:
    """Rename a file or a folder; the folder above its new name is made.

    Raises
    ------
    OSError
        If the file system refuses, or there is a folder with something in it.
    """
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(source, target)


def scan(path: str, *, clean: bool) -> Iterator[os.DirEntry[str]]:
    """Return the entries of a directory that belong to values; none where there is no such directory.

    Partial files, lock files and journals are left out; with ``clean``, those partial files are removed that nobody
    writes any more.
    """
    try:
        entries = os.scandir(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if is_partial(entry.name):
                if clean:
                    sweep(entry.path)
            elif entry.name not in RESERVED_NAMES:
                yield entry


def lies_inside(path: str, root: str) -> bool:
    """Return whether a path, its symbolic links followed, lies in a folder whose own links are followed already."""
    return f"{os.path.realpath(path)}/".startswith(f"{root.rstrip('/')}/")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def walk(path: str, prefix: str, *, clean: bool, inside: str = "") -> Iterator[str]:
    """Yield all files under a directory, as keys that begin with ``prefix``; links to folders above are not followed.

    With ``inside``, a folder whose links are followed already, neither is a link that leads out of that folder.
    """
    # A stack of our own: folders may lie deeper in one another than Python lets functions call each other.
    stack: list[tuple[Iterator[os.DirEntry[str]], str, tuple[str, ...]]] = [(scan(path, clean=clean), prefix, ())]
    while stack:
        entries, prefix, above = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
        elif inside and entry.is_symlink() and not lies_inside(entry.path, inside):
            continue
        elif not _is_folder(entry):
            yield prefix + entry.name
        else:
            if entry.is_symlink():
                target = os.path.realpath(entry.path)
                if target in above or lies_inside(os.path.dirname(entry.path), target):
                    continue
                above = (*above, target)
            stack.append((scan(entry.path, clean=clean), f"{prefix}{entry.name}/", above))


Part = memoryview | tuple[int, int]
"""Bytes, or the range (start, end) of the old file."""

_PIECE: Final = 256 << 10


def splice_file(path: str, parts: Sequence[Part], *, fsync: bool = False) -> None:
    """Replace a file by parts in order: bytes, or ranges (start, end) of the old file, which must hold them.

    Raises
    ------
    EOFError
        If the old file ends before a range does, or is not there.
    OSError
        If the system refuses; the old file is still there.
    """
    opened = open_regular(path)
    if opened is None:
        raise EOFError(f"{path} is gone")
    source, size = opened
    try:
        end = max((part[1] for part in parts if isinstance(part, tuple)), default=0)
        if end > size:
            raise EOFError(f"{path} holds {size} bytes where {end} are needed")
        replace_file(path, partial(_write_parts, source=source, parts=parts), fsync=fsync)
    finally:
        os.close(source)


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
