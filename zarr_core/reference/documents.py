"""Whole files by their paths."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_LONGEST = 4096

_DATED_BYTES = 64 << 10

_numbers = itertools.count(1 << 32)


def is_plain_key(key: object) -> bool:
    """Return True if a key needs no further check before it names a file."""
    if type(key) is not str or not key.isascii() or "\\" in key or "\0" in key:
        return False
    return all(part and part[0] != "." for part in key.split("/"))


def read_file(path: str) -> bytes | int | None:
    """Read a file; None if there is none, a negative ``errno`` where it cannot be read."""
    if "\0" in path:
        raise ValueError(f"a path must not have a NUL, got {path!r}")
    try:
        fd = os.open(path, _FLAGS)
    except OSError as error:
        return None if error.errno == errno.ENOENT else -(error.errno or errno.EIO)
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            return -errno.EISDIR if stat.S_ISDIR(mode) else -errno.EINVAL
        parts = []
        while part := os.read(fd, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def read_files(base: str, names: list[str]) -> list[bytes | int | None]:
    """Read several files below one folder, as ``read_file`` does."""
    return [read_file(base + name) for name in names]


def put_file(path: str, data: bytes | memoryview, exclusive: bool = False) -> int:
    """Put a value in its place in one step: 0, 1 where it was to be exclusive and is taken, or a negative ``errno``."""
    if "\0" in path:
        raise ValueError(f"a path must not have a NUL, got {path!r}")
    folder, name = os.path.split(path)
    partial = os.path.join(folder, f".{name}.{os.getpid():x}-{next(_numbers):x}.partial")
    if exclusive and os.path.lexists(path):
        return 1
    try:
        os.makedirs(folder or ".", exist_ok=True)
        with open(partial, "xb") as file:
            file.write(data)
            if len(data) >= _DATED_BYTES and name in ("zarr.json", ".zmetadata"):
                file.flush()
                _date_back(file.fileno())
        if not exclusive:
            os.replace(partial, path)
            return 0
        os.link(partial, path)
    except FileExistsError:
        _forget(partial)
        return 1 if exclusive and os.path.lexists(path) else -errno.EEXIST
    except OSError as error:
        _forget(partial)
        return -(error.errno or errno.EIO)
    _forget(partial)
    return 0


def _date_back(fd: int) -> None:
    """Date a file back by less than 0.1 ms, so that a later change has another time: see ``zc_date_back``."""
    with contextlib.suppress(OSError):
        status = os.fstat(fd)
        os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns - 1 - time.time_ns() % 100_000))


def _forget(partial: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(partial)


def has_no_links(path: str) -> bool:
    """Return True if following the links of an absolute path, tidily written, leads to nothing but the path."""
    if "\0" in path:
        raise ValueError(f"a path must not have a NUL, got {path!r}")
    names = path.split("/")
    if len(names) < 2 or names[0] or any(name in ("", ".", "..") for name in names[1:]):
        return False
    if len(os.fsencode(path)) >= _LONGEST:
        return False
    for end in range(2, len(names) + 1):
        try:
            if stat.S_ISLNK(os.lstat("/".join(names[:end])).st_mode):
                return False
        except FileNotFoundError:
            break
        except OSError:
            return False
    return True
