"""Keep metadata documents in one store and all other values in another: ``SplitStore``, for ``chunk_store=``."""

from __future__ import annotations

from typing import Any, Self

from zarr.abc.store import BulkAccess, Store, _store_supports_sync_io, is_synchronous, takes_contents_first
from zarr.steps.requests import Steps
from zarr.storage.mapping import StoreMapping
from zarr.storage.wrappers.wrapper import Call, StepsStore
from zarr.types import METADATA_NAMES


def is_document_key(key: str) -> bool:
    """Return True if the last part of a key is the name of a metadata document.

    Examples
    --------
    >>> is_document_key("a/.zarray"), is_document_key("a/0.0")
    (True, False)
    """
    return key.rpartition("/")[2] in METADATA_NAMES


def of_both(name: str) -> Any:
    """Return a property that is True if it is True of both stores."""

    def value(self: Any) -> bool:
        return bool(getattr(self._store, name) and getattr(self.chunk_store, name))

    return property(value, doc=getattr(Store, name).__doc__)


class _Split(StepsStore):
    """The methods of stores of :class:`SplitStore`."""

    ROUTED = "get get_ranges exists getsize set set_if_not_exists set_if_match delete"

    def __init__(self, store: Store, chunk_store: Store) -> None:
        super().__init__(store)
        self.chunk_store = chunk_store

    def _route(self, key: str) -> tuple[Store, str]:
        """Return the store of documents for the key of a document, the store of chunks for any other key."""
        return self._store if is_document_key(key) else self.chunk_store, key

    # Listing and removing

    def delete_dir_steps(self, prefix: str) -> Steps[None]:
        """Remove all keys below a folder, documents first."""
        yield Call(self._store, "delete_dir", prefix)
        yield Call(self.chunk_store, "delete_dir", prefix)

    def list_steps(self) -> Steps[list[str]]:
        """Return all keys."""
        return (yield from self.list_prefix_steps(""))

    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """Return all keys that begin with a prefix: documents of one store, chunks of the other."""
        documents, others = yield from self._listed("list_prefix", prefix)
        return [key for key in documents if is_document_key(key)] + others

    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names directly below a folder: folders are in both stores."""
        documents, others = yield from self._listed("list_dir", prefix)
        return list(dict.fromkeys(documents + others))

    def _listed(self, name: str, prefix: str) -> Steps[tuple[list[str], list[str]]]:
        """Return what the store of documents lists, and what the other one lists but documents."""
        documents: list[str] = yield Call(self._store, name, prefix)
        others: list[str] = yield Call(self.chunk_store, name, prefix)
        return documents, [key for key in others if not is_document_key(key)]

    is_empty = Store.is_empty
    getsize_prefix = Store.getsize_prefix
    clear = Store.clear

    # Abilities

    supports_writes = of_both("supports_writes")
    supports_deletes = of_both("supports_deletes")
    supports_listing = of_both("supports_listing")
    supports_set_if_match = of_both("supports_set_if_match")

    @property
    def synchronous(self) -> bool:
        """Return True if both stores have plain methods."""
        return is_synchronous(self._store) and is_synchronous(self.chunk_store)

    @property
    def _supports_sync_io(self) -> bool:
        return super()._supports_sync_io and _store_supports_sync_io(self.chunk_store)

    @property
    def blocking(self) -> bool:
        """Return True if the plain methods of one of the stores may wait for a disk or a network."""
        return any(getattr(store, "blocking", True) for store in (self._store, self.chunk_store))

    @property
    def contents_first(self) -> bool:
        """Return True if chunks may be stored before their document."""
        return takes_contents_first(self._store) and takes_contents_first(self.chunk_store)

    def bulk_access(self) -> BulkAccess | None:
        """Return None: each key is looked up in its store."""
        return None

    # State

    @property
    def read_only(self) -> bool:
        """Return True if one of the stores refuses every change."""
        return self._store.read_only or self.chunk_store.read_only

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return the same two stores, read-only or writable."""
        return type(self)(self._store.with_read_only(read_only), self.chunk_store.with_read_only(read_only))

    def _check_writable(self) -> None:
        self._store._check_writable()
        self.chunk_store._check_writable()

    async def _open(self) -> None:
        await self._store._open()
        await self.chunk_store._open()

    async def _ensure_open(self) -> None:
        await self._store._ensure_open()
        await self.chunk_store._ensure_open()

    def __enter__(self) -> Self:
        self._store.__enter__()
        self.chunk_store.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        try:
            self._store.__exit__(*exception)
        finally:
            self.chunk_store.__exit__(*exception)

    def close(self) -> None:
        """Close both stores."""
        try:
            self._store.close()
        finally:
            self.chunk_store.close()

    def __str__(self) -> str:
        return str(self._store)

    def __eq__(self, value: object) -> bool:
        return super().__eq__(value) and self.chunk_store == value.chunk_store  # type: ignore[attr-defined]


class SplitStore(StoreMapping, _Split):
    """A store whose metadata documents are in one store, and whose other values are in another.

    It is what ``chunk_store=`` of zarr-python 2 gives to arrays and groups. A node has the same path in both stores.
    Locks are those of the store of documents.

    Parameters
    ----------
    store : Store
        The store of documents: ``.zarray``, ``.zgroup``, ``.zattrs``, ``.zmetadata`` and ``zarr.json``.
    chunk_store : Store
        The store of all other values.

    Examples
    --------
    >>> import zarr
    >>> documents, chunks = zarr.MemoryStore(), zarr.MemoryStore()
    >>> zarr.ones(4, chunks=2, store=SplitStore(documents, chunks))[:] = 2
    >>> sorted(documents), sorted(chunks)
    (['.zarray'], ['0', '1'])
    """

    @property
    def default_zarr_format(self) -> int | None:
        """Return the format of new nodes in the store of documents, if it defines one."""
        return getattr(self._store, "default_zarr_format", None)

    @property
    def dimension_separator(self) -> Any:
        """Return the separator in the chunk keys of new arrays that the store of documents defines, if any."""
        return getattr(self._store, "dimension_separator", None)
