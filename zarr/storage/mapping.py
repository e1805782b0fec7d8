"""Let stores be used as mutable mappings of keys to bytes, as in zarr-python 2.

``MappingProtocol`` has the methods with names that no store has; ``StoreMapping`` adds those that both have, such as
``get``, which tell the two uses apart by their arguments.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, MutableMapping
from contextlib import suppress
from typing import Any, Final

from zarr._lazy import load
from zarr.abc.store import is_synchronous
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import FileInPlaceError, FolderInPlaceError, KeyNotAllowedError
from zarr.storage.keys import child_names, dir_prefix, normalize_path

_ABSENT: Final[Any] = object()
_NO_VALUE: Final = (KeyNotAllowedError, FolderInPlaceError, FileInPlaceError)


class Done:
    """The outcome of a finished call, for callers that await it and for those that do not."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield

    def __bool__(self) -> bool:
        return False


class Size(int):
    """A number of bytes that can be awaited, too.

    Examples
    --------
    >>> Size(3) + 1
    4
    """

    absent: str | None = None
    """The key without a value, if there is none: an await then raises KeyError."""

    def __await__(self) -> Generator[Any, None, int]:
        if self.absent is not None:
            raise FileNotFoundError(self.absent)
        return int(self)
        yield


def as_bytes(value: Any) -> bytes:
    """Return the bytes of a value.

    Raises
    ------
    TypeError
        If it has no bytes.

    Examples
    --------
    >>> as_bytes(bytearray(b"ab"))
    b'ab'
    """
    return value.to_bytes() if isinstance(value, Buffer) else memoryview(value).tobytes()


class MappingProtocol:
    """The methods of a mutable mapping whose names stores do not use otherwise, for a class with the methods of stores.

    Keys are strings, values are bytes; objects with a buffer can be stored.
    """

    dimension_separator: Any = None
    _has_folders = False
    """True if ``del store[key]`` removes all keys below a key without a value, as in stores of files."""

    def _called(self) -> Any:
        """Return the object whose methods the items call: this store."""
        return self

    def _plain(self, name: str, *args: Any, **options: Any) -> Any:
        """Return the outcome of a method of stores, by its plain form if there is one."""
        if is_synchronous(self):
            return getattr(self._called(), f"{name}_sync")(*args, **options)
        return self._wait(getattr(self._called(), name)(*args, **options))

    def _wait(self, work: Any) -> Any:
        """Return the outcome of a coroutine, or the items of an asynchronous iterator."""
        runner = load("zarr.runners.sync")
        return runner.collect_aiterator(work) if hasattr(work, "__anext__") else runner.sync(work)

    def _put(self, key: str, value: Buffer) -> None:
        self._plain("set", key, value)

    def __getitem__(self, key: str) -> bytes:
        try:
            value = self._plain("get", key, prototype=default_buffer_prototype())
        except _NO_VALUE as error:
            raise KeyError(key) from error
        if value is None:
            raise KeyError(key)
        found: bytes = value.to_bytes()
        return found

    def __setitem__(self, key: str, value: Any) -> None:
        data = default_buffer_prototype().buffer.from_bytes(as_bytes(value))
        key = key.lstrip("/")
        try:
            self._put(key, data)
        except FolderInPlaceError:  # a value replaces all values below its key
            self._plain("delete_dir", dir_prefix(key))
            self._put(key, data)
        except FileInPlaceError as error:
            raise KeyError(key) from error

    def __delitem__(self, key: str) -> None:
        below = self._called()
        if below.__contains__(key):
            self._plain("delete", key)
        elif self._has_folders and below.listdir(key):
            below.rmdir(key)
        else:
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        try:
            return isinstance(key, str) and bool(self._plain("exists", key))
        except _NO_VALUE:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __bool__(self) -> bool:
        return True

    def keys(self) -> list[str]:
        """Return all keys.

        Returns
        -------
        list of str
        """
        return list(self._plain("list"))

    def values(self) -> list[bytes]:
        """Return all values.

        Returns
        -------
        list of bytes
        """
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[str, bytes]]:
        """Return all keys with their values.

        Returns
        -------
        list of (str, bytes)
        """
        return list(self.getitems(self.keys()).items())

    def pop(self, key: str, default: Any = _ABSENT) -> Any:
        """Remove a key and return its value, or a default.

        Parameters
        ----------
        key : str
            The key.
        default : object
            The result if there is no such key. Without it that is an error.

        Returns
        -------
        bytes or object

        Raises
        ------
        KeyError
            If there is no such key, and no default.
        """
        try:
            value = self[key]
            del self[key]
        except KeyError:
            if default is _ABSENT:
                raise
            return default
        return value

    setdefault: Any = MutableMapping.setdefault
    popitem: Any = MutableMapping.popitem
    update: Any = MutableMapping.update

    def getitems(self, keys: Iterable[str], *, contexts: Any = None) -> dict[str, bytes]:
        """Return the values of those keys that exist.

        Parameters
        ----------
        keys : Iterable[str]
            The keys.
        contexts : object
            Has no effect; zarr-python 2 has it.

        Returns
        -------
        dict
            The values of the keys that have one.
        """
        found = {}
        for key in keys:
            with suppress(KeyError):  # a look before could be too early: another thread may remove it
                found[key] = self[key]
        return found

    def setitems(self, values: Any) -> None:
        """Store several values.

        Parameters
        ----------
        values : object
            Values by key.
        """
        self._check_writable()  # type: ignore[attr-defined]
        self.update(values)

    def delitems(self, keys: Iterable[str]) -> None:
        """Remove those keys that exist.

        Parameters
        ----------
        keys : Iterable[str]
            The keys.
        """
        for key in keys:
            self._plain("delete", key)

    def listdir(self, path: str = "") -> list[str]:
        """Return the names directly below a path, sorted.

        Parameters
        ----------
        path : str
            The path of a folder. Default: the root.

        Returns
        -------
        list of str
        """
        where = normalize_path(path)
        try:
            return sorted(child_names(list(self._plain("list_prefix", dir_prefix(where))), where))
        except _NO_VALUE:
            return []

    def rmdir(self, path: str = "") -> None:
        """Remove all that is below a path.

        Parameters
        ----------
        path : str
            The path. Default: the root.
        """
        self._check_writable()  # type: ignore[attr-defined]
        try:
            self._plain("delete_dir", dir_prefix(normalize_path(path)))
        except _NO_VALUE:
            return

    def is_readable(self) -> bool:
        """Return True: values can be read.

        Returns
        -------
        bool
        """
        return True

    def is_writeable(self) -> bool:
        """Return True if values can be stored.

        Returns
        -------
        bool
        """
        return not self.read_only  # type: ignore[attr-defined]

    def is_listable(self) -> bool:
        """Return True if keys can be listed.

        Returns
        -------
        bool
        """
        return bool(self.supports_listing)  # type: ignore[attr-defined]

    def is_erasable(self) -> bool:
        """Return True if keys can be removed.

        Returns
        -------
        bool
        """
        return self.is_writeable() and bool(self.supports_deletes)  # type: ignore[attr-defined]

    @property
    def _dimension_separator(self) -> Any:
        return self.dimension_separator

    @property
    def _metadata_class(self) -> Any:
        return load("zarr.meta").Metadata2

    def directly_below(self, path: str = "") -> int:
        """Return the bytes of a value, or of the values directly below a path.

        Parameters
        ----------
        path : str
            The path.

        Returns
        -------
        int
        """
        where, below = normalize_path(path), self._called()
        if where:
            with suppress(KeyError):
                return len(below.__getitem__(where))
        size, prefix = 0, dir_prefix(where)
        for name in below.listdir(where):
            with suppress(KeyError):
                size += len(below.__getitem__(prefix + name))
        return size


