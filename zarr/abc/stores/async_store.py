"""The contract of a store that is written with coroutines; the base of all stores."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from zarr._lazy import LazyModule
from zarr.abc.stores.abilities import BulkAccess, takes_contents_first
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import ReadOnlyError, label_of

if TYPE_CHECKING:
    import asyncio

    from zarr.abc.stores import changes, protocols
    from zarr.abc.stores.changes import PartialValue
    from zarr.abc.stores.protocols import ByteRequest, MergedRequest
else:
    asyncio = LazyModule("asyncio")
    protocols = LazyModule("zarr.abc.stores.protocols")
    changes = LazyModule("zarr.abc.stores.changes")

# The number of requests of one default method that run at the same time.
_WINDOW = 64


def as_folder(prefix: str) -> str:
    """Return a prefix with a slash at its end, unless it is empty.

    Examples
    --------
    >>> as_folder("a"), as_folder("")
    ('a/', '')
    """
    return prefix if prefix == "" or prefix.endswith("/") else f"{prefix}/"


async def gather_windowed(func: Callable[..., Any], arguments: list[Any]) -> list[Any]:
    """Await ``func`` for all arguments, a window of them at a time, and return the results in order."""
    if len(arguments) == 1:  # which needs no task
        return [await func(*arguments[0])]
    results: list[Any] = []
    for start in range(0, len(arguments), _WINDOW):
        results += await asyncio.gather(*(func(*args) for args in arguments[start : start + _WINDOW]))
    return results


class Store(ABC):
    """Bytes under string keys, reached by coroutines.

    Keys are paths without a leading slash: ``"a/b/zarr.json"``. A subclass defines the abstract methods; all others
    have defaults made of those.

    Parameters
    ----------
    read_only
        Whether writing is refused.
    """

    _read_only: bool
    _is_open: bool

    def __init__(self, *, read_only: bool = False) -> None:
        self._is_open = False
        self._read_only = read_only

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a store and open it.

        Parameters
        ----------
        *args, **kwargs
            What the class takes.
        """
        store = cls(*args, **kwargs)
        await store._open()
        return store

    def with_read_only(self, read_only: bool = False) -> Store:
        """Return a store of the same data that is read-only, or is not.

        Raises
        ------
        NotImplementedError
            When the class has no way to do this.
        """
        raise NotImplementedError(f"with_read_only is not implemented for the {type(self)} store type.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def _open(self) -> None:
        """Open the store, once.

        Raises
        ------
        ValueError
            When it is open already.
        """
        if self._is_open:
            raise ValueError("store is already open")
        self._is_open = True

    async def _ensure_open(self) -> None:
        """Open the store if it is not open yet."""
        if not self._is_open:
            await self._open()

    @property
    def read_only(self) -> bool:
        """True if writing is refused."""
        return self._read_only

    def _check_writable(self) -> None:
        """Raise if the store is read-only."""
        if self.read_only:
            raise ReadOnlyError(f"store was opened in read-only mode and does not support writing: {label_of(self)}")

    @abstractmethod
    def __eq__(self, value: object) -> bool:
        """Return whether another store holds the same data."""

    def bulk_access(self) -> BulkAccess | None:
        """Return how the compiled core may serve many keys at once; None if it must ask for them one by one."""
        return None

    @abstractmethod
    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none.

        Parameters
        ----------
        key
            The key.
        prototype
            Which class holds the bytes.
        byte_range
            Which part; None for all.
        """

    @abstractmethod
    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Return parts of the values of keys, in the order of the requests."""

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Return whether a key has a value."""

    @property
    @abstractmethod
    def supports_writes(self) -> bool:
        """True if the store can be written to at all."""

    @abstractmethod
    async def set(self, key: str, value: Buffer) -> None:
        """Store a value."""

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store a value unless the key has one."""
        self._check_writable()
        if not await self.exists(key):
            await self.set(key, value)

    @property
    def supports_set_if_match(self) -> bool:
        """True if ``set_if_match`` is one step with regard to every other writer of the same data.

        Where it is not, a store may still offer it as one step among the ``set_if_match`` calls of one process.
        """
        return False

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value if the key still holds what the caller saw last: compare and swap.

        Parameters
        ----------
        key
            The key.
        value
            The new value.
        expected
            The value that the key must hold; None if it must hold none.

        Returns
        -------
        Whether the value was stored. If not, read the key, do the change again, and try again.

        Raises
        ------
        NotImplementedError
            When the store has no way to do this; ``supports_set_if_match`` is False then.
        """
        raise NotImplementedError(
            f"{type(self).__name__} cannot store a value on a condition. Stores that can: SQLiteStore, LMDBStore and, "
            "within one process, LocalStore and MemoryStore."
        )

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await gather_windowed(self.set, builtins.list(values))

    @property
    def supports_consolidated_metadata(self) -> bool:
        """True if consolidated metadata is of use in this store."""
        return True

    @property
    @abstractmethod
    def supports_deletes(self) -> bool:
        """True if keys can be deleted."""

    @abstractmethod
    async def delete(self, key: str) -> None:
        """Delete a key; it need not have a value."""

    @property
    def supports_partial_writes(self) -> Literal[False]:
        """True if a part of a value can be replaced; no store can."""
        return False

    @property
    @abstractmethod
    def supports_listing(self) -> bool:
        """True if keys can be listed."""

    @abstractmethod
    def list(self) -> AsyncIterator[str]:
        """Yield all keys."""

    @abstractmethod
    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield all keys that start with a string. They are whole keys, prefix included."""

    @abstractmethod
    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names of the keys and folders directly below a folder."""

    async def is_empty(self, prefix: str) -> bool:
        """Return whether there is no key below a folder.

        Parameters
        ----------
        prefix
            The folder; "" for the whole store.
        """
        async for _ in self.list_prefix(as_folder(prefix)):
            return False
        return True

    async def clear(self) -> None:
        """Delete every key."""
        await self.delete_dir("")

    async def delete_dir(self, prefix: str) -> None:
        """Delete every key below a folder.

        Raises
        ------
        NotImplementedError
            When the store cannot delete or cannot list.
        """
        self._check_writable()
        if not self.supports_deletes:
            raise NotImplementedError(f"{type(self).__name__} does not support deleting.")
        if not self.supports_listing:
            raise NotImplementedError(f"{type(self).__name__} does not support listing.")
        keys = [(key,) async for key in self.list_prefix(as_folder(prefix))]
        await gather_windowed(self.delete, keys)

    def close(self) -> None:
        """Close the store."""
        self._is_open = False

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        for key, prototype, byte_range in requests:
            yield key, await self.get(key, prototype, byte_range)

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_concurrency: int = 10,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Read several parts of one value; parts that lie near each other are read in one request.

        Parameters
        ----------
        key
            The key.
        byte_ranges
            The parts.
        prototype
            Which class holds the bytes.
        max_concurrency
            How many requests run at the same time.
        max_gap_bytes
            How many unwanted bytes one request may read between two parts.
        max_coalesced_bytes
            How long a request may become by taking several parts together.

        Yields
        ------
        For each request that is done, in any order, pairs of the index of a part and its bytes.

        Raises
        ------
        ExceptionGroup
            When requests fail; it holds a FileNotFoundError if the key has no value. The other requests are cancelled.
        """
        limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
        waiting = protocols.merge_requests(byte_ranges, **limits)
        waiting.reverse()
        running: set[asyncio.Task[builtins.list[tuple[int, Buffer]]]] = builtins.set()
        try:
            while waiting or running:
                while waiting and len(running) < max(1, max_concurrency):
                    running.add(asyncio.ensure_future(self._get_merged(key, waiting.pop(), prototype)))
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                errors = [error for task in done if (error := task.exception()) is not None]
                if errors:
                    raise BaseExceptionGroup(f"reading ranges of {key!r} failed", errors)
                for task in done:
                    yield task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _get_merged(
        self, key: str, request: MergedRequest, prototype: BufferPrototype
    ) -> builtins.list[tuple[int, Buffer]]:
        answer = await self.get(key, prototype, request.byte_range)
        if answer is None:
            raise FileNotFoundError(key)
        return request.split(answer)

    def get_ranges_sync(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Read several parts of one value without an event loop; the parameters are those of ``get_ranges``.

        Raises
        ------
        TypeError
            When the store has no ``get_sync``.
        ExceptionGroup
            When a request fails; it holds a FileNotFoundError if the key has no value.
        """
        if not isinstance(self, protocols.SupportsGetSync):
            raise TypeError(f"{type(self).__name__} does not support synchronous reads")
        results: builtins.list[tuple[int, Buffer | None]] = []
        try:
            limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
            for request in protocols.merge_requests(byte_ranges, **limits):
                answer = self.get_sync(key, prototype=prototype, byte_range=request.byte_range)
                if answer is None:
                    raise FileNotFoundError(key)
                results += request.split(answer)
        except Exception as error:
            raise ExceptionGroup(f"reading ranges of {key!r} failed", [error]) from None
        return results

    async def getsize(self, key: str) -> int:
        """Return the length of a value in bytes.

        Raises
        ------
        FileNotFoundError
            When there is none.
        """
        value = await self.get(key, prototype=default_buffer_prototype())
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the sum of the lengths of all values below a folder, in bytes."""
        keys = [(key,) async for key in self.list_prefix(as_folder(prefix))]
        return sum(await gather_windowed(self.getsize, keys))

    async def set_partial_values(self, key_start_values: Iterable[PartialValue]) -> None:
        """Replace parts of values; a value grows where a part reaches beyond its end.

        Each value changes in one step. Where the store can compare and swap, what others write meanwhile is kept.

        Parameters
        ----------
        key_start_values
            Each a key, the offset in bytes at which to write, and what to write there.

        Raises
        ------
        ValueError
            When an offset is negative, or behind the end of the value.
        """
        self._check_writable()
        compare = self._compares_and_swaps()
        parts = [(self, key, some, compare) for key, some in changes.by_key(key_start_values).items()]
        await gather_windowed(changes.set_parts, parts)

    def _compares_and_swaps(self) -> bool:
        """Return whether ``set_if_match`` is there, and goes the way that ``get`` and ``set`` of this class go."""
        owner = next(base for base in type(self).__mro__ if "set_if_match" in vars(base))
        return owner is not Store and not changes.sees_to_values(type(self), owner)

    async def rename(self, src: str, dest: str) -> None:
        """Give a key another name; or a folder, with all that is below it.

        In one step in SQLite, LMDB, zip files and local folders. In others the values are copied, and the old ones
        deleted when that is done; the documents of arrays and groups are copied last.

        Raises
        ------
        FileNotFoundError
            When there is no such key or folder.
        FileExistsError
            When there is something of the new name.
        ValueError
            When a folder would come to lie in itself.
        NotImplementedError
            When the store cannot delete.
        """
        self._check_writable()
        if not self.supports_deletes:
            raise NotImplementedError(f"{type(self).__name__} does not support deleting.")
        names = await changes.names_to_move(self, src.strip("/"), dest.strip("/"))
        if changes.moves_in_one_step(self):
            await asyncio.to_thread(self.apply_sync, await changes.changes_of_move(self, names))  # type: ignore[attr-defined]
            return
        early = takes_contents_first(self)
        for late in (False, True):
            part = [item for item in names.items() if (changes.is_document(item[0]) is early) is late]
            await gather_windowed(self._copy_value, part)
        await gather_windowed(self.delete, [(key,) for key in reversed(names)])

    async def _copy_value(self, src: str, dest: str) -> None:
        """Copy one value; override where the store can do it without handing the bytes over."""
        value = await self.get(src, default_buffer_prototype())
        if value is not None:
            await self.set(dest, value)
