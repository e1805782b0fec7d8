"""The zip container: local headers, the central directory and its end, checked when read and written in a safe order.

The writer of the standard library overwrites the directory of an archive before the new one is written, so that a crash
loses all entries. Here entries are always added after the last directory, and a directory is written only when all its
entries are in the file: at any moment the archive has at least one complete directory.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final, NamedTuple
from zipfile import BadZipFile

from zarr.errors import StoreDamagedError
from zarr.storage.keys import ancestors
from zarr.storage.local.files import sync_file
from zarr.storage.local.names import fcntl

STORED: Final = 0
DEFLATED: Final = 8
BZIP2: Final = 12
LZMA: Final = 14

_LOCAL: Final = struct.Struct("<4s5H3I2H")
_CENTRAL: Final = struct.Struct("<4s6H3I5H2I")
_END: Final = struct.Struct("<4s4H2IH")
_END64: Final = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64: Final = struct.Struct("<4sIQI")
HEADER_SIZES: Final = _LOCAL.size + _CENTRAL.size
END_SIZE: Final = _END.size
LOCAL_SIGNATURE: Final = b"PK\3\4"
END_SIGNATURE: Final = b"PK\5\6"
_LIMIT32: Final = 0xFFFFFFFF
_LIMIT16: Final = 0xFFFF
_UTF8_FLAG: Final = 0x800
_ENCRYPTED_FLAG: Final = 0x1
_SEARCH_STEP: Final = 1 << 20
_LOOKS: Final = 16
_TRIES: Final = 10_000

ReadAt = Callable[[int, int], bytes]


class ZipFormatError(BadZipFile, StoreDamagedError):
    """The bytes are no zip archive that can be read."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Entry:
    """One value in an archive, as the central directory describes it."""

    name: str
    method: int
    crc: int
    stored_size: int
    size: int
    header_offset: int
    flags: int = _UTF8_FLAG
    date_time: tuple[int, int] = (0, 33)


def raw_name(entry: Entry) -> bytes:
    """Return the name of an entry as in its headers; in foreign archives it stays unchanged."""
    return entry.name.encode("utf-8" if entry.flags & _UTF8_FLAG else "cp437", "surrogateescape")


# Writing


def local_header(entry: Entry) -> bytes:
    """Return the header that stands before the data of an entry."""
    name = raw_name(entry)
    extra = b""
    stored_size, size = entry.stored_size, entry.size
    if max(stored_size, size) >= _LIMIT32:
        extra = struct.pack("<2H2Q", 1, 16, size, stored_size)
        stored_size = size = _LIMIT32
    time, date = entry.date_time
    return (
        _LOCAL.pack(
            LOCAL_SIGNATURE, 45 if extra else 20, entry.flags, entry.method, time, date,
            entry.crc, stored_size, size, len(name), len(extra),
        )
        + name
        + extra
    )  # fmt: skip


def _central_header(entry: Entry) -> bytes:
    name = raw_name(entry)
    large = [value for value in (entry.size, entry.stored_size, entry.header_offset) if value >= _LIMIT32]
    extra = struct.pack(f"<2H{len(large)}Q", 1, 8 * len(large), *large) if large else b""
    version = 45 if extra else 20
    time, date = entry.date_time
    return (
        _CENTRAL.pack(
            b"PK\1\2", 3 << 8 | version, version, entry.flags, entry.method, time, date, entry.crc,
            min(entry.stored_size, _LIMIT32), min(entry.size, _LIMIT32), len(name), len(extra), 0, 0, 0,
            0o600 << 16, min(entry.header_offset, _LIMIT32),
        )
        + name
        + extra
    )  # fmt: skip


