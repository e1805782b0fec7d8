"""Shards in an object store: the index and the inner chunks of one read are those of one version of the shard.

Every version of the shard holds other values, in inner chunks of another length, so the index of one version leads to
a wrong place in any other.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.store import SuffixByteRequest
from zarr.arrays.io.shard_read import MIN_KEPT_CHUNKS
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import ValueReplacedError
from zarr.runners.caches import TABLES
from zarr.storage import MemoryStore, ObjectStore

stores = pytest.importorskip("obstore.store", reason="obstore is not installed")
ITEMS = 8
VERSIONS = 6
NCHUNKS = MIN_KEPT_CHUNKS
OPTIONS: dict[str, Any] = {
    "shape": (NCHUNKS * ITEMS,),
    "shards": (NCHUNKS * ITEMS,),
    "chunks": (ITEMS,),
    "dtype": "<i8",
    "fill_value": -1,
    "compressors": {"name": "gzip", "configuration": {"level": 1}},
}


def values_of(version: int) -> np.ndarray[Any, Any]:
    """Values that are different in each version; their compressed length is, too."""
    repeats = np.arange(NCHUNKS * ITEMS) // (1 + version % 5)
    return repeats * 1000 + version


@functools.cache
def shard_of(version: int) -> bytes:
    memory = MemoryStore()
    zarr.create_array(memory, **OPTIONS)[...] = values_of(version)
    return memory._store_dict["c/0"].to_bytes()


class Noting(ObjectStore[Any]):
    """Notes the ranges that are asked for; calls ``after`` when one was read."""

    after: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked: list[str] = []

    async def get_versioned(self, key: str, prototype: Any, byte_range: Any, version: Any = None) -> Any:
        self.asked.append(f"{type(byte_range).__name__[:5]} {'of any' if version is None else 'of one'}")
        try:
            return await super().get_versioned(key, prototype, byte_range, version)
        finally:
            self.after()


@pytest.fixture
def store() -> Iterator[Noting]:
    store = Noting(stores.MemoryStore())
    zarr.create_array(store, **OPTIONS)
    replace(store, 0)
    TABLES.reset()
    yield store
    TABLES.reset()


def replace(store: Noting, version: int) -> None:
    """Replace the shard as another program would: not through this library."""
    store.store.put("c/0", shard_of(version))


def chunk_of(array: Any, number: int) -> Any:
    return array[number * ITEMS : (number + 1) * ITEMS]


def version_of(chunk: np.ndarray[Any, Any], number: int) -> int:
    """Return the version of which a chunk is, all of it and at its place."""
    version = int(chunk[0]) % 1000
    np.testing.assert_array_equal(chunk, values_of(version)[number * ITEMS : (number + 1) * ITEMS])
    return version


def test_a_known_index_is_not_read_again(store: Noting) -> None:
    array = zarr.open_array(store, mode="r+")
    assert version_of(chunk_of(array, 17), 17) == 0
    assert store.asked == ["Suffi of any", "Range of one"]
    for version in (0, 1):
        replace(store, version)
        store.asked.clear()
        assert version_of(chunk_of(array, 4000), 4000) == version
        assert store.asked == ["Range of one", "Suffi of any", "Range of one"]  # the known version is gone
        store.asked.clear()
        assert version_of(chunk_of(array, 17), 17) == version
        assert store.asked == ["Range of one"]


def test_an_inner_chunk_without_a_value_is_looked_up_again(store: Noting) -> None:
    memory = MemoryStore()
    zarr.create_array(memory, **OPTIONS)[ITEMS:] = values_of(2)[ITEMS:]
    store.store.put("c/0", memory._store_dict["c/0"].to_bytes())
    array = zarr.open_array(store, mode="r+")
    for _ in range(2):
        np.testing.assert_array_equal(chunk_of(array, 0), np.full(ITEMS, -1))
    replace(store, 2)
    assert version_of(chunk_of(array, 0), 0) == 2
    store.store.delete("c/0")
    np.testing.assert_array_equal(chunk_of(array, 5), np.full(ITEMS, -1))


def test_a_shard_replaced_between_two_requests(store: Noting) -> None:
    array = zarr.open_array(store, mode="r+")

    def once() -> None:
        store.after = lambda: None
        replace(store, 4)

    store.after = once
    assert version_of(chunk_of(array, 4000), 4000) == 4


def test_a_shard_replaced_after_each_request_is_read_as_a_whole(store: Noting) -> None:
    array = zarr.open_array(store, mode="r+")
    count = iter(range(10**6))
    store.after = lambda: replace(store, next(count) % VERSIONS)
    for number in (0, 17, NCHUNKS - 1):
        version_of(chunk_of(array, number), number)
    assert any(store.asked)


@pytest.mark.parametrize("known", [True, False])
def test_readers_beside_a_writer(store: Noting, known: bool) -> None:
    """With kept indexes and without: each chunk is of one version, of one that was stored meanwhile."""
    array = zarr.open_array(store, mode="r+")
    stop = threading.Event()
    begun = done = 0

    def write() -> None:
        nonlocal begun, done
        while not stop.is_set() and begun < 999:
            begun += 1
            replace(store, begun % VERSIONS)
            done = begun
            time.sleep(0.001 * (begun % 4))

    for version in range(VERSIONS):
        shard_of(version)  # made before the writer begins
    writer = threading.Thread(target=write)
    writer.start()
    try:
        rng = np.random.default_rng(0)
        for number in rng.integers(NCHUNKS, size=60).tolist():
            if not known:
                TABLES.reset()
            least = done
            found = version_of(chunk_of(array, number), number)
            assert found in {version % VERSIONS for version in range(least, begun + 1)}
    finally:
        stop.set()
        writer.join()


def test_a_version_is_of_one_store_in_memory() -> None:
    """Their tags are numbers that begin anew in each store, and a store may get the address of one that is gone."""
    versions = []
    for content in (b"one", b"two"):
        store = ObjectStore(stores.MemoryStore())
        store.store.put("k", content)
        found = asyncio.run(store.get_versioned("k", default_buffer_prototype(), SuffixByteRequest(2)))
        assert found is not None
        versions.append(found[1])
    assert versions[0].tag == versions[1].tag
    with pytest.raises(ValueReplacedError):
        asyncio.run(store.get_versioned("k", default_buffer_prototype(), SuffixByteRequest(2), versions[0]))
    found = asyncio.run(store.get_versioned("k", default_buffer_prototype(), SuffixByteRequest(2), versions[1]))
    assert found is not None
    assert found[0].to_bytes() == b"wo"


def test_stores_in_memory_never_share_an_index() -> None:
    for version in (0, 1, 2, 3):
        store = ObjectStore(stores.MemoryStore())
        array = zarr.create_array(store, **OPTIONS)
        store.store.put("c/0", shard_of(version))
        assert version_of(chunk_of(array, 4000), 4000) == version
        del store, array


@pytest.mark.parametrize("tag", [None, 'W/"weak"'])
def test_a_service_without_strong_tags(store: Noting, monkeypatch: pytest.MonkeyPatch, tag: str | None) -> None:
    """Nothing is asked for on a condition that could never hold, and no index is kept."""
    import obstore

    read = obstore.get_async

    class Answer:
        def __init__(self, answer: Any) -> None:
            self.meta = {**answer.meta, "e_tag": tag}
            self.bytes_async = answer.bytes_async
            self.range = answer.range

    async def without_tag(*args: Any, **kwargs: Any) -> Any:
        return Answer(await read(*args, **kwargs))

    monkeypatch.setattr(obstore, "get_async", without_tag)
    array = zarr.open_array(store, mode="r+")
    for version in (0, 1):
        replace(store, version)
        assert version_of(chunk_of(array, 17), 17) == version
    assert set(store.asked) == {"Suffi of any"}


def test_a_service_that_ignores_the_condition(store: Noting, monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore

    read = obstore.get_async

    async def without_condition(client: Any, key: str, options: Any = None) -> Any:
        return await read(client, key, options={"range": options["range"]} if options else None)

    monkeypatch.setattr(obstore, "get_async", without_condition)
    array = zarr.open_array(store, mode="r+")
    for version in (0, 1, 2):
        replace(store, version)
        assert version_of(chunk_of(array, 4000), 4000) == version


@pytest.fixture
def no_suffix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service has no ranges from the end, as Azure."""
    import obstore
    from obstore.exceptions import NotSupportedError

    read = obstore.get_async

    async def get(client: Any, key: str, options: Any = None) -> Any:
        if options and "suffix" in options["range"]:
            raise NotSupportedError("Operation not supported: Azure does not support suffix range requests")
        return await read(client, key, options=options)

    monkeypatch.setattr(obstore, "get_async", get)


