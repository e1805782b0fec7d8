"""Many changes of a local store that are carried out whole, even where the process dies on the way.

The new values and the list of what is to be done lie in a hidden folder of the root, the journal. The changes are
decided when the list gets its name: from then on whoever opens the store carries them out, should the writer be dead.
What was done already is told from what is left in the journal, so it may be begun any number of times.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule
from zarr.abc.stores.staging import Changes
from zarr.storage.keys import JOURNAL_FOLDER, METADATA_NAMES, is_partial
from zarr.storage.local.files import (
    is_alive,
    make_directories,
    partial_name,
    read_file,
    remove_folder,
    sync_directory,
    sync_tree,
    write_file,
)
from zarr.storage.local.journal_plans import is_folder, parse_plan
from zarr.storage.local.stage import exchange

if TYPE_CHECKING:
    from zarr.storage.local.store import LocalStore
    from zarr.storage.wrappers import overlay
else:
    overlay = LazyModule("zarr.storage.wrappers.overlay")

_LIST: Final = "journal.json"
_VALUES: Final = "values"
_GONE: Final = "gone"
_OWNER: Final = r"owner\.[0-9a-f]{1,8}"
WAIT_SECONDS: Final = 60.0


def commit_changes(store: LocalStore, changes: Changes) -> None:
    """Write changes down, see that they still fit, decide for them, and carry them out.

    Raises
    ------
    TakenError
        If a key does not hold what it was expected to hold.
    TimeoutError
        If another process carries out changes for longer than a minute.
    """
    root = os.path.realpath(store._base)
    make_directories(root, store.fsync)
    aside = os.path.join(root, partial_name("journal"))
    journal = os.path.join(root, JOURNAL_FOLDER)
    here = aside
    try:
        plan = _write_down(aside, changes, store.fsync)
        _take_turn(aside, journal)
        here = journal
        overlay.check_expected(changes, lambda key: read_file(os.path.join(root, key)))
        if store.fsync:
            sync_directory(root)  # the journal has its name before what it says is decided
        write_file(os.path.join(journal, _LIST), memoryview(json.dumps(plan).encode()), fsync=store.fsync)
    except BaseException:
        _remove(here, root)
        raise
    try:
        carry_out(root, journal, plan, store.fsync)
        _remove(journal, root)
    except BaseException as error:
        _end_decided(root, journal, plan, store.fsync)
        if not isinstance(error, OSError):  # Ctrl-C: what was decided is done first, for this process goes on
            raise


def _end_decided(root: str, journal: str, plan: dict[str, Any], fsync: bool) -> None:
    """Do the rest after an error, or after Ctrl-C."""
    try:
        if is_folder(journal):
            carry_out(root, journal, plan, fsync)
    except BaseException:
        # Decided and not done: whoever opens the store next goes on, this process included.
        os.unlink(os.path.join(journal, _owner_name()))
        raise
    _remove(journal, root)


def _owner_name() -> str:
    return f"owner.{os.getpid():x}"


def _write_down(aside: str, changes: Changes, fsync: bool) -> dict[str, Any]:
    """Put the new values into a folder; the list of what is to be done."""
    values = os.path.join(aside, _VALUES)
    os.makedirs(values)
    put = [key for key, value in changes.values.items() if value is not None]
    for key in put:
        value = changes.values[key]
        assert value is not None
        write_file(os.path.join(values, key), memoryview(value.as_numpy_array()), fsync=fsync)  # type: ignore[arg-type]
    write_file(os.path.join(aside, _owner_name()), memoryview(b""), fsync=fsync)
    if fsync:
        sync_tree(aside)
    folders = [[folder, _inode(os.path.join(values, folder) if folder else values)] for folder in changes.removed]
    documents = sorted((key for key in put if _is_document(key)), key=lambda key: (key.count("/"), key))
    return {
        "removed": folders,
        "chunks": [key for key in put if not _is_document(key)],
        "documents": documents,
        "deleted": sorted((key for key, value in changes.values.items() if value is None), key=_is_document),
    }


def _is_document(key: str) -> bool:
    return key.rpartition("/")[2] in METADATA_NAMES


def _inode(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except FileNotFoundError:
        return None


def _take_turn(aside: str, journal: str) -> None:
    """Give the journal its name, which only one can have."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            os.rename(aside, journal)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            if time.monotonic() > deadline:
                raise TimeoutError(
                    errno.ETIMEDOUT, f"another process carries out a transaction for {WAIT_SECONDS} s", journal
                ) from None
            recover(os.path.dirname(journal) + "/")
            time.sleep(0.002)
        else:
            return