def directory_bytes(entries: Iterable[Entry], offset: int, *, allow_zip64: bool = True, comment: bytes = b"") -> bytes:
    """Return the central directory of the entries and its end, to be written at ``offset``.

    Raises
    ------
    ValueError
        If the archive is too large for the plain format and ``allow_zip64`` is False.
    """
    headers = [_central_header(entry) for entry in entries]
    body = b"".join(headers)
    count, size = len(headers), len(body)
    tail = b""
    if count >= _LIMIT16 or size >= _LIMIT32 or offset >= _LIMIT32:
        if not allow_zip64:
            raise ValueError(f"an archive of {count} entries and {offset} bytes needs the zip64 format (allowZip64)")
        tail = _END64.pack(b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
        tail += _LOCATOR64.pack(b"PK\6\7", 0, offset + size, 1)
    end = _END.pack(
        END_SIGNATURE, 0, 0, min(count, _LIMIT16), min(count, _LIMIT16), min(size, _LIMIT32), min(offset, _LIMIT32),
        len(comment),
    )  # fmt: skip
    return body + tail + end + comment


# Reading


class Directory(NamedTuple):
    """Keep what the directory of an archive holds."""

    entries: dict[str, Entry]
    end: int
    comment: bytes = b""


def read_directory(read_at: ReadAt, size: int) -> Directory:
    """Find and read the last complete directory of an archive.

    Parameters
    ----------
    read_at : callable
        ``read_at(offset, length)`` returns that part of the file.
    size : int
        The size of the file.

    Returns
    -------
    Directory
        The entries by name, the end of the directory (everything after it was never committed), and the comment of the
        archive.

    Raises
    ------
    ZipFormatError
        If there is no complete directory.
    """
    left, tries, reason = _LOOKS * size, _TRIES, ""

    def look_at(offset: int, length: int) -> bytes:
        # Each of a million end records could name everything before it as its directory.
        nonlocal left
        left -= length
        if left < 0:
            raise ZipFormatError("the file is full of end records that belong to no directory")
        return read_at(offset, length)

    stop = size
    overlap = b""
    while stop > 0:
        start = max(0, stop - _SEARCH_STEP)
        block = read_at(start, stop - start) + overlap
        position = block.rfind(END_SIGNATURE)
        while position >= 0:
            try:
                return _read_directory_at(look_at, start + position, size)
            except ZipFormatError as error:
                reason, tries = reason or f"; its last end record does not hold: {error}", tries - 1
                if not tries:
                    raise ZipFormatError("the file is full of end records that belong to no directory") from error
                position = block.rfind(END_SIGNATURE, 0, position)
        overlap = block[: _END.size]
        stop = start
    raise ZipFormatError(f"no zip directory found: this is no zip archive, or it was never closed{reason}")


def _read_directory_at(read_at: ReadAt, position: int, size: int) -> Directory:
    """Read the directory whose end record is at ``position``; raise ZipFormatError if it contradicts itself."""
    end = read_at(position, _END.size)
    if len(end) < _END.size:
        raise ZipFormatError("the end record is cut off")
    _, _, _, _, count, body_size, offset, comment_size = _END.unpack(end)
    finish = position + _END.size + comment_size
    body_end = position
    if count == _LIMIT16 or body_size == _LIMIT32 or offset == _LIMIT32:
        found = _read_end64(read_at, position)
        if found is not None:
            count, body_size, offset, body_end = found
    shift = body_end - body_size - offset
    # Bytes before the archive are allowed (programs that unpack themselves), but not if something follows the end
    # record: a value that is itself a zip archive could then be taken for this archive.
    if finish > size or shift < 0 or (shift > 0 and finish < size):
        raise ZipFormatError("the end record does not fit the file")
    body = read_at(body_end - body_size, body_size)
    entries = _parse_body(body, count, shift)
    if any(entry.header_offset + _LOCAL.size + entry.stored_size > body_end for entry in entries.values()):
        raise ZipFormatError("an entry lies outside the file")
    return Directory(entries, finish, read_at(position + _END.size, comment_size) if comment_size else b"")


def _read_end64(read_at: ReadAt, position: int) -> tuple[int, int, int, int] | None:
    if position < _LOCATOR64.size + _END64.size:
        return None
    locator = read_at(position - _LOCATOR64.size, _LOCATOR64.size)
    if locator[:4] != b"PK\6\7":
        return None
    start = position - _LOCATOR64.size - _END64.size
    end64 = read_at(start, _END64.size)
    if end64[:4] != b"PK\6\6":
        raise ZipFormatError("the zip64 end record is not where it should be")
    _, _, _, _, _, _, _, count, body_size, offset = _END64.unpack(end64)
    return count, body_size, offset, start


def _parse_body(body: bytes, count: int, shift: int) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    position = number = 0
    while position < len(body) or number < count:
        number += 1
        fixed = body[position : position + _CENTRAL.size]
        if len(fixed) < _CENTRAL.size or fixed[:4] != b"PK\1\2":
            raise ZipFormatError("the directory is damaged")
        fields = _CENTRAL.unpack(fixed)
        flags, method, time, date, crc, stored_size, size = fields[3:10]
        name_size, extra_size, comment_size, offset = fields[10], fields[11], fields[12], fields[16]
        position += _CENTRAL.size
        raw_name = body[position : position + name_size]
        extra = body[position + name_size : position + name_size + extra_size]
        position += name_size + extra_size + comment_size
        if position > len(body):
            raise ZipFormatError("the directory is cut off")
        size, stored_size, offset = _wide_values(extra, size, stored_size, offset)
        name = raw_name.decode("utf-8" if flags & _UTF8_FLAG else "cp437", errors="surrogateescape")
        entries[name] = Entry(name, method, crc, stored_size, size, offset + shift, flags, (time, date))
    # Some writers do not count beyond the size of the field.
    if (number - count) % (_LIMIT16 + 1):
        raise ZipFormatError(f"the directory holds {number} entries where its end record states {count}")
    return entries


def _wide_values(extra: bytes, size: int, stored_size: int, offset: int) -> tuple[int, int, int]:
    """Return the sizes and the offset of an entry; those that do not fit 32 bits come from the extra field."""
    values = [size, stored_size, offset]
    if _LIMIT32 not in values:
        return size, stored_size, offset
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, position)
        if kind == 1:
            wide = list(struct.unpack_from(f"<{min(length, len(extra) - position - 4) // 8}Q", extra, position + 4))
            values = [wide.pop(0) if value == _LIMIT32 and wide else value for value in values]
        position += 4 + length
    return values[0], values[1], values[2]


