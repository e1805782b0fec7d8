"""The store over obstore, the Python face of Rust's object_store."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import os
import pickle
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from zarr._lazy import LazyModule
from zarr.abc.store import ByteRequest, OffsetByteRequest, SuffixByteRequest
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.errors import ArrayTooLargeError, StoreDamagedError
from zarr.storage import keys
from zarr.storage.base import NamedStore
from zarr.storage.checks import check_buffer, check_clearable, memory_of_machine
from zarr.storage.ranges import bounds_of, check_byte_range

if TYPE_CHECKING:
    import obstore
    from obstore import exceptions
    from obstore.store import ObjectStore as _UpstreamObjectStore
else:
    obstore, exceptions = LazyModule("obstore"), LazyModule("obstore.exceptions")

_LARGE: Final = 64 << 20
"""A value of fewer bytes fits into the memory of any machine."""

T_Store = TypeVar("T_Store", bound="_UpstreamObjectStore")


def _folder_of(store: Any) -> str | None:
    """Return the folder of a store of local files, by a name that holds in any working directory; None of others."""
    prefix = getattr(store, "prefix", None) if type(store).__name__ == "LocalStore" else None
    return None if prefix is None else os.path.join(os.getcwd(), prefix)


class ObjectStore(NamedStore, Generic[T_Store]):
    """Keys as objects of a store of obstore.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        Any of obstore's stores: S3, Google, Azure, HTTP, local or memory.
    read_only : bool

    Raises
    ------
    TypeError
        If ``store`` is none of obstore's.

    Examples
    --------
    >>> from obstore.store import MemoryStore
    >>> ObjectStore(MemoryStore()).supports_listing
    True
    """

    store: T_Store

    def __init__(self, store: T_Store, *, read_only: bool = False) -> None:
        module, name = type(store).__module__, type(store).__name__
        ours = module.startswith(("obstore", "builtins", "_obstore", "virtualizarr", "obspec"))
        if not ours or (module == "builtins" and hasattr(builtins, name)):
            raise TypeError(f"expected a store of obstore, got {store!r}")
        super().__init__(read_only=read_only)
        self.store = store
        self._folder = _folder_of(store)

    def __str__(self) -> str:
        return f"object_store://{self.store}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self.read_only, self.store if self._folder is None else self._folder)

    def __getstate__(self) -> dict[Any, Any]:
        state = self.__dict__.copy()
        store: Any = self.store
        if self._folder is not None and not os.path.isabs(store.prefix):
            store = type(store)(self._folder, **store.__getnewargs_ex__()[1])
        state["store"] = pickle.dumps(store)
        return state

    def __setstate__(self, state: dict[Any, Any]) -> None:
        state["store"] = pickle.loads(state["store"])
        self.__dict__.update(state)
        if "_folder" not in state:
            self._folder = _folder_of(self.store)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        if self._folder is not None:
            return f"object_store:{self._folder}"
        text = repr(self.store)
        return f"object_store:{id(self.store)}" if text.startswith("MemoryStore") else f"object_store:{text}"

    def lock_folder(self, path: str) -> str | None:
        """Return the folder of the lock files of a node: beside its data, where that is in a local folder."""
        return None if self._folder is None else os.path.join(self._folder, keys.check_prefix(path), keys.LOCKS_FOLDER)

    # Reading

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        keys.check_object_key(key)
        if not self._is_open:
            await self._ensure_open()
        if byte_range is not None:
            check_byte_range(byte_range)
        try:
            data = await self._get(key, byte_range)
        except Exception as error:
            if _is_missing(error):
                return None
            if byte_range is None or not _is_bad_range(error) or await self._begins_inside(key, byte_range):
                raise
            data = b""
        return prototype.buffer.from_bytes(data)

    async def _begins_inside(self, key: str, byte_range: ByteRequest) -> bool:
        """Return whether a range begins before the end of a value: services refuse those that do not."""
        size = await self.getsize(key)
        return bounds_of(byte_range, size)[0] < size

    async def _get(self, key: str, byte_range: ByteRequest | None) -> Any:
        if byte_range is None:
            response = await obstore.get_async(self.store, key)
            self._check_fits(key, response.meta["size"])
            return await response.bytes_async()
        if isinstance(byte_range, SuffixByteRequest):
            return await self._get_suffix(key, byte_range.suffix)
        if isinstance(byte_range, OffsetByteRequest):
            response = await obstore.get_async(self.store, key, options={"range": {"offset": byte_range.offset}})
            return await response.bytes_async()
        if byte_range.start == byte_range.end:
            await self.getsize(key)  # a key that is not there has no empty part either
            return b""
        return await obstore.get_range_async(self.store, key, start=byte_range.start, end=byte_range.end)

    def _check_fits(self, key: str, size: int) -> None:
        """Refuse a value that no memory of this machine could hold: obstore would end the process.

        Raises
        ------
        ArrayTooLargeError
        """
        if size > _LARGE and size > memory_of_machine():
            raise ArrayTooLargeError(f"the value of key {key!r} of {self!r} has {size} bytes: more than the memory")

    async def _get_suffix(self, key: str, length: int) -> Any:
        """Return the end of a value: one request, or two where a service (Azure) has no such ranges."""
        if length:
            try:
                response = await obstore.get_async(self.store, key, options={"range": {"suffix": length}})
                return await response.bytes_async()
            except Exception as error:
                if _is_missing(error) or not _is_bad_range(error):
                    raise
        size = await self.getsize(key)
        start = size - min(size, length)
        return b"" if start == size else await obstore.get_range_async(self.store, key, start=start, end=size)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Return ranges of keys, in the order asked for; None for each key that is not there."""
        return list(await asyncio.gather(*[self.get(key, prototype, part) for key, part in key_ranges]))

    async def exists(self, key: str) -> bool:
        """Return whether the key has a value."""
        keys.check_object_key(key)
        try:
            await obstore.head_async(self.store, key)
        except Exception as error:
            if _is_missing(error):
                return False
            raise
        return True

    async def getsize(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        keys.check_object_key(key)
        meta = await obstore.head_async(self.store, key)
        return int(meta["size"])

    async def getsize_prefix(self, prefix: str) -> int:
        """Return how many bytes all keys under the prefix hold; one listing tells."""
        folder = keys.dir_prefix(keys.check_object_prefix(prefix))
        return sum([int(meta["size"]) async for meta in self._objects(folder)])

    async def _objects(self, prefix: str) -> AsyncGenerator[Any, None]:
        with self._damage_named():
            async for batch in obstore.list(self.store, prefix=prefix or None):
                for meta in batch:
                    if keys.is_key(meta["path"]) and not keys.is_lock(meta["path"]):
                        yield meta

    @contextlib.contextmanager
    def _damage_named(self) -> Iterator[None]:
        """Say what it is if a name in the store is none that a key can have."""
        try:
            yield
        except exceptions.InvalidPathError as error:
            raise StoreDamagedError(f"{self} cannot be listed: {str(error).splitlines()[0]}") from error

    async def list(self) -> AsyncGenerator[str, None]:
        """Return all keys."""
        async for meta in self._objects(""):
            yield meta["path"]

    async def list_prefix(self, prefix: str) -> AsyncGenerator[str, None]:
        """Return all keys under the prefix, which names a folder."""
        async for meta in self._objects(keys.check_object_prefix(prefix)):
            yield meta["path"]

    async def list_dir(self, prefix: str) -> AsyncGenerator[str, None]:
        """Return the names directly under the prefix, in order."""
        start = keys.dir_prefix(keys.check_object_prefix(prefix))
        with self._damage_named():
            found = await obstore.list_with_delimiter_async(self.store, prefix=start or None)
        names = [*found["common_prefixes"], *(meta["path"] for meta in found["objects"])]
        # A service may list the marker of the folder itself, too: it is no name below the folder.
        paths = {name.rstrip("/") for name in names} - {prefix.rstrip("/"), start + keys.LOCKS_FOLDER}
        for name in sorted(path.removeprefix(start) for path in keys.only_keys(paths)):
            yield name

    # Writing

    async def set(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key."""
        self._check_writable()
        keys.check_object_key(key)
        await obstore.put_async(self.store, key, check_buffer(self, value).to_bytes())

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; of several who try at once, one succeeds."""
        self._check_writable()
        keys.check_object_key(key)
        try:
            await obstore.put_async(self.store, key, check_buffer(self, value).to_bytes(), mode="create")
        except exceptions.AlreadyExistsError:
            return False
        return True

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        await self.put_if_absent(key, value)

    @property
    def supports_set_if_match(self) -> bool:
        """Return whether the service replaces an object on a condition; local folders and plain HTTP do not."""
        return type(self.store).__name__ not in {"LocalStore", "HTTPStore"}

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` where the key still holds ``expected`` (None: nothing); one step for all who use the service.

        Raises
        ------
        NotImplementedError
            If the service has no conditional requests.
        """
        if expected is None:
            return await self.put_if_absent(key, value)
        self._check_writable()
        keys.check_object_key(key)
        data = check_buffer(self, value).to_bytes()
        try:
            found = await obstore.get_async(self.store, key)
            if bytes(await found.bytes_async()) != expected.to_bytes():
                return False
            known = {name: found.meta[name] for name in ("e_tag", "version") if found.meta.get(name)}
            await obstore.put_async(self.store, key, data, mode=known)  # type: ignore[arg-type]
        except (FileNotFoundError, exceptions.PreconditionError):
            return False
        return True

    async def _copy_value(self, src: str, dest: str) -> None:
        """Copy one value where it lies."""
        keys.check_object_key(dest)
        await obstore.copy_async(self.store, src, dest)

    async def delete(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        keys.check_object_key(key)
        with contextlib.suppress(FileNotFoundError):
            await obstore.delete_async(self.store, key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys under the prefix, many in one request where the service can do that."""
        self._check_writable()
        if not prefix.strip("/") and type(self.store).__name__ == "LocalStore":
            check_clearable(str(getattr(self.store, "prefix", None) or "/"))
        folder = keys.dir_prefix(keys.check_object_prefix(prefix))
        paths = [meta["path"] async for meta in self._objects(folder)]
        for first in range(0, len(paths), 1000):
            await obstore.delete_async(self.store, paths[first : first + 1000])


def _is_bad_range(error: Exception) -> bool:
    """Return whether a service refused the range, not the value: it has no such ranges, or the value is empty."""
    text = str(error)
    return type(error).__name__ == "NotSupportedError" or "416" in text or "range" in text.lower()


def _is_missing(error: Exception) -> bool:
    """Return True if an error means that there is no such key; below a file of a local store, too, there is none."""
    missing = isinstance(error, (FileNotFoundError, IsADirectoryError, NotADirectoryError))
    return missing or "(os error 20)" in str(error)
