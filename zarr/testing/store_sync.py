"""What the plain methods of a store must do, where it has some."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import pytest

from zarr.abc.buffer import Buffer
from zarr.abc.store import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
    SupportsDeleteSync,
    SupportsGetSync,
    SupportsSetSync,
)
from zarr.buffer.core import default_buffer_prototype
from zarr.testing.utils import assert_bytes_equal

S = TypeVar("S", bound=Store)
B = TypeVar("B", bound=Buffer)

asynchronous = pytest.mark.asyncio

FOUR = b"\x01\x02\x03\x04"
KEYS = ["c/0", "foo/c/0.0", "foo/0/0"]
RANGES: list[ByteRequest | None] = [
    None,
    RangeByteRequest(1, 4),
    OffsetByteRequest(1),
    SuffixByteRequest(1),
    RangeByteRequest(10, 20),
]


class SynchronousStoreTests(Generic[S, B]):
    """The contract of ``get_sync``, ``set_sync`` and ``delete_sync``; a store that lacks them skips it."""

    store_cls: type[S]
    buffer_cls: type[B]

    def _buffer(self, data: bytes) -> Buffer:
        return self.buffer_cls.from_bytes(data)

    async def set(self, store: S, key: str, value: Buffer) -> None:
        """Put a value into the store without its ``set``; see :class:`StoreTests`."""
        raise TypeError(f"{type(self).__name__} must define 'set'")

    @staticmethod
    def _require_get_sync(store: Any) -> SupportsGetSync:
        if not isinstance(store, SupportsGetSync):
            pytest.skip("the store has no get_sync")
        return store

    @staticmethod
    def _require_set_sync(store: Any) -> SupportsSetSync:
        if not isinstance(store, SupportsSetSync):
            pytest.skip("the store has no set_sync")
        return store

    @staticmethod
    def _require_delete_sync(store: Any) -> SupportsDeleteSync:
        if not isinstance(store, SupportsDeleteSync):
            pytest.skip("the store has no delete_sync")
        return store

    def test_get_sync(self, store: S) -> None:
        """The synchronous read gives the same."""
        reader, writer = self._require_get_sync(store), self._require_set_sync(store)
        writer.set_sync("sync_get", self._buffer(FOUR))
        assert_bytes_equal(reader.get_sync("sync_get"), FOUR)

    def test_get_sync_missing(self, store: S) -> None:
        """The synchronous read gives None for a key that is not there."""
        assert self._require_get_sync(store).get_sync("nonexistent") is None

    def test_set_sync(self, store: S) -> None:
        """The synchronous write stores the value."""
        reader, writer = self._require_get_sync(store), self._require_set_sync(store)
        writer.set_sync("sync_set", self._buffer(b"old"))
        writer.set_sync("sync_set", self._buffer(FOUR))
        assert_bytes_equal(reader.get_sync("sync_set"), FOUR)

    def test_delete_sync(self, store: S) -> None:
        """The synchronous removal removes."""
        reader, writer = self._require_get_sync(store), self._require_set_sync(store)
        writer.set_sync("sync_del", self._buffer(FOUR))
        self._require_delete_sync(store).delete_sync("sync_del")
        assert reader.get_sync("sync_del") is None

    def test_delete_sync_missing(self, store: S) -> None:
        """There is no harm in removing what is not there."""
        self._require_delete_sync(store).delete_sync("nonexistent_sync")

    @asynchronous
    @pytest.mark.parametrize("direction", ["set_async_get_sync", "set_sync_get_async"])
    async def test_sync_async_set_get_parity(self, store: S, direction: str) -> None:
        """What is written in one way is read in the other."""
        reader, writer = self._require_get_sync(store), self._require_set_sync(store)
        if direction == "set_async_get_sync":
            await store.set("parity", self._buffer(FOUR))
            assert_bytes_equal(reader.get_sync("parity"), FOUR)
        else:
            writer.set_sync("parity", self._buffer(FOUR))
            assert_bytes_equal(await store.get("parity", default_buffer_prototype()), FOUR)

    @asynchronous
    async def test_delete_sync_visible_to_async_get(self, store: S) -> None:
        """What is removed in one way is gone in the other."""
        deleter = self._require_delete_sync(store)
        await store.set("parity_del", self._buffer(FOUR))
        deleter.delete_sync("parity_del")
        assert await store.get("parity_del", default_buffer_prototype()) is None

    @asynchronous
    @pytest.mark.parametrize("byte_range", RANGES)
    async def test_get_sync_byte_range_parity(self, store: S, byte_range: ByteRequest | None) -> None:
        """Both ways give the same range, or fail alike."""
        reader = self._require_get_sync(store)
        await self.set(store, "ranged", self._buffer(b"\x01\x02\x03\x04\x05"))
        answers: list[Any] = []
        for asked in ("sync", "async"):
            try:
                if asked == "sync":
                    found = reader.get_sync("ranged", prototype=default_buffer_prototype(), byte_range=byte_range)
                else:
                    found = await store.get("ranged", default_buffer_prototype(), byte_range=byte_range)
                answers.append(None if found is None else found.to_bytes())
            except Exception as error:
                answers.append(type(error))
        assert answers[0] == answers[1]
