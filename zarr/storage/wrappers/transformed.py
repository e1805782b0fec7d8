"""Apply the storage transformers of an array: ``TransformedStore``.

Keys of its chunks go through the transformers; documents, and all keys outside the array, go to the store itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zarr.abc.storage_transformer import StorageTransformer
from zarr.abc.store import BulkAccess, Store, _store_supports_sync_io, is_synchronous
from zarr.abc.stores.async_store import as_folder
from zarr.registry import get_storage_transformer_class
from zarr.steps.requests import Steps
from zarr.storage.keys import dir_prefix
from zarr.storage.wrappers.wrapper import Call, StepsStore
from zarr.types import METADATA_NAMES


class TransformedStore(StepsStore):
    """A store whose keys below an array, except documents, go through another store.

    Parameters
    ----------
    plain : Store
        The store of the user.
    chunks : Store
        The store that the transformers returned.
    path : str
        The path of the array.
    """

    ROUTED = "get exists getsize set set_if_not_exists delete"

    def __init__(self, plain: Store, chunks: Store, path: str) -> None:
        super().__init__(plain)
        self._chunks = chunks
        self.path = path
        self._below = f"{path}/" if path else ""

    def _is_chunk(self, key: str) -> bool:
        return key.startswith(self._below) and key[len(self._below) :] not in METADATA_NAMES

    def _route(self, key: str) -> tuple[Store, str]:
        """Return the store of the chunks for the key of a chunk, the user's store for any other key."""
        return self._chunks if self._is_chunk(key) else self._store, key

    def with_read_only(self, read_only: bool = False) -> TransformedStore:
        """Return the same view of a store, read-only or writable."""
        plain, chunks = self._store.with_read_only(read_only), self._chunks.with_read_only(read_only)
        return TransformedStore(plain, chunks, self.path)

    @property
    def synchronous(self) -> bool:
        """Return True if both stores have plain methods."""
        return is_synchronous(self._store) and is_synchronous(self._chunks)

    @property
    def _supports_sync_io(self) -> bool:
        return super()._supports_sync_io and _store_supports_sync_io(self._chunks)

    def bulk_access(self) -> BulkAccess | None:
        """Return None: a transformer handles every single value."""
        return None

    def __str__(self) -> str:
        return str(self._store)

    def __eq__(self, value: object) -> bool:
        return super().__eq__(value) and (self._chunks, self.path) == (value._chunks, value.path)  # type: ignore[attr-defined]

    def delete_dir_steps(self, prefix: str) -> Steps[None]:
        """Remove all keys below a folder."""
        inside = as_folder(prefix).startswith(self._below)
        yield Call(self._chunks if inside else self._store, "delete_dir", prefix)

    def list_steps(self) -> Steps[list[str]]:
        """Return all keys."""
        return (yield from self.list_prefix_steps(""))

    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """Return all keys that begin with a prefix: documents of one store, chunks of the other."""
        return (yield from self._joined("list_prefix", prefix, ""))

    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names directly below a folder: documents of one store, chunks of the other."""
        folder = dir_prefix(prefix)
        if not folder.startswith(self._below):
            found: list[str] = yield Call(self._store, "list_dir", prefix)
            return found
        return (yield from self._joined("list_dir", prefix, folder))

    def _joined(self, name: str, prefix: str, folder: str) -> Steps[list[str]]:
        documents, chunks = (yield Call(self._store, name, prefix)), (yield Call(self._chunks, name, prefix))
        kept = [name for name in documents if not self._is_chunk(folder + name)]
        return kept + [name for name in chunks if self._is_chunk(folder + name)]

    is_empty = Store.is_empty
    getsize_prefix = Store.getsize_prefix
    clear = Store.clear


def transformed_store(store: Store, path: str, transformers: Sequence[Mapping[str, Any]]) -> Store:
    """Return the store for an array whose document has storage transformers.

    Parameters
    ----------
    store : Store
        The store of the user.
    path : str
        The path of the array.
    transformers : sequence of dict
        Their JSON forms; the first one is next to the array.

    Raises
    ------
    TypeError
        If the class registered for a name cannot wrap a store.
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
