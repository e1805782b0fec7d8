"""The contract of stores, as tests that the author of a store inherits.

Derive from :class:`StoreTests`, name the classes of the store and of its buffers, define how a store is made and how
its values are read and written directly, and every rule of the contract is tested::

    class TestMyStore(StoreTests[MyStore, cpu.Buffer]):
        store_cls = MyStore
        buffer_cls = cpu.Buffer
        ...
"""

from __future__ import annotations

import asyncio
import inspect
import pickle
import random
import time
from abc import abstractmethod
from collections.abc import AsyncIterator
from typing import Any, Generic, TypeVar

import pytest

from zarr.abc.buffer import Buffer, BufferPrototype
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
from zarr.runners.sync import sync  # noqa: F401
from zarr.storage.wrappers.wrapper import WrapperStore
from zarr.testing.utils import assert_bytes_equal

S = TypeVar("S", bound=Store)
B = TypeVar("B", bound=Buffer)
T = TypeVar("T")


def with_coroutines(cls: type[T]) -> type[T]:
    """Mark the coroutines among the tests of a class for the plugin that runs them."""
    for name, test in vars(cls).items():
        if name.startswith("test_") and inspect.iscoroutinefunction(test):
            pytest.mark.asyncio(test)
    return cls


FOUR = b"\x01\x02\x03\x04"
KEYS = ["c/0", "foo/c/0.0", "foo/0/0"]
RANGES: list[ByteRequest | None] = [
    None,
    RangeByteRequest(1, 4),
    OffsetByteRequest(1),
    SuffixByteRequest(1),
    RangeByteRequest(10, 20),
]


class LatencyStore(WrapperStore["Store"]):
    """A wrapper that waits before every read and write of a store.

    Parameters
    ----------
    store : Store
    get_latency, set_latency : float or (float, float)
        Seconds; a pair is mean and deviation.

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore
    >>> from zarr.buffer import default_buffer_prototype
    >>> slow = LatencyStore(MemoryStore(), get_latency=0.001)
    >>> asyncio.run(slow.get("nothing", default_buffer_prototype())) is None
    True
    """

    synchronous = False

    def __init__(
        self,
        store: Store,
        *,
        get_latency: float | tuple[float, float] = 0,
        set_latency: float | tuple[float, float] = 0,
    ) -> None:
        super().__init__(store)
        self._get_latency = get_latency
        self._set_latency = set_latency

    @property
    def get_latency(self) -> float:
        """The delay of the next read, in seconds."""
        return _drawn(self._get_latency)

    @property
    def set_latency(self) -> float:
        """The delay of the next write, in seconds."""
        return _drawn(self._set_latency)

    def _with_store(self, store: Store) -> LatencyStore:
        return type(self)(store, get_latency=self._get_latency, set_latency=self._set_latency)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Wait, then read."""
        await asyncio.sleep(self.get_latency)
        return await super().get(key, prototype, byte_range)

    async def set(self, key: str, value: Buffer) -> None:
        """Wait, then write."""
        await asyncio.sleep(self.set_latency)
        await super().set(key, value)

    async def get_versioned(self, key: str, *args: Any) -> Any:
        """Wait, then read a value with its version."""
        await asyncio.sleep(self.get_latency)
        return await super().get_versioned(key, *args)

    async def set_if_version(self, key: str, value: Buffer, version: Any) -> bool:
        """Wait, then write if the value still has a version."""
        await asyncio.sleep(self.set_latency)
        return bool(await super().set_if_version(key, value, version))

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Wait, then write if there is no value."""
        await asyncio.sleep(self.set_latency)
        return await super().put_if_absent(key, value)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Wait in the calling thread, then read."""
        time.sleep(self.get_latency)
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Wait in the calling thread, then write."""
        time.sleep(self.set_latency)
        super().set_sync(key, value)


def _drawn(latency: float | tuple[float, float]) -> float:
    if isinstance(latency, tuple):
        return max(0.0, random.gauss(*latency))
    return latency


try:
    import pytest_asyncio

    async_fixture: Any = pytest_asyncio.fixture
except ImportError:  # pragma: no cover - another plugin runs the coroutines
    async_fixture = pytest.fixture


def _require(store: Any, kind: Any) -> Any:
    """Return a store of a kind; skip the test of another."""
    if not isinstance(store, kind):
        pytest.skip(f"the store is no {kind.__name__}")
    return store


