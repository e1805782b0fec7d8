"""What every store must do, held against a dictionary."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.stores import WRITABLE, make
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest, bulk_access_of, is_synchronous
from zarr.abc.stores.changes import stages
from zarr.buffer.core import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.errors import ReadOnlyError
from zarr.storage import (
    LocalStore,
    LoggingStore,
)

PROTOTYPE = default_buffer_prototype()
DATA = {
    "zarr.json": b"{}",
    "a/zarr.json": b"{1}",
    "a/b/c/0/1": bytes(range(100)),
    "a/b/c/1/0": b"",
    "a2/.zarray": b"x",
    "é/ü 1": b"names of any letters",
}


@pytest.fixture(params=WRITABLE)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return make(request.param, tmp_path)


async def filled(store: Store) -> Store:
    for key, value in DATA.items():
        await store.set(key, Buffer.from_bytes(value))
    return store


async def value(store: Store, key: str, byte_range: Any = None) -> bytes | None:
    found = await store.get(key, PROTOTYPE, byte_range)
    return None if found is None else found.to_bytes()


async def contents(store: Store) -> dict[str, bytes | None]:
    return {key: await value(store, key) for key in [key async for key in store.list()]}


async def test_what_is_set_is_got_and_listed(store: Store) -> None:
    await filled(store)
    assert await contents(store) == DATA
    assert await value(store, "a/b") is None if not isinstance(store, (LocalStore, LoggingStore)) else True
    assert await value(store, "nope") is None
    assert await value(store, "nope/zarr.json") is None
    assert await value(store, "a/zarr.json/zarr.json") is None


async def test_replaced_values_are_the_last_ones(store: Store) -> None:
    await filled(store)
    for number in range(5):
        await store.set("a/b/c/0/1", Buffer.from_bytes(b"%d" % number))
    assert await value(store, "a/b/c/0/1") == b"4"
    assert sorted([key async for key in store.list()]) == sorted(DATA)


@pytest.mark.parametrize(
    ("byte_range", "expected"),
    [
        (RangeByteRequest(10, 20), slice(10, 20)),
        (RangeByteRequest(90, 100), slice(90, 100)),
        (OffsetByteRequest(0), slice(0, None)),
        (OffsetByteRequest(30), slice(30, None)),
        (SuffixByteRequest(7), slice(-7, None)),
        (SuffixByteRequest(100), slice(None)),
        (SuffixByteRequest(0), slice(0, 0)),
        (RangeByteRequest(5, 5), slice(5, 5)),
    ],
)
async def test_ranges(store: Store, byte_range: Any, expected: slice) -> None:
    await filled(store)
    assert await value(store, "a/b/c/0/1", byte_range) == DATA["a/b/c/0/1"][expected]
    assert await value(store, "nope", byte_range) is None


async def test_many_ranges_of_one_value(store: Store) -> None:
    await filled(store)
    ranges = [RangeByteRequest(50, 60), RangeByteRequest(0, 4), None, RangeByteRequest(2, 8)]
    found: dict[int, bytes] = {}
    async for group in store.get_ranges("a/b/c/0/1", ranges, prototype=PROTOTYPE, max_gap_bytes=8):
        found.update({index: part.to_bytes() for index, part in group if part is not None})
    whole = DATA["a/b/c/0/1"]
    assert found == {0: whole[50:60], 1: whole[0:4], 2: whole, 3: whole[2:8]}


async def test_partial_values(store: Store) -> None:
    await filled(store)
    asked = [("a/zarr.json", None), ("nope", None), ("a/b/c/0/1", RangeByteRequest(3, 5))]
    found = await store.get_partial_values(PROTOTYPE, asked)
    assert [None if part is None else part.to_bytes() for part in found] == [b"{1}", None, bytes([3, 4])]


@pytest.mark.parametrize("prefix", ["", "a", "a/", "a/b", "nope", "a2"])
async def test_listing_below_a_prefix(store: Store, prefix: str) -> None:
    await filled(store)
    start = prefix.rstrip("/") + "/" if prefix else ""
    below = [key for key in DATA if key.startswith(start)]
    assert sorted([key async for key in store.list_prefix(start)]) == sorted(below)
    names = {key[len(start) :].split("/")[0] for key in below}
    assert sorted([name async for name in store.list_dir(prefix)]) == sorted(names)
    assert await store.is_empty(prefix) is (not below)
    assert await store.getsize_prefix(prefix) == sum(len(DATA[key]) for key in below)


async def test_sizes_and_existence(store: Store) -> None:
    await filled(store)
    assert await store.getsize("a/b/c/0/1") == 100
    assert await store.exists("a/b/c/0/1")
    assert not await store.exists("a/b/c/0/2")
    assert not await store.exists("a/zarr.json/x")
    with pytest.raises(FileNotFoundError):
        await store.getsize("nope")


async def test_set_if_not_exists_keeps_what_is_there(store: Store) -> None:
    await store.set_if_not_exists("k/x", Buffer.from_bytes(b"first"))
    await store.set_if_not_exists("k/x", Buffer.from_bytes(b"second"))
    assert await contents(store) == {"k/x": b"first"}


async def test_deleting(store: Store) -> None:
    await filled(store)
    await store.delete("a/b/c/0/1")
    await store.delete("a/b/c/0/1")
    await store.delete("never/there")
    left = {key: item for key, item in DATA.items() if key != "a/b/c/0/1"}
    assert await contents(store) == left
    await store.delete_dir("a")
    await store.delete_dir("nope")
    assert await contents(store) == {key: item for key, item in left.items() if not key.startswith("a/")}
    await store.clear()
    assert await contents(store) == {}
    await store.set("again", Buffer.from_bytes(b"1"))
    assert await contents(store) == {"again": b"1"}


async def test_only_buffers_are_stored(store: Store) -> None:
    with pytest.raises((TypeError, AttributeError)):
        await store.set("a", b"bytes")  # type: ignore[arg-type]


async def test_read_only_view(store: Store) -> None:
    await filled(store)
    view = store.with_read_only(read_only=True)
    assert view.read_only
    assert not store.read_only
    assert await value(view, "a/zarr.json") == b"{1}"
    for action in (
        lambda: view.set("a", Buffer.from_bytes(b"")),
        lambda: view.set_if_not_exists("a", Buffer.from_bytes(b"")),
        lambda: view.delete("a"),
        lambda: view.delete_dir("a"),
        view.clear,
    ):
        with pytest.raises(ReadOnlyError, match="read-only"):
            await action()
    assert await contents(store) == DATA


async def test_sync_methods_agree_with_coroutines(store: Store) -> None:
    if not is_synchronous(store):
        pytest.skip("plain methods are optional, and this store has coroutines only")
    await filled(store)
    sync: Any = store
    assert sorted(sync.list_sync()) == sorted(DATA)
    assert sorted(sync.list_dir_sync("a")) == ["b", "zarr.json"]
    assert sorted(sync.list_prefix_sync("a/b/")) == ["a/b/c/0/1", "a/b/c/1/0"]
    for key, item in DATA.items():
        assert sync.get_sync(key, prototype=PROTOTYPE).to_bytes() == item
        assert sync.getsize_sync(key) == len(item)
        assert sync.exists_sync(key)
    many = sync.get_many_sync(["a/zarr.json", "nope"], PROTOTYPE)
    assert [None if part is None else part.to_bytes() for part in many] == [b"{1}", None]
    access = store.bulk_access()
    if access is not None and access.get_many is not None:
        assert [None if p is None else bytes(p) for p in access.get_many(["a/zarr.json", "nope"])] == [b"{1}", None]
        assert access.set_many is not None
        access.set_many([("new/key", b"12"), ("zarr.json", None)])
        assert await value(store, "new/key") == b"12"
        assert await value(store, "zarr.json") is None


async def test_many_tasks_at_once(store: Store) -> None:
    items = {f"k/{number}": b"%d" % number for number in range(50)}
    await asyncio.gather(*(store.set(key, Buffer.from_bytes(item)) for key, item in items.items()))
    found = await asyncio.gather(*(value(store, key) for key in items))
    assert dict(zip(items, found, strict=True)) == items


IN_MEMORY = ["FsspecStore", "GpuMemoryStore", "MappingStore", "MemoryStore", "ObjectStore", "WrapperStore", "cache"]
PICKLED = [kind for kind in WRITABLE if kind not in IN_MEMORY]


@pytest.mark.parametrize("kind", PICKLED)
def test_pickles(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path)
    asyncio.run(filled(store))
    again = pickle.loads(pickle.dumps(store))
    assert asyncio.run(contents(again)) == DATA
    assert type(again) is type(store)


@pytest.mark.parametrize("kind", [kind for kind in WRITABLE if kind != "WrapperStore"])
def test_equal_when_over_the_same_data(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path)
    assert store == store.with_read_only(read_only=False)
    assert store != make("MappingStore", tmp_path)
    assert store != 5
    with pytest.raises(TypeError):
        hash(store)


HOSTILE = ["", "/abs", "a/", "a//b", "..", "../x", "a/../x", "./a", "a/.", "a\\b", "a\0b"]


@pytest.mark.parametrize("key", HOSTILE)
@pytest.mark.parametrize("kind", WRITABLE)
async def test_keys_that_climb_are_refused(kind: str, key: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path)
    outside = tmp_path / "x"
    outside.write_bytes(b"outside")
    with pytest.raises(ValueError, match="not allowed"):
        await store.set(key, Buffer.from_bytes(b"1"))
    with pytest.raises(ValueError, match="not allowed"):
        await store.get(key, PROTOTYPE)
    if kind == "LocalStore" and key:
        with pytest.raises(ValueError, match="not allowed"):
            await store.delete(key)
        with pytest.raises(ValueError, match="not allowed"):
            await store.exists(key)
    assert outside.read_bytes() == b"outside"


@pytest.mark.parametrize(
    "byte_range",
    [RangeByteRequest(-5, 3), RangeByteRequest(5, 3), OffsetByteRequest(-3), SuffixByteRequest(-3)],
)
async def test_ranges_that_are_none_are_refused(store: Store, byte_range: Any) -> None:
    await filled(store)
    with pytest.raises(ValueError, match="is negative or ends before it begins"):
        await value(store, "a/b/c/0/1", byte_range)


@pytest.mark.parametrize("byte_range", [RangeByteRequest(100, 120), RangeByteRequest(200, 220), OffsetByteRequest(200)])
async def test_there_is_nothing_behind_the_end(store: Store, byte_range: Any) -> None:
    await filled(store)
    assert await value(store, "a/b/c/0/1", byte_range) == b""


@pytest.mark.parametrize(
    "kind",
    [
        "MemoryStore",
        "ManagedMemoryStore",
        "LocalStore",
        "ZipStore",
        "MappingStore",
        "WrapperStore",
        "SQLiteStore",
        "LMDBStore",
        "DBMStore",
    ],
)
def test_plain_methods_and_many_values_at_once_stand_for_coroutines(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path)
    assert is_synchronous(store)
    assert bulk_access_of(store) is not None
    assert stages(store) == (kind not in {"MappingStore", "WrapperStore", "DBMStore"})