def _remove(journal: str, root: str) -> None:
    """Take the journal away; it vanishes in one step, so that nobody finds half of it."""
    hidden = os.path.join(root, partial_name("journal"))
    with contextlib.suppress(OSError):
        os.rename(journal, hidden)
        remove_folder(hidden, ignore_errors=True)


def carry_out(root: str, journal: str, plan: dict[str, Any], fsync: bool) -> None:
    """Do what the list says and is not done yet.

    The order is such that a reader meets no chunk of a shape that the document does not have: chunks, then documents,
    then what goes. A folder that is removed and written anew changes in one step.
    """
    values = os.path.join(journal, _VALUES)
    for number, (folder, inode) in enumerate(plan["removed"]):
        _replace_folder(root, journal, folder, inode, str(number))
    changed = (*plan["chunks"], *plan["documents"], *plan["deleted"], *(folder for folder, _ in plan["removed"]))
    touched = {os.path.dirname(os.path.join(root, key)) for key in changed if key}
    for key in (*plan["chunks"], *plan["documents"]):
        source, place = os.path.join(values, key), os.path.join(root, key)
        if os.path.lexists(source):
            make_directories(os.path.dirname(place), fsync)
            os.replace(source, place)
    for key in reversed(plan["deleted"]):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(os.path.join(root, key))
    if fsync:
        for directory in sorted(touched):
            if os.path.isdir(directory):
                sync_directory(directory)


def _replace_folder(root: str, journal: str, folder: str, inode: int | None, number: str) -> None:
    gone = os.path.join(journal, _GONE, number)
    if os.path.lexists(gone):
        return
    os.makedirs(os.path.dirname(gone), exist_ok=True)
    if not folder:
        _empty_root(root, gone)
        return
    source, place = os.path.join(journal, _VALUES, folder), os.path.join(root, folder)
    if not os.path.lexists(place):
        os.mkdir(gone)
        return
    if inode is None:
        os.rename(place, gone)
        return
    if _inode(place) != inode:
        exchange(source, place)
    os.rename(source, gone)


def _empty_root(root: str, gone: str) -> None:
    """All that is in the root goes; documents first, so that what is half removed is not shown."""
    aside = f"{gone}.part"
    os.makedirs(aside, exist_ok=True)
    for name in sorted(os.listdir(root), key=lambda name: name not in METADATA_NAMES):
        if name != JOURNAL_FOLDER and not is_partial(name):
            os.rename(os.path.join(root, name), os.path.join(aside, name))
    os.rename(aside, gone)


def recover(base: str, fsync: bool = False) -> None:
    """Do the rest of what a dead process had decided to do, or forget what it had not decided yet.

    Parameters
    ----------
    base : str
        The root of the store, with a slash at its end.
    fsync : bool
        Have the new names reach the disk.

    Raises
    ------
    MetadataValidationError
        When the journal is not one that a transaction wrote, or would change what lies outside of the store.
    """
    journal = base + JOURNAL_FOLDER
    if not is_folder(journal):
        return
    # Somebody else may do the same at the same time, and be faster: then there is nothing left to do.
    with contextlib.suppress(FileNotFoundError, PermissionError):
        owners = [int(name[6:], 16) for name in os.listdir(journal) if re.fullmatch(_OWNER, name)]
        if any(is_alive(owner) for owner in owners):
            return
        root = os.path.realpath(base)
        data = read_file(os.path.join(journal, _LIST))
        if data is not None:
            carry_out(root, journal, parse_plan(root, journal, data), fsync)
        _remove(journal, root)