def data_offset(read_at: ReadAt, entry: Entry) -> int:
    """Return the offset at which the data of an entry begins.

    Raises
    ------
    ZipFormatError
        If there is no header of an entry at the place that the directory names.
    """
    name = raw_name(entry)
    header = read_at(entry.header_offset, _LOCAL.size + len(name))
    if len(header) < _LOCAL.size or header[:4] != LOCAL_SIGNATURE:
        raise ZipFormatError(f"entry {entry.name!r}: no entry at offset {entry.header_offset}")
    if entry.flags & _ENCRYPTED_FLAG:
        raise ZipFormatError(f"entry {entry.name!r} is encrypted")
    if entry.method == STORED and entry.size != entry.stored_size:
        raise ZipFormatError(
            f"entry {entry.name!r} holds {entry.stored_size} bytes where the directory states {entry.size}"
        )
    name_size, extra_size = _LOCAL.unpack_from(header)[9:11]
    if name_size != len(name) or header[_LOCAL.size :] != name:
        raise ZipFormatError(f"entry {entry.name!r}: another entry lies at offset {entry.header_offset}")
    return int(entry.header_offset + _LOCAL.size + name_size + extra_size)


# Data


def compress(data: bytes, method: int) -> bytes:
    """Encode a value as an entry stores it.

    Raises
    ------
    ValueError
        If the method is unknown.
    """
    if method == STORED:
        return data
    if method == DEFLATED:
        packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -15)
        return packer.compress(data) + packer.flush()
    if method == BZIP2:
        import bz2

        return bz2.compress(data)
    raise ValueError(f"zip compression method {method} is not supported for writing; use 0, 8 or 12")


