"""The base of the stores in one file of a database."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zarr.abc.store import BulkAccess
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.base import BlockingStore
from zarr.storage.checks import check_buffer
from zarr.storage.keys import check_prefix
from zarr.storage.wrappers.overlay import TransactionStore

if TYPE_CHECKING:
    from zarr.buffer.core import BufferPrototype


class DatabaseStore(BlockingStore):
    """A store that is named by the path of its database.

    A subclass binds ``get_many_sync``, ``set_many_sync`` and ``bulk_access`` in its own body, beside the methods for
    single values: a class that overrides only those must not be passed by.
    """

    scheme: ClassVar[str]
    supports_set_if_match: bool = True

    path: Path
    _place: Path
    _options: dict[str, Any]

    def __init__(self, path: Path | str, read_only: bool, options: dict[str, Any]) -> None:
        BlockingStore.__init__(self, read_only=read_only)
        if not isinstance(path, str | Path):
            raise TypeError(f"'path' must be a string or Path instance. Got an instance of {type(path)} instead.")
        self.path = Path(path)
        self._place = self.path.absolute()
        self._options = options

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store over the same database that may, or may not, be written to."""
        other = type(self)(self._place, read_only=read_only, **self._options)
        other.path = self.path
        return other

    def _exists(self) -> bool:
        return self._place.exists()

    async def _open(self) -> None:
        if self.read_only and not self._exists():
            raise FileNotFoundError(f"{self.path} does not exist")
        await super()._open()

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path.as_posix()}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._place, self.read_only)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return f"{self.scheme}:{os.path.realpath(self._place)}"

    def _data(self, value: object) -> memoryview:
        return memoryview(check_buffer(self, value).as_numpy_array())  # type: ignore[arg-type]

    async def clear(self) -> None:
        """Remove all keys."""
        await self.delete_dir("")

    @abstractmethod
    def _get_payloads(self, keys: list[str]) -> list[Any]: ...

    @abstractmethod
    def _set_payloads(self, items: list[tuple[str, Any]]) -> None: ...

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> list[Buffer | None]:
        """Return the values of many keys, all of one moment."""
        make = (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes
        return [None if data is None else make(data) for data in self._get_payloads(list(keys))]

    def set_many_sync(self, items: Iterable[tuple[str, Buffer | None]]) -> None:
        """Store many values in one step; None deletes a key."""
        self._set_payloads([(key, None if value is None else self._data(value)) for key, value in items])

    def bulk_access(self) -> BulkAccess | None:
        """Return how many values are moved in one step."""
        return BulkAccess(kind="buffers", get_many=self._get_payloads, set_many=self._set_payloads)


class TransactionDatabase(DatabaseStore, TransactionStore):
    """A store of a database whose changes are transactions, of many processes at once."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Make a store of a URL: ``scheme:///absolute/path`` or ``scheme://relative/path``."""
        return cls(url.removeprefix(f"{cls.scheme}://"), **options)

    def lock_folder(self, path: str) -> str:
        """Return the folder of the lock files of a node: beside the database."""
        folder = f"{os.path.realpath(self._place)}.zarr-locks"
        return os.path.join(folder, check_prefix(path).replace("/", "%2F") or "%")
