"""Folders: list what belongs to values, and remove folders and what dead processes have left in them."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time
from collections.abc import Iterator
from typing import Final

import zarr_core
from zarr._lazy import shutil
from zarr.storage.keys import RESERVED_NAMES, WINDOWS, is_partial, partial_owner
from zarr.storage.local.files import ATTEMPTS, partial_name

REPLACED: Final = ".replaced"
"""The name of the replaced directory inside the new one, if the two cannot be exchanged in one step."""

SWEEP_AFTER_SECONDS: float = 0.0
"""The age at which a dead process's leftover is removed; raise it for folders that several machines write."""

_STILL_USED: Final = frozenset((errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT))
_LONGEST_LOOK: Final = 4096


# List


def scan(path: str, *, clean: bool) -> Iterator[os.DirEntry[str]]:
    """Return the entries of a directory that belong to values; none if there is no such directory.

    Partial files, lock files and journals are left out; with ``clean``, partial files of dead writers are removed.
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
    """Return True if a path, its symbolic links followed, lies in a folder whose own links are followed already."""
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(root, ""))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a circle of links
        return False


def walk(path: str, prefix: str, *, clean: bool, inside: str = "") -> Iterator[str]:
    """Yield all files under a directory, as keys that begin with ``prefix``; links to folders above are not followed.

    With ``inside``, a folder whose links are followed already, links out of that folder are not followed either.
    """
    # A stack of our own: folders may be nested deeper than Python's calls.
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


# Remove


def remove_tree(path: str) -> None:
    """Remove a directory and all in it; it disappears in one step, if it can be renamed.

    What the system refuses to remove (as files of another user) gets its name back.
    """
    directory, name = os.path.split(path)
    hidden = os.path.join(directory, partial_name(name))
    try:
        os.rename(path, hidden)
    except FileNotFoundError:
        return
    except OSError:
        hidden = path
    try:
        remove_replaced(hidden)
    except OSError as error:
        with contextlib.suppress(OSError):  # another process may have stored a node here meanwhile
            os.rename(hidden, path)
        error.filename = path  # shutil names a file without its folder, or with the hidden one
        raise


def remove_folder(path: str, *, ignore_errors: bool = False) -> None:
    """Remove a directory and all in it, however deep."""
    while (code := zarr_core.remove_folder(os.fsencode(path))) > 0:
        continue
    if code == 0:
        return
    # The core cannot do it, or not all: this way raises an error that explains the reason.
    try:
        shutil.rmtree(path, ignore_errors=ignore_errors)
    except RecursionError:  # it calls itself for each folder, and Python limits nested calls to about a thousand
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
    """Remove a directory that has lost its name; a process that opened it before may still add files for a moment."""
    for attempt in range(ATTEMPTS):
        try:
            remove_folder(path)
        except OSError as error:
            if not os.path.lexists(path):
                return
            if error.errno not in _STILL_USED or attempt == ATTEMPTS - 1:
                raise
            time.sleep(0.001 * attempt)
        else:
            return


def is_alive(pid: int) -> bool:
    """Return True if a process lives, or if that is unknown."""
    if WINDOWS or pid <= 0:
        return True  # no harmless way to check
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def sweep(path: str) -> None:
    """Remove a partial file or directory if the process that wrote it is dead and it is old enough.

    The age protects writers on other machines that share the directory; their processes are not visible here.
    """
    owner = partial_owner(os.path.basename(path))
    if owner is None or is_alive(owner):
        return
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if time.time() - status.st_mtime < SWEEP_AFTER_SECONDS:
            return
        if stat.S_ISDIR(status.st_mode):
            _restore_replaced(path)
            remove_folder(path, ignore_errors=True)
        else:
            os.unlink(path)


def _restore_replaced(hidden: str) -> None:
    """Put back what a dead process had set aside, if its place is still free: see ``changes.exchange``."""
    directory, name = os.path.split(hidden)
    place = os.path.join(directory, name[1:].rpartition(".partial")[0].rpartition(".")[0])
    old = os.path.join(hidden, REPLACED)
    if os.path.lexists(old) and not os.path.lexists(place):
        os.rename(old, place)


def sweep_beside(directory: str, name: str) -> None:
    """Remove what dead processes left of writing one name; for directories that are not listed as part of a store.

    In a directory of very many entries only the first ones are checked.
    """
    start = f".{name[:32]}"
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in itertools.islice(entries, _LONGEST_LOOK):
            if entry.name.startswith(start) and is_partial(entry.name):
                sweep(entry.path)