def _unpack_lzma(stored: bytes, limit: int) -> bytes:
    import lzma

    size = struct.unpack_from("<H", stored, 2)[0]
    try:
        options = lzma._decode_filter_properties(lzma.FILTER_LZMA1, stored[4 : 4 + size])  # type: ignore[attr-defined]
        # The window is allocated at once, and may claim 4 GiB; it need not be longer than the output.
        options["dict_size"] = max(4096, min(options["dict_size"], limit + 1))
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[options])
        return unpacker.decompress(stored[4 + size :], limit + 1)
    except lzma.LZMAError as error:
        raise EOFError(str(error)) from error


def decompress(stored: bytes, entry: Entry) -> bytes:
    """Decode a value from its stored form; never return more bytes than the directory states.

    Raises
    ------
    ZipFormatError
        If the data is damaged, of another length than stated, or of an unknown method.
    """
    try:
        if entry.method == STORED:
            data = stored
        elif entry.method == DEFLATED:
            data = zlib.decompressobj(-15).decompress(stored, entry.size + 1)
        elif entry.method == BZIP2:
            import bz2

            data = bz2.BZ2Decompressor().decompress(stored, entry.size + 1)
        elif entry.method == LZMA:
            data = _unpack_lzma(stored, entry.size)
        else:
            raise ZipFormatError(f"entry {entry.name!r}: compression method {entry.method} is not supported")
    except (zlib.error, OSError, EOFError, struct.error, MemoryError, OverflowError) as error:
        raise ZipFormatError(f"entry {entry.name!r} is damaged: {error}") from error
    if len(data) != entry.size:
        raise ZipFormatError(f"entry {entry.name!r} holds {len(data)} bytes where the directory states {entry.size}")
    if zlib.crc32(data) != entry.crc:
        raise ZipFormatError(f"entry {entry.name!r} is damaged: its checksum is wrong")
    return data


FREE_BYTES: Final = 32 << 20
RATIO: Final = 200
_MOST_ITEM_BYTES: Final = 64
_MOST_DOCUMENT_BYTES: Final = 1 << 20
_BITS: Final = re.compile(r"^(?:u?int|float|bfloat|complex|r)(\d+)$")


def unpacks_to_much(entry: Entry) -> bool:
    """Return True if an entry unpacks to suspiciously many bytes.

    Examples
    --------
    >>> unpacks_to_much(Entry("a", 8, 0, 1 << 20, 1 << 30, 0)), unpacks_to_much(Entry("a", 8, 0, 1 << 10, 1 << 20, 0))
    (True, False)
    """
    return entry.method != STORED and entry.size > max(FREE_BYTES + 2 * entry.stored_size, RATIO * entry.stored_size)


def refuse_bomb(entry: Entry, entries: Mapping[str, Entry], read: Callable[[Entry], bytes]) -> None:
    """Refuse a suspiciously large entry that no metadata document explains.

    Parameters
    ----------
    entry : Entry
    entries : mapping
        All entries of the file, by name.
    read : callable
        Returns the value of an entry.

    Raises
    ------
    ZipFormatError
    """
    for folder in ancestors(entry.name):
        for name in ("zarr.json", ".zarray"):
            document = entries.get(f"{folder}/{name}" if folder else name)
            if document is None or document is entry or document.size > _MOST_DOCUMENT_BYTES:
                continue
            if entry.size <= 2 * announced_bytes(read(document)) + FREE_BYTES:
                return
    raise ZipFormatError(
        f"entry {entry.name!r} has {entry.stored_size} bytes, which unpack to {entry.size}: more than any chunk "
        "of its array can need"
    )


def announced_bytes(raw: bytes) -> int:
    """Return the maximum number of bytes of a chunk or shard, by its metadata document; 0 if there is none.

    Examples
    --------
    >>> announced_bytes(b'{"chunks": [10, 10], "dtype": "<f8"}')
    800
    """
    try:
        document: Any = json.loads(raw)
        if "chunks" in document:
            shape, kind = document["chunks"], document.get("dtype")
        else:
            shape, kind = document["chunk_grid"]["configuration"]["chunk_shape"], document.get("data_type")
        return max(0, math.prod(_longest(length) for length in shape)) * _item_bytes(kind)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return 0


