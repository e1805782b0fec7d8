"""Stores of users that connect in ``_open``, which is awaited before the first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore, MemoryStore, StorePath, WrapperStore

CONNECTIONS: list[object] = []


class Connecting(Store):
    """A store of coroutines whose values are there after ``_open`` only."""

    supports_writes = True
    supports_deletes = True
    supports_listing = True
    values: dict[str, Buffer] | None = None

    def __eq__(self, other: object) -> bool:
        return self is other

    async def _open(self) -> None:
        await super()._open()
        await asyncio.sleep(0)
        self.values = {}
        CONNECTIONS.append(self)

    @property
    def connected(self) -> dict[str, Buffer]:
        assert self.values is not None, "the store was not opened"
        return self.values

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        assert byte_range is None
        return self.connected.get(key)

    async def get_partial_values(self, prototype: BufferPrototype, key_ranges: Any) -> list[Buffer | None]:
        return [self.connected.get(key) for key, _ in key_ranges]

    async def exists(self, key: str) -> bool:
        return key in self.connected

    async def set(self, key: str, value: Buffer) -> None:
        self.connected[key] = value

    async def delete(self, key: str) -> None:
        self.connected.pop(key, None)

    async def list(self) -> AsyncIterator[str]:
        for key in tuple(self.connected):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in tuple(self.connected):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        for name in {key[len(start) :].partition("/")[0] for key in self.connected if key.startswith(start)}:
            yield name


class ConnectingMemory(MemoryStore):
    """A store with plain methods that connects, too."""

    async def _open(self) -> None:
        await super()._open()
        CONNECTIONS.append(self)


class ConnectingFolder(LocalStore):
    """A store of files that connects, too."""

    async def _open(self) -> None:
        await super()._open()
        CONNECTIONS.append(self)


CASES: dict[str, Callable[[Path], Any]] = {
    "coroutines": lambda place: Connecting(),
    "memory": lambda place: ConnectingMemory(),
    "files": lambda place: ConnectingFolder(place / "data"),
    "wrapped": lambda place: WrapperStore(Connecting()),
    "wrapped memory": lambda place: WrapperStore(ConnectingMemory()),
    "place": lambda place: StorePath(Connecting(), "below"),
}


@pytest.fixture(params=CASES)
def store(request: Any, tmp_path: Path) -> Any:
    CONNECTIONS.clear()
    return CASES[request.param](tmp_path)


OPENERS: dict[str, Callable[[Any], Any]] = {
    "open_group": lambda store: zarr.open_group(store, mode="a"),
    "open_group w": lambda store: zarr.open_group(store, mode="w"),
    "group": zarr.group,
    "create_group": zarr.create_group,
    "open": lambda store: zarr.open(store, mode="a", shape=3, dtype="i4"),
    "create_array": lambda store: zarr.create_array(store, shape=3, dtype="i4"),
    "open_array": lambda store: zarr.open_array(store, mode="w", shape=3, dtype="i4"),
    "save": lambda store: zarr.save(store, np.arange(3)),
}


@pytest.mark.parametrize("name", OPENERS)
def test_plain_functions(name: str, store: Any) -> None:
    OPENERS[name](store)
    found = zarr.open(store, mode="r+")
    if isinstance(found, zarr.Group):
        found = found.create_array("x", shape=3, dtype="i4")
    found[:] = [1, 2, 3]
    assert found[:].tolist() == [1, 2, 3]
    assert len(CONNECTIONS) == 1


def test_coroutines(store: Any) -> None:
    async def run() -> list[int]:
        group = await zarr.api.asynchronous.open_group(store, mode="a")
        made = await asyncio.gather(*(group.create_array(f"x{i}", shape=3, dtype="i4") for i in range(3)))
        await made[0].setitem(slice(None), [1, 2, 3])
        found: Any = await made[0].getitem(slice(None))
        return list(found)

    assert asyncio.run(run()) == [1, 2, 3]
    assert len(CONNECTIONS) == 1


def test_an_open_store_is_not_opened_again() -> None:
    CONNECTIONS.clear()
    store = asyncio.run(Connecting.open())
    zarr.create_array(store, shape=3, dtype="i4")[:] = 1
    assert zarr.open_array(store)[:].tolist() == [1, 1, 1]
    assert len(CONNECTIONS) == 1
