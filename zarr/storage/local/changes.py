"""Changes of a local store in one step: a node is built in a folder aside; a journal holds a list of many changes.

The new values and the list of changes lie in a hidden folder of the root, the journal. The changes are decided when the
list gets its name. If the writer dies after that, the next process that opens the store carries them out. The journal
shows which changes are done already, so it may be carried out any number of times.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Collection
from typing import Any, Final

import zarr_core
from zarr._lazy import shutil
from zarr.abc.store import SyncStore
from zarr.abc.stores.changes import Changes, Stage, TakenError, is_document
from zarr.errors import MetadataValidationError
from zarr.storage.checks import check_clearable, file_in_place
from zarr.storage.keys import JOURNAL_FOLDER, METADATA_NAMES, check_key, is_partial
from zarr.storage.local import files, folders, names
from zarr.storage.wrappers import overlay

_OCCUPIED = frozenset({errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR})
_NO_EXCHANGE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})


def exchange(one: str, other: str) -> None:
    """Exchange two names; in one step if the system can do that.

    On other systems the second is set aside first, in the hidden folder of this stage. If the process dies in between,
    a later sweep finds it there and puts it back.
    """
    code = zarr_core.exchange_files(os.fsencode(one), os.fsencode(other))
    if code == 0:
        return
    if -code not in _NO_EXCHANGE:
        raise OSError(-code, os.strerror(-code), one, None, other)
    is_hidden = is_partial(os.path.basename(one))
    aside = os.path.join(one if is_hidden else os.path.dirname(one), folders.REPLACED)
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except BaseException:
        os.rename(aside, other)
        raise
    os.rename(os.path.join(other, folders.REPLACED) if is_hidden else aside, one)


class LocalStage(Stage):
    """A stage whose values lie below a hidden folder, under the same keys, until they are published.

    Parameters
    ----------
    base : str
        The folder of the store, with a slash at its end.
    path : str
        The written keys all lie below it.
    replace : collection of str
        Places, at or below ``path``, whose old contents are removed.
    absent : collection of str
        Keys that must have no value.
    fsync : bool
        If True, all values are on the disk before they are published.
    store_in : callable
        Takes a folder, and returns a store that writes to it.
    """

    def __init__(
        self,
        base: str,
        path: str,
        replace: Collection[str],
        absent: Collection[str],
        fsync: bool,
        store_in: Callable[[str], SyncStore],
    ) -> None:
        self._fsync = fsync
        self._replace = replace
        self._absent = absent
        self._root = root = os.path.realpath(base)
        if "" in replace:
            check_clearable(root)
        self._target = names.below(root, path)
        self._keys = f"{path}/" if path else ""
        beside, name = os.path.split(self._target)
        if not path and os.path.isdir(root) and (path not in replace or not os.access(beside, os.W_OK)):
            beside, name = root, "root"
        folders.sweep_beside(beside, name)
        self.folder = os.path.join(beside, files.partial_name(name))
        self.store = store_in(self.folder)
        self._source = names.below(self.folder, path)

    def discard(self) -> None:
        """Remove the folder."""
        folders.remove_folder(self.folder, ignore_errors=True)

    def publish(self) -> None:
        """Move the written values to their place."""
        self._check_absent(self._keys)
        if self._fsync:
            files.sync_tree(self.folder)
        files.make_directories(os.path.dirname(self._target), self._fsync)
        self._place(self._source, self._target, self._keys)
        if self._fsync:
            files.sync_directory(os.path.dirname(self._target))
        if os.path.islink(self.folder):
            os.unlink(self.folder)
        elif os.path.lexists(self.folder):
            folders.remove_replaced(self.folder)  # hidden already

    def _check_absent(self, below: str) -> None:
        for key in self._absent:
            if not key.startswith(below):
                continue
            if os.path.lexists(names.below(self._target, key.removeprefix(self._keys))):
                raise TakenError(key)

    def _place(self, source: str, target: str, keys: str) -> None:
        """Move a folder to its place; if there is one that stays, move its contents."""
        if keys.rstrip("/") in self._replace and os.path.lexists(target):
            self._swap(source, target)
            return
        try:
            os.rename(source, target)
        except OSError as error:
            if error.errno == errno.ENOTDIR:
                raise file_in_place(target) from error
            if error.errno not in _OCCUPIED or not os.path.isdir(target):
                raise
        else:
            return
        # If another writer has just stored the same node here completely, nothing may be added to it.
        self._check_absent(keys)
        # Documents last: a node becomes visible after its contents.
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name in METADATA_NAMES):
            place = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                self._place(entry.path, place, f"{keys}{entry.name}/")
            elif entry.name not in METADATA_NAMES:
                os.replace(entry.path, place)
            elif not files.claim(entry.path, place) and keys + entry.name in self._absent:
                raise TakenError(keys + entry.name)
        if self._fsync:
            files.sync_directory(target)

    def _swap(self, source: str, target: str) -> None:
        with contextlib.suppress(OSError):
            shutil.copymode(target, source)
        if target == self._root and os.path.dirname(self.folder) == target:
            self._swap_within(source, target)
            return
        exchange(source, target)

    def _swap_within(self, source: str, target: str) -> None:
        """Replace the contents of a root whose own name cannot change: remove the old ones, move in the new ones."""
        for name in os.listdir(target):
            old = os.path.join(target, name)
            if old == self.folder:
                continue
            if os.path.isdir(old) and not os.path.islink(old):
                folders.remove_tree(old)
            else:
                os.unlink(old)
        for name in sorted(os.listdir(source), key=lambda name: name in METADATA_NAMES):
            os.rename(os.path.join(source, name), os.path.join(target, name))


_LIST: Final = "journal.json"
_VALUES: Final = "values"
_GONE: Final = "gone"
_OWNER: Final = r"owner\.[0-9a-f]{1,8}"
WAIT_SECONDS: Final = 60.0


def commit_changes(base: str, fsync: bool, changes: Changes) -> None:
    """Write changes to the journal, check that they still fit, decide for them, and carry them out.

    Raises
    ------
    TakenError
        If a key does not hold its expected value.
    TimeoutError
        If another process carries out changes for longer than a minute.
    """
    root = os.path.realpath(base)
    files.make_directories(root, fsync)
    aside = os.path.join(root, files.partial_name("journal"))
    journal = os.path.join(root, JOURNAL_FOLDER)
    ours: int | None = None
    try:
        plan = _write_down(aside, changes, fsync)
        ours = _inode(aside)
        _publish_journal(aside, journal)
        overlay.check_expected(changes, lambda key: files.read_file(names.below(root, key)))
        if fsync:
            files.sync_directory(root)  # the journal has its name before its changes are decided
        files.write_file(os.path.join(journal, _LIST), memoryview(json.dumps(plan).encode()), fsync=fsync)
    except BaseException:  # also Ctrl-C just after the journal got its name: it would hold up this process for ever
        _remove(journal if ours is not None and _inode(journal) == ours else aside, root)
        raise
    try:
        carry_out(root, journal, plan, fsync)
        _remove(journal, root)
    except BaseException as error:
        _end_decided(root, journal, plan, fsync)
        if not isinstance(error, OSError):  # Ctrl-C: complete decided changes first; this process continues
            raise


def _end_decided(root: str, journal: str, plan: dict[str, Any], fsync: bool) -> None:
    """Complete the changes after an error, or after Ctrl-C."""
    try:
        if is_folder(journal):
            carry_out(root, journal, plan, fsync)
    except BaseException:
        # Decided and not done: the next process that opens the store continues, also this one.
        os.unlink(os.path.join(journal, _owner_name()))
        raise
    _remove(journal, root)


def _owner_name() -> str:
    return f"owner.{os.getpid():x}"


def _write_down(aside: str, changes: Changes, fsync: bool) -> dict[str, Any]:
    """Write the new values into a folder; return the list of changes."""
    values = os.path.join(aside, _VALUES)
    os.makedirs(values)
    put = [key for key, value in changes.values.items() if value is not None]
    for key in put:
        value = changes.values[key]
        assert value is not None
        files.write_file(names.below(values, key), value.as_numpy_array().data, fsync=fsync)
    files.write_file(os.path.join(aside, _owner_name()), memoryview(b""), fsync=fsync)
    if fsync:
        files.sync_tree(aside)
    folders = [[folder, _inode(names.below(values, folder))] for folder in changes.removed]
    documents = sorted((key for key in put if is_document(key)), key=lambda key: (key.count("/"), key))
    return {
        "removed": folders,
        "chunks": [key for key in put if not is_document(key)],
        "documents": documents,
        "deleted": sorted((key for key, value in changes.values.items() if value is None), key=is_document),
    }


def _inode(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except FileNotFoundError:
        return None


def _publish_journal(aside: str, journal: str) -> None:
    """Give the journal its name, which exists only once."""
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
            recover(os.path.join(os.path.dirname(journal), ""))
            time.sleep(0.002)
        else:
            return


def _remove(journal: str, root: str) -> None:
    """Remove the journal; it disappears in one step, so that no process finds a part of it."""
    hidden = os.path.join(root, files.partial_name("journal"))
    with contextlib.suppress(OSError):
        os.rename(journal, hidden)
        folders.remove_folder(hidden, ignore_errors=True)


def carry_out(root: str, journal: str, plan: dict[str, Any], fsync: bool) -> None:
    """Carry out the changes of the list that are not done yet.

    The order keeps readers from chunks of a shape that the document does not have: chunks, then documents, then
    deletions. A folder that is removed and written anew changes in one step.
    """
    values = os.path.join(journal, _VALUES)
    for number, (folder, inode) in enumerate(plan["removed"]):
        _replace_folder(root, journal, folder, inode, str(number))
    changed = (*plan["chunks"], *plan["documents"], *plan["deleted"], *(folder for folder, _ in plan["removed"]))
    touched = {os.path.dirname(names.below(root, key)) for key in changed if key}
    for key in (*plan["chunks"], *plan["documents"]):
        source, place = names.below(values, key), names.below(root, key)
        if os.path.lexists(source):
            files.make_directories(os.path.dirname(place), fsync)
            os.replace(source, place)
    for key in reversed(plan["deleted"]):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(names.below(root, key))
    if fsync:
        for directory in sorted(touched):
            if os.path.isdir(directory):
                files.sync_directory(directory)


def _replace_folder(root: str, journal: str, folder: str, inode: int | None, number: str) -> None:
    gone = os.path.join(journal, _GONE, number)
    if os.path.lexists(gone):
        return
    os.makedirs(os.path.dirname(gone), exist_ok=True)
    if not folder:
        _empty_root(root, gone)
        return
    source, place = names.below(os.path.join(journal, _VALUES), folder), names.below(root, folder)
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
    """Set aside all contents of the root; documents first, so that nothing half removed is shown."""
    aside = f"{gone}.part"
    os.makedirs(aside, exist_ok=True)
    for name in sorted(os.listdir(root), key=lambda name: name not in METADATA_NAMES):
        if name != JOURNAL_FOLDER and not is_partial(name):
            os.rename(os.path.join(root, name), os.path.join(aside, name))
    os.rename(aside, gone)


def recover(base: str, fsync: bool = False) -> None:
    """Complete the changes that a dead process had decided, or drop those that it had not decided yet.

    Parameters
    ----------
    base : str
        The root of the store, with a slash at its end.
    fsync : bool
        If True, the new names are synchronised to the disk.

    Raises
    ------
    MetadataValidationError
        If the journal is not one of a transaction, or would change something outside of the store.
    """
    journal = base + JOURNAL_FOLDER
    if not is_folder(journal):
        return
    # Another process may do the same at the same time, and be faster: then nothing is left to do.
    with contextlib.suppress(FileNotFoundError, PermissionError):
        owners = [int(name[6:], 16) for name in os.listdir(journal) if re.fullmatch(_OWNER, name)]
        if any(folders.is_alive(owner) for owner in owners):
            return
        root = os.path.realpath(base)
        data = files.read_file(os.path.join(journal, _LIST))
        if data is not None:
            carry_out(root, journal, parse_plan(root, journal, data), fsync)
        _remove(journal, root)


_LISTS: Final = ("chunks", "documents", "deleted")


def parse_plan(root: str, journal: str, data: bytes) -> dict[str, Any]:
    """Return the list of changes that a dead process had decided, if all of them lie within the store.

    Parameters
    ----------
    root : str
        The folder of the store, without links.
    journal : str
        The folder of the journal.
    data : bytes
        The contents of its list.

    Raises
    ------
    MetadataValidationError
        If it is no such list, or names a place outside of the store, also by a link.
    """
    try:
        plan = json.loads(data)
        folders = [folder for folder, inode in plan["removed"] if inode is None or type(inode) is int]
        keys = [key for name in _LISTS for key in plan[name]]
        for name in [*keys, *filter(None, folders)]:
            check_key(name)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _refused(journal, f"it is not one that a transaction of this library wrote ({error})") from error
    if len(folders) != len(plan["removed"]) or not all(type(plan[name]) is list for name in _LISTS):
        raise _refused(journal, "it is not one that a transaction of this library wrote")
    for base in (root, os.path.join(journal, "values")):
        for name in {os.path.dirname(name) for name in [*keys, *folders]}:
            if os.path.realpath(names.below(base, name)) != os.path.normpath(names.below(base, name)):
                raise _refused(journal, f"a link stands in the way to {name!r}")
    return dict(plan)


def is_folder(path: str) -> bool:
    """Return True if there is a folder, and not a link to one.

    Examples
    --------
    >>> is_folder("/")
    True
    """
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _refused(journal: str, why: str) -> MetadataValidationError:
    return MetadataValidationError(
        f"The journal {journal!r} of an unfinished transaction is not carried out: {why}. If you do not expect one "
        "there, do not trust this folder; else remove the journal, and with it what was not yet stored."
    )
