"""Store keys over obstore, the Python package of Rust's object_store: ``ObjectStore``."""

from __future__ import annotations

import builtins
import contextlib
import itertools
import os
import pickle
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from zarr._lazy import LazyModule
from zarr._process import at_fork
from zarr.abc.store import ByteRequest, OffsetByteRequest, SuffixByteRequest
from zarr.abc.stores.changes import removed_first
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.errors import ArrayTooLargeError, StoreDamagedError, StoreUnavailableError, ValueReplacedError
from zarr.storage import keys
from zarr.storage.checks import check_buffer, check_clearable, memory_of_machine
from zarr.storage.local.names import true_path
from zarr.storage.ranges import bounds_of, check_byte_range
from zarr.storage.remote.retries import Attempts, Retries, RetryingStore

if TYPE_CHECKING:
    import obstore
    from obstore import exceptions
    from obstore.store import ObjectStore as _UpstreamObjectStore
else:
    obstore, exceptions = LazyModule("obstore"), LazyModule("obstore.exceptions")

_BAD_RANGE: Final = re.compile(
    r"status code: 416\b|Received non-partial response|Requested range was invalid|Invalid range: |Range request not"
)
"""obstore: a status, or one of its own texts."""

_LARGE: Final = 64 << 20
"""A value of fewer bytes fits into the memory of any machine."""

_IN_ONE_REQUEST: Final = 5 << 20
"""A value of fewer bytes is stored by one request."""
_SERVICES: Final = frozenset({"S3Store", "GCSStore", "AzureStore", "HTTPStore"})
_numbers = itertools.count()
T = TypeVar("T")
T_Store = TypeVar("T_Store", bound="_UpstreamObjectStore")


class _Runtime:
    """Note if the threads in which obstore works have begun, and if a fork has left them behind."""

    used = False
    lost = False

    def fork(self) -> None:
        self.lost = self.lost or self.used


_RUNTIME: Final = _Runtime()
at_fork(renew=_RUNTIME.fork)


def _folder_of(store: Any) -> str | None:
    """Return the folder of a store of local files, by a name valid in any working directory; None for others."""
    prefix = getattr(store, "prefix", None) if type(store).__name__ == "LocalStore" else None
    return None if prefix is None else os.path.join(os.getcwd(), prefix)


def _retries_for(store: Any, network: Mapping[str, float] | None = None) -> Retries:
    """Return the repeats of the requests of a store: none where no network is in between."""
    return Retries(network if type(store).__name__ in _SERVICES else {"tries": 1})


def _without_retries(store: Any, seconds: float) -> Any:
    """Return a client without retries, otherwise like the given one."""
    args, options = store.__getnewargs_ex__()
    limits = {"read_timeout": timedelta(seconds=seconds), **(options.get("client_options") or {})}
    return type(store)(*args, **{**options, "client_options": limits, "retry_config": {"max_retries": 0}})


