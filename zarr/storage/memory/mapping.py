"""Any mutable mapping of bytes as a store."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.base import BlockingStore
from zarr.storage.checks import check_buffer
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix, only_keys
from zarr.storage.ranges import slice_of

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import BufferPrototype


class MappingStore(BlockingStore):
    """A store over a mutable mapping whose values are ``bytes`` or anything alike.

    Parameters
    ----------
    mapping : MutableMapping of str to bytes
        Database handles such as ``shelve``, ``zict``, or fsspec's and zarr 2's mappings are such mappings.
    read_only : bool

    Examples
    --------
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

    def with_read_only(self, read_only: bool = False) -> MappingStore:
        """Return a store over the same mapping that may, or may not, be written to."""
        return type(self)(self.mapping, read_only=read_only)

    def __str__(self) -> str:
        return f"mapping://{type(self.mapping).__name__}-{id(self.mapping)}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (id(self.mapping), self.read_only)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return f"mapping:{id(self.mapping)}"

    def _value(self, key: str) -> Any:
        check_key(key)
        try:
            return self.mapping[key]
        except KeyError:
            return None

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        value = self._value(key)
        if value is None:
            return None
        data = value.to_bytes() if isinstance(value, Buffer) else bytes(value)
        if byte_range is not None:
            data = data[slice_of(byte_range, len(data))]
        return (default_buffer_prototype() if prototype is None else prototype).buffer.from_bytes(data)

    def exists_sync(self, key: str) -> bool:
        """Return whether the key has a value."""
        check_key(key)
        return key in self.mapping

    def getsize_sync(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        value = self._value(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return only_keys(list(self.mapping))

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        check_prefix(prefix)
        return [key for key in self.list_sync() if key.startswith(prefix)]

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix."""
        check_prefix(prefix)
        return child_names(list(self.list_sync()), prefix)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key, as ``bytes``."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        self.mapping[key] = value.to_bytes()

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self._check_writable()
        check_key(key)
        self.mapping.setdefault(key, value.to_bytes())

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        check_key(key)
        self.mapping.pop(key, None)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        for key in [key for key in list(self.mapping) if key.startswith(start)]:
            self.mapping.pop(key, None)
