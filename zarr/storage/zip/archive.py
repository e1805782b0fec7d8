"""One open zip file: what is in it, how values are read from it, and when what was added is committed."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import io
import os
import shutil
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, Any, Final, Literal

from zarr.errors import FolderInPlaceError
from zarr.storage.keys import is_key
from zarr.storage.local.files import partial_name, sync_directory
from zarr.storage.refusals import refused
from zarr.storage.zip.bombs import check_swollen, is_swollen
from zarr.storage.zip.container import (
    END_SIZE,
    HEADER_SIZES,
    STORED,
    Entry,
    ZipFormatError,
    compress,
    data_offset,
    decompress,
    directory_bytes,
    local_header,
    raw_name,
    read_directory,
)
from zarr.storage.zip.file import Handle
from zarr.storage.zip.forks import place_of, watch
from zarr.storage.zip.sharing import WRITERS, SharedFile, commit_others

ZipMode = Literal["r", "w", "x", "a"]
_COMPACT_ABOVE_BYTES: Final = 1 << 20
_LONGEST_NAME: Final = 0xFFFF


def _dos_time() -> tuple[int, int]:
    now = time.localtime()
    day = (now.tm_year - 1980) << 9 | now.tm_mon << 5 | now.tm_mday
    return now.tm_hour << 11 | now.tm_min << 5 | now.tm_sec // 2, day


class _ChangedError(Exception):
    """The archive changed while it was copied."""


class Archive(SharedFile):
    """A zip file and what is known of it; shared by the stores over it.

    Nothing is opened before it is needed. Values that are set are in the file at once, but named by its directory only
    after :meth:`commit`.
    """

    def __init__(
        self, path: str | None, file: IO[bytes] | None, mode: ZipMode, *, method: int, zip64: bool, fsync: bool
    ) -> None:
        self.path = path
        self.file = file
        self.mode: ZipMode = mode
        self.method = method
        self.zip64 = zip64
        self.fsync = fsync
        self._prepare()

    def _prepare(self) -> None:
        self._place = place_of(self.path)
        watch(self)
        self.entries: dict[str, Entry] = {}
        self.folders: set[str] = set()
        self._handle: Handle | None = None
        self._temporary: str | None = None
        self._writable = False
        self._dirty = False
        self._new = False
        self._end = 0
        self._changes = 0
        self._swaps = 0
        self._batch: dict[str, Entry] | None = None
        self._version = 0
        self._pid = os.getpid()
        self._orphaned = False

    def renew_locks(self) -> None:
        """Make new locks; for a forked child."""
        self._place = place_of(self.path)
        if self._handle is not None:
            self._handle.renew_lock()

    def __getstate__(self) -> dict[str, Any]:
        if self.file is not None:
            raise TypeError("cannot pickle a ZipStore backed by a file-like object; give the store a path instead")
        self.commit()
        keys = ("path", "file", "mode", "method", "zip64", "fsync")
        return {key: getattr(self, key) for key in keys}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    # Opening

    @property
    def handle(self) -> Handle:
        """The open file."""
        handle = self._handle
        if handle is None:
            self.open()
            assert self._handle is not None
            handle = self._handle
        return handle

    def open(self) -> None:
        """Open the file and read its directory, if that was not done yet."""
        with self.lock:
            if self._handle is not None:
                return
            if self.path is not None and os.path.isdir(self.path):
                raise FolderInPlaceError(f"{self.path!r} is a folder, not a zip file", number=errno.EISDIR)
            if self.mode in {"w", "x"}:
                self._start_new()
            else:
                self._open_existing()

    def _start_new(self) -> None:
        if self.path is None:
            assert self.file is not None
            self._handle = Handle(self.file, owned=False)
            self._handle.truncate(0)
            self.mode = "a"
        else:
            if self.mode == "x" and os.path.exists(self.path):
                raise FileExistsError(f"{self.path} exists already")
            directory, name = os.path.split(self.path)
            self._temporary = os.path.join(directory, partial_name(name))
            try:
                os.makedirs(directory or ".", exist_ok=True)
                self._handle = Handle(io.FileIO(self._temporary, "xb+"), owned=True)
            except (FileNotFoundError, PermissionError) as error:
                raise refused(error, self.path) from error
            self._handle.claim()
        self.entries, self._end, self._writable, self._dirty = {}, 0, True, True
        self._new = self.path is not None
        self._pid = os.getpid()
        WRITERS.add(self)

    def _open_existing(self) -> None:
        if self.path is not None:
            commit_others(self)
            if self.mode == "a" and not os.path.exists(self.path):
                self._start_new()
                return
            handle = Handle(io.FileIO(self.path, "rb"), owned=True)
        else:
            assert self.file is not None
            handle = Handle(_reusable(self.file), owned=False)
        try:
            self._read_directory(handle)
        except BaseException:
            handle.close()
            raise
        self._handle = handle  # last: who finds it open may go by the entries

    def _read_directory(self, handle: Handle) -> None:
        """Learn what is in the file."""
        self._version = self._place.version
        size = handle.size()
        try:
            if not size and self.mode == "r":
                raise ZipFormatError("the file is empty")
            entries, self._end = read_directory(handle.read_at, size) if size else ({}, 0)
        except ZipFormatError as error:
            raise ZipFormatError(f"{self.path or self.file}: {error}") from error
        self.folders = {name[:-1] for name in entries if name.endswith("/")}
        self.entries = {name: entry for name, entry in entries.items() if is_key(name)}

    # Values

    def find(self, key: str) -> tuple[Handle, Entry] | None:
        """The entry of a key, and the very file in which it lies; None where there is no such key."""
        swaps = self._swaps
        handle = self.handle
        entry = self.entries.get(key)
        if swaps % 2 or swaps != self._swaps:  # another file may have taken its place between the two
            with self.lock:
                handle, entry = self.handle, self.entries.get(key)
        return None if entry is None else (handle, entry)

    def read(self, handle: Handle, entry: Entry, bounds: tuple[int, int] | None = None) -> bytes:
        """The value of an entry, or a part of it; the checksum of a whole value is looked at."""
        try:
            start = data_offset(handle.read_at, entry)
            if bounds is not None and entry.method == STORED:
                return handle.read_at(start + bounds[0], bounds[1] - bounds[0])
            if is_swollen(entry):
                check_swollen(entry, self.entries, partial(self.read, handle))
            data = decompress(handle.read_at(start, entry.stored_size), entry)
        except ZipFormatError as error:
            raise ZipFormatError(f"{self.path or self.file}: {error}") from error
        return data if bounds is None else data[bounds[0] : bounds[1]]

    def write(self, key: str, data: bytes) -> None:
        """Add a value; it takes the place of what had its key before.

        Raises
        ------
        ValueError
            If the key is longer than an archive has room for.
        BlockingIOError
            If another process adds to the file.
        """
        if len(key) > _LONGEST_NAME // 4 and len(key.encode()) > _LONGEST_NAME:
            raise ValueError(f"a key of {len(key)} characters: names in a zip archive have up to {_LONGEST_NAME} bytes")
        stored = compress(data, self.method)
        entry = Entry(key, self.method, zlib.crc32(data), len(stored), len(data), 0, date_time=_dos_time())
        payload = local_header(entry) + stored
        with self.lock:
            handle = self._make_writable()
            offset = self._reserve(len(payload))
            self._fill(handle, offset, payload)
            self.latest[key] = dataclasses.replace(entry, header_offset=offset)
            self._dirty = True
            self._changes += 1

    def _reserve(self, nbytes: int) -> int:
        """Take the next bytes of the file, and say where they begin.

        A finalizer may run, and write, amid any call, also in the thread that holds the lock. So what is written gets
        its place in one step, before it is written.
        """
        offset = self._end
        self._end = offset + nbytes
        return offset

    def _fill(self, handle: Handle, offset: int, data: bytes) -> None:
        try:
            handle.write_at(offset, data)
        except BaseException:
            if self._end == offset + len(data):
                with contextlib.suppress(OSError):
                    handle.truncate(offset)
                self._end = offset
            raise

    def remove(self, keys: Iterable[str]) -> None:
        """Take values out; keys that are not there are no error."""
        with self.lock:
            known = self.current().latest  # another archive may add to the file, and this one know less
            present = [key for key in keys if key in known]
            if present:
                self._make_writable()
                latest = self.latest
                for key in present:
                    latest.pop(key, None)
                self._dirty = True
                self._changes += 1

    @property
    def latest(self) -> dict[str, Entry]:
        """The entries as they will be, where many change in one step just now."""
        return self.entries if self._batch is None else self._batch

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[dict[str, Entry]]:
        """Changes that are seen together, or not at all where one of them fails: what they wrote is never named then.

        Yields the entries as they will be.
        """
        with self.lock:
            self._make_writable()
            if self._batch is not None:  # a finalizer amid such changes: its own are done along with them
                yield self._batch
                return
            batch = self._batch = dict(self.entries)
            try:
                yield batch
                self.entries = batch
                self._dirty = True
            finally:
                self._batch = None

    def clear(self) -> None:
        """Begin anew. What is there is not read, so it may be damaged; it stays until the new archive is committed."""
        with self.lock:
            if self.path is None:
                self._make_writable()
                self.entries, self._dirty = {}, True
                return
            if self.mode == "x":
                self.open()  # refuses a file that somebody else has made
            self.close_file()
            self.mode = "w"
            self._start_new()

    def move(self, path: str) -> None:
        """Take the file to another place."""
        if self.path is None:
            raise NotImplementedError("move is not possible for a ZipStore backed by a file-like object")
        with self.lock:
            self.open()
            self.close()
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            shutil.move(self.path, path)
            self.path = path
            self._place = place_of(path)

    # Committing

    def commit(self) -> None:
        """Write the directory of what is in the file now; before that, a crash leaves the one before."""
        with self.lock:
            if self._handle is None or not self._dirty or self._pid != os.getpid():
                return
            self._dirty = False  # what a finalizer changes from here on is committed the next time
            try:
                self._write_directory(self._handle)
                self._publish()
            except BaseException as error:
                self._dirty = True
                error.add_note(f"while committing {self.path!r}, which has what was committed before")
                raise

    def _write_directory(self, handle: Handle) -> None:
        if self.fsync:
            handle.fsync()
        while True:
            start = self._end
            directory = directory_bytes(list(self.entries.values()), start, allow_zip64=self.zip64)
            if self._end == start:
                break
        self._fill(handle, self._reserve(len(directory)), directory)
        if self.fsync:
            handle.fsync()

    def _publish(self) -> None:
        """Give a new file its name."""
        if self._temporary is None or self.path is None:
            return
        if self.mode == "x" and os.path.exists(self.path):
            raise FileExistsError(f"{self.path} was made by somebody else in the meantime")
        self._have_others_hand_over()
        os.replace(self._temporary, self.path)
        if self.fsync:
            sync_directory(os.path.dirname(self.path) or ".")
        self._temporary = None
        self.mode = "a"
        self._place.writer = weakref.ref(self)
        self._place.version += 1
        self._version = self._place.version

    def _dead_bytes(self) -> int:
        """What belongs neither to an entry nor to the last directory."""
        # A list: a finalizer may add an entry meanwhile.
        headers = sum([entry.stored_size + 2 * len(raw_name(entry)) for entry in list(self.entries.values())])
        return self._end - headers - HEADER_SIZES * len(self.entries) - END_SIZE

    def _worth_compacting(self) -> bool:
        """Whether half of a large file is dead; a new, small one is made gapless at once, which its readers like."""
        if not self._writable or self._pid != os.getpid():
            return False
        dead = self._dead_bytes()
        if self._end <= _COMPACT_ABOVE_BYTES:
            return dead > 0 and self._new
        return dead > max(_COMPACT_ABOVE_BYTES, self._end // 2)

    def compact(self) -> None:
        """Write the archive anew without what was replaced or removed; it changes in one step."""
        with self.lock:
            self.commit()
            source = self._make_writable()
            if self.path is None:
                with self._swapping():
                    self._compact_in_memory(source)
                return
            directory, name = os.path.split(self.path)
            temporary = os.path.join(directory, partial_name(name))
            target = Handle(io.FileIO(temporary, "xb+"), owned=True)
            target.claim()
            try:
                changes = self._changes
                entries, end = _copy_entries(source, target, list(self.entries.values()))
                target.write_at(end, tail := directory_bytes(list(entries.values()), end, allow_zip64=self.zip64))
                if self.fsync:
                    target.fsync()
                if changes != self._changes:  # a finalizer has written: what it wrote is not in the copy
                    raise _ChangedError
                os.replace(temporary, self.path)
                if self.fsync:
                    sync_directory(directory or ".")
            except _ChangedError:
                target.close()
                os.unlink(temporary)
                return
            except BaseException:
                target.close()
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
            # Readers in other threads may still use the old file: it is closed when the last of them lets go.
            with self._swapping():
                self._handle, self.entries, self._end = target, entries, end + len(tail)

    def _compact_in_memory(self, handle: Handle) -> None:
        spare = Handle(io.BytesIO(), owned=False)
        entries, end = _copy_entries(handle, spare, self.entries.values())
        spare.write_at(end, directory_bytes(list(entries.values()), end, allow_zip64=self.zip64))
        whole = spare.read_at(0, spare.size())
        handle.truncate(0)
        handle.write_at(0, whole)
        self.entries, self._end = entries, len(whole)

    def tidy(self) -> None:
        """Commit, and write the file anew where that is worth it."""
        with self.lock:
            self.commit()
            if self._worth_compacting():
                self.compact()

    def close(self) -> None:
        """Commit, tidy up where it is worth it, and close the file."""
        with self.lock:
            if self._handle is None:
                return
            try:
                self.tidy()
            finally:
                self.close_file()

    def close_file(self) -> None:
        """Close the file without committing."""
        with self.lock:
            handle, self._handle = self._handle, None
            if self._writable:
                self._place.version += 1
            self._writable = self._dirty = self._new = False
            WRITERS.discard(self)
            if handle is not None:
                handle.close()
            if self._temporary is not None and self._pid == os.getpid():
                with contextlib.suppress(OSError):
                    os.unlink(self._temporary)
            self._temporary = None

    def __del__(self) -> None:
        self._orphaned = True
        if getattr(self, "_handle", None) is not None:
            self.close()


def _reusable(file: IO[bytes]) -> IO[bytes]:
    """Refuse a file that was written and cannot be read back: what is in it would be lost."""
    if isinstance(file, io.IOBase) and not (file.readable() and file.seekable()):
        raise io.UnsupportedOperation(
            "the file-like object cannot be read back; to use it again after close(), it must be readable and seekable"
        )
    return file


def _copy_entries(source: Handle, target: Handle, entries: Iterable[Entry]) -> tuple[dict[str, Entry], int]:
    """Copy entries, as they are stored, to the beginning of another file."""
    copied: dict[str, Entry] = {}
    end = 0
    for old in entries:
        new = Entry(
            old.name, old.method, old.crc, old.stored_size, old.size, end, old.flags & ~0x8 | 0x800, old.date_time
        )
        data = local_header(new) + source.read_at(data_offset(source.read_at, old), old.stored_size)
        target.write_at(end, data)
        copied[new.name] = new
        end += len(data)
    return copied, end
