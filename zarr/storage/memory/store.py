"""Stores in the memory of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Self, cast

from zarr._process import at_fork
from zarr.abc.store import BulkAccess
from zarr.buffer import cpu, gpu
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.storage.checks import SameObject, check_buffer, frozen
from zarr.storage.keys import check_key, check_prefix, child_names, dir_prefix, only_keys
from zarr.storage.ranges import slice_of
from zarr.storage.wrappers.overlay import TransactionStore, check_expected

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.abc.stores.changes import Changes
    from zarr.buffer.core import BufferPrototype


_CHANGES = threading.RLock()
"""Held while many keys of a dictionary change in one step: by all stores, since several may have one dictionary."""

at_fork(_CHANGES.acquire, _CHANGES.release, _CHANGES.release)


class MemoryStore(TransactionStore):
    """Keys and values in a dictionary.

    Values are copied when they are set and cannot be written to when they are got, so that neither a caller's array
    nor a stored value changes behind the other's back.

    Parameters
    ----------
    store_dict : MutableMapping of str to Buffer, optional
        Used as it is, not copied. Values of type ``bytes`` are understood, too.
    read_only : bool

    Examples
    --------
    >>> from zarr.buffer.cpu import Buffer
    >>> store = MemoryStore()
    >>> store.set_sync("a/b", Buffer.from_bytes(b"value"))
    >>> store.get_sync("a/b").to_bytes()
    b'value'
    """

    blocking = False

    _store_dict: MutableMapping[str, Buffer]

    def __init__(self, store_dict: MutableMapping[str, Buffer] | None = None, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self._store_dict = {} if store_dict is None else store_dict

    def with_read_only(self, read_only: bool = False) -> MemoryStore:
        """Return a store over the same dictionary that may, or may not, be written to."""
        return type(self)(self._store_dict, read_only=read_only)

    def __str__(self) -> str:
        return f"memory://{id(self._store_dict)}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._store_dict, self.read_only)

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return f"memory:{id(self._store_dict)}"

    def lock_folder(self, path: str) -> str:
        """Empty: no other process can reach the values."""
        return ""

    # Reading

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Return the value of a key, or a range of it; None where there is no such key."""
        value = self._store_dict.get(key)
        if value is None:
            # Only here: what is there was let in when it was set.
            check_key(key)
            return None
        value = self._converted(value, prototype)
        return value if byte_range is None else value[slice_of(byte_range, len(value))]

    @staticmethod
    def _converted(value: Any, prototype: BufferPrototype | None) -> Buffer:
        """Return the value as the prototype's buffer; the very object where it is one, and cannot be written to."""
        wanted: type[Buffer] = cpu.Buffer if prototype is None else prototype.buffer
        if type(value) is not wanted:
            return wanted.from_bytes(value) if isinstance(value, bytes) else wanted.from_buffer(value)
        found: Buffer = value
        if isinstance(value, cpu.Buffer) and value._data.flags.writeable:
            data = value._data.view()
            data.flags.writeable = False
            found = wanted(data)
        return found

    def stamp_sync(self, key: str) -> SameObject | None:
        """Return what tells the value of a key from all others: the very object, which cannot be written into."""
        value = self._store_dict.get(key)
        if type(value) is not cpu.Buffer or value._data.flags.writeable:
            return None
        return SameObject(value)

    def exists_sync(self, key: str) -> bool:
        """Return whether the key has a value."""
        check_key(key)
        return self._store_dict.get(key) is not None

    def getsize_sync(self, key: str) -> int:
        """Return how many bytes the key holds; FileNotFoundError where there is no such key."""
        check_key(key)
        value = self._store_dict.get(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    def list_sync(self) -> Iterable[str]:
        """Return all keys."""
        return only_keys(self._names())

    def _names(self) -> list[str]:
        """Return all names in the dictionary, of one moment."""
        with _CHANGES:
            return list(self._store_dict)

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        check_prefix(prefix)
        return only_keys([key for key in self._names() if key.startswith(prefix)])

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix."""
        check_prefix(prefix)
        return child_names(self._names(), prefix)

    # Writing

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a copy of ``value`` under the key."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        self._store_dict[key] = frozen(value)

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store ``value`` under the key, or under ``byte_range`` (start, stop) of what the key holds already."""
        if byte_range is None:
            self.set_sync(key, value)
            return
        self._check_writable()
        check_buffer(self, value)
        data = bytearray(self._store_dict[key].to_bytes())
        data[byte_range[0] : byte_range[1]] = value.to_bytes()
        self._store_dict[key] = type(value).from_bytes(bytes(data))

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Store ``value`` where the key has none; True where this call stored it."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        mine = frozen(value)
        with _CHANGES:
            return self._store_dict.setdefault(key, mine) is mine

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` where the key has none."""
        self.put_if_absent_sync(key, value)

    def delete_sync(self, key: str) -> None:
        """Remove the key, if it is there."""
        self._check_writable()
        check_key(key)
        self._store_dict.pop(key, None)

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix."""
        self._check_writable()
        start = dir_prefix(check_prefix(prefix))
        for key in [key for key in self._names() if key.startswith(start)]:
            self._store_dict.pop(key, None)

    async def clear(self) -> None:
        """Remove all keys."""
        self._check_writable()
        self._store_dict.clear()

    # Many changes in one step

    def apply_sync(self, changes: Changes) -> None:
        """Make many changes; nobody sees some of them and not the others.

        Raises
        ------
        TakenError
            If a key does not hold what it was expected to hold; nothing has changed then.
        """
        self._check_writable()
        values = self._store_dict
        with _CHANGES:
            check_expected(changes, lambda key: _bytes_of(values.get(self._key(key))))
            starts = tuple(self._folder(dir_prefix(folder)) for folder in changes.removed)
            gone = [name for name in list(values) if name.startswith(starts)] if starts else []
            step: dict[str, Any] = dict.fromkeys(gone)
            for key, new in changes.values.items():
                name = self._key(key)
                if key not in changes.defaults or name in step or values.get(name) is None:
                    step[name] = new
            # One call, in which no other thread runs: what is to go holds None, which means no value, until it goes.
            values.update(step)
            for name in [name for name, value in step.items() if value is None]:
                values.pop(name, None)

    # Bulk

    def bulk_access(self) -> BulkAccess | None:
        """Values are handed over in place."""
        return BulkAccess("buffers", get_many=self._get_payloads, set_many=self._set_payloads, in_place=True)

    def _key(self, key: str) -> str:
        return key

    def _folder(self, prefix: str) -> str:
        return prefix

    def _keys(self, keys: list[str]) -> list[str]:
        return keys

    def _get_payloads(self, keys: list[str]) -> list[Any]:
        # One call for all keys: ten thousand small chunks must not cost a Python frame each.
        values: list[Any] = list(map(self._store_dict.get, self._keys(keys)))
        return [v._data if type(v) is cpu.Buffer else _payload(v) for v in values]

    def _set_payloads(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()
        make = default_buffer_prototype().buffer.from_bytes
        for key, payload in items:
            if payload is None:
                self._store_dict.pop(self._key(key), None)
            else:
                self._store_dict[self._key(key)] = make(bytes(payload))


def _bytes_of(value: Any) -> Any:
    """Return the bytes of a value, or None for no value."""
    return value if value is None or isinstance(value, bytes) else value.to_bytes()


def _payload(value: Any) -> Any:
    """Return the bytes of a value that is no plain buffer: a buffer of another kind, bytes, or nothing."""
    return value if value is None or isinstance(value, bytes) else value.as_numpy_array()


class GpuMemoryStore(MemoryStore):
    """A store in the memory of a GPU.

    Parameters
    ----------
    store_dict : MutableMapping of str to zarr.buffer.gpu.Buffer, optional
    read_only : bool

    Examples
    --------
    >>> store = GpuMemoryStore()  # doctest: +SKIP
    """

    def __init__(self, store_dict: MutableMapping[str, gpu.Buffer] | None = None, *, read_only: bool = False) -> None:
        super().__init__(cast("MutableMapping[str, Buffer] | None", store_dict), read_only=read_only)

    def __str__(self) -> str:
        return f"gpumemory://{id(self._store_dict)}"

    @classmethod
    def from_dict(cls, store_dict: MutableMapping[str, Buffer]) -> Self:
        """Make a store whose values are copies, in GPU memory, of those of ``store_dict``."""
        return cls({key: gpu.Buffer.from_buffer(value) for key, value in store_dict.items()})

    def bulk_access(self) -> BulkAccess | None:
        """None: the core reads host memory only."""
        return None

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store ``value`` under the key, in GPU memory."""
        self._check_writable()
        check_key(key)
        check_buffer(self, value)
        self._store_dict[key] = value if isinstance(value, gpu.Buffer) else gpu.Buffer.from_buffer(value)
