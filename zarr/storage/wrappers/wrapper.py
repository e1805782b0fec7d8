"""Wrap a store: the base class of stores that log, cache, translate or check."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast

from zarr.abc.store import BulkAccess, Store, SyncStore, bulk_access_of, is_synchronous, takes_contents_first
from zarr.abc.stores.abilities import plain_method
from zarr.abc.stores.async_store import as_folder, gather_windowed
from zarr.abc.stores.changes import PartialValue
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.steps.requests import Delete, DeletePrefix, Get, List, ListDir, Put, Request, Steps

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest

T = TypeVar("T")
T_Store = TypeVar("T_Store", bound=Store)


def named_as(name: str, method: Any) -> Any:
    """Return a method with the name, signature and documentation of a method of stores."""
    return wraps(getattr(SyncStore, name), updated=())(method)


def said(name: str) -> Any:
    """Return a property that is what the wrapped store says."""

    def value(self: WrapperStore[Any]) -> bool:
        answer: bool = getattr(self._store, name)
        return answer

    return property(value, doc=getattr(SyncStore, name).__doc__)


def handed_on(name: str) -> Any:
    """Return a method that hands each call on to the method of the same name of the wrapped store."""

    def plain(self: WrapperStore[Any], *args: Any, **options: Any) -> Any:
        return plain_method(self._store, name)(*args, **options)

    def listing(self: WrapperStore[Any], *args: Any) -> Any:
        return getattr(self._store, name)(*args)

    async def coroutine(self: WrapperStore[Any], *args: Any, **options: Any) -> Any:
        return await getattr(self._store, name)(*args, **options)

    method = plain if name.endswith("_sync") else listing if name.startswith("list") else coroutine
    return named_as(name, method) if hasattr(SyncStore, name) else method


class WrapperStore(Store, Generic[T_Store]):
    """Hand every call on to another store.

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
        """Return the same wrapper around another store; override where the constructor takes more."""
        return type(self)(store=store)

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return the same wrapper around a store that may, or may not, be written to."""
        return self._with_store(cast("T_Store", self._store.with_read_only(read_only)))

    @property
    def synchronous(self) -> bool:
        """Return whether the wrapped store has plain methods."""
        return is_synchronous(self._store)

    @property
    def blocking(self) -> bool:
        """Return whether the plain methods of the wrapped store may wait for a disk or a network."""
        return bool(getattr(self._store, "blocking", True))

    @property
    def contents_first(self) -> bool:
        """Return whether the wrapped store takes values that no document tells of yet."""
        return takes_contents_first(self._store)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of the wrapped store are locked."""
        prefix = getattr(self._store, "lock_prefix", None)
        return prefix if isinstance(prefix, str) else f"object:{id(self._store)}"

    @property
    def locks_folders(self) -> bool:
        """Return whether the nodes of the wrapped store are folders, in which processes lock names."""
        return bool(getattr(self._store, "locks_folders", False))

    def lock_folder(self, path: str) -> str | None:
        """Return the folder of the lock files of a node of the wrapped store."""
        lock_folder = getattr(self._store, "lock_folder", None)
        return None if lock_folder is None else lock_folder(path)

    @property
    def _is_open(self) -> bool:
        return self._store._is_open

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        raise NotImplementedError(f"{type(self).__name__} must be opened via the `_open` method, which opens its store")

    def __enter__(self) -> Self:
        self._store.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._store.__exit__(*exception)

    _open = handed_on("_open")
    _ensure_open = handed_on("_ensure_open")

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

    read_only = said("read_only")
    supports_writes = said("supports_writes")
    supports_deletes = said("supports_deletes")
    supports_listing = said("supports_listing")
    supports_set_if_match = said("supports_set_if_match")
    supports_partial_writes = said("supports_partial_writes")
    supports_consolidated_metadata = said("supports_consolidated_metadata")

    # Coroutines

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key of the wrapped store, or a range of it."""
        return await self._store.get(key, prototype, byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Read parts of several values; by the wrapped store, unless this class has a ``get`` of its own."""
        if type(self).get is WrapperStore.get:
            return await self._store.get_partial_values(prototype, key_ranges)
        return await gather_windowed(self.get, [(key, prototype, byte_range) for key, byte_range in key_ranges])

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
        given = {
            "max_concurrency": max_concurrency,
            "max_gap_bytes": max_gap_bytes,
            "max_coalesced_bytes": max_coalesced_bytes,
        }
        limits: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        read = self._store.get_ranges if type(self).get is WrapperStore.get else super().get_ranges
        async for group in read(key, byte_ranges, prototype=prototype, **limits):
            yield group

    exists = handed_on("exists")
    set = handed_on("set")
    set_if_not_exists = handed_on("set_if_not_exists")
    set_if_match = handed_on("set_if_match")
    _set_many = handed_on("_set_many")
    delete = handed_on("delete")
    delete_dir = handed_on("delete_dir")
    clear = handed_on("clear")
    is_empty = handed_on("is_empty")
    getsize = handed_on("getsize")
    getsize_prefix = handed_on("getsize_prefix")
    list = handed_on("list")
    list_prefix = handed_on("list_prefix")
    list_dir = handed_on("list_dir")

    def _hands_on(self) -> bool:
        """Return whether this class leaves reads, writes and deletions to the wrapped store."""
        cls = type(self)
        names = ("get", "get_sync", "set", "set_sync", "delete", "delete_sync")
        return all(getattr(cls, name) is getattr(WrapperStore, name) for name in names)

    def _compares_and_swaps(self) -> bool:
        return self._hands_on() and self._store._compares_and_swaps()

    async def set_partial_values(self, key_start_values: Iterable[PartialValue]) -> None:
        """Replace parts of values; by the wrapped store, unless this class sees to reads or writes itself."""
        change = self._store.set_partial_values if self._hands_on() else super().set_partial_values
        await change(key_start_values)

    async def rename(self, src: str, dest: str) -> None:
        """Give a key or a folder another name; by the wrapped store, unless this class sees to values itself."""
        move = self._store.rename if self._hands_on() else super().rename
        await move(src, dest)

    # Plain methods

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key of the wrapped store, or a range of it."""
        value: Buffer | None = plain_method(self._store, "get_sync")(key, prototype=prototype, byte_range=byte_range)
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
        read = plain_method(self._store, "get_ranges_sync") if same else super().get_ranges_sync
        found: Sequence[tuple[int, Buffer | None]] = read(
            key, byte_ranges, prototype=prototype, max_gap_bytes=max_gap_bytes, max_coalesced_bytes=max_coalesced_bytes
        )
        return found

    set_sync = handed_on("set_sync")
    delete_sync = handed_on("delete_sync")
    splice_sync = handed_on("splice_sync")
    exists_sync = handed_on("exists_sync")
    getsize_sync = handed_on("getsize_sync")
    list_sync = handed_on("list_sync")
    list_prefix_sync = handed_on("list_prefix_sync")
    list_dir_sync = handed_on("list_dir_sync")
    delete_dir_sync = handed_on("delete_dir_sync")
    set_if_not_exists_sync = handed_on("set_if_not_exists_sync")
    set_if_match_sync = handed_on("set_if_match_sync")
    # Many values go one by one through the methods of this class.
    get_many_sync = SyncStore.get_many_sync
    set_many_sync = SyncStore.set_many_sync

    def bulk_access(self) -> BulkAccess | None:
        """Return that of the wrapped store, unless this class sees to reads, writes or deletions itself."""
        return bulk_access_of(self._store) if self._hands_on() else None


# ------------------------------------------------------------------------------------- both forms from one


class Call(Request):
    """Ask for a call of a method of a store, by the name of its coroutine; answered by a :class:`StepsStore` only.

    Listings, and ranges of one value, are answered by lists.
    """

    __slots__ = ("arguments", "name", "options", "store")

    def __init__(self, store: Store, name: str, *arguments: Any, **options: Any) -> None:
        self.store = store
        self.name = name
        self.arguments = arguments
        self.options = options


def _or_default(request: Get) -> BufferPrototype:
    return request.prototype or default_buffer_prototype()


_CALLS: Final[dict[type, Callable[[Any, Any], tuple[Any, str, Sequence[Any], dict[str, Any]]]]] = {
    Call: lambda below, of: (of.store, of.name, of.arguments, of.options),
    Get: lambda below, of: (below, "get", (of.key,), {"prototype": _or_default(of), "byte_range": of.byte_range}),
    Put: lambda below, of: (below, "set", (of.key, of.value), {}),
    Delete: lambda below, of: (below, "delete", (of.key,), {}),
    DeletePrefix: lambda below, of: (below, "delete_dir", (of.prefix,), {}),
    List: lambda below, of: (below, "list_prefix", (as_folder(of.prefix),), {}),
    ListDir: lambda below, of: (below, "list_dir", (of.prefix,), {}),
}
"""The call that each request stands for: a store, the name of its coroutine, and the arguments."""


def two_forms(name: str) -> tuple[Any, Any]:
    """Return the coroutine and the plain method of a store whose work is written in ``<name>_steps``."""
    written = f"{name}_steps"

    def plain(self: StepsStore, *args: Any, **options: Any) -> Any:
        return self._run(getattr(self, written)(*args, **options))

    async def coroutine(self: StepsStore, *args: Any, **options: Any) -> Any:
        return await self._run_async(getattr(self, written)(*args, **options))

    async def each(self: StepsStore, *args: Any, **options: Any) -> AsyncIterator[Any]:
        found = await self._run_async(getattr(self, written)(*args, **options))
        for item in [found] if name == "get_ranges" else found:
            yield item

    several = name == "get_ranges" or name.startswith("list")
    return named_as(name, each if several else coroutine), named_as(f"{name}_sync", plain)


class StepsStore(WrapperStore[Store]):
    """A wrapper of which each method is written once, as steps, for stores with plain methods and for coroutines.

    A method ``<name>_steps`` is a generator of requests (``Get``, ``Put``, ``ListDir``, ``Call`` …); a subclass that
    defines it gets the coroutine ``<name>`` and the plain method ``<name>_sync``. All other calls are handed on to the
    wrapped store.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> class Upper(StepsStore):
    ...     def exists_steps(self, key):
    ...         return (yield Call(self._store, "exists", key.upper()))
    >>> Upper(MemoryStore()).exists_sync("a")
    False
    """

    _set_many = Store._set_many

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the two forms of each method that is written as steps."""
        super().__init_subclass__(**options)
        for written in [name for name in vars(cls) if name.endswith("_steps") and name[0] != "_"]:
            name = written.removesuffix("_steps")
            if hasattr(Store, name) and name not in vars(cls):
                coroutine, plain = two_forms(name)
                setattr(cls, name, coroutine)
                setattr(cls, f"{name}_sync", plain)

    def _run(self, steps: Steps[T]) -> T:
        """Answer steps by plain methods."""
        try:
            request = next(steps)
            while True:
                store, name, arguments, options = _CALLS[type(request)](self._store, request)
                try:
                    reply = getattr(store, name + "_sync")(*arguments, **options)
                    if name[:4] == "list":
                        reply = builtins.list(reply)
                except BaseException as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _run_async(self, steps: Steps[T]) -> T:
        """Answer steps by coroutines."""
        try:
            request = next(steps)
            while True:
                store, name, arguments, options = _CALLS[type(request)](self._store, request)
                try:
                    answer: Any = getattr(store, name)(*arguments, **options)
                    reply = [item async for item in answer] if hasattr(answer, "__aiter__") else await answer
                    if name == "get_ranges":
                        reply = [pair for group in reply for pair in group]
                except BaseException as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result
