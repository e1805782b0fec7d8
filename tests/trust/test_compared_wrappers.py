"""Processes that change one object store through wrappers lose nothing by default; overridden methods see each call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.test_compared_versions import LAYOUTS, NUMBERS, Process, processes  # noqa: F401
from tests.trust.together import rounds, run_together
from zarr.abc.store import versioned_of
from zarr.abc.stores.abilities import compares_versions
from zarr.experimental.cache_store import CacheStore
from zarr.storage import LocalStore, LoggingStore, MemoryStore, ObjectStore, WrapperStore
from zarr.storage.version2.stores import Format2Store
from zarr.testing.store import LatencyStore

stores = pytest.importorskip("obstore.store", reason="obstore is not installed")

WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "plain": WrapperStore,
    "logging": partial(LoggingStore, log_level="ERROR"),
    "latency": partial(LatencyStore, get_latency=0.0005),
    "cache": lambda store: CacheStore(store, cache_store=MemoryStore()),
    "cache without writes": lambda store: CacheStore(store, cache_store=MemoryStore(), cache_set_data=False),
    "format 2": Format2Store,
    "twice": lambda store: LoggingStore(CacheStore(store, cache_store=MemoryStore()), log_level="ERROR"),
}


@pytest.mark.parametrize("layout", ["chunks", "shards"])
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_parts_of_chunks(processes: list[Process], wrapper: str, layout: str) -> None:  # noqa: F811
    zarr.create_array(processes[0], shape=(16, 16), dtype="i4", **{"zarr_format": 3, **LAYOUTS[layout]})
    arrays = [zarr.open_array(WRAPPERS[wrapper](store), mode="r+", zarr_format=3) for store in processes]
    for turn in range(1, rounds(4, 300) + 1):
        run_together([partial(arrays[i].__setitem__, slice(i, None, 4), turn + i) for i in range(4)])
        expected = (turn + np.arange(16) % 4)[:, None] + np.zeros(16, int)
        np.testing.assert_array_equal(zarr.open_array(processes[0])[:], expected)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_attributes(processes: list[Process], wrapper: str, zarr_format: Any) -> None:  # noqa: F811
    zarr.create_group(processes[0], zarr_format=zarr_format)
    many = rounds(3, 25)

    def work(number: int) -> None:
        group = zarr.open_group(WRAPPERS[wrapper](processes[number]), mode="r+", zarr_format=zarr_format)
        for i in range(many):
            group.attrs[f"{number}-{i}"] = i

    run_together([partial(work, number) for number in range(4)])
    found = zarr.open_group(processes[0], zarr_format=zarr_format)
    assert set(found.attrs) == {f"{number}-{i}" for number in range(4) for i in range(many)}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_another_has_written_stays_and_is_read(processes: list[Process], wrapper: str) -> None:  # noqa: F811
    """Also if an old value is cached."""
    store = WRAPPERS[wrapper](processes[0])
    one = zarr.create_array(store, shape=8, chunks=8, dtype="i4", zarr_format=3)
    other = zarr.open_array(processes[1], mode="r+")
    one[:] = 1
    assert one[0] == 1
    other[4] = 2
    one[0] = 3
    assert one[...].tolist() == other[...].tolist() == [3, 1, 1, 1, 2, 1, 1, 1]
    processes[0].after = "c/0", lambda: other.__setitem__(5, 4)
    one[1] = 5
    assert one[...].tolist() == other[...].tolist() == [3, 5, 1, 1, 2, 4, 1, 1]


def test_empty_attributes_of_format_2_are_not_stored(processes: list[Process]) -> None:  # noqa: F811
    group = zarr.create_group(Format2Store(processes[0]), zarr_format=2)
    group.attrs.clear()
    assert sorted(group.store) == [".zgroup"]
    group.attrs["a"] = 1
    assert group.store[".zattrs"] == b'{\n    "a": 1\n}'


class Plain(ObjectStore[Any]):
    """A process of its own, whose class overrides no write."""

    def __init__(self, memory: Any) -> None:
        super().__init__(memory)
        self._number = 0
        self._process = next(NUMBERS)

    lock_prefix = Process.lock_prefix


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_one_creator_wins(wrapper: str) -> None:
    memory = stores.MemoryStore()
    wrapped = [WRAPPERS[wrapper](Plain(memory)) for _ in range(4)]
    for turn in range(rounds(6, 100)):
        made: list[int] = []

        def create(number: int, turn: int = turn, made: list[int] = made) -> None:
            with contextlib.suppress(zarr.errors.ContainsArrayError):
                zarr.create_array(wrapped[number], name=f"{turn}", shape=number + 1, dtype="i4", zarr_format=3)
                made.append(number)

        run_together([partial(create, number) for number in range(4)])
        assert [(number + 1,) for number in made] == [zarr.open_array(wrapped[0], path=f"{turn}").shape]


class OwnReads(WrapperStore[Any]):
    """A user's wrapper that knows nothing of versions."""

    seen: list[str]

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        self.seen.append(f"get {key}")
        return await super().get(key, *args, **options)


