"""Keep pending changes in memory, over a store that is only read: ``OverlayStore``.

A transaction collects its changes in one. Stores that make many changes in one step (``TransactionStore``) build a node
in one. Both then give the collected changes to the store, which checks that the values they depend on are unchanged.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from zarr._lazy import hashlib
from zarr.abc.store import BulkAccess, ByteRequest, SyncStore
from zarr.abc.stores.changes import Changes, Stage, TakenError, is_document
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage.base import CreatingStore
from zarr.storage.checks import check_buffer, frozen
from zarr.storage.keys import check_key, child_names, dir_prefix, is_below_any, is_lock
from zarr.storage.ranges import slice_of


def digest_of(value: Any) -> bytes | None:
    """Return a digest by which a value is recognised; None for no value.

    Examples
    --------
    >>> digest_of(None) is None, digest_of(b"a") == digest_of(b"b")
    (True, False)
    """
    return None if value is None else hashlib.blake2b(value, digest_size=_DIGEST_BYTES).digest()


def _digest_of_buffer(value: Buffer | None) -> bytes | None:
    return digest_of(None if value is None else value.as_numpy_array())


def _part(value: Buffer | None, place: ByteRequest) -> Buffer | None:
    return None if value is None else value[slice_of(place, len(value))]


def is_below(key: str, folder: str) -> bool:
    """Return True if a key lies below a folder; the root is ``""``."""
    return not folder or key.startswith(f"{folder}/")


def check_expected(changes: Changes, read: Callable[[str], Any]) -> None:
    """Check that keys have their expected values; ``read`` returns the bytes of a key, or None.

    Raises
    ------
    TakenError
    """
    for key in changes.absent:
        if read(key) is not None:
            raise TakenError(key)
    for key, digest in changes.digests.items():
        if not is_expected(read(key), digest):
            raise TakenError(key)


def is_expected(value: Any, expected: bytes | None) -> bool:
    """Return True if a value is the one of a digest; or of the expected value itself, if that is a large document.

    Examples
    --------
    >>> is_expected(b"a", digest_of(b"a")), is_expected(b"a", None), is_expected(b"a" * 20, b"a" * 20)
    (True, False, True)
    """
    if value is None or expected is None or len(expected) == _DIGEST_BYTES:
        return digest_of(value) == expected
    return (value if type(value) is bytes else bytes(value)) == expected


_DIGEST_BYTES: Final = 16
_LARGE_BYTES: Final = 1 << 20
"""Larger documents are kept as they were read: they are read once, and compared without a digest, which would take as
long as an edit of the consolidated metadata in them."""

_CHANGED: Final = bytes(_DIGEST_BYTES)
"""The digest of no value: for a key of which two different values were read."""

_UNTOUCHED: Any = object()
"""The mark for keys that a transaction has not changed."""


class OverlayStore(CreatingStore):
    """A store with pending changes: they are kept in memory, everything else is read from the store below.

    Parameters
    ----------
    base : SyncStore
    lock_prefix : str
        The name under which keys are locked.
    watch : bool
        If True, record the values read from the store below, so that changes of others are noticed.

    Examples
    --------
    >>> from zarr.buffer.cpu import Buffer
    >>> from zarr.storage import MemoryStore
    >>> base = MemoryStore()
    >>> store = OverlayStore(base, "mine")
    >>> store.set_sync("a", Buffer.from_bytes(b"value"))
    >>> list(store.list_sync()), list(base.list_sync()), list(store.changes().values)
    (['a'], [], ['a'])
    """

    def __init__(self, base: SyncStore, lock_prefix: str, *, watch: bool = False, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self._base = base
        self._lock_prefix = lock_prefix
        self._watch = watch
        # Shared by the views of one overlay, so it is changed in place.
        self._lock = threading.RLock()
        self._values: dict[str, Buffer | None] = {}
        self._removed: dict[str, None] = {}
        self._seen: dict[str, bytes | None] = {}
        self._parts: dict[str, set[tuple[ByteRequest, bytes | None]]] = {}
        self._listed: dict[str, set[str]] = {}
        self._defaults: dict[str, None] = {}

    def __str__(self) -> str:
        return str(self._base)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base!r}, changes={len(self._values)})"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (id(self._values),)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return self._lock_prefix

    def lock_folder(self, path: str) -> str:
        """Return no folder: no other process sees these changes, and they are compared when they are applied."""
        return ""

    def changes(self, absent: Collection[str] = ()) -> Changes:
        """Return the changes, and the values that must still be there: documents, and values read before a change."""

        def counts(key: str) -> bool:
            return key in self._values or is_document(key) or self._is_removed(key)

        with self._lock:
            for key in filter(counts, list(self._parts)):
                self._note(key, self._base.get_sync(key))
            seen = {key: digest for key, digest in self._seen.items() if counts(key)}
            defaults = frozenset(key for key in self._defaults if self._values.get(key) is not None)
            removed = tuple(folder for folder in self._removed if not (folder and self._is_removed(folder)))
            return Changes(removed, dict(self._values), absent, seen, defaults)

    # Reading

    def _is_removed(self, key: str) -> bool:
        return is_below_any(key, self._removed)

    def _check_listed(self) -> None:
        """Check that what was listed and then removed, as by a move, is all that is there.

        Raises
        ------
        TakenError
        """
        for prefix in filter(self._is_removed, self._listed):
            for key in self._base.list_prefix_sync(prefix):
                if key not in self._listed[prefix] and not is_lock(key):
                    raise TakenError(key)

    def _is_noted(self, key: str) -> bool:
        return not self._watch or key in self._seen

    def _note(self, key: str, value: Buffer | None) -> Buffer | None:
        """Note a value of the store below; threads, or parts read before, may have seen another one."""
        if value is not None and len(value) > _LARGE_BYTES and is_document(key):
            found: bytes | None = value.to_bytes()
        else:
            found = _digest_of_buffer(value)
        with self._lock:
            parts = self._parts.pop(key, ())
            same = self._seen.setdefault(key, found) == found
            if not same or any(_digest_of_buffer(_part(value, place)) != digest for place, digest in parts):
                self._seen[key] = _CHANGED
        return value

    def _note_part(self, key: str, place: ByteRequest, part: Buffer | None) -> Buffer | None:
        with self._lock:
            self._parts.setdefault(key, set()).add((place, _digest_of_buffer(part)))
        return part

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key."""
        value = self._values.get(key, _UNTOUCHED)  # read once: another thread may drop the changes
        if value is _UNTOUCHED:
            if self._removed and self._is_removed(key):
                return None
            seen = self._seen.get(key)
            if seen is None or len(seen) == _DIGEST_BYTES:
                return self._get_below(key, prototype, byte_range)
            value = default_buffer_prototype().buffer.from_bytes(seen)  # a large document: kept as it was read
        if value is None:
            return None
        value = (default_buffer_prototype() if prototype is None else prototype).buffer.from_buffer(value)
        return value if byte_range is None else _part(value, byte_range)

    def _get_below(self, key: str, prototype: BufferPrototype | None, byte_range: ByteRequest | None) -> Buffer | None:
        """Read a key that is unchanged here, and note what was read."""
        noted = self._is_noted(key)
        value = self._base.get_sync(key, prototype=prototype, byte_range=byte_range)
        if noted:
            return value
        return self._note(key, value) if byte_range is None else self._note_part(key, byte_range, value)

    def exists_sync(self, key: str) -> bool:
        """Return True if the key has a value."""
        value = self._values.get(key, _UNTOUCHED)
        if value is not _UNTOUCHED:
            return value is not None
        return not self._is_removed(key) and self._base.exists_sync(key)

    def getsize_sync(self, key: str) -> int:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key."""
        value = self._values.get(key, _UNTOUCHED)
        if value is None or (value is _UNTOUCHED and self._is_removed(key)):
            raise FileNotFoundError(key)
        return self._base.getsize_sync(key) if value is _UNTOUCHED else len(value)

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return self.list_prefix_sync("")

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix, in order."""
        with self._lock:
            found = {key for key, value in self._values.items() if value is not None and key.startswith(prefix)}
            below = set() if not prefix and "" in self._removed else set(self._base.list_prefix_sync(prefix))
            if self._watch and not self._is_removed(prefix):
                self._listed[prefix] = below
            found.update(key for key in below if key not in self._values and not self._is_removed(key))
        return sorted(found)

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix, in order."""
        folder = dir_prefix(prefix)
        with self._lock:
            gone = [key for key, value in self._values.items() if value is None and key.startswith(folder)]
            gone += [top for top in self._removed if is_below(folder, top) or is_below(f"{top}/", folder[:-1])]
            if gone:
                return child_names(list(self.list_prefix_sync(folder)), prefix)
            added = child_names([key for key in self._values if key.startswith(folder)], prefix)
            return sorted({*self._base.list_dir_sync(prefix), *added})

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Keep ``value`` for the key."""
        check_key(key)
        kept = frozen(check_buffer(self, value))
        with self._lock:
            self._check_writable()  # under the lock: a value that comes while all are stored would be lost
            self._values[key] = kept
            self._defaults.pop(key, None)

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Keep ``value`` if the key has none."""
        with self._lock:
            self._check_writable()
            if self.exists_sync(key):
                return False
            if self._watch and key not in self._values and not self._is_removed(key):
                self._seen.setdefault(key, None)
            self.set_sync(key, value)
            if not self._watch:
                self._defaults[key] = None
            return True

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        check_key(key)
        with self._lock:
            self._check_writable()
            self._values[key] = None
            self._defaults.pop(key, None)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        folder = prefix.rstrip("/")
        with self._lock:
            self._check_writable()
            # Mark the removal first, then drop the values: a reader meanwhile must not find those of the store below.
            self._removed[folder] = None
            below = dir_prefix(folder)
            for key in [key for key in self._values if key.startswith(below)]:
                del self._values[key]

    # Bulk

    def bulk_access(self) -> BulkAccess | None:
        """Return that several values are moved at a time."""
        return BulkAccess(kind="buffers", get_many=self._get_payloads, set_many=self._set_payloads)

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        kept = {key: self._values.get(key, _UNTOUCHED) for key in keys}  # read once, as above
        found = {key: value for key, value in kept.items() if value is not _UNTOUCHED}
        below = [key for key in kept if key not in found and not self._is_removed(key)]
        noted = set(filter(self._is_noted, below))
        for key, value in zip(below, self._base.get_many_sync(below, default_buffer_prototype()), strict=True):
            found[key] = value if key in noted else self._note(key, value)
        return [None if value is None else value.as_numpy_array() for value in map(found.get, keys)]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        make = default_buffer_prototype().buffer.from_bytes
        made = {key: None if payload is None else make(bytes(payload)) for key, payload in items}
        with self._lock:
            self._check_writable()
            for key in made:
                check_key(key)
                self._defaults.pop(key, None)
            self._values.update(made)


class OverlayStage(Stage):
    """Changes that are collected in memory, and stored by one call.

    Parameters
    ----------
    base : SyncStore
    lock_prefix : str
    apply : callable
        Stores all changes in one step.
    absent : collection of str
    """

    def __init__(
        self, base: SyncStore, lock_prefix: str, apply: Callable[[Changes], None], absent: Collection[str]
    ) -> None:
        self.store: OverlayStore = OverlayStore(base, lock_prefix)
        self._apply = apply
        self._absent = absent

    def publish(self) -> None:
        """Store the changes."""
        self._apply(self.store.changes(self._absent))

    def discard(self) -> None:
        """Drop the changes."""
        self.store = OverlayStore(self.store._base, self.store.lock_prefix, read_only=True)


class TransactionStore(CreatingStore):
    """The base of stores that make many changes in one step, which a subclass defines in ``apply_sync``."""

    @property
    @abstractmethod
    def lock_prefix(self) -> str:
        """Return the name under which keys are locked."""

    def stage_sync(self, path: str, *, replace: Collection[str] = (), absent: Collection[str] = ()) -> Stage:
        """Return a stage of changes that are collected in memory, and then made in one step.

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
        return OverlayStage(self, self.lock_prefix, self.apply_sync, absent)

    @abstractmethod
    def apply_sync(self, changes: Changes) -> None:
        """Make many changes in one step.

        Raises
        ------
        TakenError
            If a key does not hold its expected value; nothing has changed then.
        """
