"""The asynchronous face does what the synchronous one does."""

from __future__ import annotations

import asyncio
import inspect

import numpy as np
import pytest

import zarr
from zarr.abc.store import Store
from zarr.arrays.methods.properties import OlderNodeMembers
from zarr.errors import ContainsGroupError
from zarr.groups.methods.version2 import LegacyMembers
from zarr.storage import MemoryStore, StorePath
from zarr.testing.store import LatencyStore


@pytest.fixture(params=["memory", "slow"])
def store(request: pytest.FixtureRequest) -> Store:
    return MemoryStore() if request.param == "memory" else LatencyStore(MemoryStore(), get_latency=0.0005)


@pytest.mark.parametrize("way", ["groups", "require_groups", "getitem"])
async def test_groups_taken_from_a_batch_are_part_of_it(way: str) -> None:
    root = await zarr.AsyncGroup.from_store(MemoryStore())
    await root.create_array("a/x", shape=(4,), dtype="int8")
    async with root.batch():
        array = await root.get_array("a/x")
        await array.setitem(0, 1)
        if way == "groups":
            (group,) = [group async for _, group in root.groups()]
        else:
            group = (await root.require_groups("a"))[0] if way == "require_groups" else await root.get_group("a")
        await (await group.get_array("x")).setitem(0, 2)
    assert await array.getitem(0) == 2


def test_required_groups_are_part_of_a_batch() -> None:
    root = zarr.create_group(MemoryStore())
    array = root.create_array("a/x", shape=(4,), dtype="int8")
    with root.batch():
        root["a/x"][0] = 1
        root.require_groups("a")[0]["x"][0] = 2
    assert array[0] == 2


async def test_members(store: Store, zarr_format: int) -> None:
    root = await zarr.AsyncGroup.from_store(store, zarr_format=zarr_format, attributes={"k": 1})  # type: ignore[arg-type]
    made = await root.create_array("a/x", shape=(4,), dtype="int8")
    await made.setitem(slice(None), 3)
    await root.create_group("b")
    assert [name async for name in root.keys()] == ["a", "b"]  # noqa: SIM118
    assert [name async for name, _ in root.members(max_depth=None)] == ["a", "a/x", "b"]
    assert [name async for name in root.group_keys()] == ["a", "b"]
    assert [name async for name in (await root.get_group("a")).array_keys()] == ["x"]
    assert await root.nmembers(max_depth=None) == 3
    assert await root.contains("a/x")
    assert not await root.contains("a/y")
    array = await root.getitem("a/x")
    assert isinstance(array, zarr.AsyncArray)
    np.testing.assert_array_equal(await array.getitem(slice(None)), np.full(4, 3))
    assert await root.get("nothing", 7) == 7
    with pytest.raises(KeyError, match="nothing"):
        await root.getitem("nothing")
    with pytest.raises(ContainsGroupError):
        await root.get_array("a")


async def test_changes(store: Store) -> None:
    root = await zarr.AsyncGroup.from_store(store)
    await root.setitem("x", np.arange(3))
    await root.update_attributes({"k": 1})
    assert root.attrs == {"k": 1}
    await root.move("x", "y/z")
    await root.require_groups("p", "q")
    await root.delitem("p")
    assert [name async for name, _ in root.members(max_depth=None)] == ["q", "y", "y/z"]
    await root.require_array("q/r", shape=(3,), dtype="int8")
    assert [path async for path, _ in root.create_hierarchy({"h/i": root.metadata})] == ["h", "h/i"]
    assert str(await root.tree(level=0)) == "/\n├── h\n├── q\n└── y\n"
    assert "No. arrays  : 2" in repr(await root.info_complete())
    again = await zarr.AsyncGroup.open(store)
    assert again == root
    assert repr(again) == f"<AsyncGroup {store}>"


async def test_from_documents(store: Store) -> None:
    root = zarr.AsyncGroup.from_dict(
        StorePath(store), {"zarr_format": 3, "node_type": "group", "attributes": {"k": 1}}
    )
    assert not await root.store.exists("zarr.json")
    await root._save_metadata()
    assert (await zarr.AsyncGroup.open(store)).attrs == {"k": 1}


async def test_documents_are_saved_with_the_groups_above(store: Store) -> None:
    array = await zarr.api.asynchronous.create_array(store, name="a/b", shape=3, dtype="i1")
    group = await zarr.AsyncGroup.from_store(StorePath(store, "c/d"))
    for name in ("zarr.json", "a/zarr.json", "c/zarr.json"):
        await store.delete(name)
    await array._save_metadata(array.metadata, ensure_parents=True)
    await group._save_metadata(ensure_parents=True)
    for name in ("zarr.json", "a/zarr.json", "a/b/zarr.json", "c/zarr.json", "c/d/zarr.json"):
        assert await store.exists(name)


async def test_arrays_of_one_value(store: Store) -> None:
    root = await zarr.AsyncGroup.from_store(store)
    for method, value in (("zeros", 0), ("ones", 1), ("empty", 0)):
        array = await getattr(root, method)(name=method, shape=(2,))
        np.testing.assert_array_equal(await array.getitem(...), np.full(2, value))
        like = await getattr(root, f"{method}_like")(name=f"{method}_like", data=array)
        np.testing.assert_array_equal(await like.getitem(...), np.full(2, value))
    full = await root.full(name="full", shape=(2,), fill_value=5)
    np.testing.assert_array_equal(await full.getitem(...), [5, 5])


def test_both_faces_share_one_state() -> None:
    group = zarr.group()
    group.attrs["k"] = 1
    assert group._async_group.attrs == {"k": 1}


def test_the_faces_agree() -> None:
    """Same parameters, same defaults; nothing public on one face only."""
    renamed = {"__getitem__": "getitem", "__setitem__": "setitem", "__delitem__": "delitem", "__contains__": "contains"}
    older = {"create_groups", "items", "values", *vars(LegacyMembers), *vars(OlderNodeMembers)}
    only_sync = {"create", "update_attributes_async", "__iter__", "__len__", *older}
    wider = {"create_group", "require_group", "require_array", "open", "__getitem__", "get", "from_store"}
    for name in dir(zarr.Group):
        member = getattr(zarr.Group, name)
        if name in only_sync or (name.startswith("_") and name not in renamed):
            continue
        twin = getattr(zarr.AsyncGroup, renamed.get(name, name), None)
        assert twin is not None, name
        if callable(member) and name not in wider:
            ours, theirs = (
                [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]
                for f in (member, twin)
            )
            assert ours == theirs, name


def test_what_is_written_once_is_read_twice() -> None:
    assert zarr.AsyncGroup.create_array.__doc__ == zarr.Group.create_array.__doc__
    for name, member in vars(zarr.AsyncGroup).items():
        if callable(member) and not name.startswith("_"):
            assert member.__doc__, name


async def test_other_tasks_get_their_turn() -> None:
    array = zarr.array([1, 2, 3]).async_array
    order: list[str] = []

    async def read(name: str) -> None:
        order.append(f"{name} begins")
        await array.getitem(...)
        order.append(f"{name} ends")

    await asyncio.gather(read("a"), read("b"))
    assert order == ["a begins", "b begins", "a ends", "b ends"]