class OwnWrites(WrapperStore[Any]):
    seen: list[str]

    async def set(self, key: str, value: Any) -> None:
        self.seen.append(f"set {key}")
        await super().set(key, value)


class OwnCreations(WrapperStore[Any]):
    seen: list[str]

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        self.seen.append(f"create {key}")
        await super().set_if_not_exists(key, value)


def test_an_overridden_creation_sees_each_call() -> None:
    store = OwnCreations(Plain(stores.MemoryStore()))
    store.seen = []
    zarr.create_array(store, name="a", shape=8, chunks=8, dtype="i4")
    assert store.seen == ["create zarr.json", "create a/zarr.json"]


class Own(OwnReads, OwnWrites):
    pass


class OwnLog(LoggingStore[Any]):
    seen: list[str]

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        self.seen.append(f"get {key}")
        return await super().get(key, *args, **options)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Own, ["get c/0", "set c/0"]),
        (OwnReads, ["get c/0"]),
        (OwnWrites, ["set c/0"]),
        (partial(OwnLog, log_level="ERROR"), ["get c/0"]),
    ],
)
def test_overridden_methods_see_each_call(processes: list[Process], kind: Any, expected: list[str]) -> None:  # noqa: F811
    store = kind(processes[0])
    store.seen = []
    array = zarr.create_array(store, shape=8, chunks=8, dtype="i4")
    array[:] = 1
    store.seen.clear()
    array[0] = 2
    assert store.seen == expected
    assert not compares_versions(store)


def test_a_log_counts_compared_changes_as_reads_and_writes(processes: list[Process]) -> None:  # noqa: F811
    store: LoggingStore[Any] = LoggingStore(processes[0], log_level="ERROR")
    array = zarr.create_array(store, shape=8, chunks=8, dtype="i4")
    array[:] = 1
    store.counter.clear()
    array[0] = 2
    assert {name: store.counter[name] for name in ("get", "set")} == {"get": 1, "set": 1}


def test_reads_of_shards_still_go_through_a_cache(processes: list[Process]) -> None:  # noqa: F811
    zarr.create_array(processes[0], shape=64, chunks=4, shards=64, dtype="i4", compressors=None)[:] = 1
    array = zarr.open_array(CacheStore(processes[0], cache_store=MemoryStore()), mode="r")
    assert array[5] == 1
    processes[0].asked.clear()
    assert array[6] == 1
    assert processes[0].asked == []


def test_a_wrapper_answers_for_what_it_wraps(processes: list[Process], tmp_path: Any) -> None:  # noqa: F811
    for store in (LocalStore(tmp_path), MemoryStore()):
        assert versioned_of(WrapperStore(store)) is None
        assert not compares_versions(WrapperStore(store))
    assert versioned_of(WrapperStore(processes[0])) is not None
    assert versioned_of(WRAPPERS["twice"](processes[0])) is None
    assert compares_versions(WRAPPERS["twice"](processes[0]))
