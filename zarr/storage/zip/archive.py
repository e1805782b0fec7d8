"""Keep one open zip file: find its entries, read values, add new ones, and commit the directory.

``ZipStore`` calls it. All stores of this process that may change one file share one :class:`Archive`. A change never
overwrites an entry: it adds an entry at the end, and :meth:`Archive.compact` writes the file anew without old ones.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import io
import os
import shutil
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import IO, Any, Final

from zarr._process import FORK_WAIT_SECONDS, at_exit, at_fork, living
from zarr.abc.stores.changes import is_document
from zarr.errors import FolderInPlaceError, ValueReplacedError
from zarr.storage.checks import cannot_create
from zarr.storage.keys import is_key
from zarr.storage.local.files import claim, partial_name, sync_directory
from zarr.storage.zip import container
from zarr.storage.zip.container import Entry, Handle, ZipFormatError

_COMPACT_ABOVE_BYTES: Final = 1 << 20
_LONGEST_NAME: Final = 0xFFFF
_LONGEST_COMMENT: Final = 0xFFFF


Known = tuple[Handle, dict[str, Entry]]


def _content_of(entry: Entry | None) -> tuple[int, int] | None:
    """Return what tells two values apart; their places differ after the file was compacted."""
    return None if entry is None else (entry.crc, entry.size)


def _dos_time() -> tuple[int, int]:
    now = time.localtime()
    day = (now.tm_year - 1980) << 9 | now.tm_mon << 5 | now.tm_mday
    return now.tm_hour << 11 | now.tm_min << 5 | now.tm_sec // 2, day


class Archive:
    """A zip file and its entries; one object for all stores of this process that may add to the file.

    The file is opened at its first use. New values are in the file at once, but its directory lists them only after
    :meth:`commit`.
    """

    def __init__(self, path: str | None, file: IO[bytes] | None, *, read_only: bool, zip64: bool, fsync: bool) -> None:
        self.path = path
        self.file = file
        self.read_only = read_only
        self.zip64 = zip64
        self.fsync = fsync
        self.lock: Any = threading.RLock()
        self.folders: set[str] = set()
        self._known: Known | None = None
        """The open file and its entries: replaced together, so that a place is never used in another file."""
        self._batch: dict[str, Entry] | None = None
        self._temporary: str | None = None
        self._exclusive = False
        self._writable = False
        self._dirty = False
        self._new = False
        self._stamp: Any = None
        """The stamp of the open file when its directory was read."""
        self._seen: set[str] | None = None if read_only else set()
        """The keys that were read before the file was claimed; None: their values cannot change unnoticed."""
        self._stale: set[str] = set()
        """Those of them that another process had changed when the file was claimed."""
        self._end = 0
        self._comment = b""
        self._pid = os.getpid()
        self._ended = False
        _archives.add(self)

    # Opening

    def known(self) -> Known:
        """Return the open file, and the entries of the keys in it."""
        known = self._known
        return self.open() if known is None else known

    @property
    def entries(self) -> dict[str, Entry]:
        """Return the entries by key."""
        return self.known()[1]

    @property
    def comment(self) -> bytes:
        """Return the comment of the archive, which follows its directory; a new one is written at the next commit."""
        self.known()
        return self._comment

    @comment.setter
    def comment(self, comment: bytes) -> None:
        if len(comment) > _LONGEST_COMMENT:
            raise ValueError(f"a comment of {len(comment)} bytes: that of a zip archive has up to {_LONGEST_COMMENT}")
        with self.lock:
            self.make_writable()
            self._comment = bytes(comment)
            self._changed()

    def open(self) -> Known:
        """Open the file and read its directory, unless that is done."""
        with self.lock:
            if self._known is not None:
                return self._known
            if self.path is not None and self.read_only:
                shared = _shared.get(os.path.realpath(self.path))
                if shared is not None:
                    shared.commit()  # so that entries added by stores of this process are visible
            if self.path is not None and not self.read_only and not os.path.exists(self.path):
                self._exclusive = True
                return self._start()
            handle = self._opened()
            self._stamp = handle.stamp()
            self._known = known = (handle, self._read_directory(handle))
            return known

    def _opened(self) -> Handle:
        if self.path is not None:
            if os.path.isdir(self.path):
                raise FolderInPlaceError(f"{self.path!r} is a folder, not a zip file", number=errno.EISDIR)
            return Handle(io.FileIO(self.path, "rb"), owned=True)
        file = self.file
        if isinstance(file, io.IOBase) and not (file.readable() and file.seekable()):
            raise io.UnsupportedOperation(
                "the file-like object cannot be read back; to use it again after close(), it must be readable and "
                "seekable"
            )
        assert file is not None
        return Handle(file, owned=False)

    def begin(self, starts: list[str]) -> None:
        """Begin a new file at the first use of a store of mode "w" or "x"; see ``starts`` of ZipStore."""
        with self.lock:
            mode = starts[0] if starts else ""
            if mode == "x" and self.path is not None and (self._known is not None or os.path.exists(self.path)):
                raise FileExistsError(f"{self.path} exists already")
            if mode:
                self.clear()
                self._exclusive = mode == "x"
                starts.clear()

    def clear(self) -> None:
        """Begin a new file; the old one stays until the new archive is committed."""
        with self.lock:
            self.check_ours()
            if self._exclusive and self.path is not None and os.path.exists(self.path):
                raise self._taken()
            exclusive = self._exclusive
            self.close_file()
            self._start()
            self._exclusive = exclusive

    def check_ours(self) -> None:
        """Refuse to empty a zip file of another kind, as many programs use for their documents.

        Raises
        ------
        FileExistsError
            If the file has no suffix of a zip file, and has entries of which none is a metadata document.
        """
        if self.path is None or self.path.lower().endswith(".zip") or (self._known is not None and self._new):
            return
        with contextlib.suppress(FileNotFoundError, ZipFormatError):
            entries = self._known[1] if self._known is not None else self._read_directory(self._opened())
            if entries and not any(map(is_document, entries)):
                raise FileExistsError(
                    errno.EEXIST,
                    "this zip file holds no Zarr document and is not named *.zip, so it may be of another program: "
                    "nothing was changed; remove it yourself, or choose another name",
                    self.path,
                )

    def _start(self) -> Known:
        if self.path is None:
            assert self.file is not None
            handle = Handle(self.file, owned=False)
            handle.truncate(0)
        else:
            directory, name = os.path.split(self.path)
            self._temporary = os.path.join(directory, partial_name(name))
            try:
                os.makedirs(directory or ".", exist_ok=True)
                handle = Handle(io.FileIO(self._temporary, "xb+"), owned=True)
            except (FileNotFoundError, PermissionError) as error:
                raise cannot_create(error, self.path) from error
            handle.claim()
        self._end, self._comment, self._writable, self._dirty, self._seen = 0, b"", True, True, None
        self._new = self.path is not None
        self._pid = os.getpid()
        known: Known = (handle, {})
        self._known = known
        _written.add(handle)
        return known

    def _read_directory(self, handle: Handle) -> dict[str, Entry]:
        """Return the entries of the file."""
        size = handle.size()
        try:
            if not size and self.read_only:
                raise ZipFormatError("the file is empty")
            found = container.read_directory(handle.read_at, size) if size else container.Directory({}, 0)
        except ZipFormatError as error:
            raise ZipFormatError(f"{self.path or self.file}: {error}") from error
        entries, self._end, self._comment = found
        self.folders = {name[:-1] for name in entries if name.endswith("/")}
        return {name: entry for name, entry in entries.items() if is_key(name)}

    # Values

    def read(self, handle: Handle, entry: Entry, bounds: tuple[int, int] | None = None) -> bytes:
        """Return the value of an entry, or a part of it; the checksum of a whole value is checked."""
        try:
            start = container.data_offset(handle.read_at, entry)
            if bounds is not None and entry.method == container.STORED:
                return handle.read_at(start + bounds[0], bounds[1] - bounds[0])
            if container.unpacks_to_much(entry):
                container.refuse_bomb(entry, self.entries, partial(self.read, handle))
            data = container.decompress(handle.read_at(start, entry.stored_size), entry)
        except ZipFormatError as error:
            raise ZipFormatError(f"{self.path or self.file}: {error}") from error
        return data if bounds is None else data[bounds[0] : bounds[1]]

    def write(self, key: str, data: bytes, method: int) -> None:
        """Add a value; it replaces the former value of its key.

        Raises
        ------
        ValueError
            If the key is too long for an archive.
        BlockingIOError
            If another process adds to the file.
        """
        if len(key) > _LONGEST_NAME // 4 and len(key.encode()) > _LONGEST_NAME:
            raise ValueError(f"a key of {len(key)} characters: names in a zip archive have up to {_LONGEST_NAME} bytes")
        stored = container.compress(data, method)
        entry = Entry(key, method, zlib.crc32(data), len(stored), len(data), 0, date_time=_dos_time())
        payload = container.local_header(entry) + stored
        with self.lock:
            handle = self.make_writable()
            self._check_fresh((key,))
            offset = self._append(handle, payload)
            self._latest()[key] = dataclasses.replace(entry, header_offset=offset)
            self._changed()

    def _append(self, handle: Handle, data: bytes) -> int:
        """Write at the end of the file, and return the place.

        A finalizer may run, and write, inside any call, also in the thread that holds the lock. So each value gets its
        place in the file in one step, before it is written.
        """
        offset = self._end
        self._end = offset + len(data)
        try:
            handle.write_at(offset, data)
        except BaseException:
            if self._end == offset + len(data):
                with contextlib.suppress(OSError):
                    handle.truncate(offset)
                self._end = offset
            raise
        return offset

    def remove(self, keys: Collection[str]) -> None:
        """Remove values, all at once; missing keys are no error."""
        with self.lock:
            if keys:
                self.make_writable()
                self._check_fresh(keys)
            present = [key for key in keys if key in self._latest()]
            if len(present) == 1:
                self._latest().pop(present[0], None)
                self._changed()
            elif present:
                with self.all_or_nothing() as entries:
                    for key in present:
                        entries.pop(key, None)

    def note_read(self, key: str) -> None:
        """Note that a key is about to be read: the next change may follow from its value."""
        seen = self._seen  # looked up once: another thread may claim the file meanwhile
        if seen is not None:
            seen.add(key)
        elif self._stale:
            self._stale.discard(key)

    def _check_fresh(self, keys: Iterable[str]) -> None:
        """Refuse a change of what another process has changed since it was read here, once.

        Raises
        ------
        ValueReplacedError
        """
        if not self._stale or self._stale.isdisjoint(keys):
            return
        changed = sorted(self._stale.intersection(keys))
        self._stale.difference_update(changed)
        raise ValueReplacedError(
            f"another process has changed {changed[0]!r} in {self.path} since it was read here; it stays as it is: "
            "open the node again and repeat the call"
        )

    def _latest(self) -> dict[str, Entry]:
        """Return the entries as they will be after the changes of a running batch."""
        return self.known()[1] if self._batch is None else self._batch

    def _changed(self) -> None:
        """Note that there are changes to commit, and commit them if no later commit will come.

        That is so after the end of the program, and after the finalizer of the archive: other objects that are
        finalized together with it may still write, and Python finalizes an object only once.
        """
        self._dirty = True
        if self._ended and self._batch is None:
            self.tidy()

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[dict[str, Entry]]:
        """Make changes that become visible together; if one fails, none of them is made.

        Yields the entries as they will be.
        """
        with self.lock:
            handle = self.make_writable()
            if self._batch is not None:  # a finalizer inside such changes: its own join them
                yield self._batch
                return
            batch = self._batch = dict(self.entries)
            try:
                yield batch
                self._known = (handle, batch)
            finally:
                self._batch = None
            self._changed()

    def move(self, path: str) -> None:
        """Move the file to another place."""
        if self.path is None:
            raise NotImplementedError("move is not possible for a ZipStore backed by a file-like object")
        with self.lock:
            self.open()
            self.close()
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            shutil.move(self.path, path)
            if not self.read_only:
                _shared.pop(os.path.realpath(self.path), None)
                _shared[os.path.realpath(path)] = self
            self.path = path

    # Adding to the file

    def make_writable(self) -> Handle:
        """Get ready to add entries after the last directory; from now on all that other processes added is known."""
        if _ENDED:
            raise ValueError(f"the program is ending and its zip archives are closed: nothing was added to {self.path}")
        handle = self.known()[0]
        if self._writable and self._pid == os.getpid():
            return handle
        if self.read_only:
            raise ValueError("the zip file was opened to be read only")
        if self._writable:
            raise self._busy("the process that this one was forked from")
        if self.path is not None:
            handle = self._claim(self.path)
        self._make_room(handle)
        self._writable, self._seen = True, None
        self._pid = os.getpid()
        _written.add(handle)
        return handle

    def _busy(self, whom: str) -> OSError:
        message = f"{whom} adds to this zip archive; close it there first, or use a LocalStore"
        return BlockingIOError(errno.EWOULDBLOCK, message, self.path)

    def _claim(self, path: str) -> Handle:
        """Become the only process that adds to the file, and read all that others have added."""
        while True:
            handle = Handle(io.FileIO(path, "rb+"), owned=True)
            if not handle.claim():
                raise self._busy("another process")
            if handle.is_at(path):
                break  # otherwise it was just compacted: another file has its name
        old = self.entries
        if handle.stamp() == self._stamp:
            self._known = (handle, old)
            return handle
        new = self._read_directory(handle)
        self._known = (handle, new)  # before the keys are looked at: later ones are read in it
        seen = self._seen.copy() if self._seen else ()
        self._stale = {key for key in seen if _content_of(old.get(key)) != _content_of(new.get(key))}
        return handle

    def _make_room(self, handle: Handle) -> None:
        """Cut off what an earlier crash left after the last directory.

        A damaged directory stays, so that other programs can still find its entries; new entries follow it.
        """
        size = handle.size()
        if size > self._end:
            if container.END_SIGNATURE in handle.read_at(self._end, size - self._end):
                self._end = size
            else:
                handle.truncate(self._end)

    # Committing

    def commit(self) -> None:
        """Write the directory of the present entries; after an earlier crash, the last one is valid."""
        with self.lock:
            if self._known is None or not self._dirty or self._pid != os.getpid():
                return
            self._dirty = False  # changes of a finalizer from here on are committed the next time
            try:
                self._check_in_place(self._known[0])
                self._write_directory(self._known[0])
                self._publish()
            except BaseException as error:
                self._dirty = True
                error.add_note(f"while committing {self.path!r}, which keeps the state of the last commit")
                raise

    def _write_directory(self, handle: Handle) -> None:
        if self.fsync:
            handle.fsync()
        while True:
            start = self._end
            directory = self._directory_bytes(self.entries.values(), start)
            if self._end == start:  # otherwise a finalizer has written meanwhile
                break
        self._append(handle, directory)
        if self.fsync:
            handle.fsync()

    def _directory_bytes(self, entries: Iterable[Entry], start: int) -> bytes:
        return container.directory_bytes(list(entries), start, allow_zip64=self.zip64, comment=self._comment)

    def _check_in_place(self, handle: Handle) -> None:
        """Refuse to go on if another program has put another file in place of this one, or removed it.

        Raises
        ------
        ValueReplacedError
        """
        if self.path is not None and self._temporary is None and not handle.is_at(self.path):
            raise ValueReplacedError(
                f"another program has replaced or removed {self.path} since this store began to add to it: what was "
                "added since the last commit is not in the present file; open it again and repeat the changes"
            )

    def _taken(self) -> FileExistsError:
        return FileExistsError(
            errno.EEXIST,
            "another process has created this zip archive since a new one was begun here: what was added here is not "
            "stored, what is there stays; open it again and repeat the changes",
            self.path,
        )

    def _publish(self) -> None:
        """Give a new file its name."""
        if self._temporary is None or self.path is None:
            return
        if not self._exclusive:
            self._replace(self._temporary, self.path)
        elif os.path.exists(self.path) or not claim(self._temporary, self.path):
            raise self._taken()
        elif self.fsync:
            sync_directory(os.path.dirname(self.path) or ".")
        self._temporary, self._exclusive = None, False

    def _replace(self, temporary: str, path: str) -> None:
        os.replace(temporary, path)
        if self.fsync:
            sync_directory(os.path.dirname(path) or ".")

    def _is_worth_compacting(self) -> bool:
        """Return True if half of a large file is unused; a new, small one is compacted at once."""
        if not self._writable or self._pid != os.getpid():
            return False
        # A list: a finalizer may add an entry meanwhile.
        entries = list(self.entries.values())
        named = sum([entry.stored_size + 2 * len(container.raw_name(entry)) for entry in entries])
        dead = self._end - named - len(entries) * container.HEADER_SIZES - container.END_SIZE - len(self._comment)
        if self._end <= _COMPACT_ABOVE_BYTES:
            return dead > 0 and self._new
        return dead > max(_COMPACT_ABOVE_BYTES, self._end // 2)

    def compact(self) -> None:
        """Write the archive anew without replaced and removed values; it changes in one step."""
        with self.lock:
            self.commit()
            source = self.make_writable()
            if self.path is None:
                self._compact_in_memory(source)
                return
            directory, name = os.path.split(self.path)
            temporary = os.path.join(directory, partial_name(name))
            target, old, done = Handle(io.FileIO(temporary, "xb+"), owned=True), dict(self.entries), False
            target.claim()
            try:
                entries, end = self._copy(source, target, old.values())
                if self.fsync:
                    target.fsync()
                self._check_in_place(source)
                if old == self.entries:  # otherwise a finalizer has written: its entry is not in the copy
                    self._replace(temporary, self.path)
                    done = True
            finally:
                if not done:
                    with contextlib.suppress(OSError):
                        os.unlink(temporary)
            if done:
                # Readers in other threads may still use the old file: the last of them closes it.
                self._known, self._end = (target, entries), end
                _written.add(target)
                _written.discard(source)

    def _compact_in_memory(self, handle: Handle) -> None:
        spare = Handle(io.BytesIO(), owned=False)
        entries, end = self._copy(handle, spare, self.entries.values())
        whole = spare.read_at(0, end)
        handle.truncate(0)
        handle.write_at(0, whole)
        self._known, self._end = (handle, entries), end

    def _copy(self, source: Handle, target: Handle, entries: Iterable[Entry]) -> tuple[dict[str, Entry], int]:
        """Copy entries, as they are stored, to the beginning of another file; add a directory."""
        copied: dict[str, Entry] = {}
        end = 0
        for old in entries:
            flags = old.flags & ~0x8 | 0x800
            new = Entry(old.name, old.method, old.crc, old.stored_size, old.size, end, flags, old.date_time)
            start = container.data_offset(source.read_at, old)
            data = container.local_header(new) + source.read_at(start, old.stored_size)
            target.write_at(end, data)
            copied[new.name] = new
            end += len(data)
        tail = self._directory_bytes(copied.values(), end)
        target.write_at(end, tail)
        return copied, end + len(tail)

    def tidy(self) -> None:
        """Commit, and compact the file if that is worth it."""
        with self.lock:
            self.commit()
            if self._is_worth_compacting():
                self.compact()

    def close(self) -> None:
        """Commit, compact the file if that is worth it, and close it; the next use opens it again.

        If the changes cannot be committed, as on a full disk, the file stays open with them: they can still be read,
        and the call can be repeated. If another program has taken the place of the file, it is closed.
        """
        with self.lock:
            if self._known is None:
                return
            stays = False
            try:
                self.tidy()
            except BaseException as error:
                stays = self._dirty and not isinstance(error, FileExistsError | ValueReplacedError)
                raise
            finally:
                if not stays:
                    self.close_file()

    def close_file(self) -> None:
        """Close the file without committing; readers in other threads may still use it."""
        with self.lock:
            known, self._known = self._known, None
            self._writable = self._dirty = self._new = self._exclusive = False
            self._stale = set()
            self._seen = None if self.read_only else set()
            if known is not None:
                known[0].release()
                _written.discard(known[0])
            if self._temporary is not None and self._pid == os.getpid():
                with contextlib.suppress(OSError):
                    os.unlink(self._temporary)
            self._temporary = None

    def is_gone(self) -> bool:
        """Return True if another program has removed or replaced the open file."""
        known, path = self._known, self.path
        return known is not None and path is not None and self._temporary is None and not known[0].is_at(path)

    def end(self) -> None:
        """Close the file for the last time: later changes are committed at once.

        What was not committed is lost if the folder of the file was removed.
        """
        self._ended = True
        if self.path is not None and not os.path.isdir(os.path.dirname(self.path) or "."):
            self.close_file()
            return
        try:
            self.close()
        finally:
            self.close_file()

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """Close the file, unless the program has ended: that has closed it, and the names of this module are gone."""
        if not is_ending():
            self.end()


_guard = threading.RLock()
_shared: weakref.WeakValueDictionary[str, Archive] = weakref.WeakValueDictionary()
_archives: weakref.WeakSet[Archive] = weakref.WeakSet()
_written: set[Handle] = set()
"""Files with entries to commit: a collector that ends a cycle with both must not close the file before its archive."""
_held: list[Archive] = []
_ENDED: list[bool] = []
"""Set when the program has ended: later entries have no other commit."""


def archive_of(path: str, *, read_only: bool, zip64: bool, fsync: bool) -> Archive:
    """Return the archive of a path: the shared one for stores that may add to the file, or a new one for reading."""
    if read_only:
        return Archive(path, None, read_only=True, zip64=zip64, fsync=fsync)
    place = os.path.realpath(path)
    with _guard:
        shared = _shared.get(place)
        if shared is None or shared.is_gone():
            shared = _shared[place] = Archive(path, None, read_only=False, zip64=zip64, fsync=fsync)
        shared.fsync = shared.fsync or fsync
        return shared


@at_exit
def _close_all() -> None:
    _ENDED.append(True)
    for archive in living(_archives.__iter__):
        with contextlib.suppress(OSError, ValueError):
            archive.end()


def _acquire_all() -> None:
    _held.extend(archive for archive in living(_archives.__iter__) if archive.lock.acquire(timeout=FORK_WAIT_SECONDS))


def _release_all() -> None:
    while _held:
        _held.pop().lock.release()


def _renew_all() -> None:
    global _guard
    _guard = threading.RLock()
    _shared.clear()
    _held.clear()
    for archive in living(_archives.__iter__):
        archive.lock = threading.RLock()
        if archive._known is not None:
            archive._known[0].renew_lock()


at_fork(_acquire_all, _release_all, _renew_all)
