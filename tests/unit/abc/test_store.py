from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from zarr.abc.store import (
    BulkAccess,
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
    SupportsSyncStore,
    SyncStore,
    is_synchronous,
    set_or_delete,
)
from zarr.abc.stores.protocols import merge_requests
from zarr.buffer import Buffer, BufferPrototype, cpu, default_buffer_prototype

PROTOTYPE = default_buffer_prototype()


def cut(value: bytes, byte_range: ByteRequest | None) -> bytes:
    if byte_range is None:
        return value
    if isinstance(byte_range, RangeByteRequest):
        return value[byte_range.start : byte_range.end]
    if isinstance(byte_range, OffsetByteRequest):
        return value[byte_range.offset :]
    return value[-byte_range.suffix :] if byte_range.suffix else b""


class Plain(SyncStore):
    """Written with plain methods."""

    def __init__(self, data: dict[str, bytes] | None = None, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self.data = data if data is not None else {}
        self.threads: set[int] = set()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and other.data is self.data

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        self.threads.add(threading.get_ident())
        if key not in self.data:
            return None
        return (prototype or PROTOTYPE).buffer.from_bytes(cut(self.data[key], byte_range))

    def set_sync(self, key: str, value: Buffer) -> None:
        self._check_writable()
        self.data[key] = value.to_bytes()

    def delete_sync(self, key: str) -> None:
        self._check_writable()
        self.data.pop(key, None)

    def list_sync(self) -> Iterable[str]:
        return list(self.data)


class Blocking(Plain):
    blocking = True


class Coroutines(Store):
    """Written with coroutines."""

    def __init__(self, data: dict[str, bytes] | None = None, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self.data = data if data is not None else {}
        self.asked: list[ByteRequest | None] = []
        self.alive = 0
        self.most_alive = 0

    def __eq__(self, other: object) -> bool:
        return self is other

    supports_writes = supports_deletes = supports_listing = property(lambda self: True)  # type: ignore[assignment]

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        self.asked.append(byte_range)
        self.alive += 1
        self.most_alive = max(self.alive, self.most_alive)
        await asyncio.sleep(0)
        self.alive -= 1
        if key not in self.data:
            return None
        return prototype.buffer.from_bytes(cut(self.data[key], byte_range))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return [await self.get(key, prototype, part) for key, part in key_ranges]

    async def exists(self, key: str) -> bool:
        return key in self.data

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()
        self.data[key] = value.to_bytes()

    async def delete(self, key: str) -> None:
        self.data.pop(key, None)

    async def list(self) -> AsyncIterator[str]:
        for key in list(self.data):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in list(self.data):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        for key in list(self.data):
            if key.startswith(prefix):
                yield key.removeprefix(prefix).split("/")[0]


ENTRIES = {"a/b": b"0123456789", "a/c": b"x", "ab": b"yy"}


@pytest.fixture(params=[Plain, Blocking, Coroutines])
def store(request: pytest.FixtureRequest) -> Any:
    return request.param(dict(ENTRIES))


async def test_defaults(store: Any) -> None:
    assert await store.getsize("a/b") == 10
    with pytest.raises(FileNotFoundError, match="nope"):
        await store.getsize("nope")
    assert await store.getsize_prefix("a") == 11
    assert await store.getsize_prefix("") == 13
    assert not await store.is_empty("")
    assert not await store.is_empty("a")
    assert await store.is_empty("b")
    assert sorted([key async for key in store.list_prefix("a")]) == ["a/b", "a/c", "ab"]
    assert await store.exists("ab")
    await store.set_if_not_exists("ab", cpu.Buffer.from_bytes(b"new"))
    await store.set_if_not_exists("fresh", cpu.Buffer.from_bytes(b"new"))
    assert store.data["ab"] == b"yy"
    assert store.data["fresh"] == b"new"
    await store._set_many([("m", cpu.Buffer.from_bytes(b"1")), ("n", cpu.Buffer.from_bytes(b"2"))])
    found = [(key, value and value.to_bytes()) async for key, value in store._get_many([("m", PROTOTYPE, None)])]
    assert found == [("m", b"1")]
    await store.delete_dir("a")
    assert sorted(store.data) == ["ab", "fresh", "m", "n"]
    await store.clear()
    assert store.data == {}


async def test_read_only(store: Any) -> None:
    closed = type(store)(dict(ENTRIES), read_only=True)
    assert closed.read_only
    message = "store was opened in read-only mode and does not support writing"
    with pytest.raises(ValueError, match=message):
        await closed.clear()
    with pytest.raises(ValueError, match=message):
        await closed.delete_dir("a")
    with pytest.raises(ValueError, match=message):
        await closed.set("k", cpu.Buffer.from_bytes(b""))
    with pytest.raises(ValueError, match=message):
        await closed.set_if_not_exists("k", cpu.Buffer.from_bytes(b""))
    with pytest.raises(NotImplementedError, match="with_read_only is not implemented"):
        store.with_read_only(True)


async def test_open_and_close(store: Any) -> None:
    opened = await type(store).open()
    assert opened._is_open
    with pytest.raises(ValueError, match="store is already open"):
        await opened._open()
    await opened._ensure_open()
    with opened as same:
        assert same is opened
    assert not opened._is_open


async def test_flags(store: Any) -> None:
    assert store.supports_consolidated_metadata
    assert store.supports_listing
    assert store.bulk_access() is None
    assert isinstance(store, SupportsSyncStore) is isinstance(store, SyncStore)
    with pytest.raises(TypeError, match="unhashable"):
        hash(store)


async def test_plain_store_lists_folders() -> None:
    store = Plain({"a/b/c": b"", "a/b/d": b"", "a/e": b"", "f": b""})
    assert [name async for name in store.list_dir("a")] == ["b", "e"]
    assert [name async for name in store.list_dir("")] == ["a", "f"]
    assert [key async for key in store.list()] == ["a/b/c", "a/b/d", "a/e", "f"]
    parts = await store.get_partial_values(PROTOTYPE, [("f", None), ("nope", None)])
    assert [part and part.to_bytes() for part in parts] == [b"", None] or parts[1] is None
    store.set_many_sync([("f", None), ("g", cpu.Buffer.from_bytes(b"1"))])
    assert [value and value.to_bytes() for value in store.get_many_sync(["f", "g"])] == [None, b"1"]


async def test_blocking_methods_run_in_a_thread() -> None:
    here = threading.get_ident()
    direct, blocking = Plain(dict(ENTRIES)), Blocking(dict(ENTRIES))
    await direct.get("a/b", PROTOTYPE)
    await blocking.get("a/b", PROTOTYPE)
    assert direct.threads == {here}
    assert here not in blocking.threads


class OnlyAsyncGet(Plain):
    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        return None


class BothGets(OnlyAsyncGet):
    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return None


class OnlyThree(Coroutines):
    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return None

    def set_sync(self, key: str, value: Buffer) -> None: ...

    def delete_sync(self, key: str) -> None: ...


def test_who_is_synchronous() -> None:
    assert is_synchronous(Plain())
    assert is_synchronous(Blocking())
    assert is_synchronous(BothGets())
    assert not is_synchronous(OnlyAsyncGet())
    assert not is_synchronous(Coroutines())
    assert not is_synchronous(OnlyThree())
    wrapper = Plain()
    wrapper.synchronous = False  # type: ignore[attr-defined]
    assert not is_synchronous(wrapper)
    patched = Plain()
    patched.get = Coroutines().get  # type: ignore[method-assign]
    assert not is_synchronous(patched)


def test_bulk_access_is_plain_data() -> None:
    access = BulkAccess("files", root="/data")
    assert (access.kind, access.root, access.get_many, access.set_many) == ("files", "/data", None, None)


async def ranges_of(store: Store, key: str, ranges: list[ByteRequest | None], **options: Any) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    async for group in store.get_ranges(key, ranges, prototype=PROTOTYPE, **options):
        for index, value in group:
            assert value is not None
            found[index] = value.to_bytes()
    return found


request = st.one_of(
    st.none(),
    st.builds(lambda a, n: RangeByteRequest(a, a + n), st.integers(0, 40), st.integers(0, 20)),
    st.builds(OffsetByteRequest, st.integers(0, 40)),
    st.builds(SuffixByteRequest, st.integers(0, 40)),
)


@given(
    st.binary(max_size=50), st.lists(request, max_size=8), st.integers(-1, 10), st.integers(1, 30), st.integers(1, 4)
)
def test_ranges_are_what_they_would_be_one_by_one(
    value: bytes, ranges: list[ByteRequest | None], gap: int, longest: int, concurrency: int
) -> None:
    expected = {index: cut(value, part) for index, part in enumerate(ranges)}
    store = Coroutines({"k": value})
    options = {"max_gap_bytes": gap, "max_coalesced_bytes": longest}
    found = asyncio.run(ranges_of(store, "k", ranges, max_concurrency=concurrency, **options))
    assert found == expected
    assert store.most_alive <= concurrency
    plain = Plain({"k": value}).get_ranges_sync("k", ranges, prototype=PROTOTYPE, **options)
    assert {index: part.to_bytes() for index, part in plain if part is not None} == expected
    for merged in merge_requests(ranges, **options):
        if isinstance(merged.byte_range, RangeByteRequest) and len(merged.members) > 1:
            assert merged.byte_range.end - merged.byte_range.start <= longest


async def test_near_ranges_are_one_request() -> None:
    store = Coroutines({"k": bytes(100)})
    await ranges_of(store, "k", [RangeByteRequest(20, 30), RangeByteRequest(0, 10)], max_gap_bytes=10)
    await ranges_of(store, "k", [RangeByteRequest(20, 30), RangeByteRequest(0, 10)], max_gap_bytes=9)
    assert store.asked == [RangeByteRequest(0, 30), RangeByteRequest(0, 10), RangeByteRequest(20, 30)]


async def test_ranges_of_a_missing_key() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        await ranges_of(Coroutines(), "nope", [RangeByteRequest(0, 1)])
    assert isinstance(caught.value.exceptions[0], FileNotFoundError)
    with pytest.raises(ExceptionGroup) as caught:
        Plain().get_ranges_sync("nope", [None], prototype=PROTOTYPE)
    assert isinstance(caught.value.exceptions[0], FileNotFoundError)
    with pytest.raises(TypeError, match="Coroutines does not support synchronous reads"):
        Coroutines().get_ranges_sync("nope", [None], prototype=PROTOTYPE)


async def test_leaving_early_cancels_the_other_requests() -> None:
    store = Coroutines({"k": bytes(100)})
    ranges: list[ByteRequest | None] = [RangeByteRequest(n, n + 1) for n in range(0, 100, 10)]
    groups = store.get_ranges("k", ranges, prototype=PROTOTYPE, max_gap_bytes=0, max_concurrency=2)
    async for _ in groups:
        break
    await groups.aclose()  # type: ignore[attr-defined]
    assert len(store.asked) < len(ranges)


async def test_set_or_delete() -> None:
    class Place:
        done: str = ""

        async def get(self, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
            return None

        async def set(self, value: Buffer) -> None:
            self.done = "set"

        async def delete(self) -> None:
            self.done = "deleted"

        async def set_if_not_exists(self, default: Buffer) -> None: ...

    place = Place()
    await set_or_delete(place, cpu.Buffer.from_bytes(b""))
    assert place.done == "set"
    await set_or_delete(place, None)
    assert place.done == "deleted"
