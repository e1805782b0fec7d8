"""The base of the stores of this library: their names, their equality, their abilities."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

from zarr.abc.store import Store, SyncStore
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage.checks import check_buffer

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest


class NamedStore(Store):
    """A store with a name as text; it equals stores of the same identity, and has all abilities."""

    contents_first: bool = True
    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True

    @property
    @abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """Return a value that is equal for two stores of one class if and only if they are equal."""

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store over the same data, read-only or writable."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._read_only, other._is_open = read_only, False
        return other

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._identity == other._identity

    __hash__ = None  # type: ignore[assignment]


class BlockingStore(NamedStore, SyncStore):
    """A named store with plain methods, which may wait for a disk."""

    blocking = True

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key."""
        return await super().get(key, prototype or default_buffer_prototype(), byte_range)

    def _data(self, value: object) -> memoryview:
        """Return the bytes of a buffer; raise TypeError if the value is no buffer."""
        return check_buffer(self, value).as_numpy_array().data


class CreatingStore(BlockingStore):
    """A blocking store that can store a value only if its key has none."""

    @abstractmethod
    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` if the key has none; of several simultaneous calls exactly one succeeds.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.

        Returns
        -------
        bool
            True if this call stored the value.
        """

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` if the key has none."""
        self.put_if_absent_sync(key, value)