class StoreMapping(MappingProtocol):
    """A store that is a mutable mapping of keys to bytes, too; name it before the class of the store.

    If a method of stores and one of mappings share a name, the arguments decide which is called, or the result suits
    callers that await it and callers that do not.
    """

    passed_over = True
    """A mark for :mod:`zarr.abc.stores.abilities`: nothing here overrides how values are read and written."""

    def _later(self, key: str, *args: Any, **options: Any) -> Any:
        """Return the coroutine that reads a value."""
        return super().get(key, *args, **options)  # type: ignore[misc]

    def get(self, key: str, prototype: Any = None, byte_range: Any = None, *, default: Any = None) -> Any:
        """Return the bytes of a key, or a default; with the classes of buffers, return a coroutine.

        Parameters
        ----------
        key : str
        prototype : BufferPrototype or object
            With the classes of buffers, it is the call of a store, to be awaited. Any other value is the default.
        byte_range : ByteRequest, optional
        default
            The result if there is no such key.

        Returns
        -------
        bytes or object, or a coroutine
        """
        if isinstance(prototype, BufferPrototype) or byte_range is not None:
            return self._later(key, prototype or default_buffer_prototype(), byte_range)
        try:
            return self[key]
        except KeyError:
            return default if prototype is None else prototype

    def _is_awaited(self) -> bool:
        """Return True if the caller is a coroutine in the loop that answers: it must not wait for itself."""
        loop = load("asyncio")._get_running_loop()
        return loop is not None and loop is load("zarr.runners.sync").LOOP[0]

    def clear(self) -> Any:
        """Remove everything, at once; the result may be awaited."""
        if self._is_awaited():
            return super().clear()  # type: ignore[misc]
        self._check_writable()  # type: ignore[attr-defined]
        self.rmdir()
        return Done()

    def getsize(self, path: str = "") -> Any:
        """Return the bytes of a value, or of the values directly below a path; may be awaited.

        Parameters
        ----------
        path : str

        Returns
        -------
        int
        """
        if self._is_awaited():
            return super().getsize(path)  # type: ignore[misc]
        size = Size(self.directly_below(path))
        size.absent = None if path in self else path
        return size

    def rename(self, src_path: str, dst_path: str) -> Any:
        """Move all that is at and below a path, at once; the result may be awaited."""
        work = super().rename(src_path, dst_path)  # type: ignore[misc]
        if self._is_awaited():
            return work
        self._wait(work)
        return Done()

    def _plain(self, name: str, *args: Any, **options: Any) -> Any:
        if name == "get" and not is_synchronous(self):
            return self._wait(self._called()._later(*args, **options))
        return super()._plain(name, *args, **options)


MutableMapping.register(StoreMapping)