class ObjectStore(RetryingStore, Generic[T_Store]):
    """Keys as objects of a store of obstore.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        Any of obstore's stores: S3, Google, Azure, HTTP, local or memory.
    read_only : bool
        If True, the store refuses every change. Default: False.
    network : mapping, optional
        Settings ``network.*`` of this store alone, by their last names: ``{"tries": 3}``. Default: those of
        ``zarr.config`` when the store is made. A ``retry_config`` of ``store`` has priority over them.

    Attributes
    ----------
    retries : int
        The number of repeated requests.

    Raises
    ------
    TypeError
        If ``store`` is not a store of obstore.

    Examples
    --------
    >>> from zarr.storage import ObjectStore
    >>> from obstore.store import MemoryStore
    >>> ObjectStore(MemoryStore()).supports_listing
    True
    """

    store: T_Store

    def __init__(self, store: T_Store, *, read_only: bool = False, network: Mapping[str, float] | None = None) -> None:
        module, name = type(store).__module__, type(store).__name__
        ours = module.startswith(("obstore", "builtins", "_obstore", "virtualizarr", "obspec"))
        if not ours or (module == "builtins" and hasattr(builtins, name)):
            raise TypeError(f"expected a store of obstore, got {store!r}")
        super().__init__(read_only=read_only)
        self.store = store
        self._folder = _folder_of(store)
        self._number = next(_numbers) if name == "MemoryStore" else None
        self._retries = _retries_for(store, network)

    @property
    def _client(self) -> Any:
        """The client for requests.

        Raises
        ------
        RuntimeError
            In a process that was forked from one with requests: their threads are not there.
        """
        if _RUNTIME.lost:
            raise RuntimeError(
                f"{self!r} cannot be used in this process: obstore was used in the process that it was forked from, "
                "and would wait for ever here; start workers by 'spawn' or 'forkserver', or use an FsspecStore"
            )
        _RUNTIME.used = True
        return self._own_client

    @cached_property
    def _own_client(self) -> Any:
        """The client: without retries, unless the user has configured them."""
        store: Any = self.store
        if self._retries.tries == 1:
            return store
        if getattr(store, "retry_config", None) is not None:
            self._retries.tries = 1
            return store
        return _without_retries(store, self._retries.request_seconds)

    def _once(self, what: str, key: str, call: Callable[[Any], Awaitable[T]]) -> Awaitable[T]:
        """Await a call that makes one request, which may be repeated; the call receives the client."""
        client = self._client
        return self._retries.run(what, key, lambda _: call(client))

    def _many(self, what: str, key: str, call: Callable[[Any], Awaitable[T]]) -> Awaitable[T]:
        """Await a call that may make many requests; after a fault repeat it with a client that has its own retries."""
        client = self._client
        return self._retries.run(what, key, lambda repeat: call(self.store if repeat else client))

    def __str__(self) -> str:
        return f"object_store://{self.store}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self.read_only, self.store if self._folder is None else self._folder)

    def __getstate__(self) -> dict[Any, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_own_client"}
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
        self._number = None
        if "_retries" not in state:
            self._retries = _retries_for(self.store)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        if self._folder is not None:
            return f"file:{true_path(self._folder)}"  # as that of a LocalStore
        text = repr(self.store)
        return f"object_store:{id(self.store)}" if text.startswith("MemoryStore") else f"object_store:{text}"

    @property
    def locks_folders(self) -> bool:
        """True if the keys are files of this machine: then processes keep out each other as in a ``LocalStore``."""
        return self._folder is not None

    def lock_folder(self, path: str) -> str | None:
        """Return the folder of the lock files of a node: beside its data, if that is in a local folder.

        Parameters
        ----------
        path : str
            The path in the store.

        Returns
        -------
        str or None
            None if the store is no local folder.
        """
        return None if self._folder is None else os.path.join(self._folder, keys.check_prefix(path), keys.LOCKS_FOLDER)

    # Reading

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key."""
        found = await ObjectStore.get_versioned(self, key, prototype, byte_range)
        return None if found is None else found[0]

    async def get_versioned(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None, version: _Version | None = None
    ) -> tuple[Buffer, _Version | None] | None:
        """Return a value or a range of it, and its version; see the base class.

        There is no version if the service gives no entity tag that identifies the bytes of the value, and for local
        folders and plain web servers, whose tags may be those of another moment or machine. A ``ValueReplacedError``
        also comes if the value is replaced meanwhile, in a service that takes two requests.
        """
        keys.check_object_key(key)
        if not self._is_open:
            await self._ensure_open()
        if byte_range is not None:
            check_byte_range(byte_range)
        if version is not None and version.store != self._number:  # of a store in memory that had this address before
            raise self._replaced(key)
        read = partial(self._get_version, key=key, byte_range=byte_range, version=version)
        try:
            data, found = await self._once("get", key, read)
        except Exception as error:
            if _is_missing(error):
                return None
            raise
        return prototype.buffer.from_bytes(data), found

    def _replaced(self, key: str) -> ValueReplacedError:
        return ValueReplacedError(f"{key}: the value in {self!r} was replaced while it was read")

    async def _get_version(
        self, client: Any, key: str, byte_range: ByteRequest | None, version: _Version | None
    ) -> tuple[Any, _Version | None]:
        """Return a range and its version, by the tag of the answer: some services ignore or refuse conditions."""
        options: Any = None if byte_range is None else {"range": _range_option(byte_range)}
        try:
            response = await obstore.get_async(client, key, options=options)
        except Exception as error:
            if byte_range is None or _is_missing(error) or not _is_bad_range(error):
                raise
            return await self._get_version_by_size(client, key, byte_range, version)
        if byte_range is None:
            self._check_whole(key, response.meta["size"], response.range)
        found = self._check_version(key, response.meta, version)
        return await response.bytes_async(), found

    async def _get_version_by_size(
        self, client: Any, key: str, byte_range: ByteRequest, version: _Version | None
    ) -> tuple[Any, _Version | None]:
        """Return the same where a service refuses the range: it has none from the end, or the range holds no bytes."""
        meta = await obstore.head_async(client, key)
        found = self._check_version(key, meta, version)
        start, stop = bounds_of(byte_range, meta["size"])
        if start == stop:
            return b"", found
        response = await obstore.get_async(client, key, options={"range": (start, stop)})
        self._check_version(key, response.meta, found)
        if response.meta["size"] != meta["size"]:
            raise self._replaced(key)
        return await response.bytes_async(), found

    def _check_version(self, key: str, meta: Any, version: _Version | None) -> _Version | None:
        """Return the version of a value, None if it has none; raise ValueReplacedError unless it is the given one."""
        tag = meta.get("e_tag")
        if version is not None and tag != version.tag:
            raise self._replaced(key)
        strong = tag and not tag.startswith("W/") and self.supports_set_if_match
        return _Version(tag, self._number, meta.get("version")) if strong else None

    def _check_whole(self, key: str, size: int, found: tuple[int, int]) -> None:
        """Refuse a value that is larger than the memory of this machine, since obstore would end the process; or parts.

        Raises
        ------
        ArrayTooLargeError, StoreUnavailableError
        """
        if size > _LARGE and size > memory_of_machine():
            raise ArrayTooLargeError(f"the value of key {key!r} of {self!r} has {size} bytes: more than the memory")
        if found != (0, size):
            raise StoreUnavailableError(f"{key}: asked for all of {size} bytes, got {found}")

    async def exists(self, key: str) -> bool:
        """Return True if the key has a value."""
        keys.check_object_key(key)
        try:
            await self._once("exists", key, lambda client: obstore.head_async(client, key))
        except Exception as error:
            if _is_missing(error):
                return False
            raise
        return True

    async def getsize(self, key: str) -> int:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key."""
        keys.check_object_key(key)
        meta = await self._once("getsize", key, lambda client: obstore.head_async(client, key))
        return int(meta["size"])

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the number of bytes of all values under the prefix, by one listing."""
        folder = keys.dir_prefix(keys.check_object_prefix(prefix))
        return sum([int(meta["size"]) async for meta in self._objects(folder)])

    async def _objects(self, prefix: str) -> AsyncGenerator[Any, None]:
        with self._damage_named():
            async for batch in self._pages(prefix or None):
                for meta in batch:
                    if keys.is_key(meta["path"]) and not keys.is_lock(meta["path"]):
                        yield meta

    async def _pages(self, prefix: str | None) -> AsyncGenerator[Any, None]:
        """Yield the pages of a listing; after a fault continue after the last path: services list in order."""
        attempts = Attempts(self._retries, "list", prefix or "")
        client, last = self._client, None
        while True:
            try:
                async for batch in obstore.list(client, prefix=prefix, offset=last):
                    yield batch
                    last = batch[-1]["path"] if batch else last
                return
            except Exception as error:
                if not await attempts.go_on(error):
                    raise
                client = self.store

    @contextlib.contextmanager
    def _damage_named(self) -> Iterator[None]:
        """Raise an error that names a name in the store that cannot be a key."""
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
            found = await self._many(
                "list", start, lambda client: obstore.list_with_delimiter_async(client, prefix=start or None)
            )
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
        data = check_buffer(self, value).to_bytes()
        run = self._once if len(data) < _IN_ONE_REQUEST else self._many
        await run("set", key, lambda client: obstore.put_async(client, key, data))

    # In the class of ``set``, so that these do not count as methods that a subclass has replaced by ``set``.
    put_if_absent, set_if_version = RetryingStore.put_if_absent, RetryingStore.set_if_version

    async def _put_new(self, key: str, data: bytes) -> bool:
        await obstore.put_async(self._client, key, data)
        return True

    @property
    def supports_set_if_match(self) -> bool:
        """Return True if the service replaces an object on a condition; local folders and plain HTTP do not."""
        return type(self.store).__name__ not in {"LocalStore", "HTTPStore"}

    async def _put_compared(self, key: str, data: bytes, version: _Version | None) -> bool:
        keys.check_object_key(key)
        mode: Any = "create"
        if version is not None:
            if version.store != self._number:
                return False
            mode = {"e_tag": version.tag, **({"version": version.number} if version.number else {})}
        try:
            await obstore.put_async(self._client, key, data, mode=mode)
        except (exceptions.PreconditionError, exceptions.AlreadyExistsError):
            return False
        except FileNotFoundError:
            if version is None:  # there is no bucket
                raise
            return False
        return True

    async def _copy_value(self, src: str, dest: str) -> None:
        """Copy one value inside the service."""
        keys.check_object_key(dest)
        await self._once("copy", src, lambda client: obstore.copy_async(client, src, dest))

    async def delete(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        keys.check_object_key(key)
        with contextlib.suppress(FileNotFoundError):
            await self._once("delete", key, lambda client: obstore.delete_async(client, key))

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys under the prefix, many in one request if the service can do that."""
        self._check_writable()
        if not prefix.strip("/") and type(self.store).__name__ == "LocalStore":
            check_clearable(str(getattr(self.store, "prefix", None) or "/"))
        folder = keys.dir_prefix(keys.check_object_prefix(prefix))
        for paths in removed_first([meta["path"] async for meta in self._objects(folder)]):
            for first in range(0, len(paths), 1000):
                await self._many("delete", folder, partial(_remove, paths=paths[first : first + 1000]))


class _Version(NamedTuple):
    """The version of a value: its entity tag, and for a store in memory, which numbers its tags, the store."""

    tag: str
    store: int | None
    number: str | None  # which Google compares instead of the tag


def _range_option(byte_range: ByteRequest) -> Any:
    """Return a range as obstore takes it."""
    if isinstance(byte_range, SuffixByteRequest):
        return {"suffix": byte_range.suffix}
    if isinstance(byte_range, OffsetByteRequest):
        return {"offset": byte_range.offset}
    return (byte_range.start, byte_range.end)


async def _remove(client: Any, paths: list[str]) -> None:
    await obstore.delete_async(client, paths)


def _is_bad_range(error: Exception) -> bool:
    """Return True if a service refused the range, not the value: it has no such ranges, or the value is empty.

    The text of an error also names the key, ports and times, and an answer with another range is a fault: repeat that.
    """
    return type(error).__name__ == "NotSupportedError" or _BAD_RANGE.search(str(error)) is not None


def _is_missing(error: Exception) -> bool:
    """Return True if an error means that there is no such key; a path below a file of a local store counts, too."""
    missing = isinstance(error, (FileNotFoundError, IsADirectoryError, NotADirectoryError))
    return missing or "(os error 20)" in str(error)
