"""The base of stores that hold bytes, as databases and zip files: ``PayloadStore``.

A subclass defines how many values are read, written and listed at once; all other methods follow from these three.
``MappingStore`` is such a store over any mutable mapping.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from typing import Any

from zarr.abc.store import BulkAccess, ByteRequest
from zarr.abc.stores.changes import removed_first
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage.base import BlockingStore
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix, only_keys
from zarr.storage.mapping import MappingProtocol
from zarr.storage.ranges import slice_of


class PayloadStore(BlockingStore):
    """A store that holds bytes; a subclass defines how many of them are read, written and listed at once."""

    @abstractmethod
    def _read_many(self, keys: list[str]) -> list[Any]:
        """Return the payloads of keys, None for a key without a value; all at one moment."""

    @abstractmethod
    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        """Store payloads, in one step if the store can do that; None deletes a key."""

    @abstractmethod
    def _names(self, start: str) -> list[str]:
        """Return all names that begin with a string; names that are no keys are never listed."""

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        for key in keys:
            check_key(key)
        return self._read_many(keys)

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        for key, _ in items:
            check_key(key)
        self._write_many(items)

    def _payload(self, key: str, byte_range: ByteRequest | None = None) -> Any:
        """Return the bytes of a key, or a range of them; None if there is no such key."""
        data = self._get_payloads([key])[0]
        return data if data is None or byte_range is None else data[slice_of(byte_range, len(data))]

    def _size(self, key: str) -> int | None:
        data = self._payload(key)
        return None if data is None else len(data)

    # Reading

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None if there is no such key."""
        data = self._payload(key, byte_range)
        if data is None:
            return None
        return (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes(data)

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> list[Buffer | None]:
        """Return the values of many keys, all at one moment."""
        make = (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes
        return [None if data is None else make(data) for data in self._get_payloads(list(keys))]

    def exists_sync(self, key: str) -> bool:
        """Return True if the key has a value."""
        return self._size(key) is not None

    def getsize_sync(self, key: str) -> int:
        """Return the number of bytes of the value; raise FileNotFoundError if there is no such key."""
        size = self._size(key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return self.list_prefix_sync("")

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        return only_keys(self._names(check_prefix(prefix)))

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix."""
        return child_names(self._names(dir_prefix(check_prefix(prefix))), prefix)

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key."""
        self._set_payloads([(key, self._data(value))])

    def set_many_sync(self, items: Iterable[tuple[str, Buffer | None]]) -> None:
        """Store many values, in one step if the store can do that; None deletes a key."""
        self._set_payloads([(key, None if value is None else self._data(value)) for key, value in items])

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._set_payloads([(key, None)])

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        names = self._names(dir_prefix(check_prefix(prefix)))
        self._write_many([(name, None) for some in removed_first(names) for name in some])

    def bulk_access(self) -> BulkAccess | None:
        """Return that many values are moved in one step."""
        return BulkAccess(kind="buffers", get_many=self._get_payloads, set_many=self._set_payloads)


class MappingStore(MappingProtocol, PayloadStore):
    """A store over a mutable mapping whose values are ``bytes`` or similar.

    Parameters
    ----------
    mapping : MutableMapping of str to bytes
        For example ``shelve``, ``zict``, or the mappings of fsspec and zarr 2.
    read_only : bool
        If True, the store refuses every change. Default: False.

    Examples
    --------
    >>> from zarr.storage import MappingStore
    >>> from collections import UserDict
    >>> from zarr.buffer.cpu import Buffer
    >>> data = UserDict()
    >>> MappingStore(data).set_sync("a", Buffer.from_bytes(b"value"))
    >>> data["a"]
    b'value'
    """

    def __init__(self, mapping: MutableMapping[str, Any], *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self.mapping = mapping

    def __str__(self) -> str:
        return f"mapping://{type(self.mapping).__name__}-{id(self.mapping)}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (id(self.mapping), self.read_only)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return f"mapping:{id(self.mapping)}"

    def _value(self, key: str) -> bytes | None:
        if key.endswith("zarr.json") and key not in self.mapping:  # those of zarr-python 2 may take it for a chunk
            return None
        try:
            value = self.mapping[key]
        except KeyError:
            return None
        return None if value is None else value.to_bytes() if isinstance(value, Buffer) else bytes(value)

    def _read_many(self, keys: list[str]) -> list[Any]:
        return [self._value(key) for key in keys]

    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        for key, payload in items:
            if payload is None:
                with suppress(KeyError):
                    del self.mapping[key]
            else:
                self.mapping[key] = bytes(payload)

    def _names(self, start: str) -> list[str]:
        return [name for name in list(self.mapping) if isinstance(name, str) and name.startswith(start)]

    def exists_sync(self, key: str) -> bool:
        """Return True if the key has a value."""
        check_key(key)
        return key in self.mapping

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` if the key has none."""
        self._check_writable()
        check_key(key)
        if hasattr(self.mapping, "setdefault"):
            self.mapping.setdefault(key, value.to_bytes())
        elif key not in self.mapping:  # of a class that has but the methods that stores of zarr-python 2 needed
            self.mapping[key] = value.to_bytes()
