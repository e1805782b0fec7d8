"""The coroutines do what the functions do."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.api import asynchronous, synchronous
from zarr.storage import MemoryStore
from zarr.testing.store import LatencyStore


@pytest.fixture(params=["memory", "slow"])
def store(request: pytest.FixtureRequest) -> zarr.abc.store.Store:
    return MemoryStore() if request.param == "memory" else LatencyStore(MemoryStore(), get_latency=0.0005)


async def test_open_and_create(store: zarr.abc.store.Store) -> None:
    group = await asynchronous.open_group(store, mode="w")
    array = await asynchronous.create_array(store, name="x", shape=(4,), dtype="int8")
    await array.setitem(slice(None), 2)
    assert isinstance(await asynchronous.open(store=store), zarr.AsyncGroup)
    opened = await asynchronous.open(store=store, path="x", mode="r")
    np.testing.assert_array_equal(await opened.getitem(...), np.full(4, 2))
    assert (await asynchronous.open_array(store=store, path="x")).shape == (4,)
    assert (await asynchronous.create(3, store=store, path="y")).shape == (3,)
    assert (await asynchronous.zeros_like(array)).shape == (4,)
    assert [name async for name in group.keys()] == ["x", "y"]  # noqa: SIM118
    with pytest.raises(FileNotFoundError):
        await asynchronous.open(store=store, path="z", mode="r")


async def test_save_load_consolidate(store: zarr.abc.store.Store) -> None:
    await asynchronous.save(store, np.arange(3), b=np.zeros(2))
    found = await asynchronous.load(store=store)
    assert sorted(found) == ["arr_0", "b"]
    await asynchronous.consolidate_metadata(store)
    group = await asynchronous.open_consolidated(store)
    assert [name async for name in group.keys()] == ["arr_0", "b"]  # noqa: SIM118
    made = asynchronous.create_hierarchy(store=MemoryStore(), nodes={"a": group.metadata})
    assert [path async for path, _ in made] == ["", "a"]
    with pytest.warns(zarr.errors.ZarrDeprecationWarning):
        assert str(await asynchronous.tree(group)).startswith("/")


def test_an_asynchronous_store_serves_synchronous_code() -> None:
    store = LatencyStore(MemoryStore(), get_latency=0.0005)
    root = zarr.group(store)
    root.create_array("a/x", data=np.arange(10), chunks=(3,))
    np.testing.assert_array_equal(zarr.open(store, mode="r")["a/x"][2:9:2], np.arange(10)[2:9:2])
    assert [name for name, _ in root.members(max_depth=None)] == ["a", "a/x"]


def test_the_two_modules_agree() -> None:
    assert asynchronous.__all__ == synchronous.__all__
    for name in [*synchronous.__all__, "create_group"]:
        ours: Any = getattr(synchronous, name)
        theirs: Any = getattr(asynchronous, name)
        assert getattr(zarr, name) is ours
        assert ours.__doc__ == theirs.__doc__
        assert ours.__doc__
        assert set(inspect.signature(ours).parameters) == set(inspect.signature(theirs).parameters), name
