"""Parts of values, renaming, sizes: what every store can do; and the bases for stores that cannot do everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.stores import WRITABLE, make
from zarr.abc.store import ReadListStore, ReadStore, ReadWriteListStore, ReadWriteStore, Store
from zarr.buffer.core import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.errors import ReadOnlyError
from zarr.storage import LocalStore, MemoryStore, WrapperStore

PROTOTYPE = default_buffer_prototype()


async def put(store: Store, **values: bytes) -> None:
    for key, value in values.items():
        await store.set(key.replace("__", "/"), Buffer.from_bytes(value))


async def value_of(store: Store, key: str) -> bytes | None:
    found = await store.get(key, PROTOTYPE)
    return None if found is None else found.to_bytes()


@pytest.mark.parametrize("kind", WRITABLE)
def test_parts_of_values_are_replaced(kind: str, tmp_path: Path) -> None:
    async def work() -> None:
        store = make(kind, tmp_path)
        await put(store, a__b=b"abcdef")
        await store.set_partial_values([("a/b", 1, b"XY"), ("new", 0, Buffer.from_bytes(b"n")), ("a/b", 5, b"ZZZ")])
        assert await value_of(store, "a/b") == b"aXYdeZZZ"
        assert await value_of(store, "new") == b"n"
        assert await store.getsize("a/b") == 8
        with pytest.raises(ValueError, match=r"'a/b' holds 8 bytes.*offset 9"):
            await store.set_partial_values([("a/b", 9, b"x")])
        with pytest.raises(ValueError, match="offset -1"):
            await store.set_partial_values([("a/b", -1, b"x")])
        assert await value_of(store, "a/b") == b"aXYdeZZZ"

    asyncio.run(work())


@pytest.mark.parametrize("kind", WRITABLE)
def test_keys_and_folders_are_renamed(kind: str, tmp_path: Path) -> None:
    async def work() -> None:
        store = make(kind, tmp_path)
        await put(store, a__zarr=b"1", a__c__0=b"22", b=b"3", c__d=b"4")
        await store.rename("b", "x/y/z")
        await store.rename("a", "moved/here")
        keys = sorted([key async for key in store.list()])
        assert keys == ["c/d", "moved/here/c/0", "moved/here/zarr", "x/y/z"]
        assert await value_of(store, "moved/here/c/0") == b"22"
        for src, dest, error in [
            ("b", "q", FileNotFoundError),
            ("moved", "x", FileExistsError),
            ("c/d", "x/y/z", FileExistsError),
            ("moved", "moved/in", ValueError),
            ("", "q", ValueError),
        ]:
            with pytest.raises(error):
                await store.rename(src, dest)
        assert sorted([key async for key in store.list()]) == keys

    asyncio.run(work())


def test_a_read_only_store_refuses(tmp_path: Path) -> None:
    asyncio.run(put(LocalStore(tmp_path), a=b"1"))
    for store in (LocalStore(tmp_path, read_only=True), MemoryStore(read_only=True)):
        with pytest.raises(ReadOnlyError):
            asyncio.run(store.rename("a", "b"))
        with pytest.raises(ReadOnlyError):
            asyncio.run(store.set_partial_values([("a", 0, b"x")]))


class Reversed(WrapperStore[Any]):
    """Stores values back to front: what it does must not be passed by."""

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = await super().get(key, prototype)
        return None if found is None else Buffer.from_bytes(found.to_bytes()[::-1])

    async def set(self, key: str, value: Any) -> None:
        await super().set(key, Buffer.from_bytes(value.to_bytes()[::-1]))


def test_a_wrapper_that_sees_to_values_is_asked() -> None:
    async def work() -> None:
        inner = MemoryStore()
        store = Reversed(inner)
        await store.set("a", Buffer.from_bytes(b"abc"))
        await store.set_partial_values([("a", 0, b"X")])
        assert await value_of(inner, "a") == b"cbX"
        await store.rename("a", "b")
        assert await value_of(store, "b") == b"Xbc"

    asyncio.run(work())


def test_parts_set_at_once_are_all_kept() -> None:
    async def work() -> bytes | None:
        store = MemoryStore()
        await put(store, a=bytes(200))
        await asyncio.gather(*(store.set_partial_values([("a", i, bytes([i]))]) for i in range(200)))
        return await value_of(store, "a")

    assert asyncio.run(work()) == bytes(range(200))


def test_a_renamed_array_reads_the_same(tmp_path: Path) -> None:
    for store in (LocalStore(tmp_path), MemoryStore()):
        zarr.create_array(store, name="a/b", data=np.arange(10))
        asyncio.run(store.rename("a/b", "a/c"))
        assert zarr.open_array(store, path="a/c", mode="r")[:].tolist() == list(range(10))
        assert "b" not in zarr.open_group(store, path="a", mode="r")


# ------------------------------------------------------------------------------------------ kinds of stores

VALUES: dict[str, bytes] = {}


class Reading(ReadStore):
    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = VALUES.get(key)
        return None if found is None else prototype.buffer.from_bytes(found)


class Listing(Reading, ReadListStore):
    async def list(self) -> AsyncIterator[str]:
        for key in VALUES:
            yield key


class Writing(Reading, ReadWriteStore):
    async def set(self, key: str, value: Any) -> None:
        self._check_writable()
        VALUES[key] = value.to_bytes()

    async def delete(self, key: str) -> None:
        VALUES.pop(key, None)


class Everything(Writing, Listing, ReadWriteListStore):
    pass


def test_stores_of_each_kind_hold_arrays() -> None:
    VALUES.clear()
    made = zarr.create_array(Everything(), name="g/a", data=np.arange(6), chunks=(3,))
    assert zarr.open_array(Writing(), path="g/a")[:].tolist() == made[:].tolist()
    assert zarr.open_array(Reading(), path="g/a")[2:4].tolist() == [2, 3]
    assert list(zarr.open_group(Listing(), mode="r").arrays()) == []
    assert [name for name, _ in zarr.open_group(Listing(), path="g", mode="r").arrays()] == ["a"]
    asyncio.run(Everything().rename("g", "h"))
    assert sorted(VALUES) == ["h/a/c/0", "h/a/c/1", "h/a/zarr.json", "h/zarr.json", "zarr.json"]
    with pytest.raises(ReadOnlyError):
        asyncio.run(Reading().set("a", Buffer.from_bytes(b"")))
    with pytest.raises(ReadOnlyError):
        asyncio.run(Listing().rename("h", "g"))
    with pytest.raises(NotImplementedError, match="Writing does not support listing"):
        Writing().list()
    with pytest.raises(TypeError, match="abstract"):
        ReadWriteStore()  # type: ignore[abstract]


def test_every_store_is_known_by_what_it_can_do() -> None:
    assert issubclass(MemoryStore, ReadWriteListStore)
    assert issubclass(LocalStore, ReadWriteListStore)
    assert issubclass(WrapperStore, ReadWriteListStore)
    assert not issubclass(Reading, ReadWriteStore)
    assert not issubclass(Listing, ReadWriteStore)
    assert not issubclass(Writing, ReadListStore)
    assert not issubclass(dict, ReadStore)
    assert isinstance(Everything(), ReadWriteListStore)
