"""The place of an array or a group: a store and a path in it (``StorePath``).

Access modes are checked here. The methods that read and write one value are those of zarr-python.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

from zarr.abc.stores.abilities import plain_method
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import ReadOnlyError, label_of
from zarr.storage.keys import join, normalize_path
from zarr.types import ANY_ACCESS_MODE, JSON, AccessModeLiteral

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest, Store


def check_mode(mode: object) -> None:
    """Refuse a string that is no access mode."""
    if mode is not None and mode not in ANY_ACCESS_MODE:
        raise ValueError(f"Invalid mode: {mode}, expected one of {ANY_ACCESS_MODE}")


def exists_message(path: str) -> str:
    """Return the error for mode "w-" if there is something."""
    return (
        f"Cannot create {path!r} with mode 'w-' because it already contains data. "
        "Use mode 'w' to overwrite or 'a' to append."
    )


def _read_only(store: Store) -> Store:
    """Return a read-only view of a store."""
    try:
        return store.with_read_only(read_only=True)
    except NotImplementedError as error:
        raise ValueError(
            f"Store is not read-only but mode is 'r', and {label_of(store)} has no read-only view: give a read-only "
            "store, or define with_read_only"
        ) from error


class StorePath:
    """A store and a path in it.

    Parameters
    ----------
    store : Store
        The store.
    path : str
        The path in its normal form ``a/b``; the empty string is the root.

    Examples
    --------
    >>> from zarr.storage import MemoryStore, StorePath
    >>> (StorePath(MemoryStore(), "/a/") / "b").path
    'a/b'
    """

    store: Store
    path: str

    def __init__(self, store: Store, path: str = "") -> None:
        self.store = store
        self.path = normalize_path(path) if path else ""

    @property
    def read_only(self) -> bool:
        """Return True if the store refuses every change."""
        return self.store.read_only

    @classmethod
    def with_mode(cls, store: Store, path: str, mode: AccessModeLiteral | None = None) -> Self:
        """Return a place for an access mode, like :meth:`open`, without reading the store: ``"w-"`` is not checked.

        Parameters
        ----------
        store : Store
            The store.
        path : str
            The path in the store.
        mode : AccessModeLiteral or None
            The access mode: ``"r"``, ``"r+"``, ``"a"``, ``"w"`` or ``"w-"``.

        Raises
        ------
        ValueError
            If the mode is unknown, or is "r" for a writable store that has no ``with_read_only``.
        ReadOnlyError
            If the mode writes, and the store can only be read.
        """
        if mode is None:
            return cls(store, path)
        if mode not in ANY_ACCESS_MODE:
            check_mode(mode)
        if mode == "r":
            return cls(store if store.read_only else _read_only(store), path)
        if store.read_only:
            raise ReadOnlyError(
                f"Store is read-only but mode is {mode!r}. Create a writable store or use 'r' mode. (path {path!r} of "
                f"{label_of(store)})"
            )
        return cls(store, path)

    @classmethod
    async def open(cls, store: Store, path: str, mode: AccessModeLiteral | None = None) -> Self:
        """Return a place for an access mode.

        Parameters
        ----------
        store : Store
        path : str
        mode : {"r", "r+", "a", "w", "w-"}, optional
            ``"r"``: use a read-only view of the store. ``"w-"``: raise an error if there is something. The others need
            a writable store. None, the default: use the store as it is.

        Raises
        ------
        ValueError
            If the mode is unknown, or writes while the store is read-only.
        FileExistsError
            If the mode is ``"w-"`` and there is something at the path.
        """
        await store._ensure_open()
        self = cls.with_mode(store, path, mode)
        if mode == "w-" and not await self.is_empty():
            raise FileExistsError(exists_message(self.path))
        return self

    # Asynchronous access

    async def get(
        self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value at this path, or a range of it; None if there is none."""
        wanted = default_buffer_prototype() if prototype is None else prototype
        return await self.store.get(self.path, prototype=wanted, byte_range=byte_range)

    async def get_json(self, *, byte_range: ByteRequest | None = None) -> JSON | None:
        """Read the value at this path as JSON; None if there is none.

        Parameters
        ----------
        byte_range : ByteRequest or None
            The range of the value to read. Default: all.

        Returns
        -------
        JSON value, or None
            None if the key has no value.
        """
        value = await self.get(byte_range=byte_range)
        if value is None:
            return None
        document: JSON = json.loads(value.to_bytes())
        return document

    async def set(self, value: Buffer) -> None:
        """Write the value at this path."""
        await self.store.set(self.path, value)

    async def set_if_not_exists(self, default: Buffer) -> None:
        """Write the value at this path if there is none."""
        await self.store.set_if_not_exists(self.path, default)

    async def delete(self) -> None:
        """Remove the value at this path."""
        await self.store.delete(self.path)

    async def delete_dir(self) -> None:
        """Remove all values under this path."""
        await self.store.delete_dir(self.path)

    async def exists(self) -> bool:
        """Return True if there is a value at this path."""
        return await self.store.exists(self.path)

    async def is_empty(self) -> bool:
        """Return True if there is nothing under this path."""
        return await self.store.is_empty(self.path)

    # Synchronous access

    def get_sync(
        self, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value at this path, or a range of it; None if there is none."""
        get = plain_method(self.store, "get_sync")
        return get(self.path, prototype=prototype, byte_range=byte_range)  # type: ignore[no-any-return]

    def set_sync(self, value: Buffer) -> None:
        """Write the value at this path."""
        plain_method(self.store, "set_sync")(self.path, value)

    def delete_sync(self) -> None:
        """Remove the value at this path."""
        plain_method(self.store, "delete_sync")(self.path)

    # Paths

    def child(self, name: str) -> StorePath:
        """Return the place of a name directly below this one, as a listing returns it.

        Parameters
        ----------
        name : str
            The name of the key or node below.

        Returns
        -------
        StorePath
        """
        below = object.__new__(type(self))
        below.store = self.store
        below.path = f"{self.path}/{name}" if self.path else name
        return below

    def __truediv__(self, other: str) -> StorePath:
        """Return the place ``other`` below this one."""
        path = normalize_path(other)
        below = object.__new__(type(self))
        below.store = self.store
        below.path = f"{self.path}/{path}" if self.path and path else path or self.path
        return below

    def at_root(self, path: str) -> StorePath:
        """Return a place of the same store, by its path from the root.

        Parameters
        ----------
        path : str
            The path in the store.

        Returns
        -------
        StorePath
        """
        found = object.__new__(type(self))
        found.store, found.path = self.store, normalize_path(path)
        return found

    @property
    def label(self) -> str:
        """Return the place for messages made on an event loop or under locks; see :func:`zarr.errors.label_of`."""
        return join(label_of(self.store, str), self.path)

    def __str__(self) -> str:
        return join(str(self.store), self.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.store).__name__}, {str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorePath) and self.store == other.store and self.path == other.path
