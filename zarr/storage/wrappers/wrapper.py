"""A store around another store: the base class of stores that log, cache, delay or check."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, cast

from zarr._lazy import LazyModule
from zarr.abc.store import Store, bulk_access_of, is_synchronous, takes_contents_first

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

    from zarr.abc.store import BulkAccess, ByteRequest
    from zarr.abc.stores.changes import PartialValue
    from zarr.buffer.core import Buffer, BufferPrototype
else:
    asyncio = LazyModule("asyncio")

T_Store = TypeVar("T_Store", bound=Store)


class WrapperStore(Store, Generic[T_Store]):
    """Hands every call on to another store.

    Subclass it and override what should differ. A subclass that overrides only a coroutine (``get``) is used through
    its coroutines; to keep the short way of synchronous stores, override the plain method (``get_sync``) too.

    Parameters
    ----------
    store : Store

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> WrapperStore(MemoryStore()).supports_writes
    True
    """

    _store: T_Store

    def __init__(self, store: T_Store) -> None:
        self._store = store

    @classmethod
    async def open(cls: type[Self], store_cls: type[T_Store], *args: Any, **kwargs: Any) -> Self:
        """Make a store of ``store_cls`` with the arguments given, open it, and wrap it."""
        store = store_cls(*args, **kwargs)
        await store._open()
        return cls(store=store)

    def _with_store(self, store: T_Store) -> Self:
        """The same wrapper around another store; override where the constructor takes more."""
        return type(self)(store=store)

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return the same wrapper around a store that may, or may not, be written to."""
        return self._with_store(cast("T_Store", self._store.with_read_only(read_only)))

    @property
    def synchronous(self) -> bool:
        """Whether the wrapped store has plain methods."""
        return is_synchronous(self._store)

    @property
    def blocking(self) -> bool:
        """Whether the plain methods of the wrapped store may wait for a disk or a network."""
        return bool(getattr(self._store, "blocking", True))

    @property
    def contents_first(self) -> bool:
        """Whether the wrapped store takes values that no document tells of yet."""
        return takes_contents_first(self._store)

    @property
    def lock_prefix(self) -> str:
        """Under which name the keys of the wrapped store are locked."""
        prefix = getattr(self._store, "lock_prefix", None)
        return prefix if isinstance(prefix, str) else f"object:{id(self._store)}"

    def lock_folder(self, path: str) -> str | None:
        """Where the lock files of a node of the wrapped store lie."""
        lock_folder = getattr(self._store, "lock_folder", None)
        return None if lock_folder is None else lock_folder(path)

    @property
    def _is_open(self) -> bool:
        return self._store._is_open

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        raise NotImplementedError(f"{type(self).__name__} must be opened via the `_open` method, which opens its store")

    @property
    def read_only(self) -> bool:
        """Whether the wrapped store refuses to be written to."""
        return self._store.read_only

    def __enter__(self) -> Self:
        self._store.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._store.__exit__(exc_type, exc_value, traceback)

    async def _open(self) -> None:
        await self._store._open()

    async def _ensure_open(self) -> None:
        await self._store._ensure_open()

    def _check_writable(self) -> None:
        self._store._check_writable()

    def close(self) -> None:
        """Close the wrapped store."""
        self._store.close()

    def __str__(self) -> str:
        return f"wrapping-{self._store}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._store).__name__}, '{self._store}')"

    def __eq__(self, value: object) -> bool:
        return type(self) is type(value) and self._store == value._store

    __hash__ = None  # type: ignore[assignment]

    @property
    def supports_writes(self) -> bool:
        """What the wrapped store says."""
        return self._store.supports_writes

    @property
    def supports_deletes(self) -> bool:
        """What the wrapped store says."""
        return self._store.supports_deletes

    @property
    def supports_listing(self) -> bool:
        """What the wrapped store says."""
        return self._store.supports_listing

    @property
    def supports_set_if_match(self) -> bool:
        """What the wrapped store says."""
        return self._store.supports_set_if_match

    @property
    def supports_partial_writes(self) -> Literal[False]:
        """What the wrapped store says."""
        return self._store.supports_partial_writes

    @property
    def supports_consolidated_metadata(self) -> bool:
        """What the wrapped store says."""
        return self._store.supports_consolidated_metadata

    # Coroutines

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Hand on to the wrapped store."""
        return await self._store.get(key, prototype, byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Read parts of several values; by the wrapped store, unless this class has a ``get`` of its own."""
        if type(self).get is WrapperStore.get:
            return await self._store.get_partial_values(prototype, key_ranges)
        wanted = [self.get(key, prototype, byte_range) for key, byte_range in key_ranges]
        return builtins.list(await asyncio.gather(*wanted))

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_concurrency: int | None = None,
        max_gap_bytes: int | None = None,
        max_coalesced_bytes: int | None = None,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Read several parts of one value.

        By the wrapped store, unless this class has a ``get`` of its own: then every read goes through that.
        """
        limits = {
            name: value
            for name, value in (
                ("max_concurrency", max_concurrency),
                ("max_gap_bytes", max_gap_bytes),
                ("max_coalesced_bytes", max_coalesced_bytes),
            )
            if value is not None
        }
        if type(self).get is WrapperStore.get:
            found = self._store.get_ranges(key, byte_ranges, prototype=prototype, **limits)
        else:
            found = super().get_ranges(key, byte_ranges, prototype=prototype, **limits)
        async for group in found:
            yield group

    async def exists(self, key: str) -> bool:
        """Hand on to the wrapped store."""
        return await self._store.exists(key)

    async def set(self, key: str, value: Buffer) -> None:
        """Hand on to the wrapped store."""
        await self._store.set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Hand on to the wrapped store."""
        await self._store.set_if_not_exists(key, value)

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Hand on to the wrapped store."""
        return await self._store.set_if_match(key, value, expected)

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await self._store._set_many(values)

    async def delete(self, key: str) -> None:
        """Hand on to the wrapped store."""
        await self._store.delete(key)

    async def delete_dir(self, prefix: str) -> None:
        """Hand on to the wrapped store."""
        await self._store.delete_dir(prefix)

    async def clear(self) -> None:
        """Hand on to the wrapped store."""
        await self._store.clear()

    async def is_empty(self, prefix: str) -> bool:
        """Hand on to the wrapped store."""
        return await self._store.is_empty(prefix)

    async def getsize(self, key: str) -> int:
        """Hand on to the wrapped store."""
        return await self._store.getsize(key)

    async def getsize_prefix(self, prefix: str) -> int:
        """Hand on to the wrapped store."""
        return await self._store.getsize_prefix(prefix)

    def _hands_on(self) -> bool:
        """Whether this class leaves reads, writes and deletions to the wrapped store."""
        cls = type(self)
        names = ("get", "get_sync", "set", "set_sync", "delete", "delete_sync")
        return all(getattr(cls, name) is getattr(WrapperStore, name) for name in names)

    def _compares_and_swaps(self) -> bool:
        return self._hands_on() and self._store._compares_and_swaps()

    async def set_partial_values(self, key_start_values: Iterable[PartialValue]) -> None:
        """Hand on to the wrapped store, unless this class sees to reads or writes itself."""
        if self._hands_on():
            await self._store.set_partial_values(key_start_values)
        else:
            await super().set_partial_values(key_start_values)

    async def rename(self, src: str, dest: str) -> None:
        """Hand on to the wrapped store, unless this class sees to reads or writes itself."""
        if self._hands_on():
            await self._store.rename(src, dest)
        else:
            await super().rename(src, dest)

    def list(self) -> AsyncIterator[str]:
        """Hand on to the wrapped store."""
        return self._store.list()

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Hand on to the wrapped store."""
        return self._store.list_prefix(prefix)

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Hand on to the wrapped store."""
        return self._store.list_dir(prefix)

    # Plain methods

    def _sync_method(self, name: str) -> Any:
        method = getattr(self._store, name, None)
        if method is None:
            verb = name.removesuffix("_sync")
            raise TypeError(f"Store {type(self._store).__name__} does not support synchronous {verb}.")
        return method

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Hand on to the wrapped store."""
        value: Buffer | None = self._sync_method("get_sync")(key, prototype=prototype, byte_range=byte_range)
        return value

    def get_ranges_sync(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Read several parts of one value; by the wrapped store, unless this class has a way of its own to read."""
        same = type(self).get_sync is WrapperStore.get_sync and "get_sync" not in vars(self)
        read = self._sync_method("get_ranges_sync") if same else super().get_ranges_sync
        found: Sequence[tuple[int, Buffer | None]] = read(
            key, byte_ranges, prototype=prototype, max_gap_bytes=max_gap_bytes, max_coalesced_bytes=max_coalesced_bytes
        )
        return found

    def set_sync(self, key: str, value: Buffer) -> None:
        """Hand on to the wrapped store."""
        self._sync_method("set_sync")(key, value)

    def delete_sync(self, key: str) -> None:
        """Hand on to the wrapped store."""
        self._sync_method("delete_sync")(key)

    def splice_sync(self, key: str, parts: Sequence[Any]) -> None:
        """Hand on to the wrapped store, where its values are files of which parts can be kept."""
        self._sync_method("splice_sync")(key, parts)

    def exists_sync(self, key: str) -> bool:
        """Hand on to the wrapped store."""
        return bool(self._sync_method("exists_sync")(key))

    def getsize_sync(self, key: str) -> int:
        """Hand on to the wrapped store."""
        return int(self._sync_method("getsize_sync")(key))

    def list_sync(self) -> Iterable[str]:
        """Hand on to the wrapped store."""
        return cast("Iterable[str]", self._sync_method("list_sync")())

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Hand on to the wrapped store."""
        return cast("Iterable[str]", self._sync_method("list_prefix_sync")(prefix))

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Hand on to the wrapped store."""
        return cast("Iterable[str]", self._sync_method("list_dir_sync")(prefix))

    def delete_dir_sync(self, prefix: str) -> None:
        """Hand on to the wrapped store."""
        self._sync_method("delete_dir_sync")(prefix)

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Hand on to the wrapped store."""
        self._sync_method("set_if_not_exists_sync")(key, value)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Hand on to the wrapped store."""
        return bool(self._sync_method("set_if_match_sync")(key, value, expected))

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> Sequence[Buffer | None]:
        """Read many keys, one by one through this store's own ``get_sync``."""
        return [self.get_sync(key, prototype=prototype) for key in keys]

    def set_many_sync(self, items: Iterable[tuple[str, Buffer | None]]) -> None:
        """Write many keys, one by one through this store's own methods; None deletes a key."""
        for key, value in items:
            if value is None:
                self.delete_sync(key)
            else:
                self.set_sync(key, value)

    def bulk_access(self) -> BulkAccess | None:
        """That of the wrapped store, unless this class sees to reads, writes or deletions itself."""
        return bulk_access_of(self._store) if self._hands_on() else None