def _require_deletes(store: Store) -> None:
    if not store.supports_deletes:
        pytest.skip("the store does not delete")


async def collected(names: AsyncIterator[str]) -> list[str]:
    """Return all items of an asynchronous iterator, sorted."""
    return sorted([name async for name in names])


def part_of(data: bytes, byte_range: ByteRequest | None) -> bytes:
    """Return the part of the data that a byte range selects."""
    if byte_range is None:
        return data
    if isinstance(byte_range, RangeByteRequest):
        return data[byte_range.start : byte_range.end]
    if isinstance(byte_range, OffsetByteRequest):
        return data[byte_range.offset :]
    return data[max(0, len(data) - byte_range.suffix) :]


@with_coroutines
class StoreTests(Generic[S, B]):
    """The contract of stores."""

    store_cls: type[S]
    buffer_cls: type[B]

    def _buffer(self, data: bytes) -> Buffer:
        return self.buffer_cls.from_bytes(data)

    # ---------------------------------------------------------------------- definitions of a subclass

    @abstractmethod
    async def set(self, store: S, key: str, value: Buffer) -> None:
        """Put a value into the store without its ``set``."""

    @abstractmethod
    async def get(self, store: S, key: str) -> Buffer:
        """Take a value out of the store without its ``get``."""

    @abstractmethod
    @pytest.fixture
    def store_kwargs(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments with which a store is created."""
        raise TypeError(f"{type(self).__name__} must define the fixture 'store_kwargs'")

    @abstractmethod
    def test_store_repr(self, store: S) -> None:
        """Test the ``repr`` and ``str`` of the store."""

    @abstractmethod
    def test_store_supports_writes(self, store: S) -> None:
        """Test that ``supports_writes`` is True."""

    @abstractmethod
    def test_store_supports_listing(self, store: S) -> None:
        """Test that ``supports_listing`` is True."""

    def test_store_supports_partial_writes(self, store: S) -> None:
        """Check that no store writes part of a value."""
        assert not store.supports_partial_writes

    # ------------------------------------------------------------------------------------- fixtures

    @pytest.fixture
    def open_kwargs(self, store_kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with which a store is opened."""
        return store_kwargs

    @async_fixture  # type: ignore[untyped-decorator]
    async def store(self, open_kwargs: dict[str, Any]) -> Store:
        """Return an open store."""
        return await self.store_cls.open(**open_kwargs)

    @async_fixture  # type: ignore[untyped-decorator]
    async def store_not_open(self, store_kwargs: dict[str, Any]) -> Store:
        """Return a store that is not open yet."""
        return self.store_cls(**store_kwargs)

    # -------------------------------------------------------------------------------- the store itself

    def test_store_type(self, store: S) -> None:
        """Check that it is a store, of the class ``store_cls``."""
        assert isinstance(store, Store)
        assert isinstance(store, self.store_cls)

    def test_store_eq(self, store: S, store_kwargs: dict[str, Any]) -> None:
        """Check that it equals itself and another one over the same place."""
        assert store == store
        assert store == self.store_cls(**store_kwargs)

    async def test_serializable_store(self, store: S) -> None:
        """Check that a pickled store comes back as an equal one, with the same values."""
        again = pickle.loads(pickle.dumps(store))
        assert again == store
        assert again.read_only == store.read_only
        await self.set(store, "foo/c/0", self._buffer(FOUR))
        found = await store.get("foo/c/0", default_buffer_prototype())
        assert_bytes_equal(found, FOUR)

    def test_store_read_only(self, store: S) -> None:
        """Check that the store is writable, and that this cannot be assigned."""
        assert not store.read_only
        with pytest.raises(AttributeError):
            store.read_only = False  # type: ignore[misc]

    @pytest.mark.parametrize("read_only", [True, False])
    async def test_store_open_read_only(self, open_kwargs: dict[str, Any], read_only: bool) -> None:
        """Check that the store is opened in the requested mode."""
        open_kwargs["read_only"] = read_only
        store = await self.store_cls.open(**open_kwargs)
        assert store._is_open
        assert store.read_only == read_only

    async def test_store_context_manager(self, open_kwargs: dict[str, Any]) -> None:
        """Check that it is closed at the end of a ``with`` block."""
        with await self.store_cls.open(**open_kwargs) as store:
            assert store._is_open
            with pytest.raises(ValueError, match="store is already open"):
                await store._open()
        assert not store._is_open

    async def test_read_only_store_raises(self, open_kwargs: dict[str, Any]) -> None:
        """Check that a read-only store refuses every change."""
        store = await self.store_cls.open(**{**open_kwargs, "read_only": True})
        assert store.read_only
        with pytest.raises(ValueError, match="read-only"):
            await store.set("foo", self._buffer(FOUR))
        with pytest.raises(ValueError, match="read-only"):
            await store.delete("foo")

    async def test_with_read_only_store(self, open_kwargs: dict[str, Any]) -> None:
        """Check that a read-only view refuses every change, while the store itself does not."""
        store = await self.store_cls.open(**{**open_kwargs, "read_only": True})
        try:
            writer = store.with_read_only(read_only=False)
        except NotImplementedError:
            with pytest.raises(NotImplementedError):
                store.with_read_only(read_only=True)
            return
        assert store.read_only
        assert not writer.read_only
        await writer.set("foo", self._buffer(FOUR))
        await writer.delete("foo")
        reader = writer.with_read_only(read_only=True)
        with pytest.raises(ValueError, match="read-only"):
            await reader.set("foo", self._buffer(FOUR))
        with pytest.raises(ValueError, match="read-only"):
            await reader.delete("foo")

    # ----------------------------------------------------------------------------------------- reading

    @pytest.mark.parametrize("key", KEYS)
    @pytest.mark.parametrize(
        ("data", "byte_range"),
        [(FOUR, None), (FOUR, RANGES[1]), (FOUR, RANGES[2]), (FOUR, RANGES[3]), (b"", None)],
    )
    async def test_get(self, store: S, key: str, data: bytes, byte_range: ByteRequest) -> None:
        """Check that a value, or a range of it, is read as it was stored."""
        await self.set(store, key, self._buffer(data))
        found = await store.get(key, prototype=default_buffer_prototype(), byte_range=byte_range)
        assert_bytes_equal(found, part_of(data, byte_range))

    async def test_get_not_open(self, store_not_open: S) -> None:
        """Check that a store opens itself at the first read."""
        assert not store_not_open._is_open
        await self.set(store_not_open, "c/0", self._buffer(FOUR))
        assert_bytes_equal(await store_not_open.get("c/0", prototype=default_buffer_prototype()), FOUR)
        assert store_not_open._is_open

    async def test_get_raises(self, store: S) -> None:
        """Check that any value but a byte request is refused."""
        await self.set(store, "c/0", self._buffer(FOUR))
        with pytest.raises((ValueError, TypeError), match=r"Unexpected byte_range, got.*"):
            await store.get("c/0", prototype=default_buffer_prototype(), byte_range=(0, 2))  # type: ignore[arg-type]

    async def test_get_many(self, store: S) -> None:
        """Check that many values are read, in any order."""
        values = {f"c/{i}": bytes([i]) for i in range(8)}
        for key, data in values.items():
            await self.set(store, key, self._buffer(data))
        asked = [(key, default_buffer_prototype(), None) for key in values]
        found = {key: value async for key, value in store._get_many(asked)}
        assert {key: value.to_bytes() for key, value in found.items() if value is not None} == values

    @pytest.mark.parametrize(
        "key_ranges",
        [
            [],
            [("zarr.json", RangeByteRequest(0, 2))],
            [("c/0", RangeByteRequest(0, 2)), ("zarr.json", None)],
            [("c/0/0", RangeByteRequest(0, 2)), ("c/0/1", SuffixByteRequest(2)), ("c/0/2", OffsetByteRequest(2))],
        ],
    )
    async def test_get_partial_values(self, store: S, key_ranges: list[tuple[str, ByteRequest]]) -> None:
        """Check that many ranges are read in the order of the requests."""
        for key, _ in key_ranges:
            await self.set(store, key, self._buffer(key.encode()))
        found = await store.get_partial_values(prototype=default_buffer_prototype(), key_ranges=key_ranges)
        assert len(found) == len(key_ranges)
        for value, (key, byte_range) in zip(found, key_ranges, strict=True):
            assert_bytes_equal(value, part_of(key.encode(), byte_range))

    @pytest.mark.parametrize("key", KEYS)
    @pytest.mark.parametrize("data", [FOUR, b""])
    async def test_getsize(self, store: S, key: str, data: bytes) -> None:
        """Check that the size of a value is the number of its bytes."""
        await self.set(store, key, self._buffer(data))
        assert await store.getsize(key) == len(data)

    async def test_getsize_prefix(self, store: S) -> None:
        """Check that the size of a prefix is the sum over its values, and only over its own."""
        for key in ("prefix/c/0", "prefix/c/1", "prefixed/c/0"):
            await self.set(store, key, self._buffer(FOUR))
        assert await store.getsize_prefix("prefix") == 2 * len(FOUR)

    async def test_getsize_raises(self, store: S) -> None:
        """Check that a missing key has no size."""
        with pytest.raises(FileNotFoundError):
            await store.getsize("not-a-real-key")

    async def test_exists(self, store: S) -> None:
        """Check that a key is there when it has a value; a prefix is no key."""
        assert not await store.exists("foo")
        await store.set("foo/zarr.json", self._buffer(FOUR))
        assert await store.exists("foo/zarr.json")

    # ----------------------------------------------------------------------------------------- writing

    @pytest.mark.parametrize("key", ["zarr.json", *KEYS])
    @pytest.mark.parametrize("data", [FOUR, b""])
    async def test_set(self, store: S, key: str, data: bytes) -> None:
        """Check that a value is stored as it is given."""
        assert not store.read_only
        await store.set(key, self._buffer(data))
        assert_bytes_equal(await self.get(store, key), data)

    async def test_set_not_open(self, store_not_open: S) -> None:
        """Check that a store opens itself at the first write."""
        assert not store_not_open._is_open
        await store_not_open.set("c/0", self._buffer(FOUR))
        assert_bytes_equal(await self.get(store_not_open, "c/0"), FOUR)

    async def test_set_many(self, store: S) -> None:
        """Check that many values are stored."""
        values = {f"c/{i}": bytes([i]) for i in range(8)}
        await store._set_many([(key, self._buffer(data)) for key, data in values.items()])
        for key, data in values.items():
            assert_bytes_equal(await self.get(store, key), data)

    async def test_set_if_not_exists(self, store: S) -> None:
        """Check that an existing value stays."""
        await self.set(store, "k", self._buffer(FOUR))
        await store.set_if_not_exists("k", self._buffer(b"0000"))
        assert_bytes_equal(await store.get("k", default_buffer_prototype()), FOUR)
        await store.set_if_not_exists("k2", self._buffer(b"2"))
        assert_bytes_equal(await store.get("k2", default_buffer_prototype()), b"2")

    async def test_delete(self, store: S) -> None:
        """Check that a removed key is gone."""
        _require_deletes(store)
        await store.set("foo/zarr.json", self._buffer(FOUR))
        assert await store.exists("foo/zarr.json")
        await store.delete("foo/zarr.json")
        assert not await store.exists("foo/zarr.json")

    async def test_delete_dir(self, store: S) -> None:
        """Check that all keys below a prefix are removed, and none beside it."""
        _require_deletes(store)
        await store.set("zarr.json", self._buffer(b"root"))
        await store.set("foo-bar/zarr.json", self._buffer(b"root"))
        await store.set("foo/zarr.json", self._buffer(b"bar"))
        await store.set("foo/c/0", self._buffer(b"chunk"))
        await store.delete_dir("foo")
        assert await store.exists("zarr.json")
        assert await store.exists("foo-bar/zarr.json")
        assert not await store.exists("foo/zarr.json")
        assert not await store.exists("foo/c/0")

    async def test_delete_nonexistent_key_does_not_raise(self, store: S) -> None:
        """Check that a missing key can be deleted."""
        _require_deletes(store)
        await store.delete("nonexistent_key")

    async def test_is_empty(self, store: S) -> None:
        """Check that a prefix is empty when nothing is below it."""
        assert await store.is_empty("")
        await self.set(store, "foo/bar", self._buffer(FOUR))
        assert not await store.is_empty("")
        assert await store.is_empty("fo")
        assert not await store.is_empty("foo/")
        assert not await store.is_empty("foo")
        assert await store.is_empty("spam/")

    async def test_clear(self, store: S) -> None:
        """Check that a store is empty after a clear."""
        _require_deletes(store)
        await self.set(store, "key", self._buffer(FOUR))
        await store.clear()
        assert await store.is_empty("")

    # ----------------------------------------------------------------------------------------- listing

    async def test_list(self, store: S) -> None:
        """Check that all keys are listed."""
        assert await collected(store.list()) == []
        expected = []
        for i in range(3):
            for key in (f"foo/zarr{i}.json", f"foo/c/{i}"):
                await self.set(store, key, self._buffer(FOUR))
                expected.append(key)
        assert await collected(store.list()) == sorted(expected)

    async def test_list_prefix(self, store: S) -> None:
        """Check that the keys below a prefix are listed, with the prefix, and no others."""
        keys = ["zarr.json", "a/zarr.json", "a/c/0", "a-b/zarr.json", "b/c/d/0"]
        for key in keys:
            await self.set(store, key, self._buffer(FOUR))
        for prefix in ("", "a/", "a/c/", "b/", "none/"):
            expected = sorted(key for key in keys if key.startswith(prefix))
            assert await collected(store.list_prefix(prefix)) == expected

    async def test_list_empty_path(self, store: S) -> None:
        """Check that the empty prefix stands for everything."""
        keys = ["foo/bar/zarr.json", "foo/bar/c/1", "foo/baz/c/0"]
        for key in keys:
            await self.set(store, key, self._buffer(b""))
        assert await collected(store.list_prefix("")) == sorted(keys)
        assert await collected(store.list_dir("")) == ["foo"]

    async def test_list_dir(self, store: S) -> None:
        """Check that the names directly below a prefix are listed, each once."""
        assert await collected(store.list_dir("")) == []
        for key in ("foo/zarr.json", "foo/c/1", "foo/c/2", "group-0/zarr.json"):
            await self.set(store, key, self._buffer(b"x"))
        assert await collected(store.list_dir("foo")) == ["c", "zarr.json"]
        assert await collected(store.list_dir("foo/")) == ["c", "zarr.json"]
        assert await collected(store.list_dir("foo/c")) == ["1", "2"]
        assert await collected(store.list_dir("")) == ["foo", "group-0"]

    # ----------------------------------------------------------------------------- synchronous calls

    def test_get_sync(self, store: S) -> None:
        """Check that the synchronous read returns the same value."""
        reader, writer = _require(store, SupportsGetSync), _require(store, SupportsSetSync)
        writer.set_sync("sync_get", self._buffer(FOUR))
        assert_bytes_equal(reader.get_sync("sync_get"), FOUR)

    def test_get_sync_missing(self, store: S) -> None:
        """Check that the synchronous read returns None for a missing key."""
        assert _require(store, SupportsGetSync).get_sync("nonexistent") is None

    def test_set_sync(self, store: S) -> None:
        """Check that the synchronous write stores the value."""
        reader, writer = _require(store, SupportsGetSync), _require(store, SupportsSetSync)
        writer.set_sync("sync_set", self._buffer(b"old"))
        writer.set_sync("sync_set", self._buffer(FOUR))
        assert_bytes_equal(reader.get_sync("sync_set"), FOUR)

    def test_delete_sync(self, store: S) -> None:
        """Check that the synchronous removal removes."""
        reader, writer = _require(store, SupportsGetSync), _require(store, SupportsSetSync)
        writer.set_sync("sync_del", self._buffer(FOUR))
        _require(store, SupportsDeleteSync).delete_sync("sync_del")
        assert reader.get_sync("sync_del") is None

    def test_delete_sync_missing(self, store: S) -> None:
        """Check that a missing key can be deleted."""
        _require(store, SupportsDeleteSync).delete_sync("nonexistent_sync")

    @pytest.mark.parametrize("direction", ["set_async_get_sync", "set_sync_get_async"])
    async def test_sync_async_set_get_parity(self, store: S, direction: str) -> None:
        """Check that each way reads the values that the other wrote."""
        reader, writer = _require(store, SupportsGetSync), _require(store, SupportsSetSync)
        if direction == "set_async_get_sync":
            await store.set("parity", self._buffer(FOUR))
            assert_bytes_equal(reader.get_sync("parity"), FOUR)
        else:
            writer.set_sync("parity", self._buffer(FOUR))
            assert_bytes_equal(await store.get("parity", default_buffer_prototype()), FOUR)

    async def test_delete_sync_visible_to_async_get(self, store: S) -> None:
        """Check that a key deleted in one way is gone in the other."""
        deleter = _require(store, SupportsDeleteSync)
        await store.set("parity_del", self._buffer(FOUR))
        deleter.delete_sync("parity_del")
        assert await store.get("parity_del", default_buffer_prototype()) is None

    @pytest.mark.parametrize("byte_range", RANGES)
    async def test_get_sync_byte_range_parity(self, store: S, byte_range: ByteRequest | None) -> None:
        """Check that both ways give the same range, or fail alike."""
        reader = _require(store, SupportsGetSync)
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


__all__ = ["StoreTests"]
