"""One array's view of a store through its storage transformers: chunks go through them, documents pass them by."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from zarr.abc.storage_transformer import StorageTransformer
from zarr.abc.store import Store, is_synchronous, takes_contents_first
from zarr.registry import get_storage_transformer_class
from zarr.storage.keys import join
from zarr.storage.wrappers.wrapper import WrapperStore
from zarr.types import METADATA_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr.abc.store import BulkAccess, ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype



class TransformedStore(WrapperStore[Store]):
    """A store whose keys below an array, save documents, go through another store.

    Parameters
    ----------
    plain : Store
        The store of the user.
    chunks : Store
        What the transformers made of it.
    path : str
        The path of the array.
    """

    def __init__(self, plain: Store, chunks: Store, path: str) -> None:
        super().__init__(chunks)
        self.plain = plain
        self.path = path
        self._below = f"{path}/" if path else ""

    def _is_chunk(self, key: str) -> bool:
        return key.startswith(self._below) and key[len(self._below) :] not in METADATA_NAMES

    def _of(self, key: str) -> Any:
        return self._store if self._is_chunk(key) else self.plain

    def with_read_only(self, read_only: bool = False) -> TransformedStore:
        """Return the same view of a store that may, or may not, be written to."""
        plain, chunks = self.plain.with_read_only(read_only), self._store.with_read_only(read_only)
        return TransformedStore(plain, chunks, self.path)

    @property
    def synchronous(self) -> bool:
        """Return whether both stores have plain methods."""
        return is_synchronous(self.plain) and is_synchronous(self._store)

    @property
    def contents_first(self) -> bool:
        """Return whether the store of the user takes values that no document tells of yet."""
        return takes_contents_first(self.plain)

    @property
    def lock_prefix(self) -> str:
        """Return the locks are those of the store of the user."""
        prefix = getattr(self.plain, "lock_prefix", None)
        return prefix if isinstance(prefix, str) else f"object:{id(self.plain)}"

    def lock_folder(self, path: str) -> str | None:
        """Where the lock files of a node lie."""
        lock_folder = getattr(self.plain, "lock_folder", None)
        return None if lock_folder is None else lock_folder(path)

    def bulk_access(self) -> BulkAccess | None:
        """None: a transformer sees every single value."""
        return None

    def __str__(self) -> str:
        return f"{self.plain}"

    def __eq__(self, value: object) -> bool:
        if not isinstance(value, TransformedStore):
            return False
        return (self.plain, self._store, self.path) == (value.plain, value._store, value.path)

    # Coroutines

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        value: Buffer | None = await self._of(key).get(key, prototype, byte_range)
        return value

    async def exists(self, key: str) -> bool:
        return bool(await self._of(key).exists(key))

    async def set(self, key: str, value: Buffer) -> None:
        await self._of(key).set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        await self._of(key).set_if_not_exists(key, value)

    async def delete(self, key: str) -> None:
        await self._of(key).delete(key)

    async def delete_dir(self, prefix: str) -> None:
        await (self._store if f"{prefix}/".startswith(self._below) else self.plain).delete_dir(prefix)

    async def getsize(self, key: str) -> int:
        return int(await self._of(key).getsize(key))

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        async for key in self.plain.list_prefix(prefix):
            if not self._is_chunk(key):
                yield key
        async for key in self._store.list_prefix(prefix):
            if self._is_chunk(key):
                yield key

    def list(self) -> AsyncIterator[str]:
        return self.list_prefix("")

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        names = [name async for name in self.plain.list_dir(prefix)]
        other = [name async for name in self._store.list_dir(prefix)]
        for name in self._names(prefix, names, other):
            yield name

    # Plain methods

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        value: Buffer | None = self._of(key).get_sync(key, prototype=prototype, byte_range=byte_range)
        return value

    def exists_sync(self, key: str) -> bool:
        return bool(self._of(key).exists_sync(key))

    def set_sync(self, key: str, value: Buffer) -> None:
        self._of(key).set_sync(key, value)

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        self._of(key).set_if_not_exists_sync(key, value)

    def delete_sync(self, key: str) -> None:
        self._of(key).delete_sync(key)

    def delete_dir_sync(self, prefix: str) -> None:
        store: Any = self._store if f"{prefix}/".startswith(self._below) else self.plain
        store.delete_dir_sync(prefix)

    def getsize_sync(self, key: str) -> int:
        return int(self._of(key).getsize_sync(key))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        plain, chunks = self.plain, self._store
        keys = [key for key in plain.list_prefix_sync(prefix) if not self._is_chunk(key)]  # type: ignore[attr-defined]
        return keys + [key for key in chunks.list_prefix_sync(prefix) if self._is_chunk(key)]  # type: ignore[attr-defined]

    def list_sync(self) -> Iterable[str]:
        return self.list_prefix_sync("")

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        names, other = self.plain.list_dir_sync(prefix), self._store.list_dir_sync(prefix)  # type: ignore[attr-defined]
        return self._names(prefix, builtins.list(names), builtins.list(other))

    def _names(self, prefix: str, names: Sequence[str], other: Sequence[str]) -> builtins.list[str]:
        """Of the names in a folder, the documents from one store and the chunks from the other."""
        folder = f"{prefix.rstrip('/')}/" if prefix.strip("/") else ""
        if not folder.startswith(self._below):
            return builtins.list(names)
        documents = [name for name in names if not self._is_chunk(join(prefix.rstrip("/"), name))]
        return documents + [name for name in other if self._is_chunk(join(prefix.rstrip("/"), name))]


def transformed_store(store: Store, path: str, transformers: Sequence[Mapping[str, Any]]) -> Store:
    """Return the store that serves an array whose document names storage transformers.

    Parameters
    ----------
    store : Store
        The store of the user.
    path : str
        The path of the array.
    transformers : sequence of dict
        Their JSON forms, the first next to the array.

    Raises
    ------
    TypeError
        What is registered under a name cannot wrap a store.
    """
    chunks = store
    for document in reversed(transformers):
        cls = get_storage_transformer_class(str(document["name"]))
        if not (isinstance(cls, type) and issubclass(cls, StorageTransformer)):
            raise TypeError(
                f"array /{path}: what is registered as the storage transformer {document['name']!r} is {cls!r}; it "
                "must be a subclass of zarr.abc.storage_transformer.StorageTransformer"
            )
        chunks = cls.from_dict(document).wrap(chunks, path)
    return TransformedStore(store, chunks, path)
