"""FsspecStore over gcsfs and adlfs: values have versions, and processes lose no update by default.

The clients run in processes of their own: what gcsfs imports starts threads, and other tests here fork.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import zarr
from tests.remote.clouds import Azure, Google, serve
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.buffer.core import default_buffer_prototype
from zarr.runners.sync import sync
from zarr.storage import FsspecStore

pytestmark = pytest.mark.slow
KEY = "a2V5"  # no secret: the service here asks for none

Make = Callable[[], Any]


def google_store(port: int) -> Any:
    from gcsfs.core import GCSFileSystem

    fs = GCSFileSystem(
        token="anon", endpoint_url=f"http://127.0.0.1:{port}", asynchronous=True, skip_instance_cache=True
    )
    return FsspecStore(fs, path="b/data")


def azure_store(port: int) -> Any:
    place = f"http://127.0.0.1:{port}/account"
    text = f"DefaultEndpointsProtocol=http;AccountName=account;AccountKey={KEY};BlobEndpoint={place};"
    options = {"connection_string": text, "skip_instance_cache": True}
    return FsspecStore.from_url("abfs://b/data", storage_options=options)


SERVICES = {"gcsfs": (Google, google_store), "adlfs": (Azure, azure_store)}


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Iterator[tuple[Make, Any]]:
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    kind, make = SERVICES[request.param]
    with serve(kind) as (port, handler):
        yield partial(make, port), handler


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


async def _use_conditions(store: Any) -> None:
    prototype = default_buffer_prototype()

    def buffer(text: bytes) -> Any:
        return prototype.buffer.from_bytes(text)

    async def read(byte_range: Any = None) -> bytes:
        return (await store.get("k", prototype, byte_range)).to_bytes()

    assert await store.get_versioned("k", prototype, None) is None
    assert await store.set_if_version("k", buffer(b"0123456789"), None)
    assert not await store.set_if_version("k", buffer(b"second"), None)
    assert not await store.put_if_absent("k", buffer(b"second"))
    assert await store.put_if_absent("other", buffer(b""))
    assert (await store.get("other", prototype)).to_bytes() == b""
    value, version = await store.get_versioned("k", prototype, None)
    assert value.to_bytes() == b"0123456789"
    assert await read(RangeByteRequest(2, 5)) == b"234"
    assert await read(RangeByteRequest(8, 50)) == b"89"
    assert await read(OffsetByteRequest(7)) == b"789"
    assert await read(OffsetByteRequest(70)) == b""
    assert await read(SuffixByteRequest(3)) == b"789"
    assert await read(SuffixByteRequest(30)) == b"0123456789"
    _, same = await store.get_versioned("k", prototype, SuffixByteRequest(3), version)
    assert same == version
    assert await store.set_if_version("k", buffer(b"second"), version)
    assert not await store.set_if_version("k", buffer(b"third"), version)
    with pytest.raises(zarr.errors.ValueReplacedError):
        await store.get_versioned("k", prototype, None, version)
    assert not await store.set_if_match("k", buffer(b"third"), value)
    assert await store.set_if_match("k", buffer(b"third"), buffer(b"second"))
    assert await read() == b"third"
    await store.delete("k")
    assert await store.get("k", prototype) is None
    assert not await store.set_if_version("k", buffer(b"fourth"), version)
    assert [key async for key in store.list()] == ["other"]


def _in_a_process(make: Make, use: Any) -> None:
    sync(use(make()))


def test_conditions(service: tuple[Make, Any], pool: ProcessPoolExecutor) -> None:
    pool.submit(_in_a_process, service[0], _use_conditions).result(100)


async def _create_by_one_request(store: Any) -> None:
    async def refuse(key: str) -> bool:
        raise AssertionError(f"{key} is looked for first")

    store.exists = refuse
    one, other = (default_buffer_prototype().buffer.from_bytes(text) for text in (b"one", b"other"))
    assert await store.put_if_absent("k", one)
    assert not await store.put_if_absent("k", other)
    assert (await store.get("k", default_buffer_prototype())).to_bytes() == b"one"


def test_a_value_is_created_by_one_request(service: tuple[Make, Any], pool: ProcessPoolExecutor) -> None:
    pool.submit(_in_a_process, service[0], _create_by_one_request).result(100)


async def _delete(store: Any) -> None:
    await store.delete("k")
    await store.delete("absent")


def test_a_removal_is_one_request(service: tuple[Make, Any], pool: ProcessPoolExecutor) -> None:
    make, handler = service
    handler.objects["data/k"] = b"1", handler.version(None, 0)
    pool.submit(_in_a_process, make, _delete).result(100)
    assert [one.partition(" ")[0] for one in handler.asked] == ["DELETE", "DELETE"]
    assert not handler.objects


async def _read_the_end(store: Any) -> None:
    found = await store.get("k", default_buffer_prototype(), SuffixByteRequest(3))
    assert found.to_bytes() == b"cde"


def test_the_end_is_that_of_one_version(service: tuple[Make, Any], pool: ProcessPoolExecutor) -> None:
    """Where the size is asked for first, the value may be replaced by a longer one before its end is read."""
    make, handler = service
    handler.objects["data/k"] = b"cde", handler.version(None, 0)
    if handler.__name__ == "Azure":
        handler.objects["data/k"] = b"1234", handler.version(None, 0)
        handler.later.append(("data/k", b"abcde"))
    pool.submit(_in_a_process, make, _read_the_end).result(100)
    assert not handler.later


def _change(make: Make, number: int, rounds: int) -> None:
    group = zarr.open_group(make(), mode="r+")
    for i in range(1, rounds + 1):
        for name in ("plain", "sharded"):
            group[name][number::4] = 10 * i + number
        group["plain"].attrs[f"{number}-{i}"] = i
        group.attrs[f"{number}-{i}"] = i


def _create(make: Make) -> None:
    group = zarr.create_group(make())
    for name, shards in (("plain", None), ("sharded", (16, 8))):
        group.create_array(name, shape=(16, 8), chunks=(8, 4), shards=shards, dtype="i4")


def _check(make: Make, rounds: int) -> None:
    found = zarr.open_group(make(), mode="r")
    for name in ("plain", "sharded"):
        np.testing.assert_array_equal(found[name][:, 3], 10 * rounds + np.arange(16) % 4)
    names = {f"{number}-{i}" for number in range(4) for i in range(1, rounds + 1)}
    assert set(found.attrs) == set(found["plain"].attrs) == names


def test_processes_lose_nothing_by_default(service: tuple[Make, Any], pool: ProcessPoolExecutor) -> None:
    make, rounds = service[0], 3
    pool.submit(_create, make).result(100)
    for job in [pool.submit(_change, make, number, rounds) for number in range(4)]:
        job.result(200)
    pool.submit(_check, make, rounds).result(100)


def _append_with_locks(make: Make) -> None:
    zarr.create_array(make(), shape=0, chunks=3, dtype="i4")
    arrays = [zarr.open_array(make(), mode="r+", config={"locking": "process"}) for _ in range(2)]
    for array in arrays:
        array.append([1, 2])
    assert zarr.open_array(make())[...].tolist() == [1, 2, 1, 2]


def test_locks_among_processes(service: tuple[Make, Any], pool: ProcessPoolExecutor) -> None:
    make, handler = service
    pool.submit(_append_with_locks, make).result(100)
    locks = {name for name in handler.objects if "/.zarr-locks/" in name}
    assert sorted(handler.objects.keys() - locks) == ["data/c/0", "data/c/1", "data/zarr.json"]
    assert locks
