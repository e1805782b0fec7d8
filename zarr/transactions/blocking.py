"""The synchronous face of a store that has coroutines only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store, SyncStore, takes_contents_first
from zarr.buffer.core import default_buffer_prototype
from zarr.runners.sync import sync

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype


async def _collect(keys: AsyncIterator[str]) -> list[str]:
    return [key async for key in keys]


class BlockingView(SyncStore):
    """Calls the coroutines of a store on the background loop and waits for them.

    Parameters
    ----------
    store : Store
    """

    blocking = True

    def __init__(self, store: Store) -> None:
        super().__init__(read_only=store.read_only)
        self._store = store

    def __str__(self) -> str:
        return str(self._store)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockingView) and self._store == other._store

    __hash__ = None  # type: ignore[assignment]

    @property
    def contents_first(self) -> bool:
        """Whether the wrapped store takes values that no document tells of yet."""
        return takes_contents_first(self._store)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""
        return sync(self._store.get(key, prototype or default_buffer_prototype(), byte_range))

    def exists_sync(self, key: str) -> bool:
        """Return whether a key has a value."""
        return sync(self._store.exists(key))

    def getsize_sync(self, key: str) -> int:
        """Return the length of a value in bytes; FileNotFoundError if there is none."""
        return sync(self._store.getsize(key))

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value."""
        sync(self._store.set(key, value))

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value if the key still holds ``expected``."""
        return sync(self._store.set_if_match(key, value, expected))

    @property
    def supports_set_if_match(self) -> bool:
        """Whether ``set_if_match`` is one step with regard to every other writer."""
        return self._store.supports_set_if_match

    def delete_sync(self, key: str) -> None:
        """Delete a key; it need not have a value."""
        sync(self._store.delete(key))

    def delete_dir_sync(self, prefix: str) -> None:
        """Delete every key below a folder."""
        sync(self._store.delete_dir(prefix))

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return sync(_collect(self._store.list()))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that start with a string."""
        return sync(_collect(self._store.list_prefix(prefix)))

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names of the keys and folders directly below a folder."""
        return sync(_collect(self._store.list_dir(prefix)))

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> list[Any]:
        """Return the values of many keys."""
        wanted = prototype or default_buffer_prototype()
        return sync(self._store.get_partial_values(wanted, [(key, None) for key in keys]))