def _longest(length: Any) -> int:
    if isinstance(length, list):
        return max(_longest(part[0] if isinstance(part, list) else part) for part in length)
    return int(length)


def _item_bytes(kind: Any) -> int:
    if isinstance(kind, str):
        found = _BITS.match(kind)
        if found:
            return -(-int(found[1]) // 8)
        if re.fullmatch(r"[<>|][biufcmM]\d+", kind):
            return int(kind[2:])
    return _MOST_ITEM_BYTES


_HAS_PREAD: Final = hasattr(os, "pread")


class Handle:
    """A file that several threads read and write at given places."""

    def __init__(self, file: IO[bytes] | io.FileIO, *, owned: bool) -> None:
        self._file = file
        self._owned = owned
        self._claimed_by = -1
        self._lock = threading.RLock()
        self._fd = file.fileno() if owned and _HAS_PREAD else -1
        # A stream that cannot seek can still be written from front to back; and some readers fail at the end of the
        # file.
        self._seekable = file.seekable() if isinstance(file, io.IOBase) else True
        self._limit = None if isinstance(file, io.IOBase) else self.size()

    def claim(self) -> bool:
        """Keep other processes from adding to the file until it is closed; return False if one does so already."""
        if fcntl is None or not self._owned:
            return True
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        self._claimed_by = os.getpid()
        return True

    def release(self) -> None:
        """End :meth:`claim`; not in a forked child, which shares the claim of its parent."""
        if fcntl is not None and self._claimed_by == os.getpid():
            fcntl.flock(self._file.fileno(), fcntl.LOCK_UN)
            self._claimed_by = -1

    def stamp(self) -> tuple[int, int, int, int] | None:
        """Return device, inode, size and time of the file, which another one has not; None for a file of the user."""
        if not self._owned:
            return None
        status = os.fstat(self._file.fileno())
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def is_at(self, path: str) -> bool:
        """Return True if the file still has its name."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(path))
        except FileNotFoundError:
            return False

    def renew_lock(self) -> None:
        """Make a new lock; for a forked child."""
        self._lock = threading.RLock()

    def read_at(self, offset: int, length: int) -> bytes:
        """Read that part of the file; fewer bytes if the file ends before."""
        if self._fd < 0:
            if self._limit is not None:
                length = max(0, min(length, self._limit - offset))
            with self._lock:
                self._file.seek(offset)
                return bytes(self._file.read(length))
        data = os.pread(self._fd, length, offset)
        parts = [data]
        missing = length - len(data)
        while missing > 0 and data:
            data = os.pread(self._fd, missing, offset + length - missing)
            parts.append(data)
            missing -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def write_at(self, offset: int, data: bytes) -> None:
        """Write at that place; all bytes, or raise an error."""
        view = memoryview(data)
        if self._fd >= 0:  # in one call, since a finalizer may write elsewhere between any two
            while view:
                written = os.pwrite(self._fd, view, offset)
                offset, view = offset + written, view[written:]
            return
        with self._lock:
            if self._seekable:
                self._file.seek(offset)
            while view:
                written = self._file.write(view)
                view = view[written:] if written is not None else view
            self._file.flush()

    def truncate(self, size: int) -> None:
        """Cut the file off."""
        if self._seekable:
            with self._lock:
                self._file.truncate(size)

    def size(self) -> int:
        """Return the length of the file."""
        with self._lock:
            return self._file.seek(0, io.SEEK_END)

    def fsync(self) -> None:
        """Synchronise the file to the disk."""
        if self._owned:
            sync_file(self._file.fileno())

    def __del__(self) -> None:
        """Close the file, if it was opened here, when no reader uses it any more."""
        if self._owned:
            self.release()
            self._file.close()
