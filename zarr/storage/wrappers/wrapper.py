"""Wrap a store: the base class of stores that log, cache, translate or check."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import wraps
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, cast

from zarr.abc.store import (
    BulkAccess,
    ByteRequest,
    Store,
    SyncStore,
    _store_supports_sync_io,
    bulk_access_of,
    is_synchronous,
    takes_contents_first,
    versioned_of,
)
from zarr.abc.stores.abilities import compares_versions, plain_method, put_if_absent_of
from zarr.abc.stores.async_store import as_folder, gather_windowed
from zarr.abc.stores.changes import PartialValue
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.steps.requests import Delete, DeletePrefix, Get, List, ListDir, Put, Request, Steps

T = TypeVar("T")
T_Store = TypeVar("T_Store", bound=Store)


def named_as(name: str, method: Any) -> Any:
    """Return a method with the name, signature and documentation of a method of stores."""
    return wraps(getattr(SyncStore, name), updated=())(method)


def forwarded_property(name: str) -> Any:
    """Return a property with the value of the wrapped store."""

    def value(self: WrapperStore[Any]) -> Any:
        return getattr(self._store, name)

    return property(value, doc=getattr(SyncStore, name).__doc__)


def forwarded(name: str) -> Any:
    """Return a method that calls the method of the same name of the wrapped store."""

    def plain(self: WrapperStore[Any], *args: Any, **options: Any) -> Any:
        return plain_method(self._store, name)(*args, **options)

    def listing(self: WrapperStore[Any], *args: Any) -> Any:
        return getattr(self._store, name)(*args)

    async def coroutine(self: WrapperStore[Any], *args: Any, **options: Any) -> Any:
        return await getattr(self._store, name)(*args, **options)

    method = plain if name.endswith("_sync") else listing if name.startswith("list") else coroutine
    if hasattr(SyncStore, name):
        return named_as(name, method)
    method.__doc__ = f"Call ``{name}`` of the wrapped store.\n\nReturns\n-------\nobject\n    What it returns."
    return method


class WrapperStore(Store, Generic[T_Store]):
    """Pass every call to another store.

    Subclass it and override the methods that should differ. If a subclass overrides only a coroutine (``get``), its
    coroutines are used; to keep the direct way of synchronous stores, override the plain method (``get_sync``), too.
    Over an object store, one that overrides ``get`` or ``set`` gets all reads and writes; then values are not compared
    before they are replaced (so that processes lose no update), unless it overrides ``get_versioned`` and
    ``set_if_version``, too.

    Parameters
    ----------
    store : Store
        The store that is wrapped.

    Examples
    --------
    >>> from zarr.storage import MemoryStore, WrapperStore
    >>> WrapperStore(MemoryStore()).supports_writes
    True
    """

    _store: T_Store

    def __init__(self, store: T_Store) -> None:
        self._store = store

    @classmethod
    async def open(cls: type[Self], store_cls: type[T_Store], *args: Any, **kwargs: Any) -> Self:
        """Make a store of ``store_cls`` with the given arguments, open it, and wrap it."""
        store = store_cls(*args, **kwargs)
        await store._open()
        return cls(store=store)

    def _with_store(self, store: T_Store) -> Self:
        """Return the same wrapper around another store; override this if the constructor has more parameters."""
        return type(self)(store=store)

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return the same wrapper around a store that is read-only or writable."""
        return self._with_store(cast("T_Store", self._store.with_read_only(read_only)))

    @property
    def synchronous(self) -> bool:
        """Return True if the wrapped store has plain methods."""
        return is_synchronous(self._store)

    @property
    def _supports_sync_io(self) -> bool:
        return bool(_store_supports_sync_io(self._store))

    @property
    def blocking(self) -> bool:
        """Return True if the plain methods of the wrapped store may wait for a disk or a network."""
        return bool(getattr(self._store, "blocking", True))

    @property
    def contents_first(self) -> bool:
        """Return True if the wrapped store accepts values before their metadata document."""
        return takes_contents_first(self._store)

    @property
    def gives_versions(self) -> bool:
        """Return True if the wrapped store reads one version of a value."""
        return versioned_of(self._store) is not None

    @property
    def replaces_versions(self) -> bool:
        """Return True if the wrapped store replaces a value only if it still has the version that was read."""
        return compares_versions(self._store)

    @property
    def noted_nodes(self) -> Any:
        """Return what a wrapped transaction has noted for consolidated metadata; None for other stores."""
        return getattr(self._store, "noted_nodes", None)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of the wrapped store are locked."""
        prefix = getattr(self._store, "lock_prefix", None)
        return prefix if isinstance(prefix, str) else f"object:{id(self._store)}"

    @property
    def locks_folders(self) -> bool:
        """Return True if the nodes of the wrapped store are folders, in which processes lock names."""
        return bool(getattr(self._store, "locks_folders", False))

    @property
    def locked_in(self) -> str | None:
        """Return the folder in which processes lock names for the wrapped store; None if its nodes are folders."""
        folder: str | None = getattr(self._store, "locked_in", None)
        return folder

    def lock_folder(self, path: str) -> str | None:
        """Return the folder of the lock files of a node of the wrapped store.

        Parameters
        ----------
        path : str
            The path in the store.

        Returns
        -------
        str or None
            None if the store is no local folder.
        """
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

    _open = forwarded("_open")
    _ensure_open = forwarded("_ensure_open")

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

    read_only = forwarded_property("read_only")
    supports_writes = forwarded_property("supports_writes")
    supports_deletes = forwarded_property("supports_deletes")
    supports_listing = forwarded_property("supports_listing")
    supports_set_if_match = forwarded_property("supports_set_if_match")
    supports_partial_writes = forwarded_property("supports_partial_writes")
    supports_consolidated_metadata = forwarded_property("supports_consolidated_metadata")

    # Coroutines

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key of the wrapped store, or a range of it."""
        return await self._store.get(key, prototype, byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Read parts of several values: by the wrapped store, unless this class defines ``get``."""
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

        The wrapped store reads them, unless this class defines ``get``: then every read goes through that.
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

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Store ``value`` in the wrapped store if the key has none.

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
        put = put_if_absent_of(self._store)
        if put is not None:
            return bool(await put(key, value))
        if await self._store.exists(key):
            return False
        await self._store.set_if_not_exists(key, value)
        return True

    exists = forwarded("exists")
    set = forwarded("set")
    set_if_not_exists = forwarded("set_if_not_exists")
    set_if_match = forwarded("set_if_match")
    get_versioned = forwarded("get_versioned")
    set_if_version = forwarded("set_if_version")
    _set_many = forwarded("_set_many")
    delete = forwarded("delete")
    delete_dir = forwarded("delete_dir")
    clear = forwarded("clear")
    is_empty = forwarded("is_empty")
    getsize = forwarded("getsize")
    getsize_prefix = forwarded("getsize_prefix")
    list = forwarded("list")
    list_prefix = forwarded("list_prefix")
    list_dir = forwarded("list_dir")

    def _forwards_values(self) -> bool:
        """Return True if this class leaves reads, writes and deletions to the wrapped store."""
        cls = type(self)
        names = ("get", "get_sync", "set", "set_sync", "delete", "delete_sync")
        return all(getattr(cls, name) is getattr(WrapperStore, name) for name in names)

    def _compares_and_swaps(self) -> bool:
        return self._forwards_values() and self._store._compares_and_swaps()

    async def set_partial_values(self, key_start_values: Iterable[PartialValue]) -> None:
        """Replace parts of values: by the wrapped store, unless this class defines reads or writes."""
        change = self._store.set_partial_values if self._forwards_values() else super().set_partial_values
        await change(key_start_values)

    async def rename(self, src: str, dest: str) -> None:
        """Rename a key or a folder: by the wrapped store, unless this class handles values itself."""
        move = self._store.rename if self._forwards_values() else super().rename
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
        """Read several parts of one value: by the wrapped store, unless this class defines a read method."""
        same = type(self).get_sync is WrapperStore.get_sync and "get_sync" not in vars(self)
        read = plain_method(self._store, "get_ranges_sync") if same else super().get_ranges_sync
        found: Sequence[tuple[int, Buffer | None]] = read(
            key, byte_ranges, prototype=prototype, max_gap_bytes=max_gap_bytes, max_coalesced_bytes=max_coalesced_bytes
        )
        return found

    set_sync = forwarded("set_sync")
    delete_sync = forwarded("delete_sync")
    splice_sync = forwarded("splice_sync")
    exists_sync = forwarded("exists_sync")
    getsize_sync = forwarded("getsize_sync")
    list_sync = forwarded("list_sync")
    list_prefix_sync = forwarded("list_prefix_sync")
    list_dir_sync = forwarded("list_dir_sync")
    delete_dir_sync = forwarded("delete_dir_sync")
    set_if_not_exists_sync = forwarded("set_if_not_exists_sync")
    set_if_match_sync = forwarded("set_if_match_sync")
    # Many values go one by one through the methods of this class.
    get_many_sync = SyncStore.get_many_sync
    set_many_sync = SyncStore.set_many_sync

    def bulk_access(self) -> BulkAccess | None:
        """Return that of the wrapped store, unless this class defines reads, writes or deletions."""
        return bulk_access_of(self._store) if self._forwards_values() else None


# ------------------------------------------------------------------------------------- both forms from one


class Call(Request):
    """The request to call a method of a store, by the name of its coroutine; only a :class:`StepsStore` answers it.

    The answers to listings, and to ranges of one value, are lists.
    """

    __slots__ = ("arguments", "name", "options", "store")

    def __init__(self, store: Store, name: str, *arguments: Any, **options: Any) -> None:
        self.store = store
        self.name = name
        self.arguments = arguments
        self.options = options


_CALLS: Final[dict[type, Callable[[Any, Any], tuple[Any, str, Sequence[Any], dict[str, Any]]]]] = {
    Call: lambda below, of: (of.store, of.name, of.arguments, of.options),
    Get: lambda below, of: (
        below,
        "get",
        (of.key,),
        {"prototype": of.prototype or default_buffer_prototype(), "byte_range": of.byte_range},
    ),
    Put: lambda below, of: (below, "set", (of.key, of.value), {}),
    Delete: lambda below, of: (below, "delete", (of.key,), {}),
    DeletePrefix: lambda below, of: (below, "delete_dir", (of.prefix,), {}),
    List: lambda below, of: (below, "list_prefix", (as_folder(of.prefix),), {}),
    ListDir: lambda below, of: (below, "list_dir", (of.prefix,), {}),
}
"""The call for each request: a store, the name of its coroutine, and the arguments."""


def two_forms(name: str) -> tuple[Any, Any]:
    """Return the coroutine and the plain method of a store for a method written as ``<name>_steps``."""
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


def routed(name: str) -> Any:
    """Return the steps of a method whose store and key the method ``_route`` of its class determines."""

    def steps(self: StepsStore, key: str, *arguments: Any, **options: Any) -> Steps[Any]:
        store, key = self._route(key)
        return (yield Call(store, name, key, *arguments, **options))

    return steps


class StepsStore(WrapperStore[Store]):
    """A wrapper with each method written once, as steps, for stores with plain methods and for coroutines.

    A method ``<name>_steps`` is a generator of requests (``Get``, ``Put``, ``ListDir``, ``Call`` …); a subclass that
    defines it gets the coroutine ``<name>`` and the plain method ``<name>_sync``. The methods in ``ROUTED`` call the
    same method of the store, and for the key, that ``_route`` returns. All other calls go to the wrapped store.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> class Upper(StepsStore):
    ...     def exists_steps(self, key):
    ...         return (yield Call(self._store, "exists", key.upper()))
    >>> Upper(MemoryStore()).exists_sync("a")
    False
    """

    ROUTED: ClassVar[str] = ""

    _set_many = Store._set_many

    def _route(self, key: str) -> tuple[Store, str]:
        """Return the store and the key in it for a key of this store."""
        return self._store, key

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the two forms of each method that is written as steps."""
        super().__init_subclass__(**options)
        for name in vars(cls).get("ROUTED", "").split():
            setattr(cls, f"{name}_steps", routed(name))
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
            return done.value  # type: ignore[no-any-return]

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
            return done.value  # type: ignore[no-any-return]
