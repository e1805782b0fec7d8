"""Whole files by their paths."""

from __future__ import annotations

import errno
import os
import stat

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_file(path: str) -> bytes | int | None:
    """The bytes of a file; None where there is none, a negative ``errno`` where it cannot be read."""
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
    """The same for several files below one folder."""
    return [read_file(base + name) for name in names]
