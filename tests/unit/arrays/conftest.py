"""Stores of every kind, each with and without bulk transfers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from zarr.storage import LocalStore, MemoryStore, WrapperStore, ZipStore


class SlowStore(WrapperStore[Any]):
    """A wrapper that overrides coroutines only, as a remote store would: never taken for a synchronous one."""

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        return await self._store.get(key, prototype, byte_range)

    async def set(self, key: str, value: Any) -> None:
        await self._store.set(key, value)


@contextmanager
def open_store(kind: str) -> Iterator[Any]:
    """A new store of one kind: memory, local, zip or slow."""
    with TemporaryDirectory() as folder:
        if kind == "memory":
            yield MemoryStore()
        elif kind == "slow":
            yield SlowStore(MemoryStore())
        elif kind == "local":
            yield LocalStore(Path(folder) / "data.zarr")
        else:
            store = ZipStore(Path(folder) / "data.zip", mode="a")
            try:
                yield store
            finally:
                store.close()


KINDS = ("memory", "local", "zip", "slow")


@pytest.fixture(params=KINDS)
def store_kind(request: pytest.FixtureRequest) -> str:
    """Each kind of store in turn."""
    kind: str = request.param
    return kind


@pytest.fixture(params=["bulk", "plain"])
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Send an array down the bulk way or the plain way."""

    def choose(array: Any) -> Any:
        if request.param == "plain":
            array._handle._bulk = None
        return array

    return choose
