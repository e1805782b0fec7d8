"""A hundred arrays behind a network, from wherever a program stands: loops, threads, forks, pickles, dask."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.api import asynchronous as async_api
from zarr.storage import FsspecStore, MemoryStore, ObjectStore

from .web import WebServer

COUNT = 100
VALUES = np.arange(6 * 5, dtype="i4").reshape(6, 5)


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    memory = MemoryStore()
    root = zarr.create_group(memory)
    for i in range(COUNT):
        root.create_array(f"x{i}", data=VALUES + i, chunks=(3, 5))
    with WebServer({key: value.to_bytes() for key, value in memory._store_dict.items()}, 0.002) as server:
        yield server


@pytest.fixture(params=["fsspec", "obstore"])
def arrays(request: pytest.FixtureRequest, server: WebServer) -> list[zarr.Array[Any]]:
    return open_all(request.param, server.url)


def open_all(kind: str, url: str) -> list[zarr.Array[Any]]:
    store: Any
    if kind == "fsspec":
        pytest.importorskip("aiohttp", reason="aiohttp, which fsspec needs for the web, is not installed")
        store = FsspecStore.from_url(url)
    else:
        stores = pytest.importorskip("obstore.store", reason="obstore is not installed")
        store = ObjectStore(stores.HTTPStore.from_url(url, client_options={"allow_http": True}))
    first = zarr.open_array(store, path="x0", mode="r")
    return [zarr.open_array(first.store, path=f"x{i}", mode="r") for i in range(COUNT)]


def check(found: list[Any]) -> None:
    for i, got in enumerate(found):
        np.testing.assert_array_equal(got, VALUES[1:5] + i)


async def gather(arrays: list[zarr.Array[Any]]) -> list[Any]:
    return await asyncio.gather(*(array.async_array.getitem(slice(1, 5)) for array in arrays))


def test_gathered_in_one_loop_after_another(arrays: list[zarr.Array[Any]]) -> None:
    for _ in range(3):
        check(asyncio.run(gather(arrays)))
    check([array[1:5] for array in arrays[:5]])  # on the loop of the library


def test_loops_that_have_ended_are_forgotten(arrays: list[zarr.Array[Any]]) -> None:
    """Each has connections, and of S3 a client of many megabytes, which refer to their loop."""
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def read() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        check(await gather(arrays[:4]))

    with zarr.config.set({"async.concurrency": 2}):  # so that tasks wait for their turn
        for _ in range(6):
            asyncio.run(read())
    gc.collect()
    assert sum(loop() is not None for loop in loops) <= 2


def test_in_loops_of_many_threads(arrays: list[zarr.Array[Any]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: asyncio.run(gather(arrays[:30])), range(8)):
            check(found)
        for got in pool.map(lambda array: array[1:5], arrays[:1] * 20):
            check([got])


async def test_plain_calls_in_a_running_loop(arrays: list[zarr.Array[Any]]) -> None:
    check([array[1:5] for array in arrays[:3]])
    check(zarr.read_many([(array, slice(1, 5)) for array in arrays]))
    check(await async_api.read_many([(array, slice(1, 5)) for array in arrays]))
    check(await gather(arrays))


def test_pickled(arrays: list[zarr.Array[Any]]) -> None:
    again = pickle.loads(pickle.dumps(arrays[:10]))
    check([array[1:5] for array in again])
    check(asyncio.run(gather(pickle.loads(pickle.dumps(arrays[:10])))))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("kind", ["fsspec", "obstore"])
def test_opened_after_a_fork(kind: str, server: WebServer) -> None:
    """A child makes its own loop, pools and connections; obstore may not have run in the parent before."""
    code = f"""
import os, sys
sys.path[:0] = {sys.path!r}
import zarr
from tests.remote.test_worlds import check, open_all
if {kind!r} == "fsspec":
    check([array[1:5] for array in open_all({kind!r}, {server.url!r})[:3]])
else:
    zarr.core.sync._get_loop()
child = os.fork()
if child == 0:
    try:
        check([array[1:5] for array in open_all({kind!r}, {server.url!r})[:5]])
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_obstore_used_before_a_fork() -> None:
    """Its threads are not in the child, in which a request would wait for ever: the child, and its own, are told so."""
    code = f"""
import os, sys
sys.path[:0] = {sys.path!r}
import zarr
from obstore.store import MemoryStore
array = zarr.create_array(zarr.storage.ObjectStore(MemoryStore()), shape=4, dtype="i4")
if os.fork() == 0 and os.fork() == 0:
    for call in (lambda: array[:], lambda: array.store_path.store.list_dir("").__anext__().send(None)):
        try:
            call()
        except RuntimeError as error:
            assert "forked" in str(error) and "spawn" in str(error), error
        else:
            os._exit(1)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    pytest.importorskip("obstore", reason="obstore is not installed")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_under_dask(arrays: list[zarr.Array[Any]], scheduler: str) -> None:
    dask = pytest.importorskip("dask", reason="dask is not installed")
    dask_array = pytest.importorskip("dask.array", reason="dask has no arrays here")
    lazy = [dask_array.from_array(array, chunks=(3, 5))[1:5] for array in arrays[:10]]
    check(list(dask.compute(*lazy, scheduler=scheduler, num_workers=2)))
