"""What goes over the wire: ranges are joined, nothing is asked for twice, decoding goes on beside the fetching."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.storage import FsspecStore, MemoryStore, ObjectStore, WrapperStore

from .web import WebServer

VALUES = np.arange(64 * 1000, dtype="f4").reshape(64, 1000)
Requests = list[tuple[str, str]]


def served(**options: Any) -> dict[str, bytes]:
    """An array of 64 chunks of 4000 bytes, as stored."""
    memory = MemoryStore()
    array = zarr.create_array(memory, shape=VALUES.shape, chunks=(1, 1000), dtype="f4", compressors=None, **options)
    array[...] = VALUES
    return {key: value.to_bytes() for key, value in memory._store_dict.items()}


@pytest.fixture(params=["fsspec", "obstore"])
def connect(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    if request.param == "fsspec":
        pytest.importorskip("aiohttp", reason="aiohttp, which fsspec needs for the web, is not installed")
        return FsspecStore.from_url
    stores = pytest.importorskip("obstore.store", reason="obstore is not installed")
    return lambda url: ObjectStore(stores.HTTPStore.from_url(url, client_options={"allow_http": True}))


@pytest.fixture
def web() -> Iterator[Callable[..., WebServer]]:
    servers: list[WebServer] = []

    def start(**options: Any) -> WebServer:
        servers.append(WebServer(served(**options)))
        server: WebServer = servers[-1].__enter__()
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def asked(server: WebServer, method: str | None = "GET") -> Requests:
    """The requests for stored values since the last look, as key and range."""
    found = [(key, part) for verb, key, part in server.requests if verb == method and "c/" in key]
    server.requests.clear()
    return found


def test_each_chunk_once(connect: Callable[[str], Any], web: Callable[..., WebServer]) -> None:
    server = web()
    array = zarr.open_array(connect(server.url), mode="r")
    asked(server)
    np.testing.assert_array_equal(array[10:20], VALUES[10:20])
    assert sorted(asked(server)) == sorted((f"c/{i}/0", "") for i in range(10, 20))
    array.read_many([slice(i, i + 3) for i in range(5)])
    assert sorted(asked(server)) == [(f"c/{i}/0", "") for i in range(7)]


def test_ranges_of_a_shard_are_joined(connect: Callable[[str], Any], web: Callable[..., WebServer]) -> None:
    server = web(shards=(32, 1000))
    array = zarr.open_array(connect(server.url), mode="r")
    asked(server)
    np.testing.assert_array_equal(array[3:9], VALUES[3:9])
    index, *parts = asked(server)
    assert index[0] == "c/0/0"
    assert index[1].startswith("bytes=")
    assert len(parts) == 1  # six inner chunks in one range
    first, last = parts[0][1].removeprefix("bytes=").split("-")
    assert int(last) - int(first) + 1 == 6 * 4000
    assert not asked(server, "HEAD")  # the index is asked for from the end: no size is needed


def test_distant_ranges_are_not(connect: Callable[[str], Any], web: Callable[..., WebServer]) -> None:
    server = web(shards=(32, 1000))
    array = zarr.open_array(connect(server.url), mode="r")
    array = array.with_config({"sharding_coalesce_max_gap_bytes": 4000})
    asked(server)
    np.testing.assert_array_equal(array.oindex[[0, 2, 30]], VALUES[[0, 2, 30]])
    assert len(asked(server)) == 3  # the index; 0 and 2 with the one between; 30


def test_a_whole_shard_is_one_request(connect: Callable[[str], Any], web: Callable[..., WebServer]) -> None:
    server = web(shards=(32, 1000))
    array = zarr.open_array(connect(server.url), mode="r")
    asked(server)
    np.testing.assert_array_equal(array[...], VALUES)
    assert sorted(asked(server)) == [("c/0/0", ""), ("c/1/0", "")]


def test_most_of_a_shard_is_one_request_unless_the_shard_is_large(
    connect: Callable[[str], Any], web: Callable[..., WebServer]
) -> None:
    server = web(shards=(32, 1000))
    array = zarr.open_array(connect(server.url), mode="r")
    large = array.with_config({"sharding_coalesce_max_bytes": 100_000})
    asked(server)
    np.testing.assert_array_equal(array[:20], VALUES[:20])
    assert asked(server) == [("c/0/0", "")]
    np.testing.assert_array_equal(array[:16], VALUES[:16])  # half of it: no more than that is read
    assert all(part for _, part in asked(server))
    np.testing.assert_array_equal(large[:20], VALUES[:20])
    assert all(part for _, part in asked(server))


def test_a_part_of_a_shard_is_written_with_what_is_kept(
    connect: Callable[[str], Any], web: Callable[..., WebServer]
) -> None:
    server = web(shards=(32, 1000))
    array = zarr.open_array(connect(server.url), mode="r+")
    asked(server)
    array[4:8] = -1  # most of the shard is kept: it is read in one request
    assert [(key, bool(part)) for key, part in asked(server)] == [("c/0/0", False)]
    array[:28] = 8  # little is kept, but the shard is short
    assert [(key, bool(part)) for key, part in asked(server)] == [("c/0/0", False)]
    array = zarr.open_array(connect(server.url), mode="r+", config={"sharding_coalesce_max_gap_bytes": 1 << 10})
    asked(server)
    array[:28] = 7  # little is kept; but this server names no versions, so index and inner chunks are read together
    requests = asked(server)
    expected = VALUES.copy()
    expected[:28] = 7
    np.testing.assert_array_equal(zarr.open_array(connect(server.url), mode="r")[...], expected)
    assert {key for key, _ in requests} == {"c/0/0"}
    assert [bool(part) for _, part in requests][-2:] in ([False], [True, False])
    asked(server)
    array[32:] = 5  # a whole shard: nothing is read
    assert asked(server) == []


# ------------------------------------------------------------------------------------------------ beside each other


class Transcript(WrapperStore[Any]):
    """Has coroutines only; a key comes so much later as its number says; notes what happens when."""

    def __init__(self, store: Any, events: list[str]) -> None:
        super().__init__(store)
        self.events = events

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        if "c/" in key:
            await asyncio.sleep(0.1 * int(key.split("/")[1]))
        value = await super().get(key, prototype, byte_range)
        if "c/" in key:
            self.events.append(f"came {key}")
        return value


def test_a_chunk_is_decoded_when_it_has_come() -> None:
    memory = MemoryStore()
    events: list[str] = []
    zarr.create_array(memory, shape=(5,), chunks=(1,), dtype="i4")[...] = range(5)
    array = zarr.open_array(Transcript(memory, events), mode="r+")
    out = np.full(5, -1, "i4")
    work = threading.Thread(target=lambda: array.get_basic_selection(slice(None), out=out))
    work.start()
    deadline = time.monotonic() + 30
    while out[:2].tolist() != [0, 1] and time.monotonic() < deadline:
        time.sleep(0.001)
    come = len(events)
    work.join()
    assert come < 5  # the last ones were still on their way
    assert out.tolist() == [0, 1, 2, 3, 4]
    assert events == [f"came c/{i}" for i in range(5)]


def test_large_chunks_are_decoded_in_threads_and_small_ones_on_the_spot(monkeypatch: pytest.MonkeyPatch) -> None:
    from zarr.runners import bulk

    trips: list[Any] = []
    plain = bulk.apart

    async def noted(work: Any, stop: Any) -> Any:
        trips.append(work)
        return await plain(work, stop)

    monkeypatch.setattr(bulk, "apart", noted)
    for length, count in ((1000, 0), (200_000, 3)):
        store = Transcript(MemoryStore(), [])
        array = zarr.create_array(store, shape=(3, length), chunks=(1, length), dtype="i4")
        array[...] = np.arange(3 * length).reshape(3, length)
        trips.clear()
        np.testing.assert_array_equal(array[...], np.arange(3 * length).reshape(3, length))
        assert len(trips) == count


def test_errors_are_not_asked_for_again() -> None:
    """Retries are the client library's affair: what it gives up on is raised at once."""

    class Failing(WrapperStore[Any]):
        calls = 0

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            if "c/" in key:
                Failing.calls += 1
                raise ConnectionError("gone")
            return await super().get(key, prototype, byte_range)

    memory = MemoryStore()
    zarr.create_array(memory, shape=(8,), chunks=(2,), dtype="i4")[...] = 1
    array = zarr.open_array(Failing(memory), mode="r+")
    with pytest.raises(ConnectionError, match="gone") as caught, zarr.config.set({"async.concurrency": 1}):
        array[...]
    assert Failing.calls == 1
    assert "'c/0'" in "".join(caught.value.__notes__)
