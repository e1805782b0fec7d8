"""Store keys over a file system of fsspec: ``FsspecStore``.

``retries.py`` repeats failed requests, and ``clients.py`` checks the answers of a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import sys
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zarr._process import forget_closed
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest
from zarr.abc.stores.async_store import gather_windowed
from zarr.abc.stores.changes import removed_first
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.errors import BaseZarrError, StoreUrlError, ValueReplacedError, ZarrUserWarning
from zarr.notices import warn
from zarr.storage.checks import check_buffer, check_clearable, value_size
from zarr.storage.keys import LOCKS_FOLDER, check_key, is_key, is_lock, is_partial, join, only_keys
from zarr.storage.local.files import write_file
from zarr.storage.local.names import true_path
from zarr.storage.ranges import check_byte_range
from zarr.storage.remote import clients, conditions
from zarr.storage.remote.clients import allow_connections, clone, has_own_retries, make_async, without_retries
from zarr.storage.remote.retries import Retries, RetryingStore, refuses_conditions, status_of
from zarr.storage.url import MISTAKES, filesystem_of, naming_url

if TYPE_CHECKING:
    from fsspec.asyn import AsyncFileSystem
    from fsspec.mapping import FSMap


T = TypeVar("T")

_IN_ONE_REQUEST: Final = 100 << 20
"""A value of fewer bytes is stored by one request."""
_SECONDS_OF_SIZES: Final = 5.0
"""For so long the sizes that came with a listing are taken; a request for each of many keys would be slow."""
_PROCESS: Final = os.urandom(8)
"""A number of this process and of those that it forks, which begin with a copy of its memory."""
ALLOWED_EXCEPTIONS: Final[tuple[type[Exception], ...]] = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


def _is_local(fs: Any) -> bool:
    """Return True if a file system is that of this machine, and not a subclass that handles writes itself."""
    local = sys.modules.get("fsspec.implementations.local")
    return local is not None and type(getattr(fs, "sync_fs", None)) is local.LocalFileSystem


def _has_protocol(fs: Any, name: str) -> bool:
    """Return True if a file system of any class has a protocol: ``"file"`` is that of the files of this machine."""
    protocols = getattr(fs, "protocol", ())
    return name in ((protocols,) if isinstance(protocols, str) else protocols)


def _absolute(fs: Any, path: str) -> str:
    """Return a path that is valid in any working directory, if it is a local one."""
    return path if path[:1] in ("/", "~") or not _has_protocol(fs, "file") else os.path.join(os.getcwd(), path)


def _same(one: Any, other: Any) -> bool:
    """Return True if two file systems are the same; copies for other loops, or from pickles, have the same options."""
    if one == other:
        return True
    names = ("storage_args", "storage_options")
    return type(one) is type(other) and all(getattr(one, name, one) == getattr(other, name, other) for name in names)


class FsspecStore(RetryingStore):
    """Keys as files of a file system of fsspec: object stores, web servers, archives and many others.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        A file system that is not asynchronous is wrapped. Connections belong to an event loop: in a second loop, the
        store makes a second file system with the same options.
    read_only : bool
        If True, the store refuses every change. Default: False.
    path : str
        The root of the store, in the notation of the file system.
    allowed_exceptions : tuple of exception classes
        Errors of the file system that mean that a key has no value.
    network : mapping, optional
        Settings ``network.*`` of this store alone, by their last names: ``{"tries": 3}``. Default: those of
        ``zarr.config`` when the store is made.

    Attributes
    ----------
    retries : int
        The number of repeated requests.

    Raises
    ------
    ValueError
        If ``path`` is a URL and the file system accepts none.

    Examples
    --------
    >>> from zarr.storage import FsspecStore
    >>> FsspecStore.from_url("memory://examples/a").supports_listing
    True
    """

    fs: AsyncFileSystem
    path: str
    allowed_exceptions: tuple[type[Exception], ...]

    def __init__(
        self,
        fs: AsyncFileSystem,
        read_only: bool = False,
        path: str = "/",
        allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS,
        network: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(read_only=read_only)
        if fs.async_impl and not fs.asynchronous:
            warn(
                f"fs ({fs}) was not created with `asynchronous=True`; another one of its options serves the store",
                ZarrUserWarning,
            )
        self.fs = make_async(fs)
        self.path = path
        self._root = _absolute(self.fs, path)
        self.allowed_exceptions = allowed_exceptions
        self._kind = clients.kind_of(self.fs)
        repeats = self._kind in clients.REPEATED and not has_own_retries(self.fs)
        self._retries = Retries(network if repeats else {"tries": 1})
        self._process = _PROCESS
        self._listed = -_SECONDS_OF_SIZES
        self._forget_loops()
        if "://" in path and not path.startswith("http"):
            scheme, _ = path.split("://", maxsplit=1)
            raise ValueError(f"path argument to FsspecStore must not include scheme ({scheme}://)")

    def _forget_loops(self) -> None:
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    def _filesystem(self) -> Any:
        """Return the file system whose connections belong to the running loop."""
        if self._process != _PROCESS:
            raise RuntimeError(
                f"{self!r} came from another process, and its values are in the memory of that one: take a folder "
                "(LocalStore), or read in threads"
            )
        loop = asyncio.get_running_loop()
        fs = self._by_loop.get(loop)
        if fs is None:
            forget_closed(self._by_loop)
            # Its loop is stored on the file system itself, since fsspec gives the same one to several stores. One that
            # runs plain calls in threads serves all loops.
            owner = self.fs.__dict__.setdefault("_zarr_loop", weakref.ref(loop))
            mine = owner() is loop or type(self.fs).__name__ == "AsyncFileSystemWrapper"
            fs = self.fs if mine else clone(self.fs)
            if self._kind == "s3" and self._retries.tries > 1:
                fs = without_retries(fs, self._retries.request_seconds)
            allow_connections(fs, self._retries.request_seconds)
            self._by_loop[loop] = fs
        return fs

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_by_loop"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._listed = -_SECONDS_OF_SIZES
        if "_process" not in state or not _has_protocol(self.fs, "memory"):
            self._process = _PROCESS
        if "_root" not in state:
            self._root = _absolute(self.fs, self.path)
        if "_retries" not in state:
            self._kind, self._retries = clients.kind_of(self.fs), Retries()
        self._forget_loops()

    def _current(self, fs: Any) -> Any:
        """Return a file system that has forgotten its listings: other processes may have changed what they tell.

        Who asks for a cache of listings by an option of the file system keeps it.
        """
        if {"use_listings_cache", "listings_expiry_time"}.isdisjoint(self.fs.storage_options):
            fs.invalidate_cache()
            plain = getattr(fs, "sync_fs", None)  # that of a wrapper, whose own method does nothing
            if plain is not None:
                plain.invalidate_cache()
        return fs

    def _once(self, what: str, path: str, call: Callable[[Any], Awaitable[T]]) -> Awaitable[T]:
        """Await a call that makes one request, which may be repeated; the call receives the file system."""
        if self._kind not in clients.REPEATED:
            return call(self._filesystem())
        return self._retries.run(what, path, lambda _: call(self._filesystem()))

    def _many(self, what: str, path: str, call: Callable[[Any], Awaitable[T]]) -> Awaitable[T]:
        """Await a call that may make many requests, all of which are repeated after a fault.

        Few of them would succeed together; so a file system that repeats each request by itself is used.
        """
        if self._kind != "s3":
            return self._once(what, path, call)
        return self._retries.run(what, path, lambda repeat: call(self._retrying() if repeat else self._filesystem()))

    def _retrying(self) -> Any:
        """Return the file system as it was given, with its own retries, for the running loop."""
        owner = self.fs.__dict__.get("_zarr_loop")
        return self.fs if owner is None or owner() is asyncio.get_running_loop() else clone(self.fs)

    @classmethod
    def from_upath(
        cls, upath: Any, read_only: bool = False, allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS
    ) -> FsspecStore:
        """Make a store from a path of universal_pathlib.

        Parameters
        ----------
        upath : object
            A path of universal-pathlib.
        read_only : bool
            If True, the store refuses every change. Default: False.
        allowed_exceptions : tuple[type[Exception], ...]
            Errors of the file system that mean that a key has no value.
        """
        fs = make_async(upath.fs)
        return cls(fs=fs, path=upath.path.rstrip("/"), read_only=read_only, allowed_exceptions=allowed_exceptions)

    @classmethod
    def from_mapper(
        cls,
        fs_map: FSMap,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS,
    ) -> FsspecStore:
        """Make a store from the result of ``fsspec.get_mapper``.

        Parameters
        ----------
        fs_map : FSMap
            A mapping of fsspec.
        read_only : bool
            If True, the store refuses every change. Default: False.
        allowed_exceptions : tuple[type[Exception], ...]
            Errors of the file system that mean that a key has no value.
        """
        fs = make_async(fs_map.fs)
        return cls(fs=fs, path=fs_map.root, read_only=read_only, allowed_exceptions=allowed_exceptions)

    @classmethod
    def from_url(
        cls,
        url: str,
        storage_options: dict[str, Any] | None = None,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS,
        network: Mapping[str, float] | None = None,
    ) -> FsspecStore:
        """Make a store from a URL.

        Parameters
        ----------
        url : str
            The URL.
        storage_options : dict, optional
            Options of the file system.
        read_only : bool
            If True, the store refuses every change. Default: False.
        allowed_exceptions : tuple of exception classes
            Errors of the file system that mean that a key has no value.
        network : mapping, optional
            Settings ``network.*`` of this store alone, by their last names. Default: those of ``zarr.config``.

        Raises
        ------
        ModuleNotFoundError
            If fsspec, or a package that the file system needs, is not installed.
        StoreUrlError
            If the URL is malformed, of an unknown scheme, or lacks something that its file system needs.
        """
        with naming_url(url):
            fs, path = filesystem_of(url, {"asynchronous": True, **(storage_options or {})})
            if "://" in path and not path.startswith("http"):
                path = fs._strip_protocol(path)
            more: dict[str, Any] = {} if network is None else {"network": network}
            return cls(fs=fs, path=path, read_only=read_only, allowed_exceptions=allowed_exceptions, **more)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({type(self.fs).__name__}, {self.path})>"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self.path, self._root, self.read_only)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FsspecStore) and super().__eq__(other) and _same(self.fs, other.fs)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        if _has_protocol(self.fs, "file"):  # as that of a LocalStore
            return f"file:{true_path(self._root).rstrip('/')}"
        return f"fsspec:{type(self.fs).__name__}:{self._root.rstrip('/')}"

    @property
    def locks_folders(self) -> bool:
        """True if the keys are files of this machine: then processes keep out each other as in a ``LocalStore``."""
        return _has_protocol(self.fs, "file")

    def _path(self, key: str) -> str:
        check_key(key)
        # A root of "/" means no root: file systems of bare keys (references) have no leading slash.
        root = self._root.rstrip("/")
        return f"{root}/{key}" if root else key

    def _dir(self, prefix: str) -> str:
        prefix = prefix.rstrip("/")
        return self._path(prefix) if prefix else self._root

    def _refused(self, key: str, error: Exception) -> Exception:
        """Return the error if a file system cannot interpret a request."""
        if isinstance(error, BaseZarrError):
            return error
        return StoreUrlError(f"{self!r} cannot read {key!r}: {type(error).__name__}: {error}")

    # Reading

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key."""
        found = await self.get_versioned(key, prototype, byte_range)
        return None if found is None else found[0]

    async def get_versioned(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None, version: str | None = None
    ) -> tuple[Buffer, str | None] | None:
        """Return a value or a range of it, and its version, if the file system has versions; see the base class."""
        span = _span(byte_range)
        if not self._is_open:
            await self._ensure_open()
        if byte_range is not None and span[0] == span[1]:
            return (prototype.buffer.from_bytes(b""), None) if await self.exists(key) else None
        path = self._path(key)
        try:
            data, tag = await self._once("get", path, partial(self._fetch, path=path, span=span))
        except self.allowed_exceptions:
            return None
        except OSError as error:
            # Servers answer so if a range begins after the end.
            if "not satisfiable" in str(error).lower():
                return prototype.buffer.from_bytes(b""), None
            raise
        except MISTAKES as error:
            raise self._refused(key, error) from error
        if version is not None and tag != version:
            raise ValueReplacedError(f"{key}: the value in {self!r} was replaced while it was read")
        return prototype.buffer.from_bytes(data), tag

    async def _fetch(self, fs: Any, path: str, span: clients.Span) -> tuple[bytes, str | None]:
        get = conditions.GETS.get(self._kind)
        if get is not None:
            return await get(fs, path, span)
        if self._kind == "http":
            return await clients.get_from_web(fs, path, span, self._retries.request_seconds), None
        if _is_local(fs):  # which would wait for a pipe, and read a device for ever
            value_size(fs._strip_protocol(path))
        return await clients.get_from_others(fs, path, span), None

    async def exists(self, key: str) -> bool:
        """Return True if the key has a value."""
        return await self._once("exists", self._path(key), partial(self._is_there, path=self._path(key)))

    async def _is_there(self, fs: Any, path: str) -> bool:
        if self._kind == "http":
            return await clients.is_on_web(fs, path, self._retries.request_seconds)
        return bool(await self._current(fs)._exists(path))

    async def getsize(self, key: str) -> int:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key."""
        path = self._path(key)
        listed = time.monotonic() - self._listed < _SECONDS_OF_SIZES
        info = await self._once("getsize", path, lambda fs: (fs if listed else self._current(fs))._info(path))
        if info.get("type") == "directory":
            raise FileNotFoundError(errno.ENOENT, "a folder is at this key, and no value", path)
        size = info.get("size")
        if size is None:
            raise NotImplementedError(f"{type(self.fs).__name__} does not report the size of {key!r}")
        return int(size)

    async def list(self) -> AsyncIterator[str]:
        """Return all keys."""
        async for key in self.list_prefix(""):
            yield key

    async def _paths(self, prefix: str, call: Callable[[Any], Awaitable[Iterable[str]]]) -> Iterable[str]:
        """Return the paths that a listing of a folder finds; none if there is no such folder."""
        try:
            found = await self._many("list", self._dir(prefix), call)
        except self.allowed_exceptions:
            return ()
        except MISTAKES as error:
            raise self._refused(prefix, error) from error
        self._listed = time.monotonic()
        return found

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Return all keys under the prefix, which names a folder."""
        prefix = prefix.rstrip("/")
        folder = self._dir(prefix)
        options = {"on_error": _not_omitted} if self._kind == "http" else {}
        find = {"detail": False, "maxdepth": None, "withdirs": False, **options}
        found = await self._paths(prefix, lambda fs: self._current(fs)._find(folder, **find))
        for key in only_keys([join(prefix, _below(folder, path)) for path in found]):
            if not is_partial(key.rpartition("/")[2]) and not is_lock(key):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Return the names directly under the prefix, in order."""
        folder = self._dir(prefix)
        found = await self._paths(prefix, lambda fs: self._current(fs)._ls(folder, detail=False))
        for name in sorted({_below(folder, path).removeprefix("./") for path in found}):
            # Listings of web servers have links to other places, too: only links to children are keys.
            known = "/" not in name and is_key(join(prefix.rstrip("/"), name)) and name[:1] not in {"", "#", "?"}
            if known and not is_partial(name) and name != LOCKS_FOLDER:
                yield name

    # Writing

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store ``value`` under the key."""
        self._check_writable()
        check_buffer(self, value)
        if byte_range:
            raise NotImplementedError("a part of a value cannot be replaced in a store of fsspec")
        path, data = self._path(key), value.to_bytes()
        run = self._once if len(data) < _IN_ONE_REQUEST else self._many
        await run("set", path, lambda fs: self._put(fs, path, data))

    async def _put(self, fs: Any, path: str, data: bytes, **options: Any) -> None:
        if _is_local(fs):  # which would write in place, so that readers see half of a value
            place, exclusive = fs._strip_protocol(path), options.get("mode") == "create"
            if not await asyncio.to_thread(write_file, place, memoryview(data), exclusive=exclusive):
                raise FileExistsError(errno.EEXIST, "the key has a value", place)
            return
        try:
            await fs._pipe_file(path, data, **options)
        except FileNotFoundError:
            # A file system with real directories, which are not created automatically.
            await fs._makedirs(path.rpartition("/")[0], exist_ok=True)
            await fs._pipe_file(path, data, **options)

    # In the class of ``set``, so that these do not count as methods that a subclass has replaced by ``set``.
    put_if_absent, set_if_version = RetryingStore.put_if_absent, RetryingStore.set_if_version

    async def _put_new(self, key: str, data: bytes) -> bool:
        fs, path = self._filesystem(), self._path(key)
        if not self.supports_set_if_match:
            try:
                await self._put(fs, path, data, mode="create")
                return True
            except FileExistsError:
                return False
            except (TypeError, NotImplementedError, OSError) as error:
                if status_of(error) in (409, 412):
                    return False
                if isinstance(error, OSError) and not refuses_conditions(error):
                    raise
        await self._put(fs, path, data)
        return True

    @property
    def supports_set_if_match(self) -> bool:
        """Return True if the file system replaces a value on a condition: those of S3, Google and Azure do."""
        return self._kind in conditions.PUTS

    async def _put_compared(self, key: str, data: bytes, version: str | None) -> bool:
        put = conditions.PUTS.get(self._kind)
        if put is None:
            raise NotImplementedError(f"{self!r} has no conditional requests")
        try:
            await put(self._filesystem(), self._path(key), data, version)
        except FileExistsError:
            return False
        except FileNotFoundError:
            if version is None:  # there is no bucket
                raise
            return False
        except OSError as error:
            if status_of(error) in (409, 412):
                return False
            raise
        return True

    async def _copy_value(self, src: str, dest: str) -> None:
        """Copy one value inside the file system, if it can do that."""
        source, target = self._path(src), self._path(dest)

        async def copy(fs: Any) -> None:
            await fs._makedirs(target.rpartition("/")[0], exist_ok=True)
            await fs._cp_file(source, target)

        try:
            await self._many("copy", source, copy)
        except (NotImplementedError, AttributeError):
            await super()._copy_value(src, dest)

    async def delete(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        path = self._path(key)
        with contextlib.suppress(*self.allowed_exceptions):
            if self._kind in conditions.PUTS:  # other removals look for a folder first
                await self._once("delete", path, lambda fs: fs._rm_file(path))
            else:
                await self._once("delete", path, lambda fs: fs._rm(path))

    def _check_clearable(self, prefix: str) -> None:
        """Check that a removal does not delete all files of this machine; see ``checks.check_clearable``."""
        if not prefix.strip("/") and _has_protocol(self.fs, "file"):
            check_clearable(self._root or "/")

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        if not self.supports_deletes:
            raise NotImplementedError("This method is only available for stores that support deletes.")
        self._check_clearable(prefix)
        folder = self._dir(prefix)
        if self._kind == "s3":
            await self._delete_objects(folder)
            return
        if self.supports_listing:
            documents, _ = removed_first([key async for key in self.list_prefix(prefix)])
            await gather_windowed(self.delete, [(key,) for key in documents])
        with contextlib.suppress(*self.allowed_exceptions):
            await self._many("delete", folder, lambda fs: fs._rm(folder, recursive=True))

    async def _delete_objects(self, folder: str) -> None:
        """Remove all objects below a folder as one listing finds them, many in one request."""
        with contextlib.suppress(*self.allowed_exceptions):
            found = await self._many("list", folder, lambda fs: fs._find(folder))
            for paths in removed_first(path for path in found if _below(folder, path)):
                some = [paths[first : first + 1000] for first in range(0, len(paths), 1000)]
                await gather_windowed(partial(self._delete_together, folder), [(each,) for each in some])

    async def _delete_together(self, folder: str, paths: Sequence[str]) -> None:
        await self._many("delete", folder, lambda fs: fs._bulk_delete(paths))

    async def clear(self) -> None:
        """Remove all keys."""
        self._check_writable()
        self._check_clearable("")
        if self._kind == "s3":
            await self._delete_objects(self._root)
            return
        with contextlib.suppress(*self.allowed_exceptions):
            found = await self._many("list", self._root, lambda fs: self._current(fs)._find(self._root))
            for paths in removed_first(found):
                await gather_windowed(self._remove, [(path,) for path in paths])
        with contextlib.suppress(*self.allowed_exceptions):  # what is left: folders
            for path in await self._many("list", self._root, lambda fs: fs._find(self._root, withdirs=True)):
                await self._remove(path)

    async def _remove(self, path: str) -> None:
        with contextlib.suppress(*self.allowed_exceptions):
            await self._many("delete", path, lambda fs: fs._rm(path, recursive=True))


def _not_omitted(error: Exception) -> None:
    """End a listing with an error if a folder cannot be read, which fsspec would leave out."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _span(byte_range: ByteRequest | None) -> tuple[int | None, int | None]:
    """Return a byte request as fsspec writes it."""
    if byte_range is None:
        return None, None
    check_byte_range(byte_range)
    if isinstance(byte_range, RangeByteRequest):
        return byte_range.start, byte_range.end
    if isinstance(byte_range, OffsetByteRequest):
        return byte_range.offset, None
    return (-byte_range.suffix, None) if byte_range.suffix else (0, 0)


def _below(folder: str, path: str) -> str:
    """Return the part of a path below a folder, or None; both in the notation of the file system."""
    folder, path = folder.strip("/"), path.strip("/")
    if not folder:
        return path
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else ""
