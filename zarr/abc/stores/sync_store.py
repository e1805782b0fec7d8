"""The contract of a store with plain methods."""

from __future__ import annotations

import builtins
import threading
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from zarr._lazy import asyncio
from zarr._process import at_fork
from zarr.abc.stores.abilities import goes_by, is_synchronous
from zarr.abc.stores.async_store import Store, as_folder, gather_windowed
from zarr.abc.stores.changes import removed_first, sees_to_values
from zarr.buffer.core import Buffer, BufferPrototype

if TYPE_CHECKING:
    from zarr.abc.stores.protocols import ByteRequest


# A fixed number of locks, so that no table must be cleaned up. Reentrant: a finalizer may run, and use the library, at
# any allocation.
_match_locks = [threading.RLock() for _ in range(64)]


def match_lock(name: str) -> threading.RLock:
    """Return the lock under which a value is compared and then stored by default."""
    return _match_locks[hash(name) % len(_match_locks)]


def _renew_match_locks() -> None:
    """Drop all locks: a forked child has none of the threads that hold them."""
    _match_locks[:] = [threading.RLock() for _ in _match_locks]


at_fork(renew=_renew_match_locks)


class SyncStore(Store):
    """Bytes under string keys, accessed by plain methods.

    A subclass defines the abstract methods whose names end in ``_sync``. The coroutines of ``Store`` call them: at
    once, or in a thread if ``blocking`` is true, because they may wait for a disk or a network.

    Parameters
    ----------
    read_only
        If True, the store refuses every change. Default: False.
    """

    blocking: ClassVar[bool] = False

    @abstractmethod
    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none.

        Parameters
        ----------
        key : str
            The key.
        prototype : BufferPrototype or None
            The classes of buffers to return.
        byte_range : ByteRequest or None
            The range of the value to read. Default: all.
        """

    @abstractmethod
    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.
        """

    @abstractmethod
    def delete_sync(self, key: str) -> None:
        """Delete a key; it need not have a value.

        Parameters
        ----------
        key : str
            The key.
        """

    @abstractmethod
    def list_sync(self) -> Iterable[str]:
        """Return all keys."""

    def exists_sync(self, key: str) -> bool:
        """Return True if a key has a value.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        bool
        """
        return self.get_sync(key) is not None

    def getsize_sync(self, key: str) -> int:
        """Return the length of a value in bytes; FileNotFoundError if there is none.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        int
            Bytes.
        """
        value = self.get_sync(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Return all keys that start with a string.

        Parameters
        ----------
        prefix : str
            Keys that begin with this path.

        Returns
        -------
        iterable of str
            Whole keys.
        """
        return [key for key in self.list_sync() if key.startswith(prefix)]

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names of the keys and folders directly below a folder.

        Parameters
        ----------
        prefix : str
            Keys that begin with this path.

        Returns
        -------
        iterable of str
            Names, without the prefix.
        """
        folder = as_folder(prefix)
        keys = self.list_prefix_sync(folder)
        return builtins.list(dict.fromkeys(key.removeprefix(folder).split("/", 1)[0] for key in keys))

    def delete_dir_sync(self, prefix: str) -> None:
        """Delete every key below a folder.

        Parameters
        ----------
        prefix : str
            Keys that begin with this path.
        """
        self._check_writable()
        for keys in removed_first(self.list_prefix_sync(as_folder(prefix))):
            for key in keys:
                self.delete_sync(key)

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store a value unless the key has one.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.
        """
        self._check_writable()
        if not self.exists_sync(key):
            self.set_sync(key, value)

    def set_if_match_sync(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value if the key still holds ``expected`` (None: no value); return True if it was stored.

        This default is one step among the calls of this method by all threads of this process, for all objects of the
        store. Plain ``set`` calls and other processes can come in between: a store that excludes them overrides this
        method, and returns True as ``supports_set_if_match``.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.
        expected : Buffer or None
            The value that the key must have now; None: no value.

        Returns
        -------
        bool
            True if the value was stored.
        """
        self._check_writable()
        with match_lock(f"{getattr(self, 'lock_prefix', id(self))}/{key}"):
            found = self.get_sync(key)
            if (None if found is None else found.to_bytes()) != (None if expected is None else expected.to_bytes()):
                return False
            self.set_sync(key, value)
            return True

    def get_many_sync(
        self, keys: Iterable[str], prototype: BufferPrototype | None = None
    ) -> builtins.list[Buffer | None]:
        """Return the values of many keys.

        Parameters
        ----------
        keys : Iterable[str]
            The keys.
        prototype : BufferPrototype or None
            The classes of buffers to return.

        Returns
        -------
        list of Buffer or None
            None for a key without a value.
        """
        return [self.get_sync(key, prototype=prototype) for key in keys]

    def set_many_sync(self, items: Iterable[tuple[str, Buffer | None]]) -> None:
        """Store many values; None deletes a key.

        Parameters
        ----------
        items : Iterable[tuple[str, Buffer or None]]
            Keys with their values.
        """
        for key, value in items:
            if value is None:
                self.delete_sync(key)
            else:
                self.set_sync(key, value)

    @property
    def supports_writes(self) -> bool:
        """True if the store can be written to."""
        return True

    @property
    def supports_deletes(self) -> bool:
        """True if keys can be deleted."""
        return True

    @property
    def supports_listing(self) -> bool:
        """True if keys can be listed."""
        return True

    async def _call(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not self._is_open:
            await self._ensure_open()
        return await asyncio.to_thread(func, *args, **kwargs) if self.blocking else func(*args, **kwargs)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""
        found: Buffer | None = await self._call(self.get_sync, key, prototype=prototype, byte_range=byte_range)
        return found

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        """Return parts of the values of keys, in the order of the requests."""
        return await gather_windowed(self.get, [(key, prototype, part) for key, part in key_ranges])

    async def exists(self, key: str) -> bool:
        """Return True if a key has a value."""
        return bool(await self._call(self.exists_sync, key))

    async def set(self, key: str, value: Buffer) -> None:
        """Store a value."""
        await self._call(self.set_sync, key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store a value unless the key has one."""
        await self._call(self.set_if_not_exists_sync, key, value)

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store a value if the key still holds ``expected``; see ``set_if_match_sync``."""
        return bool(await self._call(self.set_if_match_sync, key, value, expected))

    def _compares_and_swaps(self) -> bool:
        plain = next(base for base in type(self).__mro__ if "set_if_match_sync" in vars(base))
        return is_synchronous(self) and (plain is SyncStore or not sees_to_values(type(self), plain))

    async def delete(self, key: str) -> None:
        """Delete a key; it need not have a value."""
        await self._call(self.delete_sync, key)

    async def delete_dir(self, prefix: str) -> None:
        """Delete every key below a folder."""
        if goes_by(self, "delete", "delete_dir"):
            await super().delete_dir(prefix)
        await self._call(self.delete_dir_sync, prefix)

    async def getsize(self, key: str) -> int:
        """Return the length of a value in bytes; FileNotFoundError if there is none."""
        return int(await self._call(self.getsize_sync, key))

    async def _list(self, func: Callable[..., Iterable[str]], *args: str) -> AsyncIterator[str]:
        # The listing is completed in one call: an unfinished one would see keys that are set meanwhile.
        for key in await self._call(lambda: builtins.list(func(*args))):
            yield key

    def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        return self._list(self.list_sync)

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield all keys that start with a string."""
        return self._list(self.list_prefix_sync, prefix)

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names of the keys and folders directly below a folder."""
        return self._list(self.list_dir_sync, prefix)
