"""The contract of a store with coroutines; the base of all stores."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from zarr._lazy import LazyModule, asyncio
from zarr.abc.stores.abilities import BulkAccess, takes_contents_first
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import ReadOnlyError, label_of

if TYPE_CHECKING:
    from zarr.abc.stores import changes, protocols
    from zarr.abc.stores.changes import PartialValue
    from zarr.abc.stores.protocols import ByteRequest, MergedRequest
else:
    protocols = LazyModule("zarr.abc.stores.protocols")
    changes = LazyModule("zarr.abc.stores.changes")

# The number of parallel requests of one default method.
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


async def ranges_of(
    get: Callable[[ByteRequest | None], Awaitable[Buffer | None]],
    key: str,
    byte_ranges: Sequence[ByteRequest | None],
    max_concurrency: int = 10,
    max_gap_bytes: int = 1 << 20,
    max_coalesced_bytes: int = 16 << 20,
) -> AsyncGenerator[list[tuple[int, Buffer]], None]:
    """Read several ranges of one value by a function that reads one of them; see :meth:`Store.get_ranges`."""

    async def read(request: MergedRequest) -> list[tuple[int, Buffer]]:
        answer = await get(request.byte_range)
        if answer is None:
            raise FileNotFoundError(key)
        return request.split(answer)

    limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
    waiting = protocols.merge_requests(byte_ranges, **limits)
    waiting.reverse()
    running: set[asyncio.Task[list[tuple[int, Buffer]]]] = set()
    try:
        while waiting or running:
            while waiting and len(running) < max(1, max_concurrency):
                running.add(asyncio.ensure_future(read(waiting.pop())))
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


class Store(ABC):
    """Bytes under string keys, accessed by coroutines.

    Keys are paths without a leading slash: ``"a/b/zarr.json"``. A subclass defines the abstract methods; all others
    have defaults that call these.

    Parameters
    ----------
    read_only
        If True, the store refuses every change.
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
            The parameters of the class.
        """
        store = cls(*args, **kwargs)
        await store._open()
        return store

    def with_read_only(self, read_only: bool = False) -> Store:
        """Return a store over the same data, read-only or writable.

        Parameters
        ----------
        read_only : bool
            If True, the store refuses every change. Default: False.

        Raises
        ------
        NotImplementedError
            If the class cannot do this.
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
            If it is open already.
        """
        if self._is_open:
            raise ValueError("store is already open")
        self._is_open = True

    async def _ensure_open(self) -> None:
        """Open the store if it is not open yet; several threads and tasks may meet it first at the same time."""
        if not self._is_open:
            try:
                await self._open()
            except ValueError:
                if not self._is_open:  # otherwise another one was faster
                    raise

    @property
    def read_only(self) -> bool:
        """True if the store refuses every change."""
        return self._read_only

    def _check_writable(self) -> None:
        """Raise an error if the store is read-only."""
        if self.read_only:
            raise ReadOnlyError(f"store was opened in read-only mode and does not support writing: {label_of(self)}")

    @abstractmethod
    def __eq__(self, value: object) -> bool:
        """Return True if another store holds the same data."""

    def bulk_access(self) -> BulkAccess | None:
        """Return how the compiled core may access many keys at once; None if it must read them one by one."""
        return None

    @abstractmethod
    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none.

        Parameters
        ----------
        key
            The key.
        prototype
            The classes that hold the bytes.
        byte_range
            The range of the value; None, the default, for all.
        """

    @abstractmethod
    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Return parts of the values of keys, in the order of the requests."""

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Return True if a key has a value."""

    @property
    @abstractmethod
    def supports_writes(self) -> bool:
        """True if the store can be written to."""

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
        """True if ``set_if_match`` is one step for all writers of the same data.

        If it is False, a store may still offer it as one step among the ``set_if_match`` calls of one process.
        """
        return False

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value if the key still holds the expected one: compare and swap.

        Parameters
        ----------
        key
            The key.
        value
            The new value.
        expected
            The value that the key must have; None if it must have none.

        Returns
        -------
        True if the value was stored. If not, read the key, do the change again, and try again.

        Raises
        ------
        NotImplementedError
            If the store cannot do this; then ``supports_set_if_match`` is False.
        """
        raise NotImplementedError(
            f"{type(self).__name__} cannot store a value on a condition. Stores that can: SQLiteStore, LMDBStore and, "
            "within one process, LocalStore and MemoryStore."
        )

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await gather_windowed(self.set, builtins.list(values))

    @property
    def supports_consolidated_metadata(self) -> bool:
        """True if the store allows consolidated metadata."""
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
        """True if a part of a value can be replaced; always False."""
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
        """Return True if there is no key below a folder.

        Parameters
        ----------
        prefix
            The folder; "" for the whole store.

        Returns
        -------
        bool
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
            If the store cannot delete or cannot list.
        """
        self._check_writable()
        if not self.supports_deletes:
            raise NotImplementedError(f"{type(self).__name__} does not support deleting.")
        if not self.supports_listing:
            raise NotImplementedError(f"{type(self).__name__} does not support listing.")
        for keys in changes.removed_first([key async for key in self.list_prefix(as_folder(prefix))]):
            await gather_windowed(self.delete, [(key,) for key in keys])

    def close(self) -> None:
        """Close the store."""
        self._is_open = False

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        for key, prototype, byte_range in requests:
            yield key, await self.get(key, prototype, byte_range)

    def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_concurrency: int = 10,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Read several ranges of one value; near ranges are read in one request.

        Parameters
        ----------
        key
            The key.
        byte_ranges
            The ranges.
        prototype
            The class that holds the bytes.
        max_concurrency
            Maximum number of parallel requests.
        max_gap_bytes
            Maximum number of unneeded bytes that one request may read between two ranges.
        max_coalesced_bytes
            Maximum length of a request that joins several ranges.

        Returns
        -------
        async iterator
            For each finished request, in any order, pairs of the index of a range and its bytes.

        Raises
        ------
        BaseExceptionGroup
            If requests fail (an ExceptionGroup, unless one was interrupted); it holds a FileNotFoundError if the key
            has no value. The other requests are cancelled.
        """
        limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
        return ranges_of(partial(self.get, key, prototype), key, byte_ranges, max_concurrency, **limits)

    def get_ranges_sync(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Read several ranges of one value without an event loop; the parameters are those of ``get_ranges``.

        Parameters
        ----------
        key : str
            The key.
        byte_ranges : Sequence[ByteRequest or None]
            The ranges of bytes to read.
        prototype : BufferPrototype
            The classes of buffers to return.
        max_gap_bytes : int
            Ranges with at most this number of bytes between them are read as one.
        max_coalesced_bytes : int
            Ranges are not joined beyond this number of bytes.

        Returns
        -------
        sequence of (int, Buffer or None)
            The number of each range, and its bytes.

        Raises
        ------
        TypeError
            If the store has no ``get_sync``.
        ExceptionGroup
            If a request fails; it holds a FileNotFoundError if the key has no value.
        """
        get_sync = getattr(self, "get_sync", None)  # an isinstance with a protocol takes longer than the read
        if get_sync is None:
            raise TypeError(f"{type(self).__name__} does not support synchronous reads")
        results: builtins.list[tuple[int, Buffer | None]] = []
        try:
            limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
            for request in protocols.merge_requests(byte_ranges, **limits):
                answer = get_sync(key, prototype=prototype, byte_range=request.byte_range)
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
            If there is no value.
        """
        value = await self.get(key, prototype=default_buffer_prototype())
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the sum of the lengths of all values below a folder, in bytes.

        Parameters
        ----------
        prefix : str
            Keys that begin with this path.

        Returns
        -------
        int
            Bytes.
        """
        keys = [(key,) async for key in self.list_prefix(as_folder(prefix))]
        return sum(await gather_windowed(self.getsize, keys))

    async def set_partial_values(self, key_start_values: Iterable[PartialValue]) -> None:
        """Replace parts of values; a value grows if a part reaches beyond its end.

        Each value changes in one step. If the store can compare and swap, parts that others write meanwhile are kept.

        Parameters
        ----------
        key_start_values
            For each part: the key, the offset in bytes, and the bytes.

        Raises
        ------
        ValueError
            If an offset is negative, or after the end of the value.
        """
        self._check_writable()
        compare = self._compares_and_swaps()
        parts = [(self, key, some, compare) for key, some in changes.by_key(key_start_values).items()]
        await gather_windowed(changes.set_parts, parts)

    def _compares_and_swaps(self) -> bool:
        """Return True if ``set_if_match`` exists and is not older than ``get`` and ``set`` of the class."""
        owner = next(base for base in type(self).__mro__ if "set_if_match" in vars(base))
        return owner is not Store and not changes.sees_to_values(type(self), owner)

    async def rename(self, src: str, dest: str) -> None:
        """Rename a key; or a folder, with all that is below it.

        This is one step in SQLite, LMDB, zip files and local folders. In other stores the values are copied, and the
        old ones deleted after that; the documents of arrays and groups are copied last.

        Parameters
        ----------
        src : str
            The path of a node or a key.
        dest : str
            The new path.

        Raises
        ------
        FileNotFoundError
            If there is no such key or folder.
        FileExistsError
            If there is something at the new path.
        ValueError
            If the new path lies inside the folder.
        NotImplementedError
            If the store cannot delete.
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
        """Copy one value; override this if the store can copy without transferring the bytes."""
        value = await self.get(src, default_buffer_prototype())
        if value is not None:
            await self.set(dest, value)
