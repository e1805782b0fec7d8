"""Open values of a store to send them: their size, their tag, and their bytes, piece by piece."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from zarr.abc.store import RangeByteRequest, Store, open_value_of
from zarr.abc.stores.abilities import bulk_kind
from zarr.runners.choose import runner_for
from zarr.steps.requests import Get, Request, Size, ask_steps
from zarr.storage.keys import METADATA_NAMES
from zarr.storage.layouts.base import LayoutStore
from zarr.storage.local import files
from zarr.storage.local.store import LocalStore

PIECE: Final = 1 << 20
"""Bytes that are read at once; longer values are sent in such pieces, and are never in memory as a whole."""


def _do_nothing() -> None:
    """Do nothing: a value in memory needs no close."""


@dataclass
class Value:
    """An open value.

    Parameters
    ----------
    size : int
        The number of bytes.
    tag : str or None
        A tag that is the same for the same bytes under one key only; None if there is none.
    read : callable
        Takes the begin and the end, and returns those bytes.
    close : callable
        To be called at the end.
    """

    size: int
    tag: str | None
    read: Callable[[int, int], bytes]
    close: Callable[[], None] = _do_nothing


def ask(store: Store, request: Request) -> Any:
    """Return the answer of a store to one request, in this thread.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> ask(MemoryStore(), Get("a")) is None
    True
    """
    return runner_for(store).run(ask_steps(request))


def tag_of(content: Any) -> str:
    """Return the entity tag of bytes, or of a stamp.

    Examples
    --------
    >>> len(tag_of(b"value"))
    32
    """
    raw = content if isinstance(content, bytes) else repr(content).encode()
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def open_value(store: Store, key: str, whole: bool = True) -> Value | None:
    """Open the value of a key; None if there is none.

    Parameters
    ----------
    store : Store
    key : str
    whole : bool
        If True, all bytes will be sent, so that a short value is read at once.

    Examples
    --------
    >>> from zarr.buffer.cpu import Buffer
    >>> from zarr.storage import MemoryStore
    >>> value = open_value(MemoryStore({"a": Buffer.from_bytes(b"012345")}), "a")
    >>> value.size, value.read(2, 4)
    (6, b'23')
    """
    if isinstance(store, LayoutStore) and key.rpartition("/")[2] not in METADATA_NAMES:
        below = store.chunk_key(key)
        return None if below is None else open_value(store._store, below, whole)
    if isinstance(store, LocalStore) and open_value_of(store) is not None:
        return _open_file(store._path(key))
    if bulk_kind(store) == "memory":
        return _at_hand(store, key)
    size = ask(store, Size(key))
    if size is None:
        return None
    if whole and size <= PIECE:
        return _at_hand(store, key)
    return Value(size, None, lambda start, stop: _read_range(store, key, start, stop))


def _open_file(path: str) -> Value | None:
    """Open a file; if it is replaced meanwhile, its old bytes are sent."""
    opened = files.open_regular(path)
    if opened is None:
        return None
    fd, size = opened

    def read(start: int, stop: int) -> bytes:
        os.lseek(fd, 0, os.SEEK_SET)
        return files.read_span(fd, start, stop - start)

    stamp = files.stamp_of(os.fstat(fd))
    if stamp is not None or size > PIECE:
        return Value(size, None if stamp is None else tag_of(stamp), read, lambda: os.close(fd))
    try:
        content = read(0, size)  # a file so new that its times are no stamp
    finally:
        os.close(fd)
    return _from_bytes(content)


def _at_hand(store: Store, key: str) -> Value | None:
    buffer = ask(store, Get(key))
    if buffer is None:
        return None
    if len(buffer) <= PIECE:
        return _from_bytes(buffer.to_bytes())
    return Value(len(buffer), None, lambda start, stop: buffer[start:stop].to_bytes())


def _from_bytes(content: bytes) -> Value:
    return Value(len(content), tag_of(content), lambda start, stop: content[start:stop])


def _read_range(store: Store, key: str, start: int, stop: int) -> bytes:
    buffer = ask(store, Get(key, RangeByteRequest(start, stop)))
    return b"" if buffer is None else buffer.to_bytes()
