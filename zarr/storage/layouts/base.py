"""A store that shows a hierarchy of another layout as format 3: it translates keys and rewrites documents."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from zarr.abc.store import ByteRequest, Store
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import ReadOnlyError
from zarr.steps.requests import Get, Steps
from zarr.storage.keys import METADATA_NAMES, check_key, join
from zarr.storage.ranges import slice_of
from zarr.storage.wrappers.wrapper import Call, StepsStore


def to_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document as it is stored."""
    return json.dumps(document, indent=2).encode()


def read_steps(key: str) -> Steps[bytes | None]:
    """Return the bytes of a key of the store below; None if there is none."""
    found = yield Get(key)
    return None if found is None else found.to_bytes()


def split_document(key: str) -> tuple[str, str] | None:
    """Return the path of the node and the name of the document, for a key of a document; refuse invalid keys.

    Examples
    --------
    >>> split_document("a/b/zarr.json"), split_document("a/c/0")
    (('a/b', 'zarr.json'), None)
    """
    check_key(key)
    path, _, name = key.rpartition("/")
    return (path, name) if name in METADATA_NAMES else None


class LayoutStore(StepsStore):
    """A hierarchy of another layout, shown as format 3; read-only, unless the layout supports writes.

    Parameters
    ----------
    store : Store
        The store below.
    path : str
        The place of the hierarchy in the store.
    """

    supports_consolidated_metadata: bool = False
    supports_set_if_match: bool = False  # documents are rewritten when they are read, and cannot be compared

    _writes = False

    def __init__(self, store: Store, path: str = "") -> None:
        super().__init__(store)
        self.path = path.strip("/")

    # Methods in which layouts differ

    @abstractmethod
    def chunk_key(self, key: str) -> str | None:
        """Return the key in the store below for the key of a chunk; None if no chunk can have that key."""

    @abstractmethod
    def document_steps(self, path: str) -> Steps[bytes | None]:
        """Return the document ``zarr.json`` of a node; None if there is no node."""

    @abstractmethod
    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names directly below a folder."""

    @abstractmethod
    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """Return all keys that begin with a prefix."""

    # Methods that all layouts share

    def _below(self, *parts: str) -> str:
        return join(self.path, *parts)

    def _refusal(self) -> ReadOnlyError:
        return ReadOnlyError(f"{self} is of a layout that is only read: copy it into a new hierarchy to change it")

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return the same hierarchy, read-only or writable.

        Raises
        ------
        ReadOnlyError
            If ``read_only`` is False, and the hierarchy is of a layout that is only read, or was opened for reading.
        """
        if not read_only and not self._writes:
            raise self._refusal()
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._writes = not read_only
        return other

    @property
    def read_only(self) -> bool:
        """Return True if the hierarchy refuses every change."""
        return not self._writes or self._store.read_only

    @property
    def supports_writes(self) -> bool:
        """Return True if the hierarchy can be written to."""
        return not self.read_only

    supports_deletes = supports_writes

    def _check_writable(self) -> None:
        if self.read_only:
            raise self._refusal()
        self._store._check_writable()

    def __str__(self) -> str:
        return join(str(self._store), self.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, value: object) -> bool:
        return (
            isinstance(value, LayoutStore)
            and type(self) is type(value)
            and (self._store, self.path, self.read_only) == (value._store, value.path, value.read_only)
        )

    def get_steps(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Steps[Buffer | None]:
        """Return the value of a key, or a range of it; None if there is no such key.

        Parameters
        ----------
        key : str
            The key.
        prototype : BufferPrototype or None
            The classes of buffers to return.
        byte_range : ByteRequest or None
            The range of the value to read. Default: all.

        Returns
        -------
        Steps
        """
        named = split_document(key)
        if named is None:
            below = self.chunk_key(key)
            return None if below is None else (yield Get(below, byte_range, prototype))
        document = (yield from self.document_steps(named[0])) if named[1] == "zarr.json" else None
        if document is None:
            return None
        part = document[slice_of(byte_range, len(document))] if byte_range else document
        return (prototype or default_buffer_prototype()).buffer.from_bytes(part)

    def exists_steps(self, key: str) -> Steps[bool]:
        """Return True if the key has a value.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        Steps
        """
        if split_document(key) is not None:
            return (yield from self.get_steps(key)) is not None
        below = self.chunk_key(key)
        return below is not None and bool((yield Call(self._store, "exists", below)))

    def getsize_steps(self, key: str) -> Steps[int]:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        Steps
        """
        below = self.chunk_key(key) if split_document(key) is None else None
        if below is not None:
            return int((yield Call(self._store, "getsize", below)))
        found = yield from self.get_steps(key)
        if found is None:
            raise FileNotFoundError(key)
        return len(found)

    def list_steps(self) -> Steps[list[str]]:
        """Return all keys.

        Returns
        -------
        Steps
        """
        return (yield from self.list_prefix_steps(""))

    def set_if_not_exists_steps(self, key: str, value: Buffer) -> Steps[None]:
        """Store a value if the key has none.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.
        """
        if not (yield from self.exists_steps(key)):
            yield from self.set_steps(key, value)

    def set_if_match_steps(self, key: str, value: Buffer, expected: Buffer | None) -> Steps[bool]:
        """Refuse: documents are rewritten when they are read.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.
        expected : Buffer or None
            The value that the key must have now; None: no value.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot store a value on a condition")
        yield

    def delete_steps(self, key: str) -> Steps[None]:
        """Refuse: the layout is read-only.

        Parameters
        ----------
        key : str
            The key.
        """
        raise self._refusal()
        yield

    delete_dir_steps = delete_steps

    def set_steps(self, key: str, value: Buffer) -> Steps[None]:
        """Refuse: the layout is read-only.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.
        """
        yield from self.delete_steps(key)

    async def is_empty(self, prefix: str) -> bool:
        """Return True if there is nothing below a folder."""
        return not await self._run_async(self.list_dir_steps(prefix))

    getsize_prefix = Store.getsize_prefix
    clear = Store.clear
