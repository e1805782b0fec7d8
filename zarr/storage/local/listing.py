"""Listing folders: which files are values, which are none, and which links are followed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from zarr.storage.keys import RESERVED_NAMES, is_partial
from zarr.storage.local.files import sweep


def scan(path: str, *, clean: bool) -> Iterator[os.DirEntry[str]]:
    """The entries of a directory that belong to values; none where there is no such directory.

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
    """Whether a path, with all its symbolic links followed, lies in a folder, whose own links are followed already."""
    return f"{os.path.realpath(path)}/".startswith(f"{root.rstrip('/')}/")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def walk(path: str, prefix: str, *, clean: bool, inside: str = "") -> Iterator[str]:
    """All files under a directory, as keys that begin with ``prefix``. A link to a directory above is not followed.

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
