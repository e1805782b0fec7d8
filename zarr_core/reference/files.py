"""File calls that Python has none for, or slow ones."""

from __future__ import annotations

import errno


def exchange_files(one: bytes, other: bytes) -> int:
    """Let two names change places in one step: not to be had from Python alone, which the answer says."""
    return -errno.ENOSYS


def remove_folder(path: bytes) -> int:
    """Remove a folder and all in it: left to the standard library."""
    return -errno.ENOSYS
