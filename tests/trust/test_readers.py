"""Who reads a shard while it is being replaced gets the old one or the new one: no mixture, no error."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import KINDS, make_store, rounds, run_together
from zarr.storage import FsspecStore, WrapperStore


class Plain(WrapperStore[Any]):
    """Offers no bulk transfer, so that shards are read by index and ranges."""

    def get_sync(self, key: str, **options: Any) -> Any:
        return self._store.get_sync(key, **options)


class Coroutines(WrapperStore[Any]):
    """A store of coroutines only, which take their time."""

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        await asyncio.sleep(0)
        return await self._store.get(key, prototype, byte_range)


WRAPPERS = {"bulk": lambda store: store, "plain": Plain, "coroutines": Coroutines}


def make_array(kind: str, way: str, compressor: Any, folder: Any) -> Any:
    store = WRAPPERS[way](make_store(kind, folder))
    array = zarr.create_array(store, shape=(64, 16), chunks=(8, 4), shards=(64, 16), dtype="i4", compressors=compressor)
    array[...] = 0
    return array


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WRAPPERS)
@pytest.mark.parametrize("compressor", [None, "auto"])
def test_threads(kind: str, way: str, compressor: Any, tmp_path: Any) -> None:
    """The writer counts up; what one reading finds is all of one number."""
    array = make_array(kind, way, compressor, tmp_path)
    done, errors, seen, begun = threading.Event(), [], {0}, threading.Barrier(3)

    def write() -> None:
        value = 0
        while not done.is_set():
            value += 1
            array[...] = np.full((64, 16), value, "i4") * (1 if value % 2 else -1)
            if value == 2:
                begun.wait()

    def read(number: int) -> None:
        try:
            begun.wait()
            for i in range(rounds(60, 340)):
                found = array[3:61:5, 1:15:3] if (i + number) % 2 else array[...]
                assert len(set(found.ravel().tolist())) == 1, found
                seen.add(int(found.flat[0]))
        except BaseException as error:  # raised below
            errors.append(error)
        finally:
            done.set()

    threads = [threading.Thread(target=write), *(threading.Thread(target=read, args=(n,)) for n in range(2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    assert len(seen) > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WRAPPERS)
@pytest.mark.parametrize("compressor", [None, "auto"])
async def test_tasks(kind: str, way: str, compressor: Any, tmp_path: Any) -> None:
    store = make_array(kind, way, compressor, tmp_path).store
    array = await zarr.api.asynchronous.open_array(store=store)
    done = False

    async def write() -> None:
        value = 0
        while not done:
            value = value % 1000 + 1
            await array.setitem(..., np.full((64, 16), value, "i4"))

    async def read(number: int) -> None:
        for i in range(rounds(20, 120)):
            found = await array.getitem((slice(3, 61, 5), slice(1, 15, 3)) if (i + number) % 2 else ...)
            assert len(set(found.ravel().tolist())) == 1, found

    writer = asyncio.ensure_future(write())
    try:
        await asyncio.gather(*(read(number) for number in range(3)))
    finally:
        done = True
        await writer


def test_a_local_file_system_of_fsspec(tmp_path: Any) -> None:
    """Values are put in their place in one step there, too; what is half written is no key, nor left behind."""
    pytest.importorskip("fsspec")
    store = FsspecStore.from_url(f"file://{tmp_path}/data")
    array = zarr.create_array(store, shape=(64, 64), chunks=(64, 64), dtype="i4", compressors=None)
    array[...] = 1
    done, names, wrong = threading.Event(), {"zarr.json", "c/0/0"}, []

    async def keys() -> set[str]:
        return {key async for key in store.list()}

    def read() -> None:
        while not done.is_set():
            found = zarr.open_array(store, mode="r")[...]
            if not (found == found[0, 0]).all() or asyncio.run(keys()) != names:
                wrong.append(found)

    def write() -> None:
        try:
            for value in range(2, 60):
                array[...] = value
                array.attrs["value"] = value
        finally:
            done.set()

    run_together([write, read, read])
    assert wrong == []
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "data/c/0/0",
        "data/zarr.json",
    ]
