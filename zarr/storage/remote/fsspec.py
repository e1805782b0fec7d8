"""The store over a file system of fsspec."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import sys
import weakref
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Final

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.errors import BaseZarrError, StoreUrlError, ZarrUserWarning
from zarr.notices import warn
from zarr.storage.base import NamedStore
from zarr.storage.checks import check_buffer, check_clearable, value_size
from zarr.storage.keys import check_key, is_key, is_partial, join, only_keys
from zarr.storage.local.files import write_file
from zarr.storage.ranges import check_byte_range
from zarr.storage.url import MISTAKES, filesystem_of, naming_url

if TYPE_CHECKING:
    from fsspec.asyn import AsyncFileSystem
    from fsspec.mapping import FSMap


CONNECTIONS: Final = 256
"""At least as many as requests may be under way by default (``async.concurrency``), in two loops at once."""


def allow_connections(fs: Any) -> None:
    """Let a file system that is not connected yet open as many connections as requests are under way.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        Those of web servers and of S3 are changed, all others are as wide as needed.
    """
    kind = type(fs).__name__
    if kind == "HTTPFileSystem" and getattr(fs, "_session", None) is None:
        if not fs.client_kwargs and getattr(fs.get_client, "__module__", "") == "fsspec.implementations.http":
            fs.get_client = wide_client
    elif kind == "S3FileSystem" and getattr(fs, "_s3", None) is None and isinstance(fs.config_kwargs, dict):
        fs.config_kwargs = {"max_pool_connections": CONNECTIONS, **fs.config_kwargs}


async def wide_client(**options: Any) -> Any:
    """Return a session of aiohttp, as fsspec makes it, with more connections."""
    import aiohttp

    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS), **options)


ALLOWED_EXCEPTIONS: Final[tuple[type[Exception], ...]] = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


def make_async(fs: Any) -> AsyncFileSystem:
    """Return the asynchronous form of a file system, with connections of its own.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem

    Returns
    -------
    fsspec.asyn.AsyncFileSystem
        The file system itself if it is asynchronous already; a new one of the same options if it can be; else one
        that runs the plain calls in threads.
    """
    if not fs.async_impl:
        from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

        return AsyncFileSystemWrapper(fs, asynchronous=True)
    return fs if fs.asynchronous else _clone(fs)


def _is_local(fs: Any) -> bool:
    """Return True if a file system is that of this machine, and no subclass that sees to what is written."""
    local = sys.modules.get("fsspec.implementations.local")
    return local is not None and type(getattr(fs, "sync_fs", None)) is local.LocalFileSystem


def _has_files(fs: Any) -> bool:
    """Tell whether a file system has the files of this machine, by whatever class."""
    protocols = getattr(fs, "protocol", ())
    return "file" in ((protocols,) if isinstance(protocols, str) else protocols)


def _absolute(fs: Any, path: str) -> str:
    """Return a path that means the same after the working directory has changed, where there is one."""
    return path if path[:1] in ("/", "~") or not _has_files(fs) else os.path.join(os.getcwd(), path)


def _clone(fs: Any) -> Any:
    """Return a new file system of the same class and options, for another event loop."""
    options = dict(fs.storage_options)
    options.pop("loop", None)
    options.update(asynchronous=True, skip_instance_cache=True)
    return type(fs)(*fs.storage_args, **options)


def _same(one: Any, other: Any) -> bool:
    """Return True if two file systems are one; copies for other loops, or from pickles, are known by their options."""
    if one == other:
        return True
    names = ("storage_args", "storage_options")
    return type(one) is type(other) and all(getattr(one, name, one) == getattr(other, name, other) for name in names)


class FsspecStore(NamedStore):
    """Keys as files of a file system of fsspec: object stores, web servers, archives and much else.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        A file system that is not asynchronous is made so. Connections belong to an event loop: where the store is
        used in a second loop, it makes itself a second file system of the same options.
    read_only : bool
    path : str
        The root of the store, in the form in which the file system has it.
    allowed_exceptions : tuple of exception classes
        What the file system raises where a key has no value.

    Raises
    ------
    ValueError
        If ``path`` is a URL of a file system that takes none.

    Examples
    --------
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
        self._forget_loops()
        if "://" in path and not path.startswith("http"):
            scheme, _ = path.split("://", maxsplit=1)
            raise ValueError(f"path argument to FsspecStore must not include scheme ({scheme}://)")

    def _forget_loops(self) -> None:
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    def _filesystem(self) -> Any:
        """Return the file system whose connections belong to the running loop."""
        loop = asyncio.get_running_loop()
        fs = self._by_loop.get(loop)
        if fs is None:
            # Whose it is stands on the file system itself, since fsspec hands the same one to several stores. One that
            # runs plain calls in threads serves all loops.
            owner = self.fs.__dict__.setdefault("_zarr_loop", weakref.ref(loop))
            mine = owner() is loop or type(self.fs).__name__ == "AsyncFileSystemWrapper"
            fs = self.fs if mine else _clone(self.fs)
            allow_connections(fs)
            self._by_loop[loop] = fs
        return fs

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_by_loop"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_root" not in state:
            self._root = _absolute(self.fs, self.path)
        self._forget_loops()

    @classmethod
    def from_upath(
        cls, upath: Any, read_only: bool = False, allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS
    ) -> FsspecStore:
        """Make a store of a path of universal_pathlib."""
        fs = make_async(upath.fs)
        return cls(fs=fs, path=upath.path.rstrip("/"), read_only=read_only, allowed_exceptions=allowed_exceptions)

    @classmethod
    def from_mapper(
        cls,
        fs_map: FSMap,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS,
    ) -> FsspecStore:
        """Make a store of what ``fsspec.get_mapper`` returns."""
        fs = make_async(fs_map.fs)
        return cls(fs=fs, path=fs_map.root, read_only=read_only, allowed_exceptions=allowed_exceptions)

    @classmethod
    def from_url(
        cls,
        url: str,
        storage_options: dict[str, Any] | None = None,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = ALLOWED_EXCEPTIONS,
    ) -> FsspecStore:
        """Make a store of a URL.

        Parameters
        ----------
        url : str
        storage_options : dict, optional
            For the file system.
        read_only : bool
        allowed_exceptions : tuple of exception classes

        Raises
        ------
        ModuleNotFoundError
            If fsspec, or what the file system needs, is not installed.
        StoreUrlError
            If the URL is malformed, of a scheme that is not known, or lacks what its file system needs.
        """
        with naming_url(url):
            fs, path = filesystem_of(url, {"asynchronous": True, **(storage_options or {})})
            if "://" in path and not path.startswith("http"):
                path = fs._strip_protocol(path)
            return cls(fs=fs, path=path, read_only=read_only, allowed_exceptions=allowed_exceptions)

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
        return f"fsspec:{type(self.fs).__name__}:{self._root.rstrip('/')}"

    def _path(self, key: str) -> str:
        check_key(key)
        # A root of "/" stands for no root at all: file systems of bare keys (references) know no leading slash.
        root = self._root.rstrip("/")
        return f"{root}/{key}" if root else key

    def _dir(self, prefix: str) -> str:
        prefix = prefix.rstrip("/")
        return self._path(prefix) if prefix else self._root

    def _refused(self, key: str, error: Exception) -> Exception:
        """Return the error where a file system can make nothing of what it is asked for."""
        if isinstance(error, BaseZarrError):
            return error
        return StoreUrlError(f"{self!r} cannot read {key!r}: {type(error).__name__}: {error}")

    # Reading

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        start, end = _span(byte_range)
        if not self._is_open:
            await self._ensure_open()
        if byte_range is not None and start == end:
            return prototype.buffer.from_bytes(b"") if await self.exists(key) else None
        fs, path = self._filesystem(), self._path(key)
        try:
            if _is_local(fs):  # which would wait for a pipe, and read a device for ever
                value_size(fs._strip_protocol(path))
            data = await fs._cat_file(path, start=start, end=end)
        except self.allowed_exceptions:
            return None
        except OSError as error:
            # Servers answer so if a range begins behind the end.
            if "not satisfiable" in str(error).lower():
                return prototype.buffer.from_bytes(b"")
            raise
        except MISTAKES as error:
            raise self._refused(key, error) from error
        return prototype.buffer.from_bytes(data)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Return ranges of keys, in the order asked for; None for each key that is not there."""
        return list(await asyncio.gather(*[self.get(key, prototype, part) for key, part in key_ranges]))

    async def exists(self, key: str) -> bool:
        """Return whether the key has a value."""
        return bool(await self._filesystem()._exists(self._path(key)))

    async def getsize(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        size = await self._filesystem()._size(self._path(key))
        if size is None:
            raise NotImplementedError(f"{type(self.fs).__name__} does not tell the size of {key!r}")
        return int(size)

    async def list(self) -> AsyncIterator[str]:
        """Return all keys."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Return all keys under the prefix, which names a folder."""
        prefix = prefix.rstrip("/")
        folder = self._dir(prefix)
        try:
            found = await self._filesystem()._find(folder, detail=False, maxdepth=None, withdirs=False)
        except self.allowed_exceptions:
            return
        except MISTAKES as error:
            raise self._refused(prefix, error) from error
        for key in only_keys([join(prefix, _below(folder, path)) for path in found]):
            if not is_partial(key.rpartition("/")[2]):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Return the names directly under the prefix, in order."""
        folder = self._dir(prefix)
        try:
            found = await self._filesystem()._ls(folder, detail=False)
        except self.allowed_exceptions:
            return
        except MISTAKES as error:
            raise self._refused(prefix, error) from error
        for name in sorted({_below(folder, path).removeprefix("./") for path in found}):
            # Listings of web servers hold links to other places, too: only those to children are keys.
            known = "/" not in name and is_key(join(prefix.rstrip("/"), name)) and name[:1] not in {"", "#", "?"}
            if known and not is_partial(name):
                yield name

    # Writing

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store ``value`` under the key."""
        self._check_writable()
        check_buffer(self, value)
        if byte_range:
            raise NotImplementedError("a part of a value cannot be replaced in a store of fsspec")
        await self._put(self._filesystem(), self._path(key), value.to_bytes())

    async def _put(self, fs: Any, path: str, data: bytes, **options: Any) -> None:
        if _is_local(fs):  # which would write in place, so that readers see half of it
            place, exclusive = fs._strip_protocol(path), options.get("mode") == "create"
            if not await asyncio.to_thread(write_file, place, memoryview(data), exclusive=exclusive):
                raise FileExistsError(errno.EEXIST, "the key has a value", place)
            return
        try:
            await fs._pipe_file(path, data, **options)
        except FileNotFoundError:
            # A file system with real directories, which are not made along the way.
            await fs._makedirs(path.rpartition("/")[0], exist_ok=True)
            await fs._pipe_file(path, data, **options)

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; True where this call stored it.

        In one step where the file system can do that; where it cannot, another process may come between.
        """
        self._check_writable()
        fs, path = self._filesystem(), self._path(key)
        if await fs._exists(path):
            return False
        try:
            await self._put(fs, path, value.to_bytes(), mode="create")
        except FileExistsError:
            return False
        except (TypeError, NotImplementedError):
            await self._put(fs, path, value.to_bytes())
        return True

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        await self.put_if_absent(key, value)

    async def _copy_value(self, src: str, dest: str) -> None:
        """Copy one value where it lies, if the file system can do that."""
        fs = self._filesystem()
        try:
            await fs._makedirs(self._path(dest).rpartition("/")[0], exist_ok=True)
            await fs._cp_file(self._path(src), self._path(dest))
        except (NotImplementedError, AttributeError):
            await super()._copy_value(src, dest)

    async def delete(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        with contextlib.suppress(*self.allowed_exceptions):
            await self._filesystem()._rm(self._path(key))

    def _check_clearable(self, prefix: str) -> None:
        """See that what is removed is not all of this machine's files; see ``checks.check_clearable``."""
        if not prefix.strip("/") and _has_files(self.fs):
            check_clearable(self._root or "/")

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        if not self.supports_deletes:
            raise NotImplementedError("This method is only available for stores that support deletes.")
        self._check_clearable(prefix)
        with contextlib.suppress(*self.allowed_exceptions):
            await self._filesystem()._rm(self._dir(prefix), recursive=True)

    async def clear(self) -> None:
        """Remove all keys."""
        self._check_writable()
        fs = self._filesystem()
        self._check_clearable("")
        with contextlib.suppress(*self.allowed_exceptions):
            for path in await fs._find(self._root, withdirs=True):
                with contextlib.suppress(*self.allowed_exceptions):
                    await fs._rm(path, recursive=True)


def _span(byte_range: ByteRequest | None) -> tuple[int | None, int | None]:
    """Return a byte request in the terms of fsspec."""
    if byte_range is None:
        return None, None
    check_byte_range(byte_range)
    if isinstance(byte_range, RangeByteRequest):
        return byte_range.start, byte_range.end
    if isinstance(byte_range, OffsetByteRequest):
        return byte_range.offset, None
    return (-byte_range.suffix, None) if byte_range.suffix else (0, 0)


def _below(folder: str, path: str) -> str:
    """Return the part of a path below a folder, or nothing; both as the file system writes them."""
    folder, path = folder.strip("/"), path.strip("/")
    if not folder:
        return path
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else ""
