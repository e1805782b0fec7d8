"""A folder aside, in which a node is built before it takes its place in one step."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Collection
from typing import TYPE_CHECKING

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.stores.staging import Stage, TakenError
from zarr.storage.keys import METADATA_NAMES, is_partial
from zarr.storage.local.files import (
    REPLACED,
    claim,
    make_directories,
    partial_name,
    remove_folder,
    remove_replaced,
    remove_tree,
    sweep_beside,
    sync_directory,
    sync_tree,
)
from zarr.storage.misplaced import check_clearable, file_in_place

if TYPE_CHECKING:
    import shutil

    from zarr.storage.local.store import LocalStore
else:
    shutil = LazyModule("shutil")

_OCCUPIED = frozenset({errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR})
_NO_EXCHANGE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})


def exchange(one: str, other: str) -> None:
    """Let two names change places; in one step where the system can do that.

    Elsewhere the second is set aside first, in the hidden folder of this stage: a sweep finds it there, should this
    process die in between, and puts it back.
    """
    code = zarr_core.exchange_files(os.fsencode(one), os.fsencode(other))
    if code == 0:
        return
    if -code not in _NO_EXCHANGE:
        raise OSError(-code, os.strerror(-code), one, None, other)
    is_hidden = is_partial(os.path.basename(one))
    aside = os.path.join(one if is_hidden else os.path.dirname(one), REPLACED)
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except BaseException:
        os.rename(aside, other)
        raise
    os.rename(os.path.join(other, REPLACED) if is_hidden else aside, one)


class LocalStage(Stage):
    """What is written lies below a hidden folder, under the same keys, until it is published.

    Parameters
    ----------
    base : LocalStore
    path : str
        All keys that are written lie below it.
    replace : collection of str
        Places, at or below ``path``, of which nothing old stays.
    absent : collection of str
        Keys that must have no value.
    """

    def __init__(self, base: LocalStore, path: str, replace: Collection[str], absent: Collection[str]) -> None:
        self._base = base
        self._replace = replace
        self._absent = absent
        root = os.path.realpath(base._base)
        if "" in replace:
            check_clearable(root)
        self._target = os.path.join(root, path) if path else root
        self._keys = f"{path}/" if path else ""
        beside, name = os.path.split(self._target)
        if not path and os.path.isdir(root) and (path not in replace or not os.access(beside, os.W_OK)):
            beside, name = root, "root"
        sweep_beside(beside, name)
        self.folder = os.path.join(beside, partial_name(name))
        self.store = base.staged_in(self.folder)
        self._source = os.path.join(self.folder, path) if path else self.folder

    def discard(self) -> None:
        """Remove the folder."""
        remove_folder(self.folder, ignore_errors=True)

    def publish(self) -> None:
        """Give what was written its place."""
        self._check_absent(self._keys)
        if self._base.fsync:
            sync_tree(self.folder)
        make_directories(os.path.dirname(self._target), self._base.fsync)
        self._place(self._source, self._target, self._keys)
        if self._base.fsync:
            sync_directory(os.path.dirname(self._target))
        if os.path.islink(self.folder):
            os.unlink(self.folder)
        elif os.path.lexists(self.folder):
            remove_replaced(self.folder)  # hidden already

    def _check_absent(self, below: str) -> None:
        for key in self._absent:
            if not key.startswith(below):
                continue
            if os.path.lexists(os.path.join(self._target, key.removeprefix(self._keys))):
                raise TakenError(key)

    def _place(self, source: str, target: str, keys: str) -> None:
        """Move a folder to its place, or, where there is one already that stays, what is in it."""
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
        # If somebody else has just put the same node here, whole, nothing may be added to it.
        self._check_absent(keys)
        # Documents last: what makes a node visible comes after what the node holds.
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name in METADATA_NAMES):
            place = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                self._place(entry.path, place, f"{keys}{entry.name}/")
            elif entry.name not in METADATA_NAMES:
                os.replace(entry.path, place)
            elif not claim(entry.path, place) and keys + entry.name in self._absent:
                raise TakenError(keys + entry.name)
        if self._base.fsync:
            sync_directory(target)

    def _swap(self, source: str, target: str) -> None:
        with contextlib.suppress(OSError):
            shutil.copymode(target, source)
        if target == os.path.realpath(self._base._base) and os.path.dirname(self.folder) == target:
            self._swap_within(source, target)
            return
        exchange(source, target)

    def _swap_within(self, source: str, target: str) -> None:
        """For a root whose own name cannot be given away: what is in it goes, then the new comes."""
        for name in os.listdir(target):
            old = os.path.join(target, name)
            if old == self.folder:
                continue
            if os.path.isdir(old) and not os.path.islink(old):
                remove_tree(old)
            else:
                os.unlink(old)
        for name in sorted(os.listdir(source), key=lambda name: name in METADATA_NAMES):
            os.rename(os.path.join(source, name), os.path.join(target, name))
