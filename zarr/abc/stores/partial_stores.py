"""Bases for stores that cannot do everything, by their abilities.

A subclass defines as few methods as possible; the others have defaults. Source: Zarr core specification v3,
"Abstract store interface": readable, writeable and listable stores.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from zarr.abc.stores.async_store import Store, as_folder
from zarr.abc.stores.sync_store import SyncStore
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import ReadOnlyError


def _never(cls: type, name: str) -> bool:
    """Return True if a class of stores declares that it lacks an ability; a property may depend on the store object."""
    return getattr(cls, name, None) is False


class ReadStore(Store):
    """A store that is read by keys; a subclass defines ``get``.

    Every class of stores counts as a subclass: all stores can be read.

    Parameters
    ----------
    read_only : bool
        If True, the store refuses every change. Default: False.

    Examples
    --------
    >>> from zarr.abc.store import ReadStore
    >>> import asyncio
    >>> class Squares(ReadStore):
    ...     async def get(self, key, prototype, byte_range=None):
    ...         return prototype.buffer.from_bytes(str(int(key) ** 2).encode()) if key.isdigit() else None
    >>> asyncio.run(Squares().exists("7")), Squares().read_only
    (True, True)
    """

    supports_writes: bool = False
    supports_deletes: bool = False
    supports_listing: bool = False

    def __init__(self, *, read_only: bool | None = None) -> None:
        super().__init__(read_only=not self.supports_writes if read_only is None else read_only)

    def __eq__(self, value: object) -> bool:
        return self is value

    __hash__ = None  # type: ignore[assignment]

    async def exists(self, key: str) -> bool:
        """Return True if a key has a value."""
        return await self.get(key, default_buffer_prototype()) is not None

    get_partial_values = SyncStore.get_partial_values

    def _refused(self, doing: str) -> ReadOnlyError:
        return ReadOnlyError(f"{type(self).__name__} can be read only: it has no way of {doing}")

    async def set(self, key: str, value: Buffer) -> None:
        """Refuse: the store cannot be written to."""
        raise self._refused(f"storing {key!r}")

    async def delete(self, key: str) -> None:
        """Refuse: the store cannot be written to."""
        raise self._refused(f"deleting {key!r}")

    def list(self) -> AsyncIterator[str]:
        """Refuse: the store cannot list keys."""
        raise NotImplementedError(f"{type(self).__name__} does not support listing.")

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Refuse: the store cannot list keys."""
        raise NotImplementedError(f"{type(self).__name__} does not support listing.")

    list_dir = list_prefix

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        needs = _NEEDS.get(cls)
        if needs is None or not any(base is Store for base in other.__mro__):
            return NotImplemented
        return True if not any(_never(other, name) for name in needs) else NotImplemented


class ReadWriteStore(ReadStore):
    """A store that is read and written by keys; a subclass defines ``get``, ``set`` and ``delete``.

    Every class of stores counts as a subclass, unless it declares that it cannot be written to.

    Parameters
    ----------
    read_only
        If True, the store refuses every change. Default: False.
    """

    supports_writes: bool = True
    supports_deletes: bool = True

    set = Store.set
    delete = Store.delete


class ReadListStore(ReadStore):
    """A store that is read by keys and lists them; a subclass defines ``get`` and ``list``.

    Every class of stores counts as a subclass, unless it declares that it cannot list keys.

    Parameters
    ----------
    read_only
        If True, the store refuses every change. Default: False.
    """

    supports_listing: bool = True

    list = Store.list

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield all keys that start with a string."""
        async for key in self.list():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names of the keys and folders directly below a folder."""
        folder, seen = as_folder(prefix), set[str]()
        async for key in self.list_prefix(folder):
            name = key[len(folder) :].split("/", 1)[0]
            if name not in seen:
                seen.add(name)
                yield name


class ReadWriteListStore(ReadWriteStore, ReadListStore):
    """A store with all abilities; a subclass defines ``get``, ``set``, ``delete`` and ``list``.

    Parameters
    ----------
    read_only
        If True, the store refuses every change. Default: False.
    """


_NEEDS: dict[type, tuple[str, ...]] = {
    ReadStore: (),
    ReadWriteStore: ("supports_writes",),
    ReadListStore: ("supports_listing",),
    ReadWriteListStore: ("supports_writes", "supports_listing"),
}
