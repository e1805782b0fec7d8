"""Small contracts: a place with the bytes of one chunk, and stores with some plain methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from typing import TypeGuard

    from zarr.abc.stores.byte_ranges import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype


@runtime_checkable
class ByteGetter(Protocol):
    """Where a codec gets the bytes of one chunk."""

    async def get(self, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None: ...


@runtime_checkable
class ByteSetter(Protocol):
    """Where a codec gets and sets the bytes of one chunk."""

    async def get(self, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None: ...

    async def set(self, value: Buffer) -> None: ...

    async def delete(self) -> None: ...

    async def set_if_not_exists(self, default: Buffer) -> None: ...


@runtime_checkable
class SyncByteGetter(Protocol):
    """Where a codec gets the bytes of one chunk, without an event loop."""

    def get_sync(
        self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None: ...


@runtime_checkable
class SyncByteSetter(SyncByteGetter, Protocol):
    """Where a codec gets and sets the bytes of one chunk, without an event loop."""

    def set_sync(self, value: Buffer) -> None: ...

    def delete_sync(self) -> None: ...


@runtime_checkable
class SupportsGetSync(Protocol):
    """A store with a plain ``get``."""

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None: ...


@runtime_checkable
class SupportsSetSync(Protocol):
    """A store with a plain ``set``."""

    def set_sync(self, key: str, value: Buffer) -> None: ...


@runtime_checkable
class SupportsDeleteSync(Protocol):
    """A store with a plain ``delete``."""

    def delete_sync(self, key: str) -> None: ...


@runtime_checkable
class SupportsSyncStore(SupportsGetSync, SupportsSetSync, SupportsDeleteSync, Protocol):
    """A store with a plain ``get``, ``set`` and ``delete``."""


def _store_supports_sync_io(store: object) -> TypeGuard[SupportsSyncStore]:
    """Return whether a store has the three plain methods."""
    return isinstance(store, SupportsSyncStore)


async def set_or_delete(byte_setter: ByteSetter, value: Buffer | None) -> None:
    """Set a value, or delete it if it is None.

    Parameters
    ----------
    byte_setter
        Where.
    value
        The bytes, or None.
    """
    if value is None:
        await byte_setter.delete()
    else:
        await byte_setter.set(value)
