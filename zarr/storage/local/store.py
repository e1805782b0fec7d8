"""Store keys as files of a folder on a local file system: ``LocalStore``.

``files.py`` writes the files, and ``changes.py`` makes many changes in one step. A reader
never sees a half-written value.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import zarr_core
from zarr._lazy import LazyModule, shutil
from zarr.abc.store import BulkAccess
from zarr.abc.stores.changes import Changes, Stage, names_to_move, removed_first, stages
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import FileInPlaceError, LinkLeavesStoreError
from zarr.storage.base import CreatingStore
from zarr.storage.checks import check_clearable, check_memory, value_size
from zarr.storage.keys import (
    JOURNAL_FOLDER,
    LOCKS_FOLDER,
    RESERVED_NAMES,
    check_key,
    check_local_path,
    check_prefix,
    dir_prefix,
    is_key,
    is_normalized,
    is_partial,
)
from zarr.storage.local import files, folders, names
from zarr.types import AccessModeLiteral

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.storage import ranges
    from zarr.storage.local import changes as local_changes
else:
    ranges = LazyModule("zarr.storage.ranges")
    local_changes = LazyModule("zarr.storage.local.changes")


class LocalStore(CreatingStore):
    """One file for each key, under one folder.

    A value appears in its place in one step: readers see the old one or the new one, even if the writer dies.

    Parameters
    ----------
    root : str or Path
        The folder. It is created when the first value is written.
    read_only : bool
        If True, the store refuses every change. Default: False.
    fsync : bool
        If True, each value is on the disk, not only in the memory of the system, before the call returns.
    links : {"follow", "inside"}
        "follow": symbolic links may lead anywhere. "inside": they must stay in the folder; every call then checks its
        key, and raises PermissionError for one that leads out. Use it for folders from other people; it does not
        protect against a program that changes links at the same time.

    Raises
    ------
    TypeError
        If ``root`` is neither a string nor a Path.
    ValueError
        If ``links`` has another value.
    StoreUrlError
        If ``root`` has a NUL, or half of a surrogate pair.

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> import tempfile
    >>> from zarr.buffer.cpu import Buffer
    >>> store = LocalStore(tempfile.mkdtemp())
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    """

    fsync: bool
    links: Literal["follow", "inside"] = "follow"

    locks_folders = True
    """True if its nodes are folders, in which processes lock names; see ``zarr/runners/locks/folders.py``."""

    def __init__(
        self,
        root: Path | str,
        *,
        read_only: bool = False,
        fsync: bool = False,
        links: Literal["follow", "inside"] = "follow",
    ) -> None:
        super().__init__(read_only=read_only)
        if links not in ("follow", "inside"):
            raise ValueError(f"links must be 'follow' or 'inside', got {links!r}")
        self.links = links
        if not isinstance(root, str | Path):
            raise TypeError(f"'root' must be a string or Path instance. Got an instance of {type(root)} instead.")
        self.fsync = fsync
        check_local_path(os.fspath(root))
        if isinstance(root, str) and is_normalized(root):
            self._base = f"{root}/"
        else:
            self._use_folder(Path(root))
        if os.access(self._base + JOURNAL_FOLDER, os.F_OK):  # most folders have none; this raises no error
            local_changes.recover(self._base, fsync)

    def _use_folder(self, root: Path) -> None:
        """Use a folder: keep its given name, and a name that is valid in any working directory."""
        self.root = root
        base = root.absolute().as_posix()
        self._base = os.path.join(names.extended(base), "") if names.WINDOWS else base.rstrip("/") + "/"

    @cached_property
    def root(self) -> Path:
        """Return the folder under its given name: a relative path begins at the working directory of that time."""
        return Path(self._base)

    @property
    def path(self) -> str:
        """Return the folder as text, which programs for zarr-python 2 ask of the store of an array."""
        return str(self.root)

    @classmethod
    async def open(cls, root: Path | str, *, read_only: bool = False, mode: AccessModeLiteral | None = None) -> Self:
        """Make a store and check that its folder can be used.

        Parameters
        ----------
        root : str or Path
        read_only : bool
        mode : {"r", "r+", "a", "w", "w-"}, optional
            ``"r"`` is the same as ``read_only=True``.

        Raises
        ------
        FileNotFoundError
            If the store is read-only and there is no such folder.
        FileExistsError
            If there is a file of that name.
        """
        store = cls(root, read_only=read_only or mode == "r")
        if not store.read_only and mode != "r+":
            store.root.mkdir(parents=True, exist_ok=True)
        await store._open()
        return store

    async def _open(self) -> None:
        if self.read_only:
            try:
                os.stat(self._base[:-1] or "/")
            except (FileNotFoundError, NotADirectoryError):
                raise FileNotFoundError(f"{self.root} does not exist") from None
        if os.path.isfile(self._base[:-1]):
            raise FileExistsError(errno.EEXIST, "a file stands where the folder of the store should be", str(self.root))
        await super()._open()

    def __str__(self) -> str:
        normalized = "root" not in self.__dict__  # then the folder has its absolute name
        return f"file://{self._base[:-1] if normalized else self.root.as_posix()}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._base, self.root)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        base = self._base[:-1]
        if names.ASK_FOR_PATH is not None or not is_normalized(base) or not zarr_core.has_no_links(base):
            base = names.true_path(self._base).rstrip("/")
        return f"file:{base}"

    def lock_folder(self, path: str) -> str:
        """Return the folder of the lock files of a node: beside its data, for every store above it the same.

        Parameters
        ----------
        path : str
            The path in the store.

        Returns
        -------
        str
        """
        return os.path.join(names.below(self._base, check_prefix(path)), LOCKS_FOLDER)

    def _path(self, key: str) -> str:
        if self.links == "follow" and not names.WINDOWS and zarr_core.is_plain_key(key):
            return self._base + key
        check_key(key)
        if self.links == "inside":
            self._check_inside(key)
        return names.below(self._base, key) if names.WINDOWS else self._base + key

    def _check_inside(self, key: str) -> None:
        """Refuse a key that leads out of the folder by links."""
        if not folders.lies_inside(names.below(self._base, key), os.path.realpath(self._base)):
            raise LinkLeavesStoreError(f"links lead key {key!r} out of {self!r}, which was opened with links='inside'")

    @property
    def _inside(self) -> str:
        """Return the folder that listings stay in; empty if links may lead anywhere."""
        return os.path.realpath(self._base) if self.links == "inside" else ""

    def _dir(self, prefix: str) -> str:
        prefix = prefix.rstrip("/")
        return self._path(prefix) if prefix else self._base

    # Reading

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key.

        Raises
        ------
        OSError
            If a directory, a pipe or a device stands in place of the value, or the file cannot be read.
        """
        path = self._path(key)
        if byte_range is None:
            try:
                data = zarr_core.read_file(path)
            except MemoryError:
                check_memory(self, (key,))
                raise
            if type(data) is int:  # the core cannot read here: take the long way, which explains the error
                data = files.read_file(path)
        else:
            data = files.read_file(path, lambda size: ranges.bounds_of(byte_range, size))
        if data is None:
            return None
        return (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes(data)  # type: ignore[arg-type]

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> list[Buffer | None]:
        """Return the values of several keys; None for a key without a value."""
        keys = list(keys)
        check = check_key if self.links == "follow" else self._path
        for key in keys:
            check(key)
        make = (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes
        try:
            found = zarr_core.read_files(self._base, keys)
        except MemoryError:
            check_memory(self, keys)
            raise
        return [
            self.get_sync(key, prototype=prototype) if type(data) is int else None if data is None else make(data)  # type: ignore[arg-type]
            for key, data in zip(keys, found, strict=True)
        ]

    @contextmanager
    def open_value_sync(self, key: str) -> Iterator[Callable[[ByteRequest], bytes] | None]:
        """Open the value of a key, to read ranges of it; return None if there is none.

        Parameters
        ----------
        key : str
            The key.
        """
        opened = files.open_regular(self._path(key))
        if opened is None:
            yield None
            return
        fd, size = opened

        def read(byte_range: ByteRequest) -> bytes:
            start, stop = ranges.bounds_of(byte_range, size)
            return files.read_span(fd, start, stop - start)

        try:
            yield read
        finally:
            os.close(fd)

    def stamp_sync(self, key: str) -> tuple[int, int, int, int, int] | None:
        """Return the stamp of a value: times, size and numbers of its file; see ``file_stamp``.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        tuple of int, or None
            None if the key has no value.
        """
        return files.file_stamp(self._path(key))

    def fresh_stamp_sync(self, key: str) -> tuple[int, tuple[int, int, int, int]] | None:
        """Return the size and a stamp of a value that was stored here, however new it is; see ``fresh_stamp``.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        tuple, or None
            The number of bytes; the times and numbers of the file.
        """
        return files.fresh_stamp(self._path(key))

    def exists_sync(self, key: str) -> bool:
        """Return True if the key has a value."""
        return os.path.isfile(self._path(key))

    def getsize_sync(self, key: str) -> int:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key."""
        return value_size(self._path(key))

    def _sweep_beside(self) -> None:
        """Remove the leftovers of dead processes from a new root, built beside the old one: see ``LocalStage``."""
        if not self.read_only:
            folders.sweep_beside(*os.path.split(os.path.realpath(self._base)))

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        self._sweep_beside()
        return filter(is_key, folders.walk(self._base, "", clean=not self.read_only, inside=self._inside))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys under the prefix, which names a folder."""
        prefix = prefix.rstrip("/")
        if not prefix:
            return self.list_sync()
        found = folders.walk(self._dir(prefix), f"{prefix}/", clean=not self.read_only, inside=self._inside)
        return filter(is_key, found)

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix, in order."""
        if not prefix:
            if not os.path.isdir(self._base):
                return []
            self._sweep_beside()
        inside, start = self._inside, dir_prefix(prefix)
        return sorted(
            [
                entry.name
                for entry in folders.scan(self._dir(prefix), clean=not self.read_only)
                if is_key(start + entry.name)
                if not inside or not entry.is_symlink() or folders.lies_inside(entry.path, inside)
            ]
        )

    # Writing

    def _target(self, key: str) -> str:
        if self._read_only:
            self._check_writable()
        path = self._path(key)
        if key.endswith(".partial") and is_partial(os.path.basename(path)):
            raise ValueError(f"key {key!r} is reserved: names of this form belong to values that are being written")
        if ".zarr-" in key and not RESERVED_NAMES.isdisjoint(key.split("/")):
            raise ValueError(f"key {key!r} is reserved: folders of this name hold locks and transactions of processes")
        return path

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key, in one step."""
        path = self._target(key)
        files.write_file(path, self._data(value), fsync=self.fsync)

    def splice_sync(
        self,
        key: str,
        parts: Sequence[Buffer | tuple[int, int]],
        known: Sequence[tuple[ByteRequest, Buffer]] = (),
    ) -> None:
        """Replace the value of a key, in one step, by a list of buffers and ranges (start, end) of the old value.

        Parameters
        ----------
        key : str
            The key.
        parts : Sequence[Buffer or tuple[int, int]]
            Buffers, and ranges (start, end) of the old value, in order.
        known : Sequence[tuple[ByteRequest, Buffer]]
            Ranges, and the bytes that the old value must hold there.

        Raises
        ------
        EOFError
            If the value ends before a range does.
        ValueReplacedError
            If the value does not hold the known bytes.
        """
        path = self._target(key)
        pieces = [part if isinstance(part, tuple) else self._data(part) for part in parts]
        seen = [(partial(ranges.bounds_of, place), self._data(content)) for place, content in known]
        files.splice_file(path, pieces, known=seen, fsync=self.fsync)

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` if the key has none; of several simultaneous calls, in any process, exactly one succeeds."""
        path = self._target(key)
        if self.fsync and os.path.lexists(path):
            return False
        return files.write_file(path, self._data(value), fsync=self.fsync, exclusive=True)

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there; a folder (``""`` is the root) is removed with all in it."""
        self._check_writable()
        if not key:
            self.delete_dir_sync("")
            return
        path = self._path(key)
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            if not os.path.isdir(path) or os.path.islink(path):
                raise
            folders.remove_tree(path)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix; they disappear in one step, except for those of the root.

        Of a symbolic link to a folder, the link alone is removed.

        Raises
        ------
        FileInPlaceError
            If the prefix names a file; it is a ``ValueError``, too.
        """
        self._check_writable()
        path = self._dir(prefix)
        if path == self._base:
            check_clearable(path)
            for names in removed_first([entry.name for entry in folders.scan(path, clean=True)]):
                for name in names:
                    self.delete_sync(name)
        elif os.path.islink(path) and not os.path.isfile(path):
            os.unlink(path)  # what it leads to stays
        elif os.path.isdir(path):
            folders.remove_tree(path)
        elif os.path.isfile(path):
            raise FileInPlaceError(f"delete_dir was passed a prefix={prefix!r} that is a file in {self!r}")

    async def rename(self, src: str, dest: str) -> None:
        """Give a key or a folder another name, in one step; see :meth:`zarr.abc.store.Store.rename`."""
        if not stages(self):  # a subclass handles single values itself
            await super().rename(src, dest)
            return
        self._check_writable()
        await names_to_move(self, src.strip("/"), dest.strip("/"))
        await self._call(files.move_file, self._target(src.strip("/")), self._target(dest.strip("/")))

    def rename_dir_sync(self, src: str, dest: str) -> bool:
        """Give a folder another name, in one step; return False if it cannot be done, as for a folder in use.

        Parameters
        ----------
        src, dest : str
            The folder, and its new name; folders above that are created.

        Returns
        -------
        bool
        """
        if not stages(self):  # a subclass handles single values itself
            return False
        self._check_writable()
        source, target = self._dir(src), self._dir(dest)
        try:
            files.move_file(source, target)
        except OSError:
            return False
        if self.fsync:
            files.sync_directory(os.path.dirname(source))
            files.sync_directory(os.path.dirname(target))
        return True

    def stage_sync(self, path: str, *, replace: Collection[str] = (), absent: Collection[str] = ()) -> Stage:
        """Return a hidden folder beside ``path`` to write to, which takes its place in one step.

        Parameters
        ----------
        path : str
            The path in the store.
        replace : Collection[str]
            Keys whose values are replaced.
        absent : Collection[str]
            Keys that must have no value when the folder takes its place.

        Returns
        -------
        Stage
        """
        self._check_writable()
        check_prefix(path)
        return local_changes.LocalStage(self._base, path, replace, absent, self.fsync, partial(_StagedStore, self))

    def apply_sync(self, changes: Changes) -> None:
        """Make many changes; if two processes do so at once, one waits for the other.

        They are written to a journal first. If this process dies while it carries them out, the next process that opens
        the store completes them.

        Parameters
        ----------
        changes : Changes
            Values to store, and keys to delete.

        Raises
        ------
        TakenError
            If a key does not hold its expected value; nothing has changed then.
        """
        self._check_writable()
        for key in changes.values:
            self._target(key)
        local_changes.commit_changes(self._base, self.fsync, changes)

    async def move(self, dest_root: Path | str) -> None:
        """Move the folder with all keys to another place; this store then uses that place.

        Parameters
        ----------
        dest_root : Path or str
            The new folder.

        Raises
        ------
        FileExistsError
            If there is something at ``dest_root``.
        NotImplementedError
            If the store is read-only.
        """
        if self.read_only:
            raise NotImplementedError("the folder of a read-only store cannot be moved")
        target = Path(dest_root)
        if target.exists():
            raise FileExistsError(f"Destination root {target} already exists; {self.root} was left where it is")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(self._base[:-1], target)
        self._use_folder(target)

    def bulk_access(self) -> BulkAccess | None:
        """Return that the core may open the files itself, unless links must be checked."""
        if self.links == "inside":
            return None
        return BulkAccess(kind="files", root=self._base.rstrip("/") or "/", fsync=self.fsync)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("fsync", False)
        if "_base" not in state:
            self._use_folder(self.root)


class _StagedStore(LocalStore):
    """A part of another store, written to a folder aside."""

    def __init__(self, base: LocalStore, folder: str) -> None:
        super().__init__(folder, fsync=base.fsync)
        self._real = base

    @property
    def lock_prefix(self) -> str:
        return self._real.lock_prefix

    def lock_folder(self, path: str) -> str:
        return self._real.lock_folder(path)

    def __str__(self) -> str:
        return str(self._real)
