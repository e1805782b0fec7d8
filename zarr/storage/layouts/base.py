"""A store that shows a hierarchy of another layout as one of format 3: keys are translated, documents are rewritten.

A layout says what to do as a generator that asks for values of the store below (``Ask``), so that it is written once
for stores with plain methods and for those with coroutines only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Generator, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from zarr.abc.store import Store
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import ReadOnlyError
from zarr.storage.keys import METADATA_NAMES, join
from zarr.storage.ranges import slice_of
from zarr.storage.wrappers.wrapper import WrapperStore

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype

T = TypeVar("T")


class Ask(NamedTuple):
    """One call of a method of the store below, by the name of its coroutine; listings are answered by lists."""

    method: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


Asking: TypeAlias = Generator[Ask, Any, T]
"""Asks for what it needs, and returns what comes of it."""


def ask(method: str, *arguments: Any, **options: Any) -> Ask:
    """One call of a method of the store below.

    Examples
    --------
    >>> ask("list_dir", "a/").method
    'list_dir'
    """
    return Ask(method, arguments, options)


def read(key: str) -> Asking[bytes | None]:
    """Return the bytes of a key of the store below; None where there is none."""
    found = yield ask("get", key, prototype=default_buffer_prototype())
    return None if found is None else found.to_bytes()


def split_document(key: str) -> tuple[str, str] | None:
    """Return the node's path and the name of the document, of a key that is one of a document.

    Examples
    --------
    >>> split_document("a/b/zarr.json"), split_document("a/c/0")
    (('a/b', 'zarr.json'), None)
    """
    path, _, name = key.rpartition("/")
    return (path, name) if name in METADATA_NAMES else None


class LayoutStore(WrapperStore[Store]):
    """A hierarchy of another layout, as one of format 3; cannot be written to unless the layout says otherwise.

    Parameters
    ----------
    store : Store
        The store below.
    path : str
        Where in the store the hierarchy begins.
    """

    def __init__(self, store: Store, path: str = "") -> None:
        super().__init__(store)
        self.path = path.strip("/")

    # What a layout says

    @abstractmethod
    def chunk_key(self, key: str) -> str | None:
        """Return the key below, of a key of a chunk; None where no chunk can have that key."""

    @abstractmethod
    def document_of(self, path: str) -> Asking[bytes | None]:
        """Return the document ``zarr.json`` of a node; None where there is no node."""

    @abstractmethod
    def names_of(self, path: str) -> Asking[list[str]]:
        """Return the names directly below a folder."""

    @abstractmethod
    def keys_of(self, prefix: str) -> Asking[list[str]]:
        """Return all keys that begin with a prefix."""

    # What all layouts share

    def _below(self, *parts: str) -> str:
        return join(self.path, *parts)

    def _with_store(self, store: Store) -> Any:
        return type(self)(store, self.path)

    def with_read_only(self, read_only: bool = False) -> Any:
        """Return the same hierarchy, over a store that may not be written to.

        Raises
        ------
        ReadOnlyError
            If it shall be written to.
        """
        if not read_only:
            raise ReadOnlyError(f"{self} is of a layout that is only read: copy it into a new hierarchy to change it")
        return self._with_store(self._store if self._store.read_only else self._store.with_read_only(True))

    @property
    def read_only(self) -> bool:
        """Return whether the hierarchy refuses to be written to."""
        return True

    @property
    def supports_writes(self) -> bool:
        """Return whether the hierarchy can be written to."""
        return not self.read_only

    @property
    def supports_deletes(self) -> bool:
        """Return whether what is in the hierarchy can be deleted."""
        return not self.read_only

    @property
    def supports_consolidated_metadata(self) -> bool:
        """These layouts have none."""
        return False

    @property
    def supports_set_if_match(self) -> bool:
        """Return a document is rewritten on its way, and never compared."""
        return False

    def _check_writable(self) -> None:
        if self.read_only:
            raise ReadOnlyError(f"{self} is of a layout that is only read: copy it into a new hierarchy to change it")
        self._store._check_writable()

    def __str__(self) -> str:
        return join(str(self._store), self.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __eq__(self, value: object) -> bool:
        return (
            isinstance(value, LayoutStore)
            and type(self) is type(value)
            and (self._store, self.path, self.read_only) == (value._store, value.path, value.read_only)
        )

    def _get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None) -> Asking[Buffer | None]:
        named = split_document(key)
        if named is None:
            below = self.chunk_key(key)
            if below is None:
                return None
            found: Buffer | None = yield ask("get", below, prototype=prototype, byte_range=byte_range)
            return found
        if named[1] != "zarr.json":
            return None
        document = yield from self.document_of(named[0])
        if document is None:
            return None
        return prototype.buffer.from_bytes(document[slice_of(byte_range, len(document))] if byte_range else document)

    def _exists(self, key: str) -> Asking[bool]:
        if split_document(key) is not None:
            return (yield from self._get(key, default_buffer_prototype(), None)) is not None
        below = self.chunk_key(key)
        return below is not None and bool((yield ask("exists", below)))

    def _getsize(self, key: str) -> Asking[int]:
        if split_document(key) is None:
            below = self.chunk_key(key)
            if below is None:
                raise FileNotFoundError(key)
            return int((yield ask("getsize", below)))
        found = yield from self._get(key, default_buffer_prototype(), None)
        if found is None:
            raise FileNotFoundError(key)
        return len(found)

    def _set(self, key: str, value: Buffer) -> Asking[None]:
        self._check_writable()
        raise ReadOnlyError(f"{self}: {key!r} cannot be written")
        yield

    def _delete(self, key: str) -> Asking[None]:
        self._check_writable()
        raise ReadOnlyError(f"{self}: {key!r} cannot be deleted")
        yield

    def _delete_dir(self, prefix: str) -> Asking[None]:
        self._check_writable()
        raise ReadOnlyError(f"{self}: {prefix!r} cannot be deleted")
        yield

    def _set_if_not_exists(self, key: str, value: Buffer) -> Asking[None]:
        if not (yield from self._exists(key)):
            yield from self._set(key, value)

    # Who answers

    def _run(self, asking: Asking[T]) -> T:
        reply = None
        try:
            while True:
                call = asking.send(reply)
                answer = getattr(self._store, f"{call.method}_sync")(*call.arguments, **call.options)
                reply = list(answer) if call.method.startswith("list") else answer
        except StopIteration as done:
            result: T = done.value
            return result

    async def _run_async(self, asking: Asking[T]) -> T:
        reply: Any = None
        try:
            while True:
                call = asking.send(reply)
                answer = getattr(self._store, call.method)(*call.arguments, **call.options)
                reply = [key async for key in answer] if call.method.startswith("list") else await answer
        except StopIteration as done:
            result: T = done.value
            return result

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        return await self._run_async(self._get(key, prototype, byte_range))

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        return self._run(self._get(key, prototype or default_buffer_prototype(), byte_range))

    async def exists(self, key: str) -> bool:
        """Return whether the key has a value."""
        return await self._run_async(self._exists(key))

    def exists_sync(self, key: str) -> bool:
        """Return whether the key has a value."""
        return self._run(self._exists(key))

    async def getsize(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        return await self._run_async(self._getsize(key))

    def getsize_sync(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        return self._run(self._getsize(key))

    async def getsize_prefix(self, prefix: str) -> int:
        """Return how many bytes all keys hold that begin with the prefix."""
        return await Store.getsize_prefix(self, prefix)

    async def is_empty(self, prefix: str) -> bool:
        """Return whether there is nothing below a folder."""
        return not await self._run_async(self.names_of(prefix.strip("/")))

    async def clear(self) -> None:
        """Remove the hierarchy."""
        await self.delete_dir("")

    async def _list_async(self, asking: Asking[list[str]]) -> AsyncIterator[str]:
        for key in await self._run_async(asking):
            yield key

    def list(self) -> AsyncIterator[str]:
        """Return all keys."""
        return self._list_async(self.keys_of(""))

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return self._run(self.keys_of(""))

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Return all keys that begin with the prefix."""
        return self._list_async(self.keys_of(prefix))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        return self._run(self.keys_of(prefix))

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Return the names directly below a folder."""
        return self._list_async(self.names_of(prefix.strip("/")))

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly below a folder."""
        return self._run(self.names_of(prefix.strip("/")))

    async def set(self, key: str, value: Buffer) -> None:
        """Store a value."""
        await self._run_async(self._set(key, value))

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value."""
        self._run(self._set(key, value))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store a value where the key has none."""
        await self._run_async(self._set_if_not_exists(key, value))

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store a value where the key has none."""
        self._run(self._set_if_not_exists(key, value))

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Not to be had: a document is rewritten on its way."""
        return await Store.set_if_match(self, key, value, expected)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Not to be had: a document is rewritten on its way."""
        raise NotImplementedError(f"{type(self).__name__} cannot store a value on a condition")

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        for key, value in values:
            await self.set(key, value)

    async def delete(self, key: str) -> None:
        """Remove the key, if it is there."""
        await self._run_async(self._delete(key))

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._run(self._delete(key))

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys below a folder."""
        await self._run_async(self._delete_dir(prefix))

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys below a folder."""
        self._run(self._delete_dir(prefix))