@pytest.mark.usefixtures("no_suffix")
@pytest.mark.parametrize("times", [1, 3, 10**6])
def test_a_service_without_ranges_from_the_end(store: Noting, times: int) -> None:
    array = zarr.open_array(store, mode="r+")
    count = iter(range(1, 10**6))

    def again() -> None:
        number = next(count)
        if number <= times:
            replace(store, number % VERSIONS)

    store.after = again
    for number in (0, 17, 4000, NCHUNKS - 1):
        version_of(chunk_of(array, number), number)
    assert "Range of one" in store.asked


@pytest.mark.usefixtures("no_suffix")
def test_a_shard_replaced_after_its_size_was_asked(store: Noting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the old shard is no end of the new one."""
    import obstore

    look = obstore.head_async
    count = iter(range(1, 10**6))

    async def head(client: Any, key: str) -> Any:
        found = await look(client, key)
        if key == "c/0":
            replace(store, next(count) % VERSIONS)
        return found

    array = zarr.open_array(store, mode="r+")
    monkeypatch.setattr(obstore, "head_async", head)
    for number in (17, 4000):
        version_of(chunk_of(array, number), number)


def then(call: Callable[..., Any], after: Callable[[], None]) -> Callable[..., Any]:
    """Return the same coroutine function; ``after`` is called when it has answered."""

    async def both(*args: Any, **kwargs: Any) -> Any:
        try:
            return await call(*args, **kwargs)
        finally:
            after()

    return both


@pytest.mark.parametrize("service", ["strong tags", "no tags", "no suffix"])
@pytest.mark.parametrize("stop", [(NCHUNKS - 2) * ITEMS, (NCHUNKS - 2) * ITEMS + 3])
def test_a_part_is_written_into_one_version(
    store: Noting, service: str, stop: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The kept inner chunks are those of one version, also where a shard is replaced between index and chunks."""
    import obstore

    if service == "no suffix":
        request.getfixturevalue("no_suffix")
    if service == "no tags":
        monkeypatch.setattr(ObjectStore, "supports_set_if_match", False)
    with zarr.config.set({"array.sharding_coalesce_max_gap_bytes": 1000}):
        array = zarr.open_array(store, mode="r+")
    count = iter(range(1, 12))

    def replace_again() -> None:
        number = next(count, None)
        if number is not None:  # a write waits until nobody comes between its reading and its storing
            replace(store, number % VERSIONS)

    with monkeypatch.context() as patch:
        for name in ("get_async", "get_range_async"):
            patch.setattr(obstore, name, then(getattr(obstore, name), replace_again))
        array[:stop] = values_of(9)[:stop]
    assert next(count, 99) > 1
    TABLES.reset()
    found = array[...]
    np.testing.assert_array_equal(found[:stop], values_of(9)[:stop])
    kept = found[stop:]
    version = int(kept[-1]) % 1000
    np.testing.assert_array_equal(kept, values_of(version)[stop:])


def test_what_is_kept_is_read_with_the_index_by_two_requests(store: Noting) -> None:
    """What was in the whole inner chunks that are written is not read."""
    with zarr.config.set({"array.sharding_coalesce_max_gap_bytes": 1000}):
        array = zarr.open_array(store, mode="r+")
    stop = (NCHUNKS - 100) * ITEMS
    array[:stop] = values_of(9)[:stop]
    assert store.asked == ["Suffi of any", "Range of one"]
    np.testing.assert_array_equal(array[stop:], values_of(0)[stop:])


@pytest.mark.parametrize("condition", [True, False])
def test_a_shorter_shard(store: Noting, condition: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place of an inner chunk lies behind the end of the shard that has come instead."""
    if not condition:
        without_conditions(monkeypatch)
    array = zarr.open_array(store, mode="r+")
    assert version_of(chunk_of(array, NCHUNKS - 1), NCHUNKS - 1) == 0
    memory = MemoryStore()
    short = zarr.create_array(memory, **OPTIONS)
    short[-ITEMS:] = values_of(3)[-ITEMS:]
    store.store.put("c/0", memory._store_dict["c/0"].to_bytes())
    assert version_of(chunk_of(array, NCHUNKS - 1), NCHUNKS - 1) == 3


@pytest.mark.parametrize("error", ["PreconditionError", "NotImplementedError"])
def test_a_service_that_refuses_every_condition(store: Noting, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore
    from obstore import exceptions

    read = obstore.get_async
    requests = 0

    async def refusing(client: Any, key: str, options: Any = None) -> Any:
        nonlocal requests
        requests += key == "c/0"
        if options and "if_match" in options:
            raise getattr(exceptions, error, NotImplementedError)("status code: 412")
        return await read(client, key, options=options)

    monkeypatch.setattr(obstore, "get_async", refusing)
    array = zarr.open_array(store, mode="r+")
    for version in (0, 1):
        replace(store, version)
        assert version_of(chunk_of(array, 17), 17) == version
    assert requests <= 5


def without_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore

    read = obstore.get_async

    async def get(client: Any, key: str, options: Any = None) -> Any:
        return await read(client, key, options={"range": options["range"]} if options else None)

    monkeypatch.setattr(obstore, "get_async", get)


def test_a_store_whose_get_is_overridden() -> None:
    """Each range goes through the method of the user."""
    seen: list[str] = []

    class Own(ObjectStore[Any]):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            seen.append(key)
            return await super().get(key, prototype, byte_range)

    store = Own(stores.MemoryStore())
    array = zarr.create_array(store, **OPTIONS)
    store.store.put("c/0", shard_of(0))
    assert version_of(chunk_of(array, 17), 17) == 0
    assert seen.count("c/0") == 2
