"""The cache: what it remembers, for how long, and that it never lies."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.buffer import cpu, default_buffer_prototype
from zarr.experimental.cache_store import CacheStore
from zarr.storage import LocalStore, MemoryStore
from zarr.testing.store import LatencyStore

PROTOTYPE = default_buffer_prototype()


def value(data: bytes) -> cpu.Buffer:
    return cpu.Buffer.from_bytes(data)


def made(**settings: Any) -> CacheStore:
    return CacheStore(MemoryStore(), cache_store=MemoryStore(), **settings)


async def read(store: CacheStore, key: str, part: Any = None) -> bytes | None:
    found = await store.get(key, PROTOTYPE, part)
    return None if found is None else found.to_bytes()


async def test_the_second_read_asks_nobody() -> None:
    store = made()
    await store._store.set("a", value(b"1234"))
    assert await read(store, "a") == b"1234"
    store._store._store_dict["a"] = value(b"changed behind its back")  # type: ignore[attr-defined]
    assert await read(store, "a") == b"1234"
    assert store.get_sync("a").to_bytes() == b"1234"  # type: ignore[union-attr]
    stats = store.cache_stats()
    assert (stats["hits"], stats["misses"], stats["hit_rate"]) == (2, 1, 2 / 3)
    await store.clear_cache()
    assert await read(store, "a") == b"changed behind its back"


async def test_parts_of_values() -> None:
    store = made()
    await store._store.set("a", value(b"0123456789"))
    for part, expected in (
        (RangeByteRequest(2, 5), b"234"),
        (OffsetByteRequest(7), b"789"),
        (SuffixByteRequest(2), b"89"),
    ):
        assert await read(store, "a", part) == expected
        assert store.get_sync("a", byte_range=part).to_bytes() == expected  # type: ignore[union-attr]
    asked = [RangeByteRequest(2, 5), RangeByteRequest(0, 1)]
    found = dict(store.get_ranges_sync("a", asked, prototype=PROTOTYPE))
    assert [found[i].to_bytes() for i in range(2)] == [b"234", b"0"]  # type: ignore[union-attr]
    found = {}
    async for answers in store.get_ranges("a", asked, prototype=PROTOTYPE):
        found.update(answers)
    assert [found[i].to_bytes() for i in range(2)] == [b"234", b"0"]  # type: ignore[union-attr]
    await store.set("a", value(b"abcdefghij"))
    assert await read(store, "a", RangeByteRequest(2, 5)) == b"cde"


async def test_old_values_are_read_anew() -> None:
    store = made(max_age_seconds=0)
    await store.set("a", value(b"old"))
    time.sleep(0.01)
    await store._store.set("a", value(b"new"))
    assert await read(store, "a") == b"new"


async def test_the_value_used_longest_ago_goes_first() -> None:
    store = made(max_size=100)
    for key in ("a", "b"):
        await store.set(key, value(b"x" * 40))
    await read(store, "a")
    await store.set("c", value(b"x" * 40))
    assert sorted(store._cache._store_dict) == ["a", "c"]  # type: ignore[attr-defined]
    assert store.cache_stats()["evictions"] == 1
    await store.set("large", value(b"x" * 101))
    assert store.cache_info()["current_size"] == 80
    assert await read(store, "large") == b"x" * 101


async def test_writes_can_be_left_out_of_the_cache() -> None:
    store = made(cache_set_data=False)
    await store.set("a", value(b"x"))
    assert store.cache_info()["tracked_keys"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_age_seconds": "soon"},
        {"max_age_seconds": -1},
        {"max_size": -1},
        {"cache_store": MemoryStore(read_only=True)},
    ],
)
def test_settings_that_mean_nothing(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"max_age|max_size|cache store"):
        CacheStore(MemoryStore(), **{"cache_store": MemoryStore(), **wrong})


def test_arrays_over_a_cache(tmp_path: Path) -> None:
    zarr.save(tmp_path / "a", np.arange(100))
    store = CacheStore(LatencyStore(LocalStore(tmp_path / "a"), get_latency=0.001), cache_store=MemoryStore())
    array = zarr.open_array(store, mode="r+")
    np.testing.assert_array_equal(array[:], np.arange(100))
    before = store.cache_stats()["hits"]
    np.testing.assert_array_equal(array[10:20], np.arange(10, 20))
    assert store.cache_stats()["hits"] > before
    array[5] = -1
    assert array[5] == zarr.open_array(tmp_path / "a")[5] == -1


def test_pickle(tmp_path: Path) -> None:
    store = CacheStore(LocalStore(tmp_path / "a"), cache_store=LocalStore(tmp_path / "b"), max_size=10)
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert again.cache_info()["max_size"] == 10


keys = st.sampled_from(["a", "a/b", "a/c", "d"])
actions = st.tuples(st.sampled_from(["set", "get", "part", "delete", "dir", "absent"]), keys, st.binary(max_size=30))


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(actions, max_size=25), plain=st.booleans(), max_size=st.sampled_from([None, 0, 40]))
def test_a_cache_never_lies(steps: list[tuple[str, str, bytes]], plain: bool, max_size: int | None) -> None:
    store = made(max_size=max_size)
    model: dict[str, bytes] = {}
    run = zarr.core.sync.sync
    for action, key, data in steps:
        if action == "set":
            store.set_sync(key, value(data)) if plain else run(store.set(key, value(data)))
            model[key] = data
        elif action == "absent":
            store.set_if_not_exists_sync(key, value(data)) if plain else run(store.set_if_not_exists(key, value(data)))
            model.setdefault(key, data)
        elif action == "delete":
            store.delete_sync(key) if plain else run(store.delete(key))
            model.pop(key, None)
        elif action == "dir":
            store.delete_dir_sync(key) if plain else run(store.delete_dir(key))
            model = {name: held for name, held in model.items() if not name.startswith(f"{key}/")}
        part = OffsetByteRequest(1) if action == "part" and model.get(key) else None
        found = store.get_sync(key, byte_range=part) if plain else run(store.get(key, PROTOTYPE, part))
        expected = model.get(key)
        held = None if expected is None else expected[1:] if part else expected
        assert (None if found is None else found.to_bytes()) == held
        assert max_size is None or store.cache_info()["current_size"] <= max_size


class Interrupted(MemoryStore):
    """Lets somebody write between its answer and whoever asked."""

    meanwhile: Any = None

    def _answered(self, found: Any) -> Any:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return found

    def get_sync(self, key: str, **options: Any) -> Any:
        return self._answered(super().get_sync(key, **options))

    def set_sync(self, key: str, value: Any) -> None:
        super().set_sync(key, value)
        self._answered(None)


@pytest.mark.parametrize("part", [None, RangeByteRequest(0, 2)])
async def test_what_was_replaced_while_it_was_read_is_not_remembered(part: Any) -> None:
    below = Interrupted({"a": value(b"old")})
    store = CacheStore(below, cache_store=MemoryStore())
    expected = b"new" if part is None else b"ne"
    for read_it in (
        lambda: store.get_sync("a", byte_range=part),
        lambda: store.get_ranges_sync("a", [part], prototype=PROTOTYPE),
    ):
        below._store_dict["a"] = value(b"old")
        await store.clear_cache()
        below.meanwhile = lambda: store.set_sync("a", value(b"new"))
        read_it()
        assert store.get_sync("a", byte_range=part).to_bytes() == expected
        below._store_dict["a"] = value(b"old")
        await store.clear_cache()
        below.meanwhile = lambda: store.set_sync("a", value(b"new"))
        await read(store, "a", part)
        assert await read(store, "a", part) == expected


def test_of_two_who_write_at_once_the_last_is_remembered() -> None:
    below = Interrupted()
    store = CacheStore(below, cache_store=MemoryStore())
    below.meanwhile = lambda: store.set_sync("a", value(b"later"))
    store.set_sync("a", value(b"earlier"))
    assert store.get_sync("a").to_bytes() == b"later"


async def test_a_value_that_was_stored_on_a_condition_is_not_hidden_by_the_old_one() -> None:
    store = made()
    old, new = value(b"old"), value(b"new")
    await store.set("a", old)
    assert await store.set_if_match("a", new, old)
    assert await read(store, "a") == b"new"
    assert store.set_if_match_sync("a", old, new)
    assert await read(store, "a") == b"old"


async def test_a_write_that_failed_leaves_nothing_in_the_cache() -> None:
    class Failing(MemoryStore):
        def set_sync(self, key: str, value: Any) -> None:
            super().set_sync(key, value)
            store._state.begin("a", 3, store._state.changes)
            store._state.end("a", store._state.changes)  # somebody has read meanwhile
            raise OSError("the answer was lost")

    store = CacheStore(Failing({"a": value(b"old")}), cache_store=MemoryStore({"a": value(b"old")}))
    with pytest.raises(OSError, match="lost"):
        store.set_sync("a", value(b"new"))
    assert await read(store, "a") == b"new"


class Handing(MemoryStore):
    """A store in which one value arrives late, and is looked at by others before its call returns."""

    before: Any = staticmethod(lambda: None)
    after: Any = staticmethod(lambda: None)

    def set_sync(self, key: str, value: Any) -> None:
        before, after, self.before, self.after = self.before, self.after, lambda: None, lambda: None
        before()
        super().set_sync(key, value)
        after()


@pytest.mark.parametrize("waits", [False, True])
async def test_a_writer_reads_its_own_value_while_an_older_one_is_cached(waits: bool) -> None:
    """Another caller has read the old value, and stores it in the cache late."""
    cache = Handing()
    store = CacheStore(MemoryStore({"a": value(b"old")}), cache_store=cache)
    found = []
    write = lambda: store.set_sync("a", value(b"new"))  # noqa: E731
    look = lambda: found.append(store.get_sync("a").to_bytes())  # type: ignore[union-attr]  # noqa: E731
    cache.before, cache.after = write, look
    old = await read(store, "a") if waits else store.get_sync("a").to_bytes()  # type: ignore[union-attr]
    assert old == b"old"
    look()
    assert found == [b"new", b"new"]
    for cached in (store.cache_info()["tracked_keys"], len(cache._store_dict)):
        assert cached <= 1


def test_a_part_that_was_read_before_a_write_does_not_come_back() -> None:
    part = RangeByteRequest(0, 2)
    below = Interrupted({"a": value(b"old")})
    store = CacheStore(below, cache_store=MemoryStore())
    below.meanwhile = lambda: (store.set_sync("a", value(b"new")), store.get_sync("a", byte_range=part))
    store.get_sync("a", byte_range=part)
    assert store.get_sync("a", byte_range=part).to_bytes() == b"ne"  # type: ignore[union-attr]


def test_what_cannot_be_cached_leaves_no_trace() -> None:
    class Full(MemoryStore):
        def set_sync(self, key: str, value: Any) -> None:
            raise OSError("no space")

    store = CacheStore(MemoryStore({"a": value(b"x")}), cache_store=Full(), max_size=10)
    for _ in range(2):
        with pytest.raises(OSError, match="no space"):
            store.get_sync("a")
    assert (store.cache_info()["current_size"], store.cache_info()["tracked_keys"]) == (0, 0)


async def test_what_is_cached_is_seen_by_the_names_of_zarr_python() -> None:
    store = CacheStore(MemoryStore(), cache_store=MemoryStore(), max_age_seconds=60)
    await store.set("a", value(b"abc"))
    part = RangeByteRequest(0, 2)
    assert (await read(store, "a", part)) == b"ab"
    assert list(store._state.cache_order) == ["a", ("a", part)]
    assert store._state.key_sizes == {"a": 3, ("a", part): 2}
    assert list(store._state.range_cache["a"]) == [part]
    store._state.key_insert_times["a"] -= 61
    assert not store._is_key_fresh("a")
    await store.delete("a")
    assert not store._state.cache_order
    assert not store._state.range_cache
