"""A network that fails: one request in three meets a fault; all comes right, or ends with an error in time."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer import default_buffer_prototype
from zarr.errors import StoreUnavailableError
from zarr.storage import FsspecStore, ObjectStore

from .web import FAULTS, FailingServer, WebServer

COUNT = 120
VALUES = np.arange(COUNT * 100, dtype="i4")
KEYS = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
NETWORK = {"tries": 16, "seconds": 60, "request_seconds": 10}
NUMBERS = itertools.count()
logging.getLogger("werkzeug").setLevel(logging.WARNING)

Connect = Callable[..., Any]


def obstores() -> Any:
    return pytest.importorskip("obstore.store", reason="obstore is not installed")


@pytest.fixture(scope="module")
def moto_port() -> Iterator[int]:
    server = pytest.importorskip("moto.server", reason="moto, which stands in for S3, is not installed")
    thread = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    thread.start()
    yield thread.get_host_and_port()[1]
    thread.stop()


@pytest.fixture(params=["http-fsspec", "http-obstore", "s3-fsspec", "s3-obstore"])
def network(request: pytest.FixtureRequest) -> Iterator[tuple[FailingServer, Connect]]:
    """A server that fails, and what makes a store of it."""
    kind, _, client = request.param.partition("-")
    if kind == "http":
        pytest.importorskip("aiohttp")
        with WebServer({}) as web, FailingServer(web.port) as server:
            yield server, _web(client, server.url)
    else:
        port = request.getfixturevalue("moto_port")
        with FailingServer(port) as server:
            yield server, _s3(client, server.url, port)


def _web(client: str, url: str) -> Connect:
    if client == "fsspec":
        return lambda **more: FsspecStore.from_url(url, **{"network": NETWORK, **more})
    store = obstores().HTTPStore.from_url(url, client_options={"allow_http": True})
    return lambda **more: ObjectStore(store, **{"network": NETWORK, **more})


def _s3(client: str, url: str, port: int) -> Connect:
    bucket = f"faults-{os.getpid()}-{next(NUMBERS)}"
    sessions = pytest.importorskip("botocore.session", reason="botocore is not installed")
    direct = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
    sessions.Session().create_client("s3", **direct, **KEYS).create_bucket(Bucket=bucket)
    if client == "fsspec":
        pytest.importorskip("s3fs", reason="s3fs is not installed")
        kwargs = {"endpoint_url": url, "region_name": "us-east-1"}
        options = {"key": "nobody", "secret": "nothing", "client_kwargs": kwargs, "skip_instance_cache": True}
        return lambda **more: FsspecStore.from_url(
            f"s3://{bucket}/data", storage_options=options, **{"network": NETWORK, **more}
        )
    config = {**KEYS, "aws_region": "us-east-1", "aws_endpoint": url}
    store = obstores().S3Store(bucket, prefix="data", config=config, client_options={"allow_http": True})
    return lambda **more: ObjectStore(store, **{"network": NETWORK, **more})


def settled(server: FailingServer) -> bool:
    """Whether no request is left, a moment later."""
    end = time.monotonic() + 5
    while server.under_way and time.monotonic() < end:
        time.sleep(0.01)
    return not server.under_way


def counted(server: FailingServer, retries: int) -> bool:
    """Whether the repeats are as many as the faults; clients repeat by themselves on a connection used before."""
    given = server.given.total()
    return given - server.given["reset"] <= retries <= given


@pytest.fixture(autouse=True)
def few_at_once() -> Iterator[None]:
    with zarr.config.set({"async.concurrency": 16}):  # moto answers one at a time
        yield


@pytest.mark.parametrize("layout", [{}, {"shards": 2000}], ids=["plain", "sharded"])
def test_everything_comes_right(network: tuple[FailingServer, Connect], layout: dict[str, Any]) -> None:
    server, connect = network
    server.faults = tuple(fault for fault in FAULTS if fault != "stall")  # which takes a second each
    store = connect()
    array = zarr.create_array(store, name="x", shape=VALUES.shape, chunks=100, dtype="i4", compressors=None, **layout)
    array[...] = VALUES
    array[150:250] = -1
    expected = VALUES.copy()
    expected[150:250] = -1
    reader = connect(read_only=True)
    again = zarr.open_array(reader, path="x", mode="r")
    np.testing.assert_array_equal(again[...], expected)
    np.testing.assert_array_equal(again[::7], expected[::7])
    for i in range(0, COUNT * 100, 1500):
        np.testing.assert_array_equal(again[i : i + 130], expected[i : i + 130])
    np.testing.assert_array_equal(asyncio.run(_read_all(again, layout)), expected)
    assert settled(server)
    assert store.retries > 1
    assert reader.retries > 10
    assert counted(server, store.retries + reader.retries)


async def _read_all(array: Any, layout: dict[str, Any]) -> Any:
    parts = [slice(i, i + 400) for i in range(0, len(VALUES), 400)]
    return np.concatenate(await asyncio.gather(*(array.async_array.getitem(part) for part in parts)))


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault(network: tuple[FailingServer, Connect], fault: str) -> None:
    server, connect = network
    server.share = 0.0
    store = connect(network={"request_seconds": 0.3 if fault == "stall" else 10})
    buffer = default_buffer_prototype().buffer.from_bytes

    async def use() -> None:
        await store.set("a", buffer(b"0123456789"))
        server.share, server.faults = 1 / 2, (fault,)
        prototype = default_buffer_prototype()
        for _ in range(2 if fault == "stall" else 3):
            await store.set("b", buffer(b"b"))
            for request, wanted in RANGES[: 2 if fault == "stall" else None]:
                found = await store.get("a", prototype, request)
                assert found.to_bytes() == wanted
            assert fault == "short" or await store.exists("a")  # which needs no body
            assert not await store.exists("none")
            assert await store.get("none", prototype) is None
        # On a busy machine, requests without a fault take more than 0.3 s, too.
        slow = fault == "stall" and store.retries > server.given.total()
        assert slow or counted(server, store.retries)
        assert await store.getsize("a") == 10  # by two requests, where fsspec asks a web server

    asyncio.run(use())
    assert settled(server)
    assert server.given.total() > 2


@pytest.mark.parametrize("network", ["http-obstore", "s3-obstore"], indirect=True)
@pytest.mark.parametrize("fault", ["half", "other", "500"])
def test_a_fault_is_repeated_and_not_taken_for_a_refused_range(
    network: tuple[FailingServer, Connect], fault: str
) -> None:
    server, connect = network
    server.share = 0.0
    store = connect()
    key, prototype = "range/416", default_buffer_prototype()

    async def use() -> None:
        await store.set(key, prototype.buffer.from_bytes(b"0123456789"))
        server.share, server.faults = 1 / 2, (fault,)
        for _ in range(8):
            found, _ = await store.get_versioned(key, prototype, zarr.abc.store.RangeByteRequest(2, 8))
            assert found.to_bytes() == b"234567"

    asyncio.run(use())
    assert store.retries == server.given.total() > 0


RANGES = [
    (None, b"0123456789"),
    (zarr.abc.store.RangeByteRequest(2, 8), b"234567"),
    (zarr.abc.store.RangeByteRequest(1, 10), b"123456789"),
    (zarr.abc.store.OffsetByteRequest(6), b"6789"),
    (zarr.abc.store.SuffixByteRequest(4), b"6789"),
]


@pytest.mark.clock
def test_a_server_that_is_down_ends_with_an_error_in_time(network: tuple[FailingServer, Connect]) -> None:
    server, connect = network
    server.share, server.faults = 1.0, ("503",)
    store = connect(network={"tries": 4})
    start = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"get .*: 4 tries in .* s failed .*network.tries = 4.*503"):
        asyncio.run(store.get("a", default_buffer_prototype()))
    assert server.requests == 4  # what the client does by itself is not added to it
    store = connect(network={"seconds": 0.2, "request_seconds": 0.3})
    server.faults = ("stall",)
    with pytest.raises(StoreUnavailableError, match=r"network.seconds = 0.2"):
        asyncio.run(store.get("a", default_buffer_prototype()))
    assert time.monotonic() - start < 10
    assert settled(server)


def test_one_try_is_the_plain_error(network: tuple[FailingServer, Connect]) -> None:
    server, connect = network
    server.share, server.faults = 1.0, ("500",)
    store = pickle.loads(pickle.dumps(connect(network={"tries": 2})))
    with pytest.raises(StoreUnavailableError):
        asyncio.run(store.get("a", default_buffer_prototype()))
    assert store.retries == 1


@pytest.mark.parametrize("network", ["s3-fsspec", "s3-obstore"], indirect=True)
def test_conditional_writes_say_who_wrote(network: tuple[FailingServer, Connect]) -> None:
    server, connect = network
    server.share, server.faults = 1 / 2, FAULTS[:7]
    store = connect()
    buffer = default_buffer_prototype().buffer.from_bytes

    async def race(key: str) -> tuple[list[bool], bytes]:
        done = await asyncio.gather(*(store.put_if_absent(key, buffer(b"by %d" % i)) for i in range(4)))
        found = await store.get(key, default_buffer_prototype())
        return done, found.to_bytes()

    async def run() -> None:
        for i in range(8):
            done, found = await race(f"k{i}")
            assert done.count(True) == 1, done
            assert found == b"by %d" % done.index(True)
        if store.supports_set_if_match:
            for i in range(8):
                assert await store.set_if_match(f"k{i}", buffer(b"new"), await store.get(f"k{i}", PROTOTYPE))
                assert not await store.set_if_match(f"k{i}", buffer(b"newer"), buffer(b"old"))

    asyncio.run(run())


PROTOTYPE = default_buffer_prototype()


@pytest.mark.parametrize("network", ["s3-fsspec", "s3-obstore"], indirect=True)
def test_listing_and_removing(network: tuple[FailingServer, Connect]) -> None:
    server, connect = network
    server.faults = ("503", "reset", "429 later")
    root = zarr.create_group(connect())
    for name in "abc":
        root.create_array(name, data=VALUES[:10], chunks=5)
    assert sorted(root) == ["a", "b", "c"]
    del root["b"]
    assert sorted(zarr.open_group(connect(), mode="r")) == ["a", "c"]


def test_repeats_are_logged(network: tuple[FailingServer, Connect], caplog: pytest.LogCaptureFixture) -> None:
    server, connect = network
    server.share, server.faults = 1 / 2, ("502",)
    store = connect()
    with caplog.at_level("DEBUG", logger="zarr.store.retries"):
        for _ in range(5):
            asyncio.run(store.get("a", default_buffer_prototype()))
    lines = [record.getMessage() for record in caplog.records if record.name == "zarr.store.retries"]
    assert len(lines) == store.retries == server.given.total() > 0
    assert "repeat 1 after" in lines[0]
    assert "502" in lines[0]


def test_settings_of_a_store_are_checked() -> None:
    fs = pytest.importorskip("fsspec.implementations.http").HTTPFileSystem(asynchronous=True)
    with pytest.raises(TypeError, match="no setting"):
        FsspecStore(fs, path="http://localhost", network={"retries": 3})
    with pytest.raises(ValueError, match="tries of 1 or more"):
        FsspecStore(fs, path="http://localhost", network={"tries": 0})


def test_what_the_user_has_set_of_the_client_is_kept() -> None:
    stores = obstores()
    store = ObjectStore(stores.HTTPStore.from_url("http://localhost", retry_config={"max_retries": 1}))
    assert store._client is store.store
